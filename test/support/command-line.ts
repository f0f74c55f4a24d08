// Command lines of benchmarks and tortures.

const largest = 9_999_999_999;

/**
 * Reads an option as a whole number. For anything that is not one from `least` on it says so and
 * ends the program.
 */
export function wholeNumber<Name extends string>(
  options: Readonly<Record<Name, string>>,
  name: Name,
  least = 1,
): number {
  return checked(name, options[name], least);
}

/** Reads an option as whole numbers from 1, with commas between them, as `wholeNumber` does. */
export function wholeNumbers<Name extends string>(options: Readonly<Record<Name, string>>, name: Name): number[] {
  return options[name].split(',').map((text) => checked(name, text, 1));
}

function checked(name: string, text: string, least: number): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= largest) return value;
  const fault =
    value > largest ? `is too large: the largest value is ${largest}` : `is not a whole number from ${least}`;
  process.stderr.write(`--${name} '${text}' ${fault}; see --help\n`);
  process.exit(2);
}

/** A signal that aborts when the program is interrupted, so that it can end what it started. */
export function onInterrupt(): AbortSignal {
  const interrupted = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => interrupted.abort(new Error(`${signal}: ended`)));
  }
  return interrupted.signal;
}
