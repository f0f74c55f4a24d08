import type { SolanaKey, Text58 } from './solana-node/keys.ts';
import { findLitesvm, withoutLitesvm } from './solana-node/litesvm.ts';
import type { Draft } from './solana-node/signing.ts';
import type { SolanaTransaction } from './solana-node/transaction.ts';
import type { SolanaChain, SolanaNode } from './solana-node.ts';

export type Json = Record<string, unknown>;

interface Answer {
  readonly result?: unknown;
  readonly error?: Json;
}

/** Tests that need the virtual machine. Without it one test is skipped, which says why. */
export function describeWithVm(title: string, body: () => void): void {
  if (findLitesvm()) describe(title, body);
  else it.skip(`${withoutLitesvm}: ${title}`, () => {}); // CI requires it
}

/** Sends a request as it is. */
export function post(node: SolanaNode, body: string): Promise<Response> {
  return fetch(node.config.url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
}

async function call(node: SolanaNode, method: string, params: readonly unknown[]): Promise<Answer> {
  const response = await post(node, JSON.stringify({ jsonrpc: '2.0', id: 7, method, params }));
  expect(response.status).toBe(200);
  const answer = (await response.json()) as Answer & { readonly id: number };
  expect(answer.id).toBe(7);
  return answer;
}

/** The result of a call. Numbers beyond 2^53 lose their last digits. */
export async function ask<T = Json>(node: SolanaNode, method: string, ...params: readonly unknown[]): Promise<T> {
  const { result, error } = await call(node, method, params);
  expect(error).toBeUndefined();
  return result as T;
}

/** The value of a call whose answer names a slot. */
export async function askValue<T = Json>(node: SolanaNode, method: string, ...params: readonly unknown[]): Promise<T> {
  return (await ask<{ readonly value: T }>(node, method, ...params)).value;
}

/** The code and the text of an error. */
export async function refused(
  node: SolanaNode,
  method: string,
  ...params: readonly unknown[]
): Promise<[unknown, unknown]> {
  const { error } = await call(node, method, params);
  return [error?.code, error?.message];
}

/** A transaction with `accounts` as its details. */
export interface ShownTransaction {
  readonly transaction: {
    readonly accountKeys: readonly { readonly pubkey: string; readonly source: string; readonly writable: boolean }[];
    readonly signatures: readonly string[];
  };
  readonly meta: {
    readonly err: unknown;
    readonly fee: number;
    readonly preBalances: readonly number[];
    readonly postBalances: readonly number[];
    readonly preTokenBalances: readonly ShownTokens[];
    readonly postTokenBalances: readonly ShownTokens[];
  };
  readonly version?: unknown;
}

interface ShownTokens {
  readonly accountIndex: number;
  readonly mint: string;
  readonly owner: string;
  readonly uiTokenAmount: { readonly amount: string };
}

export interface ShownBlock extends Json {
  readonly transactions: readonly ShownTransaction[];
}

export const blockForm = { transactionDetails: 'accounts', maxSupportedTransactionVersion: 1, rewards: false };

/** What a transaction of a block brought to an owner, read as a wallet would read it. */
export function broughtTo({ transaction, meta }: ShownTransaction, owner: Text58): { coins: bigint; tokens: Json } {
  const index = transaction.accountKeys.findIndex(({ pubkey }) => pubkey === owner);
  const coins = BigInt(meta.postBalances[index] ?? 0) - BigInt(meta.preBalances[index] ?? 0);
  const tokens = new Map<string, bigint>();
  const add = (balances: readonly ShownTokens[], sign: bigint): void => {
    for (const one of balances.filter((each) => each.owner === owner)) {
      tokens.set(one.mint, (tokens.get(one.mint) ?? 0n) + sign * BigInt(one.uiTokenAmount.amount));
    }
  };
  add(meta.postTokenBalances, 1n);
  add(meta.preTokenBalances, -1n);
  return { coins, tokens: Object.fromEntries(tokens) };
}

/** The newest block, as a wallet asks for it. */
export function askHead(node: SolanaNode, chain: SolanaChain): Promise<ShownBlock> {
  return ask<ShownBlock>(node, 'getBlock', chain.head.slot, blockForm);
}

export function inBase64({ wire }: SolanaTransaction): string {
  return Buffer.from(wire).toString('base64');
}

/** Sends a transaction as a wallet does. */
export function send(node: SolanaNode, tx: SolanaTransaction, settings: Json = {}): Promise<string> {
  return ask<string>(node, 'sendTransaction', inBase64(tx), { encoding: 'base64', ...settings });
}

export function refusedSending(node: SolanaNode, tx: SolanaTransaction, settings: Json = {}): Promise<unknown[]> {
  return refused(node, 'sendTransaction', inBase64(tx), { encoding: 'base64', ...settings });
}

/** The state of a transaction, searched in the history. */
export async function statusOf(node: SolanaNode, id: Text58): Promise<Json | null> {
  const [status] = await askValue<(Json | null)[]>(node, 'getSignatureStatuses', [id], {
    searchTransactionHistory: true,
  });
  return status ?? null;
}

/** Signs on a blockhash that is this many blocks old. */
export function signOld(chain: SolanaChain, key: SolanaKey, draft: Draft, blocks: number): SolanaTransaction {
  const { hash } = chain.blocks.at(-1 - blocks) ?? chain.head;
  return chain.sign(key, draft, hash);
}
