import { readFileSync } from 'node:fs';
import { addressExample } from '../../../src/chains/addresses/address.ts';
import { SandboxPartner } from '../../support/gateway/sandbox-partner.ts';
import type { MadeOrder } from '../../support/gateway/settled-gateway.ts';

// Every exception of docs/lifecycle.md, reached by the partner API and the API of the sandbox
// alone, and the webhooks of each.

let partner: SandboxPartner;
beforeAll(async () => {
  partner = await SandboxPartner.start();
});
afterAll(() => partner?.stop());

type Step = (order: MadeOrder) => Promise<unknown>;
const deposit =
  (body: object = {}): Step =>
  ({ id }) =>
    partner.done(`sandbox/orders/${id}/deposits`, body);
const expire: Step = ({ id }) => partner.done(`sandbox/orders/${id}/expire`);
const reorg: Step = ({ id }) => partner.done(`sandbox/orders/${id}/reorg`);
const force =
  (outcome: string): Step =>
  ({ id }) =>
    partner.done(`sandbox/orders/${id}/force`, { outcome });
const seconds =
  (count: number): Step =>
  () =>
    partner.seconds(count);
const seen: Step = () => partner.gateway.tick();
const cancel: Step = ({ id }) => partner.done(`orders/${id}/cancel`);
const cancelRefused: Step = async ({ id }) => {
  const { status, json } = await partner.call('POST', `orders/${id}/cancel`);
  expect([status, json.code]).toEqual([409, 'order_not_cancellable']);
};
const setRefundAddress: Step = ({ id }) =>
  partner.done(`orders/${id}/refund-address`, { refund_address: addressExample('BTC') }, 'PUT');
const asked =
  (reason: string): Step =>
  async (order) => {
    const { action_required: question } = await partner.details(order);
    expect(question).toMatchObject({ reason });
  };
const choose =
  (action: 'exchange' | 'refund'): Step =>
  async (order) => {
    const { action_required: question } = await partner.details(order);
    const shown = question.actions.find((each: { action: string }) => each.action === action);
    const amount = action === 'exchange' ? { amount_to: shown.amount_to } : {};
    await partner.done(`orders/${order.id}/actions`, { action_id: question.id, action, ...amount });
  };

const completed = ['created', 'deposit_detected', 'confirmed', 'exchanged', 'completed'];
const sending = completed.slice(0, 4);
const exchanging = completed.slice(0, 3);
const refunded = ['created', 'deposit_detected', 'refunding', 'refunded'];
const late = ['created', 'expired', 'deposit_added', 'refunding'];
const excess = [...exchanging, 'extra_refunding', 'exchanged', 'extra_refunded', 'completed'];
const second = ['created', 'deposit_detected', 'deposit_added', ...excess.slice(2)];
const question = ['created', 'deposit_detected', 'action_required'];
const xrp = { coin_from: 'XRP', network_from: 'XRP', amount_from: 100 };
const ether = { coin_from: 'ETH', network_from: 'ETH', amount_from: 1 };
const asks = { policy: { on_underpaid: 'ask' } };

interface Case {
  /** What this case shows of the row. The row itself unless given. */
  readonly name?: string;
  readonly order?: Record<string, unknown>;
  readonly steps: readonly Step[];
  readonly webhooks: readonly string[];
  /** `status_group` of the details at the end. */
  readonly group: string;
  /** Payments that were sent back to the user. */
  readonly refunds?: number;
}

/** The cases of each row, by the first cell of the row. */
const reached: Readonly<Record<string, readonly Case[]>> = {
  // In time or late
  'in time': [{ steps: [deposit(), seconds(12)], webhooks: completed, group: 'completed' }],
  late: [
    {
      steps: [expire, seconds(2), deposit(), seconds(12)],
      webhooks: [...late, 'refunded'],
      group: 'refunded',
      refunds: 1,
    },
  ],
  // Below the minimum
  'also a deposit that reaches the minimum': [
    {
      steps: [deposit({ amount: 0.0003 }), deposit(), seconds(12)],
      webhooks: second,
      group: 'completed',
      refunds: 1,
    },
  ],
  "only smaller deposits; one is credited, covers its refund's fee, and has a refund address": [
    {
      steps: [deposit({ amount: 0.0003 }), seconds(4), expire, seconds(12)],
      webhooks: ['created', 'deposit_added', 'refunding', 'refunded'],
      group: 'refunded',
      refunds: 1,
    },
  ],
  'only smaller deposits; one could be refunded but still needs confirmations': [
    {
      steps: [deposit({ amount: 0.0003 }), seen, expire, seen, seconds(12)],
      webhooks: ['created', 'deposit_added', 'refunding', 'refunded'],
      group: 'refunded',
      refunds: 1,
    },
  ],
  'only deposits that cannot be refunded': [
    {
      steps: [deposit({ amount: 0.00001 }), seconds(4), expire, seconds(12)],
      webhooks: ['created', 'deposit_added', 'expired'],
      group: 'expired',
    },
  ],
  // Policies and questions
  'a late deposit with `market`, within 72 hours after the window': [
    {
      order: { policy: { on_late: 'market' } },
      steps: [expire, seconds(2), deposit(), seconds(12)],
      webhooks: ['created', 'expired', 'deposit_added', 'confirmed', 'exchanged', 'completed'],
      group: 'completed',
    },
  ],
  'the same, after 72 hours, below the minimum, outside the present limits, or with a coin that is not offered': [
    {
      name: 'a late deposit with `market`, below the minimum',
      order: { policy: { on_late: 'market' } },
      steps: [expire, seconds(2), deposit({ amount: 0.0003 }), seconds(12)],
      webhooks: [...late, 'refunded'],
      group: 'refunded',
      refunds: 1,
    },
  ],
  '`refund` of `on_underpaid`, `refund_all` of `on_overpaid`': [
    {
      name: '`refund` of `on_underpaid`',
      order: { policy: { on_underpaid: 'refund' } },
      steps: [deposit({ amount: 0.006 }), seconds(12)],
      webhooks: refunded,
      group: 'refunded',
      refunds: 1,
    },
    {
      name: '`refund_all` of `on_overpaid`',
      order: { rate_type: 'fixed', policy: { on_overpaid: 'refund_all' } },
      steps: [deposit({ amount: 0.015 }), seconds(12)],
      webhooks: refunded,
      group: 'refunded',
      refunds: 1,
    },
  ],
  'the payout would be below `min_amount_to` when the deposit is confirmed': [
    {
      order: { min_amount_to: 600 },
      steps: [deposit({ amount: 0.006 }), seconds(12)],
      webhooks: refunded,
      group: 'refunded',
      refunds: 1,
    },
  ],
  '`ask`': [
    {
      order: { rate_type: 'fixed', policy: { on_overpaid: 'ask' } },
      steps: [deposit({ amount: 0.015 }), seconds(4), asked('overpaid')],
      webhooks: question,
      group: 'action_required',
    },
  ],
  'the partner chooses the exchange that is shown': [
    {
      order: asks,
      steps: [deposit({ amount: 0.006 }), seconds(4), asked('underpaid'), choose('exchange'), seconds(12)],
      webhooks: [...question, 'action_resolved', ...completed.slice(2)],
      group: 'completed',
    },
  ],
  'the partner chooses the refund, and there is a refund address': [
    {
      order: asks,
      steps: [deposit({ amount: 0.006 }), seconds(4), choose('refund'), seconds(12)],
      webhooks: [...question, 'action_resolved', 'refunding', 'refunded'],
      group: 'refunded',
      refunds: 1,
    },
  ],
  'no answer for `ACTION_DEADLINE_SEC`; for a late deposit at most until 72 hours after the window': [
    {
      order: asks,
      steps: [deposit({ amount: 0.006 }), seconds(4), expire, seconds(12)],
      webhooks: [...question, 'action_resolved', 'refunding', 'refunded'],
      group: 'refunded',
      refunds: 1,
    },
    {
      name: 'no answer about a late deposit',
      order: { policy: { on_late: 'ask' } },
      steps: [expire, seconds(2), deposit(), seconds(4), asked('late'), expire, seconds(12)],
      webhooks: ['created', 'expired', 'deposit_added', 'action_required', 'action_resolved', 'refunding', 'refunded'],
      group: 'refunded',
      refunds: 1,
    },
  ],
  'a reorg takes the deposit': [
    {
      order: asks,
      steps: [deposit({ amount: 0.006 }), seconds(4), reorg, seconds(4)],
      webhooks: [...question, 'action_resolved', 'deposit_lost'],
      group: 'waiting',
    },
  ],
  'staff hold the order': [
    {
      order: asks,
      steps: [force('hold'), deposit({ amount: 0.006 }), seconds(4), force('none'), seconds(4), asked('underpaid')],
      webhooks: ['created', 'held', 'deposit_detected', 'released', 'action_required'],
      group: 'action_required',
    },
  ],
  'a second deposit arrives': [
    {
      order: asks,
      steps: [deposit({ amount: 0.006 }), seconds(4), deposit(), seconds(6), asked('underpaid')],
      webhooks: [
        'created',
        'deposit_detected',
        'action_required',
        'deposit_added',
        'extra_refunding',
        'extra_refunded',
      ],
      group: 'action_required',
      refunds: 1,
    },
  ],
  // Deposits
  "less than the pair's minimum arrives": [
    {
      steps: [deposit({ amount: 0.0003 }), seconds(4), expire, seconds(12)],
      webhooks: ['created', 'deposit_added', 'refunding', 'refunded'],
      group: 'refunded',
      refunds: 1,
    },
  ],
  'less than expected arrives, but not below the minimum': [
    { steps: [deposit({ amount: 0.006 }), seconds(12)], webhooks: completed, group: 'completed' },
  ],
  'a fixed order gets more than expected': [
    {
      order: { rate_type: 'fixed' },
      steps: [deposit({ amount: 0.015 }), seconds(12)],
      webhooks: excess,
      group: 'completed',
      refunds: 1,
    },
  ],
  'a float order gets more than the maximum': [
    {
      steps: [deposit({ amount: 50 }), seconds(12)],
      webhooks: excess,
      group: 'completed',
      refunds: 1,
    },
  ],
  'the excess does not cover its network fee': [
    {
      order: { rate_type: 'fixed' },
      steps: [deposit({ amount: 0.01001 }), seconds(12)],
      webhooks: completed,
      group: 'completed',
    },
  ],
  'a second deposit to the same address': [
    {
      steps: [deposit({ count: 2 }), seconds(12)],
      webhooks: second,
      group: 'completed',
      refunds: 1,
    },
  ],
  'another coin of the same chain, or of another EVM chain, to the right address': [
    {
      name: 'another coin of the same chain',
      order: ether,
      steps: [deposit({ coin: 'USDT', network: 'ERC20', amount: 500, blocks: 64 }), seconds(6)],
      webhooks: ['created', 'deposit_added', 'extra_refunding', 'extra_refunded'],
      group: 'waiting',
      refunds: 1,
    },
    {
      name: 'a coin of another EVM chain',
      order: ether,
      steps: [deposit({ coin: 'USDT', network: 'BEP20', amount: 500, blocks: 64 }), seconds(6)],
      webhooks: ['created', 'deposit_added', 'extra_refunding', 'extra_refunded'],
      group: 'waiting',
      refunds: 1,
    },
  ],
  'the events of such deposits': [
    {
      steps: [deposit({ count: 2 }), seconds(12)],
      webhooks: second,
      group: 'completed',
      refunds: 1,
    },
  ],
  'more than `MAX_REFUNDS_PER_ORDER` such deposits of one order': [
    {
      steps: [deposit({ count: 6 }), seconds(16)],
      webhooks: [
        'created',
        'deposit_detected',
        'deposit_added',
        'deposit_added',
        'deposit_added',
        'confirmed',
        'extra_refunding',
        'extra_refunding',
        'extra_refunding',
        'exchanged',
        'extra_refunded',
        'extra_refunded',
        'extra_refunded',
        'completed',
      ],
      group: 'completed',
      refunds: 3,
    },
  ],
  'a deposit to a shared address without a tag, or with a tag that no order has': [
    {
      name: 'a deposit to a shared address without a tag',
      order: xrp,
      steps: [deposit({ tag: 'omit' }), seconds(6)],
      webhooks: ['created'],
      group: 'waiting',
    },
    {
      name: 'a deposit to a shared address with a tag that no order has',
      order: xrp,
      steps: [deposit({ tag: 'wrong' }), seconds(6)],
      webhooks: ['created'],
      group: 'waiting',
    },
  ],
  'a deposit after the window': [
    {
      name: 'no deposit within the window',
      steps: [expire, seconds(2)],
      webhooks: ['created', 'expired'],
      group: 'expired',
    },
    {
      steps: [expire, seconds(2), deposit(), seconds(12)],
      webhooks: [...late, 'refunded'],
      group: 'refunded',
      refunds: 1,
    },
  ],
  'the partner cancels: within the window, before any deposit was seen': [
    { steps: [cancel, seconds(2)], webhooks: ['created', 'expired'], group: 'expired' },
    {
      name: 'the partner cancels, and a deposit follows',
      steps: [cancel, seconds(2), deposit(), seconds(12)],
      webhooks: [...late, 'refunded'],
      group: 'refunded',
      refunds: 1,
    },
  ],
  'a cancel after the window, of a held order, or after a deposit of any kind, also one that is gone': [
    {
      name: 'a cancel after a deposit',
      steps: [deposit(), seen, cancelRefused, seconds(12)],
      webhooks: completed,
      group: 'completed',
    },
    {
      name: 'a cancel of a held order',
      steps: [force('hold'), cancelRefused],
      webhooks: ['created', 'held'],
      group: 'on_hold',
    },
    {
      name: 'a cancel after the window',
      steps: [expire, seconds(2), cancelRefused],
      webhooks: ['created', 'expired'],
      group: 'expired',
    },
  ],
  'a transaction that waits in the mempool': [
    { steps: [deposit(), seen], webhooks: ['created', 'deposit_detected'], group: 'processing' },
    {
      name: 'a transaction that waits in the mempool is dropped',
      steps: [deposit(), seen, reorg, seconds(4)],
      webhooks: ['created', 'deposit_detected', 'deposit_lost'],
      group: 'waiting',
    },
  ],
  'no refund address': [
    {
      order: { refund_address: undefined },
      steps: [expire, seconds(2), deposit(), seconds(12)],
      webhooks: [...late, 'failed'],
      group: 'failed',
    },
    {
      name: 'no refund address, until the partner sets one',
      order: { refund_address: undefined, amount_from: 0.001 },
      steps: [expire, seconds(2), deposit(), seconds(12), setRefundAddress, seconds(12)],
      webhooks: [...late, 'failed', 'refund_address_set', 'refunding', 'refunded'],
      group: 'refunded',
      refunds: 1,
    },
  ],
  'a refund to an address that the partner set after the create, beyond `LATE_REFUND_LIMIT_USD` of the partner in 24 hours or without a price':
    [
      {
        order: { refund_address: undefined, amount_from: 0.1 },
        steps: [expire, seconds(2), deposit(), seconds(12), setRefundAddress, seconds(12)],
        webhooks: [...late, 'failed', 'refund_address_set'],
        group: 'failed',
      },
    ],
  'a second deposit, an excess or a small deposit without a refund address': [
    {
      order: { refund_address: undefined },
      steps: [deposit({ count: 2 }), seconds(12)],
      webhooks: ['created', 'deposit_detected', 'deposit_added', 'confirmed', 'exchanged', 'completed'],
      group: 'completed',
    },
  ],
  // Reorganisations
  'the deposit is reorganised away before it was credited': [
    {
      steps: [deposit(), seconds(1), reorg, seconds(4), deposit(), seconds(12)],
      webhooks: ['created', 'deposit_detected', 'deposit_lost', ...completed.slice(1)],
      group: 'completed',
    },
  ],
  'the deposit is reorganised away after it was credited': [
    {
      steps: [force('venue_rejects'), deposit(), seconds(6), reorg, seconds(4)],
      webhooks: ['created', 'deposit_detected', 'confirmed', 'held'],
      group: 'on_hold',
    },
  ],
  'the account of an order is in debit: it was paid out or refunded, and its deposit is gone': [
    { steps: [deposit(), seconds(12), reorg, seconds(4)], webhooks: completed, group: 'completed' },
  ],
  'such an order gets another deposit': [
    {
      steps: [deposit(), seconds(12), reorg, seconds(4), deposit(), seconds(12)],
      webhooks: ['created', 'deposit_detected', 'confirmed', 'exchanged', 'completed', 'deposit_added'],
      group: 'completed',
    },
  ],
  // The exchange
  'the venue rejects (slippage, a thin order book, no inventory), or no price is fresh': [
    {
      steps: [force('venue_rejects'), deposit(), seconds(6), force('venue_rejects'), seconds(12)],
      webhooks: [...exchanging, 'refunding', 'refunded'],
      group: 'refunded',
      refunds: 1,
    },
  ],
  'the venue gives no answer': [
    {
      steps: [force('venue_silent'), deposit(), seconds(6), force('venue_silent'), seconds(12)],
      webhooks: [...exchanging, 'refunding', 'refunded'],
      group: 'refunded',
      refunds: 1,
    },
    {
      name: 'the venue gives an answer again',
      steps: [force('venue_silent'), deposit(), seconds(6), force('none'), seconds(12)],
      webhooks: completed,
      group: 'completed',
    },
  ],
  // Payments that wait
  "the payout's fee is far above its chain's usual one (`MAX_FEE_FACTOR`)": [
    { steps: [force('fee_spike'), deposit(), seconds(12)], webhooks: sending, group: 'processing' },
    {
      name: 'the fee falls again',
      steps: [force('fee_spike'), deposit(), seconds(12), force('none'), seconds(6)],
      webhooks: completed,
      group: 'completed',
    },
  ],
  "the refund's transaction could cost more than `REFUND_FEE_FACTOR` times the fee charged to its user": [
    {
      steps: [force('fee_spike'), expire, seconds(2), deposit(), seconds(12)],
      webhooks: late,
      group: 'refunding',
    },
  ],
  'the recipient is a contract that uses more gas than `max_payment_gas` of its network': [
    { steps: [force('gas_above_maximum'), deposit(), seconds(12)], webhooks: sending, group: 'processing' },
  ],
  'the chain would revert the payment, or the token refuses it': [
    { steps: [force('would_fail'), deposit(), seconds(12)], webhooks: sending, group: 'processing' },
  ],
  "a trial run of a token's transfer moves another amount (a fee on transfer, shares)": [
    { steps: [force('token_refused'), deposit(), seconds(12)], webhooks: sending, group: 'processing' },
    {
      name: 'a token takes the transfer again',
      steps: [force('token_refused'), deposit(), seconds(12), force('none'), seconds(6)],
      webhooks: completed,
      group: 'completed',
    },
  ],
  'the signer is away or refuses': [
    { steps: [force('signer_unavailable'), deposit(), seconds(12)], webhooks: sending, group: 'processing' },
    {
      name: 'the signer is back',
      steps: [force('signer_unavailable'), deposit(), seconds(12), force('none'), seconds(6)],
      webhooks: completed,
      group: 'completed',
    },
  ],
  // Payments that fail
  'a recipient or a token refuses a payment for `PAYMENT_GIVE_UP_SEC` (`would_fail`, `gas_above_maximum`, `token_refused`)':
    ['would_fail', 'gas_above_maximum', 'token_refused'].map((outcome) => ({
      name: `a payment is refused for \`PAYMENT_GIVE_UP_SEC\` (\`${outcome}\`)`,
      steps: [force(outcome), deposit(), seconds(12), force(outcome), seconds(3)],
      webhooks: [...sending, 'failed'],
      group: 'failed',
    })),
  'the chain executes the payout and it moves no coins': [
    { steps: [force('payout_dead'), deposit(), seconds(12)], webhooks: [...sending, 'failed'], group: 'failed' },
    {
      name: 'the chain executes the refund and it moves no coins',
      steps: [force('refund_dead'), expire, seconds(2), deposit(), seconds(12)],
      webhooks: [...late, 'failed'],
      group: 'failed',
    },
  ],
  'a node forgets a payment': [
    {
      steps: [force('payout_unknown'), deposit(), seconds(12), force('none'), seconds(12)],
      webhooks: completed,
      group: 'completed',
    },
  ],
  'no node finds a payment for `PAYMENT_UNKNOWN_SEC`': [
    {
      steps: [force('payout_unknown'), deposit(), seconds(12), force('payout_unknown'), seconds(3)],
      webhooks: [...sending, 'failed'],
      group: 'failed',
    },
  ],
};

const atCreate = 'the create is refused: there is no order, and so no event';
const ofHouse =
  'the order looks as with `fee_spike`; the limit is one of the house over all orders, for a partner to wait';
const noPrice = 'prices are of all orders; the order looks as before, or as after a rejection of the venue';
const noExpiry = 'no transaction of a usual sandbox chain expires';

/** Rows that no partner of a sandbox can reach, each with its reason. */
const leftOut: Readonly<Record<string, string>> = {
  'a transaction expired, and the next one could confirm as well': noExpiry,
  "a transaction expired, and the payment's transactions exclude each other": noExpiry,
  'the newest block of a chain on which transactions expire is too old': noExpiry,
  'a transaction waits, and its chain does not show what waits': 'chains of the sandbox show what waits',
  'a transaction that counted as dead is in a block after all': 'a sandbox is never wrong about a death',
  'two transactions of a payment moved its amount': 'a sandbox is never wrong about a death',
  'staff mark a payment failed of which transactions were signed and died': 'only staff do this',
  'coins that come by an unusual kind of transaction, such as the rest of a deleted account':
    'chains of the sandbox have one kind of payment',
  'such a deposit below the minimum of its coin': 'it belongs to no order',
  'staff assign a deposit to an order': 'only staff do this',
  'one of two nodes alone says so (Tron, the XRP Ledger, Stellar, Solana, TON)': 'chains of the sandbox have one node',
  'two servers of Stellar know another recipient or sequence number, or two nodes of Solana another marker':
    'chains of the sandbox have one node',
  'what an expired transaction reserved is used, and the chain does not show by which transaction':
    'a sandbox is never wrong about a death',
  'the signer tells no key images of Monero, or some are still missing': 'chains of the sandbox have none',
  'other payments use all tickets of the XRP Ledger, or all channels of Stellar': 'chains of the sandbox have neither',
  'open orders of a partner': atCreate,
  'fixed orders of a partner in an hour and in a day': atCreate,
  'fixed orders of all partners in an hour': atCreate,
  'float orders of a partner': atCreate,
  'float orders of all partners': atCreate,
  'more than 100 dollars within 24 hours, by at least five orders': atCreate,
  'more than 1,000 dollars within 30 days': atCreate,
  uncertain: 'the time of every block of a sandbox chain is exact, so its tolerance is 0',
  'the same, while a price is missing': noPrice,
  'the price is missing then, and the payout is below `min_amount_to` once it comes': noPrice,
  'a token that the gateway does not know': 'it is not noticed; an unknown coin is refused with 422',
  "the order's chain cannot be read while the window passes": 'chains are shared: it would stop all partners',
  'a cancel and a deposit at the same moment': 'it ends as one of the two rows beside it',
  'the refund does not cover its fee': 'staff must first raise a fee above the minimum of a pair',
  'a reorg makes the deposit late after the partner chose the exchange':
    'a deposit that a reorg of a sandbox drops does not return',
  "a reorganisation deeper than the scanner's window": 'chains are shared: it would stop all partners',
  'the venue bought the amount owed and cannot sell the deposited coin within the bound':
    'the order completes; the position is of the house',
  'the venue bought only a part': 'the order looks as with `venue_rejects`; the rest is of the house',
  'the venue reports a fill below the agreed minimum': 'the order looks as with `venue_silent`, until staff act',
  "refunds, sweeps or the payments of one partner have used up their part of the network's `fees_per_day` (`FEE_SHARE_…`)":
    ofHouse,
  'payouts of an hour or a day reach a limit (`PAYOUT_LIMIT_…`)': ofHouse,
  'refunds together, commission together, the payments of one partner, or the refunds of one partner have used up their part of such a limit (`PAYOUT_SHARE_…`)':
    ofHouse,
  'a payment is above such a limit by itself': ofHouse,
  'a payment is above such a part by itself, as the commission of a month may be': ofHouse,
  'more than 500 deposits of one order': 'an order gets at most 100 deposits in a sandbox',
  'payouts of its asset are held (the ledger differs, an account is in debit, the venue lost too much, staff stopped them)':
    ofHouse,
  "a token's transfer is in a block without the log of exactly this payment":
    'sandbox chains have no logs; the order looks as with `payout_dead`',
  'another final transaction spent an input or the nonce of the payment':
    'only the key of the hot wallet could do it; the order completes by another transaction',
};

/** Headers of the tables whose rows are what can happen to an order, and of all other tables. */
const exceptions = ['limit', "loss of the partner's fixed orders", 'a deposit is', 'what arrived', 'what happens'];
const others = [
  'outputs of one transaction',
  'status',
  'what is known',
  'chain',
  'policy',
  'state',
  'cause',
  'account',
  'kind',
  'action',
];

/** The first cells of all rows of the tables with exceptions. */
function documented(): string[] {
  const text = readFileSync('docs/lifecycle.md', 'utf8');
  const tables = [...text.matchAll(/^\|.*\|\n\|[-|]+\|\n(?:\|.*\|\n)+/gm)].map(([table]) =>
    table.trimEnd().split('\n'),
  );
  const cells = tables.map((rows) => rows.map((row) => row.split('|')[1]?.trim() ?? ''));
  expect(
    cells.map(([header]) => header).filter((header) => ![...exceptions, ...others].includes(header ?? '')),
  ).toEqual([]);
  return cells.flatMap(([header = '', , ...rows]) => (exceptions.includes(header) ? rows : []));
}

it('each exception of docs/lifecycle.md is reached here, or left out with a reason', () => {
  expect([...Object.keys(reached), ...Object.keys(leftOut)].sort()).toEqual(documented().sort());
});

const cases = Object.entries(reached).flatMap(([row, all]) => all.map((each) => [each.name ?? row, each] as const));

describe('by the API alone', () => {
  it.each(cases)('%s', async (_, { order: changes, steps, webhooks, group, refunds = 0 }) => {
    const order = await partner.gateway.order(changes);
    for (const step of steps) await step(order);
    expect(await partner.webhooksOf(order)).toEqual(webhooks);
    const { status_group, refunds: shown } = await partner.details(order);
    expect(status_group).toBe(group);
    const sent = shown.filter(({ state }: { state: string }) => state === 'confirmed');
    expect(sent).toHaveLength(refunds);
  });
});
