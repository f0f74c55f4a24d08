import type { Document } from 'openapi-backend';
import type { components } from '../../../generated/openapi.ts';
import type { Json } from './json.ts';

type Schemas = components['schemas'];

/** A schema of the contract whose numbers may be plain decimal text, so that no digit is lost. */
export type Exact<Shape> = { readonly [Member in keyof Shape]: ExactValue<Shape[Member]> };
type ExactValue<Value> = Value extends number ? number | string : Value extends object ? Exact<Value> : Value;

interface SchemaPart {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, SchemaPart>>;
}

type Write = (value: object) => string;

interface Member {
  readonly name: string;
  /** The JSON text before the value. */
  readonly lead: string;
  readonly isText: boolean;
  /** Writes the value of a member that is an object itself. */
  readonly write: Write | null;
}

/**
 * Makes the function that writes an object of the contract as JSON. Members come in the contract's
 * order, and amounts keep exactly their digits. A member may be an object itself, and no list.
 *
 * @param name of the schema in the contract's components.
 */
export function jsonWriter<Name extends keyof Schemas & string>(
  { components: parts }: Document,
  name: Name,
): (value: Exact<Schemas[Name]>) => Json<Schemas[Name]> {
  const schemas = (parts?.schemas ?? {}) as Readonly<Record<string, SchemaPart>>;
  return writerOf(name, schemas[name], schemas) as (value: Exact<Schemas[Name]>) => Json<Schemas[Name]>;
}

function writerOf(name: string, shape: SchemaPart | undefined, schemas: Readonly<Record<string, SchemaPart>>): Write {
  const members = Object.entries(shape?.properties ?? {}).map(([member, schema], i): Member => {
    const resolved = schema.$ref ? schemas[schema.$ref.slice('#/components/schemas/'.length)] : schema;
    const types = [resolved?.type ?? []].flat();
    const isObject = types.length === 1 && types[0] === 'object';
    if (types.length === 0 || types.includes('array') || (types.includes('object') && !isObject)) {
      throw new Error(`${name}.${member} of the contract is no plain value`);
    }
    return {
      name: member,
      lead: `${i === 0 ? '{' : ','}"${member}":`,
      isText: types.includes('string'),
      write: isObject ? writerOf(`${name}.${member}`, resolved, schemas) : null,
    };
  });
  if (members.length === 0) throw new Error(`the contract has no object ${name}`);
  return (value) => {
    const values = value as Readonly<Record<string, string | number | boolean | object | null>>;
    let text = '';
    for (const { name: member, lead, isText, write } of members) {
      const each = values[member];
      if (isText && typeof each === 'string') text += lead + quoted(each);
      else if (write && typeof each === 'object' && each !== null) text += lead + write(each);
      else text += `${lead}${each}`;
    }
    return `${text}}`;
  };
}

/** ASCII text that needs no escape in JSON. */
const plain = /^[ !#-[\]-~]*$/;

function quoted(text: string): string {
  return plain.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** A value of the contract whose amounts are JSON numbers with exact digits. */
export type Amounted<Shape> = Shape extends number
  ? number | JsonNumber
  : Shape extends readonly (infer Item)[]
    ? readonly Amounted<Item>[]
    : Shape extends object
      ? { readonly [Member in keyof Shape]: Amounted<Shape[Member]> }
      : Shape;

/**
 * Writes any value of the contract as JSON, with amounts that `jsonNumber` made. It is slower than
 * `jsonWriter`, and for answers with objects and lists inside.
 */
export function amountedJson<Shape>(value: Amounted<Shape>): Json<Shape> {
  return JSON.stringify(value);
}
