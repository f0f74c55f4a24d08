import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { useAddressForms } from '../chains/families/families.ts';
import { LiveNetworks } from '../chains/families/live-networks.ts';
import { liveTransactions } from '../chains/families/live-transactions.ts';
import type { NetworkFile } from '../chains/families/network-file.ts';
import { inventsPrices } from '../config/checks.ts';
import { ConfigError } from '../config/load-config.ts';
import type { Config } from '../config/settings.ts';
import { chainCoins } from '../market/currencies/chain-coins.ts';
import type { SigningLimits } from '../signer/limits.ts';
import { liveLimits } from '../signer/live-limits.ts';

const usualFile = 'networks.yaml';

/**
 * The networks of the settings. Decides the form of addresses for the whole process.
 *
 * @throws ConfigError with every fault of the file.
 */
export async function openNetworks({ NETWORKS_FILE }: Pick<Config, 'NETWORKS_FILE'>): Promise<LiveNetworks> {
  const path = NETWORKS_FILE ?? (existsSync(usualFile) ? resolve(usualFile) : null);
  const networks = new LiveNetworks(path === null ? null : await load(path));
  useAddressForms([...networks.live.values()]);
  return networks;
}

/** The networks of the settings, where all other settings fit them. @throws ConfigError */
export async function openSafeNetworks(config: Config): Promise<LiveNetworks> {
  const networks = await openNetworks(config);
  const unsafe = unsafeSettings(config, networks);
  if (unsafe.length > 0) throw new ConfigError(unsafe);
  return networks;
}

async function load(path: string): Promise<NetworkFile> {
  if (!existsSync(path)) {
    throw new ConfigError([
      `NETWORKS_FILE names ${path}, which is not there; a good value: networks.yaml (copy networks.example.yaml), or leave it out, and every chain is the sandbox`,
    ]);
  }
  const { loadNetworks, NetworkFileError } = await import('../chains/families/network-file.ts');
  try {
    return loadNetworks(path, chainCoins);
  } catch (error) {
    if (error instanceof NetworkFileError) throw new ConfigError(error.problems);
    throw error;
  }
}

/**
 * What a signer needs of the live networks: how their transactions are signed, and what may leave
 * them.
 */
export async function liveSigning({ live }: LiveNetworks): Promise<{
  readonly live: Awaited<ReturnType<typeof liveTransactions>>;
  readonly limits: SigningLimits;
}> {
  const networks = [...live.values()];
  const limits = networks.map((network) => [network.chain, liveLimits(network, chainCoins(network.chain))] as const);
  return { live: await liveTransactions(networks), limits: new Map(limits) };
}

/** Settings whose good values depend on the networks. */
type TiedSettings = Pick<
  Config,
  | 'ROLE'
  | 'SIGNER_SOCKET'
  | 'PRICE_SOURCES'
  | 'VENUE'
  | 'SANDBOX_VENUE'
  | 'DEPOSIT_WINDOW_SEC'
  | 'WEBHOOK_ALLOW_LOOPBACK'
>;

/**
 * The longest DEPOSIT_WINDOW_SEC on a network of value. In a longer one a user watches the market,
 * and chooses between an old price and the market at no cost.
 */
const longestWindowSec = 7_200;

/**
 * The settings that do not fit these networks. Keys of real coins need a separate process. Real
 * coins need real prices, from more than one exchange. Empty when nothing is wrong.
 */
export function unsafeSettings(settings: TiedSettings, networks: LiveNetworks): string[] {
  const faults: string[] = [];
  const live = [...networks.live.keys()].join(', ');
  if (live !== '' && settings.ROLE !== 'api' && settings.SIGNER_SOCKET === null) {
    faults.push(
      `SIGNER_SOCKET is not set, and live networks (${live}) need a signer process (npm run signer); a good value: /run/gateway/signer.sock`,
    );
  }
  if (live !== '' && settings.SANDBOX_VENUE === 'on') {
    faults.push(
      `SANDBOX_VENUE is on, and an imitated exchange moves coins on sandbox chains only, while ${live} are real networks here; a good value: off`,
    );
  }
  if (live !== '' && settings.WEBHOOK_ALLOW_LOOPBACK === 'on') {
    faults.push(
      `WEBHOOK_ALLOW_LOOPBACK is on, and partners would reach the services of this machine, while ${live} are real networks here; a good value: off`,
    );
  }
  if (!networks.areOfValue) return faults;
  const why = `and the networks are of value (${live})`;
  if (inventsPrices(settings)) {
    faults.push(`PRICE_SOURCES is not set, so that prices would be invented, ${why}; a good value: kraken,binance`);
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
  if (settings.DEPOSIT_WINDOW_SEC > longestWindowSec) {
    faults.push(
      `DEPOSIT_WINDOW_SEC=${settings.DEPOSIT_WINDOW_SEC} lets users choose between an old price and the market, ${why}; at most ${longestWindowSec}`,
    );
  }
  return faults;
}
