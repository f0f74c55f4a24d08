import { xdr } from '@stellar/stellar-base';
import { isObject } from '../xrp-node/json.ts';
import { most } from './balances.ts';
import { accountKey, dataXdr, type Entry, keyFromXdr, keyXdr } from './entries.ts';
import { invalidParams, RpcError } from './errors.ts';
import { getEvents } from './get-events.ts';
import type { StellarLedger } from './ledgers.ts';
import { getTransaction, getTransactions, sendTransaction } from './transactions.ts';
import { shownMeta, type View } from './view.ts';

export type Params = Readonly<Record<string, unknown>>;
type Method = (view: View, params: Params) => Record<string, unknown>;

/** The methods by their names. @throws RpcError from each of them. */
export const methods: ReadonlyMap<string, Method> = new Map<string, Method>([
  ['getHealth', getHealth],
  ['getNetwork', getNetwork],
  ['getLatestLedger', getLatestLedger],
  ['getLedgers', getLedgers],
  ['getTransactions', getTransactions],
  ['getTransaction', getTransaction],
  ['getLedgerEntries', getLedgerEntries],
  ['getFeeStats', getFeeStats],
  ['getEvents', getEvents],
  ['sendTransaction', sendTransaction],
]);

/** Seven days of ledgers. */
const retentionWindow = 120_960;
const maxLatencySec = 30;
const maxKeys = 200;

function getHealth({ chain, head, oldest, faults }: View): Record<string, unknown> {
  const latency = chain.head.closeTime - head.closeTime;
  if (faults.unhealthy || latency > maxLatencySec) {
    const age = faults.unhealthy ? 'more than an hour' : `${latency}s`;
    throw new RpcError('internal', `latency (${age}) since last known ledger closed is too high (>${maxLatencySec}s)`);
  }
  return {
    status: 'healthy',
    latestLedger: head.seq,
    latestLedgerCloseTime: String(head.closeTime),
    oldestLedger: oldest.seq,
    oldestLedgerCloseTime: String(oldest.closeTime),
    ledgerRetentionWindow: retentionWindow,
  };
}

function getNetwork({ chain, faults }: View): Record<string, unknown> {
  const { passphrase = chain.passphrase, protocolVersion = chain.protocolVersion } = faults;
  return { passphrase, protocolVersion };
}

function getLatestLedger(view: View): Record<string, unknown> {
  const { head, chain, faults } = view;
  const shown = view.shown(head);
  return {
    id: shown.hash,
    protocolVersion: faults.protocolVersion ?? chain.protocolVersion,
    sequence: head.seq,
    closeTime: closeTimeOf(shown.entry),
    headerXdr: shown.entry.toXDR('base64'),
    metadataXdr: shownMeta(shown).toXDR('base64'),
  };
}

/** https://developers.stellar.org/docs/data/apis/rpc/api-reference/methods/getLedgers */
function getLedgers(view: View, params: Params): Record<string, unknown> {
  const { cursor, limit } = pageOf(view, params);
  const start = cursor === null ? Number(params.startLedger) : cursorLedger(view, cursor);
  const seqs = Array.from({ length: limit }, (_, i) => start + i);
  const found = seqs.map((seq) => view.ledger(seq)).filter((ledger) => ledger !== null);
  return {
    ledgers: found.map((ledger) => ledgerJson(view, ledger)),
    latestLedger: view.head.seq,
    latestLedgerCloseTime: view.head.closeTime,
    oldestLedger: view.oldest.seq,
    oldestLedgerCloseTime: view.oldest.closeTime,
    cursor: String(found.at(-1)?.seq ?? cursor ?? start - 1),
  };
}

function ledgerJson(view: View, ledger: StellarLedger): Record<string, unknown> {
  const shown = view.shown(ledger);
  return {
    hash: shown.hash,
    sequence: ledger.seq,
    ledgerCloseTime: closeTimeOf(shown.entry),
    headerXdr: shown.entry.toXDR('base64'),
    metadataXdr: shownMeta(shown).toXDR('base64'),
  };
}

function closeTimeOf(entry: xdr.LedgerHeaderHistoryEntry): string {
  return entry.header().scpValue().closeTime().toString();
}

function cursorLedger({ head, oldest }: View, cursor: string): number {
  if (!/^\d{1,10}$/.test(cursor)) throw invalidParams(`strconv.ParseUint: parsing "${cursor}": invalid syntax`);
  const start = Number(cursor) + 1;
  if (start >= oldest.seq && start <= head.seq) return start;
  const range = `the oldest ledger: ${oldest.seq} and the latest ledger: ${head.seq}`;
  throw invalidParams(`cursor ('${cursor}') must be between ${range} for this rpc instance`);
}

/** Where a list begins, and how long it may be. */
export function pageOf(
  { head, oldest }: View,
  { startLedger = 0, pagination = {}, xdrFormat = 'base64' }: Params,
): { readonly cursor: string | null; readonly limit: number } {
  if (xdrFormat !== 'base64') throw new RpcError('invalidRequest', 'expected xdrFormat to be base64');
  if (!isObject(pagination) || !isCount(startLedger)) throw invalidParams('invalid parameters');
  const { cursor = '', limit = 0 } = pagination;
  if (typeof cursor !== 'string' || !isCount(limit)) throw invalidParams('invalid parameters');
  if (cursor !== '' && startLedger !== 0) {
    throw new RpcError('invalidRequest', 'startLedger and cursor cannot both be set');
  }
  if (limit > 200) throw new RpcError('invalidRequest', 'limit must not exceed 200');
  if (cursor === '' && (startLedger < oldest.seq || startLedger > head.seq)) {
    const range = `the oldest ledger: ${oldest.seq} and the latest ledger: ${head.seq}`;
    throw new RpcError('invalidRequest', `start ledger must be between ${range} for this rpc instance`);
  }
  return { cursor: cursor === '' ? null : cursor, limit: limit === 0 ? 50 : limit };
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < 2 ** 32;
}

/** https://developers.stellar.org/docs/data/apis/rpc/api-reference/methods/getLedgerEntries */
function getLedgerEntries(view: View, { keys }: Params): Record<string, unknown> {
  const { head, chain, faults } = view;
  if (!Array.isArray(keys) || keys.some((key) => typeof key !== 'string')) throw invalidParams('invalid parameters');
  if (keys.length > maxKeys) {
    throw invalidParams(`key count (${keys.length}) exceeds maximum supported (${maxKeys})`);
  }
  const wanted = keys.map((key, i) => entryKey(String(key), i));
  const honest = wanted.map((key) => (key === null ? null : head.state.entry(key))).filter((one) => one !== null);
  const bank = head.state.entry(accountKey(chain.bank.address));
  const others = bank ? [bank] : [];
  const lists: Readonly<Record<string, Entry[]>> = {
    other: honest.length === 0 ? [] : others,
    more: [...honest, ...others],
    none: [],
    huge: honest.map(enlarged),
  };
  const shown = lists[faults.entries ?? ''] ?? honest;
  const isSwapped = faults.entries === 'swapped';
  return {
    entries: shown.map((entry) => entryJson(entry, isSwapped && bank?.kind === entry.kind ? bank : entry)),
    latestLedger: head.seq,
  };
}

function entryKey(key: string, index: number): string | null {
  try {
    return keyFromXdr(xdr.LedgerKey.fromXDR(key, 'base64'));
  } catch {
    throw invalidParams(`cannot unmarshal key value ${key} at index ${index}`);
  }
}

function entryJson(entry: Entry, shown: Entry): Record<string, unknown> {
  return {
    key: keyXdr(entry).toXDR('base64'),
    xdr: dataXdr(shown).toXDR('base64'),
    lastModifiedLedgerSeq: shown.lastModified,
    extXdr: new xdr.LedgerEntryExt(0).toXDR('base64'),
  };
}

function enlarged(entry: Entry): Entry {
  if (entry.kind === 'account') return { ...entry, balance: most, seqNum: most, numSubEntries: 2 ** 32 - 1 };
  return entry.kind === 'trust' ? { ...entry, balance: most, limit: most } : entry;
}

function getFeeStats({ chain, head }: View): Record<string, unknown> {
  const base = String(chain.fees.baseFee);
  const shares = ['max', 'min', 'mode', 'p10', 'p20', 'p30', 'p40', 'p50', 'p60', 'p70', 'p80', 'p90', 'p95', 'p99'];
  const distribution = (count: number, ledgerCount: number): Record<string, unknown> => ({
    ...Object.fromEntries(shares.map((name) => [name, count === 0 ? '0' : base])),
    transactionCount: String(count),
    ledgerCount,
  });
  return {
    sorobanInclusionFee: distribution(0, 50),
    inclusionFee: distribution(head.transactions.length, 10),
    latestLedger: head.seq,
  };
}
