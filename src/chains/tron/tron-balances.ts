import type { Reach, TronNode } from './tron-node.ts';
import { tokensOf } from './tron-preparation.ts';
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

async function balanceOf(node: TronNode, address: string, contract: string | null, reach: Reach): Promise<bigint> {
  const digits = digitsOf(address);
  if (contract !== null) return tokensOf(node, digits, contract, reach);
  return (await node.account(digits, reach))?.balance ?? 0n;
}
