import type { EntityManager } from '@mikro-orm/postgresql';
import DataLoader from 'dataloader';
import { bookedLines } from '../ledger/ledger.ts';
import { fixedResults } from '../orders/fixed-results.ts';
import { Order } from '../orders/order.entity.ts';
import { OrderEvent } from '../orders/order-event.entity.ts';
import { OrderNote } from '../orders/order-note.entity.ts';
import { ApiKey } from '../partners/api-key.entity.ts';
import { Partner } from '../partners/partner.entity.ts';
import type { StatsRow } from '../reports/order-stats.ts';
import { Deposit } from '../settlement/deposit.entity.ts';
import { Payment } from '../settlement/payment.entity.ts';
import { PaymentAttempt } from '../settlement/payment-attempt.entity.ts';
import { StaffAction } from '../settlement/staff-action.entity.ts';
import { Trade } from '../settlement/trade.entity.ts';
import { StaffMember } from '../staff/staff-member.entity.ts';

/** What became of the orders of partners, of these at least, by day; rows bear the partner as their key. */
export type UsageOf = (partnerIds: readonly string[]) => Promise<StatsRow[]>;

/** Days that the usage and the results of partners reach back. */
export const usageDays = 30;

export type Loaders = ReturnType<typeof createLoaders>;

/**
 * Loads what belongs to many orders or partners in one statement each, however many are on a page. For one operation:
 * what was loaded is kept until it ends.
 */
export function createLoaders(em: EntityManager, usageOf: UsageOf, now: () => Date) {
  const many = <Row extends object>(load: (ids: string[]) => Promise<Row[]>, keyOf: (row: Row) => string | null) =>
    new DataLoader<string, Row[]>(async (ids) => {
      const rows = Map.groupBy(await load([...ids]), keyOf);
      return ids.map((id) => rows.get(id) ?? []);
    });
  const one = <Row extends object>(load: (ids: string[]) => Promise<Row[]>, keyOf: (row: Row) => string) =>
    new DataLoader<string, Row | null>(async (ids) => {
      const rows = new Map((await load([...ids])).map((row) => [keyOf(row), row]));
      return ids.map((id) => rows.get(id) ?? null);
    });
  return {
    order: one(
      (ids) => em.find(Order, { id: { $in: ids } }, { populate: ['depositAddress'], strategy: 'joined' }),
      ({ id }) => id,
    ),
    partner: one(
      (ids) => em.find(Partner, { id: { $in: ids } }),
      ({ id }) => id,
    ),
    staffMember: one(
      (ids) => em.find(StaffMember, { id: { $in: ids } }),
      ({ id }) => id,
    ),
    trade: one(
      (ids) => em.find(Trade, { orderId: { $in: ids } }),
      ({ orderId }) => orderId,
    ),
    deposit: one(
      (ids) => em.find(Deposit, { id: { $in: ids } }),
      ({ id }) => id,
    ),
    events: many(
      (ids) => em.find(OrderEvent, { order: { $in: ids } }, { orderBy: { order: 'asc', seq: 'asc' } }),
      ({ order }) => order.id,
    ),
    deposits: many(
      (ids) => em.find(Deposit, { orderId: { $in: ids } }, { orderBy: { seenAt: 'asc', id: 'asc' } }),
      ({ orderId }) => orderId,
    ),
    payments: many(
      (ids) => em.find(Payment, { orderId: { $in: ids } }, { orderBy: { number: 'asc' } }),
      ({ orderId }) => orderId,
    ),
    strangerPayments: many(
      (ids) => em.find(Payment, { depositId: { $in: ids } }, { orderBy: { number: 'asc' } }),
      ({ depositId }) => depositId,
    ),
    attempts: many(
      (ids) => em.find(PaymentAttempt, { paymentId: { $in: ids } }, { orderBy: { paymentId: 'asc', attempt: 'asc' } }),
      ({ paymentId }) => paymentId,
    ),
    notes: many(
      (ids) => em.find(OrderNote, { orderId: { $in: ids } }, { orderBy: { id: 'asc' } }),
      ({ orderId }) => orderId,
    ),
    actions: many(
      (ids) => em.find(StaffAction, { orderId: { $in: ids } }, { orderBy: { id: 'asc' } }),
      ({ orderId }) => orderId,
    ),
    keys: many(
      (ids) => em.find(ApiKey, { partner: { $in: ids } }, { orderBy: { createdAt: 'asc' } }),
      ({ partner }) => partner.id,
    ),
    usage: many(
      (ids) => usageOf(ids),
      ({ key }) => key,
    ),
    fixedDay: one(
      (ids) => fixedResults(em, now(), 1, ids),
      ({ partnerId }) => partnerId,
    ),
    fixedMonth: one(
      (ids) => fixedResults(em, now(), usageDays, ids),
      ({ partnerId }) => partnerId,
    ),
    ledgerLines: many(
      (ids) => bookedLines(em, ids),
      ({ orderId }) => orderId,
    ),
  };
}
