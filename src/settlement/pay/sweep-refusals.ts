import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from '../../base/db/sql.ts';
import type { ChainTraits } from '../../chains/port/chain-adapter.ts';
import type { Payment } from '../rows/payment.entity.ts';

/** Coins that their chain does not let us sweep now. */
export interface RefusedSweep extends Pick<Payment, 'chain' | 'coin' | 'network' | 'contract'> {
  /** Addresses, or keys of outputs. */
  readonly sources: readonly string[];
  /** Code of the refusal. */
  readonly problem: string;
}

/** Seconds until the first of several tries. The pause doubles with each one, up to `mostSec`. */
const firstSec = 60;
const mostSec = 3_600;
/** Every pause is at its bound before that many doublings. */
const mostDoublings = 10;
/** Deaths of a sent sweep that are no refusal. Its coins are swept again at once. */
const notRefused = new Set(['conflict', 'expired']);

/**
 * Records that sources cannot be swept, and extends the pause until each is tried again. Staff see
 * lasting refusals as items of attention.
 *
 * @param leastSec The pause is no shorter.
 */
export async function noteRefusedSweep(
  em: EntityManager,
  { chain, coin, network, contract, sources, problem }: RefusedSweep,
  now: Date,
  leastSec = firstSec,
): Promise<void> {
  const pauseAfter = (tries: string): string =>
    `least(${mostSec}, greatest(?::int, ${firstSec} * 2 ^ least(${mostDoublings}, ${tries}))) * interval '1 second'`;
  await sql(
    em,
    `insert into sweep_refusal as r (chain, source, contract, coin, network, problem, since, tries, again_at)
     select ?, source, ?, ?, ?, ?, ?, 1, ?::timestamptz + ${pauseAfter('0')}
       from jsonb_array_elements_text(?::jsonb) as source
     on conflict (chain, source, contract) do update
        set problem = excluded.problem, tries = r.tries + 1, again_at = excluded.since + ${pauseAfter('r.tries')}`,
    [chain, contract, coin, network, problem, now, now, leastSec, JSON.stringify(sources), leastSec],
  );
}

/**
 * Records the refusal of a sweep that ended as dead. The row of a payment stays for ever, so that
 * there is one an hour at most.
 */
export async function noteDeadSweep(em: EntityManager, sweep: Payment): Promise<void> {
  const { problem, sources, endedAt } = sweep;
  if (problem === null || sources === null || endedAt === null || notRefused.has(problem)) return;
  await noteRefusedSweep(em, { ...fieldsOf(sweep), sources, problem }, endedAt, mostSec);
}

function fieldsOf({ chain, coin, network, contract }: Payment): Omit<RefusedSweep, 'sources' | 'problem'> {
  return { chain, coin, network, contract };
}

/** Removes the refusals of sources whose sweep is not refused any more. */
export async function forgetRefusedSweeps(
  em: EntityManager,
  { chain, contract, sources }: Pick<RefusedSweep, 'chain' | 'contract' | 'sources'>,
): Promise<void> {
  await sql(
    em,
    `delete from sweep_refusal
      where chain = ? and contract is not distinct from ? and source in (select jsonb_array_elements_text(?::jsonb))`,
    [chain, contract, JSON.stringify(sources)],
  );
}

/** SQL, by what a chain holds: whether the coins of a refusal `r` are still to be swept. */
const isLeft: Readonly<Record<ChainTraits['ledger'], string>> = {
  outputs: `exists (select from own_output o where o.chain = r.chain and o.key = r.source and o.spent_txid is null)`,
  accounts: `(exists (select from deposit d
                       where d.chain = r.chain and d.address = r.source and d.contract is not distinct from r.contract
                         and d.state = 'credited' and d.swept_by is null and d.purpose = 'order')
              or exists (select from payment p
                          where p.chain = r.chain and p.sources = array[r.source] and p.kind = 'sweep'
                            and p.contract is not distinct from r.contract and p.state not in ('confirmed', 'dead')))`,
};

/**
 * Removes the refusals of a chain whose coins are swept by now, or are not swept any more.
 *
 * @param coins The coins that the settings have swept.
 */
export async function forgetEndedRefusals(
  em: EntityManager,
  { chain, traits }: { readonly chain: string; readonly traits: Pick<ChainTraits, 'ledger'> },
  coins: readonly string[],
): Promise<void> {
  await sql(
    em,
    `delete from sweep_refusal r
      where chain = ? and not (coin in (select jsonb_array_elements_text(?::jsonb)) and ${isLeft[traits.ledger]})`,
    [chain, JSON.stringify(coins)],
  );
}

/** SQL: refusals, as `r`, whose sources are not tried before a moment, which it binds. */
export const pausedSweeps = 'sweep_refusal r where r.again_at > ?';
