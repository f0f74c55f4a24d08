import { randomUUID } from 'node:crypto';
import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import type { Clock } from '../base/clock.ts';
import { advisoryLocks } from '../base/db/database.ts';
import { sql } from '../base/db/sql.ts';
import { Big } from '../base/money.ts';
import type { PriceBook } from '../market/rates/price-book.ts';
import {
  type ExposureCaps,
  fixedPercentOf,
  readAllOrders,
  readPartnerOrders,
  storeShare,
  type TallyRow,
  worth,
} from './exposure.ts';
import { least, most, pendingUsd, sumOf, type Tally } from './open-order-tally.ts';
import { dollars, type Usd, usdOf } from './usd.ts';

export interface TallyReaderOptions {
  readonly orm: MikroORM;
  readonly clock: Clock;
  readonly prices: PriceBook;
  readonly depositWindowSec: number;
  readonly caps: Pick<ExposureCaps, 'fixedAllUsd'>;
}

/** A process takes one part in so many of the free room as its share. An idle one holds no more. */
export const shareParts = 16n;
/** How long other processes count a share: while its orders are admitted, and then stored. */
const shareForMs = 30_000;

/** Reads tallies from the database, and takes the shares of this process with them. */
export class TallyReader {
  readonly #options: TallyReaderOptions;
  /** Names this process beside the others that hold shares. */
  readonly #process = randomUUID();

  constructor(options: TallyReaderOptions) {
    this.#options = options;
  }

  /** Reads the tally, once for all that ask at the same time. */
  start(tally: Tally): void {
    tally.reading ??= this.#read(tally).finally(() => {
      tally.reading = null;
      tally.wanted = 0n;
    });
    // After an error the next create that waits for a read makes one. Others do not wait.
    tally.reading.catch(() => {});
  }

  async #read(tally: Tally): Promise<void> {
    const { orm, clock, prices, depositWindowSec } = this.#options;
    const now = clock.now();
    // The read may miss orders that are being created now. Orders that it does not miss count twice
    // until the next read.
    const pending = [...tally.pending];
    const before = { orders: tally.orders, fixed: tally.usd.fixed.admitted, float: tally.usd.float.admitted };
    const em = orm.em.fork();
    let share = 0n;
    let rows: TallyRow[];
    if (tally.partnerId === null)
      ({ rows, share } = await this.#takeShare(em, now, tally, pendingUsd(pending, 'fixed')));
    else rows = await readPartnerOrders(em, now, tally.partnerId, depositWindowSec);
    const missed = pending.filter(({ hasFailed }) => !hasFailed);
    const failed = pending.filter(({ hasFailed }) => hasFailed);
    tally.readAtMs = now.getTime();
    // Orders that were admitted during the read. The failed ones were admitted before it.
    const meanwhile = tally.orders - before.orders + failed.length;
    const open = rows.filter(({ what }) => what === 'open').reduce((sum, row) => sum + row.count, 0);
    tally.orders = open + missed.length + meanwhile;
    tally.cancelled = rows.find(({ what }) => what === 'cancelled')?.count ?? 0;
    tally.fixedPercent = fixedPercentOf(rows);
    tally.share = share;
    for (const rateType of ['fixed', 'float'] as const) {
      const read = rows
        .filter(({ what }) => what === rateType)
        .map(({ coin, amount }) => usdOf(coin === null ? new Big(amount) : worth(prices, coin, new Big(amount))));
      tally.usd[rateType] = {
        read: sumOf(read) + pendingUsd(missed, rateType),
        admitted: tally.usd[rateType].admitted - before[rateType] + pendingUsd(failed, rateType),
      };
    }
  }

  /**
   * Reads over all partners, and takes a share of what the cap on their fixed-rate orders leaves.
   * It holds the orders that wait for it by then, or a fixed part of the room if that is more.
   *
   * @param heldUsd orders that are being created, which the share of before held.
   */
  #takeShare(em: EntityManager, now: Date, tally: Tally, heldUsd: Usd): Promise<{ rows: TallyRow[]; share: Usd }> {
    return em.transactional(async (tx) => {
      await sql(tx, 'select pg_advisory_xact_lock(?)', [advisoryLocks.exposureShares]);
      // A separate statement: the read needs a snapshot that is taken under the lock.
      const rows = await readAllOrders(tx, now, this.#process);
      const used = sumOf(rows.filter(({ what }) => what === 'fixed').map(({ amount }) => usdOf(new Big(amount))));
      const left = most(dollars(this.#options.caps.fixedAllUsd) - used - heldUsd, 0n);
      const share = least(left, most(left / shareParts, tally.wanted));
      const until = new Date(now.getTime() + shareForMs);
      await storeShare(tx, { process: this.#process, usd: heldUsd + share, until }, now);
      return { rows, share };
    });
  }
}
