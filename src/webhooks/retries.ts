import { randomInt } from 'node:crypto';

const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;

/** Pauses before the second attempt and all that follow. The first attempt has none. */
export const retryPausesMs: readonly number[] = [
  5 * secondMs,
  5 * minuteMs,
  30 * minuteMs,
  2 * hourMs,
  5 * hourMs,
  10 * hourMs,
  14 * hourMs,
  20 * hourMs,
  24 * hourMs,
];
/** Pauses are this much shorter or longer at random, in thousandths. */
const spread = 200;
/** The longest pause that a receiver may ask for. */
const longestAskedMs = 24 * hourMs;

/** A sender works on a delivery for no longer. It covers the 15 seconds of an attempt. */
export const usualLeaseMs = 45_000;

/**
 * When a delivery that failed is tried again. Null when it has had its last attempt.
 *
 * @param attempts Attempts so far, from 1.
 * @param retryAfterSec What the receiver asked for. The pause is never shorter, up to a day.
 */
export function nextAttemptAt(attempts: number, now: Date, retryAfterSec: number | null): Date | null {
  const pauseMs = retryPausesMs[attempts - 1];
  if (pauseMs === undefined) return null;
  const spreadMs = Math.round((pauseMs * randomInt(1_000 - spread, 1_000 + spread + 1)) / 1_000);
  const askedMs = Math.min((retryAfterSec ?? 0) * secondMs, longestAskedMs);
  return new Date(now.getTime() + Math.max(spreadMs, askedMs));
}
