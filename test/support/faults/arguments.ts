import { parseArgs } from 'node:util';

/**
 * Reads a command line of whole numbers, --seed (a random one unless given) and --keep. Where
 * --help is asked for it prints the help and ends the program.
 *
 * @throws Error for what is not a whole number.
 */
export function readArguments<Name extends string>(
  help: string,
  defaults: Readonly<Record<Name, number>>,
): Readonly<Record<Name | 'seed', number>> & { readonly keep: boolean } {
  const numbers: Record<string, number> = { ...defaults, seed: Math.floor(Math.random() * 1e9) };
  const { values } = parseArgs({
    options: {
      ...Object.fromEntries(Object.keys(numbers).map((name) => [name, { type: 'string' as const }])),
      keep: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help) {
    process.stdout.write(help);
    process.exit(0);
  }
  const given = Object.keys(numbers).map((name) => {
    const text = values[name as keyof typeof values] ?? String(numbers[name]);
    if (!/^\d{1,10}$/.test(String(text))) {
      process.stderr.write(`--${name} '${text}' is not a whole number; see --help\n`);
      process.exit(2);
    }
    return [name, Number(text)];
  });
  return { ...Object.fromEntries(given), keep: values.keep ?? false };
}

/** Counts by name, as a line. */
export function shown(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ');
}
