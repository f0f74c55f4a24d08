import type { Clock } from '../../clock.ts';
import type { BookLevel, ExchangeName, MarketNow } from '../../exchanges/exchange.ts';
import type { ExchangeProcess } from '../../exchanges/exchange-process.ts';
import { checkedMarket } from '../../exchanges/trading-account.ts';
import { errorMembers, type Log } from '../../log.ts';
import { Big, floorTo, formatDecimal } from '../../money.ts';
import type { CoinDepth } from '../price-source.ts';

export interface VenueDepthOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly process: Pick<ExchangeProcess, 'ask'>;
  /** The exchange where trades are made. */
  readonly exchange: ExchangeName;
  /** The coin in which its order books are read. */
  readonly cash: string;
  /** What a trade may lose, as a fraction of its worth. */
  readonly maxSlippage: string;
  /** A book that was read this long ago is read again. */
  readonly refreshSec?: number;
}

/** Depth counts up to this part of the bound away from the middle of a book: both legs then use half of the bound. */
const countedPart = '0.25';

/**
 * What the venue's order books hold near the price, coin by coin. Books are read one after the other in the background,
 * the oldest first, so that the requests for prices never wait for more than one of them.
 */
export class VenueDepth {
  readonly #options: Required<VenueDepthOptions>;
  readonly #depth = new Map<string, CoinDepth>();
  /** When each coin's book was last asked for, with or without success. */
  readonly #askedMs = new Map<string, number>();
  #isReading = false;
  #stopped = false;

  constructor(options: VenueDepthOptions) {
    this.#options = { refreshSec: 60, ...options };
  }

  /** The newest depth of each coin, however old. */
  depth(): ReadonlyMap<string, CoinDepth> {
    return this.#depth;
  }

  /**
   * Begins to read the books that are due, unless that goes on already.
   *
   * @param cashPrice US dollars for one of the cash now; null while that is unknown, and then nothing is read.
   */
  follow(coins: readonly string[], cashPrice: () => Big | null): void {
    if (this.#isReading || this.#stopped) return;
    this.#isReading = true;
    void this.#read(coins, cashPrice).finally(() => {
      this.#isReading = false;
    });
  }

  stop(): void {
    this.#stopped = true;
  }

  async #read(coins: readonly string[], cashPrice: () => Big | null): Promise<void> {
    const { clock, log, exchange, cash, refreshSec } = this.#options;
    const asked = (coin: string): number => this.#askedMs.get(coin) ?? 0;
    const nowMs = clock.now().getTime();
    const due = coins
      .filter((coin) => coin !== cash && Math.abs(nowMs - asked(coin)) >= refreshSec * 1000)
      .sort((a, b) => asked(a) - asked(b));
    let failed = 0;
    for (const coin of due) {
      const price = cashPrice();
      if (this.#stopped || !price) return;
      // Dated before the question, so that it is never younger than the book.
      const at = clock.now();
      this.#askedMs.set(coin, at.getTime());
      try {
        await this.#readOne(coin, at, price);
      } catch (error) {
        failed += 1;
        if (failed > 1 || this.#stopped) continue;
        log.warn({ event: 'depth_failed', code: exchange, coin, ...errorMembers(error) }, 'an order book was not read');
      }
    }
  }

  async #readOne(coin: string, at: Date, cashPrice: Big): Promise<void> {
    const { process, exchange, cash, maxSlippage } = this.#options;
    const market = checkedMarket(await process.ask(exchange, 'market', coin, cash), coin, cash);
    const { buy, sell } = market
      ? near(market, new Big(maxSlippage).times(countedPart))
      : { buy: new Big('0'), sell: new Big('0') };
    const dollars = (amount: Big): string => formatDecimal(floorTo(amount.times(cashPrice), 2));
    this.#depth.set(coin, { buy: dollars(buy), sell: dollars(sell), at });
  }
}

/** What can be bought and sold within a fraction of the middle of a book, in cash. An empty side holds nothing. */
function near({ bids, asks }: MarketNow, within: Big): { readonly buy: Big; readonly sell: Big } {
  const [bid, ask] = [bids[0]?.[0], asks[0]?.[0]];
  if (bid === undefined || ask === undefined) return { buy: new Big('0'), sell: new Big('0') };
  const middle = new Big(bid).plus(ask).div('2');
  const reach = middle.times(within);
  return {
    buy: worthOf(asks.filter(([price]) => new Big(price).lte(middle.plus(reach)))),
    sell: worthOf(bids.filter(([price]) => new Big(price).gte(middle.minus(reach)))),
  };
}

function worthOf(levels: readonly BookLevel[]): Big {
  return levels.reduce((sum, [price, amount]) => sum.plus(new Big(price).times(amount)), new Big('0'));
}
