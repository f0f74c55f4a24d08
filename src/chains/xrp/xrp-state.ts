import { asList, asObject, unsound } from '../nodes/node-answer.ts';
import type { Broadcast } from '../port/chain-adapter.ts';
import { asDrops, asHash, asIndex, asUint32, asWord, timeOf, type XrpLedgerTx } from './xrp-answer.ts';

/** What a server tells of itself and of the newest validated ledger. */
export interface XrpState {
  /** Null where the server was not told its network. */
  readonly networkId: number | null;
  /** It no longer understands the rules of the network: an update is needed. */
  readonly isBlocked: boolean;
  /** The ledgers that it has, as ranges whose ends belong to them. */
  readonly ranges: readonly (readonly [number, number])[];
  readonly head: { readonly height: number; readonly hash: string; readonly timeMs: number };
  /** In drops: the least fee of a transaction, and what an account must keep. */
  readonly baseFee: bigint;
  readonly reserveBase: bigint;
  /** For each thing that an account owns, such as a ticket. */
  readonly reserveStep: bigint;
}

/** An account in a validated ledger. */
export interface XrpAccount {
  readonly balance: bigint;
  readonly sequence: number;
  readonly owned: number;
  readonly requiresTag: boolean;
  /** Only senders that it allows can pay it. */
  readonly asksSenders: boolean;
  /** Its own key no longer signs for it. */
  readonly isMasterOff: boolean;
  /** It belongs to the protocol, such as to a pool, and takes no payments. */
  readonly isPseudo: boolean;
}

/** https://xrpl.org/docs/references/protocol/ledger-data/ledger-entry-types/accountroot */
const flags = { requireTag: 0x00020000, masterOff: 0x00100000, depositAuth: 0x01000000 } as const;
const pseudoMembers = ['AMMID', 'VaultID', 'LoanBrokerID'] as const;

export function readState(answer: unknown): XrpState {
  const state = asObject(asObject(answer, 'state').state, 'state');
  const ledger = asObject(state.validated_ledger, 'validated ledger');
  return {
    networkId: state.network_id === undefined ? null : asUint32(state.network_id, 'number of the network'),
    isBlocked: state.amendment_blocked === true,
    ranges: readRanges(state.complete_ledgers),
    head: {
      height: asIndex(ledger.seq, 'index of the newest ledger'),
      hash: asHash(ledger.hash, 'hash of the newest ledger'),
      timeMs: timeOf(ledger.close_time),
    },
    baseFee: asDrops(ledger.base_fee, 'base fee'),
    reserveBase: asDrops(ledger.reserve_base, 'reserve of an account'),
    reserveStep: asDrops(ledger.reserve_inc, 'reserve of an entry'),
  };
}

/** Reads '32570-6595042,6595050', or 'empty'. */
function readRanges(value: unknown): (readonly [number, number])[] {
  if (value === 'empty') return [];
  if (typeof value !== 'string' || value.length > 10_000) throw unsound('no ranges of ledgers');
  return value.split(',').map((range) => {
    const [first, last = first, ...rest] = range.split('-');
    if (rest.length > 0) throw unsound('no ranges of ledgers');
    return [asIndex(first, 'first ledger of a range'), asIndex(last, 'last ledger of a range')] as const;
  });
}

/** Whether a server has all ledgers from one to another. */
export function hasLedgers({ ranges }: Pick<XrpState, 'ranges'>, first: number, last: number): boolean {
  return ranges.some(([from, to]) => from <= first && last <= to);
}

/** @throws ChainError for the state of another account. */
export function readAccount(answer: unknown, address: string): XrpAccount {
  const account = asObject(asObject(answer, 'account').account_data, 'account');
  if (account.Account !== address) throw unsound('another account');
  const set = asUint32(account.Flags, 'flags of an account');
  return {
    balance: asDrops(account.Balance, 'balance'),
    sequence: asUint32(account.Sequence, 'sequence number'),
    owned: asUint32(account.OwnerCount, 'count of entries'),
    requiresTag: (set & flags.requireTag) !== 0,
    asksSenders: (set & flags.depositAuth) !== 0,
    isMasterOff: (set & flags.masterOff) !== 0,
    isPseudo: pseudoMembers.some((member) => account[member] !== undefined),
  };
}

/** One page of an account's tickets, with the marker of the next one; null at the end. */
interface TicketPage {
  readonly tickets: readonly number[];
  readonly marker: unknown;
}

export function readTickets(answer: unknown, address: string): TicketPage {
  const { account_objects: objects, marker = null } = asObject(answer, 'tickets');
  const tickets = asList(objects, 'tickets').map((item) => {
    const { LedgerEntryType, Account, TicketSequence } = asObject(item, 'ticket');
    if (LedgerEntryType !== 'Ticket' || Account !== address) throw unsound('no ticket of the account');
    return asUint32(TicketSequence, 'ticket');
  });
  return { tickets, marker };
}

/** A transaction that a server knows. */
export interface KnownTx extends XrpLedgerTx {
  /** Null while no validated ledger holds it. */
  readonly height: number | null;
}

export function readKnownTx(answer: unknown, txid: string): KnownTx {
  const { hash, tx_json: tx, meta, validated, ledger_index: height } = asObject(answer, 'transaction');
  if (asHash(hash, 'id of a transaction') !== txid) throw unsound('another transaction');
  const isValidated = validated === true;
  return {
    txid,
    tx: asObject(tx, 'transaction'),
    meta: isValidated ? asObject(meta, 'result of a transaction') : {},
    height: isValidated ? asIndex(height, 'ledger of a transaction') : null,
  };
}

/** Answers that mean the server has the transaction, or puts it into a later ledger. */
const taken = /^(tesSUCCESS|terQUEUED|terPRE_SEQ|terPRE_TICKET)$/;
/** In a ledger, or what it uses up is used: by it or by another transaction. */
const known = /^tef(ALREADY|PAST_SEQ|NO_TICKET)$/;
/** The transaction can never be right: its form, or the signature. */
const never = /^(tem|tefBAD_AUTH|tefWRONG_PRIOR)/;

/** https://xrpl.org/docs/references/protocol/transactions/transaction-results */
export function readSubmit(answer: unknown): Broadcast {
  const code = asWord(asObject(answer, 'result of a broadcast').engine_result, 'result of a broadcast');
  if (taken.test(code)) return { outcome: 'accepted', code: code === 'tesSUCCESS' ? null : code };
  if (known.test(code)) return { outcome: 'known', code };
  return { outcome: never.test(code) ? 'rejected' : 'uncertain', code };
}
