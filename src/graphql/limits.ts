import { maxAliasesRule } from '@escape.tech/graphql-armor-max-aliases';
import { maxDepthRule } from '@escape.tech/graphql-armor-max-depth';
import { maxDirectivesRule } from '@escape.tech/graphql-armor-max-directives';
import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  getNullableType,
  getOperationAST,
  getVariableValues,
  isListType,
  type ValidationContext,
  type ValidationRule,
  visit,
} from 'graphql';
import { type ComplexityEstimator, getComplexity } from 'graphql-query-complexity';
import { AppError } from '../errors.ts';
import { defaultPage } from './connection.ts';

/** What one operation may ask for, over HTTP and WebSocket alike. */
export const operationLimits = {
  /** Levels of nested fields. */
  depth: 9,
  aliases: 15,
  directives: 20,
  /** Words and signs of the operation's text. */
  tokens: 2_000,
  /** Fields that the answer may hold, where a page counts for as many rows as it may have. */
  cost: 12_000,
} as const;

/** Tells how much was asked for and how much may be, as a fault of the operation. */
const reported = {
  exposeLimits: true,
  propagateOnRejection: false,
  onReject: [
    (context: ValidationContext | null, { message }: GraphQLError) =>
      context?.reportError(new GraphQLError(message.replace(/^Syntax Error: /, ''))),
  ],
};

/** Rules beside GraphQL's own, which every operation is checked by before it runs. Introspection is not limited. */
export const validationRules: readonly ValidationRule[] = [
  maxDepthRule({ ...reported, n: operationLimits.depth, ignoreIntrospection: true }) as unknown as ValidationRule,
  maxAliasesRule({ ...reported, n: operationLimits.aliases, allowList: [] }) as unknown as ValidationRule,
  maxDirectivesRule({ ...reported, n: operationLimits.directives }) as unknown as ValidationRule,
];

/** Rows of a list that has no pages, when its cost is told beforehand. */
const usualRows = 5;
/** Lists that are longer than that. */
const usualRowsOf: Readonly<Record<string, number>> = {
  'Query.partners': 200,
  'Query.proposals': 200,
  'Query.staff': 200,
  'Stats.series': 400,
};

/** A field costs one, and what is below it as often as it may be there. */
const costOf: ComplexityEstimator = ({ type, field, args, childComplexity }) => {
  const name = `${type.name}.${field.name}`;
  let rows = 1;
  if (field.args.some((arg) => arg.name === 'first')) rows = args.first ?? args.last ?? defaultPage;
  else if (isListType(getNullableType(field.type)) && field.name !== 'edges') {
    rows = args.limit ?? usualRowsOf[name] ?? usualRows;
  }
  // A page of less than nothing is refused once it runs; it must not pay for what stands beside it.
  return 1 + Math.max(1, rows) * childComplexity;
};

/**
 * Refuses an operation that could cost too much or has texts that cannot be stored, before anything of it is run.
 *
 * @throws AppError query_too_complex, invalid_value
 */
export function refuseUnfit(
  schema: GraphQLSchema,
  query: DocumentNode,
  operationName: string | undefined,
  variables: Record<string, unknown>,
): void {
  refuseUnstorable(query, variables);
  const definitions = getOperationAST(query, operationName || null)?.variableDefinitions ?? [];
  // Variables that do not fit are refused, in GraphQL's words, when the operation is run.
  if (getVariableValues(schema, definitions, variables).errors) return;
  const named = operationName ? { operationName } : {};
  let cost: number;
  try {
    cost = getComplexity({ schema, query, variables, ...named, estimators: [costOf] });
  } catch (error) {
    // Fragments within fragments can stand for more fields than can be counted.
    if (error instanceof GraphQLError) throw new AppError('query_too_complex', 'this has too many fields to count');
    throw error;
  }
  if (cost > operationLimits.cost) {
    throw new AppError(
      'query_too_complex',
      `this could return ${cost} fields, and ${operationLimits.cost} are allowed; ask for shorter pages or fewer fields`,
    );
  }
}

/** Refuses texts that PostgreSQL cannot keep as they are: with NUL characters, or halves of a surrogate pair. */
function refuseUnstorable(query: DocumentNode, variables: Record<string, unknown>): void {
  const check = (text: string): void => {
    if (text.includes('\0') || !text.isWellFormed()) {
      throw new AppError('invalid_value', 'a text has no NUL characters and no halves of a surrogate pair');
    }
  };
  visit(query, { StringValue: ({ value }) => check(value) });
  // Not recursive, as variables may be nested as deep as a body is long.
  const waiting: unknown[] = [variables];
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (typeof value === 'string') check(value);
    else if (typeof value === 'object' && value !== null) {
      for (const member of Object.values(value)) if (member !== undefined) waiting.push(member);
    }
  }
}

/** A refusal of ours of a whole operation, in GraphQL's own kind of error. */
export function graphqlError(error: AppError): GraphQLError {
  return new GraphQLError(error.detail, { originalError: error, extensions: { http: { status: 400 } } });
}
