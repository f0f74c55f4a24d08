import type { NodeNotes } from '../nodes/node-notes.ts';
import type { MoneroDaemon } from './monero-daemon.ts';
import type { MoneroNet, MoneroNetwork } from './monero-section.ts';

/** Hash of block 0 of the public network, and of private chains, which begin alike. */
export const moneroGenesis = '418015bb9ae982a1975da7d79277c2705727a56894ba0fb246adaabb1f4632e3';

/** How a daemon names the networks. */
const nets: Readonly<Record<MoneroNet, string>> = { main: 'mainnet', regtest: 'fakechain' };

/** Why a daemon is of another chain, as the ends of sentences about it. */
export function chainProblems(
  { net, chain }: Pick<MoneroNetwork, 'net' | 'chain'>,
  told: string,
  genesis: string,
): string[] {
  if (told === nets[net] && genesis === moneroGenesis) return [];
  return [`is a node of another chain than ${chain} ${net}`];
}

/** Checks whether a node serves the network. Returns the hash of block 0. */
export async function moneroFacts(
  node: MoneroDaemon,
  network: MoneroNetwork,
  { faults, troubles, patiently }: NodeNotes,
): Promise<string | null> {
  const { net, isSynchronised } = await node.info();
  const genesis = (await node.refAt(0))?.hash ?? '';
  faults.push(...chainProblems(network, net, genesis));
  if (faults.length > 0) return null;
  if (!isSynchronised) troubles.push('is still syncing');
  await patiently(async () => {
    const { height } = await node.head();
    if (height < network.startHeight) troubles.push(`is at block ${height}, below start_height ${network.startHeight}`);
  });
  // A restricted daemon refuses none of these. A proxy in front of it may.
  await patiently(async () => void (await node.spentStates([moneroGenesis])));
  return genesis;
}
