import { systemMs } from '../base/clock.ts';
import { boundedFetch } from './bounded-fetch.ts';
import {
  type ExchangeAddress,
  type ExchangeKey,
  type ExchangeName,
  ExchangeRefusal,
  type RefusalCode,
} from './exchange.ts';
import type { Introduction } from './exchange-messages.ts';

/**
 * The part of a ccxt exchange that is used here. Amounts are strings, because its `number` is
 * String.
 */
export interface CcxtExchange {
  readonly markets: Readonly<Record<string, CcxtMarket>>;
  urls: { api: unknown };
  nonce: () => number;
  handleErrors: (
    status: number,
    reason: string,
    url: string,
    method: string,
    headers: unknown,
    body: string,
    parsed: unknown,
  ) => unknown;
  /** Our name of a coin for the exchange's own. */
  safeCurrencyCode(id: string): string;
  loadMarkets(reload?: boolean): Promise<unknown>;
  fetchTickers(symbols: readonly string[]): Promise<Record<string, CcxtTicker>>;
  fetchBidsAsks(symbols: readonly string[]): Promise<Record<string, CcxtTicker>>;
  fetchTime(): Promise<unknown>;
}

/**
 * ccxt's method for a path of an exchange's own API. ccxt signs private paths, and paces requests
 * by their cost there.
 */
export type CcxtCall = (params: Record<string, string | number>) => Promise<unknown>;

export interface CcxtMarket {
  readonly id: string;
  readonly symbol: string;
  readonly base: string;
  readonly quote: string;
  readonly active: boolean | undefined;
  readonly spot: boolean;
  readonly taker: string | undefined;
  readonly precision: { readonly amount: string | undefined; readonly price: string | undefined };
  readonly limits: {
    readonly amount: { readonly min: string | undefined };
    readonly cost?: { readonly min: string | undefined };
  };
  readonly info: unknown;
}

export interface CcxtTicker {
  readonly symbol: string;
  readonly bid: string | undefined;
  readonly ask: string | undefined;
  readonly timestamp: number | undefined;
}

/**
 * Reads from an answer what the exchange declined; null when it is not certain that nothing was
 * executed.
 */
export type RefusalReader = (status: number, parsed: unknown) => { code: RefusalCode; message: string } | null;

/** Loads ccxt's file of one exchange; the main file of the package would load a hundred. */
export async function loadCcxt(
  exchange: ExchangeAddress & Partial<ExchangeKey>,
  { requestTimeoutMs, maxAnswerBytes, paceMs }: Pick<Introduction, 'requestTimeoutMs' | 'maxAnswerBytes' | 'paceMs'>,
  options: Record<string, unknown>,
  refusalOf: RefusalReader,
): Promise<CcxtExchange> {
  const { name, origin, key, secret } = exchange;
  const file: { default: new (config: object) => CcxtExchange } = await import(
    new URL(`./src/${name satisfies ExchangeName}.js`, import.meta.resolve('ccxt')).href
  );
  const ccxt = new file.default({
    number: String,
    apiKey: key,
    secret,
    timeout: requestTimeoutMs,
    enableRateLimit: paceMs !== 0,
    ...(paceMs ? { rateLimit: paceMs } : {}),
    options,
    fetchImplementation: boundedFetch({ timeoutMs: requestTimeoutMs, maxBytes: maxAnswerBytes }),
  });
  if (origin !== null) ccxt.urls.api = elsewhere(ccxt.urls.api, origin);
  let lastNonce = 0;
  ccxt.nonce = () => {
    lastNonce = Math.max(lastNonce + 1, systemMs());
    return lastNonce;
  };
  const own = ccxt.handleErrors.bind(ccxt);
  ccxt.handleErrors = (status, reason, url, method, headers, body, parsed) => {
    const refusal = refusalOf(status, parsed);
    if (refusal) throw new ExchangeRefusal(refusal.code, refusal.message);
    return own(status, reason, url, method, headers, body, parsed);
  };
  return ccxt;
}

/** Moves every URL of a tree of addresses to another scheme, host and port, and keeps the paths. */
function elsewhere(addresses: unknown, origin: string): unknown {
  if (typeof addresses === 'string') {
    return URL.canParse(addresses) ? origin + new URL(addresses).pathname.replace(/\/$/, '') : addresses;
  }
  if (typeof addresses !== 'object' || addresses === null) return addresses;
  return Object.fromEntries(Object.entries(addresses).map(([name, address]) => [name, elsewhere(address, origin)]));
}

/** A member of an exchange's answer as text; '' when it is neither text nor a number. */
export function textOf(answer: unknown, member: string): string {
  const value = memberOf(answer, member);
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

/**
 * Reads one side of an order book in the usual form: lists that begin with a price and an amount.
 */
export function levelsOf(answer: unknown, side: 'bids' | 'asks'): [string, string][] {
  const levels = memberOf(answer, side);
  if (!Array.isArray(levels)) throw new Error('the exchange gave no order book');
  return levels.map((level) => [textOf(level, '0'), textOf(level, '1')]);
}

export function memberOf(answer: unknown, member: string): unknown {
  return typeof answer === 'object' && answer !== null ? (answer as Record<string, unknown>)[member] : undefined;
}
