import { scanBlocks, startCursor } from '../nodes/scan-blocks.ts';
import {
  type BlockRef,
  type Broadcast,
  type ChainAdapter,
  ChainError,
  type ChainTraits,
  type Cursor,
  type EarlierTx,
  type Expiry,
  type Held,
  type Holding,
  type HotSpend,
  type PaymentIntent,
  type Pending,
  type PreparedTx,
  type ScanResult,
  type SignedTx,
  type TxStatus,
} from '../port/chain-adapter.ts';
import { txidDigits } from '../port/txid.ts';
import type { ForcedProblem } from './forced-payments.ts';
import type { SandboxChain } from './sandbox-chain.ts';
import { depositsOf, type SandboxRules, traitsOf } from './sandbox-rules.ts';
import { SandboxSource } from './sandbox-source.ts';
import {
  decodePayload,
  encodePayload,
  hasExpired,
  reservationOf,
  type SandboxPayload,
  sandboxTxid,
} from './sandbox-tx.ts';
import type { BlockPoint, SandboxTxFacts } from './tx-facts.ts';

export interface SandboxAdapterOptions {
  readonly chain: string;
  readonly node: SandboxChain;
  /** The address of the hot wallet's account. */
  readonly hotAddress: string;
  /** The tag of funding, where the wallet is the address of deposits. */
  readonly fundingTag?: string;
  /** As on the real network of its name unless given. */
  readonly deposits?: ChainTraits['deposits'];
  /** The clock makes this many blocks after a broadcast. */
  readonly busyBlocks: number;
}

/** The fee of every payment, in smallest units. */
const flatFee = 1_000n;
/** The fee of a payment that was forced to meet a high one. */
const forcedFee = flatFee * 10n ** 9n;
const uncertain: Broadcast = { outcome: 'uncertain', code: 'unreachable' };

/** The adapter of one sandbox chain. */
export class SandboxAdapter implements ChainAdapter {
  readonly chain: string;
  readonly traits: ChainTraits;
  readonly finalityDepth: number;
  readonly reorgWindow: number;
  readonly startHeight = 0;
  /** 0, because the clock of this database's processes makes all blocks. */
  readonly blockToleranceSec = 0;
  readonly stalledAfterSec = 0;
  readonly pending?: NonNullable<ChainAdapter['pending']>;
  readonly #node: SandboxChain;
  readonly #hotAddress: string;
  readonly #fundingTag: string | null;
  readonly #busyBlocks: number;

  /** @throws Error for a wallet that is the address of deposits and has no tag for funding. */
  constructor(options: SandboxAdapterOptions) {
    const { chain, node, hotAddress, fundingTag = null, deposits = depositsOf(chain), busyBlocks } = options;
    this.chain = chain;
    this.#node = node;
    this.#hotAddress = hotAddress;
    this.#busyBlocks = busyBlocks;
    this.traits = traitsOf(node.rules, deposits);
    if (this.traits.paysFromDeposits && fundingTag === null) throw new Error(`${chain} has no tag for funding`);
    this.#fundingTag = this.traits.paysFromDeposits ? fundingTag : null;
    this.finalityDepth = this.traits.reorgs ? 2 : 1;
    this.reorgWindow = this.traits.reorgs ? 100 : 20;
    if (this.traits.mempool) this.pending = (known) => this.#pending(known);
  }

  head(): Promise<BlockRef> {
    return this.#ask(() => this.#node.head(this.chain));
  }

  start(height: number): Promise<Cursor> {
    return this.#ask(() => startCursor((at) => this.#source(at, 0).newestAt(at), height));
  }

  scan(cursor: Cursor, maxBlocks: number): Promise<ScanResult> {
    const newest = cursor.window.at(-1);
    const top = newest?.height ?? 0;
    return this.#ask(async () => {
      if (newest && (await this.#node.quietHead(this.chain)) === newest.hash) {
        return { orphaned: [], blocks: [], cursor, head: top };
      }
      return scanBlocks(this.chain, this.#source(top, maxBlocks), cursor, { maxBlocks, reorgWindow: this.reorgWindow });
    });
  }

  #pending(known: readonly string[]): Promise<Pending> {
    return this.#ask(async () => {
      const isQuiet = (await this.#node.quietHead(this.chain)) !== undefined;
      const transfers = isQuiet ? [] : await this.#node.mempool(this.chain);
      const waiting = new Set(transfers.map(({ txid }) => txid));
      return { transfers, left: new Set(known.filter((txid) => !waiting.has(txid))) };
    });
  }

  balances(holdings: readonly Holding[], contract: string | null): Promise<readonly bigint[]> {
    return this.#ask(() => this.#node.balances(this.chain, holdings, contract));
  }

  async hotWallet(): Promise<Holding> {
    return { address: this.#hotAddress, tag: this.#fundingTag };
  }

  async prepare(intent: PaymentIntent, held: Held, earlier: readonly EarlierTx[] = []): Promise<PreparedTx> {
    const from = this.#hotAddress;
    const { nextNonce, forced, head } = await this.#ask(() => this.#node.beforePayment(this.chain, from, intent.id));
    const place = this.traits.exclusive
      ? { nonce: nonceFor(from, nextNonce, held, earlier) }
      : { attempt: `${intent.id}:${intent.attempt}` };
    if (!this.traits.exclusive) await this.#refuseAlive(earlier);
    if (forced !== null && forced !== 'fee_spike') throw forcedRefusal(forced);
    const fee = forced === null ? flatFee : forcedFee;
    const { to, tag, contract, amount } = intent;
    const payload: SandboxPayload = {
      ...{ chain: this.chain, from, ...place, to, tag, contract },
      ...{ amount: amount.toString(), fee: fee.toString() },
      ...expiryFrom(this.#node.rules, head),
    };
    return {
      payload: encodePayload(payload),
      reserves: [reservationOf(payload)],
      fee,
      expiresAt: payload.expiresAt ?? null,
    };
  }

  /** Nothing but their death keeps earlier attempts from being paid as well. */
  async #refuseAlive(earlier: readonly EarlierTx[]): Promise<void> {
    const statuses = await this.#statuses(
      earlier.map(({ payload }) => ({ text: payload, txid: sandboxTxid(payload) })),
    );
    if (statuses.every((status) => status.state === 'dead' && status.final)) return;
    throw new ChainError('earlier_alive', 'an earlier attempt of the payment is not dead for good', {
      isOfChain: true,
    });
  }

  async broadcast(tx: SignedTx): Promise<Broadcast> {
    const [answer = uncertain] = await this.broadcastAll([tx]);
    return answer;
  }

  async broadcastAll(txs: readonly SignedTx[]): Promise<readonly Broadcast[]> {
    try {
      const raws = txs.map(({ raw }) => raw);
      return await this.#node.submit(this.chain, raws, this.#busyBlocks);
    } catch (error) {
      if (error instanceof ChainError) throw error;
      // The node may have accepted them, with only its answer lost.
      return txs.map(() => uncertain);
    }
  }

  async status(tx: SignedTx): Promise<TxStatus> {
    const [status] = await this.statusAll([tx]);
    if (!status) throw new Error('the node told no status');
    return status;
  }

  async statusAll(txs: readonly SignedTx[]): Promise<readonly TxStatus[]> {
    return this.#statuses(txs.map(({ txid, raw }) => ({ txid, text: raw.slice(0, raw.lastIndexOf('#')) })));
  }

  async #statuses(txs: readonly { readonly txid: string; readonly text: string }[]): Promise<readonly TxStatus[]> {
    if (txs.length === 0) return [];
    const asked = txs.map(({ txid, text }) => ({ ...decodePayload(text), txid }));
    const all = await this.#ask(() => this.#node.facts(this.chain, asked, this.finalityDepth));
    return asked.map(({ expiresAt }, index) => {
      const facts = all[index];
      if (!facts) throw new Error('the node told no status');
      return this.#statusBy(facts, expiresAt);
    });
  }

  /** While it waits, the amount is what the transaction is to move. */
  async spent(txid: string): Promise<HotSpend | null> {
    const digits = txidDigits(txid);
    if (digits === null) return null;
    const tx = await this.#ask(() => this.#node.moved(this.chain, digits));
    if (tx === null || tx.sender !== this.#hotAddress || tx.state === 'dropped') return null;
    const { head, height, success, recipient, contract, amount, fee } = tx;
    if (height === null && !this.traits.mempool) return null;
    const hasLeft = success !== false && recipient !== this.#hotAddress;
    if (!hasLeft && fee === 0n) return null;
    return {
      amounts: hasLeft ? [{ contract, amount }] : [],
      fee,
      height,
      final: height !== null && head - height + 1 >= this.finalityDepth,
    };
  }

  #statusBy({ head, final, tx, rivalHeight }: SandboxTxFacts, expiresAt: Expiry | undefined): TxStatus {
    const confirmationsAt = (height: number): number => head.height - height + 1;
    if (tx?.state === 'mined' && tx.height !== null) {
      const confirmations = confirmationsAt(tx.height);
      return {
        state: 'mined',
        height: tx.height,
        confirmations,
        success: tx.success === true,
        fee: tx.fee,
        final: confirmations >= this.finalityDepth,
      };
    }
    if (rivalHeight !== null) {
      return { state: 'dead', why: 'conflict', final: confirmationsAt(rivalHeight) >= this.finalityDepth };
    }
    if (hasExpired(expiresAt, head)) {
      return { state: 'dead', why: 'expired', final: final !== null && hasExpired(expiresAt, final) };
    }
    if (!this.traits.mempool && expiresAt !== undefined) return { state: 'waiting', until: expiresAt };
    return { state: tx?.state === 'mempool' ? 'mempool' : 'unknown' };
  }

  /** The blocks from a height on, with `ahead` further ones read in advance. */
  #source(height: number, ahead: number): SandboxSource {
    return new SandboxSource(this.#node, this.chain, { height, ahead, behind: this.reorgWindow });
  }

  async #ask<T>(question: () => Promise<T>): Promise<T> {
    try {
      return await question();
    } catch (cause) {
      if (cause instanceof ChainError) throw cause;
      throw new ChainError('unreachable', `the node of ${this.chain} does not answer`, { cause });
    }
  }
}

/**
 * Before a nonce is reserved, so that no payment of another order waits behind this one. Each
 * counts as a try, so that any number of such payments comes after those of other orders.
 */
function forcedRefusal(problem: ForcedProblem): ChainError {
  return new ChainError(problem, 'a partner forced it in the sandbox', { isOfChain: true });
}

/** The nonce of the attempt before, when that one has only expired. Otherwise the next free one. */
function nonceFor(from: string, nextNonce: number, held: Held, earlier: readonly EarlierTx[]): number {
  const last = earlier.at(-1);
  const kept = last?.why === 'expired' ? decodePayload(last.payload).nonce : undefined;
  if (kept !== undefined) {
    if (!held.has(reservationOf({ from, nonce: kept }))) return kept;
    throw new ChainError('held', `another payment holds nonce ${kept} of the earlier attempt`, { isOfChain: true });
  }
  let nonce = nextNonce;
  while (held.has(reservationOf({ from, nonce }))) nonce += 1;
  return nonce;
}

/** The members of a payload that say when it expires, counted from the newest block. */
function expiryFrom({ expiry }: SandboxRules, head: BlockPoint): Pick<SandboxPayload, 'expiresAt' | 'builtAtMs'> {
  if (expiry === null) return {};
  if ('heights' in expiry) return { expiresAt: { height: head.height + expiry.heights } };
  return { expiresAt: { timeMs: head.timeMs + expiry.ms }, builtAtMs: head.timeMs };
}
