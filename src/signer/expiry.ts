import type { Expiry } from '../chains/port/chain-adapter.ts';

/** The last millisecond of the year 9999, so that every program can write the time. */
const lastTimeMs = 253_402_300_799_999;

/** Whether a value of another process or a file is an expiry: one height or one time, from 0. */
export function isExpiry(value: unknown): value is Expiry {
  if (typeof value !== 'object' || value === null) return false;
  const [one, ...others] = Object.entries(value);
  if (one === undefined || others.length > 0) return false;
  const [kind, number] = one;
  if (!Number.isSafeInteger(number) || number < 0) return false;
  return kind === 'height' || (kind === 'timeMs' && number <= lastTimeMs);
}
