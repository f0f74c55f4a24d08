import { randomUUID } from 'node:crypto';
import type { MikroORM } from '@mikro-orm/postgresql';
import type { Clock } from '../../../src/base/clock.ts';
import { Big } from '../../../src/base/money.ts';
import { LiveNetworks } from '../../../src/chains/families/live-networks.ts';
import { Assets } from '../../../src/market/currencies/assets.ts';
import { Currency } from '../../../src/market/currencies/currency.entity.ts';
import { CurrencyCatalogue } from '../../../src/market/currencies/currency-catalogue.ts';
import { type CurrencySeed, currencySeed } from '../../../src/market/currencies/seed.ts';
import type { VenueRules } from '../../../src/market/rates/hold-windows.ts';
import { PriceBook } from '../../../src/market/rates/price-book.ts';
import type { PriceOverride } from '../../../src/market/rates/price-override.entity.ts';
import type { PriceSource } from '../../../src/market/rates/price-source.ts';
import { RateService } from '../../../src/market/rates/rate-service.ts';
import { PriceWindowsInMemory } from './price-windows.ts';

const silent = { isLevelEnabled: () => false, debug() {}, info() {}, warn() {}, error() {} };

/** A row of the table as the database gives it back, with all decimals of its columns. */
export function currencyRow(seed: CurrencySeed, changes: Partial<Currency> = {}): Currency {
  const stored = (amount: string): string => new Big(amount).toFixed(18);
  return Object.assign(new Currency(), {
    ...seed,
    id: randomUUID(),
    isActive: true,
    isDepositEnabled: true,
    isWithdrawEnabled: true,
    minAmount: stored(seed.minAmount),
    maxAmount: stored(seed.maxAmount),
    networkFee: stored(seed.networkFee),
    createdAt: new Date(0),
    updatedAt: new Date(0),
    ...changes,
  });
}

/** A catalogue of rows that come from memory: what `rows` gives at each refresh. */
export function catalogueOf(rows: () => Currency[]): CurrencyCatalogue {
  const em = { execute: async () => [{ fingerprint: JSON.stringify(rows()) }], find: async () => rows() };
  const orm = { em: { fork: () => em } } as unknown as MikroORM;
  return new CurrencyCatalogue(orm, silent);
}

export interface QuotingOptions {
  readonly clock: Clock;
  readonly source: PriceSource;
  readonly rows?: () => Currency[];
  readonly overrides?: () => Promise<readonly PriceOverride[]>;
  readonly venue?: VenueRules;
}

/**
 * The gateway's quotes without its database: prices are refreshed once, and then when the caller
 * says so.
 */
export async function quotingRates({ clock, source, rows, overrides, venue }: QuotingOptions) {
  const catalogue = catalogueOf(rows ?? (() => currencySeed.map((seed) => currencyRow(seed))));
  await catalogue.refresh();
  const prices = new PriceBook({
    clock,
    log: silent,
    source,
    windows: new PriceWindowsInMemory(),
    refreshSec: 5,
    maxAgeSec: 60,
    fixedWindowSec: 60,
    fixedMaxDrift: '0.002',
    ...(overrides ? { overrides } : {}),
    ...(venue ? { venue } : {}),
  });
  await prices.refresh(catalogue.coins());
  const assets = new Assets(new LiveNetworks({ networks: [], others: 'sandbox' } as never));
  return { catalogue, prices, rates: new RateService(catalogue, prices, { float: '0.005', fixed: '0.01' }, assets) };
}
