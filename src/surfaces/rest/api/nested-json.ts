import type { Document } from 'openapi-backend';
import type { components } from '../../../generated/openapi.ts';
import type { Json } from './json.ts';

type Schemas = components['schemas'];

/** The members of a schema of the contract, each as JSON text. */
export type JsonMembers<Shape> = { readonly [Member in keyof Shape]-?: Json<Shape[Member]> };

/**
 * Makes the function that writes an object of the contract whose members are JSON already, such as
 * objects and lists. Members come in the contract's order.
 *
 * @param name of the schema in the contract's components.
 */
export function nestedWriter<Name extends keyof Schemas & string>(
  { components: parts }: Document,
  name: Name,
): (members: JsonMembers<Schemas[Name]>) => Json<Schemas[Name]> {
  const schemas = (parts?.schemas ?? {}) as Readonly<Record<string, { readonly properties?: object }>>;
  const names = Object.keys(schemas[name]?.properties ?? {});
  if (names.length === 0) throw new Error(`the contract has no object ${name}`);
  return (members) => {
    const values = members as Readonly<Record<string, string>>;
    return `{${names.map((member) => `"${member}":${values[member]}`).join(',')}}`;
  };
}

/** A list as JSON. */
export function jsonList<Item>(items: readonly Json<Item>[]): Json<Item[]> {
  return `[${items.join(',')}]`;
}

/** A value of JSON that has no amounts in it. */
export function jsonValue<Value extends string | number | boolean | null>(value: Value): Json<Value> {
  return JSON.stringify(value);
}
