import { base58 } from '@scure/base';
import type { Dice } from '../gateway/dice.ts';
import { type Credit, HostileNode, shuffled, summed } from './hostile-node.ts';
import { programs } from './solana-node/keys.ts';
import { amountJson } from './solana-node/shown.ts';
import { stringify } from './xrp-node/json.ts';

type Json = Record<string, unknown>;

/** The largest balance. */
const most = 2n ** 64n - 1n;
const startTime = 1_800_000_000;

/** What an account of a transaction has before and after it. */
interface Change {
  readonly address: string;
  readonly before: bigint;
  readonly after: bigint;
}

/** The same of a token, on an account of its own. A balance of null is left out. */
interface TokenChange {
  readonly owner: string | null;
  readonly mint: string;
  readonly before: bigint | null;
  readonly after: bigint | null;
}

/** A transaction, and what of it is ours. */
interface HostileTx {
  readonly coins?: readonly Change[];
  readonly tokens?: readonly TokenChange[];
  readonly error?: unknown;
  readonly credits: readonly Credit[];
}

export interface HostileSolanaOptions {
  /** The mint of the token that is watched, with 6 decimals. */
  readonly token: string;
  readonly ours: readonly string[];
}

/**
 * A chain of the kind of Solana, as a node tells its final blocks. Strangers choose which accounts
 * their transactions name and what moves between them; balances are what the chain's programs let
 * them be. Some slots have no block.
 */
export class HostileSolana extends HostileNode {
  readonly #options: HostileSolanaOptions;
  readonly #texts = new Map<number, Json>();

  constructor(dice: Dice, options: HostileSolanaOptions) {
    super(dice);
    this.#options = options;
    this.append(null);
  }

  /** The hash of block 0. */
  get genesis(): string {
    return this.blocks[0]?.hash ?? '';
  }

  append(honest: Credit | null): void {
    const below = this.blocks.at(-1);
    const height = below ? below.height + 1 + Math.floor(this.dice.between(0, 3)) : 0;
    const hostile = below ? this.some(Math.floor(this.dice.between(0, 9)), this.#makers) : [];
    const txs = shuffled(this.dice, [...hostile, ...(honest === null ? [] : [this.#paid(honest)])]);
    const [hash, parent] = [this.#key(), below?.hash ?? this.#key()];
    this.#texts.set(height, {
      ...{ blockHeight: this.blocks.length, blockTime: startTime + height, blockhash: hash },
      ...{ parentSlot: below?.height ?? 0, previousBlockhash: parent },
      transactions: txs.map((tx) => this.#json(tx)),
    });
    const credits = txs.flatMap((tx) => summed(tx.credits));
    this.blocks.push({ height, hash, parent, credits, leftOut: 0, answers: {} });
  }

  override reorg(): void {
    throw new Error('no final block of Solana is taken back');
  }

  protected override respond(_path: string, body: unknown): string {
    const { id, method, params = [] } = body as { id: number; method: string; params?: readonly unknown[] };
    const result = this.answer(method, params);
    const error = { code: -32_601, message: `no method ${method}` };
    return stringify({ jsonrpc: '2.0', id, ...(result === undefined ? { error } : { result }) });
  }

  protected answer(method: string, [first, second]: readonly unknown[]): unknown {
    switch (method) {
      case 'getGenesisHash':
        return this.genesis;
      case 'getSlot':
        return this.head.height;
      case 'getBlocks':
        return this.blocks
          .map(({ height }) => height)
          .filter((slot) => slot >= Number(first) && slot <= Number(second));
      case 'getBlock': {
        const { transactions, ...header } = this.#texts.get(Number(first)) ?? {};
        return (second as Json).transactionDetails === 'none' ? header : { ...header, transactions };
      }
      default:
        return undefined;
    }
  }

  #json({ coins = [], tokens = [], error = null }: HostileTx): Json {
    const payer = { address: this.#key(), before: 10n ** 9n, after: 10n ** 9n - 5_000n };
    const accounts = tokens.map(() => ({ address: this.#key(), before: 2_039_280n, after: 2_039_280n }));
    const all = [payer, ...coins, ...accounts];
    const balances = (of: 'before' | 'after'): Json[] =>
      tokens.flatMap(({ owner, mint, [of]: amount }, index) => {
        const told = { accountIndex: 1 + coins.length + index, mint, programId: programs.token };
        const uiTokenAmount = amount === null ? null : amountJson(amount, 6);
        return amount === null ? [] : [{ ...told, ...(owner === null ? {} : { owner }), uiTokenAmount }];
      });
    return {
      meta: {
        ...{ err: error, fee: 5_000, status: error === null ? { Ok: null } : { Err: error } },
        ...{ preBalances: all.map(({ before }) => before), postBalances: all.map(({ after }) => after) },
        ...{ preTokenBalances: balances('before'), postTokenBalances: balances('after') },
      },
      transaction: {
        accountKeys: all.map(({ address }, index) => ({
          ...{ pubkey: address, signer: index === 0, source: 'transaction', writable: true },
        })),
        signatures: [this.#text(64)],
      },
      version: this.dice.pick(['legacy', 0, 1]),
    };
  }

  /** One payment, to an account that had something before. */
  #paid(credit: Credit): HostileTx {
    const { address, contract, amount } = credit;
    const before = this.dice.pick([0n, 1n, 650_240n]);
    return contract === null
      ? { coins: [{ address, before, after: before + amount }], credits: [credit] }
      : { tokens: [{ owner: address, mint: contract, before, after: before + amount }], credits: [credit] };
  }

  get #makers(): (() => HostileTx)[] {
    const { token, ours } = this.#options;
    const small = (): bigint => BigInt(Math.floor(this.dice.between(1, 1e6)));
    const coin = (address: string, amount: bigint): Credit => ({ address, contract: null, amount });
    const tokens = (address: string, amount: bigint): Credit => ({ address, contract: token, amount });
    const gained = (address: string, amount: bigint): Change => ({ address, before: 0n, after: amount });
    const held = (owner: string | null, before: bigint | null, after: bigint | null, mint = token): TokenChange => ({
      ...{ owner, mint, before, after },
    });
    return [
      // As much as an account can hold.
      () => this.#paid(this.dice.pick([coin, tokens])(this.#ours(), most - 650_240n)),
      // What failed moved nothing, though its balances say so.
      () => {
        const error = this.dice.pick<unknown>(['AccountInUse', { InstructionError: [0, { Custom: 1 }] }]);
        return { error, coins: [gained(this.#ours(), small())], tokens: [held(this.#ours(), 0n, 5n)], credits: [] };
      },
      // Coins that go, or stay.
      () => ({ coins: [{ address: this.#ours(), before: most, after: 0n }], credits: [] }),
      () => ({ coins: [{ address: this.#ours(), before: 7n, after: 7n }], credits: [] }),
      // Tokens of other mints, also of owners that are not told.
      () => ({ tokens: [held(this.#ours(), 0n, most, this.#key())], credits: [] }),
      () => ({ tokens: [held(null, 0n, most, this.#key()), held(null, null, 1n, this.#key())], credits: [] }),
      // Tokens that move between accounts of one owner.
      () => {
        const owner = this.#ours();
        return { tokens: [held(owner, 9n, 0n), held(owner, 0n, 9n)], credits: [] };
      },
      // Accounts that come and go: the sum over an owner counts.
      () => {
        const [owner, amount] = [this.#ours(), small()];
        const all = [held(owner, 100n, null), held(owner, null, 100n + amount), held(owner, 4n, 4n)];
        return { tokens: all, credits: [tokens(owner, amount)] };
      },
      () => ({ tokens: [held(this.#ours(), most, null), held(this.#key(), null, most)], credits: [] }),
      // One transaction that pays everyone, in coins and tokens.
      () => {
        const [lamports, units] = [small(), small()];
        return {
          coins: ours.map((address) => gained(address, lamports)),
          tokens: ours.map((owner) => held(owner, null, units)),
          credits: ours.flatMap((address) => [coin(address, lamports), tokens(address, units)]),
        };
      },
      // A crowd of strangers.
      () => ({ coins: Array.from({ length: 60 }, () => gained(this.#key(), small())), credits: [] }),
      () => ({ tokens: Array.from({ length: 60 }, () => held(this.#key(), null, most)), credits: [] }),
      // An owner who takes from one account and gets more on another one.
      () => {
        const [owner, amount] = [this.#ours(), small()];
        const all = [held(owner, most, most - 3n), held(owner, 0n, 3n + amount), held(this.#key(), most, 0n)];
        return { tokens: all, credits: [tokens(owner, amount)] };
      },
    ];
  }

  #text(bytes: number): string {
    return base58.encode(Uint8Array.from(Buffer.from(this.hex(bytes * 2), 'hex')));
  }

  /** The address of no one, or a hash. */
  #key(): string {
    return this.#text(32);
  }

  #ours(): string {
    return this.dice.pick(this.#options.ours);
  }
}
