import { attention } from '../../../src/orders/read/attention.ts';
import { CrowdedChain, transfersTo } from '../../support/chains/crowded-chain.ts';
import { type MadeOrder, type SettledGateway, startSettledGateway } from '../../support/gateway/settled-gateway.ts';
import { newMember } from '../../support/staff/staff-client.ts';

// Many transfers to our addresses, which any stranger can send: the work grows with their number,
// a transaction takes a bounded number, and one that fails stops no other.

const crowded = new CrowdedChain();
let gateway: SettledGateway;
/** SQL statements since the last reset, by what they do. */
const counted = { all: 0, commits: 0, setAside: 0 };

beforeEach(async () => {
  gateway = await startSettledGateway({
    outside: {
      chain: (adapter) => crowded.wrap(adapter),
      onStatement: (sql) => {
        counted.all += 1;
        if (/^commit/i.test(sql)) counted.commits += 1;
        if (sql.includes(`problem = 'too_many_refunds'`)) counted.setAside += 1;
      },
    },
  });
});
afterEach(async () => {
  try {
    expect(await gateway.query('select coin from ledger_line group by coin having sum(amount) <> 0')).toEqual([]);
  } finally {
    await gateway.stop();
  }
});

/** Below the minimum of the pair, and worth more than its refund's fee. */
const dust = 10_000n;
let crowds = 0;

/** Puts dust to an order into the next block, each in a separate transaction. */
function addDust({ depositAddress: address }: MadeOrder, count: number, amount = dust): void {
  crowds += 1;
  crowded.add(
    'bitcoin',
    transfersTo(
      { address },
      Array.from({ length: count }, () => amount),
      `dust${crowds}n`,
    ),
  );
}

async function count(sql: string, values: unknown[] = []): Promise<number> {
  const [row] = await gateway.query<{ count: number }>(`select count(*)::int as count from ${sql}`, values);
  return row?.count ?? 0;
}

/** Runs settlement and tells what it cost. */
async function costOf(work: () => Promise<void>): Promise<typeof counted & { cpuMs: number }> {
  Object.assign(counted, { all: 0, commits: 0, setAside: 0 });
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return { ...counted, cpuMs: (user + system) / 1000 };
}

describe('dust to an order that is paid', () => {
  /** Pays an order among this much dust, and settles both. */
  async function settleBesideDust(
    amount: number,
  ): Promise<{ order: MadeOrder; other: MadeOrder; cost: typeof counted & { cpuMs: number } }> {
    const [order, other] = [await gateway.order(), await gateway.order()];
    await gateway.deposit(order);
    await gateway.deposit(other);
    addDust(order, amount);
    const cost = await costOf(async () => {
      await gateway.mine('BTC', 2);
      await gateway.settle(order);
      await gateway.settle(other);
    });
    return { order, other, cost };
  }

  it('is credited and decided, and holds back neither the order nor others', async () => {
    const { order, other, cost } = await settleBesideDust(2_500);
    expect((await gateway.show(order)).status).toBe('completed');
    expect((await gateway.show(other)).status).toBe('completed');
    const its = `deposit where order_id = $1 and amount < 0.001`;
    expect(await count(`${its} and state = 'credited'`, [order.id])).toBe(2_500);
    expect(await count(`payment where order_id = $1 and kind = 'refund'`, [order.id])).toBe(3);
    expect(await count(`${its} and problem = 'too_many_refunds'`, [order.id])).toBe(2_497);
    // One journal entry each, and the order's account is what the deposits add to it.
    expect(await count(`ledger_transaction where order_id = $1 and kind = 'deposit'`, [order.id])).toBe(2_501);
    // All but the first hundred, in statements of a thousand.
    expect(cost.setAside).toBeGreaterThanOrEqual(2);
    expect(cost.setAside).toBeLessThan(12);
  });

  it('costs statements by the thousand and CPU by the deposit, not by its square', async () => {
    const few = (await settleBesideDust(750)).cost;
    const many = (await settleBesideDust(6_000)).cost;
    // Eight times the deposits. Inserts are split by the ORM into statements of some hundred rows.
    expect(many.all).toBeLessThan(4 * few.all + 400);
    expect(many.cpuMs).toBeLessThan(24 * few.cpuMs);
  });

  it('keeps the largest deposit below the minimum for the refund of an order that gets no better one', async () => {
    const order = await gateway.order();
    addDust(order, 700);
    await gateway.mine('BTC', 2);
    await gateway.tick();
    addDust(order, 1, 3n * dust);
    await gateway.mine('BTC', 2);
    await gateway.tick();
    gateway.clock.advance(3_600_000);
    await gateway.settle(order);
    const [refund] = await gateway.query<{ amount: string }>(
      `select trim_scale(d.amount)::text as amount from exchange_order o join deposit d on d.id = o.deposit_id where o.id = $1`,
      [order.id],
    );
    expect(refund).toEqual({ amount: '0.0003' });
    expect((await gateway.show(order)).status).toBe('refunded');
  });

  it('in a coin of another kind is bounded as well', async () => {
    const order = await gateway.order({
      coin_from: 'ETH',
      network_from: 'ETH',
      amount_from: 1,
      refund_address: undefined,
    });
    const contract = gateway.app.catalogue.find('USDT', 'ERC20')?.contract ?? null;
    crowded.add(
      'ethereum',
      transfersTo(
        { address: order.depositAddress, contract },
        Array.from({ length: 800 }, () => 1_000_000n),
        'token',
      ),
    );
    await gateway.mine('ETH', 80);
    await gateway.tick();
    expect(await count(`deposit where order_id = $1 and state = 'credited'`, [order.id])).toBe(800);
    expect(await count(`deposit where order_id = $1 and problem is not null`, [order.id])).toBe(800);
  });
});

describe('a block with many transfers to us', () => {
  it('is stored in transactions of a bounded size, and the last one moves the cursor', async () => {
    const order = await gateway.order();
    const other = await gateway.order();
    await gateway.deposit(other);
    addDust(order, 2_000);
    const [before] = await gateway.query<{ version: number }>(
      `select version::int as version from chain_state where chain = 'bitcoin'`,
    );
    await gateway.mine('BTC');
    await gateway.tick();
    const [after] = await gateway.query<{ version: number; unsettled: string[] }>(
      `select version::int as version, unsettled_blocks as unsettled from chain_state where chain = 'bitcoin'`,
    );
    expect(await count('deposit where order_id = $1', [order.id])).toBe(2_000);
    expect((await gateway.show(other)).status).not.toBe('waiting_deposit');
    // A beginning, five groups and an end.
    expect((after?.version ?? 0) - (before?.version ?? 0)).toBeGreaterThanOrEqual(6);
    expect(after?.unsettled).toEqual([]);
  });

  it('costs CPU by the transfer, not by its square', async () => {
    const [order, another] = [await gateway.order(), await gateway.order()];
    addDust(order, 1_000);
    await gateway.mine('BTC');
    const few = await costOf(() => gateway.tick());
    addDust(another, 8_000);
    await gateway.mine('BTC');
    const many = await costOf(() => gateway.tick());
    expect(await count('deposit')).toBe(9_000);
    expect(many.cpuMs).toBeLessThan(24 * few.cpuMs);
    expect(many.commits).toBeGreaterThanOrEqual(16);
  });

  it('takes a reorganisation back in the same way', async () => {
    const order = await gateway.order();
    const height = `(select height from chain_state where chain = 'bitcoin')`;
    addDust(order, 1_300);
    await gateway.mine('BTC', 3);
    await gateway.tick();
    expect(await count(`deposit where order_id = $1 and state = 'credited'`, [order.id])).toBe(1_300);
    await gateway.reorg('BTC', 3, false);
    await gateway.tick();
    expect(await count(`deposit where order_id = $1 and state = 'orphaned'`, [order.id])).toBe(1_300);
    expect(await count(`ledger_transaction where order_id = $1 and kind = 'deposit_reversal'`, [order.id])).toBe(1_300);
    expect(await count(`deposit where chain = 'bitcoin' and height > ${height}`)).toBe(0);
  });
});

describe('many transfers', () => {
  const versionOf = async (): Promise<number> => {
    const [row] = await gateway.query<{ version: number }>(
      `select version::int as version from chain_state where chain = 'bitcoin'`,
    );
    return row?.version ?? 0;
  };

  it('are stored in transactions of a bounded size while they wait in the mempool', async () => {
    const order = await gateway.order();
    const { depositAddress: address } = order;
    const before = await versionOf();
    crowded.waiting.set(
      'bitcoin',
      transfersTo(
        { address },
        Array.from({ length: 1_200 }, () => dust),
        'hint',
      ),
    );
    await gateway.tick();
    expect(await count(`deposit where order_id = $1 and state = 'mempool'`, [order.id])).toBe(1_200);
    expect((await versionOf()) - before).toBeGreaterThanOrEqual(4);
    crowded.waiting.clear();
    for (let turn = 0; turn < 3; turn++) await gateway.tick();
    expect(await count(`deposit where order_id = $1 and state = 'orphaned'`, [order.id])).toBe(1_200);
    expect((await gateway.show(order)).status).toBe('waiting_deposit');
  });

  it('are credited some at a time where they belong to no order', async () => {
    const hot = await gateway.settlement.adapters.get('bitcoin')?.hotWallet();
    const before = await versionOf();
    crowded.add(
      'bitcoin',
      transfersTo(
        { address: hot?.address ?? '' },
        Array.from({ length: 1_200 }, () => dust),
        'gift',
      ),
    );
    await gateway.mine('BTC', 3);
    await gateway.tick();
    expect(await count(`deposit where purpose = 'funding' and state = 'credited' and key like 'gift%'`)).toBe(1_200);
    expect((await versionOf()) - before).toBeGreaterThanOrEqual(5);
  });
});

it('shows staff a bounded part of an order with very many deposits', async () => {
  const order = await gateway.order();
  const txid = await gateway.deposit(order);
  addDust(order, 700);
  await gateway.mine('BTC', 3);
  await gateway.settle(order);
  const member = await newMember(gateway, 'support');
  const { order: shown } = await member.data(
    `{ order(id: "${order.id}") { deposits { txid amount } ledgerLines { amount } } }`,
  );
  expect(shown.deposits).toHaveLength(200);
  expect(shown.deposits.map((one: { txid: string }) => one.txid)).toContain(txid);
  expect(shown.ledgerLines).toHaveLength(1_000);
});

describe('a transfer that the database refuses', () => {
  beforeEach(() =>
    gateway.query(
      `create function refuse_bad() returns trigger language plpgsql as
         $$ begin if new.key like 'bad%' then raise exception 'a bad row'; end if; return new; end $$;
       create trigger refuse_bad before insert on deposit for each row execute function refuse_bad()`,
    ),
  );

  const leftOut = (): Promise<{ reason: string; key: string }[]> =>
    gateway.query('select reason, key from left_out_transfer order by id');

  it('is left out with an alert after three scans, and stops no other', async () => {
    const order = await gateway.order();
    await gateway.deposit(order);
    addDust(order, 60);
    crowded.add('bitcoin', transfersTo({ address: order.depositAddress }, [dust], 'bad'));
    await gateway.mine('BTC');
    await gateway.tick();
    await gateway.settle(order);
    expect((await gateway.show(order)).status).toBe('completed');
    expect(await count('deposit where order_id = $1', [order.id])).toBe(61);
    expect(await leftOut()).toEqual([{ reason: 'not_stored', key: 'bad0:0' }]);
    const items = await attention(gateway.app.orm.em.fork(), 100, gateway.clock.now());
    expect(items.filter(({ kind }) => kind === 'transfer_left_out')).toHaveLength(1);
  });

  it('is not left out while it waits in the mempool, from which it may vanish', async () => {
    const order = await gateway.order();
    crowded.waiting.set('bitcoin', transfersTo({ address: order.depositAddress }, [dust], 'bad'));
    for (let turn = 0; turn < 4; turn++) await gateway.tick();
    crowded.waiting.clear();
    await gateway.mine('BTC');
    await gateway.tick();
    expect(await leftOut()).toEqual([]);
    const [state] = await gateway.query(`select failure from chain_state where chain = 'bitcoin'`);
    expect(state).toEqual({ failure: null });
  });
});

it('leaves nothing of a block that is gone before its scan could end', async () => {
  const order = await gateway.order();
  addDust(order, 600);
  await gateway.query(
    `create function refuse_end() returns trigger language plpgsql as
       $$ begin if old.unsettled_blocks <> '[]' and new.unsettled_blocks = '[]' then raise exception 'no end'; end if;
          return new; end $$;
     create trigger refuse_end before update on chain_state for each row execute function refuse_end()`,
  );
  await gateway.mine('BTC');
  await gateway.tick();
  const stored = (state: string): Promise<number> =>
    count('deposit where order_id = $1 and state = $2', [order.id, state]);
  expect(await stored('mined')).toBe(600);
  await gateway.query('drop trigger refuse_end on chain_state');
  await gateway.reorg('BTC', 1, false);
  await gateway.mine('BTC', 3);
  await gateway.tick();
  expect(await stored('orphaned')).toBe(600);
  expect(await count('ledger_transaction where order_id = $1', [order.id])).toBe(0);
});

describe('an order that cannot be settled', () => {
  it.each([
    ['exchanging', 'confirming'],
    ['confirming', 'waiting_deposit'],
  ])('is tried less and less often, is overdue for staff, and stops no neighbour (%s fails)', async (to, from) => {
    const [order, other] = [await gateway.order(), await gateway.order()];
    await gateway.query(
      `create function refuse_one() returns trigger language plpgsql as
         $$ begin if new.status = '${to}' and new.id = '${order.id}' then raise exception 'a bad order'; end if; return new; end $$;
       create trigger refuse_one before update on exchange_order for each row execute function refuse_one()`,
    );
    for (const each of [order, other]) await gateway.deposit(each);
    await gateway.mine('BTC', 2);
    const pauses: number[] = [];
    for (let round = 0; round < 8; round++) {
      await gateway.settle(other);
      await gateway.tick();
      const [row] = await gateway.query<{ at: Date }>('select next_action_at as at from exchange_order where id = $1', [
        order.id,
      ]);
      const pauseMs = (row?.at.getTime() ?? 0) - gateway.clock.now().getTime();
      pauses.push(pauseMs);
      gateway.clock.advance(Math.max(0, pauseMs) + 1);
      await gateway.mine('BTC');
    }
    expect((await gateway.show(other)).status).toBe('completed');
    expect(pauses.at(-1)).toBeGreaterThan(5 * (pauses[0] ?? 0));
    expect(Math.max(...pauses)).toBeLessThanOrEqual(600_000);
    const items = await attention(gateway.app.orm.em.fork(), 100, gateway.clock.now());
    expect(items.filter(({ kind }) => kind === 'overdue_order')).toMatchObject([
      { orderId: order.id, detail: `cannot be settled: ${from}` },
    ]);
    await gateway.query('drop trigger refuse_one on exchange_order');
    gateway.clock.advance(600_000);
    await gateway.settle(order);
    expect((await gateway.show(order)).status).toBe('completed');
    expect(await count('exchange_order where failing_since is not null')).toBe(0);
  });
});
