import type { Movement } from '../exchange.ts';
import type { VenueFault } from './venue-faults.ts';

/** A price and the amount of the base coin that is offered at it. */
export type ImitatedLevel = [price: string, amount: string];

/**
 * An order book. `bid` and `ask` are its best prices with `depth` of the base coin on either side;
 * null is any amount. `bids` and `asks`, best first, replace them where a book has several
 * levels; an empty list is an empty side.
 */
export interface ImitatedBook {
  bid: string;
  ask: string;
  depth: string | null;
  bids?: ImitatedLevel[];
  asks?: ImitatedLevel[];
  /** What the book shows of a side, where that is gone when an order arrives. */
  shown?: { bids?: ImitatedLevel[]; asks?: ImitatedLevel[] };
  /** Decimals of its prices; 2 unless told otherwise. */
  decimals?: number;
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

/** An order that was matched. Amounts are decimal strings. */
export interface ImitatedOrder {
  readonly id: string;
  readonly clientId: string;
  readonly symbol: string;
  readonly base: string;
  readonly quote: string;
  readonly side: 'buy' | 'sell';
  readonly amount: string;
  readonly filled: string;
  readonly cost: string;
  readonly fee: string;
  readonly feeCoin: string;
}

/**
 * A deposit to the account, or a withdrawal. The exchange shows it in its own form, with its usual
 * word for the state unless `told` is another.
 */
export type ImitatedMovement = { -readonly [Field in Exclude<keyof Movement, 'told'>]: Movement[Field] } & {
  /** As in `Movement`: 'Success onhold', '8'. */
  told: string | null;
  /** What befalls it. */
  fault?: VenueFault;
  /** Of a withdrawal that the exchange pays on a chain: how. */
  payment?: ImitatedPayment;
  /** Of a deposit that comes over a chain of the gateway: the chain, and the output that pays. */
  output?: { readonly chain: string; readonly key: string };
  /** Its transaction is gone. No list shows it, unless it comes again. */
  isGone?: true;
  /** How many lists have shown it. */
  shown?: number;
};

/** A payment of the exchange on a chain of the gateway. */
export interface ImitatedPayment {
  /** The gateway's name of the network. */
  readonly network: string;
  /** The newest transaction that pays it; null before there is one. */
  txid: string | null;
}

/** Where deposits to the account go, on one of the gateway's networks. */
interface ImitatedAddress {
  readonly address: string;
  readonly tag: string | null;
}

/** All that an exchange knows. Plain values, so that it can be stored as JSON. */
export interface ExchangeState {
  /** What the account has of each coin. */
  balances: Record<string, string>;
  /** What of it open orders lock. */
  locked: Record<string, string>;
  /** By symbol, as 'BTC/USD'. */
  books: Record<string, ImitatedBook>;
  /** The newest ones, oldest first; so are movements. */
  orders: ImitatedOrder[];
  movements: ImitatedMovement[];
  /** Of requests, by path. */
  faults: Fault[];
  /** Of the account: how many times each strikes yet. */
  strikes: Partial<Record<VenueFault, number>>;
  /** How many ids were given, of orders and of movements. */
  ids: number;
  /** By the gateway's name of the network. */
  addresses: Record<string, ImitatedAddress>;
  /** The newest transaction to one of them, by its place in the order of all. */
  scanned: number;
}

/** How many orders, and how many movements, are kept. */
export const mostKept = 1_000;

/** An exchange without a past. */
export function freshState(): ExchangeState {
  return {
    balances: {},
    locked: {},
    books: {},
    orders: [],
    movements: [],
    faults: [],
    strikes: {},
    ids: 0,
    addresses: {},
    scanned: 0,
  };
}

/** Adds to a list and forgets its oldest rows: first one that has ended. */
export function keepNewest<Row>(rows: Row[], row: Row, hasEnded: (row: Row) => boolean = () => true): void {
  rows.push(row);
  while (rows.length > mostKept) rows.splice(Math.max(rows.findIndex(hasEnded), 0), 1);
}

/** A number that no order and no movement has, in at least five digits. */
export function nextId(state: ExchangeState): string {
  state.ids += 1;
  return String(state.ids).padStart(5, '0');
}
