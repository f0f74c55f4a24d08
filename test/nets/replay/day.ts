import { paidTwice } from '../../support/chains/recipients.ts';
import { createDatabase } from '../../support/database/database.ts';
import { badHistories } from '../../support/gateway/settlement-model/invariants.ts';
import { Hooks } from './hooks.ts';
import { type PlannedOrder, planOrder } from './plan.ts';
import { partnersOfTown, Town } from './town.ts';
import { type Category, type OrderLines, readTown, type Transcript } from './transcript.ts';

export interface DayOptions {
  readonly orders: number;
  readonly seed: number;
  readonly onProgress?: (line: string) => void;
}

/** What a day left behind, and what was wrong with it. */
export interface Day {
  readonly counts: Readonly<Record<string, number>>;
  readonly transcript: Transcript;
  /** Broken invariants, one line each. */
  readonly faults: readonly string[];
  /** Warnings and errors in the logs, by their event. They explain a difference, and are none. */
  readonly logged: Readonly<Record<string, number>>;
}

const progressMs = 5_000;
/** From this number of orders on, two gateways play the day concurrently, with half of it each. */
const ordersOfTwoTowns = 2_000;
/**
 * Steps that bring orders, of a small day and of a large one. A step costs far more than its
 * orders, so there are few. The large day has a kill for each crash point.
 */
const [stepsOfSmall, stepsOfLarge] = [16, 28];

/**
 * Plays a day from its seed, on databases that are copies of the template of the test server, and
 * reads what it left. Two calls with the same options on the same commit return the same.
 */
export async function playDay({ orders, seed, onProgress = () => {} }: DayOptions): Promise<Day> {
  const count = orders < ordersOfTwoTowns ? 1 : 2;
  const perTown = Math.ceil(orders / count);
  const steps = count === 1 ? stepsOfSmall : stepsOfLarge;
  const hooks = await Hooks.start();
  const databases = [];
  const towns: Town[] = [];
  try {
    for (let number = 0; number < count; number += 1) {
      const database = await createDatabase();
      databases.push(database);
      const first = number * perTown;
      const its = Math.max(0, Math.min(perTown, orders - first));
      const ordersBefore = (step: number): number => Math.floor((Math.min(step, steps) * its) / steps);
      const ordersIn = (step: number): PlannedOrder[] =>
        Array.from({ length: ordersBefore(step + 1) - ordersBefore(step) }, (_, place) =>
          planOrder(seed, first + ordersBefore(step) + place, number, step, partnersOfTown),
        );
      towns.push(new Town({ number, seed, steps, ordersIn, databaseUrl: database.url, hooks }));
    }
    const progress = setInterval(() => {
      const made = towns.reduce((sum, town) => sum + town.made.size, 0);
      const kills = towns.reduce((sum, town) => sum + town.counts.kills, 0);
      onProgress(`step ${towns.map(({ step }) => step).join(' and ')} of ${steps}, ${made} orders, ${kills} kills`);
    }, progressMs);
    try {
      await Promise.all(towns.map((town) => town.play()));
    } finally {
      clearInterval(progress);
    }
    onProgress('reading what the day left');
    return await judge(towns, hooks, orders);
  } finally {
    await Promise.all(towns.map((town) => town.close()));
    await Promise.all(databases.map((database) => database.drop()));
    await hooks.stop();
  }
}

async function judge(towns: readonly Town[], hooks: Hooks, planned: number): Promise<Day> {
  const orders = new Map<number, OrderLines>();
  const others: string[] = [];
  const faults = [...hooks.faults];
  const counts: Record<string, number> = { orders: 0 };
  const logged: Record<string, number> = {};
  const add = (name: string, count: number): void => {
    counts[name] = (counts[name] ?? 0) + count;
  };
  for (const [number, town] of towns.entries()) {
    faults.push(...(await findFaults(town)));
    const transcript = await readTown(town, number, hooks);
    for (const [index, lines] of transcript.orders) orders.set(index, lines);
    others.push(...transcript.others);
    for (const [name, count] of Object.entries(await countsOf(town))) add(name, count);
    for (const [name, count] of Object.entries(town.counts)) add(name, count);
    for (const [event, count] of town.logged) logged[event] = (logged[event] ?? 0) + count;
  }
  add('orders', orders.size);
  add('webhook bodies', hooks.count);
  if (orders.size !== planned) faults.push(`${planned} orders were planned, and ${orders.size} are there`);
  const sorted = new Map([...orders].sort(([one], [other]) => one - other));
  return { counts, transcript: { orders: sorted, others }, faults, logged };
}

async function countsOf(town: Town): Promise<Record<string, number>> {
  const rows = await town.rows<{ name: string; count: number }>(
    `select 'status ' || case when held_at is null then status else 'held' end as name, count(*)::int as count
       from exchange_order group by 1
     union all select 'events', count(*)::int from order_event
     union all select 'ledger lines', count(*)::int from ledger_line
     union all select 'payments', count(*)::int from payment
     union all select 'staff actions', count(*)::int from staff_action
     union all select 'questions', count(*)::int from order_action
     order by 1`,
  );
  return Object.fromEntries(rows.map(({ name, count }) => [name, count]));
}

/** What must hold at the end of every day. */
async function findFaults(town: Town): Promise<string[]> {
  const made = [...town.made.values()].map(({ id, plan }) => ({ id, recipient: plan.recipient }));
  const broken = await town.rows<{ what: string }>(
    `select 'order ' || id || ' stays ' || status as what from exchange_order
      where held_at is null and status not in ('completed', 'refunded', 'expired', 'failed')
     union all
     select 'payment ' || p.id || ' stays ' || p.state || ' (' || coalesce(p.problem, '') || ')'
       from payment p left join exchange_order o on o.id = p.order_id
      where p.state not in ('confirmed', 'dead') and o.held_at is null and o.status is distinct from 'failed'
     union all
     select coin || ' on ' || network || ' sums to ' || sum(amount)
       from ledger_line group by coin, network having sum(amount) <> 0
     union all
     select 'order ' || order_id || ' has ' || count(*) || ' payouts' from payment
      where kind = 'payout' and state <> 'dead' group by order_id having count(*) > 1
     union all
     select 'deposit ' || deposit_id || ' is paid ' || count(*) || ' times as ' || leg from payment
      where state <> 'dead' and deposit_id is not null group by deposit_id, leg having count(*) > 1
     union all
     select 'order ' || o.id || ' is ' || o.status || ' with ' || count(p.id) || ' ' || k.kind || 's of its deposit'
       from exchange_order o join (values ('completed', 'payout'), ('refunded', 'refund')) as k (status, kind) using (status)
       left join payment p on p.order_id = o.id and p.kind = k.kind and p.deposit_id = o.deposit_id
                          and p.leg = 'main' and p.state = 'confirmed'
      group by o.id, o.status, k.kind having count(p.id) <> 1`,
  );
  return [
    ...broken.map(({ what }) => what),
    ...(await paidTwice(town.rows, made)),
    ...(await badHistories(town.rows)),
    ...(await town.reconcile()),
  ];
}

export type { Category };
