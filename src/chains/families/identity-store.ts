import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from '../../base/db/sql.ts';
import { ChainState } from '../port/chain-state.entity.ts';
import { expectedStart, isIdentityOfValue, sandboxIdentity } from './chain-identity.ts';
import type { LiveNetworks } from './live-networks.ts';

/**
 * What forbids running these networks on this database, as far as it is known without a node. Empty
 * when nothing does.
 */
export async function identityFaults(em: EntityManager, networks: LiveNetworks): Promise<string[]> {
  const states = await em.find(
    ChainState,
    { identity: { $ne: null } },
    { fields: ['chain', 'identity'], orderBy: { chain: 'asc' }, disableIdentityMap: true },
  );
  const rows = states.map(({ chain, identity }) => ({ chain, identity: identity ?? '' }));
  const faults = rows.flatMap(({ chain, identity }) => {
    const network = networks.live.get(chain);
    if (network) {
      return identity.startsWith(expectedStart(network)) ? [] : [otherChain(chain, identity, expectedStart(network))];
    }
    const isTaken = networks.state(chain) === 'sandbox' && identity !== sandboxIdentity;
    return isTaken ? [otherChain(chain, identity, sandboxIdentity)] : [];
  });
  if (faults.length > 0) return faults;
  // Coins without value, once credited, must never be exchanged for coins with value.
  const [earlier] = rows.filter(({ identity }) => isIdentityOfValue(identity) !== networks.areOfValue);
  if (!earlier) return [];
  const kinds = networks.areOfValue ? ['main networks', 'no money'] : ['networks of no value', 'money'];
  return [
    `the settings name ${kinds[0]}, and this database has worked on ${earlier.chain} as ${shown(earlier.identity)}, where coins are ${kinds[1]}; ${advice}`,
  ];
}

/**
 * Writes the identity of a chain at its first start on this database. A known chain is not written
 * again, because its running workers hold the row. A starting process would wait for them, and they
 * for its rows: a deadlock.
 *
 * @returns What is wrong, or null when the stored identity, old or new, is that of the settings.
 */
export async function claimIdentity(em: EntityManager, chain: string, identity: string): Promise<string | null> {
  const known = (await knownIdentity(em, chain)) ?? (await writeIdentity(em, chain, identity));
  return known === identity ? null : otherChain(chain, known, identity);
}

/** Writes the identity and returns the stored one, which another process may have written first. */
async function writeIdentity(em: EntityManager, chain: string, identity: string): Promise<string> {
  const [row] = await sql<{ identity: string }>(
    em,
    `insert into chain_state (chain, identity) values (?, ?)
     on conflict (chain) do update set identity = coalesce(chain_state.identity, excluded.identity)
     returning identity`,
    [chain, identity],
  );
  return row?.identity ?? '';
}

/** The identity of a chain on this database; null before its first start. */
export async function knownIdentity(em: EntityManager, chain: string): Promise<string | null> {
  const state = await em.findOne(ChainState, { chain }, { fields: ['identity'], disableIdentityMap: true });
  return state?.identity ?? null;
}

const advice =
  'a database never changes the chains it works on: set DATABASE_URL to an empty database for these settings, or NETWORKS_FILE to the settings of this database';

function otherChain(chain: string, stored: string, expected: string): string {
  return `${chain} is ${shown(stored)} in this database, and ${shown(expected)} by the settings; ${advice}`;
}

function shown(identity: string): string {
  return identity === sandboxIdentity ? 'the sandbox' : identity.replace(/:$/, '');
}
