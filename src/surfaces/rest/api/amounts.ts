import { contractJson } from '../../../generated/contract.ts';

/**
 * The two forms of amounts. By default they are JSON numbers. A request with the header
 * `Amounts: string` gets every amount as a string, and may send strings. Numbers lose digits in
 * clients that parse them into doubles.
 */

/** The value of the header `Amounts` that asks for strings. */
export const textAmounts = 'string';

let amounts: RegExp | undefined;

/**
 * Turns every amount in the JSON text of an answer into a string of the same digits. An amount is a
 * member whose schema is the contract's `Amount` or `SignedAmount`; other numbers are whole. The
 * texts of repeatable requests are stored with numbers, so that a form is chosen only when an
 * answer is sent.
 *
 * A quotation mark inside a string of JSON is escaped, so that no text looks like a member. Parsing
 * the text with the sources of its numbers would give the same, for ten times the CPU time.
 */
export function amountsAsText(json: string): string {
  amounts ??= new RegExp(`"(${[...amountNames(JSON.parse(contractJson))].join('|')})":(-?[0-9][0-9.eE+-]*)`, 'g');
  return json.replace(amounts, '"$1":"$2"');
}

const amountSchemas: readonly unknown[] = ['#/components/schemas/Amount', '#/components/schemas/SignedAmount'];

interface Part {
  readonly $ref?: string;
  readonly oneOf?: readonly Part[];
  readonly properties?: Readonly<Record<string, Part>>;
}

const isAmount = ({ $ref, oneOf = [] }: Part): boolean => amountSchemas.includes($ref) || oneOf.some(isAmount);

/** Names of all members of answers that are amounts. */
export function amountNames(schema: unknown, found = new Set<string>()): Set<string> {
  if (typeof schema !== 'object' || schema === null) return found;
  for (const [name, part] of Object.entries((schema as Part).properties ?? {})) if (isAmount(part)) found.add(name);
  for (const part of Object.values(schema)) amountNames(part, found);
  return found;
}
