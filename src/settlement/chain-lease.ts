import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';

/** The right to work on a chain was taken over by another process. Nothing was written. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}

/**
 * The right of one process to work on a chain. It saves the others the work; what makes it safe is the fence: a number
 * that grows with each change of hands and that every write checks under a lock, so that a process which slept past its
 * lease writes nothing when it wakes.
 */
export interface ChainLease {
  readonly chain: string;
  readonly fence: string;
}

/** Hands out chains to the processes that ask. Times are the database's own. */
export class ChainLeases {
  readonly #orm: MikroORM;
  readonly #owner: string;
  readonly #leaseMs: number;
  /** As a JSON array. */
  readonly #chains: string;

  /** @param chains Those that the owner can work on; it leaves all others to those who can. */
  constructor(orm: MikroORM, owner: string, leaseMs: number, chains: readonly string[]) {
    this.#orm = orm;
    this.#owner = owner;
    this.#leaseMs = leaseMs;
    this.#chains = JSON.stringify(chains);
  }

  /** Makes the rows of chains that have none. */
  async open(): Promise<void> {
    await this.#orm.em
      .fork()
      .execute(
        'insert into chain_state (chain) select jsonb_array_elements_text(?::jsonb) on conflict (chain) do nothing',
        [this.#chains],
      );
  }

  /**
   * Gives a sign of life, renews this process's fair share of the chains and takes what is missing from it. What it has
   * beyond its share is given back.
   */
  async renew(): Promise<ChainLease[]> {
    const em = this.#orm.em.fork();
    const leaseSec = this.#leaseMs / 1000;
    const [row] = await em.execute<{ share: number }[]>(
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
    // Its own rows it waits for: a transaction of its own may hold one for a moment.
    const kept = await em.execute<ChainLease[]>(
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
    const taken = await em.execute<ChainLease[]>(
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

  /** Gives everything back, so that others need not wait. */
  async release(): Promise<void> {
    const em = this.#orm.em.fork();
    await em.execute('update chain_state set lease_owner = null, lease_until = null where lease_owner = ?', [
      this.#owner,
    ]);
    await em.execute('delete from worker where id = ?', [this.#owner]);
  }
}

/**
 * Lets a transaction go on only while the lease's fence is the newest, and keeps it so until the transaction ends.
 *
 * @throws LeaseLost
 */
export async function guardLease(em: EntityManager, { chain, fence }: ChainLease): Promise<void> {
  const rows = await em.execute<{ chain: string }[]>(
    'select chain from chain_state where chain = ? and fence = ? for share',
    [chain, fence],
  );
  if (rows.length === 0) throw new LeaseLost(`another process works on ${chain}`);
}
