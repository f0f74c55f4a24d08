import type { KeyCaller } from '../../src/accounts/partners/authenticator.ts';
import type { Currency } from '../../src/market/currencies/currency.entity.ts';
import type { RateType } from '../../src/market/rates/quote.ts';
import type { Recipient } from '../support/chains/recipients.ts';
import type { Coin } from './chains.ts';
import type { MarketModel } from './market.ts';

export interface WorldOptions {
  readonly seed: number;
  readonly market: MarketModel;
  /** Settings of the gateway that differ from its defaults. */
  readonly settings?: Readonly<Record<string, string>>;
  /** A migrated database; one of the world's own unless given. */
  readonly databaseUrl?: string;
  /** A real Ethereum, or an imitated exchange; the sandbox is all there is unless given. */
  readonly needs?: 'anvil' | 'exchange';
}

/** An account that creates orders. */
export interface Account {
  readonly name: string;
  readonly caller: KeyCaller;
}

/** What a user asks for. */
export interface Wish {
  readonly from: Coin;
  readonly to: Coin;
  /** What the deposit is to be worth, in US dollars. */
  readonly usd: number;
  readonly rateType: RateType;
  /** Where the payout goes; a separate address unless given. */
  readonly recipient?: Recipient;
  /** Where refunds go; a separate address unless given. */
  readonly refund?: Recipient;
}

/** An order as its user knows it. */
export interface MadeOrder {
  readonly id: string;
  readonly account: Account;
  readonly from: Coin;
  readonly to: Coin;
  readonly rateType: RateType;
  /** Decimal text. */
  readonly amountFrom: string;
  readonly amountTo: string;
  readonly address: string;
  readonly tag: string | null;
  readonly createdMs: number;
  readonly expiresMs: number;
}

export interface Deposit {
  /** Decimal text; what the order asks for unless given. */
  readonly amount?: string;
  /** Another coin of the order's chain. */
  readonly currency?: Currency;
  /** Whether it stays in the mempool, as its fee is too low, until `release`. */
  readonly isHeld?: boolean;
  /**
   * Whether the gateway looks at once, and not with its next turn: for what is sent at the last
   * moment.
   */
  readonly isUrgent?: boolean;
}

/** A transaction that a user sent. */
export interface Sent {
  readonly chain: string;
  readonly txid: string;
}
