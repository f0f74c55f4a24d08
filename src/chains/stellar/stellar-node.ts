import { xdr } from '@stellar/stellar-base';
import { type JsonRpcNode, RpcError } from '../nodes/json-rpc.ts';
import { asList, asObject, NodeFault, printable, unsound } from '../nodes/node-answer.ts';
import type { Broadcast } from '../port/chain-adapter.ts';
import { asIndex, decodeXdr } from './stellar-decoding.ts';
import { txidsOf } from './stellar-hashes.ts';
import {
  type LedgerReading,
  readHeader,
  readLedger,
  type StellarHeader,
  type StellarLedger,
} from './stellar-ledger.ts';
import { type Entries, type EntryKey, encodeKey, readEntries } from './stellar-state.ts';

/** The ledgers that a server has, with the times at which the first and the last closed. */
export interface LedgerRange {
  readonly oldest: number;
  readonly oldestMs: number;
  readonly latest: number;
  readonly latestMs: number;
}

/** A transaction that a ledger holds. */
export interface KnownTx {
  readonly height: number;
  readonly envelope: xdr.TransactionEnvelope;
  readonly result: xdr.TransactionResult;
  readonly meta: xdr.TransactionMeta;
  /** Another account raised its fee, and paid it. */
  readonly isFeeRaised: boolean;
}

/**
 * The longest answer that is read. One ledger is a few megabytes, and a stranger who trades much
 * makes a larger one. Each megabyte takes some 25 of memory when it is decoded.
 */
export const mostBytes = 64 * 1024 * 1024;

/** The server's refusal of a question that is out of its range, or that it cannot read. */
const invalidRequest = -32_600;

/**
 * The calls to one server of Stellar RPC. Every answer is checked before it is used. An invalid
 * answer, or a question that the server refuses, is a ChainError, so that another server can be
 * asked. https://developers.stellar.org/docs/data/apis/rpc/api-reference
 */
export class StellarNode {
  readonly #node: JsonRpcNode;
  readonly #networkId: string;

  constructor(node: JsonRpcNode, networkId: string) {
    this.#node = node;
    this.#networkId = networkId;
  }

  get name(): string {
    return this.#node.name;
  }

  async passphrase(): Promise<string> {
    const { passphrase } = asObject(await this.#ask('getNetwork'), 'network');
    if (typeof passphrase !== 'string') throw unsound('no passphrase');
    return passphrase;
  }

  /** The newest ledger. */
  async head(): Promise<StellarHeader> {
    const { sequence, headerXdr } = asObject(await this.#ask('getLatestLedger'), 'newest ledger');
    if (headerXdr === undefined) throw new NodeFault('node_refused', 'tells no headerXdr: update it');
    return readHeader(headerXdr, asIndex(sequence, 'newest ledger'));
  }

  /**
   * A ledger with its transactions; null when the server has none of this index yet.
   *
   * @throws ChainError `no_index` for one that the server no longer has.
   */
  async ledger(index: number, own: LedgerReading['own']): Promise<StellarLedger | null> {
    const told = await this.#ledger(index);
    return told && readLedger(told.metadataXdr, index, { networkId: this.#networkId, own });
  }

  /** The same without its transactions. */
  async header(index: number): Promise<StellarHeader | null> {
    const told = await this.#ledger(index);
    return told && readHeader(told.headerXdr, index);
  }

  async #ledger(index: number): Promise<Readonly<Record<string, unknown>> | null> {
    try {
      const answer = await this.#ask('getLedgers', { startLedger: index, pagination: { limit: 1 } });
      const [first] = asList(asObject(answer, 'ledgers').ledgers, 'ledgers');
      if (first === undefined) throw unsound('no ledger');
      return asObject(first, 'ledger');
    } catch (error) {
      if (!(error instanceof NodeFault) || error.code !== 'out_of_range') throw error;
      const { oldest, latest } = await this.range();
      if (index > latest) return null;
      throw new NodeFault('no_index', `has no ledger ${index}: its ledgers begin with ${oldest}`);
    }
  }

  async range(): Promise<LedgerRange> {
    const answer = asObject(await this.#ask('getLedgers', await this.#newest()), 'ledgers');
    return readRange(answer);
  }

  async #newest(): Promise<object> {
    const { sequence } = asObject(await this.#ask('getLatestLedger'), 'newest ledger');
    return { startLedger: asIndex(sequence, 'newest ledger'), pagination: { limit: 1 } };
  }

  /** The present state of accounts, at most 200 entries. */
  async entries(keys: readonly EntryKey[]): Promise<Entries> {
    return readEntries(await this.#ask('getLedgerEntries', { keys: keys.map(encodeKey) }), keys);
  }

  /** What nine of ten transactions of the last ledgers paid for each operation, in stroops. */
  async usualFee(): Promise<bigint> {
    const { inclusionFee } = asObject(await this.#ask('getFeeStats'), 'fees');
    const { p90 } = asObject(inclusionFee, 'fees');
    if (typeof p90 !== 'string' || !/^(0|[1-9]\d{0,18})$/.test(p90)) throw unsound('no whole number as fee');
    return BigInt(p90);
  }

  /** Broadcasts a signed envelope. The answer proves nothing. */
  async send(raw: string): Promise<Broadcast> {
    const { status, errorResultXdr } = asObject(await this.#ask('sendTransaction', { transaction: raw }), 'answer');
    switch (status) {
      case 'PENDING':
        return { outcome: 'accepted', code: null };
      case 'DUPLICATE':
        return { outcome: 'known', code: 'DUPLICATE' };
      case 'TRY_AGAIN_LATER':
        return { outcome: 'uncertain', code: status };
      case 'ERROR':
        return refusalOf(errorResultXdr);
      default:
        throw unsound('no status of a broadcast');
    }
  }

  /**
   * A transaction, by its own id or by that of the one inside; null when no ledger of the server
   * holds it. With it come the ledgers that were searched.
   */
  async tx(txid: string): Promise<{ readonly found: KnownTx | null; readonly range: LedgerRange }> {
    const answer = asObject(await this.#ask('getTransaction', { hash: txid }), 'transaction');
    const range = readRange(answer);
    if (answer.status === 'NOT_FOUND') return { found: null, range };
    if (answer.status !== 'SUCCESS' && answer.status !== 'FAILED') throw unsound('no status of a transaction');
    const envelope = decodeXdr('envelope', xdr.TransactionEnvelope, answer.envelopeXdr);
    const ids = txidsOf(envelope, this.#networkId);
    if (ids.txid !== txid && ids.inner !== txid) throw unsound('another transaction');
    const height = asIndex(answer.ledger, 'ledger of a transaction');
    if (height > range.latest) throw unsound('a ledger above the newest one');
    const result = decodeXdr('result', xdr.TransactionResult, answer.resultXdr);
    const meta = decodeXdr('changes', xdr.TransactionMeta, answer.resultMetaXdr);
    const found = { height, envelope, result, meta, isFeeRaised: ids.inner !== null };
    if (hasSucceeded(found) !== (answer.status === 'SUCCESS')) throw unsound('a result that contradicts its status');
    return { found, range };
  }

  async #ask(method: string, params: object = {}): Promise<unknown> {
    try {
      return await this.#node.call<unknown>(method, params);
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      const code = error.code === invalidRequest ? 'out_of_range' : 'node_refused';
      throw new NodeFault(code, `refuses ${method}: ${printable(error.message)}`);
    }
  }
}

export function hasSucceeded({ result }: Pick<KnownTx, 'result'>): boolean {
  const { name } = result.result().switch();
  return name === 'txSuccess' || name === 'txFeeBumpInnerSuccess';
}

function readRange(answer: Readonly<Record<string, unknown>>): LedgerRange {
  const range = {
    oldest: asIndex(answer.oldestLedger, 'oldest ledger'),
    oldestMs: asTimeMs(answer.oldestLedgerCloseTime, 'time of the oldest ledger'),
    latest: asIndex(answer.latestLedger, 'newest ledger'),
    latestMs: asTimeMs(answer.latestLedgerCloseTime, 'time of the newest ledger'),
  };
  if (range.oldest > range.latest || range.oldestMs > range.latestMs)
    throw unsound('a range that ends before it begins');
  return range;
}

/** Seconds since 1970, as text or as a number. */
function asTimeMs(value: unknown, what: string): number {
  const text = String(value);
  if (!/^\d{1,10}$/.test(text)) throw unsound(`no time as ${what}`);
  return Number(text) * 1_000;
}

/** Results after which the transaction can never be right: its form, or the signatures. */
const never: ReadonlySet<string> = new Set([
  'txMissingOperation',
  'txBadAuth',
  'txBadAuthExtra',
  'txNotSupported',
  'txMalformed',
]);

/** https://developers.stellar.org/docs/data/apis/horizon/api-reference/errors/result-codes/transactions */
function refusalOf(text: unknown): Broadcast {
  const result = decodeXdr('result', xdr.TransactionResult, text);
  const code = result.result().switch().name;
  // It, or another transaction, used the sequence number.
  if (code === 'txBadSeq') return { outcome: 'known', code };
  return { outcome: never.has(code) ? 'rejected' : 'uncertain', code };
}
