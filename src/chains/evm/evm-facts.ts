import type { ChainCoin } from '../networks/network-config.ts';
import { RpcError } from '../nodes/json-rpc.ts';
import type { NodeNotes } from '../nodes/node-notes.ts';
import { ChainError } from '../port/chain-adapter.ts';
import { decimalsCall, uintOf } from './erc20.ts';
import { type EvmNode, reverted } from './evm-node.ts';
import type { EvmNetwork } from './evm-section.ts';
import { finalBlock } from './evm-status.ts';

/**
 * With a deeper finality, only some nodes have the balances of the final block. Most nodes keep the
 * state of the newest 128 blocks.
 */
const anyNodeKeeps = 120;

/**
 * Checks whether a node serves the network and has the features it needs. Returns the hash of block
 * 0.
 */
export async function evmFacts(
  node: EvmNode,
  network: EvmNetwork,
  coins: readonly ChainCoin[],
  { faults, troubles, patiently }: NodeNotes,
): Promise<string | null> {
  const chainId = await node.chainId();
  if (chainId !== BigInt(network.chainId)) {
    faults.push(`is a node of chain ${chainId}, and the settings say ${network.chainId}`);
    return null;
  }
  const genesis = (await node.header(0))?.ref.hash ?? null;
  if (genesis === null) troubles.push('does not tell its first block');
  // A node that still syncs may lack these features only for now.
  const { height } = (await node.latest()).ref;
  if (height < network.startHeight) {
    troubles.push(`is at block ${height}, below start_height ${network.startHeight}`);
  } else if (await node.isSyncing()) {
    troubles.push('is still syncing');
  } else {
    for (const [coin, contract] of network.tokens) {
      const decimals = coins.find((each) => each.coin === coin)?.decimals;
      await patiently(async () => faults.push(...(await tokenFaults(node, { coin, contract, decimals }))));
    }
    // The chain's own finality may be late for a while; a number of confirmations never is.
    const isForGood = typeof network.finality === 'number' && network.finality > anyNodeKeeps;
    await patiently(async () => (isForGood ? faults : troubles).push(...(await stateFaults(node, network))));
  }
  return genesis;
}

/** The balances that the network needs and the node does not keep, as ends of sentences. */
export async function stateFaults(
  node: EvmNode,
  { finality, internalTransfers, sweepFrom }: EvmNetwork,
): Promise<string[]> {
  if (internalTransfers !== 'balances' && sweepFrom.size === 0) return [];
  const { height } = (await finalBlock(node, finality, await node.latest())).ref;
  if (await node.hasState(height)) return [];
  return [
    `keeps no balances as old as its newest final block (finality ${finality}), which sweep_from and internal_transfers: ` +
      `balances need: use an archive node, a finality of ${anyNodeKeeps} or less, or leave sweep_from out and set ` +
      'internal_transfers to trace or none',
  ];
}

async function tokenFaults(
  node: EvmNode,
  { coin, contract, decimals }: { coin: string; contract: string; decimals: number | undefined },
): Promise<string[]> {
  if (!(await node.hasCode(contract))) return [`has no contract at tokens.${coin}, ${contract}`];
  const told = await toldDecimals(node, contract);
  if (told === null) return [`has a contract at tokens.${coin} that tells no decimals, so it is no token`];
  if (told === BigInt(decimals ?? -1)) return [];
  return [`has a token of ${told} decimals at tokens.${coin}, and the catalogue's ${coin} has ${decimals}`];
}

async function toldDecimals(node: EvmNode, contract: string): Promise<bigint | null> {
  try {
    const [answer] = await node.callAll([{ to: contract, data: decimalsCall() }], 'latest');
    return uintOf(answer ?? '');
  } catch (error) {
    if (error instanceof ChainError && error.cause instanceof RpcError && error.cause.code === reverted) return null;
    throw error;
  }
}
