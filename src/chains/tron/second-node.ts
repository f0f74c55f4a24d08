import { NodeFault } from '../nodes/node-answer.ts';
import { ChainError, type ScannedBlock, type Transfer } from '../port/chain-adapter.ts';

/**
 * The transfers of coins and tokens whose sum is above a limit.
 *
 * @param limits By contract, '' for the chain's own coin, in the smallest unit.
 */
export function aboveLimits(transfers: readonly Transfer[], limits: ReadonlyMap<string, bigint>): Transfer[] {
  const sums = new Map<string | null, bigint>();
  for (const { contract, amount } of transfers) sums.set(contract, (sums.get(contract) ?? 0n) + amount);
  return transfers.filter(({ contract }) => {
    const limit = limits.get(contract ?? '');
    return limit !== undefined && (sums.get(contract) ?? 0n) > limit;
  });
}

/**
 * Refuses transfers that a second node does not tell in the same way.
 *
 * @param second The block of the second node; null while that node is behind.
 * @throws ChainError when it lacks the block, has another one, or tells other transfers of it.
 */
export function refuseUnlike(
  second: ScannedBlock | null,
  { ref, transfers }: Pick<ScannedBlock, 'ref' | 'transfers'>,
): void {
  if (second === null) throw new NodeFault('node_behind', `has no block ${ref.height} yet`);
  const isSame = transfers.every(({ key, address, contract, amount, doubt }) =>
    second.transfers.some(
      (one) =>
        one.key === key &&
        one.address === address &&
        one.contract === contract &&
        one.amount === amount &&
        one.doubt === doubt,
    ),
  );
  if (second.ref.hash === ref.hash && isSame) return;
  // The other node would be believed if it were asked next, and it may hide a deposit.
  const message = `two nodes tell different things of block ${ref.height}: take the one that is wrong out of nodes`;
  throw new ChainError('nodes_disagree', message, { isOfChain: true });
}
