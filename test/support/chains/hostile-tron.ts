import { bytesToHex } from '@noble/hashes/utils.js';
import type { Dice } from '../gateway/dice.ts';
import { type Credit, HostileNode, shuffled, summed } from './hostile-node.ts';
import type { MinedTransaction, TronBlock } from './tron-node/blocks.ts';
import { keyOf, sign, toBase58, toHexAddress } from './tron-node/crypto.ts';
import { noEffect, type Outcome } from './tron-node/execution.ts';
import { blockId, encodeHeader, type Header, merkleRoot } from './tron-node/header.ts';
import { blockJson, infoJson, stringify } from './tron-node/json.ts';
import { Ledger } from './tron-node/ledger.ts';
import {
  type ContractResult,
  decodeTransaction,
  encodeMined,
  encodeRaw,
  signRaw,
  type TronCall,
} from './tron-node/transaction.ts';
import type { InternalCall, TronLog } from './tron-node/vm.ts';

const transferTopic = 'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
/** The largest numbers of a contract, and of coins. */
const most = 2n ** 256n - 1n;
const mostCoins = 2n ** 63n - 1n;
/** The first amount of a token with 6 decimals that numeric(38,18) cannot hold. */
const beyond = 10n ** 26n;
const producer = keyOf('producer of hostile blocks');
const startTime = 1_800_000_000_000;

/** A transaction with all that the node tells of it, and what of it is ours. */
interface HostileTx {
  readonly call: TronCall;
  readonly outcome: Outcome;
  readonly credits: readonly Credit[];
  readonly leftOut: number;
}

export interface HostileTronOptions {
  /** Contract of the token that is watched, with 6 decimals. */
  readonly token: string;
  readonly ours: readonly string[];
}

const empty = new Uint8Array();
const word = (value: bigint): string => value.toString(16).padStart(64, '0');

/** A chain of the kind of Tron, as java-tron tells it over HTTP. */
export class HostileTron extends HostileNode {
  readonly #options: HostileTronOptions;
  readonly #blocks: TronBlock[] = [];
  #made = 0;

  constructor(dice: Dice, options: HostileTronOptions) {
    super(dice);
    this.#options = options;
    this.append(null);
  }

  /** The id of block 0. */
  get genesis(): string {
    return this.blocks[0]?.hash ?? '';
  }

  append(honest: Credit | null): void {
    const height = this.blocks.length;
    const hostile = height === 0 ? [] : this.some(Math.floor(this.dice.between(0, 9)), this.#makers);
    const txs = shuffled(this.dice, [...hostile, ...(honest === null ? [] : [this.#honest(honest)])]);
    const transactions = txs.map(({ call, outcome }): MinedTransaction => ({ tx: this.#signed(call), outcome }));
    const header: Header = {
      number: height,
      timestamp: startTime + height * 3_000,
      txTrieRoot: merkleRoot(transactions.map(({ tx, outcome }) => encodeMined(tx, outcome.result))),
      parentHash: this.blocks.at(-1)?.hash ?? '0'.repeat(64),
      witness: producer.address,
      version: 36,
    };
    const signature = bytesToHex(sign(encodeHeader(header), producer));
    const block = { header, id: blockId(header), signature, transactions, ledger: new Ledger(), vmHeight: 0 };
    this.#blocks.splice(height, Number.POSITIVE_INFINITY, block);
    this.blocks.push({
      ...{ height, hash: block.id, parent: header.parentHash },
      credits: txs.flatMap(({ credits }) => summed(credits)),
      leftOut: txs.reduce((sum, { leftOut }) => sum + leftOut, 0),
      answers: {},
    });
  }

  protected override respond(path: string, body: unknown): string {
    return stringify(this.answer(path.split('/').at(-1) ?? '', [body]));
  }

  protected answer(method: string, [body]: readonly unknown[]): unknown {
    const { id_or_num, num, detail } = body as { id_or_num?: string; num?: number; detail?: boolean };
    const block = this.#blocks[Number(id_or_num ?? num ?? this.head.height)];
    const isThere = block !== undefined && block.header.number <= this.head.height;
    switch (method) {
      case 'getblock':
        return isThere ? blockJson(block, detail === true) : {};
      case 'gettransactioninfobyblocknum':
        return isThere ? block.transactions.map((one) => infoJson(one, block)) : [];
      case 'triggerconstantcontract':
        return { result: { result: true }, constant_result: [word(0n)] };
      case 'getaccount':
        return {};
      default:
        return { Error: 'class java.lang.UnsupportedOperationException : no such method' };
    }
  }

  #signed(call: TronCall): MinedTransaction['tx'] {
    this.#made += 1;
    const terms = {
      ...{ reference: this.hash(), expiration: startTime * 2, timestamp: startTime + this.#made },
      ...{ feeLimit: 1n, memo: this.dice.pick(['', '\u0000\u202e<b>', 'x'.repeat(1_000)]) },
    };
    return decodeTransaction(signRaw(encodeRaw(call, terms), producer));
  }

  #honest({ address, contract, amount }: Credit): HostileTx {
    const credits = [{ address, contract, amount }];
    return contract === null
      ? this.#sent(address, amount, credits)
      : this.#called({ logs: [this.#transfer(address, amount)] }, credits);
  }

  /** Coins of a transaction itself. */
  #sent(address: string, amount: bigint, credits: readonly Credit[], result: ContractResult = 'SUCCESS'): HostileTx {
    const call = {
      type: 'TransferContract',
      owner: this.#stranger(),
      to: toHexAddress(address),
      amount,
      data: empty,
    } as const;
    return { call, outcome: { ...noEffect, result }, credits, leftOut: 0 };
  }

  /** The call of a contract with an outcome. */
  #called(
    outcome: Partial<Pick<Outcome, 'logs' | 'internal' | 'result'>>,
    credits: readonly Credit[] = [],
    leftOut = 0,
  ): HostileTx {
    const to = toHexAddress(this.#options.token);
    const call = { type: 'TriggerSmartContract', owner: this.#stranger(), to, amount: 0n, data: empty } as const;
    return { call, outcome: { ...noEffect, ...outcome }, credits, leftOut };
  }

  /** Makers of transactions that need no right on the contract. */
  get #makers(): (() => HostileTx)[] {
    const { token, ours } = this.#options;
    const own = (address: string, amount: bigint): Credit => ({ address, contract: null, amount });
    const paid = (address: string, amount: bigint): Credit => ({ address, contract: token, amount });
    const small = (): bigint => BigInt(Math.floor(this.dice.between(1, 1e6)));
    const internal = (changes: Partial<InternalCall> = {}): InternalCall => ({
      ...{
        hash: this.hash(),
        caller: this.#stranger(),
        to: this.#stranger(),
        amount: 5n,
        note: 'call',
        isRejected: false,
      },
      ...changes,
    });
    const toUs = (changes: Partial<InternalCall> = {}): InternalCall =>
      internal({ to: toHexAddress(this.#ours()), ...changes });
    return [
      // Amounts that nothing can hold.
      () => this.#called({ logs: [this.#transfer(this.#ours(), this.dice.pick([most, beyond, 2n ** 255n]))] }, [], 1),
      // As many coins as a transaction can state.
      () => {
        const one = own(this.#ours(), mostCoins);
        return this.#sent(one.address, one.amount, [one]);
      },
      // Logs that are no transfers of the token to us.
      () => this.#called({ logs: [{ ...this.#transfer(this.#ours(), small()), address: this.hex(40) }] }),
      () => {
        const { topics, ...log } = this.#transfer(this.#ours(), small());
        const odd = this.dice.pick([
          [],
          topics.slice(0, 1),
          topics.slice(0, 2),
          [...topics, this.hash()],
          [this.hash(), ...topics.slice(1)],
          [topics[0] ?? '', topics[1] ?? '', `${'f'.repeat(24)}${toHexAddress(this.#ours()).slice(2)}`],
        ]);
        return this.#called({ logs: [{ ...log, topics: odd }] });
      },
      () => {
        const data = this.dice.pick(['', '00', '0'.repeat(62), '0'.repeat(66), 'f'.repeat(128)]);
        return this.#called({ logs: [{ ...this.#transfer(this.#ours(), 1n), data }] });
      },
      () => this.#called({ logs: [this.#transfer(this.#ours(), 0n)] }),
      // Coins and tokens that never moved.
      () => this.#sent(this.#ours(), small(), [], this.dice.pick(['REVERT', 'OUT_OF_ENERGY', 'UNKNOWN'])),
      () => {
        const result = this.dice.pick<ContractResult>(['REVERT', 'OUT_OF_ENERGY', 'OUT_OF_TIME', 'ILLEGAL_OPERATION']);
        return this.#called({ result, logs: [this.#transfer(this.#ours(), small())], internal: [toUs()] });
      },
      () => this.#called({ internal: [toUs({ isRejected: true }), internal(), toUs({ amount: 0n })] }),
      () =>
        this.#called({ internal: ['freezeForEnergy', 'voteWitness', 'withdrawReward'].map((note) => toUs({ note })) }),
      // Tokens of TRC-10, by a transaction and in a call.
      () => {
        const [owner, to] = [this.#stranger(), toHexAddress(this.#ours())];
        const call = {
          type: 'TransferAssetContract',
          owner,
          to,
          amount: small(),
          data: Buffer.from('1002000'),
        } as const;
        return { call, outcome: noEffect, credits: [], leftOut: 0 };
      },
      () => {
        const { call, ...made } = this.#called({ internal: [toUs({ amount: 0n })] });
        return { ...made, call: { ...call, token: { id: 1_002_000n, amount: small() } } };
      },
      // A kind of call that a later version of the chain brings.
      () => this.#called({ internal: [toUs({ note: 'gift' })] }, [], 1),
      () => this.#called({ internal: [internal({ note: '' }), internal({ note: '\u0000\u202e' })] }),
      // Much at once, all of it real.
      () => {
        const each = ours.map((address) => paid(address, small()));
        return this.#called({ logs: each.map(({ address, amount }) => this.#transfer(address, amount)) }, each);
      },
      () => {
        const each = ours.map((address) => own(address, small()));
        const calls = each.map(({ address, amount }) => internal({ to: toHexAddress(address), amount }));
        return this.#called({ internal: calls }, each);
      },
      () => {
        const one = paid(this.#ours(), small());
        const log = this.#transfer(one.address, one.amount);
        return this.#called({ logs: [log, log, log] }, [one, one, one]);
      },
      () => {
        const one = own(this.#ours(), small());
        const end = internal({ note: 'suicide', to: toHexAddress(one.address), amount: one.amount });
        return this.#called({ internal: [end, internal({ note: 'create' })] }, [one]);
      },
      () =>
        this.#called({ logs: Array.from({ length: 300 }, () => this.#transfer(toBase58(this.#stranger()), small())) }),
      () => this.#called({ internal: Array.from({ length: 1_000 }, () => internal()) }),
      // Logs of a transaction that calls nothing.
      () => {
        const one = own(this.#ours(), small());
        const made = this.#sent(one.address, one.amount, [one]);
        return { ...made, outcome: { ...made.outcome, logs: [this.#transfer(one.address, most)] } };
      },
    ];
  }

  #transfer(to: string, amount: bigint): TronLog {
    const topics = [transferTopic, `${'0'.repeat(24)}${this.hex(40)}`, `${'0'.repeat(24)}${toHexAddress(to).slice(2)}`];
    return { address: toHexAddress(this.#options.token).slice(2), topics, data: word(amount) };
  }

  /** An address of no one, as 42 digits. */
  #stranger(): string {
    return `41${this.hex(40)}`;
  }

  #ours(): string {
    return this.dice.pick(this.#options.ours);
  }
}
