/**
 * The number of statements that read in one run. The gateway reads something by itself now and
 * then, but not each time, so this is the least of eight runs.
 *
 * @param statements where the gateway's `onStatement` writes.
 */
export async function readingStatements(statements: string[], run: () => Promise<void>): Promise<number> {
  const seen: number[] = [];
  for (let round = 0; round < 8; round++) {
    statements.length = 0;
    await run();
    seen.push(statements.filter((sql) => /^\s*(select|with)\b/i.test(sql)).length);
  }
  return Math.min(...seen);
}
