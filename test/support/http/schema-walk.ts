import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';

/** A value that a scalar of the schema takes. */
const scalarExamples: Readonly<Record<string, string>> = {
  String: '"x"',
  ID: '"01900000-0000-7000-8000-000000000000"',
  Int: '1',
  Float: '1',
  Boolean: 'true',
  Decimal: '"1"',
  DateTime: '"2026-01-01T00:00:00Z"',
};

/** A literal that fits a type. */
function exampleOf(type: GraphQLInputType): string {
  if (isNonNullType(type)) return exampleOf(type.ofType);
  if (isListType(type)) return `[${exampleOf(type.ofType)}]`;
  if (isEnumType(type)) return type.getValues()[0]?.name ?? '';
  if (isInputObjectType(type)) {
    const members = Object.values(type.getFields()).filter((field) => isNonNullType(field.type));
    return `{ ${members.map((field) => `${field.name}: ${exampleOf(field.type)}`).join(', ')} }`;
  }
  const example = scalarExamples[type.name];
  if (example === undefined) throw new Error(`there is no example of ${type.name}`);
  return example;
}

function argumentsOf(args: readonly GraphQLArgument[]): string {
  const needed = args.filter((arg) => isNonNullType(arg.type) && arg.defaultValue === undefined);
  return needed.length === 0
    ? ''
    : `(${needed.map((arg) => `${arg.name}: ${arg.name === 'month' ? '"2026-01"' : exampleOf(arg.type)}`).join(', ')})`;
}

/** A selection of a field with the arguments that it needs, and nothing of what is below it. */
export function selectionOf(field: GraphQLField<unknown, unknown>): string {
  const below = isLeafType(getNamedType(field.type)) ? '' : ' { __typename }';
  return `${field.name}${argumentsOf(field.args)}${below}`;
}

export interface RootField {
  readonly operation: 'query' | 'mutation' | 'subscription';
  readonly type: GraphQLObjectType;
  readonly field: GraphQLField<unknown, unknown>;
}

/** Every field of the roots. */
export function rootFields(schema: GraphQLSchema): RootField[] {
  const roots = [
    ['query', schema.getQueryType()],
    ['mutation', schema.getMutationType()],
    ['subscription', schema.getSubscriptionType()],
  ] as const;
  return roots.flatMap(([operation, type]) =>
    type ? Object.values(type.getFields()).map((field) => ({ operation, type, field })) : [],
  );
}

/** What is below a type, to a depth: every leaf, and every object that is no part of itself. */
export interface WholeSelection {
  readonly text: string;
  /** The fields in it, as `Order.id`. */
  readonly fields: readonly string[];
}

/**
 * A selection of all that an answer can have, to a depth of nested objects. Empty for a type
 * without fields.
 *
 * @param omitted Fields that are left out, as `Order.partner`.
 */
export function wholeSelectionOf(
  type: GraphQLOutputType,
  depth: number,
  omitted: ReadonlySet<string> = new Set(),
): WholeSelection {
  const fields: string[] = [];
  const below = (named: GraphQLNamedType, left: number, path: readonly string[]): string => {
    if (!isObjectType(named)) return '';
    const parts = Object.values(named.getFields()).flatMap((field) => {
      const name = `${named.name}.${field.name}`;
      const inner = getNamedType(field.type);
      const isLeaf = isLeafType(inner);
      if (omitted.has(name) || (!isLeaf && (left === 0 || path.includes(inner.name)))) return [];
      fields.push(name);
      return [`${field.name}${argumentsOf(field.args)}${below(inner, left - 1, [...path, inner.name])}`];
    });
    return ` { ${parts.length === 0 ? '__typename' : parts.join(' ')} }`;
  };
  const named = getNamedType(type);
  return { text: below(named, depth, [named.name]), fields };
}
