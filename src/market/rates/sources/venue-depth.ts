import type { Clock } from '../../../base/clock.ts';
import { errorMembers, type Log } from '../../../base/log.ts';
import { Big, floorTo, formatDecimal } from '../../../base/money.ts';
import type { BookLevel, ExchangeName, MarketNow } from '../../../exchanges/exchange.ts';
import type { ExchangeProcess } from '../../../exchanges/exchange-process.ts';
import { checkedMarket } from '../../../exchanges/trading-account.ts';
import type { CoinDepth } from '../price-source.ts';

interface VenueDepthOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly process: Pick<ExchangeProcess, 'ask'>;
  /** The exchange where trades are made. */
  readonly exchange: ExchangeName;
  /** The coin in which its order books are read. */
  readonly cash: string;
  /** Largest loss of a trade, as a fraction of its value. */
  readonly maxSlippage: string;
  /** Minimum seconds between two reads of a book. */
  readonly refreshSec?: number;
}

/**
 * Depth counts up to this fraction of the slippage bound from the middle of a book. Both legs
 * together then use half of the bound.
 */
const countedPart = '0.25';

/**
 * Reads the depth of the venue's order books near the price, coin by coin. It reads one book after
 * the other in the background, the oldest first. Price requests thus never wait for more than one
 * of them.
 */
export class VenueDepth {
  readonly #options: Required<VenueDepthOptions>;
  readonly #depth = new Map<string, CoinDepth>();
  /** Time of the last request for each coin's book, successful or not. */
  readonly #askedMs = new Map<string, number>();
  #isReading = false;
  #stopped = false;

  constructor(options: VenueDepthOptions) {
    this.#options = { refreshSec: 60, ...options };
  }

  /** The newest depth of each coin, of any age. */
  depth(): ReadonlyMap<string, CoinDepth> {
    return this.#depth;
  }

  /**
   * Begins to read the books that are due, unless a read is in progress.
   *
   * @param cashPrice US dollars for one unit of the cash coin; null while unknown, and then nothing
   * is read.
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
      // The time before the request, so that the depth is never dated later than the book.
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

/**
 * Sums what can be bought and sold within a fraction of the middle of a book, in cash. An empty
 * side sums to 0.
 */
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
