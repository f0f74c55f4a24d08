import { StrKey, type xdr } from '@stellar/stellar-base';
import { isObject } from '../xrp-node/json.ts';
import type { Params } from './calls.ts';
import { invalidParams, RpcError } from './errors.ts';
import type { View } from './view.ts';

interface Listed {
  readonly id: string;
  readonly contract: string;
  readonly topics: readonly string[];
  readonly json: Record<string, unknown>;
}

interface Filter {
  readonly contracts: readonly string[];
  /** Each is a list of topics, in which `*` fits to one topic and `**` to the rest. */
  readonly topics: readonly (readonly string[])[];
}

/** The last place that a ledger can have, which is the cursor after a page that is not full. */
const lastPlace = (0xfffffn << 12n) | 0xfffn;

/** https://developers.stellar.org/docs/data/apis/rpc/api-reference/methods/getEvents */
export function getEvents(view: View, params: Params): Record<string, unknown> {
  const { head, oldest } = view;
  const { startLedger = 0, endLedger = head.seq + 1, pagination = {}, filters = [] } = params;
  if (!isObject(pagination)) throw invalidParams('invalid parameters');
  const { cursor = '', limit = 100 } = pagination;
  if (typeof cursor !== 'string' || typeof limit !== 'number') throw invalidParams('invalid parameters');
  if (limit > 10_000) throw new RpcError('invalidRequest', 'limit must not exceed 10000');
  const first = cursor === '' ? Number(startLedger) : Number(placeOf(cursor) >> 32n);
  if (!(first >= oldest.seq && first <= head.seq)) {
    throw new RpcError('invalidRequest', `startLedger must be within the ledger range: ${oldest.seq} - ${head.seq}`);
  }
  const wanted = filtersOf(filters);
  const last = Math.min(Number(endLedger) - 1, head.seq);
  const found: Listed[] = [];
  for (let seq = first; seq <= last && found.length < limit; seq += 1) {
    found.push(...listed(view, seq).filter((event) => event.id > cursor && isWanted(event, wanted)));
  }
  const page = found.slice(0, limit);
  const end = page.length < limit ? idOf((BigInt(last) << 32n) | lastPlace, 2 ** 32 - 1) : (page.at(-1)?.id ?? cursor);
  return {
    events: page.map(({ json }) => json),
    latestLedger: head.seq,
    oldestLedger: oldest.seq,
    latestLedgerCloseTime: String(head.closeTime),
    oldestLedgerCloseTime: String(oldest.closeTime),
    cursor: end,
  };
}

function idOf(place: bigint, index: number): string {
  return `${String(place).padStart(19, '0')}-${String(index).padStart(10, '0')}`;
}

function placeOf(cursor: string): bigint {
  const [place = ''] = /^\d{19}(?=-\d{10}$)/.exec(cursor) ?? [];
  if (place === '') throw invalidParams(`invalid event id ${cursor}`);
  return BigInt(place);
}

function filtersOf(filters: unknown): Filter[] {
  if (!Array.isArray(filters)) throw invalidParams('invalid parameters');
  if (filters.length > 5) throw new RpcError('invalidRequest', 'maximum 5 filters per request');
  return filters.map((filter: unknown) => {
    if (!isObject(filter)) throw invalidParams('invalid parameters');
    const { contractIds: contracts = [], topics = [], type = 'contract' } = filter;
    if (type !== 'contract') throw new RpcError('invalidRequest', `type ${String(type)} is not simulated`);
    return { contracts: contracts as string[], topics: topics as string[][] };
  });
}

function isWanted({ contract, topics }: Listed, filters: readonly Filter[]): boolean {
  return (
    filters.length === 0 ||
    filters.some(
      (filter) =>
        (filter.contracts.length === 0 || filter.contracts.includes(contract)) &&
        (filter.topics.length === 0 || filter.topics.some((pattern) => fits(topics, pattern))),
    )
  );
}

function fits(topics: readonly string[], pattern: readonly string[]): boolean {
  const isOpen = pattern.at(-1) === '**';
  const exact = isOpen ? pattern.slice(0, -1) : pattern;
  const hasLength = isOpen ? topics.length >= exact.length : topics.length === exact.length;
  return hasLength && exact.every((one, i) => one === '*' || one === topics[i]);
}

/** All events of a ledger: first those of fees, then those of operations. */
function listed(view: View, seq: number): Listed[] {
  const ledger = view.ledger(seq);
  if (!ledger) return [];
  const { transactions } = view.shown(ledger);
  const place = BigInt(seq) << 32n;
  const common = (operation: number, transaction: number): Record<string, unknown> => ({
    type: 'contract',
    ledger: seq,
    ledgerClosedAt: new Date(ledger.closeTime * 1_000).toISOString().replace('.000', ''),
    transactionIndex: transaction,
    operationIndex: operation,
  });
  const fees = transactions.flatMap(({ tx, isSuccessful, meta }, i) =>
    meta
      .v4()
      .events()
      .map((one) => listedEvent(one.event(), idOf(place, i), common(0, 0), tx.txid, isSuccessful)),
  );
  const others = transactions.flatMap(({ tx, isSuccessful, meta }, t) =>
    meta
      .v4()
      .operations()
      .flatMap((operation, o) =>
        operation.events().map((event, i) => {
          const id = idOf(place | (BigInt(t + 1) << 12n) | BigInt(o), i);
          return listedEvent(event, id, common(o, t + 1), tx.txid, isSuccessful);
        }),
      ),
  );
  return [...fees, ...others];
}

function listedEvent(
  event: xdr.ContractEvent,
  id: string,
  common: Record<string, unknown>,
  txHash: string,
  isSuccessful: boolean,
): Listed {
  const contract = StrKey.encodeContract(event.contractId() as unknown as Buffer);
  const body = event.body().v0();
  const topics = body.topics().map((topic) => topic.toXDR('base64'));
  const json = {
    ...{ ...common, contractId: contract, id, inSuccessfulContractCall: isSuccessful },
    ...{ topic: topics, value: body.data().toXDR('base64'), txHash },
  };
  return { id, contract, topics, json };
}
