import type { MikroORM } from '@mikro-orm/postgresql';
import type { Command } from 'commander';
import { addressExample } from '../chains/address.ts';
import { type ChainAdapter, ChainError, type Holding } from '../chains/chain-adapter.ts';
import { knownHotWallet } from '../chains/hot-wallet.ts';
import { openLiveAdapter } from '../chains/live-adapters.ts';
import type { LiveNetworks } from '../chains/live-networks.ts';
import type { ChainCoin, NetworkConfig } from '../chains/network-config.ts';
import { networkOfChain } from '../chains/networks.ts';
import { askNodeFacts } from '../chains/node-facts.ts';
import { loadConfig } from '../config.ts';
import { chainCoins } from '../currencies/chain-coins.ts';
import { schemaState } from '../db/database.ts';
import { AppError } from '../errors.ts';
import { Big, fromUnits, toUnits } from '../money.ts';
import { openNetworks } from '../networks-setup.ts';
import { withDatabase } from './context.ts';
import { type Fields, print } from './output.ts';

interface CheckOptions {
  readonly chain?: string;
  readonly json?: true;
}

/** What was found of one network. Fields are rows for people and for programs alike. */
interface NetworkCheck {
  readonly nodes: readonly Fields[];
  readonly wallets: readonly Fields[];
  readonly isGood: boolean;
}

/** Adds the commands on real networks. What is wrong ends the process with 1, so that a script notices. */
export function networkCommands(program: Command): void {
  const network = program.command('network').description('the real networks of NETWORKS_FILE');
  network
    .command('list')
    .description('show every chain, what it is here, and the settings of those that are real')
    .option('--json', 'print one JSON object and nothing else')
    .action(({ json }) => {
      print({ networks: listed(openNetworks(loadConfig())) }, json);
    });
  network
    .command('check')
    .description('ask every node how it is, and show the hot wallets; 1 when anything is wrong')
    .option('--chain <chain>', 'only this one')
    .option('--json', 'print one JSON object and nothing else')
    .action(async ({ chain, json }: CheckOptions) => {
      const checks = await withDatabase(({ orm, networks }) =>
        Promise.all(chosen(networks, chain).map((each) => checkNetwork(orm, each))),
      );
      const nodes = checks.flatMap((check) => check.nodes);
      const wallets = checks.flatMap((check) => check.wallets);
      const isGood = checks.every((check) => check.isGood);
      if (json) process.stdout.write(`${JSON.stringify({ good: isGood, nodes, wallets })}\n`);
      else {
        print({ nodes }, false);
        process.stdout.write('\n');
        print({ wallets }, false);
      }
      if (!isGood) process.exitCode = 1;
    });
}

function chosen(networks: LiveNetworks, chain: string | undefined): NetworkConfig[] {
  const live = [...networks.live.values()];
  if (live.length === 0)
    throw new AppError('invalid_value', 'there is no file of networks, so every chain is the sandbox');
  const found = chain === undefined ? live : live.filter((network) => network.chain === chain);
  if (found.length > 0) return found;
  const known = live.map((network) => network.chain).join(', ');
  throw new AppError('invalid_value', `${String(chain).slice(0, 30)} is no live network; these are: ${known}`);
}

function listed(networks: LiveNetworks): Fields[] {
  return (['live', 'sandbox', 'off'] as const).flatMap((state) =>
    networks.chains(state).map((chain): Fields => {
      const config = networks.live.get(chain);
      return {
        chain,
        state,
        net: config ? (config.kind === 'evm' ? `chain id ${config.chainId}` : config.net) : null,
        nodes: config?.nodes.map(({ url }) => new URL(url).origin) ?? null,
        finality: config ? String(config.finality) : null,
        start_height: config?.startHeight ?? null,
        coins: config ? [...config.limits.keys()] : null,
      };
    }),
  );
}

async function checkNetwork(orm: MikroORM, network: NetworkConfig): Promise<NetworkCheck> {
  const { chain } = network;
  const isEmpty = (await schemaState(orm)) === 'empty';
  const hotWallet = isEmpty ? null : await knownHotWallet(orm.em.fork(), chain);
  // Nodes can be checked before a first start, when there is no wallet to look at.
  const adapter = await openLiveAdapter(network, hotWallet ?? addressExample(networkOfChain(chain)?.id ?? ''), orm);
  const nodes = await checkNodes(adapter, network);
  const wallets = hotWallet === null ? [] : await checkWallet(adapter, network, { address: hotWallet, tag: null });
  return {
    nodes,
    wallets,
    isGood: [...nodes, ...wallets].every(({ problem, level }) => problem === null && (level ?? 'ok') === 'ok'),
  };
}

async function checkNodes(adapter: ChainAdapter, network: NetworkConfig): Promise<Fields[]> {
  const [facts, reports] = await Promise.all([
    askNodeFacts(network, chainCoins(network.chain)),
    adapter.check?.() ?? Promise.resolve([]),
  ]);
  return facts.map(({ node, faults, troubles }, index): Fields => {
    const report = reports[index];
    const problems = [...new Set([...faults, ...(report?.problems ?? troubles)])];
    return {
      chain: network.chain,
      node,
      head: report?.head ?? null,
      lag_sec: report?.lagSec ?? null,
      syncing: report?.isSyncing ?? null,
      problem: problems.join('; ') || null,
    };
  });
}

/** A row for each coin, and the fee that a payment would cost now. */
async function checkWallet(adapter: ChainAdapter, network: NetworkConfig, wallet: Holding): Promise<Fields[]> {
  const coins = chainCoins(network.chain).filter(({ coin }) => network.limits.has(coin));
  return Promise.all(
    coins.map(async (coin): Promise<Fields> => {
      const contract = coin.isToken && network.kind === 'evm' ? (network.tokens.get(coin.coin) ?? null) : null;
      const row = { chain: network.chain, wallet: wallet.address, coin: coin.coin };
      try {
        const [units = 0n] = await adapter.balances([wallet], contract);
        const fee = await feeNow(adapter, network, coin, contract, units);
        return { ...row, balance: fromUnits(units, coin.decimals), level: level(network, coin, units), ...fee };
      } catch (error) {
        if (!(error instanceof ChainError)) throw error;
        return { ...row, balance: null, level: null, fee: null, problem: error.message };
      }
    }),
  );
}

function level(network: NetworkConfig, { coin, decimals }: ChainCoin, units: bigint): 'ok' | 'low' | 'high' {
  const levels = network.levels.get(coin);
  if (!levels) return 'ok';
  const held = new Big(fromUnits(units, decimals));
  if (held.lt(levels.low)) return 'low';
  return levels.high !== null && held.gt(levels.high) ? 'high' : 'ok';
}

/** Of a payment of a thousandth of what is there, which is never signed. Null where nothing can be paid. */
async function feeNow(
  adapter: ChainAdapter,
  network: NetworkConfig,
  { coin }: ChainCoin,
  contract: string | null,
  units: bigint,
): Promise<{ fee: string | null; problem: string | null }> {
  const amount = units / 1000n;
  const limit = network.limits.get(coin);
  if (amount === 0n || !limit) return { fee: null, problem: null };
  const own = chainCoins(network.chain).find(({ isToken }) => !isToken);
  const to = addressExample(networkOfChain(network.chain)?.id ?? '');
  const intent = { id: 'fee', attempt: 1, from: null, contract, to, tag: null, amount };
  try {
    const { fee } = await adapter.prepare(intent, new Set());
    const most = network.feeLimits && toUnits(network.feeLimits.perTransaction, own?.decimals ?? 0);
    const problem = most !== undefined && fee > most ? 'the fee is above max_fee, so the signer refuses it' : null;
    return { fee: `${fromUnits(fee, own?.decimals ?? 0)} ${own?.coin ?? ''}`.trim(), problem };
  } catch (error) {
    if (!(error instanceof ChainError)) throw error;
    return { fee: null, problem: error.message };
  }
}
