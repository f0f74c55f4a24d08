import { ChainError } from '../port/chain-adapter.ts';
import { readUint, type TokenTransfer, transferCall } from './erc20.ts';
import type { EvmNode } from './evm-node.ts';

/**
 * Code that overrides the sender's code for one `eth_call`. It reads two balances, transfers, and
 * reads them again. Its input is the contract, the recipient, and the data of the transfer. It
 * returns whether the transfer succeeded, the amount that left the sender and the amount that
 * arrived. Its Yul source, for solc 0.8.37 (optimized, Paris):
 * prose-ok: source code.
 *   function held(token, owner) -> amount {
 *     mstore(0, shl(224, 0x70a08231)) mstore(4, owner)
 *     if iszero(staticcall(gas(), token, 0, 36, 0, 32)) { revert(0, 0) }
 *     amount := mload(0)
 *   }
 *   let token := calldataload(0) let to := calldataload(32)
 *   let has := held(token, address()) let had := held(token, to)
 *   calldatacopy(64, 64, 68)
 *   let done := call(gas(), token, 0, 64, 68, 160, 32)
 *   let says := or(iszero(returndatasize()), eq(mload(160), 1))
 *   mstore(192, and(done, says))
 *   mstore(224, sub(has, held(token, address()))) mstore(256, sub(held(token, to), had))
 *   return(192, 96)
 */
const code =
  '0x600035604a602035600f30846055565b92601882826055565b93604460408037602060a0604460406000865af1600160a051143d15171660c0' +
  '52604130836055565b900360e0526055565b0361010052606060c0f35b6024600080926020946370a0823160e01b83526004525afa156077576' +
  '0005190565b600080fd';

/**
 * Tries a transfer of a token in the newest state, without sending it. On a node that overrides
 * code in a call, it compares the balances of both sides. On any other node, the token's own return
 * value decides.
 *
 * @param sender In any capitals; another address than the recipient.
 * @throws ChainError `would_fail` when the token reverts the transfer or returns false;
 *   `token_refused` when another amount would leave the sender or arrive.
 */
export async function tryTransfer(node: EvmNode, sender: string, transfer: TokenTransfer): Promise<void> {
  const { contract, to, amount } = transfer;
  const data = transferCall(to, amount);
  const input = `0x${word(contract)}${word(to)}${data.slice(2)}`;
  const answer = await node.callWithCode({ to: sender.toLowerCase(), data: input }, code);
  if (answer?.length === 2 + 3 * 64) {
    const [done, left, arrived] = [0, 1, 2].map((index) =>
      BigInt(`0x${answer.slice(2 + index * 64, 66 + index * 64)}`),
    );
    if (done === 1n) {
      if (left === amount && arrived === amount) return;
      throw new ChainError('token_refused', `a transfer of ${amount} takes ${left} and brings ${arrived}`, {
        isOfChain: true,
      });
    }
  }
  // Some tokens refuse senders that have code.
  const said = await node.call({ from: sender, to: contract, data });
  if (said === '0x' || readUint(said, 'whether a transfer was made') === 1n) return;
  throw new ChainError('would_fail', 'the token says no to the transfer', { isOfChain: true });
}

function word(address: string): string {
  return address.slice(2).toLowerCase().padStart(64, '0');
}
