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
import { requireStorable } from '../../../base/db/stored-text.ts';
import { AppError } from '../../../base/errors.ts';
import { defaultPage } from './connection.ts';

/** Limits of one operation, the same over HTTP and WebSocket. */
export const operationLimits = {
  /** Levels of nested fields. */
  depth: 9,
  aliases: 15,
  directives: 20,
  /** Lexical tokens of the operation's text. */
  tokens: 2_000,
  /** Most fields of the answer. A page counts with its largest number of rows. */
  cost: 12_000,
} as const;

/** Reports the requested and the allowed amount as an error of the operation. */
const reported = {
  exposeLimits: true,
  propagateOnRejection: false,
  onReject: [
    (context: ValidationContext | null, { message }: GraphQLError) =>
      context?.reportError(new GraphQLError(message.replace(/^Syntax Error: /, ''))),
  ],
};

/** Validation rules in addition to GraphQL's own. Introspection is not limited. */
export const validationRules: readonly ValidationRule[] = [
  maxDepthRule({ ...reported, n: operationLimits.depth, ignoreIntrospection: true }) as unknown as ValidationRule,
  maxAliasesRule({ ...reported, n: operationLimits.aliases, allowList: [] }) as unknown as ValidationRule,
  maxDirectivesRule({ ...reported, n: operationLimits.directives }) as unknown as ValidationRule,
];

/** Assumed rows of a list without pages, for its cost. */
const usualRows = 5;
/** Assumed rows of longer lists. */
const usualRowsOf: Readonly<Record<string, number>> = {
  'CommissionMonth.figures': 10,
  'Query.partners': 200,
  'Query.proposals': 200,
  'Query.staff': 200,
  'Stats.series': 400,
  'VenueAccount.balances': 50,
};

/** A field costs 1, plus the cost of its children for each row. */
const costOf: ComplexityEstimator = ({ type, field, args, childComplexity }) => {
  const name = `${type.name}.${field.name}`;
  let rows = 1;
  if (field.args.some((arg) => arg.name === 'first')) rows = args.first ?? args.last ?? defaultPage;
  else if (isListType(getNullableType(field.type)) && field.name !== 'edges') {
    rows = args.limit ?? usualRowsOf[name] ?? usualRows;
  }
  // A negative page size is refused when it runs. It must not lower the cost of its neighbours
  // here.
  return 1 + Math.max(1, rows) * childComplexity;
};

/**
 * Refuses an operation that could cost too much, or that has texts which cannot be stored, before
 * any part of it runs.
 *
 * @throws AppError query_too_complex, invalid_value
 */
export function refuseUnsafeOperation(
  schema: GraphQLSchema,
  query: DocumentNode,
  operationName: string | undefined,
  variables: Record<string, unknown>,
): void {
  refuseUnstorable(query, variables);
  const definitions = getOperationAST(query, operationName || null)?.variableDefinitions ?? [];
  // GraphQL refuses variables of the wrong type in its own words when the operation runs.
  if (getVariableValues(schema, definitions, variables).errors) return;
  const named = operationName ? { operationName } : {};
  let cost: number;
  try {
    cost = getComplexity({ schema, query, variables, ...named, estimators: [costOf] });
  } catch (error) {
    // Nested fragments can stand for more fields than can be counted.
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

/** Refuses texts that PostgreSQL cannot store unchanged. */
function refuseUnstorable(query: DocumentNode, variables: Record<string, unknown>): void {
  visit(query, { StringValue: ({ value }) => requireStorable(value) });
  requireStorable(variables);
}

/** Wraps a refusal of a whole operation as a GraphQL error. */
export function graphqlError(error: AppError): GraphQLError {
  return new GraphQLError(error.detail, { originalError: error, extensions: { http: { status: 400 } } });
}
