import type { Account, MadeOrder } from '../dealings.ts';
import type { Actor, Strategy } from '../strategy.ts';
import { type ThinCoin, type ThinExchange, thinCoins } from '../thin-exchange.ts';
import type { World } from '../world.ts';

/** When the bidder takes its bids back. */
const ways = ['once something is bought', 'before any order', 'never'] as const;

/** How long it waits for one trade. */
const longestMs = 20_000;

/**
 * Deepens the book of a coin, sells that coin through the gateway, and takes its bids back before
 * the gateway sells. What is dumped into the thin book is the bidder's gain. The next order comes
 * once the previous one is decided.
 */
class ThinBookBidder implements Actor {
  readonly #world: World;
  readonly #exchange: ThinExchange;
  readonly #account: Account;
  #left: number;
  #open: MadeOrder | null = null;

  constructor(world: World, exchange: ThinExchange, account: Account, orders: number) {
    this.#world = world;
    this.#exchange = exchange;
    this.#account = account;
    this.#left = orders;
  }

  get isDone(): boolean {
    return this.#left === 0 && this.#open === null;
  }

  async act(): Promise<void> {
    if (this.#open && !(await this.#isDecided(this.#open))) return;
    this.#open = null;
    if (this.#left === 0) return;
    this.#left -= 1;
    const { dice } = this.#world;
    const from = dice.pick(thinCoins);
    const to = dice.pick([...thinCoins.filter((coin) => coin !== from), 'USDT' as const]);
    this.#bid(from, dice.pick(ways));
    const usd = dice.between(2_000, 80_000);
    const order = await this.#world.create(this.#account, { from, to, usd, rateType: 'float' });
    if (!order) return;
    this.#open = order;
    await this.#world.pay(order);
  }

  #bid(coin: ThinCoin, way: (typeof ways)[number]): void {
    const { loopback } = this.#exchange;
    this.#exchange.restore();
    loopback.onRequest = null;
    if (way === 'before any order') this.#exchange.pretend(coin);
    else this.#exchange.bid(coin);
    if (way !== 'once something is bought') return;
    loopback.onRequest = () => {
      if (!loopback.asked.at(-1)?.startsWith('POST ')) return;
      this.#exchange.restore();
      loopback.onRequest = null;
    };
  }

  async #isDecided({ id, createdMs }: MadeOrder): Promise<boolean> {
    if (this.#world.nowMs > createdMs + longestMs) return true;
    const [row] = await this.#world.rows<{ status: string; tries: number | null }>(
      `select o.status, t.tries from exchange_order o left join trade t on t.order_id = o.id where o.id = ?`,
      [id],
    );
    // What the venue declines is declined again until the deadline: the bidder goes on meanwhile.
    return !['waiting_deposit', 'confirming', 'exchanging'].includes(row?.status ?? '') || (row?.tries ?? 0) > 0;
  }
}

export const thinBookBidder: Strategy = {
  name: 'thin-book-bidder',
  wants: 'to buy for little what the gateway sells into an empty book',
  share: 0.0005,
  because: 'each order is traded at an imitated exchange, over HTTP and by the clock of the wall',
  needs: 'exchange',
  bound: () => ({ usd: 0, settings: 'MAX_SLIPPAGE, FEE_RATE_FLOAT' }),
  begin: async (world, orders) => {
    const { exchange } = world;
    if (!exchange) throw new Error('the bidder needs an exchange');
    const account = await world.account('thin-book bidder');
    return { actors: [new ThinBookBidder(world, exchange, account, orders)] };
  },
};
