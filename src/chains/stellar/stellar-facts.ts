import { printable } from '../nodes/node-answer.ts';
import type { NodeNotes } from '../nodes/node-notes.ts';
import { ageSec, stallProblems } from '../nodes/stalled.ts';
import type { NodeReport } from '../port/chain-adapter.ts';
import type { StellarNode } from './stellar-node.ts';
import type { StellarNetwork, StellarToken } from './stellar-section.ts';
import type { StellarAccounts } from './stellar-setup.ts';
import { type EntryKey, memoKey, trustKeys } from './stellar-state.ts';

/** What is permanently wrong with a server, as the end of a sentence; null when nothing is. */
export function serverFault(told: string, { passphrase }: Pick<StellarNetwork, 'passphrase'>): string | null {
  if (told === passphrase) return null;
  return `is a server of the network "${printable(told)}", and the settings say passphrase "${passphrase}"`;
}

/** Checks whether a server serves the network. Returns what names its chain. */
export async function stellarFacts(
  node: StellarNode,
  network: StellarNetwork,
  { faults, troubles, patiently }: NodeNotes,
): Promise<string | null> {
  const fault = serverFault(await node.passphrase(), network);
  if (fault !== null) {
    faults.push(fault);
    return null;
  }
  const { height } = (await node.head()).ref;
  if (height < network.startHeight) {
    troubles.push(`is at ledger ${height}, below start_height ${network.startHeight}`);
    return network.passphrase;
  }
  await patiently(async () => void (await node.usualFee()));
  return network.passphrase;
}

/** What a report is about, besides its server. */
interface ReportSubject {
  readonly network: StellarNetwork;
  readonly accounts: StellarAccounts;
  /** What a person gives with coins for the wallet; null before the first start. */
  readonly fundingTag: string | null;
}

/** What a server tells of itself and of the hot wallet, for people. */
export async function stellarReport(node: StellarNode, subject: ReportSubject): Promise<Omit<NodeReport, 'node'>> {
  const { network } = subject;
  const problems: string[] = [];
  const fault = serverFault(await node.passphrase(), network);
  if (fault !== null) problems.push(`it ${fault}`);
  const { height, timeMs } = (await node.head()).ref;
  const { oldestMs } = await node.range();
  if (oldestMs > timeMs - network.expireAfterSec * 1_000) {
    problems.push(
      'it has fewer ledgers than a payment may wait for, so that none counts as dead there: wait, or replace it',
    );
  }
  problems.push(...(await walletProblems(node, subject)));
  const sealedAt = Math.floor(timeMs / 1_000);
  problems.push(...stallProblems(network, sealedAt));
  return { head: height, lagSec: ageSec(sealedAt), isSyncing: false, problems };
}

async function walletProblems(node: StellarNode, { network, accounts, fundingTag }: ReportSubject): Promise<string[]> {
  const { wallet, channels } = accounts;
  const tokens = [...network.tokens].map(([code, issuer]): StellarToken => ({ code, issuer }));
  const own = [wallet, ...channels].map((account): EntryKey => ({ account }));
  const entries = await node.entries([...own, memoKey(wallet), ...trustKeys(wallet, tokens)]);
  const account = entries.account(wallet);
  if (account === null) {
    const tag = fundingTag === null ? '' : `, with the memo ${fundingTag}`;
    return [`the hot wallet ${wallet} does not exist yet: send it at least 100 XLM${tag}`];
  }
  const problems: string[] = [];
  if (!account.signsAlone)
    problems.push(`another key signs for the hot wallet ${wallet}: give its own key the weight it needs`);
  if (!entries.asksForMemo(wallet))
    problems.push(`the hot wallet ${wallet} does not ask senders for a memo yet: ${soon}`);
  for (const token of tokens) {
    const line = entries.trustLine(wallet, token);
    const isGone = entries.account(token.issuer) === null;
    if (isGone) problems.push(`the issuer of ${token.code} does not exist: is ${token.issuer} its issuer here?`);
    else if (line === null) problems.push(`the hot wallet ${wallet} does not trust ${token.code} yet: ${soon}`);
    else if (!line.isAuthorised)
      problems.push(`the issuer of ${token.code} froze the hot wallet ${wallet}: ask the issuer`);
  }
  const missing = channels.filter((channel) => entries.account(channel) === null).length;
  if (missing > 0)
    problems.push(`${missing} of ${channels.length} channels of the hot wallet do not exist yet: ${soon}`);
  return problems;
}

const soon = 'a worker that has the signer sees to it once the wallet has coins';
