import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { Big, formatDecimal } from '../../base/money.ts';
import type { CommissionEntries } from '../commission/commission-entries.ts';
import { CommissionStatement } from '../rows/commission-statement.entity.ts';
import type { Payment } from '../rows/payment.entity.ts';

/** The event of a partner whose commission was paid. */
export interface CommissionPaidEvent {
  readonly partnerId: string;
  readonly type: 'commission.paid';
  /** The month is like '2026-11', and amounts are decimal text. */
  readonly data: Readonly<Record<'month' | 'coin' | 'network' | 'amount' | 'fee' | 'txid', string>>;
  readonly at: Date;
}

export interface CommissionMonthsOptions {
  readonly entries: CommissionEntries;
  /** Records an event in the caller's transaction. */
  readonly recordEvent: (em: EntityManager, event: CommissionPaidEvent) => Promise<unknown>;
}

/** A confirmed payment with the transaction that paid it. */
export interface PaidCommission {
  readonly payment: Payment;
  readonly txid: string;
}

/** The months that payments of commission settle. */
export class CommissionMonths {
  readonly #options: CommissionMonthsOptions;

  constructor(options: CommissionMonthsOptions) {
    this.#options = options;
  }

  /**
   * Locks the months of payments, by payment. Other kinds than commission have none.
   *
   * @throws Error for a payment of commission that is not the newest payment of a month.
   */
  async months(em: EntityManager, payments: readonly Payment[]): Promise<ReadonlyMap<string, CommissionStatement>> {
    const ids = payments.filter(({ kind }) => kind === 'commission').map(({ id }) => id);
    if (ids.length === 0) return new Map();
    const rows = await lockedMonths(em, ids);
    const lacking = ids.find((id) => !rows.has(id));
    if (lacking !== undefined) throw new Error(`payment ${lacking} of commission is of no month`);
    return rows;
  }

  /**
   * Records that months were paid: their state, the entry that takes what was paid from the
   * partner's balance, and the event. The entry goes with the ledger's lines of the payment.
   */
  async paid(
    em: EntityManager,
    months: ReadonlyMap<string, CommissionStatement>,
    confirmed: readonly PaidCommission[],
    at: Date,
  ): Promise<void> {
    const { entries, recordEvent } = this.#options;
    for (const { payment, txid } of confirmed) {
      const statement = months.get(payment.id);
      if (!statement) continue;
      const { partnerId } = statement;
      const { id, coin, network, amount, feeCharged } = payment;
      Object.assign(statement, { state: 'paid', paidAt: at, problem: null });
      await em.flush();
      const taken = new Big('0').minus(amount).minus(feeCharged);
      const { month } = await entries.openMonth(em, partnerId, at);
      await entries.add(em, [{ partnerId, month, at, kind: 'payment', coin, network, amount: taken, paymentId: id }]);
      const data = {
        ...{ month: statement.month.slice(0, 7), coin, network, txid },
        ...{ amount: formatDecimal(amount), fee: formatDecimal(feeCharged) },
      };
      await recordEvent(em, { partnerId, type: 'commission.paid', data, at });
    }
  }
}

async function lockedMonths(em: EntityManager, ids: readonly string[]): Promise<Map<string, CommissionStatement>> {
  const lockMode = LockMode.PESSIMISTIC_WRITE;
  const rows = await em.find(CommissionStatement, { paymentId: { $in: [...ids] } }, { lockMode });
  return new Map(rows.flatMap((row) => (row.paymentId === null ? [] : [[row.paymentId, row] as const])));
}

/** Shows on its month that a payment of commission died. The month stays payable. */
export async function showDeadCommission(em: EntityManager, { id }: Payment): Promise<void> {
  for (const statement of (await lockedMonths(em, [id])).values()) statement.problem = 'payment_dead';
}
