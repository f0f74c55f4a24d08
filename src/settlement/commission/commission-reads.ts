import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import type { Clock } from '../../base/clock.ts';
import { sql } from '../../base/db/sql.ts';
import { AppError } from '../../base/errors.ts';
import { Big, formatDecimal } from '../../base/money.ts';
import type { LedgerAsset } from '../../ledger/ledger.ts';
import { decimal, isoTime } from '../../orders/order-statements.ts';
import { type CsvValue, csvLine } from '../../orders/read/csv.ts';
import type { ListCursors } from '../../orders/read/list-cursor.ts';
import type { CommissionEntryKind } from '../rows/commission-entry.entity.ts';
import type { CommissionFigures, CommissionState } from '../rows/commission-statement.entity.ts';
import { type CommissionEntries, monthOf } from './commission-entries.ts';
import type { CommissionProblem } from './commission-payments.ts';

/** An amount of an asset, as decimal text. Positive is what the partner is owed. */
export interface CommissionAmount extends LedgerAsset {
  readonly amount: string;
}

/** A month in the form '2026-11'. */
type Month = string;

/** What a partner is owed now. */
export interface CommissionBalance {
  readonly month: Month;
  /** What the present month is settled in. */
  readonly asset: LedgerAsset;
  /** All that is owed in the asset of the month, closed months that are not paid yet included. */
  readonly balance: string;
  /** What is owed in other assets. */
  readonly others: readonly CommissionAmount[];
  /** Closed months that are to be paid, and those whose payment is under way. Oldest first. */
  readonly payable: readonly (CommissionAmount & { readonly month: Month })[];
  readonly inPayment: readonly (CommissionAmount & { readonly month: Month })[];
}

/** A payment of a month. It says nothing of the address. */
export interface CommissionPayment {
  /** Null until the transaction is in a block. */
  readonly txid: string | null;
  readonly amount: string;
  readonly fee: string;
  /** Where an explorer shows the transaction. Null where none does. */
  readonly explorerUrl: string | null;
}

/** A month of a partner. Amounts are decimal text, times ISO 8601. */
export interface CommissionMonth extends LedgerAsset {
  readonly month: Month;
  readonly state: CommissionState;
  /** By asset, the settlement asset first. Those of an open month are of this moment. */
  readonly figures: readonly CommissionFigures[];
  readonly orders: number;
  readonly due: string | null;
  /** Why no payment of a payable month is under way. 'held' is a hold of staff. */
  readonly problem: CommissionProblem | 'held' | null;
  readonly sha256: string | null;
  readonly closedAt: string | null;
  readonly paidAt: string | null;
  /** Null without a payment, and when the newest one can never be confirmed. */
  readonly payment: CommissionPayment | null;
}

/** An entry of a partner. Amounts are decimal text. */
export interface CommissionEntryView extends CommissionAmount {
  readonly id: string;
  readonly kind: CommissionEntryKind;
  readonly at: string;
  readonly month: Month;
  readonly orderId: string | null;
  readonly shortId: string | null;
  readonly externalId: string | null;
  readonly from: (CommissionAmount & { readonly price: string }) | null;
  readonly price: string | null;
  readonly corrects: string | null;
  readonly reason: string | null;
  readonly txid: string | null;
}

export interface EntryPage {
  readonly entries: readonly CommissionEntryView[];
  readonly nextCursor: string | null;
}

/** The transaction of the payment that `id` names, once it is in a block. */
const txidOf = (id: string): string => `(select a.txid from payment_attempt a
  where a.payment_id = ${id} and a.mined_height is not null and a.dead_at is null
  order by a.attempt desc limit 1)`;

/** The months of a partner, oldest first. Open ones have the sums of their entries. */
const months = `select to_char(s.month, 'YYYY-MM') as month, s.state, s.coin, s.network, s.orders, s.figures,
       ${decimal('s.due')} as due, s.sha256,
       case when s.state = 'payable' and (p.id is null or p.state = 'dead')
            then case when s.held_at is null then s.problem else 'held' end end as problem,
       ${isoTime('s.closed_at')} as "closedAt", ${isoTime('s.paid_at')} as "paidAt",
       case when p.state <> 'dead' then jsonb_build_object(
         'txid', ${txidOf('p.id')}, 'amount', ${decimal('p.amount')}, 'fee', ${decimal('p.fee_charged')}) end as payment,
       case when s.state = 'open' then (
         select coalesce(jsonb_agg(sums), '[]') from (
           select e.coin, e.network, e.kind, ${decimal('sum(e.amount)')} as amount, count(*)::int as count
             from commission_entry e where e.partner_id = s.partner_id and e.month = s.month
            group by e.coin, e.network, e.kind) sums) end as sums
  from commission_statement s left join payment p on p.id = s.payment_id
 where s.partner_id = ?::uuid and s.month <= ?::date
 order by s.month`;

/** The entries of a kind in an open month, of one asset. */
interface Sum extends CommissionAmount {
  readonly kind: CommissionEntryKind;
  readonly count: number;
}

/** A month as the database has it. */
interface StoredMonth extends Omit<CommissionMonth, 'payment'> {
  readonly payment: Omit<CommissionPayment, 'explorerUrl'> | null;
}

interface MonthRow extends Omit<StoredMonth, 'figures' | 'orders'> {
  readonly figures: readonly CommissionFigures[] | null;
  readonly orders: number | null;
  /** Null of a closed month. */
  readonly sums: readonly Sum[] | null;
}

/** A day after every month. */
const endOfTime = '9999-12-01';

/** Most entries of a page. */
export const mostEntries = 100;

export interface CommissionReadsOptions {
  readonly orm: MikroORM;
  readonly clock: Clock;
  readonly cursors: ListCursors;
  readonly entries: CommissionEntries;
  /** Where an explorer shows a transaction. Null where none does. */
  readonly explorerUrl: (coin: string, network: string, txid: string) => string | null;
}

/**
 * What partners read of their commission. A read of months costs one statement: a few rows of each
 * month, and the entries of months that are open.
 */
export class CommissionReads {
  readonly #em: EntityManager;
  readonly #clock: Clock;
  readonly #cursors: ListCursors;
  readonly #entries: CommissionEntries;
  readonly #explorerUrl: CommissionReadsOptions['explorerUrl'];

  constructor({ orm, clock, cursors, entries, explorerUrl }: CommissionReadsOptions) {
    this.#em = orm.em.fork();
    this.#clock = clock;
    this.#cursors = cursors;
    this.#entries = entries;
    this.#explorerUrl = explorerUrl;
  }

  /** What a partner is owed now. */
  async balance(partnerId: string): Promise<CommissionBalance> {
    const now = this.#clock.now();
    const asset = await this.#entries.assetOf(this.#em, partnerId, now);
    const all = await readMonths(this.#em, partnerId, endOfTime);
    const owed = (all.at(-1)?.figures ?? []).map(({ coin, network, closing }) => ({ coin, network, amount: closing }));
    const payable = all.filter(({ state }) => state === 'payable');
    const due = (some: readonly StoredMonth[]) =>
      some.map(({ month, coin, network, due }) => ({ month, coin, network, amount: due ?? '0' }));
    return {
      month: monthOf(now).slice(0, 7),
      asset,
      balance: owed.find((one) => isSame(one, asset))?.amount ?? '0',
      others: owed.filter((one) => !isSame(one, asset) && one.amount !== '0'),
      payable: due(payable.filter(({ payment }) => payment === null)),
      inPayment: due(payable.filter(({ payment }) => payment !== null)),
    };
  }

  /** The months of a partner, newest first. */
  async months(partnerId: string): Promise<CommissionMonth[]> {
    return (await readMonths(this.#em, partnerId, endOfTime)).reverse().map((month) => this.#linked(month));
  }

  /** @throws AppError not_found when the partner has no such month. */
  async month(partnerId: string, month: Month): Promise<CommissionMonth> {
    const last = (await readMonths(this.#em, partnerId, `${month}-01`)).at(-1);
    if (last?.month !== month) throw noMonth(month);
    return this.#linked(last);
  }

  /** A month with the place where an explorer shows its payment. */
  #linked({ payment, ...month }: StoredMonth): CommissionMonth {
    if (payment === null) return { ...month, payment };
    const { txid } = payment;
    const explorerUrl = txid === null ? null : this.#explorerUrl(month.coin, month.network, txid);
    return { ...month, payment: { ...payment, explorerUrl } };
  }

  /**
   * The CSV of a month, as `commissionCsv` writes it.
   *
   * @throws AppError not_found when the partner has no such month.
   */
  async csv(partnerId: string, month: Month): Promise<AsyncGenerator<string>> {
    const [known] = await sql(
      this.#em,
      'select 1 from commission_statement where partner_id = ?::uuid and month = ?::date',
      [partnerId, `${month}-01`],
    );
    if (!known) throw noMonth(month);
    return commissionCsv(this.#em, partnerId, month);
  }

  /**
   * A page of entries, the newest month and the newest entry first. The list of a closed month is
   * final. Entries that are booked during a walk of an open month may be missing from it.
   *
   * @param month null for all months.
   * @throws AppError invalid_cursor for a cursor of another partner or another month.
   */
  async entries(
    partnerId: string,
    { month, limit, cursor }: { readonly month: Month | null; readonly limit: number; readonly cursor: string | null },
  ): Promise<EntryPage> {
    const bound = `${partnerId} commission entries ${month ?? '*'}`;
    const [atMonth = null, number = null] = cursor === null ? [] : this.#cursors.read(bound, cursor).split('.');
    const rows = await sql<CommissionEntryView & { number: string }>(
      this.#em,
      `select e.number::text as number, e.id, e.kind, ${isoTime('e.at')} as at, to_char(e.month, 'YYYY-MM') as month,
              e.coin, e.network, ${decimal('e.amount')} as amount, e.order_id as "orderId", o.short_id as "shortId",
              t.external_id as "externalId",
              case when e.from_coin is not null then jsonb_build_object('coin', e.from_coin, 'network', e.from_network,
                'amount', ${decimal('e.from_amount')}, 'price', ${decimal('e.from_price')}) end as "from",
              ${decimal('e.price')} as price, e.corrects, e.reason, ${txidOf('e.payment_id')} as txid
         from commission_entry e
         left join exchange_order o on o.id = e.order_id
         left join order_terms t on t.order_id = e.order_id
        where e.partner_id = ?::uuid${month === null ? '' : ' and e.month = ?::date'}
              ${number === null ? '' : 'and (e.month, e.number) < (?::date, ?::bigint)'}
        order by e.month desc, e.number desc limit ?::integer`,
      [
        partnerId,
        ...(month === null ? [] : [`${month}-01`]),
        ...(number === null ? [] : [`${atMonth}-01`, number]),
        limit + 1,
      ],
    );
    const entries = rows.slice(0, limit);
    const last = rows.length > limit ? entries.at(-1) : undefined;
    return { entries, nextCursor: last ? this.#cursors.write(bound, `${last.month}.${last.number}`) : null };
  }
}

/**
 * The months of a partner up to one, oldest first. In a transaction that holds the row of an open
 * month, no entry can be added to it any more, and it closes with these figures.
 *
 * @param upTo its first day, such as '2026-11-01'.
 */
export async function readMonths(em: EntityManager, partnerId: string, upTo: string): Promise<StoredMonth[]> {
  const rows = await sql<MonthRow>(em, months, [partnerId, upTo]);
  let before: readonly CommissionFigures[] = [];
  return rows.map(({ sums, ...row }) => {
    const figures = row.figures ?? liveFigures(row, before, sums ?? []);
    const accruals = (sums ?? []).filter(({ kind }) => kind === 'accrual');
    before = figures;
    return { ...row, figures, orders: row.orders ?? accruals.reduce((all, { count }) => all + count, 0) };
  });
}

/** The name of the sum of a kind of entries. */
const figureOf = {
  accrual: 'accrued',
  conversion: 'converted',
  correction: 'corrected',
  payment: 'paid',
} as const satisfies Readonly<Record<CommissionEntryKind, keyof CommissionFigures>>;

/**
 * The figures of a month by the closing figures of the month before and the sums of its entries,
 * the settlement asset first. `paid` is positive.
 */
function liveFigures(
  settled: LedgerAsset,
  before: readonly CommissionFigures[],
  sums: readonly Sum[],
): readonly CommissionFigures[] {
  const opened = before.filter(({ closing }) => closing !== '0');
  const assets: LedgerAsset[] = [{ coin: settled.coin, network: settled.network }];
  for (const { coin, network } of [...opened, ...sums].sort(byName)) {
    if (!assets.some((one) => isSame(one, { coin, network }))) assets.push({ coin, network });
  }
  return assets.map((asset) => {
    const opening = opened.find((one) => isSame(one, asset))?.closing ?? '0';
    const figures = { accrued: '0', converted: '0', corrected: '0', paid: '0' };
    let closing = new Big(opening);
    for (const { kind, amount } of sums.filter((sum) => isSame(sum, asset))) {
      figures[figureOf[kind]] = kind === 'payment' ? formatDecimal(new Big(amount).neg()) : amount;
      closing = closing.plus(amount);
    }
    return { ...asset, opening, ...figures, closing: formatDecimal(closing) };
  });
}

const isSame = (one: LedgerAsset, other: LedgerAsset): boolean =>
  one.coin === other.coin && one.network === other.network;

const nameOf = ({ coin, network }: LedgerAsset): string => `${coin}/${network}`;

const byName = (one: LedgerAsset, other: LedgerAsset): number => (nameOf(one) < nameOf(other) ? -1 : 1);

function noMonth(month: Month): AppError {
  return new AppError('not_found', `there is no statement of ${month}`);
}

/** Rows that one statement of a file reads. */
const csvRows = 1_000;

/**
 * Each column of the CSV with its SQL, of the entry `e`. They are fixed for ever, as the SHA-256 of
 * a closed month is one of these bytes. So no column has a value that changes later, such as an
 * external id or the state of a payment.
 */
const csvColumns: readonly (readonly [name: string, sql: string])[] = [
  ['entry_id', 'e.id::text'],
  ['kind', 'e.kind'],
  ['at', isoTime('e.at')],
  ['coin', 'e.coin'],
  ['network', 'e.network'],
  ['amount', `jsonb_build_object('decimal', ${decimal('e.amount')})`],
  ['order_id', 'e.order_id::text'],
  ['short_id', '(select o.short_id from exchange_order o where o.id = e.order_id)'],
  ['from_coin', 'e.from_coin'],
  ['from_network', 'e.from_network'],
  ['from_amount', decimal('e.from_amount')],
  ['from_price', decimal('e.from_price')],
  ['price', decimal('e.price')],
  ['corrects', 'e.corrects::text'],
  ['reason', 'e.reason'],
];

/**
 * Writes the entries of a partner's month as CSV, by RFC 4180, in parts: a line of names, then the
 * entries in the order of their booking. The bytes of a closed month are the same whenever it is
 * read, and their SHA-256 is `sha256` of its statement. Without a transaction, each part is a
 * separate statement, so that a slow reader holds no connection.
 *
 * @param month any day of it, or '2026-11'.
 */
export async function* commissionCsv(em: EntityManager, partnerId: string, month: string): AsyncGenerator<string> {
  yield csvLine(csvColumns.map(([name]) => name));
  let after = '0';
  for (;;) {
    const rows: { number: string; cells: CsvValue[] }[] = await sql(
      em,
      `select e.number::text as number, jsonb_build_array(${csvColumns.map(([, column]) => column).join(', ')}) as cells
         from commission_entry e
        where e.partner_id = ?::uuid and e.month = ?::date and e.number > ?::bigint
        order by e.number limit ?::integer`,
      [partnerId, `${month.slice(0, 7)}-01`, after, csvRows],
    );
    if (rows.length > 0) yield rows.map(({ cells }) => csvLine(cells)).join('');
    const last = rows.at(-1);
    if (!last || rows.length < csvRows) return;
    after = last.number;
  }
}
