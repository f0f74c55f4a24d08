import { parseArgs } from 'node:util';
import { wholeNumber } from '../command-line.ts';

/**
 * Reads a command line of whole numbers, words, --seed (a random one unless given) and --keep.
 * Where --help is asked for it prints the help and ends the program.
 */
export function readArguments<Name extends string, Word extends string = never>(
  help: string,
  defaults: Readonly<Record<Name, number>>,
  words: Readonly<Record<Word, string>> = {} as Readonly<Record<Word, string>>,
): Readonly<Record<Name | 'seed', number>> & Readonly<Record<Word, string>> & { readonly keep: boolean } {
  const numbers: Record<string, number> = { ...defaults, seed: Math.floor(Math.random() * 1e9) };
  const { values } = parseArgs({
    options: {
      ...Object.fromEntries(
        [...Object.keys(numbers), ...Object.keys(words)].map((name) => [name, { type: 'string' as const }]),
      ),
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
  const texts = Object.entries<string>(words).map(([name, text]) => [
    name,
    values[name as keyof typeof values] ?? text,
  ]);
  return { ...Object.fromEntries([...given, ...texts]), keep: values.keep ?? false };
}

/** Counts by name, as a line. */
export function shown(counts: Readonly<Record<string, number | string>>): string {
  return Object.entries(counts)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ');
}
