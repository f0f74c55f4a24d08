import { ageSec, stallProblems } from '../nodes/stalled.ts';
import type { NodeReport } from '../port/chain-adapter.ts';
import { chainFault } from './tron-facts.ts';
import type { TronNode } from './tron-node.ts';
import type { TronNetwork } from './tron-section.ts';
import { digitsOf } from './tron-tx.ts';
import { permissionFault } from './tron-wallet.ts';

/** What a report is about, besides its node. */
interface ReportSubject {
  readonly network: TronNetwork;
  readonly hotWallet: string;
  /** Of the network's nodes. */
  readonly operators: number;
}

/** What a node tells of itself and of the hot wallet, for people. */
export async function tronReport(
  node: TronNode,
  { network, hotWallet, operators }: ReportSubject,
): Promise<Omit<NodeReport, 'node'>> {
  const problems: string[] = [];
  const fault = chainFault(await node.genesis(), network);
  if (fault !== null) problems.push(`it ${fault}: change its URL`);
  const { ref } = await node.head('newest');
  const blockTime = Math.floor(ref.timeMs / 1_000);
  const account = await node.account(digitsOf(hotWallet), 'solid');
  if (account === null) problems.push(`the hot wallet ${hotWallet} does not exist yet: send it some TRX`);
  else problems.push(...permissionFault(account, digitsOf(hotWallet)));
  if (operators === 1 && network.tokens.size > 0) {
    problems.push(
      'it is the only node, so that nothing confirms what it tells of tokens: name a node of another operator too',
    );
  }
  if ((await node.block(ref.height))?.hasRoot === false) {
    problems.push(
      `its block ${ref.height} has other transactions than the root in its header covers: ask another node for ` +
        'that block, and name a node of another operator',
    );
  }
  problems.push(...stallProblems(network, blockTime));
  return { head: ref.height, lagSec: ageSec(blockTime), isSyncing: false, problems };
}
