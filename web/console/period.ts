const dayMs = 86_400_000;

/** The days, in UTC, from the beginning of a period until today. Weeks begin on Monday. */
export function periodUntil(period: 'day' | 'week' | 'month', nowMs: number): { from: string; to: string } {
  const now = new Date(nowMs);
  const back = period === 'day' ? 0 : period === 'week' ? (now.getUTCDay() + 6) % 7 : now.getUTCDate() - 1;
  const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
  return { from: dayOf(nowMs - back * dayMs), to: dayOf(nowMs) };
}
