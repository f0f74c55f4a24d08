import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import {
  buildSchema,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import type { Dice } from '../support/gateway/dice.ts';
import { kinds, staffClient } from '../support/staff/staff-client.ts';
import { KnownIds } from './known-ids.ts';
import { SchemaValues } from './schema-values.ts';
import { type Surface, tried } from './surface.ts';

const schema = buildSchema(readFileSync('schema/schema.graphql', 'utf8'));
const queries = Object.values(schema.getQueryType()?.getFields() ?? {});

/** Bodies that are no question. */
const broken = [
  '',
  '{',
  '[]',
  'null',
  '{"query":1}',
  '{"query":""}',
  '{"query":"{"}',
  '{"query":"{ me { id } }","variables":[]}',
  '{"query":"{ me { id } } { me { id } }"}',
  '{"query":"query a($x: Int!) { attention(limit: $x) { __typename } }","variables":{"x":"one"}}',
  '{"query":"{ __schema { types { name } } }"}',
  JSON.stringify({ query: `${'{ me '.repeat(400)}${'}'.repeat(400)}` }),
  JSON.stringify({ query: `{ ${Array.from({ length: 300 }, (_, i) => `a${i}: me { id }`).join(' ')} }` }),
  `{"query":"${'x'.repeat(200_000)}"}`,
];

/** Questions to the staff API: each query of the schema, with random arguments and members. */
export function staffSurface(internalUrl: string, token: string): Surface {
  const ask = staffClient(internalUrl, token);
  const ids = new KnownIds();
  return async (dice) => {
    if (dice.chance(0.1)) {
      const body = dice.pick(broken);
      const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` };
      const reply = await fetch(`${internalUrl}/graphql`, { method: 'POST', headers, body });
      return tried('a broken staff query', body, reply.status, await reply.text());
    }
    const query = new Query(dice, ids);
    const { text, variables } = query.of(dice.pick(queries));
    const reply = await ask(text, variables);
    ids.learn(reply.data);
    // The answer to a fault of ours has the status 200.
    const isFault = kinds(reply).includes('INTERNAL_SERVER_ERROR');
    const request = `${text} ${JSON.stringify(variables)}`;
    return tried('a staff query', request, isFault ? 500 : reply.status, reply.text);
  };
}

/** A random question of one root field. */
class Query {
  readonly #dice: Dice;
  readonly #ids: KnownIds;
  readonly #values: SchemaValues;
  readonly #variables: Record<string, unknown> = {};
  readonly #types: string[] = [];

  constructor(dice: Dice, ids: KnownIds) {
    this.#dice = dice;
    this.#ids = ids;
    this.#values = new SchemaValues(dice);
  }

  of(field: GraphQLField<unknown, unknown>): { readonly text: string; readonly variables: Record<string, unknown> } {
    const asked = this.#field(field, 3);
    const head = this.#types.length === 0 ? '' : `(${this.#types.join(', ')}) `;
    return { text: `query ${head}{ ${asked} }`, variables: this.#variables };
  }

  #field({ name, args, type }: GraphQLField<unknown, unknown>, depth: number): string {
    const given = args.filter((one) => isNonNullType(one.type) || this.#dice.chance(0.4));
    const list = given.map((one) => `${one.name}: $${this.#variable(one)}`).join(', ');
    const named = getNamedType(type);
    const call = list === '' ? name : `${name}(${list})`;
    if (isLeafType(named)) return call;
    const members = isObjectType(named) || isInterfaceType(named) ? Object.values(named.getFields()) : [];
    const asked = members.flatMap((member) => {
      const isLeaf = isLeafType(getNamedType(member.type));
      if (!isLeaf && depth === 0) return [];
      return this.#dice.chance(isLeaf ? 0.7 : 0.3) ? [this.#field(member, depth - 1)] : [];
    });
    return `${call} { ${['__typename', ...asked].join(' ')} }`;
  }

  #variable({ name, type }: GraphQLArgument): string {
    const variable = `${name}${this.#types.length}`;
    this.#types.push(`$${variable}: ${type}`);
    this.#variables[variable] = this.#dice.chance(0.03) ? this.#dice.pick([null, {}, [], 0.1, 'x']) : this.#value(type);
    return variable;
  }

  #value(type: GraphQLInputType): unknown {
    const dice = this.#dice;
    if (isNonNullType(type)) return this.#value(type.ofType);
    if (isListType(type)) return Array.from({ length: Math.floor(dice.between(0, 4)) }, () => this.#value(type.ofType));
    if (isEnumType(type)) return dice.pick(type.getValues()).name;
    if (isInputObjectType(type)) {
      const members = Object.values(type.getFields()).filter((one) => isNonNullType(one.type) || dice.chance(0.4));
      return Object.fromEntries(members.map((one) => [one.name, this.#value(one.type)]));
    }
    switch (type.name) {
      case 'Int':
        return dice.pick([-1, 0, 1, 2, 5, 20, 100, 101, 1_000_000, 2 ** 31 - 1]);
      case 'Float':
        return dice.pick([-1, 0, 0.5, 1e300]);
      case 'Boolean':
        return dice.chance(0.5);
      case 'ID':
        return dice.chance(0.7) ? this.#ids.pick(dice) : this.#text();
      case 'DateTime':
        return dice.chance(0.8)
          ? new Date(Date.now() - dice.between(-1, 40) * 86_400_000).toISOString()
          : dice.pick(['now', '', '2026-13-01T00:00:00Z', '0001-01-01T00:00:00Z', '9999-12-31T23:59:59Z']);
      default:
        return dice.chance(0.3) ? this.#ids.pick(dice) : this.#text();
    }
  }

  #text(): string {
    return this.#dice.chance(0.1) ? randomUUID() : JSON.parse(this.#values.valid({ type: 'string', maxLength: 300 }));
  }
}
