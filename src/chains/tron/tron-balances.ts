import type { BlockRef } from '../port/chain-adapter.ts';
import type { Reach, TronNode } from './tron-node.ts';
import { tokensOf } from './tron-preparation.ts';
import { maxLooks, unsettled } from './tron-status.ts';
import { digitsOf } from './tron-tx.ts';

/** Questions that a node gets at once. All balances must be read between two blocks. */
const atOnce = 20;

/**
 * Reads the balances of addresses, in their order, in the smallest unit.
 *
 * @param contract Null for the chain's own coin.
 */
export async function balancesOf(
  node: TronNode,
  addresses: readonly string[],
  contract: string | null,
  reach: Reach,
): Promise<bigint[]> {
  const amounts: bigint[] = [];
  for (let start = 0; start < addresses.length; start += atOnce) {
    const some = addresses.slice(start, start + atOnce).map((address) => balanceOf(node, address, contract, reach));
    amounts.push(...(await Promise.all(some)));
  }
  return amounts;
}

/** Balances in one final block, in the order of their addresses. */
export interface FinalBalances {
  readonly block: BlockRef;
  readonly amounts: readonly bigint[];
}

/**
 * Reads balances in the newest final block of a node. No call names a block: all balances are of
 * one when it is the newest final one before and after.
 *
 * @throws ChainError when new blocks become final in each of `maxLooks` readings.
 */
export async function finalBalancesOf(
  node: TronNode,
  addresses: readonly string[],
  contract: string | null,
): Promise<FinalBalances> {
  let block = (await node.head('solid')).ref;
  for (let look = 1; look <= maxLooks; look += 1) {
    const amounts = await balancesOf(node, addresses, contract, 'solid');
    const after = (await node.head('solid')).ref;
    if (after.hash === block.hash) return { block, amounts };
    block = after;
  }
  throw unsettled();
}

async function balanceOf(node: TronNode, address: string, contract: string | null, reach: Reach): Promise<bigint> {
  const digits = digitsOf(address);
  if (contract !== null) return tokensOf(node, digits, contract, reach);
  return (await node.account(digits, reach))?.balance ?? 0n;
}
