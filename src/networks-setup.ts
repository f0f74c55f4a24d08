import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { LiveNetworks } from './chains/live-networks.ts';
import { liveTransactions } from './chains/live-transactions.ts';
import type { NetworkFile } from './chains/network-file.ts';
import { useUtxoNets } from './chains/utxo/utxo-nets.ts';
import { type Config, ConfigError } from './config.ts';
import { chainCoins } from './currencies/chain-coins.ts';
import type { SigningLimits } from './signer/limits.ts';
import { liveLimits } from './signer/live-limits.ts';

const usualFile = 'networks.yaml';

/**
 * The networks of the settings. Decides the form of addresses for the whole process.
 *
 * @throws ConfigError with every fault of the file.
 */
export async function openNetworks({ NETWORKS_FILE }: Pick<Config, 'NETWORKS_FILE'>): Promise<LiveNetworks> {
  const path = NETWORKS_FILE ?? (existsSync(usualFile) ? resolve(usualFile) : null);
  const networks = new LiveNetworks(path === null ? null : await load(path));
  const nets = [...networks.live.values()].filter((network) => network.kind === 'utxo');
  useUtxoNets(new Map(nets.map(({ chain, net }) => [chain, net])));
  return networks;
}

async function load(path: string): Promise<NetworkFile> {
  if (!existsSync(path)) {
    throw new ConfigError([
      `NETWORKS_FILE names ${path}, which is not there; a good value: networks.yaml (copy networks.example.yaml), or leave it out, and every chain is the sandbox`,
    ]);
  }
  const { loadNetworks, NetworkFileError } = await import('./chains/network-file.ts');
  try {
    return loadNetworks(path, chainCoins);
  } catch (error) {
    if (error instanceof NetworkFileError) throw new ConfigError(error.problems);
    throw error;
  }
}

/** What a signer needs of the live networks: how their transactions are signed, and what may leave them. */
export async function liveSigning({ live }: LiveNetworks): Promise<{
  readonly live: Awaited<ReturnType<typeof liveTransactions>>;
  readonly limits: SigningLimits;
}> {
  const networks = [...live.values()];
  const limits = networks.map((network) => [network.chain, liveLimits(network, chainCoins(network.chain))] as const);
  return { live: await liveTransactions(networks), limits: new Map(limits) };
}

/** Settings whose good values depend on the networks. */
export type TiedSettings = Pick<
  Config,
  'ROLE' | 'SIGNER_SOCKET' | 'PRICE_SOURCES' | 'PRICE_MIN_SOURCES' | 'VENUE' | 'REQUIRE_DURABLE_COMMITS'
>;

/**
 * What of the other settings does not go together with these networks: keys of real coins stay in a process of their
 * own, and real coins are changed at prices that are real and that no single exchange tells. Empty when nothing is wrong.
 */
export function unsafeSettings(settings: TiedSettings, networks: LiveNetworks): string[] {
  const faults: string[] = [];
  const live = [...networks.live.keys()].join(', ');
  if (live !== '' && settings.ROLE !== 'api' && settings.SIGNER_SOCKET === null) {
    faults.push(
      `SIGNER_SOCKET is not set, and live networks (${live}) need a signer process (npm run signer); a good value: /run/gateway/signer.sock`,
    );
  }
  if (!networks.areOfValue) return faults;
  const why = `and the networks are of value (${live})`;
  if (settings.PRICE_SOURCES.length === 0) {
    faults.push(`PRICE_SOURCES is not set, so that prices would be invented, ${why}; a good value: kraken,binance`);
  }
  if (settings.PRICE_MIN_SOURCES < 2) {
    faults.push(
      `PRICE_MIN_SOURCES=${settings.PRICE_MIN_SOURCES} takes the word of one exchange for the price, ${why}; a good value: 2`,
    );
  }
  if (settings.VENUE === null) {
    const what =
      settings.ROLE === 'api'
        ? 'pairs would have no limit by the depth of the venue'
        : 'exchanges would be made with the sandbox';
    faults.push(
      `VENUE is not set, so that ${what}, ${why}; a good value: kraken, or inventory to exchange from your own wallets`,
    );
  }
  if (!settings.REQUIRE_DURABLE_COMMITS) {
    faults.push(`REQUIRE_DURABLE_COMMITS=false may lose orders, ${why}; a good value: true`);
  }
  return faults;
}
