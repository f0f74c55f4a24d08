import { endWindow, failedOrder, type MadeOrder, type SettledGateway, startSettledGateway } from './settled-gateway.ts';

/** A gateway whose partner has order pages. */
export interface PagedGateway extends SettledGateway {
  readonly partnerId: string;
  /** The path of an order's page. */
  pathOf(order: { readonly id: string }): Promise<string>;
  /** The address of an order's page on this gateway. */
  urlOf(order: { readonly id: string }): Promise<string>;
}

export async function startPagedGateway(
  options: Parameters<typeof startSettledGateway>[0] = {},
): Promise<PagedGateway> {
  const gateway = await startSettledGateway(options);
  const [row] = await gateway.query<{ partner_id: string }>('select partner_id from api_key where key_id = $1', [
    gateway.key.split('.')[0],
  ]);
  const partnerId = row?.partner_id ?? '';
  await gateway.partners.change(partnerId, { orderPage: true, displayName: 'Acme & Söhne Wallet' });
  const pathOf = async ({ id }: { readonly id: string }): Promise<string> => {
    const { json } = await gateway.call('GET', `/partner/orders/${id}/details`, { key: gateway.key });
    return new URL(json.public_url).pathname;
  };
  return {
    ...gateway,
    partnerId,
    pathOf,
    urlOf: async (order) => `${gateway.app.restUrl}${await pathOf(order)}`,
  };
}

/** What a page must say in a state of its order, and how the order gets there. */
export interface Scene {
  readonly status: string;
  readonly headline: string;
  readonly says: readonly string[];
  reach(gateway: PagedGateway): Promise<MadeOrder>;
}

const ltc = { coin_from: 'LTC', network_from: 'LTC', amount_from: 2, coin_to: 'USDT', network_to: 'TRC20' };

async function force(gateway: PagedGateway, { id }: MadeOrder, outcome: string): Promise<void> {
  const { status, text } = await gateway.call('POST', `/partner/sandbox/orders/${id}/force`, {
    key: gateway.key,
    body: { outcome },
  });
  if (status !== 200) throw new Error(text);
}

async function paid(gateway: PagedGateway, order: MadeOrder, changes: { amount?: string } = {}): Promise<void> {
  await gateway.deposit(order, changes);
  await gateway.mine(order.networkFrom, 6);
  await gateway.tick();
}

async function cancelled(gateway: PagedGateway): Promise<MadeOrder> {
  const order = await gateway.order(ltc);
  await gateway.call('POST', `/partner/orders/${order.id}/cancel`, { key: gateway.key });
  return order;
}

async function late(gateway: PagedGateway, changes: Record<string, unknown> = {}): Promise<MadeOrder> {
  const order = await gateway.order({ ...ltc, ...changes });
  await endWindow(gateway, order);
  await gateway.tick();
  gateway.clock.advance(1000);
  await gateway.deposit(order);
  await gateway.mine('LTC');
  await gateway.tick();
  return order;
}

/** Every state that an order's user can meet. */
export const scenes: Readonly<Record<string, Scene>> = {
  waiting: {
    status: 'waiting_deposit',
    headline: 'Send 0.01 BTC',
    says: ['Bitcoin', 'Pay before'],
    reach: (gateway) => gateway.order(),
  },
  'waiting-memo': {
    status: 'waiting_deposit',
    headline: 'Send 500 XRP',
    says: ['Enter this destination tag', 'Without the destination tag'],
    reach: (gateway) => gateway.order({ coin_from: 'XRP', network_from: 'XRP', amount_from: 500 }),
  },
  'waiting-little': {
    status: 'waiting_deposit',
    headline: 'Send 2 LTC',
    says: ['We got 0.01 LTC. That is too little'],
    reach: async (gateway) => {
      const order = await gateway.order(ltc);
      await paid(gateway, order, { amount: '0.01' });
      return order;
    },
  },
  over: {
    status: 'waiting_deposit',
    headline: 'The time to pay is over',
    says: ['Do not send any LTC'],
    reach: async (gateway) => {
      const order = await gateway.order(ltc);
      await endWindow(gateway, order);
      return order;
    },
  },
  confirming: {
    status: 'confirming',
    headline: 'We see your payment',
    says: ['It has 1 of 6 confirmations', 'being confirmed'],
    reach: async (gateway) => {
      const order = await gateway.order(ltc);
      await gateway.deposit(order);
      await gateway.mine('LTC');
      await gateway.tick();
      return order;
    },
  },
  asked: {
    status: 'confirming',
    headline: 'Choose what happens to your payment',
    says: ['Your payment is less than the 2 LTC', 'Choose in Acme & Söhne Wallet before'],
    reach: async (gateway) => {
      const order = await gateway.order({ ...ltc, policy: { on_underpaid: 'ask' } });
      await paid(gateway, order, { amount: '1' });
      return order;
    },
  },
  exchanging: {
    status: 'exchanging',
    headline: 'Your LTC is being exchanged',
    says: ['Next, your USDT is sent'],
    reach: async (gateway) => {
      const order = await gateway.order(ltc);
      await force(gateway, order, 'venue_rejects');
      await paid(gateway, order);
      return order;
    },
  },
  held: {
    status: 'waiting_deposit',
    headline: 'Your order is on hold',
    says: ['Do not send anything while this page says so', 'Our team takes a closer look'],
    reach: async (gateway) => {
      const order = await gateway.order(ltc);
      await force(gateway, order, 'hold');
      return order;
    },
  },
  sending: {
    status: 'sending',
    headline: 'Your USDT is on its way',
    says: ['to your address'],
    reach: async (gateway) => {
      const order = await gateway.order(ltc);
      await paid(gateway, order);
      return order;
    },
  },
  completed: {
    status: 'completed',
    headline: 'Done',
    says: ['We have sent', 'Sent to you'],
    reach: async (gateway) => {
      const order = await gateway.order(ltc);
      await gateway.deposit(order);
      await gateway.settle(order);
      return order;
    },
  },
  'completed-extra': {
    status: 'completed',
    headline: 'Done',
    says: ['We have also returned', 'that was too much'],
    reach: async (gateway) => {
      const order = await gateway.order({ ...ltc, rate_type: 'fixed' });
      await gateway.deposit(order, { amount: '3' });
      await gateway.settle(order);
      return order;
    },
  },
  expired: {
    status: 'expired',
    headline: 'Expired: do not send',
    says: ['No payment arrived in time', 'Do not send anything'],
    reach: async (gateway) => {
      const order = await gateway.order(ltc);
      await endWindow(gateway, order);
      gateway.clock.advance(1000);
      await gateway.tick();
      return order;
    },
  },
  cancelled: {
    status: 'expired',
    headline: 'Cancelled: do not send',
    says: ['Acme & Söhne Wallet has cancelled this order'],
    reach: cancelled,
  },
  late: { status: 'expired', headline: 'Your payment came late', says: ['Do not send any more'], reach: late },
  refunding: {
    status: 'refunding',
    headline: 'Your payment is being returned',
    says: ['The payment came after the time to pay.', 'Do not send any more LTC'],
    reach: async (gateway) => {
      const order = await late(gateway);
      await gateway.mine('LTC', 6);
      await gateway.tick();
      return order;
    },
  },
  refunded: {
    status: 'refunded',
    headline: 'Your payment was returned',
    says: [
      'The payment came after the time to pay.',
      'went to the address below',
      'The network fee of sending it, ',
      'Returned to the address',
    ],
    reach: async (gateway) => {
      const order = await late(gateway);
      await gateway.mine('LTC', 6);
      await gateway.settle(order);
      return order;
    },
  },
  failed: {
    status: 'failed',
    headline: 'This order needs help',
    says: ['the order has no address to return it to', 'Ask Acme & Söhne Wallet and name the order'],
    reach: failedOrder,
  },
};
