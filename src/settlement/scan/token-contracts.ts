import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from '../../base/db/sql.ts';
import type { LiveNetworks } from '../../chains/families/live-networks.ts';
import { networkById } from '../../chains/networks/networks.ts';
import { Currency } from '../../market/currencies/currency.entity.ts';

/**
 * Writes the contracts of live networks to the currencies, so that the database alone defines a
 * token. Joins the caller's transaction, which must roll back when there are faults.
 *
 * @returns the faults: each token whose contract changed after deposits of it.
 */
export async function writeTokenContracts(em: EntityManager, networks: LiveNetworks, now: Date): Promise<string[]> {
  const rows = await em.find(Currency, { contract: { $ne: null } });
  const faults: string[] = [];
  for (const [chain, config] of networks.live) {
    for (const [coin, contract] of config.tokens) {
      const row = rows.find((each) => each.coin === coin && networkById(each.network)?.chain === chain);
      if (!row) {
        faults.push(
          `networks.${chain}.tokens.${coin} is not a currency of this database; run: npm run -s cli -- db seed`,
        );
      } else if (row.contract !== contract) {
        if (await wasDeposited(em, row)) {
          faults.push(
            `networks.${chain}.tokens.${coin} is ${contract}, and this database holds deposits of ${coin} on ${row.network} under ${row.contract}; put that contract back, or use another database`,
          );
        }
        row.contract = contract;
        row.updatedAt = now;
      }
    }
  }
  return faults;
}

async function wasDeposited(em: EntityManager, { coin, network }: Currency): Promise<boolean> {
  const rows = await sql(em, 'select 1 from deposit where coin = ? and network = ? limit 1', [coin, network]);
  return rows.length > 0;
}
