import { type Command, InvalidArgumentError } from 'commander';

// Parsers of arguments, and the options that all commands share.

/** Makes a parser of whole numbers from `least` to `most`. */
export const wholeNumberUpTo =
  (most: number, least = 0) =>
  (text: string): number => {
    if (!/^\d+$/.test(text)) throw new InvalidArgumentError(`must be a whole number from ${least} to ${most}`);
    const value = Number(text);
    if (value > most) throw new InvalidArgumentError(`is too large: the largest value is ${most}`);
    if (value < least) throw new InvalidArgumentError(`must be a whole number from ${least} to ${most}`);
    return value;
  };

export function wholeNumber(text: string): number {
  return wholeNumberUpTo(999_999_999)(text);
}

export function wholeNumberOrDefault(text: string): number | null {
  return text === 'default' ? null : wholeNumber(text);
}

export const rateOrDefault = (text: string): string | null => (text === 'default' ? null : text);

export function list(text: string): string[] {
  const parts = text.split(',').map((part) => part.trim());
  // An empty list would mean 'all'. An unset variable must not lift a restriction.
  if (parts.includes('')) throw new InvalidArgumentError('must be a comma-separated list without empty parts');
  return parts;
}

export function flag(text: string): boolean {
  if (text !== 'true' && text !== 'false') throw new InvalidArgumentError('must be true or false');
  return text === 'true';
}

export function instant(text: string): Date {
  const date = new Date(text);
  if (!/^\d{4}-\d{2}-\d{2}/.test(text) || Number.isNaN(date.getTime())) {
    throw new InvalidArgumentError('must be a time like 2027-01-31T00:00:00Z');
  }
  return date;
}

/** Adds a command that prints one result. `--json` prints it as one JSON object. */
export function verb(group: Command, name: string, description: string): Command {
  return group.command(name).description(description).option('--json', 'print one JSON object and nothing else');
}

/** Adds a command that changes something. The audit log keeps its reason. */
export function changing(group: Command, name: string, description: string): Command {
  return verb(group, name, description).option('--reason <text>', 'reason for the audit log', 'by command line');
}
