import type { EntityManager } from '@mikro-orm/postgresql';
import { isTestChainId } from './evm-chain-ids.ts';
import type { LiveNetworks } from './live-networks.ts';
import type { NetworkConfig } from './network-config.ts';
import { utxoChains, utxoParams } from './utxo/utxo-params.ts';

/**
 * Which chain a database's rows speak of: 'sandbox', 'evm:<chain id>:<genesis hash>' or 'utxo:<genesis hash>'. It is
 * written when the chain first starts and never changes: heights, deposits and the book of one chain mean nothing on
 * another.
 */
export const sandboxIdentity = 'sandbox';

export function identityOf(network: NetworkConfig, genesis: string): string {
  return network.kind === 'evm' ? `evm:${network.chainId}:${genesis}` : `utxo:${genesis}`;
}

/** The identity as far as the settings alone tell it: all of a Bitcoin-like chain's, and how an EVM chain's begins. */
function expectedStart(network: NetworkConfig): string {
  if (network.kind === 'evm') return `evm:${network.chainId}:`;
  return identityOf(network, utxoParams(network.chain, network.net).genesis);
}

const worthless = new Set([
  sandboxIdentity,
  ...utxoChains.flatMap((chain) =>
    (['test', 'regtest'] as const).map((net) => `utxo:${utxoParams(chain, net).genesis}`),
  ),
]);

/** Whether coins of a chain with this identity, or one that begins so, are money. What nobody knows might be. */
export function isIdentityOfValue(identity: string): boolean {
  const chainId = /^evm:(\d+):/.exec(identity)?.[1];
  return chainId === undefined ? !worthless.has(identity) : !isTestChainId(Number.parseInt(chainId, 10));
}

/** Whether coins on the network are money. */
export function isOfValue(network: NetworkConfig): boolean {
  return isIdentityOfValue(expectedStart(network));
}

/**
 * What stands against running on this database with these networks, as far as can be told without a node. Empty when
 * nothing does.
 */
export async function identityFaults(em: EntityManager, networks: LiveNetworks): Promise<string[]> {
  const rows = await em.execute<{ chain: string; identity: string }[]>(
    'select chain, identity from chain_state where identity is not null order by chain',
  );
  const faults = rows.flatMap(({ chain, identity }) => {
    const network = networks.live.get(chain);
    if (network) {
      return identity.startsWith(expectedStart(network)) ? [] : [otherChain(chain, identity, expectedStart(network))];
    }
    const isTaken = networks.state(chain) === 'sandbox' && identity !== sandboxIdentity;
    return isTaken ? [otherChain(chain, identity, sandboxIdentity)] : [];
  });
  if (faults.length > 0) return faults;
  // Coins that cost nothing, once credited, must never be changed into coins that do.
  const [earlier] = rows.filter(({ identity }) => isIdentityOfValue(identity) !== networks.areOfValue);
  if (!earlier) return [];
  const kinds = networks.areOfValue ? ['main networks', 'no money'] : ['networks of no value', 'money'];
  return [
    `the settings name ${kinds[0]}, and this database has worked on ${earlier.chain} as ${shown(earlier.identity)}, where coins are ${kinds[1]}; ${advice}`,
  ];
}

/**
 * Writes what a chain is when it first starts on this database. A chain that is known is not written again: those who
 * work on it hold its row, and one that starts would wait for their rows, and they for its, in a circle.
 *
 * @returns What is wrong, or null when it is, or now became, the chain of the settings.
 */
export async function claimIdentity(em: EntityManager, chain: string, identity: string): Promise<string | null> {
  const known = (await knownIdentity(em, chain)) ?? (await writeIdentity(em, chain, identity));
  return known === identity ? null : otherChain(chain, known, identity);
}

/** The identity that the chain has then, whoever wrote it. */
async function writeIdentity(em: EntityManager, chain: string, identity: string): Promise<string> {
  const [row] = await em.execute<{ identity: string }[]>(
    `insert into chain_state (chain, identity) values (?, ?)
     on conflict (chain) do update set identity = coalesce(chain_state.identity, excluded.identity)
     returning identity`,
    [chain, identity],
  );
  return row?.identity ?? '';
}

/** What a chain is on this database; null before it first starts. */
export async function knownIdentity(em: EntityManager, chain: string): Promise<string | null> {
  const [row] = await em.execute<{ identity: string | null }[]>('select identity from chain_state where chain = ?', [
    chain,
  ]);
  return row?.identity ?? null;
}

/** Hash of the first block of an EVM chain on this database; null before it first starts. */
export async function knownEvmGenesis(em: EntityManager, chain: string): Promise<string | null> {
  return /^evm:\d+:(.+)$/.exec((await knownIdentity(em, chain)) ?? '')?.[1] ?? null;
}

const advice =
  'a database never changes the chains it works on: set DATABASE_URL to an empty database for these settings, or NETWORKS_FILE to the settings of this database';

function otherChain(chain: string, stored: string, expected: string): string {
  return `${chain} is ${shown(stored)} in this database, and ${shown(expected)} by the settings; ${advice}`;
}

function shown(identity: string): string {
  return identity === sandboxIdentity ? 'the sandbox' : identity.replace(/:$/, '');
}
