import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import { parse as uuidBytes, stringify as uuidText } from 'uuid';
import type { RateType } from './quote.ts';

/** A signing key and its version. */
interface QuoteKey {
  readonly version: number;
  readonly key: KeyObject;
}

/** The side whose amount a quote was asked for. */
export type QuoteSide = 'from' | 'to';

/** `live` where orders move real money. A quote of one environment is no quote of the other. */
export type QuoteEnvironment = 'live' | 'test';

/** What a signed quote says. Amounts are plain decimal text. */
export interface QuoteToken {
  readonly environment: QuoteEnvironment;
  readonly partnerId: string;
  /** Ids of currencies. */
  readonly fromId: string;
  readonly toId: string;
  readonly rateType: RateType;
  readonly side: QuoteSide;
  readonly clamped: boolean;
  readonly amountFrom: string;
  readonly amountTo: string;
  /** The service fee as a fraction, without the markup. */
  readonly feeRate: string;
  readonly markupBps: number;
  readonly networkFee: string;
  readonly priceFrom: string;
  readonly priceTo: string;
  readonly minAmount: string;
  readonly maxAmount: string;
  /** Start of the price window. Null for a float quote. */
  readonly windowMs: number | null;
  readonly issuedMs: number;
  readonly expiresMs: number;
  /** 64 random bits in hexadecimal. */
  readonly nonce: string;
}

/** How a member of a quote is written into its text and read back. */
interface Field<Value> {
  write(value: Value): string;
  /** Undefined for a text that this product never writes. */
  read(text: string): Value | undefined;
}

const matching = (form: RegExp): Field<string> => ({
  write: (value) => value,
  read: (text) => (form.test(text) ? text : undefined),
});

const oneOf = <Value extends string>(...values: readonly Value[]): Field<Value> => ({
  write: (value) => value,
  read: (text) => values.find((value) => value === text),
});

const uuid: Field<string> = {
  write: (value) => Buffer.from(uuidBytes(value)).toString('base64url'),
  read: (text) => {
    const bytes = Buffer.from(text, 'base64url');
    return bytes.length === 16 ? uuidText(bytes) : undefined;
  },
};

/** A decimal that is not negative. Prices set by hand have more places than amounts. */
const decimal = matching(/^\d{1,40}(?:\.\d{1,80})?$/);
/** Below 1: who has stolen a signing key may leave out a fee, and cannot turn it into a gift. */
const fraction = matching(/^0(?:\.\d{1,9})?$/);

const whole: Field<number> = {
  write: String,
  read: (text) => (/^\d{1,15}$/.test(text) ? Number.parseInt(text, 10) : undefined),
};

const wholeOrNull: Field<number | null> = {
  write: (value) => (value === null ? '' : String(value)),
  read: (text) => (text === '' ? null : whole.read(text)),
};

const yesOrNo: Field<boolean> = {
  write: (value) => (value ? '1' : '0'),
  read: (text) => (text === '1' ? true : text === '0' ? false : undefined),
};

/** Every member of a quote, in the order of its text. */
const fields: { readonly [Name in keyof QuoteToken]: Field<QuoteToken[Name]> } = {
  environment: oneOf('live', 'test'),
  partnerId: uuid,
  fromId: uuid,
  toId: uuid,
  rateType: oneOf('float', 'fixed'),
  side: oneOf('from', 'to'),
  clamped: yesOrNo,
  amountFrom: decimal,
  amountTo: decimal,
  feeRate: fraction,
  markupBps: whole,
  networkFee: decimal,
  priceFrom: decimal,
  priceTo: decimal,
  minAmount: decimal,
  maxAmount: decimal,
  windowMs: wholeOrNull,
  issuedMs: whole,
  expiresMs: whole,
  nonce: matching(/^[0-9a-f]{16}$/),
};
const fieldNames = Object.keys(fields) as (keyof QuoteToken)[];

/** Only quotes of the newest key and of the previous one are genuine. */
const acceptedKeys = 2;
const prefix = 'qt_';
const separator = '|';
const macLength = 32;
/** Longest text that is read, in characters. A genuine quote has less than 400. */
const longestText = 1_000;

/**
 * Signs quotes and reads them back. A quote is its own record: nothing is stored for it.
 *
 * The text is `qt_` and, in base64url, the version of the key, the fields, and their HMAC-SHA256.
 */
export class QuoteTokens {
  readonly #keys: readonly QuoteKey[];

  /** @param keys newest first; new quotes are signed with the first. */
  constructor(keys: readonly QuoteKey[]) {
    this.#keys = keys.slice(0, acceptedKeys);
  }

  seal(token: QuoteToken): string {
    const [current] = this.#keys;
    if (!current) throw new Error('quotes need a signing key');
    const texts = fieldNames.map((name) => (fields[name] as Field<unknown>).write(token[name]));
    const signed = Buffer.from([String(current.version), ...texts].join(separator), 'utf8');
    return prefix + Buffer.concat([signed, macOf(current.key, signed)]).toString('base64url');
  }

  /** Reads a quote. Null when it is not genuine. */
  open(text: string): QuoteToken | null {
    if (!text.startsWith(prefix) || text.length > longestText) return null;
    const bytes = Buffer.from(text.slice(prefix.length), 'base64url');
    // Several texts decode to the same bytes. Only the text that was given out is genuine.
    if (bytes.length <= macLength || prefix + bytes.toString('base64url') !== text) return null;
    const signed = bytes.subarray(0, -macLength);
    const [version = '', ...texts] = signed.toString('utf8').split(separator);
    const known = this.#keys.find((one) => String(one.version) === version);
    if (!known || !timingSafeEqual(macOf(known.key, signed), bytes.subarray(-macLength))) return null;
    return tokenOf(texts);
  }
}

function macOf(key: KeyObject, signed: Buffer): Buffer {
  return createHmac('sha256', key).update(prefix).update(signed).digest();
}

function tokenOf(texts: readonly string[]): QuoteToken | null {
  if (texts.length !== fieldNames.length) return null;
  const values = fieldNames.map((name, i) => [name, fields[name].read(texts[i] ?? '')] as const);
  if (values.some(([, value]) => value === undefined)) return null;
  return Object.fromEntries(values) as unknown as QuoteToken;
}
