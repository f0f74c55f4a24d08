import { cabinetPeople } from '../../../src/app/services.ts';
import { addressExample } from '../../../src/chains/addresses/address.ts';
import { CabinetClient, cabinetOrigin, cabinetSettings } from '../../support/cabinet/cabinet-client.ts';
import { type PagedGateway, startPagedGateway } from '../../support/gateway/paged-orders.ts';
import { endWindow, failedOrder, type MadeOrder } from '../../support/gateway/settled-gateway.ts';
import { newMember } from '../../support/staff/staff-client.ts';

// Why a payment was returned, on the page of its user and in the cabinet of its partner.

let gateway: PagedGateway;
let viewer: CabinetClient;
let staff: { readonly proposer: string; readonly approver: string };

beforeAll(async () => {
  gateway = await startPagedGateway({
    settings: { ...cabinetSettings, RATE_LIMIT_SIGN_IN_PER_MIN: '1000', ACTION_DEADLINE_SEC: '3600' },
  });
  const { members } = cabinetPeople(gateway.app.orm, gateway.clock, cabinetOrigin);
  const { link } = await members.invite(gateway.partnerId, { name: 'A viewer', role: 'viewer' }, null);
  viewer = new CabinetClient(gateway.app.restUrl ?? '');
  expect((await viewer.accept(link)).status).toBe(200);
  const [proposer, approver] = [await newMember(gateway, 'operator'), await newMember(gateway, 'operator')];
  staff = { proposer: proposer.id, approver: approver.id };
});
afterAll(() => gateway?.stop());

const ltc = { coin_from: 'LTC', network_from: 'LTC', amount_from: 2, coin_to: 'USDT', network_to: 'TRC20' };
const partner = 'Acme & Söhne Wallet';

async function paid(changes: Record<string, unknown>, amount?: string): Promise<MadeOrder> {
  const order = await gateway.order({ ...ltc, ...changes });
  await gateway.deposit(order, amount === undefined ? {} : { amount });
  await gateway.mine('LTC', 6);
  await gateway.tick();
  return order;
}

async function forced(outcome: string): Promise<MadeOrder> {
  const order = await gateway.order(ltc);
  const { status, text } = await gateway.call('POST', `/partner/sandbox/orders/${order.id}/force`, {
    key: gateway.key,
    body: { outcome },
  });
  if (status !== 200) throw new Error(text);
  await gateway.deposit(order);
  await gateway.mine('LTC', 6);
  await gateway.settle(order);
  return order;
}

async function refundByStaff(order: MadeOrder, address: string): Promise<MadeOrder> {
  const { staffActions } = gateway.settlement;
  const recipient = { address, tag: null };
  const asked = { action: 'refund', staffId: staff.proposer, orderId: order.id, recipient, reason: 'agreed' } as const;
  await staffActions.approve((await staffActions.propose(asked)).id, staff.approver);
  return order;
}

const cases: readonly (readonly [string, string, () => Promise<MadeOrder>])[] = [
  [
    'too little for any exchange',
    'The payment is less than the smallest amount that can be exchanged.',
    async () => {
      const order = await paid({}, '0.01');
      await endWindow(gateway, order);
      return order;
    },
  ],
  [
    'too little for the policy of the order',
    `The payment is less than the 2 LTC of the order. ${partner} has such payments returned.`,
    () => paid({ policy: { on_underpaid: 'refund' } }, '1'),
  ],
  [
    'too little, as the partner answered',
    `The payment is less than the 2 LTC of the order. ${partner} has chosen to return it.`,
    async () => {
      const order = await paid({ policy: { on_underpaid: 'ask' } }, '1');
      const { json } = await gateway.call('GET', `/partner/orders/${order.id}/details`, { key: gateway.key });
      const answer = { action_id: json.action_required.id, action: 'refund' };
      await gateway.call('POST', `/partner/orders/${order.id}/actions`, { key: gateway.key, body: answer });
      return order;
    },
  ],
  [
    'too little, without an answer',
    'The payment is less than the 2 LTC of the order. No choice was made in time, so it is returned.',
    async () => {
      const order = await paid({ policy: { on_underpaid: 'ask' } }, '1');
      gateway.clock.advance(2 * 3_600_000);
      return order;
    },
  ],
  [
    'too much for the policy of the order',
    `The payment is more than the 2 LTC of the order. ${partner} has such payments returned.`,
    () => paid({ rate_type: 'fixed', policy: { on_overpaid: 'refund_all' } }, '3'),
  ],
  [
    'an exchange below the smallest payout',
    'At the price of the moment, the exchange would have given less than the 130 USDT that the order promises at least.',
    () => paid({ min_amount_to: 130 }, '1'),
  ],
  [
    'after the window',
    'The payment came after the time to pay.',
    async () => {
      const order = await gateway.order(ltc);
      await endWindow(gateway, order);
      await gateway.tick();
      gateway.clock.advance(1_000);
      await gateway.deposit(order);
      await gateway.mine('LTC', 6);
      return order;
    },
  ],
  [
    'after a cancel',
    `The payment came after ${partner} had cancelled the order.`,
    async () => {
      const order = await gateway.order(ltc);
      await gateway.call('POST', `/partner/orders/${order.id}/cancel`, { key: gateway.key });
      gateway.clock.advance(1_000);
      await gateway.deposit(order);
      await gateway.mine('LTC', 6);
      return order;
    },
  ],
  [
    'without an address at first, which the partner set later',
    'The payment came after the time to pay.',
    async () => {
      const order = await failedOrder(gateway);
      const body = { refund_address: addressExample('BTC') };
      await gateway.call('PUT', `/partner/orders/${order.id}/refund-address`, { key: gateway.key, body });
      return order;
    },
  ],
  [
    'after a hold, which ended too late',
    'The payment came after the time to pay.',
    async () => {
      const order = await gateway.order(ltc);
      const { staffActions } = gateway.settlement;
      const asked = { staffId: staff.proposer, orderId: order.id, reason: 'looks odd' } as const;
      await staffActions.propose({ action: 'hold', ...asked });
      await endWindow(gateway, order);
      await staffActions.approve((await staffActions.propose({ action: 'release', ...asked })).id, staff.approver);
      await gateway.tick();
      gateway.clock.advance(1_000);
      await gateway.deposit(order);
      await gateway.mine('LTC', 6);
      return order;
    },
  ],
  [
    'without liquidity in time',
    'The payment could not be exchanged at a fair price in time.',
    async () => {
      const order = await forced('venue_rejects');
      gateway.clock.advance(3_600_000);
      return order;
    },
  ],
];

/** What the cabinet says of a refund. */
interface Told {
  readonly refunds: readonly { readonly amount: string; readonly fee: string }[];
  readonly people: { readonly refund_reason: string | null; readonly refunded_to: readonly { address: string }[] };
}

async function said(order: MadeOrder): Promise<{ page: string; cabinet: Told }> {
  const reply = await fetch(await gateway.urlOf(order));
  // Its session ends as the clock goes on.
  await viewer.signIn();
  const path = `/partner/orders/${order.id}/details`;
  const cabinet = await viewer.done('GET', path, { headers: { Amounts: 'string' } });
  return { page: await reply.text(), cabinet };
}

/** The sentences as the page writes them. */
const paragraphs = (text: string): string[] =>
  text.split(/(?<=\.) /).map((sentence) => `<p>${sentence.replace('&', '&amp;')}</p>`);

describe('a returned payment says why: it came', () => {
  it.each(cases)('%s', async (_name, reason, reach) => {
    const order = await reach();
    await gateway.settle(order);
    expect((await gateway.show(order)).status).toBe('refunded');
    const { page, cabinet } = await said(order);
    for (const paragraph of paragraphs(reason)) expect(page).toContain(paragraph);
    const own = reason.replaceAll(partner, 'Test partner');
    expect(cabinet.people.refund_reason).toBe(own);
    const [refund] = cabinet.refunds;
    const [to] = cabinet.people.refunded_to;
    expect(to?.address).toBe(addressExample(order.networkFrom));
    expect(page).toContain(`${refund?.amount} ${order.coinFrom} went to the address below.`);
    expect(page).toContain(`The network fee of sending it, ${refund?.fee} ${order.coinFrom}, was taken off.`);
    expect(page).toContain(`<code>${to?.address}</code>`);
  });

  it('and goes where staff sent it, which is not the address of the order', async () => {
    const other = 'LVg2kJoFNg45Nbpy53h7Fe1wKyeXVRhMH9';
    const order = await forced('payout_dead');
    expect((await gateway.show(order)).status).toBe('failed');
    expect((await said(order)).cabinet.people.refund_reason).toBeNull();
    await refundByStaff(order, other);
    await gateway.settle(order);
    expect((await gateway.show(order)).status).toBe('refunded');
    const { page, cabinet } = await said(order);
    const reason = 'The USDT could not be sent. Our team has decided to return the payment.';
    expect(cabinet.people.refund_reason).toBe(reason);
    for (const paragraph of paragraphs(reason)) expect(page).toContain(paragraph);
    expect(cabinet.people.refunded_to).toMatchObject([{ address: other }]);
    expect(page).toContain(`<code>${other}</code>`);
  });
});
