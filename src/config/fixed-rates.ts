import type { Config } from './settings.ts';

/** Longest hold of a binding quote in seconds. A longer setting is cut to it. */
const longestHoldSec = 300;

/** How long fixed rates stand still, and how long a binding quote holds, in seconds. */
export function fixedRateTimes({
  FIXED_RATE_WINDOW_SEC,
  FIXED_RATE_HOLD_SEC,
}: Pick<Config, 'FIXED_RATE_WINDOW_SEC' | 'FIXED_RATE_HOLD_SEC'>): {
  readonly windowSec: number;
  readonly holdSec: number;
} {
  return {
    windowSec: FIXED_RATE_WINDOW_SEC ?? FIXED_RATE_HOLD_SEC,
    holdSec: Math.min(FIXED_RATE_HOLD_SEC, longestHoldSec),
  };
}
