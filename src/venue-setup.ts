import type { MikroORM } from '@mikro-orm/postgresql';
import type { Clock } from './clock.ts';
import type { Config } from './config.ts';
import { ExchangeProcess } from './exchanges/exchange-process.ts';
import { TradingAccount } from './exchanges/trading-account.ts';
import type { Log } from './log.ts';
import type { PriceBook } from './rates/price-book.ts';
import { ExchangeVenue } from './settlement/exchange-venue.ts';
import type { LiquidityVenue } from './settlement/liquidity-venue.ts';
import { SandboxVenue } from './settlement/sandbox-venue.ts';

export interface VenueSetup {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  readonly orm: MikroORM;
  readonly prices: PriceBook;
}

/** Where liquidity comes from, by the settings. Nothing is started before the first trade. */
export function openVenue({ config, clock, log, orm, prices }: VenueSetup): LiquidityVenue {
  const { VENUE: address, VENUE_KEY: key, VENUE_SECRET: secret, VENUE_CASH: cash } = config;
  if (address === null || address === 'inventory' || key === null || secret === null)
    return new SandboxVenue({ orm, clock, prices });
  const process = new ExchangeProcess({ exchanges: [{ ...address, key, secret }], log });
  return new ExchangeVenue({ orm, clock, log, account: new TradingAccount(address.name, process), process, cash });
}
