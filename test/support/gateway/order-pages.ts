import { openHasher } from '../../../src/app/bootstrap.ts';
import { cursorPurpose, ListCursors } from '../../../src/reports/list-cursor.ts';
import { filterText } from '../../../src/reports/order-walk.ts';
import type { Call, Reply } from '../http/contract-client.ts';
import type { TestGateway } from './gateway.ts';

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
 * Sends a cursor of a list by updates without filters, as the same gateway would have written it in
 * another cluster of PostgreSQL.
 */
export async function inOtherCluster(
  { config, app }: Pick<TestGateway, 'config' | 'app'>,
  partnerId: string,
  cursor: string,
  send: (cursor: string) => Promise<Reply>,
): Promise<Reply> {
  const cursors = new ListCursors((await openHasher(config, app.orm)).derivedKeys(cursorPurpose));
  const none = { statuses: null, names: null, createdFrom: null, createdTo: null, coinFrom: null, coinTo: null };
  const bound = `${partnerId} updated ${filterText(none)}`;
  return send(cursors.write(bound, cursors.read(bound, cursor).replace(/\.[^.]+$/, '.7000000000000000000-00000002')));
}
