import type { MikroORM } from '@mikro-orm/postgresql';
import type { Clock } from './clock.ts';
import type { Config } from './config.ts';
import { ExchangeProcess } from './exchanges/exchange-process.ts';
import type { Log } from './log.ts';
import type { PriceSource } from './rates/price-source.ts';
import { ExchangePriceSource } from './rates/sources/exchange-price-source.ts';
import { sandboxPriceOverrides } from './rates/sources/sandbox-price-overrides.ts';
import { SandboxPriceSource } from './rates/sources/sandbox-price-source.ts';
import type { Surroundings } from './surroundings.ts';

export interface PriceSetup {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  readonly orm: MikroORM;
  readonly surroundings: Surroundings;
}

/** Where prices come from, by the settings. */
export function openPriceSource({ config, clock, log, orm, surroundings }: PriceSetup): {
  readonly priceSource: PriceSource;
  readonly closePrices: () => Promise<void>;
} {
  if (surroundings.priceSource) return { priceSource: surroundings.priceSource, closePrices: async () => {} };
  if (config.PRICE_SOURCES.length === 0) {
    const overrides = () => sandboxPriceOverrides(orm);
    const priceSource = new SandboxPriceSource(clock, config.SANDBOX_PRICE_SEED, overrides);
    return { priceSource, closePrices: async () => {} };
  }
  const process = new ExchangeProcess({ exchanges: config.PRICE_SOURCES, log });
  const priceSource = new ExchangePriceSource({
    clock,
    log,
    process,
    exchanges: config.PRICE_SOURCES.map(({ name }) => name),
    rules: {
      minSources: config.PRICE_MIN_SOURCES,
      outlier: config.PRICE_OUTLIER,
      disagreement: config.PRICE_DISAGREEMENT,
    },
    staleSec: config.PRICE_STALE_SEC,
  });
  return { priceSource, closePrices: () => process.close() };
}
