import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isNonNullType,
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
  return needed.length === 0 ? '' : `(${needed.map((arg) => `${arg.name}: ${exampleOf(arg.type)}`).join(', ')})`;
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
