import type { EntityManager } from '@mikro-orm/postgresql';
import { v7 as uuidv7 } from 'uuid';
import { sql } from '../base/db/sql.ts';
import { Big, formatDecimal } from '../base/money.ts';

/**
 * The accounts of the ledger. A debit is positive: assets that we hold or are owed. A credit is
 * negative: what we owe or have earned.
 *
 * - `deposits`: coins on deposit addresses.
 * - `hot`: the hot wallets, which pay.
 * - `client`: what we owe users.
 * - `venue`: what our own inventory traded. Also trades at an exchange that were booked before the
 *   accounts `venue:<name>`.
 * - `venue:<name>`: our balance at the exchange of that name.
 * - `transit`: coins on their way between an exchange and a hot wallet.
 * - `treasury_cost`: what these ways cost.
 * - `service_fee`, `network_fee`: fees that users paid us.
 * - `network_cost`: fees that chains charged us.
 * - `trading`: the difference between the venue's fill and the amount agreed with the user, other
 *   remainders and costs of trades, and unwound trades.
 * - `unclaimed`: remainders too small to refund.
 * - `suspense`: deposits that match no order, until staff assign or return them.
 * - `opening`: the opening balances of the hot wallets, and later funding from outside.
 * - `markup`: the parts of `service_fee` that partners earned by completed orders.
 * - `partner:<id>`: what we owe a partner for it, until it is paid.
 */
export type Account = GatewayAccount | `partner:${string}` | `venue:${string}`;

export type GatewayAccount =
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
  | 'opening'
  | 'markup'
  | 'transit'
  | 'treasury_cost';

/**
 * A coin on a network. Coins at a venue are on no network. There a coin of a trade's order is
 * booked with the order's network, and a transfer with the network that it takes. Any other coin,
 * such as dollars, is booked with the venue's name. So only the sum over all networks means
 * something.
 */
export interface LedgerAsset {
  readonly coin: string;
  readonly network: string;
}

export interface LedgerLine extends LedgerAsset {
  readonly account: Account;
  /** In the coin's units: positive is a debit, negative a credit. Lines of zero are omitted. */
  readonly amount: Big | string;
}

/** The entries about our account at an exchange, other than those of trades. */
const treasuryKinds = [
  'transfer_out',
  'transfer_fee',
  'transfer_reversal',
  'transfer_in',
  'transfer_in_reversal',
  'transfer_match',
  'venue_opening',
  'venue_other',
] as const;
type TreasuryKind = (typeof treasuryKinds)[number];

export interface Booking {
  readonly kind:
    | 'deposit'
    | 'deposit_reversal'
    | 'deposit_assigned'
    | 'trade'
    | 'trade_unwound'
    | 'venue_cash'
    | 'markup'
    | 'commission_conversion'
    | 'commission_correction'
    | 'unclaimed'
    | 'payment'
    | 'payment_fee'
    | 'receive_cost'
    | 'sweep'
    | 'gas'
    | 'funding'
    | 'funding_reversal'
    | 'opening'
    | TreasuryKind;
  /** Names the booked event. Each pair of kind and reference is booked once. */
  readonly reference: string;
  readonly orderId: string | null;
  readonly at: Date;
  readonly lines: readonly LedgerLine[];
}

/** Builds a journal line. */
export function line(account: Account, { coin, network }: LedgerAsset, amount: Big | string): LedgerLine {
  return { account, coin, network, amount };
}

/** Negates an amount. */
export function minus(amount: Big | string): Big {
  return new Big('0').minus(amount);
}

/**
 * Books a journal entry in the caller's database transaction, in one statement. Returns false, and
 * books nothing, when an entry with the same kind and reference exists.
 *
 * @throws Error when the lines of an asset do not sum to zero. The database checks it again at
 * commit.
 */
export async function book(em: EntityManager, booking: Booking): Promise<boolean> {
  return (await bookAll(em, [booking])) === 1;
}

/**
 * Books several journal entries as `book` does, in one statement. Returns how many were new.
 *
 * @throws Error as `book` does.
 */
export async function bookAll(em: EntityManager, bookings: readonly Booking[]): Promise<number> {
  if (bookings.length === 0) return 0;
  const rows = await sql<{ id: string }>(
    em,
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

/**
 * Prepares an entry's lines for the statement, numbered from 1.
 *
 * @throws Error when the lines of an asset do not sum to zero.
 */
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

/**
 * A difference from the balance at an exchange counts once this many comparisons in a row found it.
 */
export const lastingComparisons = 2;

/** Coins on their way between an exchange and a hot wallet for longer wait for someone. */
export const slowTransferMs = 7_200_000;

/** A stored journal line. */
export interface BookedLine extends LedgerAsset {
  readonly orderId: string;
  readonly kind: Booking['kind'];
  readonly at: Date;
  readonly account: Account;
  /** Decimal string: positive is a debit, negative a credit. */
  readonly amount: string;
}

/** Most journal lines of an order that are shown. Any stranger can add lines by small deposits. */
const mostLines = 1_000;

/**
 * Reads the first `mostLines` journal lines of each order, in the order of booking, in one
 * statement.
 */
export async function bookedLines(em: EntityManager, orderIds: readonly string[]): Promise<BookedLine[]> {
  const rows = await sql<Omit<BookedLine, 'at'> & { at: string }>(
    em,
    `select o.id as "orderId", l.kind, l.at, l.account, l.coin, l.network, l.amount::text as amount
       from (select jsonb_array_elements_text(?::jsonb)::uuid as id) as o
      cross join lateral (
        select t.kind, t.at, t.id, l.line, l.account, l.coin, l.network, l.amount
          from ledger_transaction t join ledger_line l on l.transaction_id = t.id
         where t.order_id = o.id order by t.at, t.id, l.line limit ${mostLines}) as l
      order by l.at, l.id, l.line`,
    [JSON.stringify(orderIds)],
  );
  return rows.map((row) => ({ ...row, at: new Date(row.at) }));
}

/**
 * SQL: the lines of a ledger transaction, to join to it. `transaction` is its alias. `offset 0`
 * keeps the planner from starting at all lines of an account. With old statistics that looks
 * cheaper, and reads thousands of lines for each of thousands of transactions.
 */
export const linesOfTransaction = (transaction: string): string =>
  `lateral (select account, coin, network, amount from ledger_line where transaction_id = ${transaction}.id offset 0)`;
