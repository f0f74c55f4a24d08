import { setTimeout as sleep } from 'node:timers/promises';
import { paidTwice } from '../chains/recipients.ts';
import type { FaultGateway } from './fault-gateway.ts';
import type { Fault } from './fault-list.ts';
import { type LoadTarget, MixedLoad, type RequestKind, type Seen } from './mixed-load.ts';

/** What a fault did, and what it did not. */
export interface FaultRow {
  readonly name: string;
  readonly requests: number;
  /** Outcomes while the fault lasted and until all was well. */
  readonly outcomes: Readonly<Record<string, number>>;
  readonly worstMs: number;
  /** From the first answer 503 to the last. */
  readonly refusedMs: number;
  readonly acknowledged: number;
  readonly paid: number;
  /**
   * From the end of the fault until an order was made, and until every order that was paid into is
   * completed.
   */
  readonly answeredAfterMs: number;
  readonly settledAfterMs: number;
  /** What must not happen, a line each. */
  readonly problems: readonly string[];
}

/** No answer takes longer, with any fault. */
export const answerBoundMs = 10_000;
/** A gateway is well again by then, by itself. */
const recoveryMs = 60_000;
const settlingMs = 120_000;
const beforeMs = 1_500;
/** Of no client, as recipients follow from it. */
const probeSeed = 2 ** 31;

const expected: Readonly<Record<RequestKind, readonly string[]>> = {
  currencies: ['200'],
  quote: ['200'],
  create: ['201'],
  'create again': ['201', '409'],
  'look-up': ['200'],
  invalid: ['400', '401', '404'],
  staff: ['200'],
};
/** What needs PostgreSQL. */
const needsDatabase: readonly RequestKind[] = ['create', 'create again', 'look-up', 'invalid', 'staff'];

/** Acknowledged orders that are not answered as such, a line each. */
export async function findUnreadable({ restUrl, partnerKey }: LoadTarget, load: MixedLoad): Promise<string[]> {
  const lost: string[] = [];
  const left = [...load.acknowledged.keys()].values();
  const worker = async (): Promise<void> => {
    for (const id of left) {
      const reply = await fetch(`${restUrl}/api/v1/partner/orders/${id}`, {
        headers: { Authorization: `Bearer ${partnerKey}` },
      });
      const text = await reply.text();
      const isThere = reply.status === 200 && JSON.parse(text).id === id;
      if (!isThere) lost.push(`order ${id} was acknowledged and is answered ${reply.status} ${text}`);
    }
  };
  await Promise.all(Array.from({ length: 8 }, worker));
  return lost;
}

/** Orders that are not there, or there twice, a line each. */
export async function findLost(gateway: FaultGateway, load: MixedLoad): Promise<string[]> {
  const lost = await findUnreadable(gateway, load);
  // The recipient of an order is its own.
  const keyed = [...load.acknowledged.values()].filter(({ idempotencyKey }) => idempotencyKey !== null);
  const doubles = await gateway.postgres.rows<{ recipient_address: string; count: number }>(
    `select recipient_address, count(*)::int as count from exchange_order
      join jsonb_to_recordset($1::jsonb) as s (address text, tag text)
        on recipient_address = s.address and recipient_address_tag is not distinct from s.tag
     group by 1 having count(*) > 1`,
    [JSON.stringify(keyed.map(({ recipient }) => recipient))],
  );
  for (const { recipient_address, count } of doubles)
    lost.push(`one idempotency key made ${count} orders, to ${recipient_address}`);
  return lost;
}

/** How the orders that were paid into stand. */
export async function settledOrders(gateway: FaultGateway, load: MixedLoad): Promise<Record<string, number>> {
  const rows = await gateway.postgres.rows<{ status: string; count: number }>(
    `select case when held_at is null then status else 'held' end as status, count(*)::int as count
       from exchange_order where id = any($1::uuid[]) group by 1 order by 1`,
    [[...load.paid.keys()]],
  );
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
}

/**
 * Lets a fault happen to a gateway that is under load, mends it, waits until all is well, and says
 * what happened.
 *
 * @param seed 100 apart for each fault of a gateway, as recipients follow from it.
 */
export async function runFault(gateway: FaultGateway, fault: Fault, seed: number): Promise<FaultRow> {
  const load = new MixedLoad(gateway, { seed, clients: 8, pauseMs: 60, paidShare: 0.15 });
  const before = await processIds(gateway);
  const problems: string[] = [];
  load.start();
  await sleep(beforeMs);
  problems.push(...problemsOf(load.takeSeen(), { ...fault, refused: 'none', alsoAnswers: [] }));

  await fault.begin(gateway);
  await sleep(fault.lastsMs);
  await fault.end(gateway);
  const mended = performance.now();
  const answered = await within(recoveryMs, () => isAnswering(gateway));
  if (!answered) problems.push(`the gateway made no order within ${recoveryMs / 1000} s`);
  const answeredAfterMs = performance.now() - mended;
  // A moment of load after it, which must be as before.
  await sleep(500);
  const seen = load.takeSeen();
  await sleep(beforeMs);
  await load.stop();
  problems.push(...problemsOf(seen, fault), ...problemsOf(load.takeSeen(), { ...fault, refused: 'none' }));

  const isSettled = async (): Promise<boolean> => (await settledOrders(gateway, load)).completed === load.paid.size;
  if (!(await within(settlingMs, isSettled)))
    problems.push(
      `of ${load.paid.size} orders that were paid into are ${JSON.stringify(await settledOrders(gateway, load))}`,
    );
  const settledAfterMs = performance.now() - mended;
  problems.push(...load.problems, ...(await findLost(gateway, load)));
  problems.push(
    ...(await paidTwice((sql, values) => gateway.postgres.rows(sql, values), [...load.acknowledged.values()])),
  );
  problems.push(...(await gateway.differences()));
  const after = await processIds(gateway);
  if (String(after) !== String(before)) problems.push(`processes ${before} are now ${after}`);
  return {
    name: fault.name,
    requests: seen.requests,
    outcomes: seen.counts(),
    worstMs: Math.round(Math.max(0, ...seen.latenciesMs)),
    refusedMs: seen.refusedMs,
    acknowledged: load.acknowledged.size,
    paid: load.paid.size,
    answeredAfterMs,
    settledAfterMs,
    problems,
  };
}

async function processIds(gateway: FaultGateway): Promise<number[]> {
  const running = gateway.workers.filter(({ isRunning }) => isRunning).map(({ pid }) => pid);
  return [gateway.api.pid, ...(await gateway.apiPids()), ...running];
}

/** Requests that were counted in memory, as Redis could not, by all api processes. */
async function insuranceUses({ internalUrl }: FaultGateway): Promise<number> {
  const text = await (await fetch(`${internalUrl}/metrics`, { signal: AbortSignal.timeout(5_000) })).text();
  return Number(/^gateway_rate_limit_insurance_total (\d+)$/m.exec(text)?.[1] ?? Number.NaN);
}

/** Whether the gateway says that it is ready, orders can be made, and Redis counts them. */
async function isAnswering(gateway: FaultGateway): Promise<boolean> {
  const ready = await fetch(`${gateway.internalUrl}/readyz`, { signal: AbortSignal.timeout(5_000) });
  if (ready.status !== 200) return false;
  const load = new MixedLoad(gateway, { seed: probeSeed, clients: 1, pauseMs: 0, paidShare: 0 });
  const before = await insuranceUses(gateway);
  for (let orders = 0; orders < 4; orders += 1) if ((await load.createOne()) !== 201) return false;
  return (await insuranceUses(gateway)) === before;
}

/** Whether it holds in time; what throws does not hold yet. */
export async function within(limitMs: number, holds: () => Promise<boolean>): Promise<boolean> {
  for (const deadline = Date.now() + limitMs; ; await sleep(25)) {
    if (await holds().catch(() => false)) return true;
    if (Date.now() > deadline) return false;
  }
}

/** What clients may see. */
export interface MayBe extends Pick<Fault, 'refused' | 'alsoAnswers'> {
  /** Whether the gateway may end, and so leave requests without an answer. */
  readonly mayEnd?: boolean;
}

/** Outcomes that are not what the fault lets clients see. */
export function problemsOf(seen: Seen, { refused, alsoAnswers = [], mayEnd = false }: MayBe): string[] {
  const problems: string[] = [];
  for (const [kind, outcomes] of seen.outcomes) {
    const allowed = new Set(expected[kind]);
    if (refused === 'orders' && needsDatabase.includes(kind)) allowed.add('503');
    if (alsoAnswers.length > 0 && ['quote', 'create', 'create again'].includes(kind)) allowed.add('422');
    for (const [outcome, count] of outcomes) {
      const isCut = mayEnd && /^(E[A-Z]+|UND_ERR_SOCKET|cut)$/.test(outcome);
      if (!isCut && !allowed.has(outcome)) problems.push(`${count} of '${kind}' were answered ${outcome}`);
    }
  }
  const slow = seen.latenciesMs.filter((ms) => ms > answerBoundMs).length;
  if (slow > 0) problems.push(`${slow} answers took longer than ${answerBoundMs / 1000} s`);
  return problems;
}
