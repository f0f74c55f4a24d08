import type { ChainCoin } from '../networks/network-config.ts';
import type { NodeNotes } from '../nodes/node-notes.ts';
import { ageSec, stallProblems } from '../nodes/stalled.ts';
import type { NodeReport } from '../port/chain-adapter.ts';
import { mintFault, readMint } from './solana-mint.ts';
import type { SolanaNode } from './solana-node.ts';
import type { SolanaNetwork } from './solana-section.ts';

/** Why a node is of another chain, as the end of a sentence; null when it is of the right one. */
export function chainFault(genesis: string, { net, genesis: expected }: SolanaNetwork): string | null {
  if (genesis === expected) return null;
  return `is a node of the chain that begins with ${genesis}, and the settings say ${net}`;
}

/**
 * Checks whether a node serves the network and has the features it needs. Returns the hash of block
 * 0.
 */
export async function solanaFacts(
  node: SolanaNode,
  network: SolanaNetwork,
  coins: readonly ChainCoin[],
  { faults, troubles, patiently }: NodeNotes,
): Promise<string | null> {
  const genesis = await node.genesis();
  const fault = chainFault(genesis, network);
  if (fault !== null) {
    faults.push(fault);
    return null;
  }
  const { height } = (await node.head()).ref;
  if (height < network.startHeight) {
    troubles.push(`is at slot ${height}, below start_height ${network.startHeight}`);
    return genesis;
  }
  await patiently(async () => void (await node.statuses([])));
  await patiently(async () => void (await node.rentOf(0)));
  for (const [coin, mint] of network.tokens) {
    const decimals = coins.find((each) => each.coin === coin)?.decimals;
    await patiently(async () => faults.push(...(await tokenFaults(node, { coin, mint, decimals, height }))));
  }
  return genesis;
}

async function tokenFaults(
  node: SolanaNode,
  { coin, mint, decimals, height }: { coin: string; mint: string; decimals: number | undefined; height: number },
): Promise<string[]> {
  const [account = null] = (await node.accounts([mint], height)).value;
  const fault = mintFault(account);
  if (fault !== null) return [`says that tokens.${coin}, ${mint}, ${fault}`];
  const token = readMint(mint, account);
  if (token.decimals === decimals) return [];
  return [`has a token of ${token.decimals} decimals at tokens.${coin}, and the catalogue's ${coin} has ${decimals}`];
}

/** What a report is about, besides its node. */
interface ReportSubject {
  readonly network: SolanaNetwork;
  readonly hotWallet: string;
  /** Of the network's nodes. */
  readonly operators: number;
}

/** What a node tells of itself and of the hot wallet, for people. */
export async function solanaReport(
  node: SolanaNode,
  { network, hotWallet, operators }: ReportSubject,
): Promise<Omit<NodeReport, 'node'>> {
  const problems: string[] = [];
  const fault = chainFault(await node.genesis(), network);
  if (fault !== null) problems.push(`it ${fault}: change its URL`);
  const { ref } = await node.head();
  const [wallet = null] = (await node.accounts([hotWallet], ref.height)).value;
  if (wallet === null) problems.push(`the hot wallet ${hotWallet} does not exist yet: send it some SOL`);
  if (operators === 1) {
    problems.push('it is the only node, so that nothing confirms what it tells: name a node of another operator too');
  }
  const sealedAt = Math.floor(ref.timeMs / 1_000);
  problems.push(...stallProblems(network, sealedAt));
  return { head: ref.height, lagSec: ageSec(sealedAt), isSyncing: false, problems };
}
