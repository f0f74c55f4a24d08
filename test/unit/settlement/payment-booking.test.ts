import { bookingOfEnd } from '../../../src/settlement/pay/payment-booking.ts';
import type { Payment } from '../../../src/settlement/rows/payment.entity.ts';
import type { PaymentAttempt } from '../../../src/settlement/rows/payment-attempt.entity.ts';

const eth = { coin: 'ETH', network: 'ETH', decimals: 18, networkFee: '0.001' };
const attempt = { attempt: 2, fee: '0.002' } as PaymentAttempt;
const usdt = { coin: 'USDT', network: 'ERC20', contract: '0xdac17f958d2ee523a2206206994597c13d831ec7' };
const coin = { coin: 'ETH', network: 'ETH', contract: null };

/** The entry of a payment of 5 whose fee on its chain was 0.001, as its lines. */
function booked(
  changes: Partial<Payment>,
  success = true,
  partnerId: string | null = null,
  { sweepFee = 'swept', fee = 10n ** 15n }: { sweepFee?: 'swept' | 'wallet'; fee?: bigint } = {},
) {
  const payment = {
    id: 'p',
    kind: 'payout',
    orderId: 'o',
    amount: '5',
    feeCharged: '0',
    ...usdt,
    ...changes,
  } as Payment;
  const mined = { state: 'mined', success, fee } as Parameters<typeof bookingOfEnd>[2];
  const { kind, reference, orderId, lines } = bookingOfEnd(payment, attempt, mined, eth, new Date(0), {
    sweepFee,
    partnerId,
  });
  const shown = lines
    .map(({ account, coin, amount }) => [account, coin, Number(String(amount))] as const)
    .filter(([, , amount]) => amount !== 0);
  return { kind, reference, orderId, lines: shown };
}

const cost = (payer: string) => [
  ['network_cost', 'ETH', 0.001],
  [payer, 'ETH', -0.001],
];

describe('the entry of a payment that is final', () => {
  it('takes a payout from the hot wallet and from what the user is owed', () => {
    expect(booked({})).toEqual({
      kind: 'payment',
      reference: 'p',
      orderId: 'o',
      lines: [['client', 'USDT', 5], ['hot', 'USDT', -5], ...cost('hot')],
    });
  });

  it('takes the fee of a refund from the user, too', () => {
    expect(booked({ kind: 'refund', feeCharged: '1' }).lines).toEqual([
      ['client', 'USDT', 6],
      ['hot', 'USDT', -5],
      ['network_fee', 'USDT', -1],
      ...cost('hot'),
    ]);
  });

  it('takes the refund of a deposit without an order from what belongs to no order', () => {
    expect(booked({ kind: 'refund', orderId: null }).lines[0]).toEqual(['suspense', 'USDT', 5]);
  });

  it('takes commission and its fee from what the partner earned', () => {
    expect(booked({ kind: 'commission', orderId: null, feeCharged: '1' }, true, 'one').lines).toEqual([
      ['partner:one', 'USDT', 6],
      ['hot', 'USDT', -5],
      ['network_fee', 'USDT', -1],
      ...cost('hot'),
    ]);
    expect(() => booked({ kind: 'commission', orderId: null })).toThrow('payment p of commission has no partner');
  });

  it('moves a sweep into the hot wallet: a coin less the stated fee, a token whole', () => {
    expect(booked({ kind: 'sweep', orderId: null, ...coin }).lines).toEqual([
      ['hot', 'ETH', 4.998],
      ['deposits', 'ETH', -4.998],
      ...cost('deposits'),
    ]);
    expect(booked({ kind: 'sweep', orderId: null }).lines.slice(0, 2)).toEqual([
      ['hot', 'USDT', 5],
      ['deposits', 'USDT', -5],
    ]);
  });

  it('moves a sweep whole where the hot wallet pays for it', () => {
    const wallet = { sweepFee: 'wallet' } as const;
    expect(booked({ kind: 'sweep', orderId: null, ...coin }, true, null, wallet).lines).toEqual([
      ['hot', 'ETH', 5],
      ['deposits', 'ETH', -5],
      ...cost('hot'),
    ]);
    expect(booked({ kind: 'sweep', orderId: null, ...coin }, false, null, wallet).lines).toEqual(cost('hot'));
    // Rents that came back are more than the fee.
    expect(booked({ kind: 'sweep', orderId: null }, true, null, { ...wallet, fee: -(10n ** 15n) }).lines).toEqual([
      ['hot', 'USDT', 5],
      ['deposits', 'USDT', -5],
      ['network_cost', 'ETH', -0.001],
      ['hot', 'ETH', 0.001],
    ]);
  });

  it('moves gas to a deposit address', () => {
    expect(booked({ kind: 'gas', orderId: null, ...coin }).lines).toEqual([
      ['deposits', 'ETH', 5],
      ['hot', 'ETH', -5],
      ...cost('hot'),
    ]);
  });

  it('has the cost alone where the chain refused it, and names the attempt', () => {
    expect(booked({}, false)).toEqual({ kind: 'payment_fee', reference: 'p:2', orderId: 'o', lines: cost('hot') });
  });
});
