import type { EntityManager } from '@mikro-orm/postgresql';
import { sqlState } from '../base/db/database.ts';
import { sql } from '../base/db/sql.ts';
import { AppError } from '../base/errors.ts';

/**
 * Most deliveries that a partner may ask for in a day of UTC: replays, tests and samples. Each is
 * kept for 30 days with its attempts, in about 1.1 kB: 55 MB a day. It is five replays of the
 * largest size. A partner that missed more reads `GET /partner/events`, which stores nothing.
 */
export const mostAskedPerDay = 50_000;

const dayMs = 86_400_000;
const busySec = 2;
/** PostgreSQL waited too long for a lock. */
const lockNotAvailable = '55P03';

/** What a partner may ask for now, while the transaction that took it lasts. */
interface Allowance {
  readonly left: number;
  /** Counts the deliveries that were made. */
  use(made: number): Promise<void>;
}

/**
 * Takes the allowance of a partner in the transaction of `em`, which alone holds it until it ends.
 * So one replay of a partner runs at a time, over all processes. Take it before any lock of an
 * endpoint, as a replay does.
 *
 * @param whenHeld whether it waits for another transaction, as long as the connection's locks do.
 * @param least the deliveries that must be left.
 * @throws AppError rate_limited while another transaction holds it, and when fewer are left.
 */
export async function takeAllowance(
  em: EntityManager,
  partnerId: string,
  now: Date,
  whenHeld: 'wait' | 'refuse',
  least = 1,
): Promise<Allowance> {
  const day = now.toISOString().slice(0, 10);
  const [row] = await locked(em, partnerId, day, whenHeld === 'wait' ? '' : ' skip locked');
  if (!row) throw new AppError('rate_limited', 'a replay of this account is under way', { retryAfterSec: busySec });
  const left = mostAskedPerDay - row.made;
  if (left < least) {
    const retryAfterSec = Math.ceil((dayMs - (now.getTime() % dayMs)) / 1000);
    const detail = `an account may ask for ${mostAskedPerDay} deliveries a day, and ${Math.max(0, left)} are left; the next day begins at 00:00 UTC`;
    throw new AppError('rate_limited', detail, { retryAfterSec });
  }
  return {
    left,
    use: async (made) => {
      await sql(em, 'update webhook_allowance set day = greatest(day, ?::date), made = ? where partner_id = ?', [
        day,
        row.made + made,
        partnerId,
      ]);
    },
  };
}

async function locked(
  em: EntityManager,
  partnerId: string,
  day: string,
  otherwise: '' | ' skip locked',
): Promise<{ readonly made: number }[]> {
  try {
    await sql(
      em,
      'insert into webhook_allowance (partner_id, day, made) values (?, ?::date, 0) on conflict do nothing',
      [partnerId, day],
    );
    // Another process, whose clock is ahead, may have begun the next day.
    return await sql(
      em,
      `select case when day >= ?::date then made else 0 end as made
         from webhook_allowance where partner_id = ? for update${otherwise}`,
      [day, partnerId],
    );
  } catch (error) {
    // Another transaction holds the row, or makes the first one of the partner.
    if (sqlState(error) === lockNotAvailable) return [];
    throw error;
  }
}
