import type { EntityManager } from '@mikro-orm/postgresql';
import DataLoader from 'dataloader';
import { membersOf, openInvitations } from '../../../accounts/members/members.ts';
import { ApiKey } from '../../../accounts/partners/api-key.entity.ts';
import { keyRefusals } from '../../../accounts/partners/key-refusals.ts';
import { Partner } from '../../../accounts/partners/partner.entity.ts';
import { StaffChange } from '../../../accounts/staff/staff-change.entity.ts';
import { StaffMember } from '../../../accounts/staff/staff-member.entity.ts';
import { sql } from '../../../base/db/sql.ts';
import { bookedLines } from '../../../ledger/ledger.ts';
import { monthId, presentFigures } from '../../../operations/commission-status.ts';
import type { StatsRow } from '../../../operations/order-stats.ts';
import { holdsById } from '../../../operations/payout-brakes.ts';
import {
  classifiableMovements,
  endableTransfers,
  movementId,
  movementsById,
  transfersOfMovements,
} from '../../../operations/venue-status.ts';
import type { Exposure } from '../../../orders/exposure.ts';
import { fixedResults } from '../../../orders/fixed-results.ts';
import type { Order } from '../../../orders/order.entity.ts';
import { OrderAction } from '../../../orders/order-action.entity.ts';
import { OrderEvent } from '../../../orders/order-event.entity.ts';
import { OrderNote } from '../../../orders/order-note.entity.ts';
import { ordersWithPage } from '../../../orders/order-pages.ts';
import { markupAccruals, orderAgreements } from '../../../orders/read/order-agreements.ts';
import { Deposit } from '../../../settlement/rows/deposit.entity.ts';
import { shownDeposits } from '../../../settlement/rows/order-deposits.ts';
import { Payment } from '../../../settlement/rows/payment.entity.ts';
import { PaymentAttempt } from '../../../settlement/rows/payment-attempt.entity.ts';
import { StaffAction } from '../../../settlement/rows/staff-action.entity.ts';
import { Trade } from '../../../settlement/rows/trade.entity.ts';
import { WebhookEndpoint } from '../../../webhooks/webhook-endpoint.entity.ts';

/**
 * Loads the outcome of partners' orders by day, for at least these partners. The key of a row is
 * the partner.
 */
type LoadUsage = (partnerIds: readonly string[]) => Promise<StatsRow[]>;

/** Days of history in the usage and results of partners. */
export const usageDays = 30;

export type Loaders = ReturnType<typeof createLoaders>;

/** Loads all rows of each key, in the order of the statement. */
function many<Row extends object>(load: (ids: string[]) => Promise<Row[]>, keyOf: (row: Row) => string | null) {
  return new DataLoader<string, Row[]>(async (ids) => {
    const rows = Map.groupBy(await load([...ids]), keyOf);
    return ids.map((id) => rows.get(id) ?? []);
  });
}

/** Loads the one row of each key, or null. */
function one<Row extends object>(load: (ids: string[]) => Promise<Row[]>, keyOf: (row: Row) => string) {
  return new DataLoader<string, Row | null>(async (ids) => {
    const rows = new Map((await load([...ids])).map((row) => [keyOf(row), row]));
    return ids.map((id) => rows.get(id) ?? null);
  });
}

const byId = ({ id }: { readonly id: string }): string => id;
const byOrder = <Id extends string | null>({ orderId }: { readonly orderId: Id }): Id => orderId;
const byPartner = ({ partnerId }: { readonly partnerId: string }): string => partnerId;

/** What the loaders of an operation read by. */
interface LoaderSources {
  readonly em: EntityManager;
  now(): Date;
  readonly ordersOf: (ids: readonly string[]) => Promise<Order[]>;
  readonly usageOf: LoadUsage;
  readonly exposuresOf: (partnerIds: readonly string[]) => Promise<Exposure[]>;
}

/**
 * Makes the loaders of one operation. Each loads rows for all orders or partners of a page in one
 * statement, and keeps them until the operation ends.
 */
export function createLoaders(sources: LoaderSources) {
  return {
    ...orderLoaders(sources),
    ...settlementLoaders(sources),
    ...partnerLoaders(sources),
    ...staffLoaders(sources),
    ...treasuryLoaders(sources),
  };
}

/** Orders, and what was agreed and noted for them. */
function orderLoaders({ em, ordersOf }: LoaderSources) {
  return {
    order: one(ordersOf, byId),
    events: many(
      (ids) => em.find(OrderEvent, { order: { $in: ids } }, { orderBy: { order: 'asc', seq: 'asc' } }),
      ({ order }) => order.id,
    ),
    questions: many((ids) => em.find(OrderAction, { orderId: { $in: ids } }, { orderBy: { seq: 'asc' } }), byOrder),
    agreements: one((ids) => orderAgreements(em, ids), byOrder),
    pageLink: one((ids) => ordersWithPage(em, ids), byOrder),
    accruals: one((ids) => markupAccruals(em, ids), byOrder),
    notes: many((ids) => em.find(OrderNote, { orderId: { $in: ids } }, { orderBy: { id: 'asc' } }), byOrder),
    ledgerLines: many((ids) => bookedLines(em, ids), byOrder),
  };
}

/** How orders were settled. */
function settlementLoaders({ em }: LoaderSources) {
  return {
    trade: one((ids) => em.find(Trade, { orderId: { $in: ids } }), byOrder),
    deposit: one((ids) => em.find(Deposit, { id: { $in: ids } }), byId),
    deposits: many((ids) => shownDeposits(em, ids), byOrder),
    payments: many((ids) => em.find(Payment, { orderId: { $in: ids } }, { orderBy: { number: 'asc' } }), byOrder),
    strangerPayments: many(
      (ids) => em.find(Payment, { depositId: { $in: ids } }, { orderBy: { number: 'asc' } }),
      ({ depositId }) => depositId,
    ),
    payment: one((ids) => em.find(Payment, { id: { $in: ids } }), byId),
    attempts: many(
      (ids) => em.find(PaymentAttempt, { paymentId: { $in: ids } }, { orderBy: { paymentId: 'asc', attempt: 'asc' } }),
      ({ paymentId }) => paymentId,
    ),
    hold: one((ids) => holdsById(em, ids), byId),
  };
}

/** Partners, their people, keys and results. */
function partnerLoaders({ em, now, usageOf, exposuresOf }: LoaderSources) {
  return {
    partner: one((ids) => em.find(Partner, { id: { $in: ids } }), byId),
    partnerMember: one(
      (ids) =>
        sql<{ id: string; name: string; partnerId: string }>(
          em,
          `select id, name, partner_id as "partnerId" from partner_member where id in (${ids.map(() => '?').join(', ')})`,
          ids,
        ),
      byId,
    ),
    members: many((ids) => membersOf(em, ids), byPartner),
    invitations: many((ids) => openInvitations(em, now(), ids), byPartner),
    keys: many(
      (ids) => em.find(ApiKey, { partner: { $in: ids } }, { orderBy: { createdAt: 'asc' } }),
      ({ partner }) => partner.id,
    ),
    key: one(
      (ids) => em.find(ApiKey, { keyId: { $in: ids } }),
      ({ keyId }) => keyId,
    ),
    refusals: one(
      (ids) => keyRefusals(em, now(), ids),
      ({ keyId }) => keyId,
    ),
    webhook: one((ids) => em.find(WebhookEndpoint, { id: { $in: ids } }), byId),
    usage: many(
      (ids) => usageOf(ids),
      ({ key }) => key,
    ),
    exposure: one((ids) => exposuresOf(ids), byPartner),
    fixedDay: one((ids) => fixedResults(em, now(), 1, ids), byPartner),
    fixedMonth: one((ids) => fixedResults(em, now(), usageDays, ids), byPartner),
  };
}

/** Staff, and what they did and propose. */
function staffLoaders({ em }: LoaderSources) {
  return {
    staffMember: one((ids) => em.find(StaffMember, { id: { $in: ids } }), byId),
    staffAction: one((ids) => em.find(StaffAction, { id: { $in: ids } }), byId),
    staffChange: one((ids) => em.find(StaffChange, { id: { $in: ids } }), byId),
    actions: many((ids) => em.find(StaffAction, { orderId: { $in: ids } }, { orderBy: { id: 'asc' } }), byOrder),
    resumption: one(
      (ids) => em.find(StaffAction, { holdId: { $in: ids }, state: 'proposed' }),
      ({ holdId }) => holdId ?? '',
    ),
  };
}

/** Movements of the venue, and the transfers that they belong to. */
function treasuryLoaders({ em, now }: LoaderSources) {
  return {
    movement: one((ids) => movementsById(em, ids), movementId),
    classifiable: one((ids) => classifiableMovements(em, ids), movementId),
    endable: one((ids) => endableTransfers(em, ids, now()), byId),
    movementTransfer: one(
      (ids) => transfersOfMovements(em, ids),
      ({ venue, movementKind: kind, reference }) => movementId({ venue, kind, reference }),
    ),
    arrivals: many(
      (ids) => em.find(Deposit, { transferId: { $in: ids } }, { orderBy: { seenAt: 'asc', id: 'asc' } }),
      ({ transferId }) => transferId,
    ),
    commissionFigures: one((ids) => presentFigures(em, ids), monthId),
  };
}
