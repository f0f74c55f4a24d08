import { NodeFault } from '../nodes/node-answer.ts';
import type { ScannedBlock } from '../port/chain-adapter.ts';

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
  throw new NodeFault('nodes_disagree', `tells something else than another node of block ${ref.height}`);
}
