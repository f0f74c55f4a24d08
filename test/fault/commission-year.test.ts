import { setTimeout as sleep } from 'node:timers/promises';
import { addressExample } from '../../src/chains/addresses/address.ts';
import type { CrashPoint } from '../../src/settlement/turns/crash-point.ts';
import { SettlingChild } from '../support/faults/settling-child.ts';
import { TestClock } from '../support/gateway/clock.ts';
import { Dice } from '../support/gateway/dice.ts';
import { type SettledGateway, startSettledGateway } from '../support/gateway/settled-gateway.ts';

// A year of three partners. Two workers close and pay each month together, and are killed while
// they do it.

const settings = { PRICE_MAX_AGE_SEC: '31536000', CHAIN_LEASE_MS: '1000', COMMISSION_MIN_USD: '50' };
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
const workers: (SettlingChild | null)[] = [null, null];
let kills = 0;

const start = (): SettlingChild =>
  new SettlingChild({ databaseUrl: gateway.databaseUrl, settings, clock: gateway.clock.now().toISOString() });

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
  for (const worker of workers) await worker?.end('SIGKILL');
  await gateway?.stop();
});

const to = (at: Date): void => gateway.clock.advance(at.getTime() - gateway.clock.now().getTime());

async function earn(): Promise<void> {
  for (const [index, { key }] of partners.entries()) {
    const order = await gateway.order({ amount_from: 0.05, rate_type: 'float', markup_bps: markups[index] }, key);
    await gateway.deposit(order);
    // The killed workers hold the chains until their leases end.
    for (let time = 0; time < 20 && (await gateway.show(order)).status !== 'completed'; time++) {
      await gateway.settle(order);
      await sleep(200);
    }
    expect((await gateway.show(order)).status).toBe('completed');
  }
}

/** A worker with the present time, a new one where the last was killed. */
async function worker(place: number): Promise<SettlingChild> {
  const living = workers[place];
  if (living?.isAlive) return living;
  const child = start();
  workers[place] = child;
  await child.ready();
  return child;
}

/** Both workers do a command at once. One of them may be killed meanwhile. */
async function both(command: string, killAfterMs: number | null): Promise<void> {
  const pair = [await worker(0), await worker(1)];
  const [victim] = pair;
  const answers = pair.map((child) => child.ask(command));
  if (killAfterMs !== null && victim) {
    await sleep(killAfterMs);
    await victim.end('SIGKILL');
    kills += 1;
  }
  await Promise.all(answers);
}

it('closes each month once and pays it once', async () => {
  const dice = new Dice(2026);
  for (let month = 1; month <= 12; month++) {
    for (const child of workers) await child?.end('SIGKILL');
    await earn();
    to(new Date(Date.UTC(2026, month, 1, 0, 6)));
    const [first] = [await worker(0), await worker(1)];
    const crashPoint = crashPoints[month % crashPoints.length] ?? 'payment.sent';
    await first?.ask(`fail ${JSON.stringify({ crashPoint, passing: 1, signal: 'SIGKILL' })}`);
    await both('commission', month % 2 === 0 ? dice.between(0, 60) : null);
    await both('commission', null);
    for (let block = 0; block < 16; block++) {
      await both('tick', null);
      if (workers.some((child) => !child?.isAlive)) kills += 1;
      await gateway.mine('ERC20');
      gateway.clock.advance(2_000);
      for (const place of [0, 1]) await (await worker(place)).ask('advance 2000');
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
  expect(kills).toBeGreaterThan(6);
  expect(await gateway.differences()).toEqual([]);
  process.stdout.write(`a year: ${payments?.confirmed} months paid once each, ${kills} kills\n`);
}, 900_000);
