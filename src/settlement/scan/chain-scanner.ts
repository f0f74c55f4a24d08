import { sql } from '../../base/db/sql.ts';
import {
  type BlockRef,
  type ChainAdapter,
  ChainError,
  type Pending,
  ReorgTooDeep,
  type ScannedBlock,
  type ScanResult,
  type Transfer,
} from '../../chains/port/chain-adapter.ts';
import { ChainState } from '../../chains/port/chain-state.entity.ts';
import { withEffectiveTimes } from '../rules/arrival-times.ts';
import type { ChainLease } from '../turns/chain-lease.ts';
import type { OnCrashPoint } from '../turns/crash-point.ts';
import { ownTransfers } from './arrivals.ts';
import { splitByText } from './left-out.ts';
import { heightOf, type ScanPosition } from './scan-step.ts';

import { type Found, type Scan, ScanStore, type ScanStoreOptions } from './scan-store.ts';

interface ChainScannerOptions extends ScanStoreOptions {
  readonly onCrashPoint: OnCrashPoint;
}

/** Blocks that one scan reads. */
const maxBlocks = 200;
/**
 * Result of a scan.
 *
 * - `unchanged`: no new block up to the head.
 * - `at_head`: new blocks up to the head are stored.
 * - `more`: further blocks are still to be read.
 * - `stopped`: staff must act before the scan continues.
 */
type ScanOutcome = 'unchanged' | 'at_head' | 'more' | 'stopped';

/** The scan position of a chain, kept in memory between the scans of one lease holder. */
interface ScanState extends ScanPosition {
  readonly fence: string;
  /** Height of the chain's newest block at the last scan. */
  readonly head: number;
  /** Start of the last scan that reached the chain's head. */
  readonly readAt: Date | null;
  /**
   * Keys of the mempool transfers that were already looked up, so that strangers' transfers are not
   * looked up twice.
   */
  readonly lookedUp: ReadonlySet<string>;
  /** Transactions of deposits in the mempool. */
  readonly waiting: readonly string[];
  /**
   * Of these, the transactions that had left the mempool at the last scan. They count as gone once
   * a second scan confirms it.
   */
  readonly left: ReadonlySet<string>;
  /** The problem that the row stores. */
  readonly problem: string | null;
  /** The scan stopped since the state was read, and is not retried. */
  readonly isStopped: boolean;
  /** A command requests to read everything above this height again. */
  readonly rescanFrom: number | null;
  /** Blocks outside the cursor whose transfers may be stored, because a scan ended half way. */
  readonly unsettled: readonly string[];
}

const none: ReadonlySet<string> = new Set();

/**
 * Scans chains; one scanner serves every kind. One transaction stores the found transfers, the
 * order moves that follow at once, and the cursor. A crash thus repeats a scan and never skips one.
 *
 * `ScanStore` divides what is too much for one transaction.
 */
export class ChainScanner {
  readonly #options: ChainScannerOptions;
  readonly #states = new Map<string, ScanState>();
  readonly #store: ScanStore;

  constructor(options: ChainScannerOptions) {
    this.#options = options;
    this.#store = new ScanStore(options);
  }

  /**
   * Scans up to `maxBlocks` blocks of a chain. A stopped scan is retried once when the lease
   * changes hands, and continues where its blocks are on the chain again.
   *
   * @throws LeaseLost when another process holds the chain now.
   * @throws ChainError when the node does not answer.
   */
  async scan(adapter: ChainAdapter, lease: ChainLease): Promise<ScanOutcome> {
    const { clock, onCrashPoint } = this.#options;
    const { chain } = adapter;
    const began = clock.now();
    let state = await this.#state(adapter, lease);
    if (state.rescanFrom !== null) {
      await this.#rescan(adapter, lease, state);
      state = await this.#state(adapter, lease);
    }
    if (state.isStopped) return 'stopped';
    // The mempool is read before the blocks: a transaction that is in neither is gone.
    const pending = await pendingOf(adapter, state.waiting);
    const result = await this.#read(adapter, lease, state);
    if (!result) return 'stopped';
    const final = result.final ?? null;
    const isAtHead = heightOf(result.cursor) >= result.head;
    const readAt = isAtHead ? began : state.readAt;
    const hasMoved = result.blocks.length > 0 || result.orphaned.length > 0 || final !== state.final;
    // A transaction from an orphaned block may be back in the mempool.
    const isKnown = ({ key }: Transfer): boolean => result.orphaned.length === 0 && state.lookedUp.has(key);
    const waiting = pending.transfers.filter((transfer) => !isKnown(transfer));
    const found: Found = {
      ...(await this.#ownTransfers(adapter, result.blocks, waiting)),
      gone: new Set([...pending.left].filter((txid) => state.left.has(txid))),
    };
    const looked = { lookedUp: keysOf(pending.transfers), left: pending.left };
    const hasSeen = found.own.some(({ block }) => block === null);
    if (hasMoved || hasSeen || found.gone.size > 0 || state.problem !== null || state.unsettled.length > 0) {
      await onCrashPoint('deposit.scanned');
      const look = { began, readAt: state.readAt, isBelated: false };
      const stored = await this.#storeOrForget(
        { adapter, lease, look, position: state, touched: null },
        state,
        result,
        found,
      );
      this.#states.set(chain, {
        fence: lease.fence,
        version: stored.version,
        cursor: result.cursor,
        head: result.head,
        readAt,
        final,
        ...looked,
        waiting: stored.waiting,
        problem: null,
        isStopped: false,
        rescanFrom: null,
        unsettled: [],
      });
      await onCrashPoint('deposit.recorded');
    } else {
      this.#states.set(chain, { ...state, readAt, ...looked });
    }
    if (!isAtHead) return 'more';
    return hasMoved ? 'at_head' : 'unchanged';
  }

  /**
   * Reads the blocks above the position. Null once a reorganisation that is too deep has stopped
   * the scan.
   */
  async #read(adapter: ChainAdapter, lease: ChainLease, state: ScanState): Promise<ScanResult | null> {
    const { clock, log } = this.#options;
    const { chain } = adapter;
    try {
      const scanned = await adapter.scan(state.cursor, maxBlocks);
      return withEffectiveTimes(state.cursor.window, scanned, clock.now());
    } catch (error) {
      if (!(error instanceof ReorgTooDeep)) throw error;
      log.error({ event: 'reorg_too_deep', code: chain }, 'a reorg went below the stored blocks; rescan the chain');
      await this.#stop(lease, 'reorg_too_deep');
      this.#states.set(chain, { ...state, problem: 'reorg_too_deep', isStopped: true });
      return null;
    }
  }

  /** Stores a scan. After a failure the next scan reads the chain's state from the database. */
  async #storeOrForget(scan: Scan, state: ScanState, result: ScanResult, found: Found): ReturnType<ScanStore['store']> {
    try {
      return await this.#store.store(scan, state, result, found);
    } catch (error) {
      this.forget(scan.adapter.chain);
      throw error;
    }
  }

  /**
   * Stores transfers that no block scan shows. They were found by comparing balances, in a final
   * block that was scanned before.
   *
   * @throws LeaseLost when another process holds the chain now.
   */
  async recordFound(adapter: ChainAdapter, lease: ChainLease, block: ScannedBlock): Promise<void> {
    const state = await this.#state(adapter, lease);
    if (state.problem !== null || state.rescanFrom !== null || state.unsettled.length > 0) return;
    if (heightOf(state.cursor) < block.ref.height) return;
    const { cursor, head, final } = state;
    const result = { orphaned: [], blocks: [block], cursor, head, final };
    const found = { ...(await this.#ownTransfers(adapter, result.blocks, [])), gone: none };
    const look = { began: this.#options.clock.now(), readAt: state.readAt, isBelated: true };
    try {
      await this.#store.store({ adapter, lease, look, position: state, touched: null }, state, result, found);
    } finally {
      this.forget(adapter.chain);
    }
  }

  /** Drops the chain's state in memory. The next scan reads it from the database. */
  forget(chain: string): void {
    this.#states.delete(chain);
  }

  /**
   * The chain's state as this process last stored it. After a change of the lease, as the database
   * has it.
   */
  async #state(adapter: ChainAdapter, { chain, fence }: ChainLease): Promise<ScanState> {
    const known = this.#states.get(chain);
    if (known?.fence === fence) return known;
    const [row] = await sql<{
      version: string;
      cursor_blocks: BlockRef[];
      head: number;
      final: number | null;
      problem: string | null;
      rescan_from: number | null;
      read_at: string | null;
      waiting: string[];
      unsettled: string[];
    }>(
      this.#options.orm.em.fork(),
      `select version::text as version, cursor_blocks, head::int as head, final_height::int as final, problem, read_at,
                rescan_from::int as rescan_from, unsettled_blocks as unsettled,
                array(select distinct txid from deposit d where d.chain = c.chain and d.state = 'mempool') as waiting
           from chain_state c where chain = ?`,
      [chain],
    );
    if (!row) throw new Error(`the chain ${chain} has no row in chain_state`);
    const isFirst = row.cursor_blocks.length === 0;
    const state: ScanState = {
      fence,
      version: BigInt(row.version),
      cursor: isFirst ? await adapter.start(adapter.startHeight) : { window: row.cursor_blocks },
      head: row.head,
      readAt: this.#past(row.read_at),
      final: row.final,
      lookedUp: new Set(),
      waiting: row.waiting,
      left: new Set(),
      problem: row.problem,
      isStopped: false,
      rescanFrom: row.rescan_from,
      unsettled: row.unsettled,
    };
    this.#states.set(chain, state);
    return state;
  }

  /** Parses a stored time. Null for a future time, which predates a clock correction. */
  #past(stored: string | null): Date | null {
    const at = stored === null ? null : new Date(stored);
    return at !== null && at <= this.#options.clock.now() ? at : null;
  }

  /**
   * Treats every deposit above the height as orphaned, so that the scan finds the true transfers. A
   * deposit that is found again is credited again; all others stay reversed.
   */
  async #rescan(adapter: ChainAdapter, lease: ChainLease, state: ScanState): Promise<void> {
    const { orm, log } = this.#options;
    const { chain } = adapter;
    const from = Math.max(state.rescanFrom ?? 0, adapter.startHeight);
    const head = (await adapter.head()).height;
    const cursor = await adapter.start(Math.min(from, head));
    const rows = await sql<{ hash: string }>(
      orm.em.fork(),
      'select distinct block_hash as hash from deposit where chain = ? and height > ?',
      [chain, from],
    );
    // Transfers found now may have been missed before, so no earlier scan bounds their time.
    const look = { began: this.#options.clock.now(), readAt: null, isBelated: false };
    const undone = [...rows.map(({ hash }) => hash), ...state.unsettled];
    const moved = { orphaned: [], blocks: [], cursor, head, final: state.final };
    await this.#store.restart(
      { adapter, lease, look, position: state, touched: new Set() },
      state,
      undone,
      moved,
      from,
    );
    this.forget(chain);
    log.warn({ event: 'rescan', code: chain, count: head - from }, 'a chain is rescanned');
  }

  async #stop({ chain, fence }: ChainLease, problem: string): Promise<void> {
    await this.#options.orm.em.fork().nativeUpdate(ChainState, { chain, fence }, { problem });
  }

  /** Selects the transfers to our addresses, in new blocks and in the mempool, in one statement. */
  async #ownTransfers(
    adapter: ChainAdapter,
    blocks: ScanResult['blocks'],
    waiting: readonly Transfer[],
  ): Promise<Omit<Found, 'gone'>> {
    const mined = splitByText(
      blocks.flatMap(({ ref, transfers }) => transfers.map((transfer) => ({ transfer, block: ref }))),
    );
    // A mempool transfer is only a hint, and is mended once a block includes it.
    const seen = splitByText(waiting.map((transfer) => ({ transfer, block: null })));
    const mended = new Set(mined.mended.map(({ transfer }) => transfer));
    const all = await ownTransfers(this.#options.orm.em.fork(), adapter, [
      ...mined.sound,
      ...mined.mended,
      ...seen.sound,
    ]);
    return {
      own: all.filter(({ transfer }) => !mended.has(transfer)),
      mended: all.filter(({ transfer }) => mended.has(transfer)),
    };
  }
}

function keysOf(transfers: readonly Transfer[]): ReadonlySet<string> {
  return new Set(transfers.map(({ key }) => key));
}

/** A chain or a node without mempool data can still serve its blocks. */
async function pendingOf(adapter: ChainAdapter, known: readonly string[]): Promise<Pending> {
  try {
    return (await adapter.pending?.(known)) ?? { transfers: [], left: new Set() };
  } catch (error) {
    if (error instanceof ChainError) return { transfers: [], left: new Set() };
    throw error;
  }
}
