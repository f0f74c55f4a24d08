import { maxAliasesRule } from '@escape.tech/graphql-armor-max-aliases';
import { maxDepthRule } from '@escape.tech/graphql-armor-max-depth';
import { maxDirectivesRule } from '@escape.tech/graphql-armor-max-directives';
import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  getNullableType,
  isListType,
  type ValidationContext,
  type ValidationRule,
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

/** A field costs one, and what is below it as often as it may be there. */
const costOf: ComplexityEstimator = ({ field, args, childComplexity }) => {
  if (field.args.some(({ name }) => name === 'first')) {
    return 1 + (args.first ?? args.last ?? defaultPage) * childComplexity;
  }
  const isRows = isListType(getNullableType(field.type)) && field.name !== 'edges';
  return 1 + (isRows ? (args.limit ?? usualRows) : 1) * childComplexity;
};

/**
 * Refuses an operation that could cost too much, before anything of it is run.
 *
 * @throws AppError query_too_complex
 */
export function refuseCostly(
  schema: GraphQLSchema,
  query: DocumentNode,
  operationName: string | undefined,
  variables: Record<string, unknown>,
): void {
  let cost: number;
  try {
    const named = operationName === undefined ? {} : { operationName };
    cost = getComplexity({ schema, query, variables, ...named, estimators: [costOf] });
  } catch (error) {
    // Variables that do not fit are refused, in the same words, when the operation is run.
    if (error instanceof GraphQLError) return;
    throw error;
  }
  if (cost > operationLimits.cost) {
    throw new AppError(
      'query_too_complex',
      `this could return ${cost} fields, and ${operationLimits.cost} are allowed; ask for shorter pages or fewer fields`,
    );
  }
}

/** A refusal of ours of a whole operation, in GraphQL's own kind of error. */
export function graphqlError(error: AppError): GraphQLError {
  return new GraphQLError(error.detail, { originalError: error, extensions: { http: { status: 400 } } });
}
