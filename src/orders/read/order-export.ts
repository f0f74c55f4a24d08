import type { EntityManager } from '@mikro-orm/postgresql';
import { replanned } from '../../base/db/prepared.ts';
import { ScopedStatement, type StaffScope, sqlFor } from '../order-scope.ts';
import { decimal, isoTime } from '../order-statements.ts';
import { csvLine } from './csv.ts';

/** Most orders of one file. */
export const mostExported = 50_000;
/** Orders that one statement reads. */
const pageSize = 500;

/** The orders of a file, chosen before its first byte. */
export interface ChosenOrders {
  /** Newest first. */
  readonly ids: readonly string[];
  /** Whether the filter matches more orders than a file has. */
  readonly isCut: boolean;
}

/** Each column with its SQL, of the order `o`. */
const columns: readonly (readonly [name: string, sql: string])[] = [
  ['order_id', 'o.id::text'],
  ['short_id', 'o.short_id'],
  ['external_id', '(select t.external_id from order_terms t where t.order_id = o.id)'],
  ['partner_id', 'o.partner_id::text'],
  ['partner', 'p.name'],
  ['status', 'o.status'],
  ['held', `case when o.held_at is null then '' else 'yes' end`],
  ['rate_type', 'o.rate_type'],
  ['created_at', isoTime('o.created_at')],
  ['updated_at', isoTime('o.updated_at')],
  ['coin_from', 'o.coin_from'],
  ['network_from', 'o.network_from'],
  ['amount_from_expected', decimal('o.amount_from_expected')],
  ['amount_from_actual', decimal('o.amount_from_actual')],
  ['coin_to', 'o.coin_to'],
  ['network_to', 'o.network_to'],
  ['amount_to_expected', decimal('o.amount_to_expected')],
  ['amount_to_actual', decimal('o.amount_to_actual')],
  ['deposit_address', 'a.address'],
  ['deposit_tag', 'a.tag'],
  ['deposit_txid', 'o.deposit_txid'],
  ['recipient_address', 'o.recipient_address'],
  ['recipient_tag', 'o.recipient_address_tag'],
  ['refund_address', 'o.refund_address'],
  ['refund_tag', 'o.refund_address_tag'],
  ['payout_txid', 'o.payout_txid'],
];

const orderRows = new ScopedStatement(
  'orders_csv',
  ({ orders }) => `select o.id, jsonb_build_array(${columns.map(([, sql]) => sql).join(', ')}) as cells
  from ${orders} o join partner p on p.id = o.partner_id join deposit_address a on a.id = o.deposit_address_id
 where o.id = any (:ids::uuid[])`,
  replanned,
);

/**
 * Writes orders as CSV, in parts. Each part is a separate statement, so that a slow reader holds
 * no connection and no snapshot. A file that was cut says so in its last line.
 */
export async function* orderCsv(
  em: EntityManager,
  scope: StaffScope,
  { ids, isCut }: ChosenOrders,
): AsyncGenerator<string> {
  yield csvLine(columns.map(([name]) => name));
  for (let start = 0; start < ids.length; start += pageSize) {
    const page = ids.slice(start, start + pageSize);
    const rows = await sqlFor<{ id: string; cells: (string | null)[] }>(em, scope, orderRows, { ids: page });
    const byId = new Map(rows.map(({ id, cells }) => [id, cells]));
    yield page.map((id) => csvLine(byId.get(id) ?? [])).join('');
  }
  if (isCut) yield csvLine([`only the newest ${ids.length} orders of this filter are here; narrow it for the others`]);
}
