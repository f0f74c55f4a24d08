import { ArgsType, Field, Int, ObjectType } from 'type-graphql';
import { validate as isUuid } from 'uuid';
import { AppError } from '../../../base/errors.ts';

export const defaultPage = 20;
const largestPage = 100;

/** https://relay.dev/graphql/connections.htm */
@ObjectType('PageInfo', { description: 'Position of a page in its list.' })
export class PageInfoType {
  @Field(() => Boolean, { description: 'Whether more rows follow the page.' })
  hasNextPage!: boolean;

  @Field(() => Boolean, { description: 'Whether more rows precede the page.' })
  hasPreviousPage!: boolean;

  @Field(() => String, { nullable: true, description: 'Cursor of the first row; null for an empty page.' })
  startCursor!: string | null;

  @Field(() => String, { nullable: true, description: 'Cursor of the last row; null for an empty page.' })
  endCursor!: string | null;
}

@ArgsType()
export class PageArgs {
  @Field(() => Int, {
    nullable: true,
    description: `Rows after the cursor, 1 to ${largestPage}; ${defaultPage} unless given.`,
  })
  first?: number | null;

  @Field(() => String, { nullable: true, description: 'Only rows after this cursor.' })
  after?: string | null;

  @Field(() => Int, { nullable: true, description: `Rows before the cursor, 1 to ${largestPage}, instead of first.` })
  last?: number | null;

  @Field(() => String, { nullable: true, description: 'Only rows before this cursor.' })
  before?: string | null;
}

/** One page of a list, forwards or backwards. */
interface Page {
  readonly backwards: boolean;
  readonly size: number;
  /** The row after which the page begins, in its direction. */
  readonly cursor: string | null;
}

/** @throws AppError invalid_value */
export function pageOf({ first, after, last, before }: PageArgs): Page {
  const backwards = (last ?? null) !== null || ((before ?? null) !== null && (first ?? null) === null);
  if (backwards && ((first ?? null) !== null || (after ?? null) !== null)) {
    throw new AppError('invalid_value', 'a page is first and after, or last and before, not both');
  }
  if (!backwards && (before ?? null) !== null) {
    throw new AppError('invalid_value', 'before goes with last; with first, give after');
  }
  const size = (backwards ? last : first) ?? defaultPage;
  if (size < 1 || size > largestPage) {
    throw new AppError('invalid_value', `${backwards ? 'last' : 'first'} is a whole number from 1 to ${largestPage}`);
  }
  return { backwards, size, cursor: (backwards ? before : after) ?? null };
}

/** A page of a list whose cursors are UUIDs. @throws AppError invalid_value */
export function uuidPageOf(args: PageArgs): Page {
  const page = pageOf(args);
  if (page.cursor !== null && !isUuid(page.cursor)) {
    throw new AppError('invalid_value', `'${page.cursor.slice(0, 40)}' is no cursor of this list`);
  }
  return page;
}

/** A page of a list whose rows are their own cursors, or name them. */
export interface ListPage<Row> {
  readonly edges: { readonly node: Row; readonly cursor: string }[];
  readonly pageInfo: PageInfoType;
}

/**
 * Makes a page of the rows that were found for it, in its direction.
 *
 * @param found one row more than the page has, when there are more.
 */
export function listPage<Row>(
  found: readonly Row[],
  { backwards, size, cursor }: Page,
  cursorOf: (row: Row) => string,
): ListPage<Row> {
  const rows = found.slice(0, size);
  if (backwards) rows.reverse();
  const edges = rows.map((node) => ({ node, cursor: cursorOf(node) }));
  const more = found.length > size;
  return {
    edges,
    pageInfo: {
      hasNextPage: backwards ? cursor !== null : more,
      hasPreviousPage: backwards ? more : cursor !== null,
      startCursor: edges.at(0)?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
    },
  };
}
