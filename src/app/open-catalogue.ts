import type { MikroORM } from '@mikro-orm/postgresql';
import type { LiveNetworks } from '../chains/families/live-networks.ts';
import { CurrencyCatalogue } from '../market/currencies/currency-catalogue.ts';
import type { Foundation } from './foundation.ts';

/** Loads the currencies into memory and keeps them fresh. */
export async function openCatalogue(
  { log, closing }: Foundation,
  { orm, networks }: { readonly orm: MikroORM; readonly networks: LiveNetworks },
): Promise<CurrencyCatalogue> {
  const catalogue = new CurrencyCatalogue(orm, log, networks);
  await catalogue.start();
  closing.add(() => catalogue.stop());
  return catalogue;
}
