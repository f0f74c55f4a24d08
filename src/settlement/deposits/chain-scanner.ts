import { type EntityManager, LockMode, type MikroORM } from '@mikro-orm/postgresql';
import {
  type BlockRef,
  type ChainAdapter,
  ChainError,
  type Cursor,
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
import { type ScanTimes, withEffectiveTimes } from './arrival-times.ts';
import { type Arrival, findArrivals, type OwnTransfer, ownTransfers, type SeenTransfer } from './arrivals.ts';
import { Deposit } from './deposit.entity.ts';
import { creditUnassignedDeposits, dropDeposits, orphanDeposits, storeArrival } from './deposit-changes.ts';
import { withoutKnownParts } from './deposit-parts.ts';
import { type LeftOut, splitByText, storeLeftOut, whyLeftOut } from './left-out.ts';

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
interface ScanState {
  readonly fence: string;
  readonly version: bigint;
  readonly cursor: Cursor;
  /** Height of the chain's newest block at the last scan. */
  readonly head: number;
  /** Start of the last scan that reached the chain's head. */
  readonly readAt: Date | null;
  readonly final: number | null;
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

/** New transfers of ours in the mempool, and deposits that left it. */
interface Waiting {
  readonly own: readonly OwnTransfer[];
  /** Transactions that are in neither the mempool nor a block any more. */
  readonly gone: ReadonlySet<string>;
}

const nothing: Waiting = { own: [], gone: new Set() };

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
    const { orm, clock, log, onCrashPoint } = this.#options;
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
    const seen = splitByText(
      pending.transfers.filter((transfer) => !isKnown(transfer)).map((transfer) => ({ transfer, block: null })),
    );
    const waiting: Waiting = {
      own: await ownTransfers(orm.em.fork(), adapter, seen.sound),
      gone: new Set([...pending.left].filter((txid) => state.left.has(txid))),
    };
    const looked = { lookedUp: keysOf(pending.transfers), left: pending.left };
    if (hasMoved || waiting.own.length > 0 || waiting.gone.size > 0 || state.problem !== null) {
      await onCrashPoint('deposit.scanned');
      let left: string[];
      try {
        const look = { began, readAt: state.readAt, isBelated: false };
        left = await orm.em
          .fork()
          .transactional((em) => this.#record(em, adapter, lease, state, result, waiting, look));
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
    const found = { orphaned: [], blocks: [block], cursor, head, final };
    const look = { began: this.#options.clock.now(), readAt: state.readAt, isBelated: true };
    await this.#options.orm.em
      .fork()
      .transactional((em) => this.#record(em, adapter, lease, state, found, nothing, look));
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
      await this.#record(em, adapter, lease, state, undone, nothing, look);
    });
    this.forget(chain);
    log.warn({ event: 'rescan', code: chain, count: head - from }, 'a chain is rescanned');
  }

  async #stop({ chain, fence }: ChainLease, problem: string): Promise<void> {
    await this.#options.orm.em
      .fork()
      .execute('update chain_state set problem = ? where chain = ? and fence = ?', [problem, chain, fence]);
  }

  /**
   * Stores the result of a scan, and the order moves that follow. Returns the transactions of
   * deposits that are still in the mempool.
   */
  async #record(
    em: EntityManager,
    adapter: ChainAdapter,
    { fence }: ChainLease,
    state: ScanState,
    { orphaned, blocks, cursor, head, final = null }: ScanResult,
    waiting: Waiting,
    { began, readAt, isBelated }: Pick<ScanTimes, 'began' | 'readAt' | 'isBelated'>,
  ): Promise<string[]> {
    const { clock, log, tools } = this.#options;
    const { chain } = adapter;
    const now = clock.now();
    const look: ScanTimes = { began, now, readAt, isBelated, toleranceSec: adapter.blockToleranceSec };
    const height = heightOf(cursor);
    const isAtHead = height >= head;
    const to: ScannedTo = { height, final, isAtHead, readAt: isAtHead && !isBelated ? began : readAt };
    // The fencing token stops a process that slept past its lease. The version stops a concurrent
    // scan.
    const held = await em.execute<{ chain: string }[]>(
      `update chain_state
          set version = version + 1, cursor_blocks = ?::jsonb, height = ?, head = ?, final_height = ?, scanned_at = ?,
                read_at = ?, rescan_from = null, problem = null
        where chain = ? and fence = ? and version = ? returning chain`,
      [JSON.stringify(cursor.window), height, head, final, now, to.readAt, chain, fence, state.version.toString()],
    );
    if (held.length === 0) throw new LeaseLost(`another process works on ${chain}`);

    await countConfirmations(em, chain, height);
    const mined = splitByText(
      blocks.flatMap(({ ref, transfers }) => transfers.map((transfer) => ({ transfer, block: ref }))),
    );
    const own = [...(await ownTransfers(em, adapter, mined.sound)), ...waiting.own];
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
      ...(await ownTransfers(em, adapter, mined.mended)).map((sighting) => leftOutOf(sighting, 'bad_text')),
      ...found.flatMap((arrival) => {
        const reason = whyLeftOut(arrival);
        // A mempool transfer is only a hint. It is reported once a block includes it.
        return reason === null || arrival.block === null ? [] : [leftOutOf(arrival, reason)];
      }),
    ];
    const arrivals = await withoutKnownParts(em, chain, sound);
    const known = await this.#known(em, chain, orphaned, arrivals, to);
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
    if (isAtHead) dropDeposits(deposits, chain, waiting.gone);
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
    // The only deposit of an order that still waits cannot have a refund.
    const several = orders.filter(({ id }) => deposits.filter(({ orderId }) => orderId === id).length > 1);
    const payments =
      several.length === 0 ? [] : await em.find(Payment, { orderId: { $in: several.map(({ id }) => id) } });
    for (const order of orders) {
      const its = deposits.filter(({ orderId }) => orderId === order.id);
      const paid = payments.filter(({ orderId }) => orderId === order.id);
      const rows = { order, deposits: its, payments: paid, trade: null, bookings: [], client: [] };
      matchDeposits({ em, tools, now, scanned, ...rows });
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
   * Reads the deposits that this scan affects: deposits of the arrivals, of orphaned blocks and in
   * the mempool, and deposits that reach their confirmations. At the head it adds orphaned deposits
   * that an order still counts on.
   */
  async #known(
    em: EntityManager,
    chain: string,
    orphaned: readonly BlockRef[],
    arrivals: readonly Arrival[],
    { height, final, isAtHead }: ScannedTo,
  ): Promise<Deposit[]> {
    const keys = arrivals.map(({ transfer }) => transfer.key);
    const hashes = orphaned.map(({ hash }) => hash);
    const rows = await em.execute<{ id: string }[]>(
      `select id from deposit where chain = ? and key in (select jsonb_array_elements_text(?::jsonb))
       union select id from deposit where chain = ? and block_hash in (select jsonb_array_elements_text(?::jsonb))
       union select id from deposit where chain = ? and state = 'mempool'
       union select id from deposit
              where chain = ? and state = 'mined' and height <= ? and height + confirmations_required - 1 <= ?
       union select d.id from deposit d join exchange_order o on o.id = d.order_id and o.deposit_id = d.id
              where ? and d.chain = ? and d.state = 'orphaned' and o.status = 'confirming'`,
      [
        chain,
        JSON.stringify(keys),
        chain,
        JSON.stringify(hashes),
        chain,
        chain,
        Math.min(height, final ?? height),
        height,
        isAtHead,
        chain,
      ],
    );
    return rows.length === 0 ? [] : em.find(Deposit, { id: { $in: rows.map(({ id }) => id) } });
  }

  /**
   * Reads every deposit of the locked orders again, now that no other transaction can change them,
   * and the deposits without an order.
   */
  async #deposits(em: EntityManager, orders: readonly Order[], known: readonly Deposit[]): Promise<Deposit[]> {
    if (orders.length === 0 && known.length === 0) return [];
    return em.find(
      Deposit,
      { $or: [{ orderId: { $in: orders.map(({ id }) => id) } }, { id: { $in: known.map(({ id }) => id) } }] },
      { orderBy: { seenAt: 'asc', id: 'asc' }, refresh: true },
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

function heightOf({ window }: Cursor): number {
  return window.at(-1)?.height ?? 0;
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

/**
 * Updates the confirmations of all orders in status `confirming` up to a height, in one statement.
 */
async function countConfirmations(em: EntityManager, chain: string, height: number): Promise<void> {
  await em.execute(
    `update exchange_order o set deposit_confirmations = ? - d.height + 1
       from deposit d
      where d.chain = ? and d.state = 'mined' and d.height <= ? and o.id = d.order_id and o.deposit_id = d.id
        and o.status = 'confirming' and o.deposit_confirmations is distinct from ? - d.height + 1`,
    [height, chain, height, height],
  );
}
