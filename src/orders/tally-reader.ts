import type { MikroORM } from '@mikro-orm/postgresql';
import type { Clock } from '../base/clock.ts';
import { Big } from '../base/money.ts';
import type { PriceBook } from '../market/rates/price-book.ts';
import { fixedPercentOf, readAllOrders, readPartnerOrders, worth } from './exposure.ts';
import { pendingUsd, sumOf, type Tally } from './open-order-tally.ts';
import { usdOf } from './usd.ts';

interface TallyReaderOptions {
  readonly orm: MikroORM;
  readonly clock: Clock;
  readonly prices: PriceBook;
  readonly depositWindowSec: number;
}

/** Reads tallies from the database. */
export class TallyReader {
  readonly #options: TallyReaderOptions;

  constructor(options: TallyReaderOptions) {
    this.#options = options;
  }

  /** Reads the tally, once for all that ask at the same time. */
  start(tally: Tally): void {
    tally.reading ??= this.#read(tally).finally(() => {
      tally.reading = null;
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
    const rows = await (tally.partnerId === null
      ? readAllOrders(em, now)
      : readPartnerOrders(em, now, tally.partnerId, depositWindowSec));
    const missed = pending.filter(({ hasFailed }) => !hasFailed);
    const failed = pending.filter(({ hasFailed }) => hasFailed);
    tally.readAtMs = now.getTime();
    // Orders that were admitted during the read. The failed ones were admitted before it.
    const meanwhile = tally.orders - before.orders + failed.length;
    const open = rows.filter(({ what }) => what === 'open').reduce((sum, row) => sum + row.count, 0);
    tally.orders = open + missed.length + meanwhile;
    tally.cancelled = rows.find(({ what }) => what === 'cancelled')?.count ?? 0;
    tally.fixedPercent = fixedPercentOf(rows);
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
}
