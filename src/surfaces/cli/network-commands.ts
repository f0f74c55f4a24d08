import type { MikroORM } from '@mikro-orm/postgresql';
import type { Command } from 'commander';
import { openNetworks } from '../../app/open-networks.ts';
import { schemaState } from '../../base/db/database.ts';
import { sql } from '../../base/db/sql.ts';
import { AppError } from '../../base/errors.ts';
import { Big, formatDecimal, fromUnits, toUnits } from '../../base/money.ts';
import { addressExample } from '../../chains/addresses/address.ts';
import { knownHotWallet } from '../../chains/addresses/hot-wallet.ts';
import { familyOf, type NetworkConfig } from '../../chains/families/families.ts';
import { openLiveAdapter } from '../../chains/families/live-adapters.ts';
import type { LiveNetworks } from '../../chains/families/live-networks.ts';
import { type ChainCoin, levelOf, type WalletLevel } from '../../chains/networks/network-config.ts';
import { allNetworks, networkById, networkOfChain } from '../../chains/networks/networks.ts';
import { type ChainAdapter, ChainError, type Holding } from '../../chains/port/chain-adapter.ts';
import { loadConfig } from '../../config/load-config.ts';
import { chainCoins } from '../../market/currencies/chain-coins.ts';
import { Currency } from '../../market/currencies/currency.entity.ts';
import { verb } from './arguments.ts';
import { withDatabase } from './context.ts';
import { feeCoverProblem } from './fee-cover.ts';
import { type Fields, print } from './output.ts';
import { checkSigner } from './signer-check.ts';

/** Shorter than a worker's timeout. */
const nodeTimeoutMs = 5_000;

interface CheckOptions {
  readonly chain?: string;
  readonly json?: true;
}

/** The result for one network. Fields are rows for people and for programs. */
interface NetworkCheck {
  readonly nodes: readonly Fields[];
  readonly wallets: readonly Fields[];
  readonly isGood: boolean;
}

/** Adds the commands on real networks. A fault ends the process with 1, for scripts. */
export function networkCommands(program: Command): void {
  const network = program.command('network').description('the real networks of NETWORKS_FILE');
  verb(network, 'list', 'show every chain with its state here, and the settings of the real ones').action(
    async ({ json }) => {
      print({ networks: listed(await openNetworks(loadConfig())) }, json);
    },
  );
  verb(network, 'check', 'query every node and show the hot wallets; exit code 1 on a fault')
    .option('--chain <chain>', 'only this one')
    .action(async ({ chain, json }: CheckOptions) => {
      const { signer, checks } = await withDatabase(async ({ config, orm, networks }) => {
        const asked = chosen(networks, chain);
        if (!json) tellWait(asked);
        const [signer, checks] = await Promise.all([
          checkSigner(config, orm, asked),
          Promise.all(asked.map((each) => checkNetwork(orm, each))),
        ]);
        return { signer, checks };
      });
      const nodes = checks.flatMap((check) => check.nodes);
      const wallets = checks.flatMap((check) => check.wallets);
      const isGood = checks.every((check) => check.isGood) && (signer?.problem ?? null) === null;
      if (json) process.stdout.write(`${JSON.stringify({ good: isGood, signer, nodes, wallets })}\n`);
      else {
        if (signer) print(signer, false);
        else process.stdout.write('signer  not asked: a process of ROLE=api has none\n');
        process.stdout.write('\n');
        print({ nodes }, false);
        process.stdout.write('\n');
        if (wallets.length > 0) print({ wallets }, false);
        else process.stdout.write('no wallets: the first start of a worker writes them into the database\n');
      }
      if (!isGood) process.exitCode = 1;
    });
}

/** Announces slow queries, because silence looks like a fault. */
function tellWait(networks: readonly NetworkConfig[]): void {
  const chains = networks.map(({ chain }) => chain).join(', ');
  const notes = new Set(networks.map((network) => familyOf(network).checkNote).filter((note) => note !== null));
  const parts = [`a node that hangs is skipped after ${nodeTimeoutMs / 1000} s`, ...notes];
  process.stderr.write(`asking the signer and the nodes of ${chains}; ${parts.join('; ')}\n`);
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
        net: config ? familyOf(config).netName(config) : null,
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
  // Nodes can be checked before a first start, when there is no hot wallet yet.
  const wallet = hotWallet ?? addressExample(networkOfChain(chain)?.id ?? '');
  const adapter = await openLiveAdapter(network, wallet, orm, {
    rpc: { timeoutMs: nodeTimeoutMs },
    isMigrated: !isEmpty,
  });
  const nodes = await checkNodes(adapter, network);
  const isThere = nodes.some(({ head }) => head !== null);
  const wallets =
    hotWallet === null ? [] : await checkWallet(orm, isThere ? adapter : null, network, await adapter.hotWallet());
  return {
    nodes,
    wallets,
    isGood: [...nodes, ...wallets].every(
      ({ problem, level }) => problem === null && level !== 'low' && level !== 'high',
    ),
  };
}

async function checkNodes(adapter: ChainAdapter, network: NetworkConfig): Promise<Fields[]> {
  const [facts, reports] = await Promise.all([
    familyOf(network).askNodes(network, chainCoins(network.chain)),
    adapter.check?.() ?? Promise.resolve([]),
  ]);
  return facts.map(({ node, genesis, faults, troubles }, index): Fields => {
    const report = reports[index];
    // Other answers of a node of another chain are useless.
    const isOther = genesis === null && faults.length > 0;
    const problems = isOther ? faults : [...new Set([...faults, ...(report?.problems ?? troubles)])];
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

/**
 * Makes a row for each coin: the wallet's balance on its chain, the ledger's balance, and the
 * current fee of a payment. A wallet that is also the address of deposits has the tag of funding.
 *
 * @param adapter Null when no node answers.
 */
async function checkWallet(
  orm: MikroORM,
  adapter: ChainAdapter | null,
  network: NetworkConfig,
  wallet: Holding,
): Promise<Fields[]> {
  const coins = chainCoins(network.chain).filter(({ coin }) => network.limits.has(coin));
  return Promise.all(
    coins.map(async (coin): Promise<Fields> => {
      const contract = coin.isToken ? (network.tokens.get(coin.coin) ?? null) : null;
      const unpayable = await unpayableProblem(orm, network, coin.coin);
      const booked = await bookedOf(orm, network.chain, coin.coin);
      const tag = wallet.tag === null ? {} : { funding_tag: wallet.tag };
      const row = { chain: network.chain, wallet: wallet.address, ...tag, coin: coin.coin, balance: null, booked };
      if (adapter === null) return { ...row, level: null, fee: null, problem: 'no node answers' };
      try {
        const [units = 0n] = await adapter.balances([{ address: wallet.address, tag: null }], contract);
        const fee = await feeNow(adapter, network, coin, contract, units);
        const balance = fromUnits(units, coin.decimals);
        const uncovered = await feeCoverProblem(orm, adapter, { coin, contract });
        const problem = [fee.problem, unpayable, uncovered].filter((each) => each !== null).join('; ') || null;
        return { ...row, balance, level: level(network, coin.coin, balance, booked), ...fee, problem };
      } catch (error) {
        if (!(error instanceof ChainError)) throw error;
        return { ...row, level: null, fee: null, problem: error.message };
      }
    }),
  );
}

/** A currency begins with its own limits, which do not depend on the signer's limits. */
async function unpayableProblem(orm: MikroORM, { chain, limits }: NetworkConfig, coin: string): Promise<string | null> {
  const limit = limits.get(coin)?.perPayment;
  const rows = await orm.em.fork().find(Currency, { coin, isActive: true });
  const found = rows.find(({ network, maxAmount }) => {
    return networkById(network)?.chain === chain && limit !== undefined && new Big(maxAmount).gt(limit);
  });
  if (!found) return null;
  return `orders may be of ${formatDecimal(found.maxAmount)}, and the signer signs up to ${limit} (per_payment): lower it with currency set --max`;
}

/** Returns the ledger's balance of a hot wallet, as decimal text. */
async function bookedOf(orm: MikroORM, chain: string, coin: string): Promise<string> {
  const networks = allNetworks().filter((network) => network.chain === chain);
  const [row] = await sql<{ amount: string }>(
    orm.em.fork(),
    `select trim_scale(coalesce(sum(amount), 0))::text as amount from ledger_line
      where account = 'hot' and coin = ? and network in (${networks.map(() => '?').join(', ')})`,
    [coin, ...networks.map(({ id }) => id)],
  );
  return row?.amount ?? '0';
}

/**
 * Returns `waits` when the balance is enough but the ledger's is not: funding waits for its
 * confirmations.
 */
function level(network: NetworkConfig, coin: string, balance: string, booked: string): WalletLevel | 'waits' {
  const levels = network.levels.get(coin);
  const level = levelOf(levels, new Big(balance));
  return level === 'ok' && levelOf(levels, new Big(booked)) === 'low' ? 'waits' : level;
}

/**
 * Returns the fee of a payment of a thousandth of the balance. The payment is never signed. Null
 * when nothing can be paid.
 */
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
    const { fee } = await adapter.prepare(intent, new Map());
    const most = network.feeLimits && toUnits(network.feeLimits.perTransaction, own?.decimals ?? 0);
    const problem = most !== undefined && fee > most ? 'the fee is above max_fee, so the signer refuses it' : null;
    return { fee: `${fromUnits(fee, own?.decimals ?? 0)} ${own?.coin ?? ''}`.trim(), problem };
  } catch (error) {
    if (!(error instanceof ChainError)) throw error;
    return { fee: null, problem: error.message };
  }
}
