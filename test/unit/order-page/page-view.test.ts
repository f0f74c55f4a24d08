import { brotliCompressSync, constants } from 'node:zlib';
import { type OrderStatus, orderMoves, orderStatuses } from '../../../src/orders/order-status.ts';
import type { DepositDetails, OrderDetails, PaymentDetails } from '../../../src/orders/read/order-details.ts';
import type { LinkedOrder } from '../../../src/orders/read/order-reads.ts';
import type { RefundReason } from '../../../src/orders/read/refund-reasons.ts';
import { pageScript, pageStyle } from '../../../src/surfaces/pages/page-assets.ts';
import { orderHtml } from '../../../src/surfaces/pages/page-html.ts';
import { pageView } from '../../../src/surfaces/pages/page-view.ts';

const now = new Date('2026-11-23T10:10:00.000Z');
const sandbox = { isOfValue: () => false, explorerUrl: () => null };
const live = {
  isOfValue: () => true,
  explorerUrl: (_coin: string, network: string, kind: string, value: string) =>
    `https://explorer.example/${network}/${kind}/${value}`,
};

const deposit: DepositDetails = {
  txid: '4a5e1e4b',
  outputIndex: 0,
  coin: 'BTC',
  network: 'BTC',
  amount: '0.1',
  confirmations: 1,
  state: 'confirming',
  role: 'main',
  refundObstacle: null,
  seenAt: '2026-11-23T10:04:31.000Z',
  explorerUrl: null,
};
const refund: PaymentDetails = {
  txid: 'f00d',
  coin: 'BTC',
  network: 'BTC',
  amount: '0.099',
  fee: '0.001',
  state: 'confirmed',
  createdAt: '2026-11-23T10:21:02.000Z',
  sentAt: null,
  confirmedAt: null,
  depositTxid: '4a5e1e4b',
  address: 'bc1qrefund',
  tag: null,
  explorerUrl: null,
};

interface Changes {
  readonly status?: OrderStatus;
  readonly cause?: string;
  readonly order?: Partial<LinkedOrder['order']>;
  readonly details?: Partial<OrderDetails>;
  readonly partnerName?: string;
}

function linked({
  status = 'waiting_deposit',
  cause = 'created',
  order,
  details,
  partnerName,
}: Changes = {}): LinkedOrder {
  return {
    partnerName: partnerName ?? 'Acme Wallet',
    cause,
    order: {
      id: '0199c0de-7a11-7c3e-9a4e-5d2f6b7c8d90',
      shortId: 'XP-7K2M9Q',
      status,
      createdAt: '2026-11-23T10:00:00.000Z',
      expiresAt: '2026-11-23T10:30:00.000Z',
      coinFrom: 'BTC',
      networkFrom: 'BTC',
      coinTo: 'USDT',
      networkTo: 'TRC20',
      amountFromExpected: '0.1',
      amountToExpected: '6378.44',
      rateType: 'float',
      rateQuoted: '63784.4',
      depositAddress: 'bc1qdeposit',
      depositAddressTag: null,
      recipientAddress: 'TUser',
      depositTxid: null,
      depositConfirmations: null,
      depositConfirmationsRequired: 2,
      payoutTxid: null,
      ...order,
    },
    details: {
      orderId: '0199c0de-7a11-7c3e-9a4e-5d2f6b7c8d90',
      seq: 1,
      statusGroup: 'waiting',
      updatedAt: '2026-11-23T10:00:00.000Z',
      externalId: 'secret-invoice-881',
      metadata: { user: 'secret-user' },
      policy: null,
      deposits: [],
      terms: {
        isFinal: false,
        mid: '64127.537',
        serviceFee: '32.0637685',
        partnerMarkup: '25.66048',
        networkFee: '2.2499315',
        rate: '63784.4',
        amountFrom: '0.1',
        amountTo: '6378.44',
      },
      payout: null,
      refunds: [],
      hold: null,
      failure: null,
      refundReason: null,
      actionRequired: null,
      refundAddress: 'given',
      publicUrl: 'https://pay.example/o/token',
      paymentUri: status === 'waiting_deposit' ? 'bitcoin:bc1qdeposit?amount=0.1' : null,
      ...details,
    },
  };
}

const view = (changes: Changes = {}, links: typeof live | typeof sandbox = live) =>
  pageView(linked(changes), links, now);
const assets = { style: '/o/page.css', script: '/o/page.js' };
const shown = (changes: Changes = {}, links: typeof live | typeof sandbox = live) =>
  orderHtml(view(changes, links), assets);

describe('the page of an order', () => {
  it.each(orderStatuses)('has words for %s', (status) => {
    const { headline, lines, steps } = view({ status });
    expect(headline.length).toBeGreaterThan(3);
    expect(lines.length).toBeGreaterThan(0);
    expect(steps.length).toBeGreaterThan(0);
  });

  it('offers a payment only while the order waits, its time runs and nothing holds it', () => {
    for (const status of orderStatuses) {
      expect([status, view({ status }).payment !== null]).toEqual([status, status === 'waiting_deposit']);
    }
    expect(view({ order: { expiresAt: now.toISOString() } }).payment).toBeNull();
    const held = view({ details: { hold: { reason: 'review', since: now.toISOString() } } });
    expect(held.payment).toBeNull();
    expect(held.lines.join(' ')).toContain('Do not send anything');
  });

  it('tells an order that is expired, cancelled or over not to be paid', () => {
    for (const changes of [
      { status: 'expired', cause: 'window_passed' },
      { status: 'expired', cause: 'partner_cancelled' },
      { status: 'expired', details: { deposits: [{ ...deposit, role: 'late' }] } },
      { order: { expiresAt: now.toISOString() } },
      { status: 'completed' },
      { status: 'failed' },
    ] satisfies Changes[]) {
      expect(view(changes).lines.join(' ')).toMatch(/Do not send any/);
    }
  });

  const moves = Object.entries(orderMoves);
  const why: RefundReason = {
    cause: 'late_deposit',
    answer: null,
    isByStaff: false,
    wasCancelled: false,
    minAmountTo: null,
  };
  const least = 'At the price of the moment, the exchange would have given less than the';
  const reasons: readonly (readonly [Partial<RefundReason>, readonly string[]])[] = [
    [{ cause: 'below_minimum' }, ['The payment is less than the smallest amount that can be exchanged.']],
    [{ cause: 'rate_expired' }, ['The payment came after its fixed rate had ended.']],
    [
      { cause: 'underpaid' },
      ['The payment is less than the 0.1 BTC of the order.', 'Acme Wallet has such payments returned.'],
    ],
    [
      { cause: 'underpaid', answer: 'refund' },
      ['The payment is less than the 0.1 BTC of the order.', 'Acme Wallet has chosen to return it.'],
    ],
    [
      { cause: 'overpaid', answer: 'deadline' },
      ['The payment is more than the 0.1 BTC of the order.', 'No choice was made in time, so it is returned.'],
    ],
    [{ cause: 'price_moved', minAmountTo: '6300' }, [`${least} 6300 USDT that the order promises at least.`]],
    [{ cause: 'exchange_below_min', minAmountTo: '6300' }, [`${least} 6300 USDT that the order promises at least.`]],
    [{ cause: 'price_moved' }, [`${least.slice(0, -4)} the order promises at least.`]],
    [{ cause: 'late_deposit' }, ['The payment came after the time to pay.']],
    [{ cause: 'late_deposit', wasCancelled: true }, ['The payment came after Acme Wallet had cancelled the order.']],
    [{ cause: 'exchange_deadline' }, ['The payment could not be exchanged at a fair price in time.']],
    [
      { cause: 'payout_failed', isByStaff: true },
      ['The USDT could not be sent.', 'Our team has decided to return the payment.'],
    ],
    [
      { cause: 'payout_unknown', isByStaff: true },
      ['The USDT could not be sent.', 'Our team has decided to return the payment.'],
    ],
    [
      { cause: 'staff_stopped', isByStaff: true },
      ['Our team has stopped the sending of the USDT.', 'Our team has decided to return the payment.'],
    ],
  ];
  it.each(reasons)('says why a payment is returned, was, or could not be: %j', (reason, sentences) => {
    const refundReason = { ...why, ...reason };
    const refunded = view({ status: 'refunded', details: { refundReason, refunds: [refund] } });
    expect(refunded.lines).toEqual([
      ...sentences,
      '0.099 BTC went to the address below. The network fee of sending it, 0.001 BTC, was taken off.',
    ]);
    const refunding = view({ status: 'refunding', details: { refundReason } });
    expect(refunding.headline).toBe('Your payment is being returned');
    expect(refunding.lines).toEqual([
      ...sentences,
      'It goes to your refund address, less the network fee.',
      'Do not send any more BTC.',
    ]);
    const failure = { cause: 'no_refund_address', at: now.toISOString() } as const;
    const failed = view({ status: 'failed', details: { refundReason, failure, refundAddress: 'none' } });
    expect(failed.lines).toEqual(expect.arrayContaining([...sentences]));
  });

  it('has a sentence for every move into a refund, but for a refund that had another reason before', () => {
    const causes = moves.filter(([, { to }]) => to === 'refunding').map(([cause]) => cause);
    const told = new Set<string>(reasons.map(([{ cause }]) => cause ?? ''));
    expect(causes.filter((cause) => !told.has(cause))).toEqual(['refund_resumed', 'staff_refund']);
  });

  it('tells where a payment was returned to, with the fee, the memo and the way to an explorer', () => {
    const xlm = { ...refund, coin: 'XLM', network: 'XLM', address: 'GREFUND', tag: '77', fee: '0' };
    const details = { refundReason: why, refunds: [refund, { ...xlm, depositTxid: 'other' }] };
    const { facts, lines } = view({
      status: 'refunded',
      order: { depositTxid: '4a5e1e4b' },
      details: { ...details, deposits: [deposit, { ...deposit, txid: 'other', role: 'wrong_asset' }] },
    });
    const after = facts.slice(facts.findIndex(({ label }) => label === 'Returned to you'));
    expect(after.slice(0, -1).map(({ label, value, href }) => [label, value, href])).toEqual([
      ['Returned to you', '0.099 BTC, confirmed', null],
      ['Returned to the address', 'bc1qrefund', 'https://explorer.example/BTC/address/bc1qrefund'],
      ['Network fee taken off', '0.001 BTC', null],
      ['Transaction', 'f00d', 'https://explorer.example/BTC/transaction/f00d'],
      ['Returned to you', '0.099 XLM, confirmed', null],
      ['Returned to the address', 'GREFUND', 'https://explorer.example/XLM/address/GREFUND'],
      ['Memo', '77', null],
      ['Transaction', 'f00d', 'https://explorer.example/XLM/transaction/f00d'],
    ]);
    expect(lines.at(-1)).toBe('We have also returned 0.099 XLM that this order does not exchange.');
    expect(lines.join(' ')).not.toContain('0.099 BTC and');
  });

  it.each(
    moves.filter(([, { to }]) => to === 'failed').map(([cause]) => cause),
  )('says what is next after %s', (cause) => {
    const failure = { cause: cause as keyof typeof orderMoves, at: now.toISOString() };
    const { lines } = view({ status: 'failed', cause, details: { failure } });
    expect(lines.length).toBeGreaterThan(1);
    expect(lines.join(' ')).toContain('Ask Acme Wallet and name the order XP-7K2M9Q');
    expect(lines.join(' ')).not.toContain('{');
  });

  it.each(['late', 'underpaid', 'overpaid', 'price_moved'] as const)('asks for the choice when it is %s', (reason) => {
    const actionRequired = { id: 'act_3', reason, deadline: '2026-11-24T09:05:00.000Z', exchange: null, refund: null };
    const { headline, lines } = view({ status: 'confirming', details: { actionRequired } });
    expect(headline).toBe('Choose what happens to your payment');
    expect(lines.join(' ')).toContain('Choose in Acme Wallet before 24 Nov 2026, 09:05 UTC');
  });

  it('warns of what was dropped, too little, or of another coin, before one pays again', () => {
    const notes = (changes: Partial<DepositDetails>) =>
      view({ details: { deposits: [{ ...deposit, ...changes }] } }).lines[0];
    expect(notes({ state: 'lost' })).toContain('Look into your wallet before you pay again');
    expect(notes({ role: 'small', amount: '0.0001' })).toContain('We got 0.0001 BTC. That is too little');
    expect(notes({ role: 'wrong_asset', coin: 'USDT' })).toContain('which this order does not exchange');
  });

  it('counts confirmations and tells what was returned in addition to the payout', () => {
    const counted = view({ status: 'confirming', order: { depositConfirmations: 1 } });
    expect(counted.lines).toContain('It has 1 of 2 confirmations of the network.');
    expect(counted.steps[1]).toEqual({
      name: 'Confirmation by the network',
      state: 'now',
      note: '1 of 2 confirmations',
    });
    expect(view({ status: 'completed', details: { refunds: [refund] } }).lines.join(' ')).toContain(
      'We have also returned 0.099 BTC',
    );
    expect(view({ status: 'refunded', details: { refunds: [{ ...refund, fee: '0' }] } }).lines).toEqual([
      '0.099 BTC went to the address below.',
    ]);
  });

  it('says about, until the payout is certain', () => {
    const gets = (changes: Changes) => view(changes).facts.find(({ label }) => label === 'You get')?.value;
    expect(gets({})).toBe('about 6378.44 USDT on TRON (TRC-20)');
    expect(gets({ order: { rateType: 'fixed' } })).toBe('6378.44 USDT on TRON (TRC-20)');
  });

  it('links to explorers where coins have value, and says so where they have none', () => {
    const changes: Changes = { status: 'confirming', details: { deposits: [deposit] } };
    expect(shown(changes)).toContain('href="https://explorer.example/BTC/transaction/4a5e1e4b"');
    expect(shown(changes)).not.toContain('test order');
    expect(shown(changes, sandbox)).not.toContain('explorer.example');
    expect(shown(changes, sandbox)).toContain('test order');
  });

  it('shows nothing that its user was not told: no fee, rate, note, id, nor its own link', () => {
    for (const status of orderStatuses) {
      const html = shown({ status, details: { deposits: [deposit], refunds: [refund] } });
      for (const hidden of [
        'secret',
        '63784',
        '64127',
        '32.06',
        '25.66',
        '2.2499',
        '0199c0de',
        '/o/token',
        'metadata',
      ]) {
        expect([status, hidden, html.includes(hidden)]).toEqual([status, hidden, false]);
      }
    }
  });

  it('is no place for markup: names, tags and addresses stay text', () => {
    const attack = `"><script>alert(1)</script>'&`;
    const html = shown({
      partnerName: attack,
      order: { depositAddress: attack, depositAddressTag: attack, recipientAddress: attack, shortId: attack },
      details: { paymentUri: attack, deposits: [{ ...deposit, txid: attack, coin: attack, role: 'wrong_asset' }] },
    });
    expect(html).not.toContain('<script>alert');
    expect(html.match(/<script/g)).toHaveLength(1);
    expect(html).toContain('&lt;script&gt;');
    expect(html).not.toMatch(/ style=| on\w+=/);
  });

  it('shows the tag before the code, and no link into a wallet for a bare address', () => {
    const html = shown({
      order: { networkFrom: 'XRP', coinFrom: 'XRP', depositAddress: 'rShared', depositAddressTag: '799719294' },
      details: { paymentUri: 'rShared' },
    });
    expect(html.indexOf('799719294')).toBeGreaterThan(0);
    expect(html.indexOf('799719294')).toBeLessThan(html.indexOf('<svg'));
    expect(html).not.toContain('Open in a wallet');
  });

  it('marks a change of the order, but not the passing of time', () => {
    const mark = (changes: Changes, at: Date) =>
      /data-v="(\w+)"/.exec(orderHtml(pageView(linked(changes), live, at), assets))?.[1];
    expect(mark({}, now)).toBe(mark({}, new Date(now.getTime() + 1_000)));
    expect(mark({}, now)).not.toBe(mark({ status: 'confirming' }, now));
  });

  it('is read again while something may happen, and not at its end', () => {
    const polls = (status: OrderStatus) => view({ status }).refreshSec;
    expect(orderStatuses.map((status) => [status, polls(status)])).toEqual([
      ['waiting_deposit', 10],
      ['confirming', 10],
      ['exchanging', 10],
      ['sending', 10],
      ['completed', null],
      ['expired', 60],
      ['refunding', 10],
      ['refunded', null],
      ['failed', 60],
    ]);
  });

  it('has less than one kilobyte of script and of style, as they are sent', () => {
    const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } };
    for (const file of [pageScript, pageStyle]) expect(brotliCompressSync(file, quality).length).toBeLessThan(1_000);
  });
});
