import { parseArgs } from 'node:util';
import { wholeNumber } from '../command-line.ts';

/**
 * Reads a command line of whole numbers, --seed (a random one unless given) and --keep. Where
 * --help is asked for it prints the help and ends the program.
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
    return [name, wholeNumber({ [name]: String(text) }, name, 0)];
  });
  return { ...Object.fromEntries(given), keep: values.keep ?? false };
}

/** Counts by name, as a line. */
export function shown(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ');
}
