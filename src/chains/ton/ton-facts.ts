import type { ChainCoin } from '../networks/network-config.ts';
import type { NodeNotes } from '../nodes/node-notes.ts';
import { ageSec, stallProblems } from '../nodes/stalled.ts';
import type { NodeReport } from '../port/chain-adapter.ts';
import { jettonCodeOf } from './ton-jetton.ts';
import type { OwnJettons } from './ton-jettons.ts';
import type { TonNode } from './ton-node.ts';
import type { TonNetwork } from './ton-section.ts';

/** Why an index is of another network, as the end of a sentence; null for the right one. */
export function networkFault(globalId: number, network: Pick<TonNetwork, 'globalId'>): string | null {
  if (globalId === network.globalId) return null;
  return `is an index of network ${globalId}, and the settings say global_id ${network.globalId}`;
}

/**
 * What names the chain. The number of the network does: an index need not have the first block.
 */
export function chainName({ globalId }: Pick<TonNetwork, 'globalId'>): string {
  return `network ${globalId}`;
}

/** Checks whether an index serves the network. Returns what names its chain. */
export async function tonFacts(
  node: TonNode,
  network: TonNetwork,
  coins: readonly ChainCoin[],
  { faults, troubles, patiently }: NodeNotes,
): Promise<string | null> {
  const { ref, globalId } = await node.head();
  const fault = networkFault(globalId, network);
  if (fault !== null) {
    faults.push(fault);
    return null;
  }
  if (ref.height < network.startHeight) {
    troubles.push(`is at block ${ref.height}, below start_height ${network.startHeight}`);
    return chainName(network);
  }
  await patiently(async () => {
    if ((await node.block(network.startHeight)) === null)
      faults.push('has no block start_height: its blocks begin later');
  });
  for (const [coin, contract] of network.tokens) {
    const fault = async (): Promise<void> => {
      const found = await jettonFault(node, contract);
      if (found !== null) faults.push(`${found} at tokens.${coin}, ${contract}`);
    };
    if (coins.some((each) => each.coin === coin)) await patiently(fault);
  }
  return chainName(network);
}

/** Why a contract is no jetton that is known here, as the end of a sentence; null for one. */
async function jettonFault(node: TonNode, contract: string): Promise<string | null> {
  // Any owner serves. The wallet's own address is not known before the signer is there.
  const address = await node.jettonWallet(contract, contract);
  const code = await node.jettonCode(contract);
  if (address === null || code === null) return 'has no jetton';
  const isKnown = jettonCodeOf(address, contract, contract, code) !== null;
  return isKnown ? null : 'has a jetton whose wallets are made in a way that is not known here,';
}

/** What a report is about, besides its index. */
interface ReportSubject {
  readonly network: TonNetwork;
  readonly wallet: string;
  readonly jettons: OwnJettons;
  /** What a person gives with coins for the wallet; null before the first start. */
  readonly fundingTag: string | null;
}

/** What an index tells of itself and of the hot wallet, for people. */
export async function tonReport(
  node: TonNode,
  { network, wallet, jettons, fundingTag }: ReportSubject,
): Promise<Omit<NodeReport, 'node'>> {
  const problems: string[] = [];
  const { ref, globalId } = await node.head();
  const fault = networkFault(globalId, network);
  if (fault !== null) problems.push(`it ${fault}`);
  const account = (await node.accounts([wallet])).get(wallet);
  if ((account?.balance ?? 0n) === 0n) {
    const comment = fundingTag === null ? '' : `, with the comment ${fundingTag}`;
    problems.push(`the hot wallet ${wallet} has no coins yet: send it at least 10 TON${comment}`);
  }
  for (const [coin, contract] of network.tokens) {
    const own = await jettons.own(node, contract);
    if (own !== null && !own.maySend) problems.push(`the issuer of ${coin} froze the hot wallet: ask the issuer`);
  }
  const sealedAt = Math.floor(ref.timeMs / 1_000);
  problems.push(...stallProblems(network, sealedAt));
  return { head: ref.height, lagSec: ageSec(sealedAt), isSyncing: false, problems };
}
