import { ChainError } from './chain-adapter.ts';
import type { NetworkConfig } from './network-config.ts';

type Stall = Pick<NetworkConfig, 'chain' | 'stalledAfterSec'>;

/** For how many seconds a block has been the newest, by its own time. */
export function ageSec(blockTime: number): number {
  return Math.max(0, Math.floor(Date.now() / 1_000) - blockTime);
}

/**
 * Refuses a head that is too old to say what is on the chain now: another node may have a newer one, and if none has,
 * nothing may end by a clock that the chain does not follow.
 *
 * @throws ChainError `chain_stalled`
 */
export function refuseStalled({ chain, stalledAfterSec }: Stall, blockTime: number): void {
  if (!isStalled(stalledAfterSec, blockTime)) return;
  throw new ChainError('chain_stalled', `the newest block of ${chain} is ${ageSec(blockTime)} s old`);
}

/** The same for people: what is wrong and what to do, or nothing. */
export function stallProblems({ stalledAfterSec }: Stall, blockTime: number): string[] {
  if (!isStalled(stalledAfterSec, blockTime)) return [];
  return [`its newest block is ${ageSec(blockTime)} s old: see whether it still follows its network`];
}

function isStalled(stalledAfterSec: number, blockTime: number): boolean {
  return stalledAfterSec > 0 && ageSec(blockTime) > stalledAfterSec;
}
