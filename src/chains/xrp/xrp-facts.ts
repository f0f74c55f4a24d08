import type { NodeNotes } from '../nodes/node-notes.ts';
import { ageSec, stallProblems } from '../nodes/stalled.ts';
import type { NodeReport } from '../port/chain-adapter.ts';
import type { XrpNode } from './xrp-node.ts';
import type { XrpNetwork } from './xrp-section.ts';
import { hasLedgers, type XrpState } from './xrp-state.ts';

/** What is permanently wrong with a server, as the end of a sentence; null when nothing is. */
export function serverFault({ networkId, isBlocked }: XrpState, network: XrpNetwork): string | null {
  if (networkId === null) return 'does not tell its network: set network_id in its configuration';
  if (networkId !== network.networkId) {
    return `is a server of network ${networkId}, and the settings say network_id ${network.networkId}`;
  }
  return isBlocked ? 'does not know the present rules of the network (amendment_blocked): update it' : null;
}

/**
 * What names the chain. The number of the network does: servers forget old ledgers, so that no
 * ledger can be asked for at each start.
 */
export function chainName({ networkId }: Pick<XrpNetwork, 'networkId'>): string {
  return `network ${networkId}`;
}

/** Checks whether a server serves the network. Returns what names its chain. */
export async function xrpFacts(
  node: XrpNode,
  network: XrpNetwork,
  { faults, troubles, patiently }: NodeNotes,
): Promise<string | null> {
  const state = await node.state();
  const fault = serverFault(state, network);
  if (fault !== null) {
    faults.push(fault);
    return null;
  }
  const { height } = state.head;
  if (height < network.startHeight) {
    troubles.push(`is at ledger ${height}, below start_height ${network.startHeight}`);
    return chainName(network);
  }
  await patiently(async () => void (await node.openFee()));
  return chainName(network);
}

/** What a report is about, besides its server. */
interface ReportSubject {
  readonly network: XrpNetwork;
  readonly hotWallet: string;
  /** What a person gives with coins for the wallet; null before the first start. */
  readonly fundingTag: string | null;
}

/** What a server tells of itself and of the hot wallet, for people. */
export async function xrpReport(
  node: XrpNode,
  { network, hotWallet, fundingTag }: ReportSubject,
): Promise<Omit<NodeReport, 'node'>> {
  const problems: string[] = [];
  const state = await node.state();
  const fault = serverFault(state, network);
  if (fault !== null) problems.push(`it ${fault}`);
  const { height, timeMs } = state.head;
  if (!hasLedgers(state, Math.max(1, height - network.expireAfterLedgers), height)) {
    problems.push('it lacks some of the newest ledgers, so that no payment counts as dead there: wait, or replace it');
  }
  const wallet = await node.account(hotWallet);
  if (wallet === null) {
    const tag = fundingTag === null ? '' : `, with the tag ${fundingTag}`;
    problems.push(`the hot wallet ${hotWallet} does not exist yet: send it more than the reserve of an account${tag}`);
  } else {
    if (wallet.isMasterOff) problems.push(`another key signs for the hot wallet ${hotWallet}: enable its master key`);
    if (!wallet.requiresTag) {
      problems.push(
        `the hot wallet ${hotWallet} takes coins without a tag, which belong to no order: set its flag RequireDest`,
      );
    }
  }
  const sealedAt = Math.floor(timeMs / 1_000);
  problems.push(...stallProblems(network, sealedAt));
  return { head: height, lagSec: ageSec(sealedAt), isSyncing: false, problems };
}
