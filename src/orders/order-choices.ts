import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from '../base/db/sql.ts';
import { AppError, fieldError } from '../base/errors.ts';
import { type Big, formatDecimal } from '../base/money.ts';
import type { RecentWindow } from '../market/rates/price-book.ts';
import type { ActionOffers, AskedOrder, ExchangeOffer } from './action-offers.ts';
import type { ChangedOrder, ChangeRequest, LockedChanges, LockedOrder } from './locked-changes.ts';
import { type ActionChoice, OrderAction } from './order-action.entity.ts';
import { actionName, endAction } from './order-actions.ts';
import { OrderTerms } from './order-terms.entity.ts';

/** A partner's answer to the question about a deposit. */
export interface Choice {
  /** The name of the question. */
  readonly actionId: string;
  readonly action: ActionChoice;
  /** The payout that was shown. Null takes the present offer; a refund has none. */
  readonly amountTo: Big | null;
}

export interface OrderChoicesOptions {
  readonly changes: LockedChanges;
  readonly offers: ActionOffers;
}

/**
 * Takes the answers of partners to questions about deposits. An answer is stored with its terms.
 * Settlement follows it (`settlement/steps/policy.ts`): no other code moves the order.
 */
export class OrderChoices {
  readonly #options: OrderChoicesOptions;

  constructor(options: OrderChoicesOptions) {
    this.#options = options;
  }

  /**
   * Stores the answer to the open question of an order.
   *
   * @throws AppError invalid_value for an amount with a refund.
   * @throws AppError action_not_available when nothing is asked, or this answer is not possible.
   * @throws AppError action_stale for an older question, and for an exchange that is not offered
   * for that amount any more.
   * @throws AppError what `LockedChanges.run` throws.
   */
  async choose(request: ChangeRequest, choice: Choice): Promise<ChangedOrder> {
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
