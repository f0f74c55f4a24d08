import { setTimeout as sleep } from 'node:timers/promises';
import { addressExample } from '../../../src/chains/addresses/address.ts';
import { allNetworks } from '../../../src/chains/networks/networks.ts';
import type { PriceSource } from '../../../src/market/rates/price-source.ts';
import { SandboxPriceSource } from '../../../src/market/rates/sources/sandbox-price-source.ts';
import { OrderStats } from '../../../src/operations/order-stats.ts';
import { cabinetSettings } from '../../support/cabinet/cabinet-client.ts';
import { createDatabase, query } from '../../support/database/database.ts';
import { TestClock } from '../../support/gateway/clock.ts';
import { feedCatchesUp } from '../../support/gateway/orders.ts';
import { type PagedGateway, scenes, startPagedGateway } from '../../support/gateway/paged-orders.ts';
import { endWindow, type MadeOrder } from '../../support/gateway/settled-gateway.ts';
import type { Call } from '../../support/http/contract-client.ts';
import { Receivers } from '../../support/webhooks/receiver.ts';
import { Names } from './names.ts';

// What is recorded, and the only imports of src: everything else goes through the surfaces.

export { addressExample };

/**
 * Prices of the sandbox at the beginning of the clock. A gateway reads new ones by the clock of the
 * machine, so prices that move would depend on its speed.
 */
export function sandboxPricesOf(clock: TestClock, seed: string): PriceSource {
  const still = new SandboxPriceSource(new TestClock(clock.now()), seed);
  return {
    name: still.name,
    fetch: async (coins) => {
      const at = clock.now();
      return new Map([...(await still.fetch(coins))].map(([coin, price]) => [coin, { ...price, at }]));
    },
  };
}

/** Addresses of the tests. */
const fixedAddresses = allNetworks().map(({ id }) => addressExample(id));
/** The id of nothing. */
export const nowhere = '01900000-0000-7000-8000-000000000000';

/** A gateway with orders in every state, on a clock that moves only with what is recorded. */
export interface World {
  readonly gateway: PagedGateway;
  readonly receivers: Receivers;
  readonly names: Names;
  /** Brings an order into each state, and has each one looked at before the next moves on. */
  reach(look: (name: string, order: MadeOrder) => Promise<void>): Promise<void>;
  /** Calls the partner API a second later, at the prices of that moment. */
  readonly call: Call;
  /** @throws Error for a name that no order has. */
  order(name: string): MadeOrder;
  /** @throws Error for an order without a name. */
  nameOf(orderId: string): string;
  /** A second passes, and prices are read where they have moved. */
  second(): Promise<void>;
  /** Sums up statistics and history, as the tasks of a worker do. */
  report(): Promise<void>;
  /** Waits until every event is in the feed, and sends each webhook that is due. */
  send(): Promise<void>;
  /** Sends webhooks until a request that waits for one is answered. */
  sendUntil(request: Promise<unknown>): Promise<void>;
  /** Gives an order and what belongs to it names. */
  know(name: string, order: MadeOrder): Promise<void>;
  stop(): Promise<void>;
}

const ltc = { coin_from: 'LTC', network_from: 'LTC', amount_from: 2, coin_to: 'USDT', network_to: 'TRC20' };

type Reach = (gateway: PagedGateway) => Promise<MadeOrder>;

async function forced(gateway: PagedGateway, outcome: string): Promise<MadeOrder> {
  const order = await gateway.order({ ...ltc, refund_address: addressExample('LTC') });
  const body = { outcome };
  const reply = await gateway.call('POST', `/partner/sandbox/orders/${order.id}/force`, { key: gateway.key, body });
  if (reply.status !== 200) throw new Error(reply.text);
  return order;
}

/** Orders that the pages do not have: deposits in parts, faults of payments, reorganisations. */
const others: Readonly<Record<string, Reach>> = {
  split: async (gateway) => {
    const order = await gateway.order({ ...ltc, external_id: 'split-1', metadata: { cart: 'c_1', user: 'u_9' } });
    await gateway.deposit(order, { amount: '0.75' });
    await gateway.deposit(order, { amount: '1.25' });
    await gateway.settle(order);
    return order;
  },
  'late-part': async (gateway) => {
    const order = await gateway.order({ ...ltc, rate_type: 'fixed', refund_address: addressExample('LTC') });
    await gateway.deposit(order, { amount: '2' });
    await gateway.settle(order);
    await endWindow(gateway, order);
    await gateway.deposit(order, { amount: '0.5' });
    await gateway.settle(order);
    return order;
  },
  reorganised: async (gateway) => {
    const order = await gateway.order(ltc);
    await gateway.deposit(order);
    await gateway.mine('LTC', 2);
    await gateway.tick();
    await gateway.reorg('LTC', 2, false);
    await gateway.mine('LTC', 3);
    await gateway.tick();
    return order;
  },
  'payout-failed': async (gateway) => {
    const order = await forced(gateway, 'payout_dead');
    await gateway.deposit(order);
    await gateway.settle(order);
    return order;
  },
  tagged: async (gateway) => {
    const order = await gateway.order({
      coin_from: 'XRP',
      network_from: 'XRP',
      amount_from: 100,
      coin_to: 'ATOM',
      network_to: 'ATOM',
      recipient_address: addressExample('ATOM'),
      recipient_address_tag: '12345',
      refund_address: addressExample('XRP'),
      refund_address_tag: '7',
      min_amount_to: 1,
      policy: { on_late: 'ask', on_underpaid: 'ask', on_overpaid: 'ask', on_price_moved: 'ask' },
    });
    await gateway.deposit(order);
    await gateway.settle(order);
    return order;
  },
  'marked-up': async (gateway) => {
    const order = await gateway.order({ ...ltc, markup_bps: 100 });
    await gateway.deposit(order);
    await gateway.settle(order);
    return order;
  },
};

/**
 * Rows of the database that all tests clone have times of the machine. They get the start of the
 * clock.
 */
async function stamp(databaseUrl: string, start: Date): Promise<void> {
  const columns = await query<{ table: string; column: string }>(
    databaseUrl,
    `select c.table_name as table, c.column_name as column from information_schema.columns c
       join pg_class t on t.relname = c.table_name and t.relkind = 'r' and t.relnamespace = 'public'::regnamespace
      where c.table_schema = 'public' and c.data_type = 'timestamp with time zone' order by 1, 2`,
  );
  const changes = columns.map(
    ({ table, column }) => `update "${table}" set "${column}" = '${start.toISOString()}'
       where "${column}" between now() - interval '1 day' and now() + interval '1 day'`,
  );
  // How many of these there are depends on how long the making of that database took.
  const passed = ['price_window', 'chain_history', 'wallet_history', 'venue_history', 'api_traffic'];
  const windows = passed.map((table) => `delete from ${table}`);
  const block = `select setval('deposit_index_block', 1000)`;
  const key = `update setting set value = repeat('0123456789abcdef', 4) where name = 'deposit_tag_key'`;
  await query(
    databaseUrl,
    `set session_replication_role = replica; ${[...windows, ...changes, key, block].join('; ')}`,
  );
}

/** For how long prices of the sandbox stand still. */
const priceMs = 5_000;

/** States that the blocks of other orders would end. */
const passing = ['sending', 'refunding', 'confirming'];

/** An account at an exchange that no worker reads any more. */
const exchangeRows = `
  with account as (
    insert into venue_account (venue, is_watched, watched_from, listed_at, balances_at, opened_at, failing_since, failure)
    values ('binance', false, $1, $1, $1, $1, $1, 'the exchange gave no answer') on conflict do nothing returning venue
  ), balances as (
    insert into venue_balance (venue, coin, total, free, read_at, compared_total, booked, in_flight, compared_at,
                               differing, differing_since)
    select venue, 'BTC', 4.5, 4, $1::timestamptz, 4.5, 4.25, 0.125, $1::timestamptz, 3, $1::timestamptz from account
  ), movements as (
    insert into venue_movement (venue, kind, reference, coin, network, txid, is_internal, address, tag, amount, fee,
                                state, told, at, seen_at, changed_at, read_at, part)
    select venue, kind, reference, coin, network, txid, false, address, tag, amount, fee, state, told,
           $1::timestamptz, $1::timestamptz, $1::timestamptz, $1::timestamptz, part
      from account, (values
        ('withdrawal', 'W1', 'BTC', 'BTC', repeat('ab', 32), 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', null,
         1.0005, 0.0005, 'done', '6', 'transfer'),
        ('deposit', 'D1', 'XRP', 'XRP', repeat('cd', 32), 'rPdvC6ccq8hCdPKSPJkPmyZ4Mi1oG2FFkT', '77',
         20, 0, 'locked', '6', 'foreign'))
        as m (kind, reference, coin, network, txid, address, tag, amount, fee, state, told, part)
    returning venue, kind, reference
  )
  insert into treasury_transfer (id, venue, movement_kind, reference, coin, network, chain, state, amount, gas,
                                 booked_amount, booked_fee, arrived, problem, created_at, updated_at)
  select '00000000-0000-7000-8000-000000000001', venue, kind, reference, 'BTC', 'BTC', 'bitcoin', 'arrived', 1.0005, 0,
         1.0005, 0.0005, 0.9, 'short_arrival', $1::timestamptz, $1::timestamptz
    from movements where kind = 'withdrawal'`;

/** Starts the world without an order. */
export async function startWorld(): Promise<World> {
  const clock = new TestClock();
  const receivers = await Receivers.start();
  const database = await createDatabase();
  await stamp(database.url, clock.now());
  const gateway = await startPagedGateway({
    clock,
    databaseUrl: database.url,
    settings: {
      ...cabinetSettings,
      ...receivers.settings,
      RATE_LIMIT_QUOTES_PER_MIN: '100000',
      // The headers show the limit of which least is left: always the narrower one of an operation.
      RATE_LIMIT_PARTNER_PER_MIN: '1000000',
      // Prices are read when a second of the clock passes.
      PRICE_REFRESH_SEC: '3600',
      FIXED_RATE_WINDOW_SEC: '15',
    },
    outside: {
      // A receiver answers late where the machine is busy, which is no failed attempt.
      receivers: { ...receivers.outside, connectMs: 600_000, totalMs: 600_000 },
      streamTimes: { commentMs: 600_000, endMs: 600_000 },
      // New terms of a partner hold at its next request.
      keyRowMs: 1,
    },
  });
  const names = new Names([...fixedAddresses, nowhere]);
  names.know(`hooks.test:${receivers.port}`, 'host and port');
  const orders = new Map<string, MadeOrder>();
  let read = 0;
  const second = async (): Promise<void> => {
    clock.advance(1_000);
    const tick = Math.floor(clock.now().getTime() / priceMs);
    if (tick === read) return;
    read = tick;
    await gateway.app.prices.refresh(gateway.app.catalogue.coins());
  };
  const send = async (): Promise<void> => {
    const { webhooks } = gateway.app;
    await feedCatchesUp(gateway.query);
    await webhooks?.dispatcher.dispatch();
    for (;;) {
      const begun = await webhooks?.sender.begin();
      await webhooks?.sender.idle();
      if (!begun) return;
    }
  };
  const know = async (name: string, order: MadeOrder): Promise<void> => {
    const { short_id: shortId } = await gateway.show(order);
    names.know(order.id, `order ${name}`);
    names.know(shortId, `short id ${name}`);
    names.know(order.depositAddress, `address ${name}`);
    if (order.depositTag !== null) names.know(order.depositTag, `tag ${name}`);
    orders.set(name, order);
  };
  await gateway.partners.change(gateway.partnerId, { publicStatus: true, maxMarkupBps: 200 });
  names.know(gateway.partnerId, 'partner');
  names.know(gateway.key.split('.')[0] ?? '', 'key of the partner');
  return {
    gateway,
    receivers,
    names,
    second,
    know,
    reach: async (look) => {
      const reaches: Record<string, Reach> = { ...others };
      for (const [name, scene] of Object.entries(scenes)) reaches[name] = (paged) => scene.reach(paged);
      const lasting = Object.keys(reaches).filter((name) => !passing.includes(name));
      for (const name of [...lasting, ...passing]) {
        await second();
        const order = (await reaches[name]?.(gateway)) as MadeOrder;
        await know(name, order);
        await look(name, order);
      }
    },
    call: async (method, path, options = {}) => {
      await second();
      // An answer is compressed where the machine has time for it.
      const headers = { 'Accept-Encoding': 'identity', ...options.headers };
      return gateway.call(method, path, { ...options, headers });
    },
    order: (name) => {
      const order = orders.get(name);
      if (!order) throw new Error(`there is no order ${name}`);
      return order;
    },
    nameOf: (orderId) => {
      const found = [...orders].find(([, { id }]) => id === orderId);
      if (!found) throw new Error(`the order ${orderId} has no name`);
      return found[0];
    },
    report: async () => {
      await feedCatchesUp(gateway.query);
      await new OrderStats(gateway.app.orm).rollUp();
      await gateway.settlement.payoutWatch.runIfDue();
      // What a worker of live chains, and one that trades at an exchange, would have seen.
      await gateway.query(
        `insert into wallet_level (chain, coin, network, balance, low, high, level, seen_at)
         values ('ethereum', 'ETH', 'ETH', 12.5, 1, 50, 'ok', $1)
         on conflict (chain, coin, network) do update set seen_at = excluded.seen_at`,
        [clock.now()],
      );
      await gateway.query(exchangeRows, [clock.now()]);
      clock.advance(60_000);
      await gateway.tick();
      // A worker leases its chains, and looks at the quiet ones, by the machine's clock.
      await gateway.query(
        `update chain_state set scanned_at = $1, lease_until = now() + interval '1 day' where lease_owner is not null`,
        [clock.now()],
      );
      await gateway.settlement.history.takeIfDue();
      await gateway.reconciliations().runIfDue();
    },
    send,
    sendUntil: async (request) => {
      let isOver = false;
      const ended = request.finally(() => {
        isOver = true;
      });
      while (!isOver) {
        await send();
        await sleep(20);
      }
      await ended;
    },
    stop: async () => {
      await gateway.stop();
      await database.drop();
      await receivers.stop();
    },
  };
}
