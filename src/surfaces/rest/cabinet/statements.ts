import type { MikroORM } from '@mikro-orm/postgresql';
import { sql } from '../../../base/db/sql.ts';
import { decimal, isoTime } from '../../../orders/order-statements.ts';
import { csvLine } from '../../../orders/read/csv.ts';

/** A coin's sum of a partner's markups. */
export interface Commission {
  readonly coin: string;
  readonly network: string;
  /** Decimal text. */
  readonly amount: string;
}

export interface MonthView {
  /** 2026-11, in UTC. */
  readonly month: string;
  readonly orders: number;
  readonly commission: readonly Commission[];
}

/** A completed order. Amounts are decimal text. */
export interface StatementEntry {
  readonly orderId: string;
  readonly shortId: string;
  readonly externalId: string | null;
  readonly completedAt: string;
  readonly coinFrom: string;
  readonly networkFrom: string;
  readonly amountFrom: string;
  readonly coinTo: string;
  readonly networkTo: string;
  readonly amountTo: string;
  readonly partnerMarkup: string;
}

/** Months that are listed, the current one included. */
const shownMonths = 24;
/** Rows that one statement of an export reads. */
const exportRows = 1_000;

/** SQL: whether an event is the completion of its order, as the index of completions has it. */
const isCompletion = (event: string): string =>
  `${event}.to_status = 'completed' and ${event}.from_status <> 'completed'`;

/** Orders of a partner that completed between two moments, however long before they were made. */
const completed = `from order_event e
  join exchange_order o on o.id = e.order_id
  join trade t on t.order_id = e.order_id and t.state = 'filled'
  left join ledger_transaction lt on lt.order_id = e.order_id and lt.kind = 'markup'
  left join ledger_line l on l.transaction_id = lt.id and l.account = 'partner:' || e.partner_id
 where e.partner_id = ?::uuid and ${isCompletion('e')} and e.at >= ?::timestamptz and e.at < ?::timestamptz`;

/** Monthly statements of partners: completed orders, and what their markups earned. */
export class Statements {
  readonly #orm: MikroORM;

  constructor(orm: MikroORM) {
    this.#orm = orm;
  }

  /** The months with completed orders, newest first. */
  async months(partnerId: string, now: Date): Promise<MonthView[]> {
    const from = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - shownMonths + 1, 1));
    const to = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1));
    return this.#sums(partnerId, from, to);
  }

  /** The sums of a month; no orders for a month without any. */
  async month(partnerId: string, month: string): Promise<MonthView> {
    const [from, to] = rangeOf(month);
    const [found] = await this.#sums(partnerId, from, to);
    return found ?? { month, orders: 0, commission: [] };
  }

  /**
   * A page of a month, oldest first.
   *
   * @param after the order of the entry before the page.
   */
  async entries(
    partnerId: string,
    month: string,
    { limit, after }: { readonly limit: number; readonly after: string | null },
  ): Promise<StatementEntry[]> {
    return sql<StatementEntry>(
      this.#orm.em.fork(),
      `select o.id as "orderId", o.short_id as "shortId",
              (select m.external_id from order_terms m where m.order_id = o.id) as "externalId",
              ${isoTime('e.at')} as "completedAt", o.coin_from as "coinFrom", o.network_from as "networkFrom",
              ${decimal('t.amount_from')} as "amountFrom", o.coin_to as "coinTo", o.network_to as "networkTo",
              ${decimal('t.amount_to')} as "amountTo", ${decimal('coalesce(-l.amount, 0)')} as "partnerMarkup"
         ${completed}
          and (?::uuid is null or (e.at, e.order_id) >
               ((select b.at from order_event b where b.order_id = ?::uuid and ${isCompletion('b')}), ?::uuid))
        order by e.at, e.order_id limit ?`,
      [partnerId, ...rangeOf(month), after, after, after, limit],
    );
  }

  /** A whole month as CSV, by RFC 4180, in parts. */
  async *csv(partnerId: string, month: string): AsyncGenerator<string> {
    const columns = [
      'order_id',
      'short_id',
      'external_id',
      'completed_at',
      'coin_from',
      'network_from',
      'amount_from',
      'coin_to',
      'network_to',
      'amount_to',
      'partner_markup',
    ];
    yield csvLine(columns);
    let after: string | null = null;
    for (;;) {
      const rows: StatementEntry[] = await this.entries(partnerId, month, { limit: exportRows, after });
      if (rows.length > 0) yield rows.map((row) => csvLine(Object.values(row))).join('');
      const last = rows.at(-1);
      if (!last || rows.length < exportRows) return;
      after = last.orderId;
    }
  }

  async #sums(partnerId: string, from: Date, to: Date): Promise<MonthView[]> {
    const rows = await sql<{ month: string; orders: number; coin: string; network: string; amount: string }>(
      this.#orm.em.fork(),
      `select to_char(e.at at time zone 'UTC', 'YYYY-MM') as month, count(*)::int as orders,
                o.coin_to as coin, o.network_to as network, ${decimal('coalesce(sum(-l.amount), 0)')} as amount
           ${completed} group by 1, 3, 4 order by 1 desc, 3, 4`,
      [partnerId, from, to],
    );
    const months = new Map<string, { orders: number; commission: Commission[] }>();
    for (const { month, orders, coin, network, amount } of rows) {
      const sums = months.get(month) ?? { orders: 0, commission: [] };
      sums.orders += orders;
      if (amount !== '0') sums.commission.push({ coin, network, amount });
      months.set(month, sums);
    }
    return [...months].map(([month, sums]) => ({ month, ...sums }));
  }
}

/** The first moments of a month and of the next one. */
function rangeOf(month: string): [from: Date, to: Date] {
  const [year = 0, number = 1] = month.split('-').map(Number);
  return [new Date(Date.UTC(year, number - 1, 1)), new Date(Date.UTC(year, number, 1))];
}
