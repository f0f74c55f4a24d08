import { duration } from '../ui/format.ts';

/** What happens to the key, or the secret, before the new one. */
export function keyMoves(oldHours: number): string {
  if (oldHours === 0) return 'The old one has ended.';
  return `Both work now. The old one ends in ${duration(oldHours * 3_600)}; change over before that.`;
}
