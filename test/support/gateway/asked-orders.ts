import { Big } from '../../../src/base/money.ts';
import { addressExample } from '../../../src/chains/addresses/address.ts';
import type { PriceSource } from '../../../src/market/rates/price-source.ts';
import { sandboxPrices } from '../../../src/market/rates/sources/sandbox-prices.ts';
import type { OrderPolicy } from '../../../src/orders/order-terms.ts';
import { Faults } from '../faults/faults.ts';
import type { Reply } from '../http/contract-client.ts';
import { TestClock } from './clock.ts';
import type { TestGatewayOptions } from './gateway.ts';
import type { Rows } from './orders.ts';
import { endWindow, type MadeOrder, type SettledGateway, startSettledGateway } from './settled-gateway.ts';

/** An order of bitcoin for Tether with a policy. */
export interface PolicyOrder {
  readonly policy?: OrderPolicy | undefined;
  readonly rateType?: 'float' | 'fixed';
  readonly minAmountTo?: number | undefined;
  readonly hasRefundAddress?: boolean;
  readonly changes?: Record<string, unknown>;
}

/** A gateway whose market of bitcoin a test moves, with orders that have policies. */
export class PolicyGateway {
  readonly gateway: SettledGateway;
  readonly faults: Faults;
  readonly #market: { level: string | null };

  private constructor(gateway: SettledGateway, faults: Faults, market: { level: string | null }) {
    this.gateway = gateway;
    this.faults = faults;
    this.#market = market;
  }

  static async start(options: TestGatewayOptions & { key?: string; clock?: TestClock } = {}): Promise<PolicyGateway> {
    const market: { level: string | null } = { level: '1' };
    const faults = new Faults();
    const clock = options.clock ?? new TestClock();
    const priceSource: PriceSource = {
      name: 'test',
      fetch: async (coins) =>
        new Map(
          coins.flatMap((coin) => {
            const price = sandboxPrices[coin];
            if (price === undefined || market.level === null) return [];
            const level = coin === 'BTC' ? market.level : '1';
            return [[coin, { price: new Big(price).times(level).toFixed(), at: clock.now() }]];
          }),
        ),
      paused: () => new Set(market.level === null ? ['BTC'] : []),
    };
    const gateway = await startSettledGateway({
      ...options,
      clock,
      settings: { FIXED_RATE_WINDOW_SEC: '15', ...options.settings },
      outside: { ...faults.outside(), ...options.outside, priceSource },
    });
    const started = new PolicyGateway(gateway, faults, market);
    await started.move('1');
    return started;
  }

  /** Moves the market of bitcoin to this factor of the table. Null: it has no price. */
  async move(level: string | null): Promise<void> {
    this.#market.level = level;
    await this.refresh();
  }

  /** Reads the prices and decides the windows of this moment. */
  async refresh(): Promise<void> {
    await this.gateway.settlement.settler.tools.prices.refresh(this.gateway.app.catalogue.coins());
  }

  async advance(seconds: number): Promise<void> {
    this.gateway.clock.advance(seconds * 1000);
    await this.refresh();
  }

  async order({ policy, rateType, minAmountTo, hasRefundAddress = true, changes }: PolicyOrder): Promise<MadeOrder> {
    await this.refresh();
    return this.gateway.order({
      rate_type: rateType ?? 'float',
      refund_address: hasRefundAddress ? addressExample('BTC') : undefined,
      ...(policy === undefined ? {} : { policy }),
      ...(minAmountTo === undefined ? {} : { min_amount_to: minAmountTo }),
      ...changes,
    });
  }

  /** Sends a deposit, in time or late, and confirms it. The order takes the steps that follow. */
  async pay(order: MadeOrder, amount: string, { isLate = false } = {}): Promise<void> {
    const { gateway } = this;
    if (isLate) {
      await endWindow(gateway, order);
      await gateway.tick();
      gateway.clock.advance(1000);
    }
    await gateway.deposit(order, { amount });
    await this.confirm(order);
  }

  async confirm(order: MadeOrder): Promise<void> {
    await this.gateway.tick();
    await this.gateway.mine(order.networkFrom, 2);
    await this.gateway.tick();
  }

  async details({ id }: MadeOrder): Promise<Reply['json']> {
    await this.refresh();
    const { gateway } = this;
    return (await gateway.call('GET', `/partner/orders/${id}/details`, { key: gateway.key })).json;
  }

  /** The payout that is shown, once a window has the present market. */
  async shown(order: MadeOrder): Promise<number> {
    for (let tries = 0; tries < 10; tries++) {
      const { action_required: asked } = await this.details(order);
      const [exchange] = asked.actions.filter(({ action }: { action: string }) => action === 'exchange');
      if (exchange) return exchange.amount_to;
      await this.advance(5);
    }
    throw new Error('no exchange is offered');
  }

  act({ id }: MadeOrder, body: Record<string, unknown>, headers: Record<string, string> = {}): Promise<Reply> {
    const { gateway } = this;
    return gateway.call('POST', `/partner/orders/${id}/actions`, { key: gateway.key, body, headers });
  }

  /** Answers the open question, an exchange at the amount that is shown. */
  async answer(order: MadeOrder, action: 'exchange' | 'refund'): Promise<Reply> {
    const { action_required: asked } = await this.details(order);
    const shown = asked.actions.find((each: { action: string }) => each.action === action);
    const amount = action === 'exchange' ? { amount_to: shown.amount_to } : {};
    return this.act(order, { action_id: asked.id, action, ...amount });
  }

  /** Payments of an order as 'payout 500' or 'refund 0.0099', in the order of their decisions. */
  async payments({ id }: MadeOrder): Promise<string[]> {
    const rows = await this.gateway.query<{ paid: string }>(
      `select kind || ' ' || trim_scale(amount)::text as paid from payment where order_id = $1 and state <> 'dead'
        order by number`,
      [id],
    );
    return rows.map(({ paid }) => paid);
  }
}

/**
 * Asks the partner about a new order that waits for its deposit, as if half of the expected amount
 * had arrived. The question is `act_3`. For tests of the interface, whose gateways settle nothing.
 *
 * @param now of the gateway's clock; it has a day to answer.
 */
export async function askAbout(rows: Rows, orderId: string, now = new Date()): Promise<void> {
  await rows(
    `with paid as (
       insert into deposit (id, chain, key, order_id, purpose, txid, address, coin, network, amount, state, height,
                            block_hash, confirmations_required, seen_at, mined_at, mined_after, arrived_after,
                            arrived_by, credited_at, credits)
       select gen_random_uuid(), 'bitcoin', gen_random_uuid()::text, id, 'order', 'txid', 'address', coin_from,
              network_from, amount_from_expected / 2, 'credited', 1, 'hash', 1, now(), now(), now(), now(), now(), now(), 1
         from exchange_order where id = $1
       returning id, order_id, amount
     ), moved as (
       update exchange_order o
          set status = 'confirming', event_seq = 3, deposit_id = paid.id, next_action_at = null
         from paid where o.id = paid.order_id returning o.id, o.partner_id
     ), terms as (
       insert into order_terms (order_id, partner_id, policy) select id, partner_id, '{"on_underpaid":"ask"}' from moved
     ), events as (
       insert into order_event (order_id, partner_id, seq, at, from_status, to_status, cause, actor)
       select id, partner_id, seq, now(), from_status, 'confirming', cause, 'system'
         from moved, (values (2, 'waiting_deposit', 'deposit_seen'), (3, 'confirming', 'action_required'))
           as e (seq, from_status, cause) order by seq
     )
     insert into order_action (order_id, seq, reason, deposit_id, amount, amount_from, asked_at, deadline)
     select order_id, 3, 'underpaid', id, amount, amount, $2::timestamptz, $2::timestamptz + interval '1 day' from paid`,
    [orderId, now],
  );
}
