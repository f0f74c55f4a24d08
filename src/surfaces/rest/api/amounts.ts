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
 * member whose type in the contract is `number`; other numbers are of type `integer`.
 */
export function amountsAsText(json: string): string {
  amounts ??= new RegExp(`"(${[...amountNames(JSON.parse(contractJson))].join('|')})":(-?[0-9][0-9.eE+-]*)`, 'g');
  // A quotation mark inside a string is escaped, so that no text looks like a member.
  return json.replace(amounts, '"$1":"$2"');
}

/** Names of all members of the contract whose type is `number`. */
export function amountNames(schema: unknown, found = new Set<string>()): Set<string> {
  if (typeof schema !== 'object' || schema === null) return found;
  const { properties } = schema as { properties?: Readonly<Record<string, { type?: string | readonly string[] }>> };
  for (const [name, { type }] of Object.entries(properties ?? {})) {
    if ([type].flat().includes('number')) found.add(name);
  }
  for (const part of Object.values(schema)) amountNames(part, found);
  return found;
}
