import { Big, fromUnits } from '../../base/money.ts';
import type { GasCoin } from '../../chains/networks/networks.ts';
import type { ChainTraits, TxStatus } from '../../chains/port/chain-adapter.ts';
import { type Account, type Booking, type LedgerLine, line, minus } from '../../ledger/ledger.ts';
import type { Payment } from '../rows/payment.entity.ts';
import type { PaymentAttempt } from '../rows/payment-attempt.entity.ts';

export type Mined = Extract<TxStatus, { state: 'mined' }>;

interface EndOptions extends Pick<ChainTraits, 'sweepFee'> {
  /** The partner of commission. */
  readonly partnerId?: string | null | undefined;
}

/**
 * Builds the journal entry of a payment with a final transaction. It holds the moved amount and the
 * chain's fee, or the fee alone when the transaction failed or pays no one.
 *
 * @param gas The chain's own coin.
 * @throws Error for commission without a partner.
 */
export function bookingOfEnd(
  payment: Payment,
  { attempt, fee: stated }: PaymentAttempt,
  { fee, success }: Mined,
  gas: GasCoin,
  at: Date,
  { sweepFee, partnerId = null }: EndOptions,
): Booking {
  const { kind, amount, feeCharged, orderId, contract } = payment;
  const cost = fromUnits(fee, gas.decimals);
  const payer = kind === 'sweep' && sweepFee === 'swept' ? 'deposits' : 'hot';
  const costLines: LedgerLine[] = [line('network_cost', gas, cost), line(payer, gas, minus(cost))];
  if (!success || kind === 'setup') {
    return { kind: 'payment_fee', reference: `${payment.id}:${attempt}`, orderId, at, lines: costLines };
  }
  const end = { reference: payment.id, orderId, at };
  if (kind === 'sweep') {
    // A swept address pays the stated fee from its amount, where it is of the chain's own coin.
    const moved = new Big(amount).minus(contract === null && payer === 'deposits' ? stated : '0');
    const lines = [line('hot', payment, moved), line('deposits', payment, minus(moved)), ...costLines];
    return { ...end, kind: 'sweep', lines };
  }
  if (kind === 'gas') {
    const lines = [line('deposits', payment, amount), line('hot', payment, minus(amount)), ...costLines];
    return { ...end, kind: 'gas', lines };
  }
  return {
    ...end,
    kind: 'payment',
    lines: [
      line(owedBy(payment, partnerId), payment, new Big(amount).plus(feeCharged)),
      line('hot', payment, minus(amount)),
      line('network_fee', payment, minus(feeCharged)),
      ...costLines,
    ],
  };
}

/** The account that a payment settles. */
function owedBy({ id, kind, orderId }: Payment, partnerId: string | null): Account {
  if (kind !== 'commission') return orderId === null ? 'suspense' : 'client';
  if (partnerId === null) throw new Error(`payment ${id} of commission has no partner`);
  return `partner:${partnerId}`;
}
