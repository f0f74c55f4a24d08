import type { EntityManager } from '@mikro-orm/postgresql';
import { Partner } from '../accounts/partners/partner.entity.ts';
import { sql } from '../base/db/sql.ts';
import { AppError, errorFromFaults, type FieldFault } from '../base/errors.ts';
import { isOwnAddress } from '../chains/addresses/own-address.ts';
import type { CurrencyCatalogue } from '../market/currencies/currency-catalogue.ts';
import { type Destination, destination, ownAddress, type SentDestination } from './destination.ts';
import type { ChangedOrder, ChangeRequest, LockedChanges, LockedOrder } from './locked-changes.ts';
import type { OpenOrders } from './open-orders.ts';
import type { Order } from './order.entity.ts';
import { moveOrder, recordFact } from './order-moves.ts';
import type { OrderPages } from './order-pages.ts';
import { OrderTerms } from './order-terms.entity.ts';
import { type MetadataChange, mergedMetadata, metadataFaults } from './order-terms.ts';

/** A refund address as a partner sends it. */
export interface SentRefundAddress {
  readonly address: string;
  readonly tag: string | null;
}

export interface OrderChangesOptions {
  readonly changes: LockedChanges;
  readonly catalogue: CurrencyCatalogue;
  readonly openOrders: Pick<OpenOrders, 'forget'>;
  readonly pages: Pick<OrderPages, 'renew' | 'revoke'>;
}

/**
 * What partners change about their orders. Each method answers from what it has written, and throws
 * what `LockedChanges.run` throws beside its own refusals.
 */
export class OrderChanges {
  readonly #options: OrderChangesOptions;

  constructor(options: OrderChangesOptions) {
    this.#options = options;
  }

  /**
   * Merges a change into the order's metadata. It writes no event. The gateway never reads
   * metadata, and the changes of a partner could fill the history.
   *
   * @throws AppError metadata_too_large or invalid_value for what the order would then have.
   */
  setMetadata(request: ChangeRequest, change: MetadataChange): Promise<ChangedOrder> {
    return this.#options.changes.run(request, async ({ em, order }) => {
      const orderId = order.id;
      const terms = await em.findOne(OrderTerms, { orderId }, { fields: ['metadata'] });
      const metadata = mergedMetadata(terms?.metadata ?? null, change);
      const faults = metadata ? metadataFaults(metadata) : [];
      if (faults.length > 0) throw errorFromFaults(faults);
      // Only an order with terms of its own has a row.
      if (terms) await em.nativeUpdate(OrderTerms, { orderId }, { metadata });
      else if (metadata) await em.insert(OrderTerms, { orderId, partnerId: order.partner.id, metadata });
    });
  }

  /**
   * Sets the refund address of an order that has none. An address is never replaced: a stolen key
   * must not redirect money. The same address again changes nothing. A worker then refunds what
   * only lacked an address, also of an order at rest (`settlement/rules/refund.ts`, `resume.ts`).
   *
   * @throws AppError refund_address_set when the order has another one.
   * @throws AppError 422 naming every fault of the address.
   */
  setRefundAddress(request: ChangeRequest, sent: SentRefundAddress): Promise<ChangedOrder> {
    return this.#options.changes.run(request, async ({ em, order, now, actor }) => {
      const faults: FieldFault[] = [];
      const found = this.#destination(order, sent, faults);
      if (order.refundAddress !== null) {
        const isSame = found?.address === order.refundAddress && found.tag === order.refundAddressTag;
        if (isSame && faults.length === 0) return;
        const detail = 'this order has a refund address already, and it cannot be replaced';
        throw new AppError('refund_address_set', detail);
      }
      if (found && (await isOwn(em, found))) faults.unshift(ownAddress(refundFields.address));
      if (!found || faults.length > 0) throw errorFromFaults(faults);
      order.refundAddress = found.address;
      order.refundAddressTag = found.tag;
      order.refundAddressSetAt = now;
      recordFact(em, order, 'refund_address_set', { at: now, actor });
      if (resting.includes(order.status)) order.nextActionAt = now;
    });
  }

  /**
   * Cancels an order for which no deposit was seen. Its address stays watched, and a deposit that
   * still comes is late. Both the window and the lock bound it: a cancel is never possible later
   * than not to pay, and never beside a deposit.
   *
   * @throws AppError order_not_cancellable.
   */
  async cancel(request: ChangeRequest): Promise<ChangedOrder> {
    const { changes, openOrders } = this.#options;
    const changed = await changes.run(request, async ({ em, order, now, actor }) => {
      await refuseCancel({ em, order, now, actor });
      moveOrder(em, order, 'partner_cancelled', { at: now, actor });
      order.nextActionAt = null;
    });
    if (!changed.isReplayed) openOrders.forget(request.caller.partner.id);
    return changed;
  }

  /**
   * Gives an order a new link to its page. The one before ends. It writes no event: the link moves
   * nothing.
   *
   * @throws AppError order_page_off while the partner has no pages.
   */
  renewPage(request: ChangeRequest): Promise<ChangedOrder> {
    const { changes, pages } = this.#options;
    return changes.run(request, async ({ em, order, now }) => {
      const options = { fields: ['orderPage'], disableIdentityMap: true } as const;
      const partner = await em.findOne(Partner, { id: order.partner.id }, options);
      if (!partner?.orderPage)
        throw new AppError('order_page_off', 'this account has no order pages; ask support for them');
      await pages.renew(em, order.id, now);
    });
  }

  /** Ends the link of an order's page, if it has one. */
  revokePage(request: ChangeRequest): Promise<ChangedOrder> {
    const { changes, pages } = this.#options;
    return changes.run(request, ({ em, order, now }) => pages.revoke(em, order.id, now));
  }

  #destination(order: Order, { address, tag }: SentRefundAddress, faults: FieldFault[]): Destination | null {
    const { coinFrom, networkFrom: network } = order;
    const { catalogue } = this.#options;
    const currency = catalogue.find(coinFrom, network) ?? null;
    const sent: SentDestination = { fields: refundFields, address, tag };
    return destination(sent, { currency, network }, faults, catalogue);
  }
}

/** Nothing else makes an order with one of these due. */
const resting: readonly string[] = ['completed', 'expired', 'refunded', 'failed'];

const refundFields = { address: 'refund_address', tag: 'refund_address_tag' };

async function isOwn(em: EntityManager, { keyForms }: Destination): Promise<boolean> {
  const [found] = await sql<{ own: boolean }>(
    em,
    `select ${isOwnAddress('sent.forms')} as own from (select ?::text as forms) as sent`,
    [keyForms],
  );
  return found?.own ?? false;
}

async function refuseCancel({ em, order, now }: LockedOrder): Promise<void> {
  if (order.status !== 'waiting_deposit') throw notCancellable(`the order is ${order.status}`);
  if (order.heldAt !== null) throw notCancellable('the order is on hold');
  // A deposit that was sent in time may still be found, and decides an order without a choice.
  if (now >= order.expiresAt) throw notCancellable('the window of the order has passed');
  const [deposit] = await sql(em, 'select 1 from deposit where order_id = ? limit 1', [order.id]);
  if (deposit) throw notCancellable('a deposit of the order was seen');
}

function notCancellable(why: string): AppError {
  return new AppError('order_not_cancellable', `${why}, so that it cannot be cancelled`);
}
