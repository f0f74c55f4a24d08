import { Client } from 'pg';
import type { KeyCaller } from '../../../src/accounts/partners/authenticator.ts';
import type { AppError } from '../../../src/base/errors.ts';
import { Big } from '../../../src/base/money.ts';
import { addressExample } from '../../../src/chains/addresses/address.ts';
import type { Repeatable } from '../../../src/orders/idempotency.ts';
import type { CreatedOrder } from '../../../src/orders/order-creation.ts';
import type { CreateOrder } from '../../../src/orders/order-drafts.ts';
import type { PartnerScope } from '../../../src/orders/order-scope.ts';
import type { OrderView } from '../../../src/orders/order-statements.ts';
import { query } from '../../support/database/database.ts';
import { startGateway, type TestGateway } from '../../support/gateway/gateway.ts';
import { orderBody } from '../../support/gateway/orders.ts';

/** Creates of one turn of the event loop go to the database as one statement. */

let gateway: TestGateway;
let caller: KeyCaller;
let scope: PartnerScope;
const statements: string[] = [];

beforeAll(async () => {
  gateway = await startGateway({ outside: { background: false, onStatement: (sql) => statements.push(sql) } });
  caller = await newCaller();
  scope = { kind: 'partner', partnerId: caller.partner.id };
  // A create with this amount breaks a constraint.
  await rows(`
    create function break_constraint() returns trigger language plpgsql as $$ begin
      raise exception 'broken' using errcode = '23514', constraint = 'amount_of_the_test';
    end $$`);
  await rows(`create trigger break_constraint before insert on exchange_order for each row
    when (new.amount_from_expected = 0.0666) execute function break_constraint()`);
});
afterAll(() => gateway?.stop());

const rows = <Row extends object>(sql: string, values: unknown[] = []): Promise<Row[]> =>
  query<Row>(gateway.databaseUrl, sql, values);

/** A new partner. Its open orders are counted already, so that its creates wait for no reading. */
async function newCaller(): Promise<KeyCaller> {
  const partner = await gateway.partners.create('Batches');
  const { keyId } = await gateway.partners.issueKey(partner.id);
  const made: KeyCaller = {
    kind: 'key',
    keyId,
    scopes: ['orders:create'],
    partner,
    defaultMarkupBps: null,
    addressAllowed: true,
  };
  await create({}, made);
  return made;
}

function create(
  changes: Partial<CreateOrder> = {},
  by: KeyCaller = caller,
  repeatable: Repeatable | null = null,
  write: (order: OrderView) => string = (order) => JSON.stringify(order),
): Promise<CreatedOrder> {
  const input: CreateOrder = {
    coinFrom: 'BTC',
    networkFrom: 'BTC',
    coinTo: 'USDT',
    networkTo: 'TRC20',
    amountFrom: new Big('0.01'),
    rateType: 'float',
    recipientAddress: addressExample('TRC20'),
    recipientAddressTag: null,
    refundAddress: null,
    refundAddressTag: null,
    ...changes,
  };
  return gateway.app.creation.create(input, by, repeatable, write);
}

/** The creates as they ended: an order, or the code of an error. */
async function outcomes(creates: readonly Promise<CreatedOrder>[]): Promise<string[]> {
  const settled = await Promise.allSettled(creates);
  return settled.map((one) =>
    one.status === 'rejected'
      ? ((one.reason as AppError).kind ?? (one.reason as { constraint: string }).constraint)
      : one.value.isReplayed
        ? 'replayed'
        : 'made',
  );
}

/** The creating statements that were sent while some work ran. */
async function sentDuring(work: () => Promise<unknown>): Promise<number> {
  statements.length = 0;
  await work();
  return statements.filter((sql) => sql.includes('insert into exchange_order')).length;
}

const storedOf = async (creates: readonly Promise<CreatedOrder>[]): Promise<number> => {
  const made = (await Promise.allSettled(creates)).flatMap((one) =>
    one.status === 'fulfilled' ? [one.value.orderId] : [],
  );
  const [row] = await rows<{ count: number }>(
    `select count(*)::int as count from exchange_order o
       join order_event e on e.order_id = o.id and e.seq = 1 and e.to_status = 'waiting_deposit'
       join deposit_address d on d.id = o.deposit_address_id and d.leased_at is not null
      where o.id = any ($1)`,
    [made],
  );
  expect(row?.count).toBe(new Set(made).size);
  return made.length;
};

it('32 creates at once are two statements, and each has an address and a separate event', async () => {
  let creates: Promise<CreatedOrder>[] = [];
  const sent = await sentDuring(async () => {
    creates = Array.from({ length: 32 }, (_, index) => create({ amountFrom: new Big(`0.01${index + 10}`) }));
    await Promise.all(creates);
  });
  expect(sent).toBe(2);
  expect(await storedOf(creates)).toBe(32);
  const orders = (await Promise.all(creates)).map(({ body }) => JSON.parse(body) as OrderView);
  expect(orders.map(({ amountFromExpected }) => amountFromExpected)).toEqual(
    orders.map((_, index) => `0.01${index + 10}`.replace(/0+$/, '')),
  );
  expect(new Set(orders.map(({ depositAddress }) => depositAddress)).size).toBe(32);
  for (const order of orders) expect(await gateway.app.orderReads.find(scope, order.id)).toMatchObject(order);
});

it('a create that is refused, or breaks a constraint, fails alone', async () => {
  const own = JSON.parse((await create()).body) as OrderView;
  const [revoked, inactive] = [await newCaller(), await newCaller()];
  await rows('update api_key set revoked_at = now() where key_id = $1', [revoked.keyId]);
  await rows(`update partner set status = 'inactive' where id = $1`, [inactive.partner.id]);
  const toBtc = { coinFrom: 'LTC', networkFrom: 'LTC', coinTo: 'BTC', networkTo: 'BTC', amountFrom: new Big('5') };
  const creates = [
    create(),
    create({}, revoked),
    create(),
    create({}, inactive),
    create({ ...toBtc, recipientAddress: own.depositAddress }),
    create({ amountFrom: new Big('0.0666') }),
    create({ refundAddress: own.depositAddress }),
    create({}, { ...caller, keyId: 'unknown' }),
    create(),
  ];
  expect(await outcomes(creates)).toEqual([
    'made',
    'unauthorized',
    'made',
    'partner_inactive',
    'own_address',
    'amount_of_the_test',
    'own_address',
    'unauthorized',
    'made',
  ]);
  expect(await storedOf(creates)).toBe(3);
});

it('a create whose short id is taken draws another one, and the others of its batch go on', async () => {
  const by = await newCaller();
  const [taken] = await rows<{ short_id: string }>('select short_id from exchange_order limit 1');
  const drawn: string[] = [];
  // The answer is written before the order is stored: here the first draw meets the taken id.
  const unlucky = (order: { -readonly [Name in keyof OrderView]: OrderView[Name] }): string => {
    if (drawn.length === 0) order.shortId = taken?.short_id ?? '';
    drawn.push(order.shortId);
    return JSON.stringify(order);
  };
  let creates: Promise<CreatedOrder>[] = [];
  const sent = await sentDuring(async () => {
    creates = [create({}, by), create({}, by, null, unlucky), create({}, by)];
    expect(await outcomes(creates)).toEqual(['made', 'made', 'made']);
  });
  expect(sent).toBe(2);
  expect(drawn).toHaveLength(2);
  const { orderId, body } = (await creates[1]) as CreatedOrder;
  expect(JSON.parse(body).shortId).toBe(drawn[1]);
  expect(await rows('select short_id from exchange_order where id = $1', [orderId])).toEqual([{ short_id: drawn[1] }]);
});

it('the last addresses of a pool go to as many creates; the others are told to wait', async () => {
  const toBtc = {
    coinFrom: 'SOL',
    networkFrom: 'SOL',
    coinTo: 'BTC',
    networkTo: 'BTC',
    amountFrom: new Big('1'),
    recipientAddress: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq',
  };
  await create(toBtc);
  // The signer fills the pool no more.
  await rows('create function fill_nothing() returns trigger language plpgsql as $$ begin return null; end $$');
  await rows(`create trigger fill_nothing before insert on deposit_address for each row
    when (new.keychain = 'solana') execute function fill_nothing()`);
  await rows(`update deposit_address set leased_at = now()
    where leased_at is null and id not in (select id from deposit_address
      where leased_at is null and keychain = 'solana' order by index limit 2)`);
  const creates = Array.from({ length: 5 }, () => create(toBtc));
  const ended = await outcomes(creates);
  expect(ended.filter((one) => one === 'made')).toHaveLength(2);
  expect(ended.filter((one) => one === 'unavailable')).toHaveLength(3);
  expect(await storedOf(creates)).toBe(2);
});

it('fixed orders of one batch fill a cap and do not exceed it', async () => {
  const limited = await newCaller();
  // A hundredth of a bitcoin is worth 675 dollars in the sandbox.
  limited.partner.maxFixedExposureUsd = 1_600;
  limited.partner.maxFixedDayUsd = 1_600;
  const other = await newCaller();
  const creates = [limited, other, limited, limited, other, limited].map((by) => create({ rateType: 'fixed' }, by));
  const ended = await outcomes(creates);
  expect(ended[1]).toBe('made');
  expect(ended[4]).toBe('made');
  expect(ended.filter((one) => one === 'made')).toHaveLength(4);
  expect(ended.filter((one) => one === 'fixed_exposure_limit')).toHaveLength(2);
  expect(await storedOf(creates)).toBe(4);
  const counted = await rows<{ usd: string; count: number }>(
    `select trim_scale(sum(usd))::text as usd from fixed_turnover where partner_id = any ($1) group by partner_id`,
    [[limited.partner.id, other.partner.id]],
  );
  expect(new Set(counted.map(({ usd }) => usd)).size).toBe(1);
});

it('creates with one idempotency key make one order; others with keys are not delayed by it', async () => {
  const keyed = (key: string, byte = 1): Repeatable => ({ key, fingerprint: Buffer.alloc(32, byte) });
  const creates = [
    create({}, caller, keyed('one')),
    create({}, caller, keyed('one')),
    create({}, caller, keyed('one', 2)),
    create({}, caller, keyed('two')),
    create({ amountFrom: new Big('0.0666') }, caller, keyed('three')),
    create({}, caller, keyed('four')),
  ];
  expect(await outcomes(creates)).toEqual([
    'made',
    'replayed',
    'idempotency_key_reused',
    'made',
    'amount_of_the_test',
    'made',
  ]);
  const [first, second] = await Promise.all(creates.slice(0, 2));
  expect(second).toEqual({ ...first, isReplayed: true });
  expect(await storedOf(creates)).toBe(4);
});

it('when its connection ends in the middle, a batch stores nothing, and the next create works', async () => {
  const partner = caller.partner.id;
  const before = await rows('select count(*) from exchange_order where partner_id = $1', [partner]);
  const blocker = new Client({ connectionString: gateway.databaseUrl });
  await blocker.connect();
  await blocker.query('begin; lock table order_event in access exclusive mode');
  const creates = Promise.allSettled([create(), create(), create()]);
  for (let ended = 0; ended === 0; ) {
    const { rowCount } = await blocker.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`,
    );
    ended = rowCount ?? 0;
  }
  const settled = await creates;
  expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  await blocker.query('rollback');
  await blocker.end();
  expect(await rows('select count(*) from exchange_order where partner_id = $1', [partner])).toEqual(before);
  expect(await outcomes([create()])).toEqual(['made']);
});

it('a client that is gone before its answer changes nothing for the others of its batch', async () => {
  const { key } = await gateway.partner();
  const send = (signal?: AbortSignal) =>
    fetch(`${gateway.app.restUrl}/api/v1/partner/orders`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(orderBody()),
      ...(signal ? { signal } : {}),
    }).then(
      ({ status }) => status,
      (error: Error) => error.name,
    );
  const blocker = new Client({ connectionString: gateway.databaseUrl });
  await blocker.connect();
  await blocker.query('begin; lock table order_event in access exclusive mode');
  const gone = new AbortController();
  const replies = [send(), send(gone.signal), send()];
  for (let waiting = 0; waiting === 0; ) {
    const { rowCount } = await blocker.query(
      `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    waiting = rowCount ?? 0;
  }
  gone.abort();
  await blocker.query('rollback');
  await blocker.end();
  expect(await Promise.all(replies)).toEqual([201, 'AbortError', 201]);
});

describe('look-ups', () => {
  it('of one turn are one statement, by UUID and short id, and only of the own partner', async () => {
    const other = await newCaller();
    const [mine, theirs] = [await create(), await create({}, other)].map(({ body }) => JSON.parse(body) as OrderView);
    if (!mine || !theirs) throw new Error('no orders');
    await gateway.app.orderReads.find(scope, mine.id);
    statements.length = 0;
    const find = (name: string) =>
      gateway.app.orderReads.find(scope, name).then(
        ({ id }) => id,
        (error: AppError) => error.kind,
      );
    const names = [mine.id, mine.shortId, theirs.id, theirs.shortId, mine.shortId.toLowerCase(), mine.id.toUpperCase()];
    expect(await Promise.all(names.map(find))).toEqual([
      mine.id,
      mine.id,
      'order_not_found',
      'order_not_found',
      mine.id,
      mine.id,
    ]);
    expect(statements.filter((sql) => sql.includes('exchange_order'))).toHaveLength(1);
  });
});
