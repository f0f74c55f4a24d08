import { xdr } from '@stellar/stellar-base';
import { headerHash, resultsHash, setHash } from './stellar-node/close-meta.ts';
import { decodeTransaction } from './stellar-node/transaction.ts';
import type { StellarNode } from './stellar-node.ts';

type Json = Record<string, unknown>;

interface Answer {
  readonly result?: Json;
  readonly error?: Json;
}

/** Sends a request as it is. */
export function post(
  node: StellarNode,
  body: string,
  headers: Record<string, string> = { 'content-type': 'application/json' },
): Promise<Response> {
  return fetch(node.config.url, { method: 'POST', headers, body });
}

async function call(node: StellarNode, method: string, params: Json): Promise<Answer> {
  const response = await post(node, JSON.stringify({ jsonrpc: '2.0', id: 7, method, params }));
  expect(response.status).toBe(200);
  const answer = (await response.json()) as Answer & { readonly id: number };
  expect(answer.id).toBe(7);
  return answer;
}

/** The result of a call. */
export async function ask(node: StellarNode, method: string, params: Json = {}): Promise<Json> {
  const { result, error } = await call(node, method, params);
  expect(error).toBeUndefined();
  return result ?? {};
}

/** The code and the text of an error. */
export async function refused(node: StellarNode, method: string, params: Json = {}): Promise<[unknown, unknown]> {
  const { error } = await call(node, method, params);
  return [error?.code, error?.message];
}

/** A ledger as `getLedgers` answers. */
export interface LedgerJson {
  readonly hash: string;
  readonly sequence: number;
  readonly ledgerCloseTime: string;
  readonly headerXdr: string;
  readonly metadataXdr: string;
}

/** A ledger with what its bytes say. */
export interface Listed {
  readonly ledger: LedgerJson;
  readonly header: xdr.LedgerHeader;
  readonly meta: xdr.LedgerCloseMetaV2;
}

/** One ledger. @throws Error when the server has none. */
export async function askLedger(node: StellarNode, startLedger: number): Promise<Listed> {
  const { ledgers } = (await ask(node, 'getLedgers', { startLedger, pagination: { limit: 1 } })) as {
    ledgers: LedgerJson[];
  };
  const [ledger] = ledgers;
  if (!ledger) throw new Error('no ledger');
  const meta = xdr.LedgerCloseMeta.fromXDR(ledger.metadataXdr, 'base64').v2();
  const entry = xdr.LedgerHeaderHistoryEntry.fromXDR(ledger.headerXdr, 'base64');
  expect(entry.toXDR('base64')).toBe(meta.ledgerHeader().toXDR('base64'));
  expect(entry.hash().toString('hex')).toBe(ledger.hash);
  return { ledger, header: entry.header(), meta };
}

/** The transactions of a set, by their ids. */
function idsInSet({ meta }: Listed, passphrase: string): string[] {
  const phases = meta.txSet().v1TxSet().phases();
  const envelopes = [
    ...(phases[0]?.v0Components().flatMap((one) => one.txsMaybeDiscountedFee().txes()) ?? []),
    ...(phases[1]?.parallelTxsComponent().executionStages().flat(2) ?? []),
  ];
  return envelopes.map((one) => decodeTransaction(one.toXDR('base64'), passphrase).txid).toSorted();
}

/** The transactions of the results, by their ids. */
export function idsInResults({ meta }: Listed): string[] {
  return meta.txProcessing().map((one) => one.result().transactionHash().toString('hex'));
}

/** Which parts of a ledger do not fit to the others. */
export function faultsOf(listed: Listed, parent: string, passphrase: string): string[] {
  const { ledger, header, meta } = listed;
  const results = meta.txProcessing().map((one) => one.result());
  const inResults = idsInResults(listed).toSorted();
  const checks: [string, boolean][] = [
    ['hash', headerHash(header) === ledger.hash],
    ['parent', header.previousLedgerHash().toString('hex') === parent],
    ['set', setHash(meta.txSet()).equals(header.scpValue().txSetHash())],
    ['results', resultsHash(results).equals(header.txSetResultHash())],
    ['ids', JSON.stringify(inResults) === JSON.stringify(idsInSet(listed, passphrase))],
  ];
  return checks.filter(([, holds]) => !holds).map(([name]) => name);
}
