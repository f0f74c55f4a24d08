import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from '../../base/db/sql.ts';
import { Big } from '../../base/money.ts';
import { type LedgerAsset, type LedgerLine, linesOfTransaction } from '../../ledger/ledger.ts';
import type { Payment } from '../rows/payment.entity.ts';
import type { Settling } from './settling.ts';

const zero = new Big('0');

type OrderRows = Pick<Settling, 'client' | 'bookings' | 'payments' | 'trade'>;

/**
 * The balance that the ledger owes an order's user in an asset, in the coin's units. It counts
 * stored journal entries and the entries of this turn's steps. Negative when the account is in
 * debit: more was paid than the credited deposits cover.
 */
export function owedToClient({ client, bookings }: Pick<OrderRows, 'client' | 'bookings'>, asset: LedgerAsset): Big {
  return [...client, ...bookings.flatMap(({ lines }) => lines)]
    .filter((each) => each.account === 'client' && isSame(each, asset))
    .reduce((owed, { amount }) => owed.minus(amount), zero);
}

/**
 * Whether the order's account is in debit in any asset. Such an order exchanges, refunds and pays
 * out nothing.
 */
export function isInDebit(rows: Pick<OrderRows, 'client' | 'bookings'>): boolean {
  const lines = [...rows.client, ...rows.bookings.flatMap(({ lines }) => lines)];
  return lines.some((each) => each.account === 'client' && owedToClient(rows, each).lt(zero));
}

/**
 * The amount of an order's account that can be refunded or exchanged in an asset, in the coin's
 * units. It is the balance owed minus unfinished payments and an unfinished trade, and at least 0.
 */
export function availableToReturn(rows: OrderRows, asset: LedgerAsset): Big {
  const { payments, trade } = rows;
  const promised = payments
    .filter((payment) => isUnderWay(payment) && isSame(payment, asset))
    .reduce((sum, { amount, feeCharged }) => sum.plus(amount).plus(feeCharged), zero);
  const isTraded = trade?.state === 'intended' && isSame({ coin: trade.coinFrom, network: trade.networkFrom }, asset);
  const available = owedToClient(rows, asset)
    .minus(promised)
    .minus(isTraded ? trade.amountFrom : zero);
  return available.gt(zero) ? available : zero;
}

/** A confirmed payment is in the ledger, and a dead one takes nothing. */
function isUnderWay({ state }: Payment): boolean {
  return state !== 'confirmed' && state !== 'dead';
}

function isSame(a: LedgerAsset, b: LedgerAsset): boolean {
  return a.coin === b.coin && a.network === b.network;
}

/** Adds stored ledger lines to the account of their order, which keeps one line for each asset. */
export function addToClientAccount({ client }: Pick<Settling, 'client'>, lines: readonly LedgerLine[]): void {
  const sums = new Map<string, LedgerLine>();
  for (const each of [...client, ...lines]) {
    if (each.account !== 'client') continue;
    const name = `${each.coin} ${each.network}`;
    sums.set(name, { ...each, amount: new Big(sums.get(name)?.amount ?? '0').plus(each.amount) });
  }
  client.splice(0, client.length, ...sums.values());
}

/**
 * Reads the account balances of orders from the ledger, in one statement. An account changes only
 * under the lock of its order's row, which the caller holds.
 */
export async function readClientLines(
  em: EntityManager,
  orderIds: readonly string[],
): Promise<ReadonlyMap<string, LedgerLine[]>> {
  if (orderIds.length === 0) return new Map();
  const rows = await sql<{ order_id: string; coin: string; network: string; amount: string }>(
    em,
    `select x.order_id, l.coin, l.network, sum(l.amount)::text as amount
       from ledger_transaction x join ${linesOfTransaction('x')} l on l.account = 'client'
      where x.order_id in (select jsonb_array_elements_text(?::jsonb)::uuid)
      group by x.order_id, l.coin, l.network`,
    [JSON.stringify(orderIds)],
  );
  const byOrder = Map.groupBy(rows, ({ order_id: orderId }) => orderId);
  return new Map(
    [...byOrder].map(([id, its]) => [
      id,
      its.map(({ coin, network, amount }) => ({ account: 'client' as const, coin, network, amount })),
    ]),
  );
}

/**
 * SQL: whether a payment `p` leaves its order's account without debit in any asset, once it and the
 * begun payments are confirmed. `beginning` is a condition on payments `q` that begin together with
 * it.
 */
export function isCovered(beginning = 'false'): string {
  return `not exists (
    select from (
      select l.coin, l.network, l.amount
        from ledger_transaction x join ${linesOfTransaction('x')} l on l.account = 'client'
       where x.order_id = p.order_id
      union all
      select q.coin, q.network, q.amount + q.fee_charged from payment q
       where q.order_id = p.order_id
         and (q.id = p.id or q.state in ('prepared', 'signed', 'sent') or (q.state = 'ready' and ${beginning}))
    ) as taken group by coin, network having sum(amount) > 0)`;
}
