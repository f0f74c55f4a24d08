import { accountIndex, directoryIndex, isAddress, ticketIndex } from './crypto.ts';
import { invalidField, RpcError } from './errors.ts';
import type { XrpFaults } from './faults.ts';
import { isAuthorized } from './rules.ts';
import { serverInfo, serverState } from './server.ts';
import { accountFields, accountFlags, type State, ticketFields, type XrpAccount } from './state.ts';
import { submit, tx } from './transactions.ts';
import type { View } from './view.ts';

export type Params = Readonly<Record<string, unknown>>;

/** What a method of the interface needs. */
export interface Question {
  readonly view: View;
  readonly params: Params;
  readonly faults: XrpFaults;
}

type Method = (question: Question) => Record<string, unknown>;

/** The methods by their names. @throws RpcError from each of them. */
export const methods: ReadonlyMap<string, Method> = new Map<string, Method>([
  ['server_info', ({ view, faults }) => ({ info: serverInfo(view, faults) })],
  ['server_state', ({ view, faults }) => ({ state: serverState(view, faults) })],
  ['fee', fee],
  ['ledger', ledger],
  ['account_info', accountInfo],
  ['account_objects', accountObjects],
  ['deposit_authorized', depositAuthorized],
  ['submit', submit],
  ['tx', tx],
]);

/** What a question about accounts is answered from. */
interface Site {
  readonly state: State;
  /** Members of the answer that name the ledger. */
  readonly named: Params;
}

/** https://xrpl.org/docs/references/protocol/data-types/basic-data-types#specifying-ledgers */
function siteOf({ view, params }: Question): Site {
  const { ledger_hash: hash, ledger_index: wanted = 'current' } = params;
  if (hash === undefined && wanted === 'current') {
    return { state: view.chain.pool.open, named: { ledger_current_index: view.chain.openIndex, validated: false } };
  }
  const found = chosen(view, hash, wanted);
  const named = { ledger_hash: found.hash, ledger_index: found.header.ledger_index, validated: true };
  return { state: found.state, named };
}

function chosen(view: View, hash: unknown, wanted: unknown): View['head'] {
  if (hash !== undefined) {
    if (typeof hash !== 'string' || !/^[0-9a-f]{64}$/i.test(hash)) throw invalidField('ledger_hash');
    return orThrow(view.ledgerByHash(hash));
  }
  if (wanted === 'validated' || wanted === 'closed') return view.head;
  const isIndex = typeof wanted === 'number' ? Number.isSafeInteger(wanted) : /^\d{1,10}$/.test(String(wanted));
  if (!isIndex) throw invalidField('ledger_index');
  return orThrow(view.ledger(Number(wanted)));
}

function orThrow<T>(found: T | null): T {
  if (found === null) throw new RpcError('lgrNotFound');
  return found;
}

function ledger({ view, params }: Question): Record<string, unknown> {
  const { ledger_hash: hash, ledger_index: wanted = 'current', transactions, expand } = params;
  if (hash === undefined && wanted === 'current') {
    const { head, openIndex } = view.chain;
    return {
      ledger: { closed: false, ledger_index: openIndex, parent_hash: head.hash },
      ...{ ledger_current_index: openIndex, validated: false },
    };
  }
  const found = chosen(view, hash, wanted);
  const header = view.headerJson(found);
  const listed = transactions === true ? { transactions: view.transactionsJson(found, expand === true) } : {};
  return {
    ledger: { ...header, ...listed },
    ...{ ledger_hash: header.ledger_hash, ledger_index: found.header.ledger_index, validated: true },
  };
}

/** The account that a parameter names. */
function accountOf({ state, named }: Site, address: unknown, name: string): XrpAccount {
  if (address === undefined) {
    throw new RpcError('invalidParams', { error_message: `Missing field '${name}'.` });
  }
  if (!isAddress(address)) throw new RpcError('actMalformed', named);
  const account = state.get(address);
  const missing = { account: 'actNotFound', source_account: 'srcActNotFound', destination_account: 'dstActNotFound' };
  if (!account)
    throw new RpcError(missing[name as keyof typeof missing] as 'actNotFound', { account: address, ...named });
  return account;
}

function accountInfo(question: Question): Record<string, unknown> {
  const site = siteOf(question);
  const account = accountOf(site, question.params.account, 'account');
  const has = (flag: number): boolean => (account.flags & flag) !== 0;
  return {
    account_data: {
      ...accountFields(account),
      LedgerEntryType: 'AccountRoot',
      PreviousTxnID: account.previousTxn,
      PreviousTxnLgrSeq: account.previousLedger,
      index: accountIndex(account.address),
    },
    account_flags: {
      defaultRipple: has(accountFlags.defaultRipple),
      depositAuth: has(accountFlags.depositAuth),
      disableMasterKey: has(accountFlags.disableMaster),
      disallowIncomingXRP: has(accountFlags.disallowXrp),
      globalFreeze: false,
      noFreeze: false,
      passwordSpent: false,
      requireAuthorization: false,
      requireDestinationTag: has(accountFlags.requireDest),
    },
    ...(account.isPseudo ? { pseudo_account: { type: 'AMM' } } : {}),
    ...site.named,
  };
}

/** Tickets only. They stand in the order of their places, which is not that of their numbers. */
function accountObjects(question: Question): Record<string, unknown> {
  const { params, faults } = question;
  const site = siteOf(question);
  const account = accountOf(site, params.account, 'account');
  const { limit = 200, marker, type } = params;
  if (typeof limit !== 'number' || !Number.isSafeInteger(limit) || limit < 1) throw invalidField('limit');
  if (type !== undefined && typeof type !== 'string') throw invalidField('type');
  const isListed = type === undefined || type.toLowerCase() === 'ticket';
  const all = (isListed ? account.tickets : [])
    .map((ticket) => ({ ticket, index: ticketIndex(account.address, ticket) }))
    .sort((a, b) => (a.index < b.index ? -1 : 1));
  const directory = directoryIndex(account.address);
  const start = marker === undefined ? 0 : all.findIndex(({ index }) => `${directory},${index}` === marker) + 1;
  if (marker !== undefined && start === 0) throw invalidField('marker');
  const size = Math.min(Math.max(limit, 10), 400, faults.pageSize ?? 400);
  const page = all.slice(start, start + size);
  const last = page.at(-1)?.index;
  return {
    account: account.address,
    account_objects: page.map(({ ticket, index }) => ({
      ...ticketFields(account.address, ticket),
      LedgerEntryType: 'Ticket',
      PreviousTxnID: account.previousTxn,
      PreviousTxnLgrSeq: account.previousLedger,
      index,
    })),
    ...(params.limit === undefined ? {} : { limit: Math.min(Math.max(limit, 10), 400) }),
    ...(start + size < all.length && last !== undefined ? { marker: `${directory},${last}` } : {}),
    ...site.named,
  };
}

function depositAuthorized(question: Question): Record<string, unknown> {
  const { source_account, destination_account } = question.params;
  const site = siteOf(question);
  const source = accountOf(site, source_account, 'source_account');
  const destination = accountOf(site, destination_account, 'destination_account');
  const deposit_authorized = isAuthorized(source.address, destination);
  return { deposit_authorized, source_account, destination_account, ...site.named };
}

function fee({ view, faults }: Question): Record<string, unknown> {
  if (faults.amendmentBlocked) throw new RpcError('amendmentBlocked');
  const { fees, openFee, openIndex, pool } = view.chain;
  const level = (drops: bigint): string => String((drops * 256n) / fees.base);
  return {
    current_ledger_size: String(pool.size),
    current_queue_size: '0',
    drops: {
      base_fee: String(fees.base),
      median_fee: '5000',
      minimum_fee: String(fees.base),
      open_ledger_fee: String(openFee),
    },
    expected_ledger_size: '256',
    ledger_current_index: openIndex,
    levels: {
      median_level: '128000',
      minimum_level: '256',
      open_ledger_level: level(openFee),
      reference_level: '256',
    },
    max_queue_size: '5120',
  };
}
