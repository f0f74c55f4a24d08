import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Big, floorTo } from '../../../src/base/money.ts';
import type { ExchangeKey, Movement, MovementKind } from '../../../src/exchanges/exchange.ts';
import { close, listen } from '../http/local-server.ts';

/** A price and how much of the base coin stands there. */
export type LoopbackLevel = [price: string, amount: string];

/**
 * An order book. `bid` and `ask` are its best prices with `depth` of the base coin on either side;
 * null is any amount. `bids` and `asks`, best first, stand in their place where a book has several
 * levels; an empty list is an empty side.
 */
export interface LoopbackBook {
  bid: string;
  ask: string;
  depth: string | null;
  bids?: LoopbackLevel[];
  asks?: LoopbackLevel[];
  /** What the book shows of a side, where that is gone when an order arrives. */
  shown?: { bids?: LoopbackLevel[]; asks?: LoopbackLevel[] };
}

/** What goes wrong with the next requests to a path. */
export interface Fault {
  /** The end of the path, as 'AddOrder' or 'order'. */
  readonly path: string;
  readonly method?: string;
  /**
   * lose_request: the request never arrives. lose_answer: it is done, and the connection breaks.
   * late: it arrives after `delayMs`, when the client has given up. answer: `body` is answered, and
   * nothing is done. after: it is done, and `body` is answered.
   */
  readonly kind: 'lose_request' | 'lose_answer' | 'late' | 'answer' | 'after' | 'drip';
  readonly status?: number;
  readonly body?: string;
  readonly delayMs?: number;
  /** How many requests; 1 unless told otherwise. */
  times?: number;
}

export interface LoopbackOrder {
  readonly id: string;
  readonly clientId: string;
  readonly symbol: string;
  readonly base: string;
  readonly quote: string;
  readonly side: 'buy' | 'sell';
  readonly amount: Big;
  readonly filled: Big;
  readonly cost: Big;
  readonly fee: Big;
  readonly feeCoin: string;
}

/**
 * A deposit to the account, or a withdrawal; plain text, so that it can be stored. The exchange
 * shows it in its own form, with its usual word for the state unless `told` is another.
 */
export type LoopbackMovement = { -readonly [Field in Exclude<keyof Movement, 'told'>]: Movement[Field] } & {
  /** As in `Movement`: 'Success onhold', '8'. */
  told: string | null;
};

export interface LoopbackRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface LoopbackAnswer {
  readonly status: number;
  readonly body: unknown;
}

const none = new Big('0');
/** What a level without a bound shows. */
const plenty = '1000000000';

/** The levels of one side of a book, best first. */
export function levelsOf({ bid, ask, depth, bids, asks }: LoopbackBook, side: 'bids' | 'asks'): LoopbackLevel[] {
  const levels = side === 'bids' ? (bids ?? [[bid, depth ?? plenty]]) : (asks ?? [[ask, depth ?? plenty]]);
  return levels.filter(([, amount]) => new Big(amount).gt(none));
}

/** The levels of one side that a book shows. */
export function shownOf(book: LoopbackBook, side: 'bids' | 'asks'): LoopbackLevel[] {
  return book.shown?.[side] ?? levelsOf(book, side);
}

/**
 * An exchange in this process: accounts, books and faults. What it speaks is its children's
 * business.
 */
export abstract class LoopbackExchange {
  readonly books = new Map<string, LoopbackBook>();
  readonly balances = new Map<string, Big>();
  /** What of these balances open orders lock, by coin. */
  readonly locked = new Map<string, string>();
  readonly orders: LoopbackOrder[] = [];
  /** Deposits and withdrawals, in any order. */
  readonly movements: LoopbackMovement[] = [];
  /** The most rows of a page of these, however many are asked for. */
  pageSize = 1_000;
  readonly faults: Fault[] = [];
  /** Paths in the order in which they were asked. */
  readonly asked: string[] = [];
  readonly #late: NodeJS.Timeout[] = [];
  readonly #server: Server;
  /** Told before each request is looked at, counted from 1; the request waits for it. */
  onRequest: ((number: number, path: string) => void | Promise<void>) | null = null;
  fee = '0.001';
  origin = '';

  /** The key that trades and looks orders up, and can do nothing else. */
  abstract readonly key: string;
  abstract readonly secret: string;
  /** The key that reads balances, deposits and withdrawals, and can do nothing else. */
  abstract readonly funding: ExchangeKey;

  constructor() {
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  async start(): Promise<this> {
    this.origin = `http://127.0.0.1:${await listen(this.#server)}`;
    return this;
  }

  async stop(): Promise<void> {
    for (const timer of this.#late) clearTimeout(timer);
    await close(this.#server);
  }

  /** A fresh account, without a past. */
  reset(balances: Record<string, string>, books: Record<string, LoopbackBook>): void {
    this.balances.clear();
    this.books.clear();
    for (const [coin, amount] of Object.entries(balances)) this.balances.set(coin, new Big(amount));
    for (const [symbol, book] of Object.entries(books)) this.books.set(symbol, { ...book });
    this.locked.clear();
    this.orders.length = 0;
    this.movements.length = 0;
    this.pageSize = 1_000;
    this.faults.length = 0;
    this.asked.length = 0;
    this.onRequest = null;
  }

  balance(coin: string): string {
    return (this.balances.get(coin) ?? none).toFixed();
  }

  /** The movements of a kind in a period, newest first. */
  protected listed(kind: MovementKind, sinceMs: number, untilMs: number): LoopbackMovement[] {
    return this.movements
      .filter((movement) => movement.kind === kind && movement.atMs >= sinceMs && movement.atMs <= untilMs)
      .sort((a, b) => b.atMs - a.atMs || (a.reference < b.reference ? 1 : -1));
  }

  protected abstract answer(request: LoopbackRequest): LoopbackAnswer;
  /** In which coin the fee is taken. */
  protected abstract feeCoin(order: { base: string; quote: string; side: 'buy' | 'sell' }): string;

  /** Matches an order at once against its book; null when the account has too little for it. */
  protected match(
    symbol: string,
    { clientId, side, amount, limit }: { clientId: string; side: 'buy' | 'sell'; amount: string; limit: string },
  ): LoopbackOrder | null {
    const [base = '', quote = ''] = symbol.split('/');
    const book = this.books.get(symbol);
    if (!book) throw new Error(`no book of ${symbol}`);
    const taken = levelsOf(book, side === 'buy' ? 'asks' : 'bids')
      .filter(([price]) => (side === 'buy' ? new Big(price).lte(limit) : new Big(price).gte(limit)))
      .reduce(
        ({ filled, cost }, [price, there]) => {
          const left = new Big(amount).minus(filled);
          const part = left.lt(there) ? left : new Big(there);
          return { filled: filled.plus(part), cost: cost.plus(part.times(price)) };
        },
        { filled: none, cost: none },
      );
    const { filled, cost } = taken;
    const feeCoin = this.feeCoin({ base, quote, side });
    const fee = floorTo((feeCoin === base ? filled : cost).times(this.fee), 8);
    const sign = new Big(side === 'buy' ? '1' : '-1');
    const changes = [
      [base, filled.times(sign)],
      [quote, cost.times(sign).times('-1')],
      [feeCoin, fee.times('-1')],
    ] as const;
    const after = new Map(this.balances);
    for (const [coin, change] of changes) after.set(coin, (after.get(coin) ?? none).plus(change));
    const needed = side === 'buy' ? new Big(amount).times(limit) : new Big(amount);
    const has = this.balances.get(side === 'buy' ? quote : base) ?? none;
    if (
      has.lt(side === 'buy' && filled.gt(none) ? cost : needed) ||
      [...after.values()].some((left) => left.lt(none))
    ) {
      return null;
    }
    consume(book, side === 'buy' ? 'asks' : 'bids', filled);
    for (const [coin, amount] of after) this.balances.set(coin, amount);
    const id = `O${String(this.orders.length + 1).padStart(5, '0')}-LOOPB-ACKOOO`;
    const order = { id, clientId, symbol, base, quote, side, amount: new Big(amount), filled, cost, fee, feeCoin };
    this.orders.push(order);
    return order;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = '';
    for await (const part of request) body += part;
    const url = new URL(request.url ?? '/', 'http://loopback');
    const method = request.method ?? 'GET';
    this.asked.push(`${method} ${url.pathname}`);
    await this.onRequest?.(this.asked.length, url.pathname);
    const run = (): LoopbackAnswer => this.answer({ method, url, headers: request.headers, body });
    const fault = this.#fault(method, url.pathname);
    switch (fault?.kind) {
      case 'lose_request':
        response.destroy();
        return;
      case 'lose_answer':
        run();
        response.destroy();
        return;
      case 'late':
        this.#late.push(setTimeout(run, fault.delayMs));
        response.destroy();
        return;
      case 'answer':
        this.#send(response, fault.status ?? 200, fault.body ?? '');
        return;
      case 'after':
        run();
        this.#send(response, fault.status ?? 200, fault.body ?? '');
        return;
      case 'drip': {
        // One byte at a time, for ever.
        response.writeHead(200, { 'Content-Type': 'application/json' });
        const timer = setInterval(() => response.write(' '), 20);
        this.#late.push(timer);
        response.on('close', () => clearInterval(timer));
        return;
      }
    }
    const { status, body: answer } = run();
    this.#send(response, status, JSON.stringify(answer));
  }

  #fault(method: string, path: string): Fault | undefined {
    const fault = this.faults.find((one) => path.endsWith(`/${one.path}`) && (one.method ?? method) === method);
    if (!fault) return undefined;
    fault.times = (fault.times ?? 1) - 1;
    if (fault.times <= 0) this.faults.splice(this.faults.indexOf(fault), 1);
    return fault;
  }

  #send(response: ServerResponse, status: number, body: string): void {
    const type = body.startsWith('<') ? 'text/html' : 'application/json';
    response.writeHead(status, { 'Content-Type': type }).end(body);
  }
}

/** Takes an amount out of one side of a book, from its best price on. */
function consume(book: LoopbackBook, side: 'bids' | 'asks', amount: Big): void {
  if (book[side] === undefined) {
    if (book.depth !== null) book.depth = new Big(book.depth).minus(amount).toFixed();
    return;
  }
  let left = amount;
  book[side] = levelsOf(book, side).map(([price, there]) => {
    const part = left.lt(there) ? left : new Big(there);
    left = left.minus(part);
    return [price, new Big(there).minus(part).toFixed()];
  });
}
