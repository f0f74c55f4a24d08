import { type MemberOperation, operationRows } from '../../src/accounts/members/rights.ts';
import { membersContract, readCabinetContract } from '../../src/surfaces/rest/cabinet/contract.ts';
import { CabinetClient, type CabinetReply } from '../support/cabinet/cabinet-client.ts';
import type { Dice } from '../support/gateway/dice.ts';
import { type Operation, operationsOf } from './contract-operations.ts';
import { KnownIds } from './known-ids.ts';
import { SchemaValues } from './schema-values.ts';
import { type Surface, tried } from './surface.ts';

const operations = [...operationsOf(readCabinetContract()), ...operationsOf(membersContract())];

/**
 * Requests of a member of a partner: each operation of the cabinet, right, wrong, confirmed and
 * not. Some end the member's own access. A new person is invited then.
 *
 * @param invite Makes a partner with orders. Returns the link for its owner.
 */
export function cabinetSurface(publicUrl: string, invite: () => Promise<string>): Surface {
  const ids = new KnownIds();
  let client: CabinetClient | null = null;
  const signedIn = async (): Promise<CabinetClient> => {
    if (client && (client.cookie !== null || (await client.signIn()).status === 200)) return client;
    client = new CabinetClient(publicUrl);
    const { status, text } = await client.accept(await invite());
    if (status !== 200) throw new Error(`the invitation is refused: ${status} ${text}`);
    ids.learn((await client.done('GET', '/partner/orders?limit=20')) ?? null);
    return client;
  };
  return async (dice) => {
    const operation = dice.pick(operations);
    const { path, body } = requestOf(operation, dice, ids);
    const browser = await signedIn();
    let reply: Pick<CabinetReply, 'status' | 'text'>;
    try {
      const headers = await confirmation(browser, operation, path, body, dice);
      const sent = await browser.call(operation.method, path, { headers, ...(body === null ? {} : { body }) });
      ids.learn(sent.json ?? null);
      reply = sent;
    } catch (error) {
      // A confirmation that was refused.
      const status = /^Error: (?:POST) \/confirmations\S*: (\d{3}) /.exec(String(error))?.[1];
      if (status === undefined) throw error;
      reply = { status: Number(status), text: String(error) };
    }
    if (reply.status === 401) browser.cookie = null;
    return tried(`cabinet ${operation.id}`, `${operation.method} ${path} ${body ?? ''}`, reply.status, reply.text);
  };
}

async function confirmation(
  browser: CabinetClient,
  { id, method }: Operation,
  path: string,
  body: string | null,
  dice: Dice,
): Promise<Record<string, string>> {
  const { isConfirmed = false } = operationRows[id as MemberOperation] ?? {};
  if (dice.chance(isConfirmed ? 0.3 : 0.95)) return {};
  if (!isConfirmed) return { 'X-Confirmation': 'A'.repeat(43) };
  return browser.confirmed(id as MemberOperation, method, path, body ?? undefined);
}

/** A path and a body, both mostly as the contract allows. */
function requestOf(
  operation: Operation,
  dice: Dice,
  ids: KnownIds,
): { readonly path: string; readonly body: string | null } {
  const values = new SchemaValues(dice);
  const query = new URLSearchParams();
  let { path } = operation;
  const text = (json: string): string => String(JSON.parse(json)).toWellFormed();
  for (const { name, in: place, schema, required } of operation.parameters) {
    if (place === 'path') {
      const segment = dice.chance(0.7) ? ids.pick(dice) : text(values.valid({ type: 'string', minLength: 1 }));
      path = path.replace(`{${name}}`, encodeURIComponent(/^\.{1,2}$/.test(segment) ? 'x' : segment));
    } else if (place === 'query' && (required || dice.chance(0.4))) {
      query.set(name, text(dice.chance(0.8) ? values.valid(schema) : '"x y"'));
    }
  }
  const { body } = operation;
  const target = query.size === 0 ? path : `${path}?${query}`;
  if (body === null) return { path: target, body: null };
  return {
    path: target,
    body: dice.chance(0.7) ? values.valid(body) : dice.chance(0.9) ? values.wrong(body).text : '{"',
  };
}
