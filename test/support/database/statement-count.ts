/**
 * The statements of one run. The gateway runs statements without a request now and then, for
 * instance to fill the address pool, so this is the shortest list of eight runs.
 *
 * @param statements where the gateway's `onStatement` writes.
 * @param counts which of them belong to the list; all unless given.
 */
export async function statementsOf(
  statements: string[],
  run: () => Promise<unknown>,
  counts: (sql: string) => boolean = () => true,
): Promise<string[]> {
  let shortest: string[] | undefined;
  for (let round = 0; round < 8; round++) {
    statements.length = 0;
    await run();
    const ran = statements.filter(counts);
    if (!shortest || ran.length < shortest.length) shortest = ran;
  }
  return shortest ?? [];
}

/** The number of statements of one run that read, by the same rule. */
export async function readingStatements(statements: string[], run: () => Promise<void>): Promise<number> {
  return (await statementsOf(statements, run, (sql) => /^\s*(select|with)\b/i.test(sql))).length;
}
