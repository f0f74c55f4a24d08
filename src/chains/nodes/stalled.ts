import { systemMs } from '../../base/clock.ts';
import type { LiveNetwork } from '../networks/network-config.ts';
import { ChainError } from '../port/chain-adapter.ts';

type Stall = Pick<LiveNetwork, 'chain' | 'stalledAfterSec'>;

/** Age of a newest block in seconds, by its own timestamp. */
export function ageSec(blockTime: number): number {
  return Math.max(0, Math.floor(systemMs() / 1_000) - blockTime);
}

/**
 * Refuses a head that is too old to show the present state of the chain. Another node may have a
 * newer block. If none has, no deadline may end, because the chain does not advance with the clock.
 *
 * @throws ChainError `chain_stalled`
 */
export function refuseStalled({ chain, stalledAfterSec }: Stall, blockTime: number): void {
  if (!isStalled(stalledAfterSec, blockTime)) return;
  throw new ChainError('chain_stalled', `the newest block of ${chain} is ${ageSec(blockTime)} s old`);
}

/**
 * Refuses a head from the future. What is built on its time would expire far too late, and wait
 * until then.
 *
 * @throws ChainError `chain_ahead`
 */
export function refuseAhead({ chain, stalledAfterSec }: Stall, blockTime: number): void {
  const aheadSec = blockTime - Math.floor(systemMs() / 1_000);
  if (stalledAfterSec === 0 || aheadSec <= stalledAfterSec) return;
  throw new ChainError('chain_ahead', `the newest block of ${chain} is from ${aheadSec} s after the present`);
}

/** The same problem for people, with its remedy; empty without one. */
export function stallProblems({ stalledAfterSec }: Stall, blockTime: number): string[] {
  if (!isStalled(stalledAfterSec, blockTime)) return [];
  return [`its newest block is ${ageSec(blockTime)} s old: see whether it still follows its network`];
}

function isStalled(stalledAfterSec: number, blockTime: number): boolean {
  return stalledAfterSec > 0 && ageSec(blockTime) > stalledAfterSec;
}
