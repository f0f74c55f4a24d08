import { type JsonRpcNode, RpcError } from '../nodes/json-rpc.ts';
import { asList, asObject, NodeFault, printable, unsound } from '../nodes/node-answer.ts';
import { type Broadcast, ChainError } from '../port/chain-adapter.ts';
import {
  asKey,
  asSlot,
  asTxid,
  asUint64,
  errorText,
  hasError,
  readBlock,
  readHeader,
  type SolanaBlock,
  type SolanaHeader,
} from './solana-answer.ts';

/** An account in a final block. */
export interface SolanaAccount {
  readonly lamports: bigint;
  /** The program that may change it. */
  readonly owner: string;
  readonly data: Uint8Array;
}

/** An answer about the final block in a slot. */
interface AtSlot<T> {
  readonly slot: number;
  readonly value: T;
}

/** The slot of a transaction, and whether it is final. */
export interface SeenTx {
  readonly slot: number;
  readonly isFinal: boolean;
}

/** What a transaction would do. */
export interface SolanaTrial {
  /** Null when it would succeed. */
  readonly error: string | null;
  /** The units of computing that it would use. */
  readonly units: bigint;
}

/** Codes of refusals. https://github.com/anza-xyz/agave/blob/master/rpc-client-api/src/custom_error.rs */
const refusals = {
  unsupportedVersion: -32_015,
  sendFailed: -32_002,
  behind: new Set([-32_005, -32_016]),
  /** The node does not have a block: not yet, not any more, or it took over from elsewhere. */
  noBlock: new Set([-32_001, -32_004, -32_007, -32_009, -32_011, -32_014]),
} as const;

/** The newest version of transactions that is understood here. */
const newestVersion = 1;
/** The most accounts that one question asks for. */
export const accountsAtOnce = 100;
/** The most ids that one question asks for. */
export const statusesAtOnce = 256;

const final = { commitment: 'finalized' } as const;

/**
 * The calls to one node of Solana. All of them ask about final blocks. Every answer is checked
 * before it is used. An invalid answer, or a question that the node refuses, is a ChainError, so
 * that another node can be asked. https://solana.com/docs/rpc
 */
export class SolanaNode {
  readonly #node: Pick<JsonRpcNode, 'name' | 'call'>;

  constructor(node: Pick<JsonRpcNode, 'name' | 'call'>) {
    this.#node = node;
  }

  get name(): string {
    return this.#node.name;
  }

  /** The hash of block 0. */
  async genesis(): Promise<string> {
    return asKey(await this.#ask('getGenesisHash'), 'hash of block 0');
  }

  /** The newest final block. */
  async head(): Promise<SolanaHeader> {
    return this.header(asSlot(await this.#ask('getSlot', final), 'slot'));
  }

  /** @throws ChainError when the slot is empty, or the node does not have its block. */
  async header(slot: number): Promise<SolanaHeader> {
    return readHeader(await this.#block(slot, 'none'), slot);
  }

  /** The same with the transactions. */
  async block(slot: number): Promise<SolanaBlock> {
    return readBlock(await this.#block(slot, 'accounts'), slot);
  }

  async #block(slot: number, transactionDetails: 'none' | 'accounts'): Promise<unknown> {
    const options = { transactionDetails, maxSupportedTransactionVersion: newestVersion, rewards: false, ...final };
    const block = await this.#ask('getBlock', slot, options);
    // An empty slot may look like a block that the node lacks, and is never taken for one.
    if (block === null) throw noBlock(`tells no block in slot ${slot}`);
    return block;
  }

  /** The slots with blocks, both ends included, in ascending order. */
  async slots(first: number, last: number): Promise<number[]> {
    const found = asList(await this.#ask('getBlocks', first, last, final), 'slots').map((each) => asSlot(each, 'slot'));
    const isSound = found.every((slot, place) => slot >= first && slot <= last && slot > (found[place - 1] ?? -1));
    if (!isSound) throw unsound('slots in another order, or that were not asked for');
    return found;
  }

  /** The lowest slot whose block the node still has. */
  async firstSlot(): Promise<number> {
    return asSlot(await this.#ask('getFirstAvailableBlock'), 'first slot');
  }

  /**
   * The hash of a final block that a transaction names, and the height of the last block in which
   * it counts.
   */
  async blockhash(): Promise<AtSlot<{ readonly blockhash: string; readonly lastHeight: number }>> {
    return this.#atSlot(await this.#ask('getLatestBlockhash', final), (value) => {
      const { blockhash, lastValidBlockHeight } = asObject(value, 'newest blockhash');
      return {
        blockhash: asKey(blockhash, 'blockhash'),
        lastHeight: asSlot(lastValidBlockHeight, 'last height of a blockhash'),
      };
    });
  }

  /** Accounts in the order asked, null for one that does not exist. At most `accountsAtOnce`. */
  async accounts(
    addresses: readonly string[],
    minContextSlot: number,
  ): Promise<AtSlot<readonly (SolanaAccount | null)[]>> {
    const options = { encoding: 'base64', minContextSlot, ...final };
    return this.#atSlot(
      await this.#ask('getMultipleAccounts', addresses, options),
      (value) => {
        const accounts = asList(value, 'accounts').map((each) => (each === null ? null : readAccount(each)));
        if (accounts.length !== addresses.length) throw unsound('another number of accounts');
        return accounts;
      },
      minContextSlot,
    );
  }

  /** All accounts in which an owner keeps a token, by their addresses. */
  async tokenAccounts(
    owner: string,
    mint: string,
    minContextSlot: number,
  ): Promise<AtSlot<ReadonlyMap<string, SolanaAccount>>> {
    const options = { encoding: 'base64', minContextSlot, ...final };
    return this.#atSlot(
      await this.#ask('getTokenAccountsByOwner', owner, { mint }, options),
      (value) => {
        const found = asList(value, 'token accounts').map((each) => {
          const { pubkey, account } = asObject(each, 'token account');
          return [asKey(pubkey, 'token account'), readAccount(account)] as const;
        });
        const byAddress = new Map(found);
        if (byAddress.size !== found.length) throw unsound('a token account twice');
        return byAddress;
      },
      minContextSlot,
    );
  }

  /** What an account of this many bytes must have, in lamports. */
  async rentOf(bytes: number): Promise<bigint> {
    return asUint64(await this.#ask('getMinimumBalanceForRentExemption', bytes, final), 'rent');
  }

  /** What the chain takes for a message, in lamports, with the offer for computing. */
  async feeOf(message: Uint8Array, minContextSlot: number): Promise<bigint> {
    const options = { minContextSlot, ...final };
    const answer = await this.#ask('getFeeForMessage', Buffer.from(message).toString('base64'), options);
    return this.#atSlot(
      answer,
      (value) => {
        if (value === null) throw new NodeFault('node_behind', 'does not know the newest blockhash');
        return asUint64(value, 'fee');
      },
      minContextSlot,
    ).value;
  }

  /**
   * The offers for computing that transactions with these accounts made in each of the last blocks,
   * in millionths of a lamport a unit.
   */
  async recentPrices(accounts: readonly string[]): Promise<bigint[]> {
    return asList(await this.#ask('getRecentPrioritizationFees', accounts), 'fees').map((each) =>
      asUint64(asObject(each, 'fee').prioritizationFee, 'fee'),
    );
  }

  /** Tries a transaction on the newest final block, without its signatures. */
  async trial(raw: string, minContextSlot: number): Promise<SolanaTrial> {
    const options = { encoding: 'base64', sigVerify: false, minContextSlot, ...final };
    return this.#atSlot(
      await this.#ask('simulateTransaction', raw, options),
      (value) => {
        const { err, unitsConsumed } = asObject(value, 'trial');
        const error = hasError(err) ? errorText(err) : null;
        return { error, units: error === null ? asUint64(unitsConsumed, 'units of computing') : 0n };
      },
      minContextSlot,
    ).value;
  }

  /** Where transactions are, in the order asked; null for one that no block holds. */
  async statuses(txids: readonly string[]): Promise<AtSlot<readonly (SeenTx | null)[]>> {
    // Without its history a node knows the newest blocks only, and null would prove nothing.
    const answer = await this.#ask('getSignatureStatuses', txids, { searchTransactionHistory: true });
    return this.#atSlot(answer, (value) => {
      const seen = asList(value, 'statuses').map((each): SeenTx | null => {
        if (each === null) return null;
        const { slot, confirmationStatus } = asObject(each, 'status');
        return { slot: asSlot(slot, 'slot of a transaction'), isFinal: confirmationStatus === 'finalized' };
      });
      if (seen.length !== txids.length) throw unsound('another number of statuses');
      return seen;
    });
  }

  /** The bytes of a transaction in a final block, in base64; null where the node has none. */
  async transaction(txid: string): Promise<string | null> {
    const options = { encoding: 'base64', maxSupportedTransactionVersion: newestVersion, ...final };
    const answer = await this.#ask('getTransaction', txid, options);
    if (answer === null) return null;
    const [text, encoding] = asList(asObject(answer, 'transaction').transaction, 'bytes of a transaction');
    if (typeof text !== 'string' || encoding !== 'base64') throw unsound('no bytes of a transaction');
    return text;
  }

  /**
   * Broadcasts signed bytes. The node tries them first, so that a transaction which would fail
   * costs no fee. The answer proves nothing.
   */
  async send(raw: string): Promise<Broadcast> {
    const options = { encoding: 'base64', preflightCommitment: final.commitment };
    try {
      asTxid(await this.#node.call('sendTransaction', [raw, options]));
      return { outcome: 'accepted', code: null };
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      return { outcome: error.code === refusals.sendFailed ? 'rejected' : 'uncertain', code: String(error.code) };
    }
  }

  async #ask(method: string, ...params: readonly unknown[]): Promise<unknown> {
    try {
      return await this.#node.call<unknown>(method, params);
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      const { code, message } = error;
      if (code === refusals.unsupportedVersion) {
        // Every other node would refuse the block too. It must be read, and never left out.
        const what = 'the chain has transactions of a version that this release cannot read: update the gateway';
        throw new ChainError('unsupported_version', what, { isOfChain: true, cause: error });
      }
      if (refusals.behind.has(code)) throw new NodeFault('node_behind', `is behind: ${printable(message)}`);
      if (refusals.noBlock.has(code)) throw noBlock(`lacks a block: ${printable(message)}`);
      throw new NodeFault('node_refused', `refuses ${method}: ${printable(message)}`);
    }
  }

  /** Reads an answer that names the slot for which it holds. */
  #atSlot<T>(answer: unknown, read: (value: unknown) => T, least = 0): AtSlot<T> {
    const { context, value } = asObject(answer, 'answer');
    const slot = asSlot(asObject(context, 'context').slot, 'slot of an answer');
    if (slot < least) throw new NodeFault('node_behind', `answers for slot ${slot} when asked for ${least} or later`);
    return { slot, value: read(value) };
  }
}

function noBlock(what: string): NodeFault {
  return new NodeFault('no_block', what);
}

function readAccount(answer: unknown): SolanaAccount {
  const { lamports, owner, data } = asObject(answer, 'account');
  const [text, encoding] = asList(data, 'bytes of an account');
  if (typeof text !== 'string' || encoding !== 'base64') throw unsound('no bytes of an account');
  return {
    lamports: asUint64(lamports, 'balance'),
    owner: asKey(owner, 'owner of an account'),
    data: Uint8Array.from(Buffer.from(text, 'base64')),
  };
}
