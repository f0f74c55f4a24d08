import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { partnerInactive } from '../accounts/partners/authenticator.ts';
import type { Clock } from '../base/clock.ts';
import { sqlState } from '../base/db/database.ts';
import { sql } from '../base/db/sql.ts';
import { AppError } from '../base/errors.ts';
import { annotate } from '../base/telemetry/tracing.ts';
import { lockNotAvailable, type Repeatable } from './idempotency.ts';
import { Order } from './order.entity.ts';
import { orderNotFound } from './order-errors.ts';
import type { RepeatableRequests } from './repeatable-requests.ts';
import { orderNamed } from './short-id.ts';

/** An order under its row lock, inside the transaction that changes it. */
export interface LockedOrder {
  readonly em: EntityManager;
  readonly order: Order;
  readonly now: Date;
  /** The partner, as the actor of events. */
  readonly actor: string;
}

/** Who asks for a change: a key of the partner, or a member of its team in the cabinet. */
export type Asker = { readonly partner: { readonly id: string } } & (
  | { readonly keyId: string }
  | { readonly memberId: string; readonly roles: readonly string[] }
);

/** A partner's request to change an order. */
export interface ChangeRequest {
  /** The order's UUID or short id, as it was sent. */
  readonly orderName: string;
  readonly caller: Asker;
  /** Makes the change repeatable. Gets the order's id, so that all its names count as the same. */
  readonly repeatable?: (orderId: string) => Repeatable | null;
  /** Renders the answer inside the transaction, from what the change has written. */
  readonly answer: (em: EntityManager, orderId: string) => Promise<string>;
  /** Writes the audit entry of the change inside the transaction. A repetition writes none. */
  readonly audit?: (em: EntityManager, orderId: string) => Promise<void>;
}

/** The answer to a change. `body` is the text that the first answer had. */
export interface ChangedOrder {
  readonly orderId: string;
  readonly body: string;
  readonly isReplayed: boolean;
}

/**
 * Changes orders for their partners, each in one transaction under the lock of the order's row. The
 * scanner, the expiry and the settler take the same lock, so that of two changes one comes first
 * and the other one sees it.
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
      if (!(error instanceof AppError) && sqlState(error) === lockNotAvailable) throw busy(error);
      throw error;
    }
  }

  async #once(
    em: EntityManager,
    { orderName, caller, repeatable, answer, audit }: ChangeRequest,
    change: (locked: LockedOrder) => Promise<void> | void,
  ): Promise<ChangedOrder> {
    const { partner } = caller;
    const named = orderNamed(orderName);
    if (!named) throw orderNotFound();
    const lockMode = LockMode.PESSIMISTIC_WRITE;
    const order = await em.findOne(Order, { ...named, partner: partner.id }, { lockMode });
    if (!order) throw orderNotFound();
    const orderId = order.id;
    annotate({ 'order.id': orderId });
    const now = this.#clock.now();
    await refuseEnded(em, caller, now);
    const { stored, isReplayed } = await this.#requests.once(
      em,
      partner.id,
      repeatable?.(orderId) ?? null,
      async () => {
        await change({ em, order, now, actor: `partner:${partner.id}` });
        await em.flush();
        const body = await answer(em, orderId);
        await audit?.(em, orderId);
        return { stored: body, status: 200, orderId };
      },
    );
    return { orderId, body: stored, isReplayed };
  }
}

/**
 * Refuses a key that was revoked, a member who was removed or lost the role, and a partner that was
 * switched off, since the request was admitted.
 */
async function refuseEnded(em: EntityManager, caller: Asker, now: Date): Promise<void> {
  const [asker] =
    'keyId' in caller
      ? await sql<{ live: boolean; active: boolean }>(
          em,
          `select k.revoked_at is null and (k.expires_at is null or k.expires_at > ?) as live, p.status = 'active' as active
             from api_key k join partner p on p.id = k.partner_id where k.key_id = ?`,
          [now, caller.keyId],
        )
      : await sql<{ live: boolean; active: boolean }>(
          em,
          `select m.removed_at is null and m.role = any(?::text[]) as live, p.status = 'active' as active
             from partner_member m join partner p on p.id = m.partner_id where m.id = ? for share of m`,
          [`{${caller.roles.join(',')}}`, caller.memberId],
        );
  if (!asker?.live) {
    const what = 'keyId' in caller ? 'this API key has been revoked or has expired' : 'you may no longer do this';
    throw new AppError('keyId' in caller ? 'unauthorized' : 'insufficient_role', what);
  }
  if (!asker.active) throw partnerInactive();
}

function busy(cause: unknown): AppError {
  const detail = 'the order is being changed at this moment; retry in a second';
  return new AppError('unavailable', detail, { retryAfterSec: 1, cause });
}
