import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { rights, signedOut } from '../accounts/members/rights.ts';
import type { Caller } from '../accounts/members/sessions.ts';
import { partnerInactive } from '../accounts/partners/authenticator.ts';
import type { Clock } from '../base/clock.ts';
import { sqlState } from '../base/db/database.ts';
import { sql } from '../base/db/sql.ts';
import { AppError } from '../base/errors.ts';
import { annotate } from '../base/telemetry/tracing.ts';
import { lockNotAvailable, type Repeatable } from './idempotency.ts';
import { Order } from './order.entity.ts';
import { orderNotFound } from './order-errors.ts';
import { type PartnerScope, type StaffScope, scopeWhere, staffScope } from './order-scope.ts';
import type { RepeatableRequests } from './repeatable-requests.ts';
import { orderNamed } from './short-id.ts';

/** An order under its row lock, inside the transaction that changes it. */
export interface LockedOrder {
  readonly em: EntityManager;
  readonly order: Order;
  readonly now: Date;
  /** As the actor of events: a partner or a staff member. */
  readonly actor: string;
}

/** A partner's request to change an order. */
export interface ChangeRequest {
  /** The order's UUID or short id, as it was sent. */
  readonly orderName: string;
  readonly caller: Caller;
  /** Makes the change repeatable. Gets the order's id, so that all its names count as the same. */
  readonly repeatable?: (orderId: string) => Repeatable | null;
  /** Renders the answer inside the transaction, from what the change has written. */
  readonly answer: (em: EntityManager, orderId: string) => Promise<string>;
  /** Writes the audit entry of the change inside the transaction. A repetition writes none. */
  readonly audit?: (em: EntityManager, orderId: string) => Promise<void>;
}

/** A change by staff, in the transaction that also writes its audit entry. */
export interface StaffChange {
  readonly em: EntityManager;
  readonly orderName: string;
  readonly staffId: string;
}

/** The answer to a change. `body` is the text that the first answer had. */
export interface ChangedOrder {
  readonly orderId: string;
  readonly body: string;
  readonly isReplayed: boolean;
}

/**
 * Changes orders for their partners and for staff, each in one transaction under the lock of the
 * order's row. The scanner, the expiry and the settler take the same lock, so that of two changes
 * one comes first and the other one sees it.
 */
export class LockedChanges {
  readonly #requests: RepeatableRequests;
  readonly #clock: Clock;

  constructor(requests: RepeatableRequests, clock: Clock) {
    this.#requests = requests;
    this.#clock = clock;
  }

  /**
   * Locks the partner's order, lets `change` change it, and stores the answer of a repeatable
   * request in the same transaction. A repetition gets the stored answer and changes nothing.
   *
   * @throws AppError order_not_found: the same for an unknown order, another partner's order, and
   * malformed text.
   * @throws AppError 401 or 403 when the key, the member's right or the partner ended meanwhile.
   * @throws AppError idempotency_in_flight, idempotency_key_reused, or what `change` throws.
   * @throws AppError unavailable when the order stays locked.
   */
  async run(request: ChangeRequest, change: (locked: LockedOrder) => Promise<void> | void): Promise<ChangedOrder> {
    try {
      return await this.#requests.transaction((em) => this.#once(em, request, change));
    } catch (error) {
      throw busy(error) ?? error;
    }
  }

  /**
   * Locks an order for staff, and lets `change` change it, in the transaction of the caller.
   *
   * @throws AppError order_not_found, or what `change` throws.
   * @throws AppError unavailable when the order stays locked.
   */
  async runForStaff(
    { em, orderName, staffId }: StaffChange,
    change: (locked: LockedOrder) => Promise<void> | void,
  ): Promise<Order> {
    const order = await lockedOrder(em, staffScope, orderName).catch((error) => {
      throw busy(error) ?? error;
    });
    await change({ em, order, now: this.#clock.now(), actor: `staff:${staffId}` });
    await em.flush();
    return order;
  }

  async #once(
    em: EntityManager,
    { orderName, caller, repeatable, answer, audit }: ChangeRequest,
    change: (locked: LockedOrder) => Promise<void> | void,
  ): Promise<ChangedOrder> {
    const partnerId = caller.partner.id;
    const order = await lockedOrder(em, { kind: 'partner', partnerId }, orderName);
    const orderId = order.id;
    const now = this.#clock.now();
    await refuseEnded(em, caller, now);
    const { stored, isReplayed } = await this.#requests.once(em, partnerId, repeatable?.(orderId) ?? null, async () => {
      await change({ em, order, now, actor: `partner:${partnerId}` });
      await em.flush();
      const body = await answer(em, orderId);
      await audit?.(em, orderId);
      return { stored: body, status: 200, orderId };
    });
    return { orderId, body: stored, isReplayed };
  }
}

/** Locks the order of that name that the scope sees. */
async function lockedOrder(em: EntityManager, scope: PartnerScope | StaffScope, name: string): Promise<Order> {
  const named = orderNamed(name);
  if (!named) throw orderNotFound();
  const lockMode = LockMode.PESSIMISTIC_WRITE;
  const order = await em.findOne(Order, { ...named, ...scopeWhere(scope) }, { lockMode });
  if (!order) throw orderNotFound();
  annotate({ 'order.id': order.id });
  return order;
}

/** The state of a change's caller, read in the transaction of the change. */
interface CallerState {
  readonly live: boolean;
  readonly active: boolean;
  readonly isSignedOut: boolean;
}

/**
 * Refuses a key that was revoked, a member who was removed, was signed out or lost the role, and a
 * partner that was switched off, since the request was admitted.
 */
async function refuseEnded(em: EntityManager, caller: Caller, now: Date): Promise<void> {
  const [state] =
    caller.kind === 'key'
      ? await sql<CallerState>(
          em,
          `select k.revoked_at is null and (k.expires_at is null or k.expires_at > ?) as live,
                  p.status = 'active' as active, false as "isSignedOut"
             from api_key k join partner p on p.id = k.partner_id where k.key_id = ?`,
          [now, caller.keyId],
        )
      : await sql<CallerState>(
          em,
          `select m.removed_at is null and m.role = any(?::text[]) as live, p.status = 'active' as active,
                  s.ended_at is not null as "isSignedOut"
             from partner_member m join partner p on p.id = m.partner_id join partner_session s on s.member_id = m.id
            where m.id = ? and s.id = ? for share of m`,
          [`{${rights['orders:answer'].join(',')}}`, caller.memberId, caller.sessionId],
        );
  if (state?.isSignedOut) throw signedOut();
  if (!state?.live) {
    const isKey = caller.kind === 'key';
    const what = isKey ? 'this API key has been revoked or has expired' : 'you may no longer do this';
    throw new AppError(isKey ? 'unauthorized' : 'insufficient_role', what);
  }
  if (!state.active) throw partnerInactive();
}

/** The refusal of a change whose order stayed locked. Null for any other error. */
function busy(cause: unknown): AppError | null {
  if (cause instanceof AppError || sqlState(cause) !== lockNotAvailable) return null;
  const detail = 'the order is being changed at this moment; retry in a second';
  return new AppError('unavailable', detail, { retryAfterSec: 1, cause });
}
