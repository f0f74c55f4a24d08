import type { TonNode } from './ton-node.ts';

export type Json = Record<string, unknown>;

/** A message as the index shows it. */
export interface ShownMessage {
  readonly hash: string;
  readonly hash_norm?: string;
  readonly source: string | null;
  readonly destination: string | null;
  readonly value: string | null;
  readonly bounced: boolean | null;
  readonly opcode: string | null;
  readonly created_lt: string | null;
  readonly message_content: { readonly hash: string; readonly body: string; readonly decoded: Json | null };
}

/** A transaction as the index shows it. */
export interface ShownTransaction {
  readonly account: string;
  readonly hash: string;
  readonly lt: string;
  readonly now: number;
  readonly mc_block_seqno: number;
  readonly prev_trans_hash: string;
  readonly prev_trans_lt: string;
  readonly orig_status: string;
  readonly end_status: string;
  readonly total_fees: string;
  readonly description: {
    readonly aborted: boolean;
    readonly compute_ph: { readonly skipped: boolean; readonly exit_code?: number; readonly reason?: string };
    readonly action?: { readonly success: boolean; readonly result_code: number };
    readonly bounce?: { readonly type: string };
  };
  readonly in_msg: ShownMessage;
  readonly out_msgs: readonly ShownMessage[];
  readonly account_state_before: { readonly hash: string; readonly balance: string | null };
  readonly account_state_after: { readonly hash: string; readonly balance: string | null };
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

async function request(node: TonNode, path: string, body?: unknown): Promise<Answer> {
  const posted = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const response = await fetch(`${node.url}/api/v3/${path}`, body === undefined ? {} : posted);
  return { status: response.status, text: await response.text() };
}

/** The answer to a question, which the index must have. */
export async function ask<T = Json>(node: TonNode, path: string): Promise<T> {
  const { status, text } = await request(node, path);
  expect([status, text.slice(0, 300)]).toEqual([200, text.slice(0, 300)]);
  return JSON.parse(text) as T;
}

/** The answer to what was posted, which the index must accept. */
export async function order<T = Json>(node: TonNode, path: string, body: unknown): Promise<T> {
  const { status, text } = await request(node, path, body);
  expect([status, text.slice(0, 300)]).toEqual([200, text.slice(0, 300)]);
  return JSON.parse(text) as T;
}

/** The status and the error of a request that the index refuses. */
export async function refused(node: TonNode, path: string, body?: unknown): Promise<[number, string]> {
  const { status, text } = await request(node, path, body);
  return [status, String((JSON.parse(text) as Json).error)];
}

/** Sends an external message as a wallet does. */
export function send(node: TonNode, boc: Buffer): Promise<{ message_hash: string; message_hash_norm: string }> {
  return order(node, 'message', { boc: boc.toString('base64') });
}

/** All transactions of an account, oldest first. */
export async function historyOf(node: TonNode, account: string): Promise<readonly ShownTransaction[]> {
  const query = `account=${encodeURIComponent(account)}&sort=asc&limit=1000`;
  return (await ask<{ transactions: ShownTransaction[] }>(node, `transactions?${query}`)).transactions;
}

/** The transactions that a message began, from the oldest one on, over all accounts. */
export async function traceOf(node: TonNode, hash: string): Promise<ShownTransaction[]> {
  const query = `msg_hash=${encodeURIComponent(hash)}&direction=in`;
  const { transactions } = await ask<{ transactions: ShownTransaction[] }>(node, `transactionsByMessage?${query}`);
  const next = transactions.flatMap(({ out_msgs }) => out_msgs.map((message) => message.hash));
  const following = await Promise.all(next.map((one) => traceOf(node, one)));
  return [...transactions, ...following.flat()].sort((a, b) => (BigInt(a.lt) < BigInt(b.lt) ? -1 : 1));
}
