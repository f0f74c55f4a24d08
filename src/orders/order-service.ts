import type { EntityManager } from '@mikro-orm/postgresql';
import { v7 as uuidv7 } from 'uuid';
import { Partner } from '../accounts/partners/partner.entity.ts';
import type { Clock } from '../base/clock.ts';
import { sql } from '../base/db/sql.ts';
import { AppError, errorFromFaults, type FieldFault, fieldError } from '../base/errors.ts';
import { type Big, formatDecimal } from '../base/money.ts';
import { isOwnAddress } from '../chains/addresses/own-address.ts';
import type { CurrencyCatalogue } from '../market/currencies/currency-catalogue.ts';
import type { RecentWindow } from '../market/rates/price-book.ts';
import type { ActionOffers, AskedOrder, ExchangeOffer } from './action-offers.ts';
import { type Destination, destination, ownAddress, type SentDestination } from './destination.ts';
import type { ChangedOrder, ChangeRequest, LockedChanges, LockedOrder, StaffChange } from './locked-changes.ts';
import type { OpenOrders } from './open-orders.ts';
import { Order } from './order.entity.ts';
import { type ActionChoice, OrderAction } from './order-action.entity.ts';
import { actionName, endAction } from './order-actions.ts';
import { moveOrder, recordFact } from './order-moves.ts';
import { OrderNote } from './order-note.entity.ts';
import type { OrderPages } from './order-pages.ts';
import { OrderTerms } from './order-terms.entity.ts';
import { type MetadataChange, mergedMetadata, metadataFaults } from './order-terms.ts';

/** A refund address as a partner sends it. */
interface SentRefundAddress {
  readonly address: string;
  readonly tag: string | null;
}

/** A partner's answer to the question about a deposit. */
interface Choice {
  /** The name of the question. */
  readonly actionId: string;
  readonly action: ActionChoice;
  /** The payout that was shown. Null takes the present offer; a refund has none. */
  readonly amountTo: Big | null;
}

interface OrderServiceOptions {
  readonly clock: Clock;
  readonly changes: LockedChanges;
  readonly catalogue: CurrencyCatalogue;
  readonly openOrders: Pick<OpenOrders, 'forget'>;
  readonly pages: Pick<OrderPages, 'renew' | 'revoke'>;
  readonly offers: ActionOffers;
}

/**
 * Changes orders, for the API of partners, the cabinet and staff. `OrderCreation` makes them and
 * settlement moves them. Each method for partners answers from what it has written, and throws its
 * refusals and those of `LockedChanges.run`.
 */
export class OrderService {
  readonly #options: OrderServiceOptions;

  constructor(options: OrderServiceOptions) {
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
      // An order whose create had no options has no row.
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
   * still comes is late. A cancel is refused once the window has passed. Under the lock no deposit
   * can come between the check and the cancel.
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
   * Stores the answer to the open question of an order, with its terms. Settlement follows it
   * (`settlement/rules/policy.ts`): no other code moves the order.
   *
   * @throws AppError invalid_value for an amount with a refund.
   * @throws AppError action_not_available when nothing is asked, or this answer is not possible.
   * @throws AppError action_stale for an older question, and for an exchange that is not offered
   * for that amount any more.
   * @throws AppError what `LockedChanges.run` throws.
   */
  async answer(request: ChangeRequest, choice: Choice): Promise<ChangedOrder> {
    const { changes, offers } = this.#options;
    if (choice.amountTo && choice.action === 'refund') {
      throw fieldError('invalid_value', 'amount_to', 'amount_to goes with an exchange');
    }
    // Read before the transaction, which must not wait for a second connection.
    const windows = choice.action === 'exchange' && choice.amountTo ? await offers.windows() : [];
    return changes.run(request, async (locked) => {
      const { em, order, now, actor } = locked;
      const action = await openAction(locked, choice);
      if (choice.action === 'refund' && order.refundAddress === null) {
        throw notAvailable('a refund needs a refund address; set it first');
      }
      const offer = choice.action === 'exchange' ? await this.#offer(locked, action, choice, windows) : null;
      endAction(em, order, action, choice.action, { at: now, actor }, offer?.terms);
      order.nextActionAt = now;
    });
  }

  /**
   * Gives an order a new link to its page. The previous link ends. It writes no event: the link
   * moves nothing.
   *
   * @throws AppError order_page_off while the partner has no pages.
   */
  renewPage(request: ChangeRequest): Promise<ChangedOrder> {
    return this.#options.changes.run(request, this.#newPage('this account has no order pages; ask support for them'));
  }

  /** Does what `renewPage` does, for staff. */
  renewPageForStaff(request: StaffChange): Promise<Order> {
    const { changes } = this.#options;
    return changes.runForStaff(request, this.#newPage('this partner has no order pages; switch them on first'));
  }

  /** Ends the link of an order's page, if it has one. */
  revokePage(request: ChangeRequest): Promise<ChangedOrder> {
    return this.#options.changes.run(request, this.#noPage);
  }

  /** Does what `revokePage` does, for staff. */
  revokePageForStaff(request: StaffChange): Promise<Order> {
    return this.#options.changes.runForStaff(request, this.#noPage);
  }

  #newPage(refusal: string) {
    return async ({ em, order, now }: LockedOrder): Promise<void> => {
      const { orderPage } = await em.findOneOrFail(Partner, { id: order.partner.id });
      if (!orderPage) throw new AppError('order_page_off', refusal);
      await this.#options.pages.renew(em, order.id, now);
    };
  }

  readonly #noPage = ({ em, order, now }: LockedOrder): Promise<void> => this.#options.pages.revoke(em, order.id, now);

  /**
   * Adds a note of staff to an order, in the caller's transaction.
   *
   * @throws AppError order_not_found; invalid_value unless the text has 1 to 4000 characters.
   */
  async note(em: EntityManager, { orderId, staffId, text }: Pick<OrderNote, 'orderId' | 'staffId' | 'text'>) {
    const trimmed = text.trim();
    if (trimmed === '' || trimmed.length > maxNote) {
      throw new AppError('invalid_value', `a note has 1 to ${maxNote} characters`);
    }
    if ((await em.count(Order, { id: orderId })) === 0) throw new AppError('order_not_found', 'there is no such order');
    const at = this.#options.clock.now();
    const note = em.create(OrderNote, { id: uuidv7(), orderId, staffId, at, text: trimmed });
    await em.flush();
    return note;
  }

  async #offer(
    { em, order }: LockedOrder,
    action: OrderAction,
    { amountTo }: Choice,
    windows: readonly RecentWindow[],
  ): Promise<ExchangeOffer> {
    const { offers } = this.#options;
    const terms = await em.findOne(
      OrderTerms,
      { orderId: order.id },
      { fields: ['markupBps', 'minAmountTo', 'policy'] },
    );
    if (!terms) throw new Error(`order ${order.id} has a question and no terms`);
    const { markupBps, minAmountTo, policy } = terms;
    const { amountFrom } = action;
    const asked: AskedOrder = { ...agreedRate(order), markupBps, minAmountTo, policy, amountFrom };
    const present = offers.present(asked);
    const offer = amountTo ? offers.ofAmount(asked, amountTo, windows) : present;
    if (offer) return offer;
    if (!amountTo) throw notAvailable('no exchange is offered at this moment; try again in some seconds, or refund');
    const now = present && `but for ${formatDecimal(present.terms.amountTo)} ${order.coinTo}`;
    const detail = `the exchange is no longer offered for that amount, ${now ?? 'and at this moment for none'}`;
    throw new AppError('action_stale', `${detail}; read the details of the order`);
  }

  #destination(order: Order, { address, tag }: SentRefundAddress, faults: FieldFault[]): Destination | null {
    const { coinFrom, networkFrom: network } = order;
    const { catalogue } = this.#options;
    const currency = catalogue.find(coinFrom, network) ?? null;
    const sent: SentDestination = { fields: refundFields, address, tag };
    return destination(sent, { currency, network }, faults, catalogue);
  }
}

/** Most characters of a note. */
const maxNote = 4000;

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

/** The open question of an order whose partner may answer it now. */
async function openAction({ em, order, now }: LockedOrder, { actionId }: Choice): Promise<OrderAction> {
  const action = await em.findOne(OrderAction, { orderId: order.id, outcome: null });
  if (!action) throw notAvailable('nothing is asked about this order');
  if (actionName(action) !== actionId) {
    throw new AppError('action_stale', 'this is not the present question; read the details of the order');
  }
  if (order.heldAt !== null) throw notAvailable('the order is on hold');
  if (now >= action.deadline) throw notAvailable('the time for an answer has passed');
  if (!(await isCredited(em, action))) throw notAvailable('the deposit is not confirmed at this moment');
  return action;
}

async function isCredited(em: EntityManager, { depositId }: OrderAction): Promise<boolean> {
  const [deposit] = await sql<{ state: string }>(em, 'select state from deposit where id = ?', [depositId]);
  return deposit?.state === 'credited';
}

/** What an exchange depends on, without the rest of the row. */
function agreedRate(
  order: LockedOrder['order'],
): Omit<AskedOrder, 'markupBps' | 'minAmountTo' | 'policy' | 'amountFrom'> {
  const { rateType, rateQuoted, feeRate, serviceFeeQuoted, networkFeeQuoted, maxAmount } = order;
  const { coinFrom, networkFrom, coinTo, networkTo, amountFromExpected, amountToExpected } = order;
  const fees = { feeRate, serviceFeeQuoted, networkFeeQuoted };
  const pair = { coinFrom, networkFrom, coinTo, networkTo };
  return { ...pair, ...fees, rateType, rateQuoted, amountFromExpected, amountToExpected, maxAmount };
}

function notAvailable(detail: string): AppError {
  return new AppError('action_not_available', detail);
}
