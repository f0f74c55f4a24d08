import type { EntityManager } from '@mikro-orm/postgresql';
import { type Prepared, prepared, type RowValues, type StatementValues, snakeCase } from '../base/db/prepared.ts';
import { sql, sqlRows } from '../base/db/sql.ts';
import { tokenHash } from './order-pages.ts';

/** A partner and its people: its own orders. */
export interface PartnerScope {
  readonly kind: 'partner';
  readonly partnerId: string;
}

/** Staff: every order. */
export interface StaffScope {
  readonly kind: 'staff';
}

export const staffScope: StaffScope = { kind: 'staff' };

/** The user of an order: the one order whose page has this token, while its partner has pages. */
export interface PageScope {
  readonly kind: 'page';
  readonly token: string;
}

/** Everyone: the orders of partners that have switched public status on. */
export interface PublicScope {
  readonly kind: 'public';
}

/** For whom orders are read. */
type OrderScope = PartnerScope | StaffScope | PageScope | PublicScope;

type ScopeKind = OrderScope['kind'];

/** What a statement can see of the orders, as SQL. */
export interface Sight {
  /** A relation with the columns of exchange_order, and with the visible orders only. */
  readonly orders: string;
  /** The same for a statement over given rows, each of which has the values of its scope. */
  readonly ordersOfRow: string;
  /** The columns of given rows that have those values, with their types. */
  readonly columns: Readonly<Record<string, string>>;
}

interface Rule {
  /** The values of a scope, with their types. */
  readonly columns: Readonly<Record<string, string>>;
  /** The visible orders, by the SQL of each value. */
  readonly orders: (value: Readonly<Record<string, string>>) => string;
}

/** Which orders each kind of scope sees. Nothing else decides it. */
const rules: Readonly<Record<ScopeKind, Rule>> = {
  partner: {
    columns: { partner: 'uuid' },
    orders: ({ partner }) => `(select * from exchange_order where partner_id = ${partner})`,
  },
  staff: { columns: {}, orders: () => 'exchange_order' },
  page: {
    columns: { tokenHash: 'bytea' },
    orders: ({ tokenHash: hash }) => `(select v.* from order_page l join exchange_order v on v.id = l.order_id
                 join partner p on p.id = v.partner_id and p.order_page where l.token_hash = ${hash})`,
  },
  public: {
    columns: {},
    orders: () => '(select v.* from exchange_order v join partner p on p.id = v.partner_id and p.public_status)',
  },
};

/** The condition of a scope on entities. Staff see all. */
export function scopeWhere(scope: PartnerScope | StaffScope): { readonly partner?: string } {
  return scope.kind === 'partner' ? { partner: scope.partnerId } : {};
}

/** The values of a scope, under the names of its columns. */
export function scopeValues(scope: OrderScope): Readonly<Record<string, string | Buffer>> {
  switch (scope.kind) {
    case 'partner':
      return { partner: scope.partnerId };
    case 'page':
      return { tokenHash: tokenHash(scope.token) };
    default:
      return {};
  }
}

function sightOf({ columns, orders }: Rule): Sight {
  const named = (of: (name: string, type: string) => string): string =>
    orders(Object.fromEntries(Object.entries(columns).map(([name, type]) => [name, of(name, type)])));
  return {
    orders: named((name, type) => `:${name}::${type}`),
    ordersOfRow: named((name) => `asked.${snakeCase(name)}`),
    columns,
  };
}

/**
 * A statement that reads orders. It gets them only as a `Sight`, so that it exists for a kind of
 * scope, and not without one.
 */
export class ScopedStatement {
  readonly #name: string;
  readonly #text: (sight: Sight) => string;
  readonly #make: (name: string, text: string) => Prepared;
  readonly #made = new Map<ScopeKind, Prepared>();

  /** @param make `prepared` or `replanned`. */
  constructor(name: string, text: (sight: Sight) => string, make: typeof prepared = prepared) {
    this.#name = name;
    this.#text = text;
    this.#make = make;
  }

  /** The statement for a kind of scope, for those who batch it and for tests of plans. */
  of(kind: ScopeKind): Prepared {
    const known = this.#made.get(kind);
    if (known) return known;
    const name = kind === 'partner' ? this.#name : `${this.#name}_${kind}`;
    const made = this.#make(name, this.#text(sightOf(rules[kind])));
    this.#made.set(kind, made);
    return made;
  }
}

/** Runs a statement that reads orders for a scope, as `sql` does. */
export function sqlFor<Row extends object>(
  em: EntityManager,
  scope: OrderScope,
  statement: ScopedStatement,
  values: StatementValues,
): Promise<Row[]> {
  return sql<Row>(em, statement.of(scope.kind), { ...values, ...scopeValues(scope) });
}

/** Runs a statement that reads orders over given rows for a scope, as `sqlRows` does. */
export function sqlRowsFor<Row extends object>(
  em: EntityManager,
  scope: OrderScope,
  statement: ScopedStatement,
  rows: readonly RowValues[],
): Promise<Row[]> {
  const values = scopeValues(scope);
  return sqlRows<Row>(
    em,
    statement.of(scope.kind),
    rows.map((row) => ({ ...row, ...values })),
  );
}
