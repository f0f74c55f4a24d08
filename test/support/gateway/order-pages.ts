import { openHasher } from '../../../src/app/bootstrap.ts';
import { cursorPurpose, ListCursors } from '../../../src/orders/read/list-cursor.ts';
import { filterText } from '../../../src/orders/read/order-filter.ts';
import type { Call, Reply } from '../http/contract-client.ts';
import type { TestGateway } from './gateway.ts';
import type { Rows } from './orders.ts';

/** Ids of all orders of a list, page by page. A page without an order must move the cursor. */
export async function rowsOf(call: Call, key: string, query: string): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | null = null;
  for (;;) {
    const at: string = cursor === null ? '' : `&cursor=${cursor}`;
    const { status, text, json } = await call('GET', `/partner/orders?${query}${at}`, { key });
    if (status !== 200) throw new Error(text);
    ids.push(...json.data.map(({ id }: { id: string }) => id));
    if (!json.has_more) return ids;
    if (json.next_cursor === cursor) throw new Error('the cursor did not move');
    cursor = json.next_cursor;
  }
}

/**
 * Sends a cursor of a list by updates, of events, or of the report, without filters, as the same
 * gateway would have written it in another cluster of PostgreSQL.
 */
export async function inOtherCluster(
  { config, app }: Pick<TestGateway, 'config' | 'app'>,
  partnerId: string,
  cursor: string,
  send: (cursor: string) => Promise<Reply>,
  list: 'orders' | 'events' | 'report' = 'orders',
): Promise<Reply> {
  const cursors = new ListCursors((await openHasher(config, app.orm)).derivedKeys(cursorPurpose));
  const bounds = {
    orders: `${partnerId} updated ${filterText({})}`,
    events: `${partnerId} events *`,
    report: `${partnerId} report * *`,
  };
  const bound = bounds[list];
  return send(cursors.write(bound, cursors.read(bound, cursor).replace(/\.[^.]+$/, '.7000000000000000000-00000002')));
}

/** Copies an order many times by SQL, older than all others of its partner. */
export async function copyOrder(query: Rows, id: string, count: number): Promise<void> {
  await query(
    `with source as (select * from exchange_order where id = $1), made as (
       select n, gen_random_uuid() as id, gen_random_uuid() as address from generate_series(1, $2::int) n
     ), address as (
       insert into deposit_address (id, keychain, index, address, created_at, leased_at)
       select address, 'bitcoin', 1e12::bigint + (random() * 1e15)::bigint, 'copied' || address, now(), now() from made
     ), copied as (
       insert into exchange_order
       select (jsonb_populate_record(null::exchange_order, to_jsonb(s) || jsonb_build_object('id', m.id, 'deposit_address_id', m.address,
                 'short_id', 'C' || upper(left(md5(m.id::text), 6)) || '-' || upper(left(replace(m.id::text, '-', ''), 6)),
                 'created_at', s.created_at - m.n * interval '1 second', 'next_action_at', null))).*
         from source s, made m
     )
     insert into order_event (order_id, partner_id, seq, at, to_status, cause, actor)
     select m.id, s.partner_id, 1, s.created_at, 'waiting_deposit', 'created', 'partner:' || s.partner_id from made m, source s`,
    [id, count],
  );
}
