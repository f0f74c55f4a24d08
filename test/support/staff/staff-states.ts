import { addressExample } from '../../../src/chains/addresses/address.ts';
import { eventId } from '../../../src/orders/read/event-facts.ts';
import { CabinetClient } from '../cabinet/cabinet-client.ts';
import { closedMonth } from '../gateway/commission-payments.ts';
import { feedCatchesUp, orderBody } from '../gateway/orders.ts';
import type { MadeOrder, SettledGateway } from '../gateway/settled-gateway.ts';
import { type Member, newMember, proposeChange } from './staff-client.ts';

/** States of orders, partners and staff in which a member can act. */
export interface StaffStates {
  /** The id that a mutation of the other admin answers with. */
  made(call: string): Promise<string>;
  /** An order whose deposit was exchanged. */
  paidIn(changes?: Record<string, unknown>): Promise<MadeOrder>;
  /** An order whose payout the chain executed in vain. */
  unpaidOrder(): Promise<MadeOrder>;
  /** An order whose payout was decided and is held before it was signed. */
  heldBackOrder(): Promise<MadeOrder>;
  /** Gives an order 8 LTC that its venue has left to sell. */
  leaveUnsold(order: MadeOrder): Promise<MadeOrder>;
  heldOrder(): Promise<MadeOrder>;
  /** An order that waits, and a credited deposit to its address without its tag. */
  untaggedDeposit(): Promise<{ readonly orderId: string; readonly depositId: string }>;
  /** Ids of proposals of the other admin. */
  proposedRelease(order?: MadeOrder): Promise<string>;
  proposedRole(memberId?: string): Promise<string>;
  /** The id of an endpoint of a new partner, or of the given one. */
  webhookId(partnerId?: string): Promise<string>;
  /** An event that was delivered to an endpoint of a new partner. */
  deliveredEvent(): Promise<{ readonly partnerId: string; readonly webhookId: string; readonly eventId: string }>;
  partnerId(): Promise<string>;
  /** Arguments that name a month of a new partner, which is to be paid. */
  payableMonth(): Promise<string>;
  /** A person of a new partner, who has come by an invitation. */
  partnerMember(): Promise<{ readonly partnerId: string; readonly memberId: string }>;
  /** An open invitation to the cabinet of a new partner. */
  partnerInvitation(): Promise<{ readonly partnerId: string; readonly invitationId: string }>;
  /** An order that waits, of a partner whose orders have pages, with a link. */
  orderWithPage(): Promise<MadeOrder>;
  /** An exchange whose account was compared, with a deposit 'D1' that is none of ours. */
  venueAccount(): Promise<string>;
}

const toLtc = { coin_to: 'LTC', network_to: 'LTC', recipient_address: addressExample('LTC') };

/** @param other an admin other than the one who acts. */
export function staffStates(gateway: SettledGateway, other: Member): StaffStates {
  const made = async (call: string): Promise<string> => (await other.data(`mutation { made: ${call} { id } }`)).made.id;
  const paidIn = async (changes: Record<string, unknown> = {}): Promise<MadeOrder> => {
    const order = await gateway.order(changes);
    await gateway.deposit(order);
    await gateway.tick();
    await gateway.mine(order.networkFrom, 3);
    await gateway.tick();
    return order;
  };
  const heldOrder = async (): Promise<MadeOrder> => {
    const order = await gateway.order();
    await made(`orderHold(orderId: "${order.id}", reason: "odd")`);
    return order;
  };
  const partnerId = async (): Promise<string> => (await gateway.partner()).id;
  const webhookId = async (ofPartner?: string): Promise<string> => {
    const partner = ofPartner ?? (await partnerId());
    const given = `(partnerId: "${partner}", endpoint: { url: "https://hooks.example.com/" }, reason: "x")`;
    return (await other.data(`mutation { made: webhookCreate${given} { endpoint { id } } }`)).made.endpoint.id;
  };
  return {
    made,
    paidIn,
    heldOrder,
    partnerId,
    untaggedDeposit: async () => {
      const order = await gateway.order({ coin_from: 'XRP', network_from: 'XRP', amount_from: 500 });
      const txid = await gateway.deposit(order, { tag: null });
      await gateway.mine('XRP', 3);
      await gateway.tick();
      const [deposit] = await gateway.query<{ id: string }>('select id from deposit where txid = $1', [txid]);
      return { orderId: order.id, depositId: deposit?.id ?? '' };
    },
    unpaidOrder: async () => {
      await gateway.settlement.sandbox.refuse('tron', addressExample('TRC20'));
      const order = await paidIn();
      await gateway.settle(order);
      return order;
    },
    heldBackOrder: async () => {
      await made('payoutStop(coin: "LTC", network: "LTC", reason: "x")');
      return paidIn(toLtc);
    },
    leaveUnsold: async (order) => {
      await gateway.query(
        `insert into venue_trade (client_id, venue, sell_coin, sell_amount, buy_coin, buy_amount, min_buy_amount, bought,
                                  outcome, cash, price_sell, price_buy, price_cash, valid_until, created_at, decided_at)
         values ($1, 'test', 'LTC', 8, 'BTC', 0.01, 0.01, 0.01, 'filled', 'USDT', 80, 64000, 1, now(), now(), now())`,
        [order.id],
      );
      return order;
    },
    proposedRelease: async (order) =>
      made(`orderRelease(orderId: "${(order ?? (await heldOrder())).id}", reason: "all well")`),
    proposedRole: async (memberId) => {
      const id = memberId ?? (await newMember(gateway, 'viewer')).id;
      const { data } = await proposeChange(other, `staffRole(id: "${id}", role: SUPPORT, reason: "moved")`);
      return data.outcome.change.id;
    },
    deliveredEvent: async () => {
      const { id, key } = await gateway.partner();
      const { status, text, json } = await gateway.call('POST', '/partner/orders', { key, body: orderBody() });
      if (status !== 201) throw new Error(text);
      const webhook = await webhookId(id);
      await feedCatchesUp(gateway.query);
      await gateway.query(
        `insert into webhook_delivery (endpoint_id, order_id, seq, type, state, attempts, created_at, ended_at, log)
         values ($1, $2, 1, 'order.created', 'delivered', 1, $3, $3, $4)`,
        [
          webhook,
          json.id,
          gateway.clock.now().toISOString(),
          JSON.stringify([{ attempt: 1, at: gateway.clock.now().toISOString(), status: 200, ms: 12, error: null }]),
        ],
      );
      return { partnerId: id, webhookId: webhook, eventId: eventId({ orderId: json.id, seq: 1 }) };
    },
    webhookId,
    payableMonth: async () => {
      const { partnerId: id, month } = await closedMonth(gateway, { partnerId: await partnerId(), balance: '0.02' });
      return `(partnerId: "${id}", month: "${month.slice(0, 7)}", reason: "x")`;
    },
    venueAccount: async () => {
      const rows = await gateway.query<{ venue: string }>(
        `insert into venue_account (venue, is_watched, watched_from)
         select 'exchange_' || count(*), false, $1 from venue_account returning venue`,
        [gateway.clock.now().toISOString()],
      );
      const venue = rows[0]?.venue ?? '';
      const given = [venue, gateway.clock.now().toISOString()];
      await gateway.query(
        `insert into venue_balance (venue, coin, total, free, read_at, compared_total, booked, in_flight, compared_at)
         values ($1, 'BTC', 2, 2, $2, 2, 0, 0, $2)`,
        given,
      );
      await gateway.query(
        `insert into venue_movement (venue, kind, reference, coin, is_internal, amount, fee, state, told, at, seen_at,
                                     changed_at, read_at, part)
         values ($1, 'deposit', 'D1', 'BTC', false, 1, 0, 'done', 'Success', $2, $2, $2, $2, 'foreign')`,
        given,
      );
      return venue;
    },
    partnerMember: async () => {
      const id = await partnerId();
      const given = `(partnerId: "${id}", name: "Ada", role: OWNER, reason: "x")`;
      const { memberInvite } = await other.data(`mutation { memberInvite${given} { link } }`);
      const { json } = await new CabinetClient(gateway.app.restUrl ?? '').accept(memberInvite.link);
      return { partnerId: id, memberId: json.member.id };
    },
    partnerInvitation: async () => {
      const id = await partnerId();
      const given = `(partnerId: "${id}", name: "Ada", role: OWNER, reason: "x")`;
      await other.data(`mutation { memberInvite${given} { link } }`);
      const { partner } = await other.data(`{ partner(id: "${id}") { invitations { id } } }`);
      return { partnerId: id, invitationId: partner.invitations[0].id };
    },
    orderWithPage: async () => {
      const order = await gateway.order();
      const { partner } = (await other.data(`{ order(id: "${order.id}") { partner { id } } }`)).order;
      await gateway.partners.change(partner.id, { orderPage: true, displayName: 'Shop' });
      await made(`orderPageRenew(orderId: "${order.id}", reason: "x")`);
      return order;
    },
  };
}
