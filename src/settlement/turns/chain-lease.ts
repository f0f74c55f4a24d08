import { type EntityManager, LockMode, type MikroORM } from '@mikro-orm/postgresql';
import { sql } from '../../base/db/sql.ts';
import { ChainState } from '../../chains/port/chain-state.entity.ts';

/** Another process took over the lease of a chain. Nothing was written. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}

/**
 * The lease of one process on a chain. The lease saves other processes duplicate work; the fencing
 * token makes it safe. The token grows with each change of the owner, and every write checks it
 * under a lock. A process that slept past its lease thus writes nothing when it wakes.
 */
export interface ChainLease {
  readonly chain: string;
  readonly fence: string;
}

/** Shares out the chains among the processes. Times are the database's own. */
export class ChainLeases {
  readonly #orm: MikroORM;
  readonly #owner: string;
  readonly #leaseMs: number;
  /** A JSON array. */
  readonly #chains: string;

  /**
   * @param chains The chains that the owner can work on. It leaves all others to other processes.
   */
  constructor(orm: MikroORM, owner: string, leaseMs: number, chains: readonly string[]) {
    this.#orm = orm;
    this.#owner = owner;
    this.#leaseMs = leaseMs;
    this.#chains = JSON.stringify(chains);
  }

  /** Creates the missing rows of chains. */
  async open(): Promise<void> {
    await sql(
      this.#orm.em.fork(),
      'insert into chain_state (chain) select jsonb_array_elements_text(?::jsonb) on conflict (chain) do nothing',
      [this.#chains],
    );
  }

  /**
   * Records a heartbeat, renews this process's fair share of the chains and takes free ones up to
   * that share. Chains beyond the share are released.
   */
  async renew(): Promise<ChainLease[]> {
    const em = this.#orm.em.fork();
    const leaseSec = this.#leaseMs / 1000;
    const [row] = await sql<{ share: number }>(
      em,
      `with own as (
         insert into worker (id, seen_at) values (?, now()) on conflict (id) do update set seen_at = now()
       ), gone as (
         delete from worker where seen_at < now() - make_interval(secs => ?)
       )
       select ceil(jsonb_array_length(?::jsonb)::numeric
                   / (1 + (select count(*) from worker
                            where id <> ? and seen_at >= now() - make_interval(secs => ?))))::int as share`,
      [this.#owner, 10 * leaseSec, this.#chains, this.#owner, leaseSec],
    );
    const share = row?.share ?? 0;
    // Waits for the locks of its rows: another transaction of this process may hold one
    // briefly.
    const kept = await sql<ChainLease>(
      em,
      `with ranked as (
         select chain, row_number() over (order by chain) <= ? as keeps from chain_state where lease_owner = ?
       )
       update chain_state c
          set lease_until = case when r.keeps then now() + make_interval(secs => ?) end,
              lease_owner = case when r.keeps then c.lease_owner end
         from ranked r where c.chain = r.chain and c.lease_owner = ?
       returning c.chain, c.fence::text as fence, r.keeps`,
      [share, this.#owner, leaseSec, this.#owner],
    );
    const own = kept.filter((lease) => (lease as ChainLease & { keeps: boolean }).keeps);
    if (own.length >= share) return own;
    const taken = await sql<ChainLease>(
      em,
      `with free as (
         select chain from chain_state
          where (lease_until is null or (lease_until < now() and lease_owner <> ?))
            and chain in (select jsonb_array_elements_text(?::jsonb))
          order by lease_until nulls first limit ? for update skip locked
       )
       update chain_state c
          set fence = c.fence + 1, lease_owner = ?, lease_until = now() + make_interval(secs => ?)
         from free where c.chain = free.chain
       returning c.chain, c.fence::text as fence`,
      [this.#owner, this.#chains, share - own.length, this.#owner, leaseSec],
    );
    return [...own, ...taken];
  }

  /** Releases all chains, so that other processes need not wait for the leases to expire. */
  async release(): Promise<void> {
    const em = this.#orm.em.fork();
    await em.nativeUpdate(ChainState, { leaseOwner: this.#owner }, { leaseOwner: null, leaseUntil: null });
    await sql(em, 'delete from worker where id = ?', [this.#owner]);
  }
}

/**
 * Lets a transaction continue only while the lease's fencing token is the newest, and keeps it so
 * until the transaction ends.
 *
 * @throws LeaseLost
 */
export async function guardLease(em: EntityManager, { chain, fence }: ChainLease): Promise<void> {
  const lockMode = LockMode.PESSIMISTIC_READ;
  const state = await em.findOne(ChainState, { chain, fence }, { fields: ['chain'], lockMode });
  if (!state) throw new LeaseLost(`another process works on ${chain}`);
}
