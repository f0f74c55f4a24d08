import type { UsualCosts } from '../port/chain-adapter.ts';
import type { TronNode } from './tron-node.ts';
import { tokensOf } from './tron-preparation.ts';
import { newHolder, tryTransfer } from './tron-trial.ts';
import { digitsOf, mostBandwidthOf } from './tron-tx.ts';

/**
 * What a payout and a sweep cost by the chain's parameters and a trial, without the margin of
 * `prepare`. The energy that the wallet has left of a stake makes a payout cheaper. Null when the
 * wallet has none of the token, so that nothing can be tried.
 *
 * @throws ChainError when the token refuses the trial.
 */
export async function usualCosts(
  node: TronNode,
  { hotWallet, contract }: { readonly hotWallet: string; readonly contract: string | null },
): Promise<UsualCosts | null> {
  const owner = digitsOf(hotWallet);
  const prices = await node.prices();
  const token = contract === null ? null : digitsOf(contract);
  const transfer = { owner, contract: token, to: newHolder(), amount: 1n };
  const bandwidth = BigInt(mostBandwidthOf(transfer)) * prices.bandwidth;
  const newAccount = prices.newAccount + prices.newAccountBandwidth;
  // The free bandwidth of an address covers its sweep of coins.
  if (contract === null) return { payout: newAccount > bandwidth ? newAccount : bandwidth, sweep: 0n };
  if ((await tokensOf(node, owner, contract, 'newest')) === 0n) return null;
  const { energy: staked } = await node.resources(owner);
  const energy = await tryTransfer(node, transfer);
  // The wallet holds the token, as it does when a sweep reaches it.
  const energyOfSweep = await tryTransfer(node, { ...transfer, to: owner });
  const paid = energy > staked ? energy - staked : 0n;
  return {
    payout: paid * prices.energy + bandwidth,
    // The address does not exist before it is sent the fee of its sweep. Its free bandwidth covers
    // the rest.
    sweep: energyOfSweep * prices.energy + newAccount,
  };
}
