import { setTimeout as sleep } from 'node:timers/promises';
import { addressExample } from '../../src/chains/addresses/address.ts';
import { reconcile } from '../../src/ledger/reconcile.ts';
import type { CrashPoint } from '../../src/settlement/turns/crash-point.ts';
import { SettlingChild } from '../support/faults/settling-child.ts';
import { TestClock } from '../support/gateway/clock.ts';
import { Dice } from '../support/gateway/dice.ts';
import { type SettledGateway, startSettledGateway } from '../support/gateway/settled-gateway.ts';

// A year of three partners. Two workers close and pay each month together, and are killed while
// they do it.

const settings = {
  PRICE_MAX_AGE_SEC: '31536000',
  RECONCILE_EVERY_SEC: '0',
  CHAIN_LEASE_MS: '1000',
  COMMISSION_MIN_USD: '50',
};
const crashPoints: readonly CrashPoint[] = [
  'payment.built',
  'payment.prepared',
  'payment.signed',
  'payment.sent',
  'payment.confirmed',
];
/** Basis points of the partners' orders: the third is below the minimum in most months. */
const markups = [300, 120, 20];

let gateway: SettledGateway;
let partners: { id: string; key: string }[];
/** The workers, each with the time of its clock. */
const workers: ({ readonly child: SettlingChild; ms: number } | null)[] = [null, null];
let kills = 0;

beforeAll(async () => {
  gateway = await startSettledGateway({ clock: new TestClock(new Date('2026-01-10T10:00:00.000Z')), settings });
  partners = [];
  for (const _ of markups) partners.push(await gateway.partner());
  for (const { id } of partners) {
    await gateway.query(
      `with member as (
         insert into partner_member (id, partner_id, name, role, created_at)
         values (gen_random_uuid(), $1, 'Owner', 'owner', $2) returning id)
       insert into commission_address (id, partner_id, coin, network, address, requested_at, member_id, effective_at,
                                       took_effect_at)
       select gen_random_uuid(), $1, 'USDC', 'ERC20', $3, $2, id, $2, $2 from member`,
      [id, gateway.clock.now(), addressExample('ERC20')],
    );
  }
});
afterAll(async () => {
  for (const worker of workers) await worker?.child.end('SIGKILL');
  await gateway?.stop();
});

const to = (at: Date): void => gateway.clock.advance(at.getTime() - gateway.clock.now().getTime());

/** Waits until no worker holds a chain. They keep none while they do nothing. */
async function freeChains(): Promise<void> {
  const held = 'select 1 from chain_state where lease_until >= now() limit 1';
  while ((await gateway.query(held)).length > 0) await sleep(50);
}

/** One order of each partner completes. */
async function earn(): Promise<void> {
  const orders = await Promise.all(
    partners.map(({ key }, index) =>
      gateway.order({ amount_from: 0.05, rate_type: 'float', markup_bps: markups[index] }, key),
    ),
  );
  for (const order of orders) await gateway.deposit(order);
  const completed = `select 1 from exchange_order where id = any($1) and status = 'completed'`;
  const isDone = async () => (await gateway.query(completed, [orders.map(({ id }) => id)])).length === orders.length;
  for (let round = 0; round < 20 && !(await isDone()); round++) {
    for (const network of ['BTC', 'TRC20']) await gateway.mine(network, 5);
    gateway.clock.advance(5_000);
    await gateway.tick();
  }
  expect(await isDone()).toBe(true);
}

/** A worker with the present time, a new one where the last was killed. */
async function worker(place: number): Promise<SettlingChild> {
  const ms = gateway.clock.now().getTime();
  const living = workers[place];
  if (living?.child.isAlive) {
    if (ms > living.ms) await living.child.ask(`advance ${ms - living.ms}`);
    living.ms = ms;
    return living.child;
  }
  if (living) kills += 1;
  const clock = gateway.clock.now().toISOString();
  const child = new SettlingChild({ databaseUrl: gateway.databaseUrl, settings, clock });
  workers[place] = { child, ms };
  await child.ready();
  return child;
}

const pair = (): Promise<SettlingChild[]> => Promise.all([worker(0), worker(1)]);

/** Both workers do a command at once. The first of them may be killed meanwhile. */
async function both(command: string, killAfterMs: number | null): Promise<void> {
  const children = await pair();
  const answers = children.map((child) => child.ask(command));
  if (killAfterMs !== null) {
    await sleep(killAfterMs);
    await children[0]?.end('SIGKILL');
  }
  await Promise.all(answers);
}

it('closes each month once and pays it once', async () => {
  const dice = new Dice(2026);
  for (let month = 1; month <= 12; month++) {
    await freeChains();
    await earn();
    to(new Date(Date.UTC(2026, month, 1, 0, 6)));
    // In turn a worker dies at a step of the payment, or while it closes and decides.
    if (month % 2 === 1) {
      const crashPoint = crashPoints[((month - 1) / 2) % crashPoints.length] ?? 'payment.sent';
      const failpoint = JSON.stringify({ crashPoint, passing: 1, signal: 'SIGKILL' });
      await Promise.all((await pair()).map((child) => child.ask(`fail ${failpoint}`)));
    }
    await both('commission', month % 2 === 0 ? dice.between(0, 60) : null);
    await both('commission', null);
    for (let block = 0; block < 16; block++) {
      await both('tick', null);
      await gateway.mine('ERC20');
      gateway.clock.advance(2_000);
    }
    await both('tick', null);
  }
  const statements = await gateway.query<{ months: number; closed: number; paid: number; open: number }>(
    `select count(*)::int as months, count(*) filter (where state <> 'open')::int as closed,
            count(*) filter (where state = 'paid')::int as paid, count(*) filter (where state = 'open')::int as open
       from commission_statement group by partner_id order by paid desc`,
  );
  expect(statements.map(({ closed, open }) => [closed, open])).toEqual([
    [12, 1],
    [12, 1],
    [12, 1],
  ]);
  // The second partner reaches the minimum in every other month, the third once.
  const [often, sometimes, once] = statements.map(({ paid }) => paid);
  expect(often).toBe(12);
  expect(sometimes).toBeGreaterThan(3);
  expect(once).toBeGreaterThan(0);
  const [payments] = await gateway.query<{ confirmed: number; other: number; months: number }>(
    `select count(*) filter (where state = 'confirmed')::int as confirmed,
            count(*) filter (where state <> 'confirmed')::int as other,
            (select count(*)::int from commission_statement where state = 'paid') as months
       from payment where kind = 'commission'`,
  );
  expect(payments).toEqual({ confirmed: payments?.months, other: 0, months: payments?.months });
  const sums = await gateway.query<{ differs: string }>(
    `select partner_id from (select partner_id, coin, sum(amount) as amount from commission_entry group by 1, 2) as e
      where amount <> (select -coalesce(sum(l.amount), 0) from ledger_line l
                        where l.account = 'partner:' || e.partner_id and l.coin = e.coin)`,
  );
  expect(sums).toEqual([]);
  expect(kills).toBeGreaterThan(9);
  const { checked, rows } = await reconcile({
    orm: gateway.app.orm,
    adapters: gateway.settlement.adapters,
    clock: gateway.clock,
  });
  expect(rows.filter(({ difference }) => difference !== '0')).toEqual([]);
  const checks = Object.values(checked).reduce((sum, count) => sum + count, 0);
  process.stdout.write(`a year: ${payments?.confirmed} months paid once each, ${kills} kills, ${checks} checks\n`);
}, 900_000);
