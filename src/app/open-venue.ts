import type { MikroORM } from '@mikro-orm/postgresql';
import type { Clock } from '../base/clock.ts';
import { sql } from '../base/db/sql.ts';
import type { Log } from '../base/log.ts';
import type { Config } from '../config/settings.ts';
import type { ExchangeKey } from '../exchanges/exchange.ts';
import { ExchangeProcess } from '../exchanges/exchange-process.ts';
import { FundingAccount } from '../exchanges/funding-account.ts';
import { TradingAccount } from '../exchanges/trading-account.ts';
import type { PriceBook } from '../market/rates/price-book.ts';
import type { LiquidityVenue } from '../settlement/rows/liquidity-venue.ts';
import { inventoryName } from '../settlement/rows/liquidity-venue.ts';
import { ExchangeVenue } from '../settlement/trade/exchange-venue.ts';
import { InventoryVenue } from '../settlement/trade/inventory-venue.ts';
import { isVenueHeld } from '../settlement/treasury/held-coins.ts';
import type { VenueSource } from '../settlement/treasury/venue-reader.ts';
import { StartError } from './start-error.ts';

interface VenueSetup {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  readonly orm: MikroORM;
  readonly prices: PriceBook;
  /** Whether every network is of the sandbox. */
  readonly isSandbox: boolean;
}

interface OpenedVenue {
  readonly venue: LiquidityVenue;
  /** Reads the account at the venue, until that is closed; null without a key for it. */
  readonly source: VenueSource | null;
}

/**
 * Opens the liquidity venue of the settings. Nothing starts before the first trade or the first
 * question about the account.
 */
export function openVenue({ config, clock, log, orm, prices, isSandbox }: VenueSetup): OpenedVenue {
  const { VENUE: address, VENUE_KEY: key, VENUE_SECRET: secret, VENUE_CASH: cash } = config;
  if (address === null || address === 'inventory' || key === null || secret === null) {
    return { venue: new InventoryVenue({ orm, clock, prices, isSandbox }), source: null };
  }
  const reading = fundingKey(config);
  const exchange = { ...address, key, secret, ...(reading ? { funding: reading } : {}) };
  // The imitated exchange has no limit on requests.
  const pace = config.SANDBOX_VENUE === 'on' ? { paceMs: 0 } : {};
  const process = new ExchangeProcess({ exchanges: [exchange], log, ...pace });
  const account = new TradingAccount(address.name, process);
  const isHeld = (coins: readonly string[]) => isVenueHeld(orm.em.fork(), address.name, coins);
  return {
    venue: new ExchangeVenue({ orm, clock, log, account, process, cash, isHeld }),
    source: reading ? new FundingAccount(address.name, process) : null,
  };
}

function fundingKey({ VENUE_FUNDING_KEY: key, VENUE_FUNDING_SECRET: secret }: Config): ExchangeKey | null {
  return key === null || secret === null ? null : { key, secret };
}

/**
 * Refuses a venue while trades are open elsewhere and none here: only the venue that was asked can
 * end them.
 *
 * @throws StartError
 */
export async function refuseOtherVenue(orm: MikroORM, { name }: LiquidityVenue): Promise<void> {
  const open = await sql<{ venue: string; trades: number }>(
    orm.em.fork(),
    `select venue, count(*)::int as trades
       from (select t.order_id, t.venue
               from exchange_order o join trade t on t.order_id = o.id and t.state = 'intended'
              where o.status = 'exchanging'
              union
             select client_id, venue from venue_trade where outcome is not null and squared_at is null) as trade
      group by venue order by venue`,
  );
  if (open.length === 0 || open.some(({ venue }) => venue === name)) return;
  const faults = open.map(({ venue, trades }) => {
    const setting = venue === inventoryName ? 'inventory' : venue;
    return `${trades} ${trades === 1 ? 'trade is' : 'trades are'} open at ${venue}, and only that venue can end them; start with VENUE=${setting} until they are over`;
  });
  throw new StartError(faults.join('\n'));
}
