import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import type { Clock } from '../../base/clock.ts';
import { isDatabaseAway, sqlState } from '../../base/db/database.ts';
import { sql } from '../../base/db/sql.ts';
import type { JobQueue } from '../../base/jobs/job-queue.ts';
import { errorMembers, type Log } from '../../base/log.ts';
import {
  type FoundOutput,
  type FoundSpend,
  forgetOutputs,
  forgetOutputsAbove,
  recordOutputs,
} from '../../chains/own-outputs.ts';
import type { ChainAdapter, ScanResult, Transfer } from '../../chains/port/chain-adapter.ts';
import { readOrderDeposits } from '../rows/order-deposits.ts';
import type { ScanTimes } from '../rules/arrival-times.ts';
import { endLostActions } from '../rules/policy.ts';
import type { SettlementTools } from '../rules/settling.ts';
import { inGroups, smaller } from '../turns/bounded-concurrency.ts';
import { type ChainLease, LeaseLost } from '../turns/chain-lease.ts';
import {
  type Arrival,
  changeByHand,
  findArrivals,
  forgetFunding,
  type OwnTransfer,
  outputsOf,
  paymentsOf,
  spendsOf,
  summed,
} from './arrivals.ts';
import {
  creditUnassignedDeposits,
  dropDeposits,
  type KnownDeposits,
  orphanDeposits,
  storeArrival,
} from './deposit-changes.ts';
import { lockOrders, matchOrders, wakeOrders } from './deposit-orders.ts';
import { type StoredPayment, storeParts, withoutKnownParts } from './deposit-parts.ts';
import { type LeftOut, leftOutOf, storeLeftOut, whyLeftOut } from './left-out.ts';
import { bookReceiveCosts, type ReceiveCost, receiveCostsOf } from './receive-costs.ts';
import {
  advance,
  affectedDeposits,
  mostDeposits,
  ripeSql,
  ripeValues,
  type ScanPart,
  type ScanPosition,
  type ScanStep,
  type StepCause,
  stepOf,
} from './scan-step.ts';
import {
  type ArrivalRules,
  countSmall,
  creditSmall,
  isSmallDeposit,
  mostSmall,
  storeSmall,
  withoutNewSmall,
} from './small-deposits.ts';

export interface ScanStoreOptions {
  readonly orm: MikroORM;
  readonly clock: Clock;
  readonly log: Log;
  readonly tools: SettlementTools;
  readonly jobs: Pick<JobQueue, 'wake'>;
}

/** Transfers that one transaction stores. */
const maxTransfers = 500;
/** Further transactions of one scan for the deposits that its end affects. */
const maxRounds = 50;
/** Failed scans after which a transfer that cannot be stored is left out. */
const maxFailures = 3;
/**
 * Codes of PostgreSQL that end a transaction because it took too long. A smaller one may succeed.
 */
const tooLong: ReadonlySet<string | null> = new Set(['57014', '25P03', '25P04', '55P03']);

/** What a scan found of ours. */
export interface Found {
  /** Transfers in new blocks, and new ones in the mempool. */
  readonly own: readonly OwnTransfer[];
  /** Transfers in new blocks with texts that cannot be stored as they are. */
  readonly mended: readonly OwnTransfer[];
  /** Transactions of deposits that are in neither the mempool nor a block any more. */
  readonly gone: ReadonlySet<string>;
}

/** A chain, and how far its scan is. */
export interface Scan {
  readonly adapter: ChainAdapter;
  readonly lease: ChainLease;
  readonly look: Pick<ScanTimes, 'began' | 'readAt' | 'isBelated'>;
  /** Moves with each stored step. */
  position: ScanPosition;
  /**
   * Null while a step also moves the orders that it touches. In a divided scan it collects their
   * ids, and the settler moves them: each order is then read once, and one that fails stops no
   * chain.
   */
  touched: Set<string> | null;
}

/** What an earlier scan of the chain left. */
interface Before {
  /** Transactions of deposits in the mempool. */
  readonly waiting: readonly string[];
  /** Blocks outside the cursor whose transfers may be stored, because a scan ended half way. */
  readonly unsettled: readonly string[];
}

/** What one transaction stores. */
interface Part {
  /** Hashes of blocks that are on the chain no more. */
  readonly undone: readonly string[];
  readonly gone: readonly string[];
  readonly arrivals: readonly Arrival[];
  /** New ones without an order, below the minimum. */
  readonly small: readonly Arrival[];
  readonly leftOut: readonly LeftOut[];
  readonly outputs: readonly FoundOutput[];
  readonly spends: readonly FoundSpend[];
  /** Keys of change that the hot wallet sent itself by hand. */
  readonly change: readonly string[];
  readonly costs: readonly ReceiveCost[];
}

/** The causes of which a step left deposits to the next one. */
interface StepEnd {
  readonly more: ReadonlySet<StepCause>;
}

const nothing: Part = {
  ...{ undone: [], gone: [], arrivals: [], small: [], leftOut: [] },
  ...{ outputs: [], spends: [], change: [], costs: [] },
};

/**
 * Stores what scans found: deposits, the order moves that follow at once, and the cursor.
 *
 * A scan with many transfers takes several transactions, and the last one moves the cursor. The
 * first one takes the cursor back to the last block that is still on the chain, and names all
 * blocks that the scan stores or undoes (`unsettled_blocks`). Should the process end before the
 * last one, the next scan undoes the named blocks that are not on the chain, and finds the others
 * again. Transfers that fail together are stored in smaller groups. A single one that fails again
 * and again is left out with an alert, and stops no other.
 */
export class ScanStore {
  readonly #options: ScanStoreOptions;
  /** Failed scans in a row by the keys of the transfers that made them fail. */
  readonly #failures = new Map<string, number>();

  constructor(options: ScanStoreOptions) {
    this.#options = options;
  }

  /**
   * Stores the result of a scan. Blocks that concern no deposit are stored in one statement, which
   * is a separate transaction. Returns the transactions of deposits that are still in the
   * mempool, and the version of the stored position.
   */
  async store(
    scan: Scan,
    before: Before,
    result: ScanResult,
    found: Found,
  ): Promise<{ readonly waiting: readonly string[]; readonly version: bigint }> {
    const { orm, clock } = this.#options;
    const { adapter, lease, look, position } = scan;
    const { blocks } = result;
    // A block of the cursor was read to its end, also by a version that names no unsettled blocks.
    const onChain = new Set([...blocks.map(({ ref }) => ref.hash), ...result.cursor.window.map(({ hash }) => hash)]);
    const undone = [...result.orphaned.map(({ hash }) => hash), ...before.unsettled].filter(
      (hash) => !onChain.has(hash),
    );
    const spends = adapter.traits.ledger === 'outputs' ? spendsOf(blocks) : [];
    const costs = receiveCostsOf(blocks);
    const news = [undone, found.own, found.mended, spends, costs];
    const isEmpty = found.gone.size === 0 && news.every(({ length }) => length === 0);
    if (isEmpty && before.unsettled.length === 0) {
      const step = stepOf(adapter, lease, position, result, look, clock.now());
      if (await advance(orm.em.fork(), step, true)) return { waiting: before.waiting, version: position.version + 1n };
    }
    const change = await changeByHand(orm.em.fork(), adapter.chain, found.own, spends);
    const { arrivals, small, leftOut } = await this.#arrivals(adapter, {
      ...found,
      own: found.own.filter(({ transfer }) => !change.has(transfer.key)),
    });
    const outputs = adapter.traits.ledger === 'outputs' ? outputsOf(found.own) : [];
    const kept = { arrivals, small, leftOut, outputs, spends };
    const whole: Part = { undone, gone: [...found.gone], ...kept, change: [...change], costs };
    const isOfOneStep =
      Math.max(arrivals.length, outputs.length) <= maxTransfers &&
      small.length <= mostSmall &&
      !(await this.#hasMany(adapter, undone));
    let end = isOfOneStep ? await this.#tryWhole(scan, result, whole) : null;
    if (end === null) {
      await this.#storeParts(scan, result, whole, before.unsettled);
      end = await this.#step(scan, result, { ...whole, arrivals: [], small: [], outputs: [] });
    }
    for (let round = 0; end.more.size > 0 && round < maxRounds; round++) {
      const same = { ...result, orphaned: [], blocks: [] };
      end = await this.#step(scan, same, { ...nothing, undone, gone: whole.gone });
    }
    for (const { transfer } of arrivals) this.#failures.delete(failureName(adapter.chain, transfer));
    return { waiting: await this.#waiting(adapter.chain, before, found), version: scan.position.version };
  }

  /**
   * Undoes the deposits of blocks, and moves the scan to where it reads again.
   *
   * @param height above which outputs are forgotten.
   */
  async restart(
    scan: Scan,
    before: Before & Pick<ScanResult, 'cursor' | 'head'> & { readonly final: number | null },
    undone: readonly string[],
    moved: ScanResult,
    height: number,
  ): Promise<void> {
    const { adapter } = scan;
    // The command stays until the last step, so that a new process begins it again.
    await this.#undo(scan, { ...before, orphaned: [], blocks: [] }, undone, { unsettled: before.unsettled });
    await this.#wakeTouched(scan);
    await this.#step(scan, moved, { ...nothing, undone }, null, async (em) => {
      if (adapter.traits.ledger === 'outputs') await forgetOutputsAbove(em, adapter.chain, height);
    });
  }

  /** Stores a small scan in one transaction. Null when that failed, and it has to be divided. */
  async #tryWhole(scan: Scan, result: ScanResult, whole: Part): Promise<StepEnd | null> {
    try {
      return await this.#step(scan, result, whole);
    } catch (error) {
      if (!isDivisible(error)) throw error;
      return null;
    }
  }

  /** Stores everything of a scan but its end, in transactions of a bounded size. */
  async #storeParts(
    scan: Scan,
    result: ScanResult,
    { undone, arrivals, small, outputs }: Part,
    before: readonly string[],
  ): Promise<void> {
    scan.touched = new Set();
    const orphaned = new Set(result.orphaned.map(({ hash }) => hash));
    const window = scan.position.cursor.window.filter(({ hash }) => !orphaned.has(hash));
    const to = { ...result, orphaned: [], blocks: [], cursor: { window } };
    const found = [
      ...[...arrivals, ...small].map(({ block }) => block?.hash),
      ...outputs.map(({ blockHash }) => blockHash),
    ];
    // A belated block is final, and the cursor is above it.
    const hashes = scan.look.isBelated ? [] : found.filter((hash) => hash !== undefined);
    const part: ScanPart = { unsettled: [...new Set([...before, ...undone, ...hashes])] };
    await this.#step(scan, to, nothing, part);
    await this.#undo(scan, to, undone, part);
    for (const some of inGroups(outputs, maxTransfers)) await this.#step(scan, to, { ...nothing, outputs: some }, part);
    const failed: unknown[] = [];
    for (const some of inGroups(paymentsOf(arrivals), maxTransfers)) {
      await this.#storePayments(scan, to, some, part, failed);
    }
    for (const some of inGroups(small, mostSmall)) await this.#storeSmall(scan, to, some, part, failed);
    // Before the end, so that a process that ends here repeats the scan.
    await this.#wakeTouched(scan);
    if (failed.length > 0) throw failed[0];
  }

  /** Has the settler move the orders that the steps of a divided scan touched. */
  async #wakeTouched({ touched }: Scan): Promise<void> {
    const { orm, clock } = this.#options;
    for (const ids of inGroups([...(touched ?? [])], maxTransfers)) {
      await orm.em.fork().transactional(async (em) => {
        await wakeOrders(em, this.#options.jobs, await lockOrders(em, ids), clock.now());
      });
    }
    touched?.clear();
  }

  /** Undoes the deposits of blocks that are on the chain no more, a bounded number at a time. */
  async #undo(scan: Scan, to: ScanResult, undone: readonly string[], part: ScanPart): Promise<void> {
    if (undone.length === 0) return;
    let end: StepEnd;
    do end = await this.#step(scan, to, { ...nothing, undone }, part);
    while (end.more.has('undone'));
  }

  /**
   * Stores payments in one transaction, or in smaller ones where that fails. A single one that
   * failed in several scans is left out.
   */
  async #storePayments(
    scan: Scan,
    to: ScanResult,
    payments: readonly (readonly Arrival[])[],
    part: ScanPart,
    failed: unknown[],
  ): Promise<void> {
    const { log } = this.#options;
    const [only] = payments;
    try {
      await this.#step(scan, to, { ...nothing, arrivals: payments.flat() }, part);
    } catch (error) {
      if (!isDivisible(error)) throw error;
      if (payments.length > 1) {
        for (const some of smaller(payments, payments)) await this.#storePayments(scan, to, some, part, failed);
        return;
      }
      const [arrival] = only ?? [];
      if (only === undefined || arrival === undefined) return;
      const { chain } = scan.adapter;
      const name = failureName(chain, arrival.transfer);
      const failures = (this.#failures.get(name) ?? 0) + 1;
      this.#failures.set(name, failures);
      log.error({ event: 'transfer_failed', code: chain, ...errorMembers(error) }, 'a transfer could not be stored');
      if (failures < maxFailures) {
        failed.push(error);
        return;
      }
      // A mempool transfer is only a hint, and may never come.
      const mined = only.filter(({ block }) => block !== null);
      await this.#step(scan, to, { ...nothing, leftOut: mined.map((one) => leftOutOf(one, 'not_stored')) }, part);
    }
  }

  /** Stores small deposits in one transaction, or as all others where that fails. */
  async #storeSmall(
    scan: Scan,
    to: ScanResult,
    small: readonly Arrival[],
    part: ScanPart,
    failed: unknown[],
  ): Promise<void> {
    try {
      await this.#step(scan, to, { ...nothing, small }, part);
    } catch (error) {
      if (!isDivisible(error)) throw error;
      for (const some of inGroups(paymentsOf(small), maxTransfers)) {
        await this.#storePayments(scan, to, some, part, failed);
      }
    }
  }

  /** The arrivals that can be stored, and the transfers that cannot. */
  async #arrivals(
    { chain, traits }: ChainAdapter,
    { own, mended }: Found,
  ): Promise<Pick<Part, 'arrivals' | 'small' | 'leftOut'>> {
    const { orm, tools } = this.#options;
    const found = await findArrivals(orm.em.fork(), tools.catalogue, chain, own);
    const inBlocks = new Set(found.flatMap(({ block, transfer }) => (block === null ? [] : [transfer.key])));
    // The mempool was read before the blocks, and may show what a block holds by now.
    const isShownTwice = ({ block, transfer }: Arrival): boolean => block === null && inBlocks.has(transfer.key);
    const sound = found.filter((arrival) => whyLeftOut(arrival) === null && !isShownTwice(arrival));
    return {
      ...(await withoutNewSmall(orm.em.fork(), { chain, traits }, tools.catalogue, sound)),
      leftOut: [
        ...mended.map((sighting) => leftOutOf(sighting, 'bad_text')),
        ...found.flatMap((arrival) => {
          const reason = whyLeftOut(arrival);
          // A mempool transfer is only a hint. It is reported once a block includes it.
          return reason === null || arrival.block === null ? [] : [leftOutOf(arrival, reason)];
        }),
      ],
    };
  }

  /** Whether blocks that are undone have more deposits than one transaction takes. */
  async #hasMany({ chain }: ChainAdapter, undone: readonly string[]): Promise<boolean> {
    if (undone.length === 0) return false;
    const rows = await sql<{ id: string }>(
      this.#options.orm.em.fork(),
      `select id from deposit where chain = ? and block_hash in (select jsonb_array_elements_text(?::jsonb))
        limit ${mostDeposits}`,
      [chain, JSON.stringify(undone)],
    );
    return rows.length === mostDeposits;
  }

  /** The transactions of deposits in the mempool, after a scan. */
  async #waiting(chain: string, before: Before, { own }: Found): Promise<readonly string[]> {
    if (before.waiting.length === 0 && own.every(({ block }) => block !== null)) return [];
    const rows = await sql<{ txid: string }>(
      this.#options.orm.em.fork(),
      `select distinct txid from deposit where chain = ? and state = 'mempool'`,
      [chain],
    );
    return rows.map(({ txid }) => txid);
  }

  /** Stores one step of a scan in a transaction, and moves the scan's position to its result. */
  async #step(
    scan: Scan,
    result: ScanResult,
    part: Part,
    unfinished: ScanPart | null = null,
    before: (em: EntityManager) => Promise<void> = async () => {},
  ): Promise<StepEnd> {
    const { orm, clock } = this.#options;
    const { adapter, lease, position, look } = scan;
    const step = stepOf(adapter, lease, position, result, look, clock.now(), unfinished);
    const end = await orm.em.fork().transactional(async (em) => {
      if (!(await advance(em, step, false))) throw new LeaseLost(`another process works on ${adapter.chain}`);
      await before(em);
      return this.#record(em, scan, step, part);
    });
    scan.position = { version: position.version + 1n, cursor: result.cursor, final: result.final ?? null };
    return end;
  }

  /** Stores a part of a scan, and the order moves that follow. */
  async #record(
    em: EntityManager,
    { adapter, look: times, touched }: Scan,
    step: ScanStep,
    { undone, gone, arrivals, small, leftOut: others, outputs, spends, change, costs }: Part,
  ): Promise<StepEnd> {
    const { log, tools } = this.#options;
    const { chain, to, now } = step;
    const toleranceSec = adapter.blockToleranceSec;
    const look: ArrivalRules = { ...times, now, toleranceSec, chain, catalogue: tools.catalogue };
    if (adapter.traits.ledger === 'outputs') {
      await forgetOutputs(em, chain, undone);
      await recordOutputs(em, chain, outputs, spends);
      await forgetFunding(em, chain, change);
    }
    const leftOut = [...others];
    const found = summed(await withoutKnownParts(em, chain, arrivals)).filter((arrival) => {
      const reason = whyLeftOut(arrival);
      if (reason !== null && arrival.block !== null) leftOut.push(leftOutOf(arrival, reason));
      return reason === null;
    });
    const keys = found.map(({ transfer }) => transfer.key);
    const { known, more } = await affectedDeposits(em, step, { undone, gone: to.isAtHead ? gone : [], keys });
    const orderIds = new Set(
      [...found.map(({ target }) => target), ...known].map(({ orderId }) => orderId).filter((id) => id !== null),
    );
    const orders = orderIds.size === 0 ? [] : await lockOrders(em, [...orderIds]);
    // Read now that no other transaction can change them.
    const stored = await readOrderDeposits(
      em,
      touched === null ? orders.map(({ id }) => id) : [],
      known.map(({ id }) => id),
    );

    const byId = new Map(orders.map((order) => [order.id, order]));
    await orphanDeposits(em, adapter, stored, byId, new Set(undone), now);
    const byKey: KnownDeposits = new Map(
      stored.flatMap((deposit) => (deposit.chain === chain ? [[deposit.key, deposit] as const] : [])),
    );
    const sums: StoredPayment[] = [];
    let newSmall = 0;
    for (const arrival of found) {
      const isFirst = (byKey.get(arrival.transfer.key)?.minedAt ?? null) === null;
      const deposit = storeArrival(em, byKey, arrival, look);
      if (isFirst && deposit?.minedAt && isSmallDeposit(deposit)) newSmall += 1;
      if (deposit === null) leftOut.push(leftOutOf(arrival, 'changed'));
      else if (arrival.parts !== undefined) sums.push({ deposit, parts: arrival.parts });
    }
    const deposits = [...new Set([...stored, ...byKey.values()])];
    await storeLeftOut(em, log, chain, leftOut, now);
    if (to.isAtHead) dropDeposits(deposits, chain, new Set(gone));
    await creditUnassignedDeposits(em, adapter, deposits, to, now);
    await em.flush();
    await storeParts(em, sums);
    await countSmall(em, chain, newSmall, now);
    await storeSmall(em, small, look);
    await bookReceiveCosts(em, tools.catalogue, chain, costs, now);
    const credited = step.creditsSmall
      ? await creditSmall(em, adapter, { sql: ripeSql, values: ripeValues(to) }, now)
      : 0;
    await endLostActions(em, orders, deposits, now);
    if (touched === null) await matchOrders(em, this.#options, orders, deposits, { chain, to, now });
    // The orders of a part are due before the end of the scan, all at once.
    else if (step.part === null) await wakeOrders(em, this.#options.jobs, orders, now);
    else for (const { id } of orders) touched.add(id);
    await em.flush();
    // The settler decides about orders whose deposit is lost, or the next scan does.
    const left = new Set(touched === null ? more : [...more].filter((cause) => cause !== 'lost'));
    if (credited === mostSmall) left.add('ripe');
    return { more: left };
  }
}

function failureName(chain: string, { key }: Transfer): string {
  return `${chain} ${key}`;
}

/** Whether a smaller transaction may succeed where this one failed. */
function isDivisible(error: unknown): boolean {
  if (error instanceof LeaseLost) return false;
  return !isDatabaseAway(error) || tooLong.has(sqlState(error));
}
