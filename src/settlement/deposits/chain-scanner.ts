import { type EntityManager, LockMode, type MikroORM } from '@mikro-orm/postgresql';
import {
  type BlockRef,
  type ChainAdapter,
  ChainError,
  type Pending,
  ReorgTooDeep,
  type ScannedBlock,
  type ScanResult,
  type Transfer,
} from '../../chains/chain-adapter.ts';
import { type FoundOutput, forgetOutputs, forgetOutputsAbove, recordOutputs } from '../../chains/own-outputs.ts';
import type { Clock } from '../../clock.ts';
import type { JobQueue } from '../../jobs/job-queue.ts';
import type { Log } from '../../log.ts';
import { Order } from '../../orders/order.entity.ts';
import { type ChainLease, LeaseLost } from '../chain-lease.ts';
import type { OnCrashPoint } from '../crash-point.ts';
import { Payment } from '../payments/payment.entity.ts';
import type { ScannedTo, SettlementTools } from '../settling.ts';
import { isConfirmed } from '../steps/credit.ts';
import { matchDeposits } from '../steps/match.ts';
import { endLostActions } from '../steps/policy.ts';
import { type ScanTimes, withEffectiveTimes } from './arrival-times.ts';
import { findArrivals, type OwnTransfer, ownTransfers, type SeenTransfer } from './arrivals.ts';
import { Deposit } from './deposit.entity.ts';
import { creditUnassignedDeposits, dropDeposits, orphanDeposits, storeArrival } from './deposit-changes.ts';
import { withoutKnownParts } from './deposit-parts.ts';
import { type LeftOut, splitByText, storeLeftOut, whyLeftOut } from './left-out.ts';
import { advance, affectedDeposits, heightOf, type KnownDeposit, type ScanPosition, stepOf } from './scan-step.ts';

export interface ChainScannerOptions {
  readonly orm: MikroORM;
  readonly clock: Clock;
  readonly log: Log;
  readonly tools: SettlementTools;
  readonly jobs: Pick<JobQueue, 'wake'>;
  readonly onCrashPoint: OnCrashPoint;
}

/** Blocks that one scan reads and one transaction stores. */
const maxBlocks = 200;

/**
 * Result of a scan.
 *
 * - `unchanged`: no new block up to the head.
 * - `at_head`: new blocks up to the head are stored.
 * - `more`: further blocks are still to be read.
 * - `stopped`: staff must act before the scan continues.
 */
export type ScanOutcome = 'unchanged' | 'at_head' | 'more' | 'stopped';

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
}

/** What a scan found of ours. */
interface Found {
  /** Transfers in new blocks, and new ones in the mempool. */
  readonly own: readonly OwnTransfer[];
  /** Transfers in new blocks with texts that cannot be stored as they are. */
  readonly mended: readonly OwnTransfer[];
  /** Transactions of deposits that are in neither the mempool nor a block any more. */
  readonly gone: ReadonlySet<string>;
}

const none: ReadonlySet<string> = new Set();

/**
 * Scans chains; one scanner serves every kind. One transaction stores the found transfers, the
 * order moves that follow at once, and the cursor. A crash thus repeats a scan and never skips one.
 */
export class ChainScanner {
  readonly #options: ChainScannerOptions;
  readonly #states = new Map<string, ScanState>();

  constructor(options: ChainScannerOptions) {
    this.#options = options;
  }

  /**
   * Scans up to `maxBlocks` blocks of a chain. A stopped scan is retried once when the lease
   * changes hands, and continues where its blocks are on the chain again.
   *
   * @throws LeaseLost when another process holds the chain now.
   * @throws ChainError when the node does not answer.
   */
  async scan(adapter: ChainAdapter, lease: ChainLease): Promise<ScanOutcome> {
    const { clock, log, onCrashPoint } = this.#options;
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
    let result: ScanResult;
    try {
      const scanned = await adapter.scan(state.cursor, maxBlocks);
      result = withEffectiveTimes(state.cursor.window, scanned, clock.now());
    } catch (error) {
      if (!(error instanceof ReorgTooDeep)) throw error;
      log.error({ event: 'reorg_too_deep', code: chain }, 'a reorg went below the stored blocks; rescan the chain');
      await this.#stop(lease, 'reorg_too_deep');
      this.#states.set(chain, { ...state, problem: 'reorg_too_deep', isStopped: true });
      return 'stopped';
    }
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
    if (hasMoved || hasSeen || found.gone.size > 0 || state.problem !== null) {
      await onCrashPoint('deposit.scanned');
      let left: readonly string[];
      try {
        const look = { began, readAt: state.readAt, isBelated: false };
        left = await this.#store(adapter, lease, state, result, found, look);
      } catch (error) {
        this.forget(chain);
        throw error;
      }
      this.#states.set(chain, {
        fence: lease.fence,
        version: state.version + 1n,
        cursor: result.cursor,
        head: result.head,
        readAt,
        final,
        ...looked,
        waiting: left,
        problem: null,
        isStopped: false,
        rescanFrom: null,
      });
      await onCrashPoint('deposit.recorded');
    } else {
      this.#states.set(chain, { ...state, readAt, ...looked });
    }
    if (!isAtHead) return 'more';
    return hasMoved ? 'at_head' : 'unchanged';
  }

  /**
   * Stores transfers that no block scan shows. They were found by comparing balances, in a final
   * block that was scanned before.
   *
   * @throws LeaseLost when another process holds the chain now.
   */
  async recordFound(adapter: ChainAdapter, lease: ChainLease, block: ScannedBlock): Promise<void> {
    const state = await this.#state(adapter, lease);
    if (state.problem !== null || state.rescanFrom !== null || heightOf(state.cursor) < block.ref.height) return;
    const { cursor, head, final } = state;
    const result = { orphaned: [], blocks: [block], cursor, head, final };
    const found = { ...(await this.#ownTransfers(adapter, result.blocks, [])), gone: none };
    const look = { began: this.#options.clock.now(), readAt: state.readAt, isBelated: true };
    await this.#options.orm.em
      .fork()
      .transactional((em) => this.#record(em, adapter, lease, state, result, found, look));
    this.forget(adapter.chain);
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
    const [row] = await this.#options.orm.em.fork().execute<
      {
        version: string;
        cursor_blocks: BlockRef[];
        head: number;
        final: number | null;
        problem: string | null;
        rescan_from: number | null;
        read_at: string | null;
        waiting: string[];
      }[]
    >(
      `select version::text as version, cursor_blocks, head::int as head, final_height::int as final, problem, read_at,
                rescan_from::int as rescan_from,
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
    await orm.em.fork().transactional(async (em) => {
      const orphaned = await em.execute<BlockRef[]>(
        `select distinct height::int as height, block_hash as hash, '' as parent from deposit
          where chain = ? and height > ? order by height desc`,
        [chain, from],
      );
      if (adapter.model === 'outputs') await forgetOutputsAbove(em, chain, from);
      const undone = { orphaned, blocks: [], cursor, head, final: state.final };
      // Transfers found now may have been missed before, so no earlier scan bounds their time.
      const look = { began: this.#options.clock.now(), readAt: null, isBelated: false };
      await this.#record(em, adapter, lease, state, undone, { own: [], mended: [], gone: none }, look);
    });
    this.forget(chain);
    log.warn({ event: 'rescan', code: chain, count: head - from }, 'a chain is rescanned');
  }

  async #stop({ chain, fence }: ChainLease, problem: string): Promise<void> {
    await this.#options.orm.em
      .fork()
      .execute('update chain_state set problem = ? where chain = ? and fence = ?', [problem, chain, fence]);
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

  /**
   * Stores the result of a scan. Blocks that concern no deposit are stored in one statement, which
   * is a transaction of its own. Returns the transactions of deposits that are still in the
   * mempool.
   */
  async #store(
    adapter: ChainAdapter,
    lease: ChainLease,
    state: ScanState,
    result: ScanResult,
    found: Found,
    look: Pick<ScanTimes, 'began' | 'readAt' | 'isBelated'>,
  ): Promise<readonly string[]> {
    const em = this.#options.orm.em.fork();
    const { orphaned, blocks } = result;
    const isQuiet =
      orphaned.length + found.own.length + found.mended.length + found.gone.size === 0 &&
      (adapter.model === 'accounts' || spendsOf(blocks).length === 0);
    const step = stepOf(adapter, lease, state, result, look, this.#options.clock.now());
    if (isQuiet && (await advance(em, step, true))) return state.waiting;
    return em.transactional((inner) => this.#record(inner, adapter, lease, state, result, found, look));
  }

  /**
   * Stores the result of a scan, and the order moves that follow. Returns the transactions of
   * deposits that are still in the mempool.
   */
  async #record(
    em: EntityManager,
    adapter: ChainAdapter,
    lease: ChainLease,
    state: ScanState,
    result: ScanResult,
    { own, mended, gone }: Found,
    { began, readAt, isBelated }: Pick<ScanTimes, 'began' | 'readAt' | 'isBelated'>,
  ): Promise<string[]> {
    const { clock, log, tools } = this.#options;
    const { orphaned, blocks } = result;
    const { chain } = adapter;
    const now = clock.now();
    const look: ScanTimes = { began, now, readAt, isBelated, toleranceSec: adapter.blockToleranceSec };
    const step = stepOf(adapter, lease, state, result, look, now);
    const { to } = step;
    if (!(await advance(em, step, false))) throw new LeaseLost(`another process works on ${chain}`);

    if (adapter.model === 'outputs') {
      await forgetOutputs(
        em,
        chain,
        orphaned.map(({ hash }) => hash),
      );
      await recordOutputs(em, chain, outputsOf(own), spendsOf(blocks));
    }
    const found = await findArrivals(em, tools.catalogue, chain, own);
    const sound = found.filter((arrival) => whyLeftOut(arrival) === null);
    const leftOut: LeftOut[] = [
      ...mended.map((sighting) => leftOutOf(sighting, 'bad_text')),
      ...found.flatMap((arrival) => {
        const reason = whyLeftOut(arrival);
        // A mempool transfer is only a hint. It is reported once a block includes it.
        return reason === null || arrival.block === null ? [] : [leftOutOf(arrival, reason)];
      }),
    ];
    const arrivals = await withoutKnownParts(em, chain, sound);
    const keys = arrivals.map(({ transfer }) => transfer.key);
    const known = await affectedDeposits(em, step, orphaned, keys);
    const orderIds = new Set(
      [...arrivals.map(({ target }) => target), ...known].map(({ orderId }) => orderId).filter((id) => id !== null),
    );
    const orders = orderIds.size === 0 ? [] : await lockOrders(em, [...orderIds]);
    const deposits = await this.#deposits(em, orders, known);

    await orphanDeposits(em, deposits, orders, orphaned, now);
    for (const arrival of arrivals) {
      if (!storeArrival(em, deposits, chain, arrival, look)) leftOut.push(leftOutOf(arrival, 'changed'));
    }
    await storeLeftOut(em, log, chain, leftOut, now);
    if (to.isAtHead) dropDeposits(deposits, chain, gone);
    await creditUnassignedDeposits(em, deposits, chain, to, now);
    await em.flush();

    await this.#matchOrders(em, orders, deposits, { chain, to, now });
    const stillWaiting = deposits.filter((deposit) => deposit.chain === chain && deposit.state === 'mempool');
    return [...new Set(stillWaiting.map(({ txid }) => txid))];
  }

  /** Updates orders from their deposits. An order with a confirmed deposit is due at once. */
  async #matchOrders(
    em: EntityManager,
    orders: readonly Order[],
    deposits: readonly Deposit[],
    { chain, to, now }: { readonly chain: string; readonly to: ScannedTo; readonly now: Date },
  ): Promise<void> {
    const { jobs, tools } = this.#options;
    const scanned = new Map([[chain, to]]);
    await endLostActions(em, orders, deposits, now);
    // The only deposit of an order that still waits cannot have a refund.
    const several = orders.filter(({ id }) => deposits.filter(({ orderId }) => orderId === id).length > 1);
    const payments =
      several.length === 0 ? [] : await em.find(Payment, { orderId: { $in: several.map(({ id }) => id) } });
    for (const order of orders) {
      const its = deposits.filter(({ orderId }) => orderId === order.id);
      const paid = payments.filter(({ orderId }) => orderId === order.id);
      const rows = { order, deposits: its, payments: paid, trade: null, bookings: [], client: [], late: null };
      matchDeposits({ em, tools, now, scanned, ...rows, agreed: null, markupBps: 0, action: null });
    }
    const ripe = deposits.filter((deposit) => deposit.chain === chain && isConfirmed(deposit, to));
    const due = orders.filter(({ id }) => ripe.some(({ orderId }) => orderId === id));
    for (const order of due) order.nextActionAt = now;
    await em.flush();
    await jobs.wake(
      em,
      due.map(({ id }) => id),
    );
  }

  /**
   * Reads every deposit of the locked orders, now that no other transaction can change them, and
   * the deposits without an order.
   */
  async #deposits(em: EntityManager, orders: readonly Order[], known: readonly KnownDeposit[]): Promise<Deposit[]> {
    if (orders.length === 0 && known.length === 0) return [];
    return em.find(
      Deposit,
      { $or: [{ orderId: { $in: orders.map(({ id }) => id) } }, { id: { $in: known.map(({ id }) => id) } }] },
      { orderBy: { seenAt: 'asc', id: 'asc' } },
    );
  }
}

function leftOutOf({ transfer, block }: SeenTransfer, reason: LeftOut['reason']): LeftOut {
  return { transfer, height: block?.height ?? null, reason };
}

/** Each key once, because one statement must not insert a row twice. */
function outputsOf(own: readonly OwnTransfer[]): FoundOutput[] {
  const outputs = own.flatMap(({ transfer: { key, address, amount }, block, target: { index } }) =>
    block === null ? [] : [{ key, address, amount, index, height: block.height, blockHash: block.hash }],
  );
  return [...new Map(outputs.map((output) => [output.key, output])).values()];
}

function spendsOf(blocks: ScanResult['blocks']): Parameters<typeof recordOutputs>[3] {
  return blocks.flatMap(({ ref, spends = [] }) =>
    spends.map(({ key, txid }) => ({ key, txid, height: ref.height, blockHash: ref.hash })),
  );
}

/** Locks by ascending id, so that no two transactions deadlock. */
function lockOrders(em: EntityManager, ids: readonly string[]): Promise<Order[]> {
  return em.find(Order, { id: { $in: [...ids] } }, { lockMode: LockMode.PESSIMISTIC_WRITE, orderBy: { id: 'asc' } });
}

function keysOf(transfers: readonly Transfer[]): ReadonlySet<string> {
  return new Set(transfers.map(({ key }) => key));
}

/** A node without mempool data can still serve its blocks. */
async function pendingOf(adapter: ChainAdapter, known: readonly string[]): Promise<Pending> {
  try {
    return await adapter.pending(known);
  } catch (error) {
    if (error instanceof ChainError) return { transfers: [], left: new Set() };
    throw error;
  }
}
