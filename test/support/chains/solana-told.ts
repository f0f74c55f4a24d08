import { ed25519 } from '@noble/curves/ed25519.js';
import { concatBytes } from '@noble/hashes/utils.js';
import { encodeSolana } from '../../../src/chains/addresses/solana.ts';
import { RpcError } from '../../../src/chains/nodes/json-rpc.ts';
import { programs, type SolanaToken, solanaKey } from '../../../src/chains/solana/solana-keys.ts';
import { SolanaNode } from '../../../src/chains/solana/solana-node.ts';

/** The key of a number, the same in each run. */
export function solanaTestKey(number: number): {
  readonly privateKey: Uint8Array;
  readonly publicKey: Uint8Array;
  readonly address: string;
} {
  const privateKey = new Uint8Array(32).fill(number);
  const publicKey = ed25519.getPublicKey(privateKey);
  return { privateKey, publicKey, address: encodeSolana(publicKey) };
}

/** An account as a node tells it. */
export interface ToldAccount {
  readonly lamports: number | string;
  readonly owner: string;
  readonly data: readonly [string, string];
}

export function coins(lamports: number): ToldAccount {
  return { lamports, owner: programs.system, data: ['', 'base64'] };
}

function bytes(lamports: number, owner: string, data: Uint8Array): ToldAccount {
  return { lamports, owner, data: [Buffer.from(data).toString('base64'), 'base64'] };
}

/** @param extensions Kinds of extensions, each without contents. */
export function mint({ program, decimals }: SolanaToken, extensions: readonly number[] = []): ToldAccount {
  const data = new Uint8Array(82);
  data.set([decimals, 1], 44);
  if (extensions.length === 0) return bytes(1, program, data);
  const kinds = extensions.map((kind) => Uint8Array.of(kind, 0, 0, 0));
  return bytes(1, program, concatBytes(data, new Uint8Array(83), Uint8Array.of(1), ...kinds));
}

export function tokens({ mint: of, program }: SolanaToken, owner: string, amount: bigint, state = 1): ToldAccount {
  const data = Buffer.alloc(165);
  data.set(solanaKey(of), 0);
  data.set(solanaKey(owner), 32);
  data.writeBigUInt64LE(amount, 64);
  data[108] = state;
  return bytes(2_039_280, program, data);
}

/** A block as a node tells it, in the slot of its key. */
export interface ToldBlock {
  readonly parentSlot: number;
  readonly blockHeight: number;
  readonly transactions?: readonly unknown[];
  readonly blockhash?: string;
  readonly previousBlockhash?: string;
}

/** The hash of the block in a slot. */
export function hashOf(slot: number): string {
  return encodeSolana(
    new Uint8Array(32)
      .fill(1)
      .fill(slot % 256, 0, 1)
      .fill(Math.floor(slot / 256), 1, 2),
  );
}

type Answer = (...params: readonly unknown[]) => unknown;

/**
 * What a node of Solana answers, as a test says it. It follows no rules of the chain. Every member
 * can be changed, and each method can be answered otherwise.
 */
export class ToldSolana {
  readonly blocks = new Map<number, ToldBlock>();
  readonly accounts = new Map<string, ToldAccount>();
  readonly statuses = new Map<string, unknown>();
  readonly calls: (readonly [method: string, params: readonly unknown[]])[] = [];
  readonly answers = new Map<string, Answer>();
  genesis = hashOf(0);
  timeSec = 1_790_083_456;
  /** Lamports for each byte of an account, and for the bytes that each has besides. */
  rentPerByte = 5_080;
  signatureFee = 5_000;
  prices: readonly number[] = [];
  trial: { readonly err: unknown; readonly unitsConsumed?: number } = { err: null, unitsConsumed: 10_000 };
  sent: string[] = [];

  get head(): number {
    return Math.max(...this.blocks.keys());
  }

  /** Blocks in these slots, each on top of the previous one. */
  addBlocks(...slots: readonly number[]): this {
    for (const slot of slots) {
      const [parentSlot, parent] = [...this.blocks].at(-1) ?? [slot - 1, undefined];
      this.blocks.set(slot, { parentSlot, blockHeight: (parent?.blockHeight ?? parentSlot - 1) + 1 });
    }
    return this;
  }

  node(): SolanaNode {
    return new SolanaNode({
      name: 'http://told',
      call: async <T>(method: string, params: unknown) => {
        const list = params as readonly unknown[];
        this.calls.push([method, list]);
        const answer = this.answers.get(method) ?? this.#usual[method];
        if (answer === undefined) throw new RpcError(-32_601, 'Method not found');
        return answer(...list) as T;
      },
    });
  }

  refuse(method: string, code: number, message = 'refused'): void {
    this.answers.set(method, () => {
      throw new RpcError(code, message);
    });
  }

  #at(value: unknown): unknown {
    return { context: { slot: this.head }, value };
  }

  readonly #usual: Readonly<Record<string, Answer>> = {
    getGenesisHash: () => this.genesis,
    getSlot: () => this.head,
    getFirstAvailableBlock: () => Math.min(...this.blocks.keys()),
    getBlocks: (first, last) =>
      [...this.blocks.keys()].filter((slot) => slot >= (first as number) && slot <= (last as number)),
    getBlock: (slot) => {
      const block = this.blocks.get(slot as number);
      if (block === undefined) throw new RpcError(-32_007, `Slot ${slot} was skipped`);
      const { parentSlot, blockHeight, transactions = [] } = block;
      const { blockhash = hashOf(slot as number), previousBlockhash = hashOf(parentSlot) } = block;
      return { blockhash, previousBlockhash, parentSlot, blockHeight, blockTime: this.timeSec, transactions };
    },
    getLatestBlockhash: () => {
      const { blockHeight } = this.blocks.get(this.head) ?? { blockHeight: 0 };
      return this.#at({ blockhash: hashOf(this.head), lastValidBlockHeight: blockHeight + 150 });
    },
    getMultipleAccounts: (addresses) =>
      this.#at((addresses as readonly string[]).map((address) => this.accounts.get(address) ?? null)),
    getTokenAccountsByOwner: (owner, filter) => {
      const { mint: of } = filter as { mint: string };
      const isOf = ({ data }: ToldAccount): boolean => {
        const found = Buffer.from(data[0], 'base64');
        return (
          found.length >= 165 &&
          encodeSolana(found.subarray(0, 32)) === of &&
          encodeSolana(found.subarray(32, 64)) === owner
        );
      };
      const found = [...this.accounts].filter(([, account]) => isOf(account));
      return this.#at(found.map(([pubkey, account]) => ({ pubkey, account })));
    },
    getMinimumBalanceForRentExemption: (size) => (128 + (size as number)) * this.rentPerByte,
    getFeeForMessage: (message) => this.#at(this.signatureFee * (Buffer.from(message as string, 'base64')[0] ?? 0)),
    getRecentPrioritizationFees: () => this.prices.map((prioritizationFee, slot) => ({ slot, prioritizationFee })),
    simulateTransaction: () => this.#at(this.trial),
    getSignatureStatuses: (txids) =>
      this.#at((txids as readonly string[]).map((txid) => this.statuses.get(txid) ?? null)),
    sendTransaction: (raw) => {
      this.sent.push(raw as string);
      return '1'.repeat(64);
    },
  };
}
