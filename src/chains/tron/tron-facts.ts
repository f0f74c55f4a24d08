import type { ChainCoin } from '../networks/network-config.ts';
import type { NodeNotes } from '../nodes/node-notes.ts';
import { decimalsCall, readUint } from './trc20.ts';
import type { TronNode } from './tron-node.ts';
import { type TronNetwork, tronChainId } from './tron-section.ts';
import { digitsOf } from './tron-tx.ts';

/** Why a node is of another chain, as the end of a sentence; null when it is of the right one. */
export function chainFault(genesis: string, network: TronNetwork): string | null {
  const isKnown = network.genesis === null || genesis === network.genesis;
  const number = Number.parseInt(genesis.slice(-8), 16);
  if (isKnown && number === tronChainId(network)) return null;
  return `is a node of the chain that begins with ${genesis}, and the settings say ${network.net}`;
}

/**
 * Checks whether a node serves the network and has the features it needs. Returns the id of block
 * 0.
 */
export async function tronFacts(
  node: TronNode,
  network: TronNetwork,
  coins: readonly ChainCoin[],
  { faults, troubles, patiently }: NodeNotes,
): Promise<string | null> {
  const genesis = await node.genesis();
  const fault = chainFault(genesis, network);
  if (fault !== null) {
    faults.push(fault);
    return null;
  }
  const { height } = (await node.head('newest')).ref;
  if (height < network.startHeight) {
    troubles.push(`is at block ${height}, below start_height ${network.startHeight}`);
    return genesis;
  }
  await patiently(async () => void (await node.head('solid')));
  await patiently(async () => void (await node.prices()));
  for (const [coin, contract] of network.tokens) {
    const decimals = coins.find((each) => each.coin === coin)?.decimals;
    await patiently(async () => faults.push(...(await tokenFaults(node, { coin, contract, decimals }))));
  }
  return genesis;
}

async function tokenFaults(
  node: TronNode,
  { coin, contract, decimals }: { coin: string; contract: string; decimals: number | undefined },
): Promise<string[]> {
  const digits = digitsOf(contract);
  if (!(await node.account(digits, 'newest'))?.isContract) return [`has no contract at tokens.${coin}, ${contract}`];
  const { succeeds, returned } = await node.trial({ owner: digits, contract: digits, data: decimalsCall() });
  if (!succeeds || returned.length !== 64) {
    return [`has a contract at tokens.${coin} that tells no decimals, so it is no token`];
  }
  const told = readUint(returned, 'decimals');
  if (told === BigInt(decimals ?? -1)) return [];
  return [`has a token of ${told} decimals at tokens.${coin}, and the catalogue's ${coin} has ${decimals}`];
}
