import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { SignerError } from '../../../src/chains/port/signer.ts';
import type { CrashPoint } from '../../../src/settlement/turns/crash-point.ts';
import { type Cost, StatementTally } from '../../bench/statement-tally.ts';
import { Faults } from '../../support/faults/faults.ts';
import { type MadeOrder, type SettledGateway, startSettledGateway } from '../../support/gateway/settled-gateway.ts';

// Orders and payments that are due together share their transactions, and nothing else.

const tally = new StatementTally();
const faults = new Faults();
const passed = new Map<CrashPoint, number>();
let gateway: SettledGateway;

beforeAll(async () => {
  gateway = await startSettledGateway({
    outside: {
      ...faults.outside(),
      onCrashPoint: (name) => {
        passed.set(name, (passed.get(name) ?? 0) + 1);
      },
    },
  });
});
afterAll(async () => {
  try {
    expect(await gateway.differences()).toEqual([]);
  } finally {
    await gateway?.stop();
  }
});
beforeEach(() => passed.clear());
afterEach(() => {
  faults.group = null;
  faults.signing = null;
  faults.signerAway = false;
  faults.venue = null;
});

/** Orders with a deposit in a block, which the next block confirms. */
async function paidOrders(count: number): Promise<MadeOrder[]> {
  const orders: MadeOrder[] = [];
  for (let made = 0; made < count; made++) {
    const order = await gateway.order();
    await gateway.deposit(order);
    orders.push(order);
  }
  await gateway.mine('BTC');
  await gateway.tick();
  await gateway.mine('BTC');
  return orders;
}

async function column<T>(sql: string, orders: readonly MadeOrder[]): Promise<T[]> {
  const rows = await gateway.query<{ value: T }>(sql, [orders.map(({ id }) => id)]);
  return rows.map(({ value }) => value);
}

const statuses = (orders: readonly MadeOrder[]): Promise<string[]> =>
  column(
    'select status as value from exchange_order where id = any($1) order by array_position($1::uuid[], id)',
    orders,
  );

async function finish(orders: readonly MadeOrder[]): Promise<void> {
  for (const order of orders) await gateway.settle(order);
  expect(await statuses(orders)).toEqual(orders.map(() => 'completed'));
  const paid = await column('select order_id as value from payment where order_id = any($1)', orders);
  expect(paid).toHaveLength(orders.length);
  for (const order of orders) {
    expect(await gateway.history(order)).toEqual([
      'created',
      'deposit_seen',
      'deposit_confirmed',
      'liquidity_bought',
      'payout_confirmed',
    ]);
  }
}

/** Runs a tick while another session holds a lock, until `done` has come true. */
async function tickBeside(lock: string, id: string, done: () => Promise<boolean>): Promise<void> {
  const holder = new Client(gateway.databaseUrl);
  await holder.connect();
  try {
    await holder.query('begin');
    await holder.query(lock, [id]);
    const ticked = gateway.tick();
    while (!(await done())) await sleep(20);
    await holder.query('commit');
    await ticked;
  } finally {
    await holder.end();
  }
}

describe('orders that are due together', () => {
  it('share the transactions of every step', async () => {
    const orders = await paidOrders(8);
    passed.clear();
    await gateway.tick();
    expect(await statuses(orders)).toEqual(orders.map(() => 'sending'));
    expect(passed.get('trade.intended')).toBe(1);
    expect(passed.get('trade.answered')).toBe(8);
    expect(passed.get('trade.recorded')).toBeLessThan(8);
    expect(passed.get('payment.prepared')).toBe(1);
    expect(passed.get('payment.signed')).toBe(1);
    expect(passed.get('payment.sent')).toBe(1);
    await finish(orders);
  });

  it('go on while another session has locked one of them', async () => {
    const orders = await paidOrders(4);
    const [locked, ...others] = orders as [MadeOrder, ...MadeOrder[]];
    // Decided and not exchanged, so that no scan has to lock them.
    faults.venue = () => Promise.reject(new Error('the venue is away'));
    await gateway.tick();
    faults.venue = null;
    expect(await statuses(orders)).toEqual(orders.map(() => 'exchanging'));
    gateway.clock.advance(10_000);
    await tickBeside('select from exchange_order where id = $1 for update', locked.id, async () => {
      return (await statuses(others)).every((status) => status === 'sending');
    });
    expect(await statuses([locked])).toEqual(['sending']);
    await finish(orders);
  });

  it('go on when one of them cannot be settled', async () => {
    const orders = await paidOrders(4);
    const [broken, ...others] = orders as [MadeOrder, ...MadeOrder[]];
    await gateway.query(`create function refuse_trade() returns trigger language plpgsql as $$
      begin raise exception 'not this one'; end $$`);
    await gateway.query(`create trigger trade_refused before insert on trade for each row
      when (new.order_id = '${broken.id}') execute function refuse_trade()`);
    await gateway.tick();
    expect(await statuses([broken])).toEqual(['confirming']);
    expect(await statuses(others)).toEqual(others.map(() => 'sending'));
    await gateway.query('drop trigger trade_refused on trade');
    gateway.clock.advance(10_000);
    await finish(orders);
  });
});

/** What it costs the gateway to settle orders, from the block that confirms their deposits. */
async function costOf(count: number): Promise<Cost> {
  const orders = await paidOrders(count);
  tally.clear();
  await gateway.tick();
  for (let block = 0; block < 3; block++) {
    await gateway.mine('TRC20');
    await gateway.tick();
  }
  const { own, steps } = tally.report();
  // For docs/performance.md: SHOW_COSTS=1 npm test -- test/integration/settlement/together.test.ts
  if (process.env.SHOW_COSTS) process.stdout.write(`${JSON.stringify({ count, own, steps: [...steps] }, null, 1)}\n`);
  expect(await statuses(orders)).toEqual(orders.map(() => 'completed'));
  return own;
}

/** Makes the database refuse to credit the deposit of an order, until the trigger is dropped. */
async function refuseCredit({ id }: MadeOrder): Promise<void> {
  await gateway.query(`create or replace function refuse_credit() returns trigger language plpgsql as $$
    begin raise exception 'not this one'; end $$`);
  await gateway.query(`create trigger credit_refused before update on deposit for each row
    when (new.order_id = '${id}' and new.state = 'credited') execute function refuse_credit()`);
}

describe('the statements and commits of a group', () => {
  it('are those of one order, and less than a statement more for each other', async () => {
    const alone = await costOf(1);
    const size = 40;
    const group = await costOf(size);
    const each = (name: keyof Cost): number => (group[name] - alone[name]) / (size - 1);
    // Several groups, for example because a sweep found some of the orders first, would cost more.
    expect(each('statements')).toBeLessThan(1);
    expect(each('commits')).toBeLessThan(0.2);
    expect(group.statements / size).toBeLessThan(6);
    expect(group.commits / size).toBeLessThan(1.5);
  });

  it('stay few when one of its orders cannot be settled', async () => {
    const orders = await paidOrders(16);
    const [broken, ...others] = orders as [MadeOrder, ...MadeOrder[]];
    await refuseCredit(broken);
    passed.clear();
    await gateway.tick();
    expect(await statuses([broken])).toEqual(['confirming']);
    expect(await statuses(others)).toEqual(others.map(() => 'sending'));
    // Four parts of four, of which one was taken order by order; each with its terms and its fills.
    expect(passed.get('trade.recorded')).toBeLessThan(8);
    await gateway.query('drop trigger credit_refused on deposit');
    gateway.clock.advance(10_000);
    await finish(orders);
  });

  it('are none in the scan of the next block, which does not wait for an order that is due', async () => {
    const orders = await paidOrders(2);
    const [broken] = orders as [MadeOrder, MadeOrder];
    await refuseCredit(broken);
    await gateway.tick();
    await gateway.query('drop trigger credit_refused on deposit');
    // Due again, and locked by another session: the scan of the next block must not wait for it.
    gateway.clock.advance(10_000);
    await gateway.mine('BTC');
    const height = async (table: string): Promise<string | undefined> =>
      (await gateway.query<{ height: string }>(`select height::text from ${table} where chain = 'bitcoin'`))[0]?.height;
    const head = await height('sandbox_chain');
    await tickBeside('select from exchange_order where id = $1 for update', broken.id, async () => {
      return (await height('chain_state')) === head;
    });
    await finish(orders);
  });
});

describe('payments that are due together', () => {
  it('go on while another session has locked one of them', async () => {
    const orders = await paidOrders(4);
    faults.signerAway = true;
    await gateway.tick();
    faults.signerAway = false;
    gateway.clock.advance(10_000);
    const states = 'select state as value from payment where order_id = any($1) order by state';
    expect(await column(states, orders)).toEqual(orders.map(() => 'prepared'));
    await tickBeside('select from payment where order_id = $1 for update', orders[0]?.id ?? '', async () => {
      return (await column(states, orders.slice(1))).every((state) => state === 'sent');
    });
    await finish(orders);
  });

  it.each([
    ['takes them all, and its answer is lost', true],
    ['never gets them', false],
  ])('are each paid once when the node %s', async (_what, isTaken) => {
    const orders = await paidOrders(4);
    let groups = 0;
    faults.group = async (send) => {
      groups += 1;
      if (isTaken) await send();
      throw new Error('the connection to the node broke');
    };
    await gateway.tick();
    faults.group = null;
    expect(groups).toBe(1);
    const attempts = (columns: string) =>
      column(
        `select ${columns} as value from payment p join payment_attempt a on a.payment_id = p.id
           left join sandbox_tx t on t.chain = a.chain and t.txid = a.txid where p.order_id = any($1)`,
        orders,
      );
    expect(await attempts('p.state')).toEqual(orders.map(() => 'sent'));
    expect(await attempts('t.state')).toEqual(orders.map(() => (isTaken ? 'mempool' : null)));
    gateway.clock.advance(60_000);
    await finish(orders);
    expect(await attempts('t.state')).toEqual(orders.map(() => 'mined'));
  });

  it('leave no gap in the nonces when the signer refuses one of them', async () => {
    const orders = await paidOrders(4);
    let asked = 0;
    faults.signing = async (sign) => {
      asked += 1;
      if (asked === 2) throw new SignerError('refused', 'not this one');
      return sign();
    };
    await gateway.tick();
    faults.signing = null;
    const states = 'select state as value from payment where order_id = any($1) order by state';
    expect(await column(states, orders)).toEqual(['ready', 'ready', 'ready', 'sent']);
    gateway.clock.advance(5_000);
    await gateway.tick();
    expect(await column(states, orders)).toEqual(['ready', 'sent', 'sent', 'sent']);
    const nonces = await column<number>(
      `select (a.payload::jsonb ->> 'nonce')::int as value from payment_attempt a join payment p on p.id = a.payment_id
        where p.order_id = any($1) and a.dead_at is null order by 1`,
      orders,
    );
    expect(nonces).toEqual([0, 1, 2].map((place) => (nonces[0] ?? 0) + place));
    gateway.clock.advance(300_000);
    await finish(orders);
  });
});

describe('a node that answers nothing', () => {
  const silent = new Faults();
  let slow: SettledGateway;

  afterAll(() => slow?.stop());

  it('keeps its chain from being read for a moment only, however many payments are due', async () => {
    // How many transactions were shown to the node, one after another, before the chain was read
    // again.
    const runs = [0];
    silent.scan = async (chain) => {
      if (chain === 'tron') runs.push(0);
    };
    silent.broadcast = async () => {
      runs.push((runs.pop() ?? 0) + 1);
      await sleep(500);
      throw new Error('the node is away');
    };
    slow = await startSettledGateway({ outside: { ...silent.outside(), background: true } });
    const orders: MadeOrder[] = [];
    for (let made = 0; made < 8; made++) {
      const order = await slow.order();
      await slow.deposit(order);
      orders.push(order);
    }
    await slow.mine('BTC', 2);
    while (runs.reduce((sum, run) => sum + run, 0) < 8) {
      await sleep(100);
      slow.clock.advance(200);
    }
    silent.broadcast = null;
    expect(Math.max(...runs)).toBeLessThan(6);
    const rest = 'select 1 from exchange_order where id = any($1) and status <> $2';
    while ((await slow.query(rest, [orders.map(({ id }) => id), 'completed'])).length > 0) {
      await slow.mine('TRC20');
      slow.clock.advance(1_000);
      await sleep(200);
    }
  });
});
