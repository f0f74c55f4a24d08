import { Big, floorTo } from '../../base/money.ts';
import type { ExchangeKey, MovementKind } from '../exchange.ts';
import {
  type ExchangeState,
  type Fault,
  freshState,
  type ImitatedBook,
  type ImitatedLevel,
  type ImitatedMovement,
  type ImitatedOrder,
  keepNewest,
  nextId,
} from './exchange-state.ts';
import { type ImitatedRequest, ImitationServer, type Reaction } from './imitation-server.ts';
import { strike, toldTxid } from './strikes.ts';

export interface ImitatedAnswer {
  readonly status: number;
  readonly body: unknown;
}

export interface AccountKeys extends ExchangeKey {
  /** The key that reads balances, deposits and withdrawals, and can do nothing else. */
  readonly funding: ExchangeKey;
}

interface AskedList {
  readonly kind: MovementKind;
  readonly sinceMs: number;
  readonly untilMs: number;
  readonly isFirst: boolean;
}

const none = new Big('0');
/** What a level without a bound shows. */
const plenty = '1000000000';
/** No one asks whether a movement was shown more often. */
const mostShown = 99;

/** The levels of one side of a book, best first. */
function levelsOf({ bid, ask, depth, bids, asks }: ImitatedBook, side: 'bids' | 'asks'): ImitatedLevel[] {
  const levels = side === 'bids' ? (bids ?? [[bid, depth ?? plenty]]) : (asks ?? [[ask, depth ?? plenty]]);
  return levels.filter(([, amount]) => new Big(amount).gt(none));
}

/** The levels of one side that a book shows. */
export function shownOf(book: ImitatedBook, side: 'bids' | 'asks'): ImitatedLevel[] {
  return book.shown?.[side] ?? levelsOf(book, side);
}

/** The decimals of a book's prices. */
export function decimalsOf(book: ImitatedBook | undefined): number {
  return book?.decimals ?? 2;
}

/** The smallest step of prices with these decimals. */
export function stepOf(decimals: number): string {
  return new Big('10').pow(-decimals).toFixed(decimals);
}

/**
 * An imitated exchange: what becomes of a request to it, by its state. What it speaks is its
 * children's business. Its books never change, and take orders at once.
 */
export abstract class ImitatedExchange {
  /** Another one may be put in its place between two requests. */
  state: ExchangeState = freshState();
  /** The key that trades and looks orders up, and can do nothing else. */
  readonly key: string;
  readonly secret: string;
  /** The key that reads balances, deposits and withdrawals, and can do nothing else. */
  readonly funding: ExchangeKey;
  /** The most rows of a page of these, however many are asked for. */
  pageSize = 1_000;
  /** Of requests to the server of `start`: methods and paths in the order in which they came. */
  readonly asked: string[] = [];
  /** Told before each of them is looked at, counted from 1; the request waits for it. */
  onRequest: ((number: number, path: string) => void | Promise<void>) | null = null;
  /** Of a trade, as a fraction. */
  fee = '0.001';
  origin = '';
  readonly #server = new ImitationServer(async (request, isLate) => {
    if (isLate) return this.react(request, true);
    const { method, url } = request;
    this.asked.push(`${method} ${url.pathname}`);
    await this.onRequest?.(this.asked.length, url.pathname);
    return this.react(request);
  });

  constructor({ key, secret, funding }: AccountKeys) {
    this.key = key;
    this.secret = secret;
    this.funding = funding;
  }

  /** Serves it from the memory of this process. */
  async start(): Promise<this> {
    this.origin = await this.#server.start();
    return this;
  }

  stop(): Promise<void> {
    return this.#server.stop();
  }

  /** A fresh account, without a past. */
  reset(balances: Record<string, string>, books: Record<string, ImitatedBook>): void {
    this.state = { ...freshState(), balances: { ...balances }, books: structuredClone(books) };
    this.pageSize = 1_000;
    this.asked.length = 0;
    this.onRequest = null;
  }

  get books(): Record<string, ImitatedBook> {
    return this.state.books;
  }

  get balances(): Record<string, string> {
    return this.state.balances;
  }

  /** What of the balances open orders lock, by coin. */
  get locked(): Record<string, string> {
    return this.state.locked;
  }

  /** Deposits and withdrawals, in any order. */
  get movements(): ImitatedMovement[] {
    return this.state.movements;
  }

  get orders(): readonly ImitatedOrder[] {
    return this.state.orders;
  }

  get faults(): Fault[] {
    return this.state.faults;
  }

  balance(coin: string): string {
    return this.state.balances[coin] ?? '0';
  }

  /**
   * What becomes of a request. Changes the state.
   *
   * @param isLate no fault befalls it any more.
   */
  react(request: ImitatedRequest, isLate = false): Reaction {
    const fault = isLate ? undefined : this.#fault(request);
    const run = (): Reaction => {
      const { status, body } = this.answer(request);
      return { kind: 'answer', status, body: JSON.stringify(body) };
    };
    const { status = 200, body = '' } = fault ?? {};
    switch (fault?.kind) {
      case 'lose_request':
        return { kind: 'broken' };
      case 'lose_answer':
        run();
        return { kind: 'broken' };
      case 'late':
        return { kind: 'late', delayMs: fault.delayMs ?? 0 };
      case 'answer':
        return { kind: 'answer', status, body };
      case 'after':
        run();
        return { kind: 'answer', status, body };
      case 'drip':
        return { kind: 'drip' };
    }
    const reaction = run();
    return this.isSigned(request) && strike(this.state, 'lost_answer') ? { kind: 'broken' } : reaction;
  }

  /**
   * The movements of a kind in a period, newest first, as the faults of the account leave them.
   * Null where the request is refused.
   *
   * @param isFirst whether the first page of the list is asked for.
   */
  protected listed({ kind, sinceMs, untilMs, isFirst }: AskedList): ImitatedMovement[] | null {
    if (!isFirst && strike(this.state, 'list_broken')) return null;
    const rows = this.movements
      .filter((movement) => movement.kind === kind && !movement.isGone)
      .filter(({ atMs }) => atMs >= sinceMs && atMs <= untilMs)
      .sort((a, b) => b.atMs - a.atMs || (a.reference < b.reference ? 1 : -1));
    if (isFirst && strike(this.state, 'list_incomplete')) rows.shift();
    if (isFirst) for (const row of rows) row.shown = Math.min((row.shown ?? 0) + 1, mostShown);
    return rows.map((row) => ({ ...row, txid: toldTxid(row) }));
  }

  /** The fault of the account that refuses a request with a key of it; null when none does. */
  protected struck(key: string): 'freeze' | 'key_refused' | null {
    if (strike(this.state, 'freeze')) return 'freeze';
    return key === this.funding.key && strike(this.state, 'key_refused') ? 'key_refused' : null;
  }

  /** Whether a request is signed with a key. */
  protected abstract isSigned(request: ImitatedRequest): boolean;
  protected abstract answer(request: ImitatedRequest): ImitatedAnswer;
  /** In which coin the fee is taken. */
  protected abstract feeCoin(order: { base: string; quote: string; side: 'buy' | 'sell' }): string;

  /** Matches an order at once against its book; null when the account has too little for it. */
  protected match(
    symbol: string,
    { clientId, side, amount, limit }: { clientId: string; side: 'buy' | 'sell'; amount: string; limit: string },
  ): ImitatedOrder | null {
    const [base = '', quote = ''] = symbol.split('/');
    const book = this.books[symbol];
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
    const after = new Map<string, Big>();
    for (const [coin, change] of changes)
      after.set(coin, (after.get(coin) ?? new Big(this.balance(coin))).plus(change));
    const needed = side === 'buy' ? new Big(amount).times(limit) : new Big(amount);
    const has = new Big(this.balance(side === 'buy' ? quote : base));
    if (
      has.lt(side === 'buy' && filled.gt(none) ? cost : needed) ||
      [...after.values()].some((left) => left.lt(none))
    ) {
      return null;
    }
    consume(book, side === 'buy' ? 'asks' : 'bids', filled);
    for (const [coin, left] of after) this.balances[coin] = left.toFixed();
    const id = `O${nextId(this.state)}-LOOPB-ACKOOO`;
    const amounts = { filled: filled.toFixed(), cost: cost.toFixed(), fee: fee.toFixed() };
    const order = { id, clientId, symbol, base, quote, side, amount: new Big(amount).toFixed(), ...amounts, feeCoin };
    keepNewest(this.state.orders, order);
    return order;
  }

  #fault({ method, url }: ImitatedRequest): Fault | undefined {
    const fault = this.faults.find((one) => url.pathname.endsWith(`/${one.path}`) && (one.method ?? method) === method);
    if (!fault) return undefined;
    fault.times = (fault.times ?? 1) - 1;
    if (fault.times <= 0) this.faults.splice(this.faults.indexOf(fault), 1);
    return fault;
  }
}

/** Takes an amount out of one side of a book, from its best price on. */
function consume(book: ImitatedBook, side: 'bids' | 'asks', amount: Big): void {
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
