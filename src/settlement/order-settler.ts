import { type EntityManager, LockMode, type MikroORM } from '@mikro-orm/postgresql';
import type { Clock } from '../base/clock.ts';
import { sqlState } from '../base/db/database.ts';
import { sql } from '../base/db/sql.ts';
import { errorMembers, type Log } from '../base/log.ts';
import { accountOfDeposits } from '../chains/port/deposit-account.ts';
import { bookAll } from '../ledger/ledger.ts';
import { Order } from '../orders/order.entity.ts';
import { newestActions } from '../orders/order-actions.ts';
import { addAccruals } from './commission/accruals.ts';
import type { CommissionEntries } from './commission/commission-entries.ts';
import type { VenueAnswer } from './rows/liquidity-venue.ts';
import { keptOfKind, takeOrderDeposits } from './rows/order-deposits.ts';
import { Payment } from './rows/payment.entity.ts';
import { Trade } from './rows/trade.entity.ts';
import { readAgreedTerms } from './rules/agreed-policy.ts';
import { addToClientAccount, readClientLines } from './rules/client-account.ts';
import { awaitDeposit, confirmDeposit, takeLateDeposit } from './rules/confirm.ts';
import { creditDeposits } from './rules/credit.ts';
import { exchange, isPastTrading, recordAnswer, venueOrder } from './rules/exchange.ts';
import { reportExtras } from './rules/extra-events.ts';
import { readLateRefunds } from './rules/late-refunds.ts';
import { matchDeposits } from './rules/match.ts';
import { followPayout } from './rules/pay.ts';
import { refundDeposit, refundExtras } from './rules/refund.ts';
import { resumeRefund } from './rules/resume.ts';
import {
  type ScannedTo,
  type SettlementTools,
  type Settling,
  type StepResult,
  secondsAfter,
  wait,
} from './rules/settling.ts';
import { forEachConcurrently, smaller } from './turns/bounded-concurrency.ts';
import type { OnCrashPoint } from './turns/crash-point.ts';

interface OrderSettlerOptions {
  readonly orm: MikroORM;
  readonly clock: Clock;
  readonly log: Log;
  readonly tools: SettlementTools;
  readonly onCrashPoint: OnCrashPoint;
  readonly commission: CommissionEntries;
}

/**
 * Seconds after which a process that asked the venue has certainly ended or received its answer.
 */
const venueTurnSec = 10;
/** Deadlocks and serialization failures are retried at once. */
const maxRetries = 3;
/** Concurrent requests to the venue for a group's trades. */
const askedAtOnce = 4;

/** Turns that one call takes of an order with more deposits than a turn. The sweep goes on. */
const mostTurns = 4;

/** A trade that is decided and stored. */
interface Asked {
  readonly trade: Trade;
  readonly deadline: Date;
}

/** What became of the orders of a call, by their ids. */
interface Outcome {
  readonly failed: Map<string, unknown>;
  /** Orders with more deposits than one turn takes. */
  readonly unfinished: Set<string>;
}

interface Answered {
  readonly orderId: string;
  readonly answer: VenueAnswer;
  /** An unfilled trade will never be filled. */
  readonly isFinal: boolean;
}

/**
 * Moves orders as far as they can go now. The scanner and the payment worker record what happens
 * outside. The settler decides the consequences, one transaction a step under the orders' row
 * locks. Any number of processes may call it at any time and as often as they like.
 *
 * Orders that are due together share their transactions, which saves round trips and commits and
 * changes nothing else. A group waits for no lock, so that no two groups can deadlock. Orders that
 * another transaction has locked are taken one by one. When one order of a group fails, the group
 * is taken in smaller parts, down to single orders.
 */
export class OrderSettler {
  readonly #options: OrderSettlerOptions;

  constructor(options: OrderSettlerOptions) {
    this.#options = options;
  }

  get tools(): SettlementTools {
    return this.#options.tools;
  }

  /**
   * Settles a group of orders. Returns the errors by the ids of the orders that were not settled.
   */
  async settle(orderIds: readonly string[]): Promise<ReadonlyMap<string, unknown>> {
    const failed = new Map<string, unknown>();
    let due = orderIds;
    for (let turn = 0; due.length > 0 && turn < mostTurns; turn++) {
      const unfinished = new Set<string>();
      await this.#settle(due, { failed, unfinished });
      due = [...unfinished].filter((id) => !failed.has(id));
    }
    return failed;
  }

  async #settle(orderIds: readonly string[], outcome: Outcome): Promise<void> {
    const { results, left } = await this.#together(orderIds, outcome, (settlings) => this.#steps(settlings));
    if (results.length > 0) {
      await this.#options.onCrashPoint('trade.intended');
      await this.#trade(results, outcome);
    }
    // These come last, so that only orders that need a lock wait for it.
    for (const some of smaller(left, orderIds)) await this.#settle(some, outcome);
  }

  /**
   * Takes all steps that follow from the database's contents, in one transaction. Returns the
   * trades to request from the venue.
   */
  async #steps(settlings: readonly Settling[]): Promise<Asked[]> {
    for (const settling of settlings) {
      matchDeposits(settling);
      const credited = creditDeposits(settling);
      if (credited >= keptOfKind(settling.tools.rules.maxRefunds)) settling.isUnfinished = true;
    }
    await reportExtras(settlings);
    const asked: Asked[] = [];
    let moving = settlings;
    while (moving.length > 0) {
      // Each move is written separately, because the database refuses a move over two edges.
      await write(moving, this.#options.commission);
      moving = moving.filter((settling) => {
        const { order, now } = settling;
        const result = this.#step(settling);
        if (result.outcome === 'trade') {
          asked.push({ trade: result.trade, deadline: order.exchangeDeadline ?? now });
          order.nextActionAt = secondsAfter(now, venueTurnSec);
        } else if (result.outcome === 'wait') {
          order.nextActionAt = result.until;
        }
        return result.outcome === 'moved';
      });
    }
    for (const settling of settlings) {
      refundExtras(settling);
      settling.order.failingSince = null;
      // Should this process end, the sweep goes on with the order.
      if (settling.isUnfinished) settling.order.nextActionAt = settling.now;
    }
    await write(settlings, this.#options.commission);
    return asked;
  }

  #step(settling: Settling): StepResult {
    const { order, now } = settling;
    if (order.heldAt !== null) {
      // The expiry sweep relies on this time.
      return wait(order.status === 'waiting_deposit' && now < order.expiresAt ? order.expiresAt : null);
    }
    switch (order.status) {
      case 'waiting_deposit':
        return awaitDeposit(settling);
      case 'confirming':
        return confirmDeposit(settling);
      case 'expired':
        return takeLateDeposit(settling);
      case 'exchanging':
        return exchange(settling);
      case 'sending':
        return followPayout(settling);
      case 'refunding':
        return refundDeposit(settling);
      case 'failed':
        return resumeRefund(settling);
      case 'completed':
      case 'refunded':
        return wait();
    }
  }

  /**
   * Requests the decided trades from the venue outside any transaction, stores the answers, and
   * takes the steps that follow. Answers that arrive during a write are stored together in the next
   * one.
   */
  async #trade(asked: readonly Asked[], outcome: Outcome): Promise<void> {
    const together = await this.#askTogether(asked);
    const left = [...(await this.#record(together, outcome))];
    const known = new Set(together.map(({ orderId }) => orderId));
    const others = asked.filter(({ trade }) => !known.has(trade.orderId));
    const answered: Answered[] = [];
    let isStoring = false;
    await forEachConcurrently(others, askedAtOnce, async (one) => {
      const answer = await this.#ask(one);
      if (!answer) return;
      answered.push(answer);
      if (isStoring) return;
      isStoring = true;
      while (answered.length > 0) left.push(...(await this.#record(answered.splice(0), outcome)));
      isStoring = false;
    });
    await this.#recordLeft(left, together, outcome);
  }

  async #recordLeft(left: readonly Answered[], group: readonly Answered[], outcome: Outcome): Promise<void> {
    for (const some of smaller(left, group)) await this.#recordLeft(await this.#record(some, outcome), some, outcome);
  }

  /**
   * The fills of a venue that takes several trades in one request. A trade without one is requested
   * separately, as all are when the request fails: the same clientId returns the same fill.
   */
  async #askTogether(asked: readonly Asked[]): Promise<Answered[]> {
    const { clock, log, tools, onCrashPoint } = this.#options;
    const open = asked.filter(({ deadline }) => !isPastTrading(deadline, clock.now()));
    if (tools.venue.tradeAll === undefined || open.length < 2) return [];
    let fills: ReadonlyMap<string, VenueAnswer>;
    try {
      fills = await tools.venue.tradeAll(open.map(({ trade, deadline }) => venueOrder(trade, deadline)));
    } catch (error) {
      log.warn({ event: 'venue_failed', ...errorMembers(error) }, 'the venue gave no answer to several trades');
      return [];
    }
    for (const _ of fills) await onCrashPoint('trade.answered');
    return [...fills].map(([orderId, answer]) => ({ orderId, answer, isFinal: false }));
  }

  /** The venue's answer. Null when it is unknown. */
  async #ask({ trade, deadline }: Asked): Promise<Answered | null> {
    const { clock, log, tools, onCrashPoint } = this.#options;
    const { orderId } = trade;
    const isFinal = isPastTrading(deadline, clock.now());
    let answer: VenueAnswer;
    try {
      answer = isFinal
        ? ((await tools.venue.find(orderId)) ?? { outcome: 'rejected', code: trade.problem ?? 'too_late' })
        : await tools.venue.trade(venueOrder(trade, deadline));
    } catch (error) {
      // The fill is unknown. The order is retried at its next time, and the same clientId returns
      // the same fill.
      log.warn({ event: 'venue_failed', order_id: orderId, ...errorMembers(error) }, 'the venue gave no answer');
      return null;
    }
    await onCrashPoint('trade.answered');
    return { orderId, answer, isFinal };
  }

  /**
   * Stores answers, and takes the steps that follow. Returns the answers that must be stored one by
   * one.
   */
  async #record(answered: readonly Answered[], outcome: Outcome): Promise<Answered[]> {
    if (answered.length === 0) return [];
    const byOrder = new Map(answered.map((one) => [one.orderId, one]));
    const { left } = await this.#together([...byOrder.keys()], outcome, (settlings) => {
      const moved = settlings.filter((settling) => {
        const { order, trade } = settling;
        const one = byOrder.get(order.id);
        if (!one || order.status !== 'exchanging' || trade?.state !== 'intended') return false;
        const result = recordAnswer(settling, trade, one.answer, one.isFinal);
        if (result.outcome === 'wait') order.nextActionAt = result.until;
        return result.outcome === 'moved';
      });
      return this.#steps(moved);
    });
    await this.#options.onCrashPoint('trade.recorded');
    return answered.filter(({ orderId }) => left.includes(orderId));
  }

  /**
   * Runs an action on orders under their locks in one transaction. Returns its results, and the
   * orders to take one by one: the orders that another transaction has locked, or all when one
   * fails. The error of a single order goes into `failed`.
   */
  async #together<T>(
    orderIds: readonly string[],
    outcome: Outcome,
    action: (settlings: readonly Settling[]) => Promise<T[]>,
  ): Promise<{ readonly results: readonly T[]; readonly left: readonly string[] }> {
    const [only, ...others] = orderIds;
    const isAlone = only !== undefined && others.length === 0;
    try {
      const { results, opened, unfinished } = await this.#inTransaction(orderIds, action);
      for (const id of unfinished) outcome.unfinished.add(id);
      // A single order waits for its lock, so it is missing only when it does not exist.
      return { results, left: isAlone ? [] : orderIds.filter((id) => !opened.has(id)) };
    } catch (error) {
      if (!isAlone) return { results: [], left: orderIds };
      outcome.failed.set(only, error);
      return { results: [], left: [] };
    }
  }

  async #inTransaction<T>(
    orderIds: readonly string[],
    action: (settlings: readonly Settling[]) => Promise<T[]>,
  ): Promise<{
    readonly results: readonly T[];
    readonly opened: ReadonlySet<string>;
    readonly unfinished: readonly string[];
  }> {
    const { orm, onCrashPoint } = this.#options;
    for (let attempt = 1; ; attempt++) {
      try {
        const done = await orm.em.fork().transactional(async (em) => {
          const settlings = await this.#open(em, orderIds);
          const results = await action(settlings);
          return {
            results,
            opened: new Set(settlings.map(({ order }) => order.id)),
            unfinished: unfinishedOf(settlings),
          };
        });
        await onCrashPoint('order.settled');
        return done;
      } catch (error) {
        if (attempt >= maxRetries || !['40P01', '40001'].includes(sqlState(error) ?? '')) throw error;
      }
    }
  }

  /**
   * Locks an order and reads everything that decides its next move. Null when the order does not
   * exist.
   *
   * @param depositId A deposit that staff decide about, in addition to the bounded number that
   * steps take.
   */
  async open(em: EntityManager, orderId: string, depositId: string | null = null): Promise<Settling | null> {
    const [settling = null] = await this.#open(em, [orderId], depositId === null ? [] : [depositId]);
    return settling;
  }

  /**
   * Locks orders and reads everything that decides their next moves. Waits for the lock of a single
   * order. Of several orders it skips the locked ones.
   */
  async #open(em: EntityManager, orderIds: readonly string[], also: readonly string[] = []): Promise<Settling[]> {
    const { clock, tools } = this.#options;
    const lockMode = orderIds.length === 1 ? LockMode.PESSIMISTIC_WRITE : LockMode.PESSIMISTIC_PARTIAL_WRITE;
    const orders = await em.find(Order, { id: { $in: [...orderIds] } }, { lockMode, orderBy: { id: 'asc' } });
    if (orders.length === 0) return [];
    const its = { orderId: { $in: orders.map(({ id }) => id) } };
    const now = clock.now();
    const { maxRefunds } = tools.rules;
    const ids = orders.map(({ id }) => id);
    const accountOf = (chain: string) => accountOfDeposits(tools.traitsOf(chain));
    const { deposits, unfinished } = await takeOrderDeposits(em, ids, { maxRefunds, also, now, accountOf });
    const payments = await em.find(Payment, its, { orderBy: { number: 'asc' } });
    const trades = await em.find(Trade, its);
    const scanned = deposits.length === 0 ? new Map<string, ScannedTo>() : await readScanned(em, now);
    // An order without a credited deposit has no account.
    const credited = new Set(
      deposits.flatMap(({ orderId, credits }) => (orderId !== null && credits > 0 ? [orderId] : [])),
    );
    const clients = await readClientLines(em, [...credited]);
    const late = await readLateRefunds(em, orders, { now, limitUsd: tools.rules.lateRefundLimitUsd });
    const terms = await readAgreedTerms(em, orderIds);
    const asking = [...terms].filter(([, { agreed }]) => agreed !== null);
    const actions = await newestActions(
      em,
      asking.map(([id]) => id),
    );
    const depositsOf = Map.groupBy(deposits, ({ orderId }) => orderId);
    const paymentsOf = Map.groupBy(payments, ({ orderId }) => orderId);
    return orders.map((order) => ({
      em,
      tools,
      now,
      order,
      deposits: depositsOf.get(order.id) ?? [],
      payments: paymentsOf.get(order.id) ?? [],
      trade: trades.find(({ orderId }) => orderId === order.id) ?? null,
      bookings: [],
      accruals: [],
      client: clients.get(order.id) ?? [],
      late: late.get(order.id) ?? null,
      scanned,
      agreed: terms.get(order.id)?.agreed ?? null,
      markupBps: terms.get(order.id)?.markupBps ?? 0,
      action: actions.get(order.id) ?? null,
      isUnfinished: unfinished.has(order.id),
    }));
  }
}

function unfinishedOf(settlings: readonly Settling[]): string[] {
  return settlings.flatMap(({ order, isUnfinished }) => (isUnfinished ? [order.id] : []));
}

/** Writes the changes and journal entries of the steps so far, for all orders at once. */
async function write(settlings: readonly Settling[], commission: CommissionEntries): Promise<void> {
  const [first] = settlings;
  if (!first) return;
  await first.em.flush();
  const written = settlings.flatMap((settling) => {
    const bookings = settling.bookings.splice(0);
    addToClientAccount(
      settling,
      bookings.flatMap(({ lines }) => lines),
    );
    return bookings;
  });
  const accruals = settlings.flatMap((settling) => settling.accruals.splice(0));
  const earned = await addAccruals(first.em, commission, first.tools.prices, accruals);
  await bookAll(first.em, [...written, ...earned]);
}

/**
 * How far the chains were read. A time of reading in the future predates a clock correction, and
 * proves nothing.
 */
async function readScanned(em: EntityManager, now: Date): Promise<Map<string, ScannedTo>> {
  const rows = await sql<Omit<ScannedTo, 'readAt'> & { chain: string; read_at: string | null }>(
    em,
    `select chain, height::int as height, final_height::int as final, height >= head as "isAtHead",
            case when read_at <= ? then read_at end as read_at
       from chain_state`,
    [now],
  );
  return new Map(
    rows.map(({ chain, read_at, ...scannedTo }) => [
      chain,
      { ...scannedTo, readAt: read_at === null ? null : new Date(read_at) },
    ]),
  );
}
