import { type Address, beginCell, type Cell, contractAddress } from '@ton/core';
import {
  type Comment,
  internalTransferBody,
  type JettonKind,
  jettonWalletInit,
  lockBody,
  type locks,
  masterInit,
  mintBody,
  type Outgoing,
  refusingCode,
} from '../ton-contracts.ts';
import type { TonBlocks } from './blocks.ts';
import { cellsOf } from './json.ts';
import { type Raw, rawOf } from './names.ts';

/** A kind of token: its master, and the code of its wallets. */
export class Jetton {
  readonly master: Address;
  /** The master as the index and settings name it. */
  readonly raw: Raw;
  readonly name: string;
  readonly kind: JettonKind;
  /** The code of its wallets, or a cell that names it by its hash. */
  readonly walletCode: Cell;
  readonly #chain: TonBlocks;
  readonly #admin: Address;

  constructor(chain: TonBlocks, parts: Pick<Jetton, 'name' | 'kind' | 'walletCode'> & { readonly admin: Address }) {
    this.#chain = chain;
    this.name = parts.name;
    this.kind = parts.kind;
    this.walletCode = parts.walletCode;
    this.#admin = parts.admin;
    this.master = contractAddress(0, this.#init);
    this.raw = rawOf(this.master);
  }

  /** The jetton wallet of an owner, whether or not there is one. */
  walletOf(owner: Address): Address {
    return contractAddress(0, this.#walletInit(owner));
  }

  /** In the token's units; 0 when there is no jetton wallet. */
  balance(owner: Address): bigint {
    return this.balanceIn(cellsOf(this.#chain.row(rawOf(this.walletOf(owner)))).data);
  }

  /** The tokens that the data of a jetton wallet tell. */
  balanceIn(data: Cell | null): bigint {
    return (
      data
        ?.beginParse()
        .skip(this.kind === 'governed' ? 4 : 0)
        .loadCoins() ?? 0n
    );
  }

  /** The message by which the admin of a governed jetton locks the jetton wallet of an owner. */
  lockMessage(owner: Address, lock: (typeof locks)[keyof typeof locks]): Outgoing {
    return { to: this.master, value: 100_000_000n, bounce: true, body: lockBody(owner, lock) };
  }

  /** The message by which the admin makes tokens of an owner, also deploying the master. */
  mintMessage(
    to: Address,
    amount: bigint,
    options: { readonly forward?: bigint; readonly comment?: Comment } = {},
  ): Outgoing {
    const { forward = 0n, comment = null } = options;
    const parts = { from: this.master, response: this.#admin };
    const transfer = internalTransferBody(amount, parts, { amount: forward, comment });
    const body = mintBody(to, 100_000_000n + forward, transfer);
    return { to: this.master, value: 200_000_000n + forward, bounce: true, body, init: this.#init };
  }

  /** From now on the jetton wallet of an owner refuses each message with exit code 45. */
  refuse(owner: Address): void {
    const address = this.walletOf(owner);
    const { data } = this.#walletInit(owner, this.balance(owner));
    this.#chain.place(address, refusingCode, data ?? beginCell().endCell(), 100_000_000n);
  }

  get #init() {
    const content = beginCell().storeUint(1, 8).storeStringTail(`https://tokens.example/${this.name}.json`).endCell();
    return masterInit(this.#admin, content, this.walletCode, this.kind);
  }

  #walletInit(owner: Address, balance = 0n) {
    return jettonWalletInit(this.master, owner, this.walletCode, balance, this.kind);
  }
}
