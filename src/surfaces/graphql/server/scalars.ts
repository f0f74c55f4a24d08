import { GraphQLScalarType, Kind } from 'graphql';
import { GraphQLDateTime } from 'graphql-scalars';
import { AppError } from '../../../base/errors.ts';
import { formatDecimal, parseDecimal } from '../../../base/money.ts';

/**
 * Amounts, rates and prices: exact decimal text in both directions, never a number that a client
 * could round.
 */
export const Decimal = new GraphQLScalarType<string, string>({
  name: 'Decimal',
  description: 'An exact decimal number as text, without an exponent or trailing zeros: "0.0123".',
  serialize: (value) => formatDecimal(String(value)),
  parseValue: checked,
  parseLiteral: (node) => {
    if (node.kind === Kind.STRING || node.kind === Kind.INT || node.kind === Kind.FLOAT) return checked(node.value);
    throw notDecimal('this');
  },
});

/** A time in UTC: "2026-11-21T09:30:00.000Z". */
export const DateTime = new GraphQLScalarType<Date, Date>({
  ...GraphQLDateTime.toConfig(),
  description: 'A time in the form of RFC 3339, in UTC in answers: "2026-11-21T09:30:00.000Z".',
  parseValue: (value) => sinceUnix(GraphQLDateTime.parseValue(value)),
  parseLiteral: (node, variables) => sinceUnix(GraphQLDateTime.parseLiteral(node, variables)),
});

/** Refuses times before 1970. The format also allows the year 0, which PostgreSQL does not know. */
function sinceUnix(moment: Date): Date {
  if (moment.getTime() < 0) throw new AppError('invalid_value', 'a time must lie after the beginning of 1970');
  return moment;
}

function checked(value: unknown): string {
  const decimal = typeof value === 'string' ? parseDecimal(value) : null;
  if (!decimal) throw notDecimal(typeof value === 'string' ? `'${value.slice(0, 40)}'` : `a ${typeof value}`);
  return formatDecimal(decimal);
}

function notDecimal(what: string): AppError {
  return new AppError('invalid_value', `${what} is not a decimal number as text, like "0.0123"`);
}
