import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import type { Clock } from '../../base/clock.ts';
import { sql } from '../../base/db/sql.ts';
import type { ChainAdapter } from '../../chains/port/chain-adapter.ts';
import { bookAll } from '../../ledger/ledger.ts';
import type { CurrencyCatalogue } from '../../market/currencies/currency-catalogue.ts';
import { fundingWaits } from '../rules/funding.ts';
import type { ScannedTo } from '../rules/settling.ts';
import { type ChainLease, LeaseLost } from '../turns/chain-lease.ts';
import type { ChainTask } from '../turns/chain-task.ts';
import { bookArrivals } from './arrivals.ts';
import type { OnTreasuryCrashPoint } from './crash-points.ts';
import { type Look, lookForSpends, noteLooks, takeLooks } from './hand-spends.ts';
import { doubtMs, lateMs, type Round } from './transfers.ts';

interface TransferTaskOptions {
  readonly orm: MikroORM;
  readonly clock: Clock;
  readonly catalogue: CurrencyCatalogue;
  readonly onCrashPoint: OnTreasuryCrashPoint;
}

/** Transactions of one run. */
const mostRounds = 50;
/** Time between two questions to a chain about transactions of the hot wallet. */
const lookEveryMs = 15_000;

/**
 * Matches what an exchange lists with what its chain shows, and books both sides of each transfer
 * once. It runs for the holder of the chain's lease, so that no scan changes the same deposits.
 *
 * - A withdrawal to the hot wallet is matched with its arrival by txid, else by its amount. An
 *   arrival that belongs to none is capital, once a list that was read later does not show it. One
 *   that is found to belong to a withdrawal later is booked over.
 * - A deposit at the exchange that the hot wallet paid, by a transaction that is no payment of the
 *   gateway, is a transfer the other way.
 */
export class TransferTask implements ChainTask {
  readonly everySec = 5;
  readonly #options: TransferTaskOptions;
  /** When each chain was asked last about transactions of the hot wallet. */
  readonly #lookedMs = new Map<string, number>();
  #watched: { readonly atMs: number; readonly is: Promise<boolean> } | null = null;

  constructor(options: TransferTaskOptions) {
    this.#options = options;
  }

  async run(adapter: ChainAdapter, lease: ChainLease): Promise<void> {
    const { orm, onCrashPoint } = this.#options;
    if (!(await this.#isWatched()) || !(await this.#hasWork(orm.em.fork(), adapter.chain))) return;
    const looks = await this.#look(adapter);
    if (looks.length > 0) await onCrashPoint('transfer.looked');
    for (let round = 0; round < mostRounds; round++) {
      const hasMore = await orm.em
        .fork()
        .transactional((em) => this.#round(em, adapter, lease, round === 0 ? looks : []));
      await onCrashPoint('transfer.stored');
      if (!hasMore) return;
    }
  }

  /** Whether an account at an exchange is read, looked up once for all chains. */
  async #isWatched(): Promise<boolean> {
    const { orm, clock } = this.#options;
    const nowMs = clock.now().getTime();
    if (this.#watched === null || Math.abs(nowMs - this.#watched.atMs) >= this.everySec * 1_000) {
      this.#watched = { atMs: nowMs, is: fundingWaits(orm.em.fork()) };
    }
    return this.#watched.is;
  }

  /** One cheap statement for the many runs without anything to do. */
  async #hasWork(em: EntityManager, chain: string): Promise<boolean> {
    const nowMs = this.#options.clock.now().getTime();
    const [row] = await sql<{ has_work: boolean }>(
      em,
      `select (
         exists (select from deposit where chain = ? and purpose = 'funding' and state = 'mined')
         or exists (select from treasury_transfer where chain = ? and state not in ('done', 'returned'))
         or exists (select from venue_movement where kind = 'deposit' and part = 'open')
         or exists (select from treasury_transfer t
                      join venue_movement m on m.venue = t.venue and m.kind = t.movement_kind and m.reference = t.reference
                     where t.chain = ? and t.movement_kind = 'deposit'
                       and (m.changed_at > t.updated_at or t.state = 'returned' and t.entries = 0 and t.created_at > ?))
         or exists (select from treasury_transfer t join deposit d on d.chain = t.chain and d.coin = t.coin
                     where t.chain = ? and t.state = 'returned' and t.created_at > ? and t.arrived = 0 and t.booked_amount = 0
                       and d.purpose = 'funding' and d.transfer_id is null and d.seen_at > t.created_at)
       ) as has_work`,
      [chain, chain, chain, new Date(nowMs - doubtMs), chain, new Date(nowMs - lateMs)],
    );
    return row?.has_work === true;
  }

  /** Looks for spends of the hot wallet, unless that was done just now. */
  async #look(adapter: ChainAdapter): Promise<Look[]> {
    const { orm, clock, catalogue } = this.#options;
    const now = clock.now();
    const lastMs = this.#lookedMs.get(adapter.chain) ?? Number.NEGATIVE_INFINITY;
    if (Math.abs(now.getTime() - lastMs) < lookEveryMs) return [];
    this.#lookedMs.set(adapter.chain, now.getTime());
    const looks = await lookForSpends(orm.em.fork(), adapter, catalogue, now);
    await noteLooks(orm.em.fork(), looks, clock.now());
    return looks;
  }

  async #round(em: EntityManager, adapter: ChainAdapter, lease: ChainLease, looks: readonly Look[]): Promise<boolean> {
    const { clock, catalogue } = this.#options;
    const to = await scannedTo(em, lease);
    const round: Round = { em, adapter, catalogue, to, now: clock.now(), bookings: [] };
    await takeLooks(round, looks);
    const hasMore = await bookArrivals(round);
    await em.flush();
    await bookAll(em, round.bookings);
    return hasMore;
  }
}

/**
 * Locks the state of a chain and reads how far it was scanned.
 *
 * @throws LeaseLost when another process holds the chain now.
 */
async function scannedTo(em: EntityManager, { chain, fence }: ChainLease): Promise<ScannedTo> {
  const [row] = await sql<{ height: number; final: number | null; read_at: string | null }>(
    em,
    `select height::int as height, final_height::int as final, read_at from chain_state
      where chain = ? and fence = ? for update`,
    [chain, fence],
  );
  if (!row) throw new LeaseLost(`another process holds ${chain}`);
  const { read_at: readAt, ...to } = row;
  return { ...to, isAtHead: false, readAt: readAt === null ? null : new Date(readAt) };
}
