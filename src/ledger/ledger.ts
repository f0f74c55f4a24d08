import type { EntityManager } from '@mikro-orm/postgresql';
import { v7 as uuidv7 } from 'uuid';
import { Big, formatDecimal } from '../money.ts';

/**
 * The accounts of the book. Debits are positive: what we hold or are owed is positive, what we owe or have earned is
 * negative. `deposits`: coins on deposit addresses. `hot`: the wallets that pay. `client`: what users are owed.
 * `venue`: our balance with the liquidity venue. `service_fee`, `network_fee`: what users paid us. `network_cost`: what
 * chains took. `trading`: what the venue gave more or less than was agreed with the user, what else trades left or cost
 * there, and exchanges that we took back. `unclaimed`: remainders too small to send back. `suspense`: deposits that are
 * nobody's yet. `opening`: what the hot wallets began with, and what was brought there from outside since.
 */
export type Account =
  | 'deposits'
  | 'hot'
  | 'client'
  | 'venue'
  | 'service_fee'
  | 'network_fee'
  | 'network_cost'
  | 'trading'
  | 'unclaimed'
  | 'suspense'
  | 'opening';

/**
 * A coin on a network. A coin at a venue is on none: there, a coin that the order of a trade names stands with the
 * network that the order names, and any other, such as dollars, with the venue's name.
 */
export interface LedgerAsset {
  readonly coin: string;
  readonly network: string;
}

export interface LedgerLine extends LedgerAsset {
  readonly account: Account;
  /** Positive debits, negative credits, in the coin's units. Lines of zero are left out. */
  readonly amount: Big | string;
}

export interface Booking {
  readonly kind:
    | 'deposit'
    | 'deposit_reversal'
    | 'trade'
    | 'trade_unwound'
    | 'venue_cash'
    | 'unclaimed'
    | 'payment'
    | 'payment_fee'
    | 'sweep'
    | 'gas'
    | 'funding'
    | 'funding_reversal'
    | 'opening';
  /** What is booked; with the kind, it is booked once. */
  readonly reference: string;
  readonly orderId: string | null;
  readonly at: Date;
  readonly lines: readonly LedgerLine[];
}

/** A line. */
export function line(account: Account, { coin, network }: LedgerAsset, amount: Big | string): LedgerLine {
  return { account, coin, network, amount };
}

/** The opposite of an amount. */
export function minus(amount: Big | string): Big {
  return new Big('0').minus(amount);
}

/**
 * Books a transaction in the caller's own, in one statement. Returns false, and books nothing, when the same was
 * booked before.
 *
 * @throws Error when the lines of an asset do not sum to zero. The database checks it again at commit.
 */
export async function book(em: EntityManager, booking: Booking): Promise<boolean> {
  return (await bookAll(em, [booking])) === 1;
}

/**
 * Books several as `book` does one, all in one statement. Returns how many of them were not booked before.
 *
 * @throws Error as `book` does.
 */
export async function bookAll(em: EntityManager, bookings: readonly Booking[]): Promise<number> {
  if (bookings.length === 0) return 0;
  const rows = await em.execute<{ id: string }[]>(
    `with given as (
       select * from jsonb_to_recordset(?::jsonb)
                as g (id uuid, kind text, reference text, order_id uuid, at timestamptz, lines jsonb)
     ), booked as (
       insert into ledger_transaction (id, kind, reference, order_id, at)
       select id, kind, reference, order_id, at from given
       on conflict (kind, reference) do nothing returning id
     ), written as (
       insert into ledger_line (transaction_id, line, account, coin, network, amount)
       select g.id, l.line, l.account, l.coin, l.network, l.amount
         from booked join given g on g.id = booked.id, jsonb_to_recordset(g.lines)
              as l (line integer, account text, coin text, network text, amount numeric(38,18))
     )
     select id from booked`,
    [
      JSON.stringify(
        bookings.map(({ kind, reference, orderId, at, lines }) => {
          return { id: uuidv7(), kind, reference, order_id: orderId, at, lines: linesOf(kind, reference, lines) };
        }),
      ),
    ],
  );
  return rows.length;
}

/** Lines as they are written, numbered from 1. */
function linesOf(kind: Booking['kind'], reference: string, lines: readonly LedgerLine[]): object[] {
  const kept = lines.map((one) => ({ ...one, amount: new Big(one.amount) })).filter(({ amount }) => !amount.eq('0'));
  for (const [asset, group] of Map.groupBy(kept, ({ coin, network }) => `${coin} on ${network}`)) {
    const sum = group.reduce((total, { amount }) => total.plus(amount), new Big('0'));
    if (!sum.eq('0')) throw new Error(`${kind} ${reference} does not sum to zero in ${asset}: ${formatDecimal(sum)}`);
  }
  return kept.map(({ account, coin, network, amount }, index) => {
    return { line: index + 1, account, coin, network, amount: formatDecimal(amount) };
  });
}

/** A line as it was booked. */
export interface BookedLine extends LedgerAsset {
  readonly orderId: string;
  readonly kind: Booking['kind'];
  readonly at: Date;
  readonly account: Account;
  /** Decimal string; positive debits, negative credits. */
  readonly amount: string;
}

/** Everything that was booked for some orders, in the order of booking, in one statement. */
export async function bookedLines(em: EntityManager, orderIds: readonly string[]): Promise<BookedLine[]> {
  const rows = await em.execute<(Omit<BookedLine, 'at'> & { at: string })[]>(
    `select t.order_id as "orderId", t.kind, t.at, l.account, l.coin, l.network, l.amount::text as amount
       from ledger_transaction t join ledger_line l on l.transaction_id = t.id
      where t.order_id in (select jsonb_array_elements_text(?::jsonb)::uuid) order by t.at, t.id, l.line`,
    [JSON.stringify(orderIds)],
  );
  return rows.map((row) => ({ ...row, at: new Date(row.at) }));
}
