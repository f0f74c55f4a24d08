import { type BlockSource, scanBlocks, startCursor } from '../nodes/scan-blocks.ts';
import {
  type BlockRef,
  type Broadcast,
  type ChainAdapter,
  ChainError,
  type Cursor,
  type Held,
  type Holding,
  type HotSpend,
  type PaymentIntent,
  type Pending,
  type PreparedTx,
  type Reservation,
  type ScannedBlock,
  type ScanResult,
  type SignedTx,
  type TxStatus,
} from '../port/chain-adapter.ts';
import { txidDigits } from '../port/txid.ts';
import type { ForcedProblem } from './forced-payments.ts';
import type { SandboxChain, SandboxRange } from './sandbox-chain.ts';
import { decodePayload, encodePayload, sandboxTraits } from './sandbox-tx.ts';
import type { SandboxTxFacts } from './tx-facts.ts';

export interface SandboxAdapterOptions {
  readonly chain: string;
  readonly node: SandboxChain;
  /** The address of the hot wallet's account. */
  readonly hotAddress: string;
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
  readonly traits = sandboxTraits;
  readonly finalityDepth = 2;
  readonly reorgWindow = 100;
  readonly startHeight = 0;
  /** 0, because the clock of this database's processes makes all blocks. */
  readonly blockToleranceSec = 0;
  readonly #node: SandboxChain;
  readonly #hotAddress: string;
  readonly #busyBlocks: number;

  constructor({ chain, node, hotAddress, busyBlocks }: SandboxAdapterOptions) {
    this.chain = chain;
    this.#node = node;
    this.#hotAddress = hotAddress;
    this.#busyBlocks = busyBlocks;
  }

  head(): Promise<BlockRef> {
    return this.#ask(() => this.#node.head(this.chain));
  }

  start(height: number): Promise<Cursor> {
    return this.#ask(() => startCursor(async (at) => (await this.#source(at, 0).blockAt(at))?.ref ?? null, height));
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

  pending(known: readonly string[]): Promise<Pending> {
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
    return { address: this.#hotAddress, tag: null };
  }

  async prepare(intent: PaymentIntent, held: Held): Promise<PreparedTx> {
    const from = this.#hotAddress;
    const { nextNonce, forced } = await this.#ask(() => this.#node.beforePayment(this.chain, from, intent.id));
    let nonce = nextNonce;
    while (held.has(reservation(from, nonce))) nonce += 1;
    if (forced !== null && forced !== 'fee_spike') throw forcedRefusal(forced);
    const fee = forced === null ? flatFee : forcedFee;
    const { to, tag, contract, amount } = intent;
    return {
      payload: encodePayload({
        chain: this.chain,
        from,
        nonce,
        to,
        tag,
        contract,
        amount: amount.toString(),
        fee: fee.toString(),
      }),
      reserves: [reservation(from, nonce)],
      fee,
      expiresAt: null,
    };
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
    const asked = txs.map(({ txid, raw }) => {
      const { from, nonce } = decodePayload(raw.slice(0, raw.lastIndexOf('#')));
      return { txid, from, nonce };
    });
    const all = await this.#ask(() => this.#node.facts(this.chain, asked));
    return all.map((facts) => this.#statusBy(facts));
  }

  /** While it waits, the amount is what the transaction is to move. */
  async spent(txid: string): Promise<HotSpend | null> {
    const digits = txidDigits(txid);
    if (digits === null) return null;
    const tx = await this.#ask(() => this.#node.moved(this.chain, digits));
    if (tx === null || tx.sender !== this.#hotAddress || tx.state === 'dropped') return null;
    const { head, height, success, recipient, contract, amount, fee } = tx;
    const hasLeft = success !== false && recipient !== this.#hotAddress;
    if (!hasLeft && fee === 0n) return null;
    return {
      amounts: hasLeft ? [{ contract, amount }] : [],
      fee,
      height,
      final: height !== null && head - height + 1 >= this.finalityDepth,
    };
  }

  #statusBy(facts: SandboxTxFacts): TxStatus {
    const depth = (height: number): number => facts.head - height + 1;
    const own = facts.tx;
    if (own?.state === 'mempool') return { state: 'mempool' };
    if (own?.state === 'mined' && own.height !== null) {
      const confirmations = depth(own.height);
      return {
        state: 'mined',
        height: own.height,
        confirmations,
        success: own.success === true,
        fee: own.fee,
        final: confirmations >= this.finalityDepth,
      };
    }
    if (facts.rivalHeight === null) return { state: 'unknown' };
    return { state: 'dead', why: 'conflict', final: depth(facts.rivalHeight) >= this.finalityDepth };
  }

  /** The blocks from a height on, with `ahead` further ones read in advance. */
  #source(height: number, ahead: number): SandboxSource {
    return new SandboxSource(this.#node, this.chain, height, ahead, this.reorgWindow);
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

/** A stretch of a chain, read by one statement, so that its blocks join. */
class SandboxSource implements BlockSource {
  readonly #node: SandboxChain;
  readonly #chain: string;
  readonly #behind: number;
  #from: number;
  #to: number;
  #range: SandboxRange | null = null;

  constructor(node: SandboxChain, chain: string, height: number, ahead: number, behind: number) {
    this.#node = node;
    this.#chain = chain;
    this.#from = height;
    this.#to = height + ahead;
    this.#behind = behind;
  }

  async headHeight(): Promise<number> {
    return (await this.#read()).head;
  }

  async hashAt(height: number): Promise<string | null> {
    return (await this.blockAt(height))?.ref.hash ?? null;
  }

  blockAfter({ height }: BlockRef): Promise<ScannedBlock | null> {
    return this.blockAt(height + 1);
  }

  async blockAt(height: number): Promise<ScannedBlock | null> {
    if (height < this.#from || height > this.#to) {
      // A reorg went below the blocks that were read. Read all of them again, as far down as a scan
      // may need.
      this.#from = Math.min(this.#from, height - this.#behind);
      this.#to = Math.max(this.#to, height);
      this.#range = null;
    }
    return (await this.#read()).blocks.get(height) ?? null;
  }

  async #read(): Promise<SandboxRange> {
    this.#range ??= await this.#node.range(this.#chain, this.#from, this.#to);
    return this.#range;
  }
}

/**
 * Before a nonce is reserved, so that no payment of another order waits behind this one. Each
 * counts as a try, so that any number of such payments comes after those of other orders.
 */
function forcedRefusal(problem: ForcedProblem): ChainError {
  return new ChainError(problem, 'a partner forced it in the sandbox', { isOfChain: true });
}

function reservation(address: string, nonce: number): Reservation {
  return `nonce:${address}:${nonce}`;
}
