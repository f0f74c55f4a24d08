import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import type { Clock } from '../../base/clock.ts';
import { sql } from '../../base/db/sql.ts';
import type { Log } from '../../base/log.ts';
import type { EarlierTx } from '../../chains/port/chain-adapter.ts';
import { markedFailed, type Payment } from '../rows/payment.entity.ts';
import { PaymentAttempt } from '../rows/payment-attempt.entity.ts';
import type { ChainTurn } from '../turns/chain-turn.ts';
import { deathOf, isMined, type Observed, outlookOf, statusesOf } from './attempt-status.ts';
import { endDead } from './dead-payments.ts';
import {
  type LockedPayment,
  noteProblem,
  type PaymentWithAttempts,
  type PaymentWriter,
  releaseReserved,
} from './payment-writer.ts';
import { expiryOf } from './signed-attempts.ts';

export interface EarlierAttemptsOptions {
  readonly orm: MikroORM;
  readonly clock: Clock;
  readonly log: Log;
  readonly writer: PaymentWriter;
}

/** A payment that may get a further attempt. */
export interface Retry {
  readonly payment: Payment;
  /** Its dead attempts that were signed, oldest first. */
  readonly earlier: readonly EarlierTx[];
  /** The chain calls each of them finally dead now. Only then may the payment end without one. */
  readonly areDead: boolean;
}

/** Seconds until the earlier attempts of a payment are asked again. */
const againSec = 5;

/**
 * The attempts of payments that were signed and count as dead. A node may have been wrong about
 * them. So the chain is asked again before a further attempt is built, and before a payment ends.
 */
export class EarlierAttempts {
  readonly #options: EarlierAttemptsOptions;

  constructor(options: EarlierAttemptsOptions) {
    this.#options = options;
  }

  /** Reads them by payment, oldest first. */
  read(payments: readonly Payment[]): Promise<ReadonlyMap<string, PaymentAttempt[]>> {
    return readEarlier(this.#options.orm.em.fork(), payments);
  }

  /**
   * Selects the payments that may get a further attempt. One of which an attempt is in a block
   * after all goes on with that one. Where attempts do not exclude each other, a payment waits
   * until the chain calls all of them finally dead.
   */
  async retries(turn: ChainTurn, ready: readonly PaymentWithAttempts[]): Promise<readonly Retry[]> {
    const retries: Retry[] = [];
    for (const retry of await this.#askAgain(turn, ready)) {
      if (retry.areDead || turn.adapter.traits.exclusive) retries.push(retry);
      else await this.#options.writer.problem(turn.lease, retry.payment.id, 'not_finally_dead', againSec);
    }
    return retries;
  }

  /** Ends payments that staff marked, once none of their attempts can be confirmed. */
  async end(turn: ChainTurn, marked: readonly PaymentWithAttempts[]): Promise<void> {
    const { clock, writer } = this.#options;
    for (const { payment, areDead } of await this.#askAgain(turn, marked)) {
      if (!areDead) {
        await writer.postpone([payment.id], againSec);
        continue;
      }
      const end = async (em: EntityManager, changing: readonly LockedPayment[]): Promise<void> => {
        await endDead(em, changing, markedFailed, clock.now());
        await em.flush();
        await releaseReserved(em, [payment.id], clock.now());
      };
      await writer.change(turn.lease, [payment], end, true);
    }
  }

  /** Asks for the earlier attempts. A payment with one in a block goes on, and is left out. */
  async #askAgain(turn: ChainTurn, ready: readonly PaymentWithAttempts[]): Promise<readonly Retry[]> {
    const all = await this.read(ready.map(({ payment }) => payment));
    const retries: Retry[] = [];
    for (const { payment } of ready) {
      const statuses = await statusesOf(turn.adapter, all.get(payment.id) ?? []);
      const mined = statuses.filter(isMined);
      if (mined.length > 0) await this.#revive(turn, payment, mined);
      else {
        const areDead = statuses.length === 0 || outlookOf(statuses) === 'dead';
        retries.push({ payment, earlier: statuses.map(earlierTx), areDead });
      }
    }
    return retries;
  }

  /** Goes on with attempts that are in a block although they counted as dead. */
  async #revive({ lease }: ChainTurn, payment: Payment, mined: readonly Observed[]): Promise<void> {
    const { clock, log, writer } = this.#options;
    noteRevived(log, payment);
    await writer.change(lease, [payment], async (em, changing) => {
      const now = clock.now();
      for (const { payment: row, alive } of changing) {
        await storeStatuses(em, alive, mined);
        noteProblem(row, null, now);
        Object.assign(row, { state: 'sent', sentAt: row.sentAt ?? now, nextActionAt: now });
      }
    });
  }
}

async function readEarlier(
  em: EntityManager,
  payments: readonly Payment[],
): Promise<ReadonlyMap<string, PaymentAttempt[]>> {
  // A payment before its first attempt has none.
  const ids = payments.filter(({ attempt }) => attempt > 0).map(({ id }) => id);
  if (ids.length === 0) return new Map();
  const earlier = await em.find(
    PaymentAttempt,
    { paymentId: { $in: ids }, raw: { $ne: null }, deadWhy: { $in: ['conflict', 'expired'] } },
    { orderBy: { attempt: 'asc' } },
  );
  return Map.groupBy(earlier, ({ paymentId }) => paymentId);
}

function earlierTx(one: Observed): EarlierTx {
  const { payload, reserves } = one.attempt;
  return { payload, reserves, expiresAt: expiryOf(one.attempt), why: deathOf(one) ?? 'expired' };
}

/**
 * Stores in which block each transaction is. One in a block lives, also when it counted as dead.
 * One in no block stays as it is, dead or not.
 */
export async function storeStatuses(
  em: EntityManager,
  alive: readonly PaymentAttempt[],
  statuses: readonly Observed[],
): Promise<void> {
  for (const one of statuses) {
    const { paymentId, attempt } = one.attempt;
    const living = alive.find((row) => row.attempt === attempt);
    const height = isMined(one) ? one.status.height : null;
    if (!living && height === null) continue;
    const row = living ?? (await em.findOneOrFail(PaymentAttempt, { paymentId, attempt }));
    Object.assign(row, { deadAt: null, deadWhy: null, minedHeight: height });
  }
}

export function noteRevived(log: Log, { id, orderId, chain }: Payment): void {
  log.error(
    { event: 'payment_revived', code: chain, payment_id: id, order_id: orderId },
    'a transaction that counted as dead is in a block',
  );
}

/**
 * What a payment still holds after a death: all that attempts reserve which only expired. If the
 * chain was wrong about them, the next attempt excludes them. What a conflict spent is free, and so
 * is everything where attempts do not exclude each other.
 */
export function keptReservations(
  dead: readonly Pick<PaymentAttempt, 'reserves' | 'deadWhy'>[],
  isExclusive: boolean,
): readonly string[] {
  if (!isExclusive) return [];
  const lost = dead.filter(({ deadWhy }) => deadWhy === 'conflict');
  // A conflict over anything that an expired attempt reserves as well has excluded that one too.
  const isLost = (reserves: readonly string[]): boolean =>
    lost.some((one) => one.reserves.every((reserve) => reserves.includes(reserve)));
  return dead
    .filter(({ deadWhy, reserves }) => deadWhy === 'expired' && !isLost(reserves))
    .flatMap(({ reserves }) => reserves);
}

/**
 * Releases what a payment that goes on no longer needs after the death of an attempt. Call it after
 * the death is written.
 */
export async function releaseAfterDeath(
  em: EntityManager,
  payment: Payment,
  isExclusive: boolean,
  at: Date,
): Promise<void> {
  const dead = (await readEarlier(em, [payment])).get(payment.id) ?? [];
  await sql(
    em,
    `update payment_reservation set released_at = ?
      where payment_id = ? and released_at is null
        and resource not in (select jsonb_array_elements_text(?::jsonb))`,
    [at, payment.id, JSON.stringify(keptReservations(dead, isExclusive))],
  );
}
