import type { MikroORM } from '@mikro-orm/postgresql';
import { type Clock, systemClock } from '../base/clock.ts';
import { advisoryLocks, withAdvisoryLock } from '../base/db/database.ts';
import type { Log } from '../base/log.ts';
import { checkAddress } from '../chains/addresses/address.ts';
import { readTags } from '../chains/addresses/deposit-addresses.ts';
import { knownHotWallet, rememberChannels, rememberHotWallet } from '../chains/addresses/hot-wallet.ts';
import { sandboxIdentity } from '../chains/families/chain-identity.ts';
import { familyOf, type NetworkConfig } from '../chains/families/families.ts';
import { claimIdentity, identityFaults, knownIdentity } from '../chains/families/identity-store.ts';
import { openLiveAdapter } from '../chains/families/live-adapters.ts';
import type { LiveNetworks } from '../chains/families/live-networks.ts';
import { networkOfChain } from '../chains/networks/networks.ts';
import type { NodeFacts } from '../chains/nodes/node-facts.ts';
import type { ChainAdapter } from '../chains/port/chain-adapter.ts';
import type { Signer } from '../chains/port/signer.ts';
import { sandboxAdapters } from '../chains/sandbox/sandbox-adapters.ts';
import { SandboxChain } from '../chains/sandbox/sandbox-chain.ts';
import type { SandboxRules } from '../chains/sandbox/sandbox-rules.ts';
import { chainCoins } from '../market/currencies/chain-coins.ts';
import type { Currency } from '../market/currencies/currency.entity.ts';
import type { CurrencyCatalogue } from '../market/currencies/currency-catalogue.ts';
import { writeTokenContracts } from '../settlement/scan/token-contracts.ts';
import { fundSandbox } from '../settlement/trade/sandbox-opening.ts';
import { StartError } from './start-error.ts';

interface ChainsOptions {
  readonly databaseUrl: string;
  readonly orm: MikroORM;
  readonly clock: Clock;
  readonly log: Log;
  readonly catalogue: CurrencyCatalogue;
  readonly networks: LiveNetworks;
  readonly signer: Signer;
  readonly sandbox: SandboxChain;
  readonly onProgress: (line: string) => void;
}

/**
 * Refuses a database that belongs to other networks than the settings name. Asked before anything
 * but migrations is done on it.
 *
 * @throws StartError
 */
export async function refuseOtherChains(orm: MikroORM, networks: LiveNetworks): Promise<void> {
  refuse(await identityFaults(orm.em.fork(), networks));
}

/**
 * Opens every chain that is not off. A lasting fault of a live network, such as a node of another
 * chain, ends the start, and all faults are named at once. A node that is away or behind is
 * reported, and the chain waits for it.
 *
 * @throws StartError when an operator must act first.
 */
export async function openChains(options: ChainsOptions): Promise<Map<string, ChainAdapter>> {
  const { databaseUrl, networks, catalogue } = options;
  const live = await Promise.all(
    [...networks.live.values()].map(async (network) => ({
      network,
      facts: await familyOf(network).askNodes(network, chainCoins(network.chain)),
    })),
  );
  refuse(live.flatMap(({ network, facts }) => nodeFaults(network, facts)));
  for (const { network, facts } of live) tellTroubles(options, network, facts);
  const liveAdapters = await withAdvisoryLock(databaseUrl, advisoryLocks.firstStart, async () => {
    const wallets = await firstStarts(options, live);
    const { orm, signer } = options;
    return Promise.all([...wallets].map(([network, wallet]) => openLiveAdapter(network, wallet, orm, { signer })));
  });
  await catalogue.refresh();
  const adapters = [...(await openSandbox(options)), ...liveAdapters];
  return new Map(adapters.map((adapter) => [adapter.chain, adapter]));
}

/**
 * The same chains for a process that has no signer, which reads them only.
 *
 * @throws StartError before a first start, or on a database of other networks.
 */
export async function openKnownChains(
  orm: MikroORM,
  networks: LiveNetworks,
  currencies: readonly Currency[],
  rules: SandboxRules,
): Promise<Map<string, ChainAdapter>> {
  await refuseOtherChains(orm, networks);
  const em = orm.em.fork();
  const adapters: ChainAdapter[] = [];
  const sandboxChains = networks.chains('sandbox');
  if (sandboxChains.length > 0) {
    const wallet = await knownHotWallet(em, 'sandbox');
    if (wallet === null) throw neverStarted('the sandbox');
    const node = new SandboxChain({ orm, clock: systemClock, rules });
    const own = { hotAddress: wallet, fundingTag: (await readTags(em)).fundingTag() };
    adapters.push(...sandboxAdapters(sandboxChains, node, own, currencies));
  }
  for (const network of networks.live.values()) {
    const wallet = await knownHotWallet(em, network.chain);
    if (wallet === null) throw neverStarted(network.chain);
    adapters.push(await openLiveAdapter(network, wallet, orm));
  }
  return new Map(adapters.map((adapter) => [adapter.chain, adapter]));
}

function neverStarted(chain: string): StartError {
  return new StartError(`${chain} has never run on this database; start the gateway once`);
}

function refuse(faults: readonly string[]): void {
  if (faults.length > 0) throw new StartError(faults.join('\n'));
}

/** One network may not have nodes of two chains, even where both have the right id. */
function nodeFaults({ chain }: NetworkConfig, facts: readonly NodeFacts[]): string[] {
  const geneses = new Set(facts.map(({ genesis }) => genesis).filter((genesis) => genesis !== null));
  const found = facts.flatMap(({ node, faults }) =>
    faults.map((fault) => `networks.${chain}: the node at ${node} ${fault}`),
  );
  if (geneses.size > 1) found.push(`networks.${chain}: its nodes are of chains that begin with different blocks`);
  return found;
}

function tellTroubles({ log, onProgress }: ChainsOptions, { chain }: NetworkConfig, facts: readonly NodeFacts[]): void {
  for (const trouble of facts.flatMap(({ troubles }) => troubles)) {
    log.warn({ event: 'node_trouble', code: chain }, trouble);
    onProgress(`${chain} may have to wait: ${trouble}`);
  }
}

interface Live {
  readonly network: NetworkConfig;
  readonly facts: readonly NodeFacts[];
}

/**
 * Writes what a database keeps of a network from its first start on: its identity, its contracts,
 * its hot wallet.
 */
async function firstStarts(
  { orm, clock, networks, signer }: ChainsOptions,
  live: readonly Live[],
): Promise<Map<NetworkConfig, string>> {
  await orm.em.fork().transactional(async (em) => {
    // Again, now that no other process starts at the same time.
    const faults = await identityFaults(em, networks);
    if (faults.length === 0) {
      for (const chain of networks.chains('sandbox')) {
        faults.push(...present(await claimIdentity(em, chain, sandboxIdentity)));
      }
      for (const { network, facts } of live) faults.push(...present(await claimLive(em, network, facts)));
      faults.push(...(await writeTokenContracts(em, networks, clock.now())));
    }
    refuse(faults);
  });
  const wallets = new Map<NetworkConfig, string>();
  const faults = new Set<string>();
  for (const { network } of live) {
    const wallet = await rememberHotWallet(orm.em.fork(), signer, network.chain, (address) =>
      isAddressOf(network, address),
    );
    if ('fault' in wallet) faults.add(wallet.fault);
    else wallets.set(network, wallet.address);
    if (!familyOf(network).usesChannels) continue;
    const fault = await rememberChannels(orm.em.fork(), signer, network.chain);
    if (fault !== null) faults.add(fault);
  }
  refuse([...faults]);
  return wallets;
}

function present(fault: string | null): string[] {
  return fault === null ? [] : [fault];
}

async function claimLive(
  em: Parameters<typeof claimIdentity>[0],
  network: NetworkConfig,
  facts: readonly NodeFacts[],
): Promise<string | null> {
  const { chain } = network;
  const told = facts.map((each) => each.genesis).find((each) => each !== null);
  const family = familyOf(network);
  const genesis = family.genesisOf(network) ?? told;
  if (genesis !== undefined) return claimIdentity(em, chain, family.identityOf(network, genesis));
  if ((await knownIdentity(em, chain)) !== null) return null;
  const troubles = facts.flatMap((each) => each.troubles).join('; ');
  return `networks.${chain} starts for the first time, for which one of its nodes must answer (${troubles})`;
}

/** Whether it is an address of the network, written as addresses are kept. */
export function isAddressOf({ chain }: NetworkConfig, address: string): boolean {
  const check = checkAddress(networkOfChain(chain)?.id ?? '', address, null);
  return check.ok && check.address === address;
}

async function openSandbox(options: ChainsOptions): Promise<ChainAdapter[]> {
  const { orm, clock, catalogue, networks, sandbox, signer } = options;
  const chains = networks.chains('sandbox');
  if (chains.length === 0) return [];
  await sandbox.open(chains);
  const wallet = await rememberHotWallet(orm.em.fork(), signer, 'sandbox');
  if ('fault' in wallet) throw new StartError(wallet.fault);
  await fundSandbox({ orm, clock, sandbox }, catalogue.rows, chains, wallet.address);
  const own = { hotAddress: wallet.address, fundingTag: (await readTags(orm.em.fork())).fundingTag() };
  return sandboxAdapters(chains, sandbox, own, catalogue.rows);
}
