import { type Address, type Cell, contractAddress, type StateInit } from '@ton/core';
import {
  type Comment,
  commentBody,
  externalCell,
  type Outgoing,
  sendMode,
  type TonKey,
  transferBody,
  type WalletVersion,
  walletBody,
  walletInit,
} from '../ton-contracts.ts';
import type { TonBlocks } from './blocks.ts';
import type { Jetton } from './jettons.ts';
import { cellsOf } from './json.ts';
import { type Hash64, type Raw, rawOf } from './names.ts';

/** What a test may choose of a transfer of coins. */
export interface PayOptions {
  readonly comment?: Comment;
  readonly bounce?: boolean;
  /** The body itself. */
  readonly body?: Cell;
  readonly mode?: number;
}

/** What a test may choose of a transfer of tokens. */
export interface TokenOptions {
  readonly comment?: Comment;
  /** Coins that the receiver's jetton wallet passes on, 1 unless told; with 0 it tells nothing. */
  readonly forward?: bigint;
  /** Coins that pay for all; 0.05 TON beside what is passed on, unless told. */
  readonly value?: bigint;
  readonly isInline?: boolean;
  /** The payload with the bit that tells its place, well formed or not. */
  readonly raw?: Cell;
  /** Who gets the rest of the coins; null for none. */
  readonly response?: Address | null;
}

/** The coins with which a transfer of tokens is usually sent. */
export const usualValue = 50_000_000n;

/** A person with an ordinary wallet, which the first message deploys. */
export class TonUser {
  readonly address: Address;
  readonly raw: Raw;
  readonly key: TonKey;
  readonly init: StateInit;
  readonly #version: WalletVersion;
  readonly #chain: TonBlocks;

  constructor(chain: TonBlocks, key: TonKey, version: WalletVersion) {
    this.#chain = chain;
    this.#version = version;
    this.key = key;
    this.init = walletInit(version, key);
    this.address = contractAddress(0, this.init);
    this.raw = rawOf(this.address);
  }

  /** In nanotons. */
  get balance(): bigint {
    return this.#chain.row(this.raw).account.account?.storage.balance.coins ?? 0n;
  }

  /**
   * Has the wallet send at most four messages with the next block. Errors of theirs are ignored
   * unless the mode says otherwise. Returns the hash of the external message.
   */
  send(messages: Outgoing | readonly Outgoing[], mode: number = sendMode.payFees | sendMode.ignoreErrors): Hash64 {
    return this.#chain.add(this.external(messages, mode)).hash;
  }

  /** The external message itself, which waits nowhere. */
  external(messages: Outgoing | readonly Outgoing[], mode: number = sendMode.payFees | sendMode.ignoreErrors): Cell {
    const waiting = this.#chain.waiting.filter(({ to }) => to.equals(this.address)).length;
    const { data } = cellsOf(this.#chain.newest(this.raw));
    const seqno = (data?.beginParse().loadUint(32) ?? 0) + waiting;
    const list = Array.isArray(messages) ? (messages as readonly Outgoing[]) : [messages as Outgoing];
    const body = walletBody(this.#version, this.key, { seqno, validUntil: 0xffffffff, messages: list }, mode);
    return externalCell(this.address, body, data === null && waiting === 0 ? this.init : undefined);
  }

  /** The message by which this user pays coins. */
  message(to: Address, value: bigint, { comment = null, bounce = false, body }: PayOptions = {}): Outgoing {
    return { to, value, bounce, body: body ?? commentBody(comment) };
  }

  /** Pays coins, which are not returned by a receiver without contract unless told. */
  pay(to: Address, amount: bigint, options: PayOptions = {}): Hash64 {
    return this.send(this.message(to, amount, options), options.mode);
  }

  /** The message by which this user's jetton wallet sends tokens. */
  tokenMessage(jetton: Jetton, to: Address, amount: bigint, options: TokenOptions = {}): Outgoing {
    const { comment = null, forward = 1n, isInline = false, response = this.address, raw } = options;
    const body = transferBody({ to, amount, response }, { amount: forward, comment, isInline, raw });
    const value = options.value ?? usualValue + forward;
    return { to: jetton.walletOf(this.address), value, bounce: true, body };
  }

  /** Sends tokens to the owner of another jetton wallet, which is made when there is none. */
  payTokens(jetton: Jetton, to: Address, amount: bigint, options: TokenOptions = {}): Hash64 {
    return this.send(this.tokenMessage(jetton, to, amount, options));
  }
}
