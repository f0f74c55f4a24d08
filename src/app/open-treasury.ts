import type { MikroORM } from '@mikro-orm/postgresql';
import { sql } from '../base/db/sql.ts';
import type { ChainAdapter } from '../chains/port/chain-adapter.ts';
import { TransferTask } from '../settlement/treasury/transfer-task.ts';
import { VenueReader, type VenueSource } from '../settlement/treasury/venue-reader.ts';
import type { Foundation } from './foundation.ts';
import type { GatewayShared } from './services.ts';

/** What watches our account at the exchange. */
export interface Treasury {
  /** Null without a key that reads the account. */
  readonly reader: VenueReader | null;
  /** Every worker has it: arrivals wait for it while any worker reads an account. */
  readonly transfers: TransferTask;
}

/**
 * Opens what watches the account at the exchange, and notes which account is watched. Where none
 * is, arrivals at hot wallets count as capital at once.
 *
 * @param venue the exchange of the settings, or null. A worker without a key leaves it to others.
 */
export async function openTreasury(
  { clock, log, outside }: Pick<Foundation, 'clock' | 'log' | 'outside'>,
  { orm, catalogue }: Pick<GatewayShared, 'catalogue'> & { readonly orm: MikroORM },
  adapters: ReadonlyMap<string, ChainAdapter>,
  source: VenueSource | null,
  venue: string | null = source?.name ?? null,
): Promise<Treasury> {
  await noteWatched(orm, venue, source !== null, clock.now());
  const { onTreasuryCrashPoint: onCrashPoint = () => {} } = outside;
  return {
    reader: source && new VenueReader({ orm, clock, log, source, adapters, catalogue, onCrashPoint }),
    transfers: new TransferTask({ orm, clock, catalogue, onCrashPoint }),
  };
}

async function noteWatched(orm: MikroORM, venue: string | null, isRead: boolean, now: Date): Promise<void> {
  await orm.em.fork().transactional(async (em) => {
    await sql(em, 'update venue_account set is_watched = false where is_watched and venue is distinct from ?', [venue]);
    if (venue === null || !isRead) return;
    await sql(
      em,
      `insert into venue_account (venue, is_watched, watched_from) values (?, true, ?)
       on conflict (venue) do update set is_watched = true where not venue_account.is_watched`,
      [venue, now],
    );
  });
}
