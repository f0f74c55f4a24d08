import { registerEnumType } from 'type-graphql';

/** Upper-case members for the values of the gateway: { WAITING_DEPOSIT: 'waiting_deposit' }. */
type EnumOf<Value extends string> = { readonly [Key in Value as Uppercase<Key>]: Key };

/**
 * Registers an enumeration of the schema. The compiler requires a description of each member.
 *
 * @param meaning what each value means, in one sentence.
 */
export function enumOf<Value extends string>(
  name: string,
  description: string,
  meaning: Readonly<Record<Value, string>>,
): EnumOf<Value> {
  const values = Object.keys(meaning) as Value[];
  const members = Object.fromEntries(values.map((value) => [value.toUpperCase(), value])) as EnumOf<Value>;
  const valuesConfig = Object.fromEntries(
    values.map((value) => [value.toUpperCase(), { description: meaning[value] }]),
  ) as Record<keyof EnumOf<Value>, { description: string }>;
  registerEnumType(members, { name, description, valuesConfig });
  return members;
}
