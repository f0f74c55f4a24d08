import { addressOf, isAddress } from './crypto.ts';
import type { Result } from './results.ts';
import { accountFlags, type State, type XrpAccount } from './state.ts';
import { dropsIn, numberIn, type XrpTransaction } from './transaction.ts';

/** What the validators agreed on. In drops. */
export interface Fees {
  base: bigint;
  reserveBase: bigint;
  reserveInc: bigint;
}

/** Where a transaction is applied. The state is changed. */
export interface Site {
  readonly state: State;
  /** Index of the ledger that is built. */
  readonly index: number;
  readonly fees: Fees;
}

/** What a transaction did. */
export interface Outcome {
  readonly result: Result;
  /** What its recipient got: drops as text, or tokens as an object. */
  readonly delivered?: unknown;
}

type Json = Readonly<Record<string, unknown>>;

/** Tickets that an account may have. */
export const mostTickets = 250;

/** Flags of transactions. */
export const txFlags = {
  fullyCanonical: 0x8000_0000,
  innerBatch: 0x4000_0000,
  noDirect: 0x0001_0000,
  partial: 0x0002_0000,
  limitQuality: 0x0004_0000,
} as const;

/** Networks up to this id carry no id in their transactions. */
const lastPlainNetwork = 1_024;

/** What is wrong with a transaction in itself. */
export function preflight({ json }: XrpTransaction, networkId: number): Result {
  const network = numberIn(json, 'NetworkID');
  if (networkId <= lastPlainNetwork && network !== null) return 'telNETWORK_ID_MAKES_TX_NON_CANONICAL';
  if (networkId > lastPlainNetwork && network === null) return 'telREQUIRES_NETWORK_ID';
  if (network !== null && network !== networkId) return 'telWRONG_NETWORK';
  if (!isAddress(json.Account)) return 'temBAD_SRC_ACCOUNT';
  if (dropsIn(json, 'Fee') === null) return 'temBAD_FEE';
  if (numberIn(json, 'TicketSequence') !== null && numberIn(json, 'Sequence') !== 0) return 'temSEQ_AND_TICKET';
  const own = { Payment: paymentForm, TicketCreate: ticketForm, AccountSet: settingsForm }[
    String(json.TransactionType)
  ];
  return own ? own(json, (numberIn(json, 'Flags') ?? 0) & ~txFlags.fullyCanonical) : 'temUNKNOWN';
}

function paymentForm(json: Json, flags: number): Result {
  const { noDirect, partial, limitQuality } = txFlags;
  if (flags & ~(noDirect | partial | limitQuality)) return 'temINVALID_FLAG';
  if (!isAddress(json.Destination)) return 'temDST_NEEDED';
  const amount = dropsIn(json, 'Amount');
  if (amount === null) return 'tesSUCCESS';
  if (amount <= 0n) return 'temBAD_AMOUNT';
  if (json.Account === json.Destination) return 'temREDUNDANT';
  if ('SendMax' in json) return 'temBAD_SEND_XRP_MAX';
  if ('Paths' in json) return 'temBAD_SEND_XRP_PATHS';
  if (flags & partial) return 'temBAD_SEND_XRP_PARTIAL';
  if (flags & limitQuality) return 'temBAD_SEND_XRP_LIMIT';
  if (flags & noDirect) return 'temBAD_SEND_XRP_NO_DIRECT';
  return 'DeliverMin' in json ? 'temBAD_AMOUNT' : 'tesSUCCESS';
}

function ticketForm(json: Json, flags: number): Result {
  const count = numberIn(json, 'TicketCount') ?? 0;
  if (flags !== 0) return 'temINVALID_FLAG';
  return count < 1 || count > mostTickets ? 'temINVALID_COUNT' : 'tesSUCCESS';
}

function settingsForm(json: Json, flags: number): Result {
  const { SetFlag = 0, ClearFlag = 0 } = json;
  // The old way to set flags is not simulated.
  if (flags !== 0 || (SetFlag !== 0 && SetFlag === ClearFlag)) return 'temINVALID_FLAG';
  return 'tesSUCCESS';
}

/** What is wrong with a transaction at a site, before its type is looked at. */
export function preclaim({ json }: XrpTransaction, { state, index, fees }: Site, isOpen: boolean): Result {
  const account = state.get(String(json.Account));
  if (!account) return 'terNO_ACCOUNT';
  const place = placeOf(json, account);
  if (place !== 'tesSUCCESS') return place;
  const last = numberIn(json, 'LastLedgerSequence');
  if (last !== null && index > last) return 'tefMAX_LEDGER';
  const fee = dropsIn(json, 'Fee') ?? 0n;
  if (isOpen && fee < fees.base) return 'telINSUF_FEE_P';
  if (account.balance < fee) return 'terINSUF_FEE_B';
  return authority(json, account);
}

/** Whether it is the turn of its sequence or ticket. */
function placeOf(json: Json, account: XrpAccount): Result {
  const ticket = numberIn(json, 'TicketSequence');
  if (ticket !== null) {
    if (account.tickets.includes(ticket)) return 'tesSUCCESS';
    return ticket >= account.sequence ? 'terPRE_TICKET' : 'tefNO_TICKET';
  }
  const sequence = numberIn(json, 'Sequence') ?? 0;
  if (sequence === account.sequence) return 'tesSUCCESS';
  return sequence > account.sequence ? 'terPRE_SEQ' : 'tefPAST_SEQ';
}

function authority(json: Json, account: XrpAccount): Result {
  const signer = addressOf(String(json.SigningPubKey));
  if (signer === account.regularKey) return 'tesSUCCESS';
  if (signer !== account.address) return account.regularKey === null ? 'tefBAD_AUTH_MASTER' : 'tefBAD_AUTH';
  return account.flags & accountFlags.disableMaster ? 'tefMASTER_DISABLED' : 'tesSUCCESS';
}

/** Takes the fee, and uses the sequence or ticket. */
export function consume({ json }: XrpTransaction, { state }: Site): void {
  const account = state.existing(String(json.Account));
  const ticket = numberIn(json, 'TicketSequence');
  const balance = account.balance - (dropsIn(json, 'Fee') ?? 0n);
  if (ticket === null) state.set(account.address, { balance, sequence: account.sequence + 1 });
  else {
    const tickets = account.tickets.filter((one) => one !== ticket);
    state.set(account.address, { balance, tickets, ownerCount: account.ownerCount - 1 });
  }
}

/** Applies a transaction that was checked: takes its fee in any case, and does what it says. */
export function apply(tx: XrpTransaction, site: Site): Outcome {
  const before = site.state.existing(String(tx.json.Account)).balance;
  consume(tx, site);
  const act = { Payment: pay, TicketCreate: createTickets, AccountSet: changeSettings }[
    String(tx.json.TransactionType)
  ];
  if (!act) throw new Error(`the simulated server does not know ${String(tx.json.TransactionType)}`);
  return act(tx.json, site, before);
}

/** What an account must keep. */
export function reserveOf(owned: number, fees: Fees): bigint {
  return fees.reserveBase + BigInt(owned) * fees.reserveInc;
}

/** https://xrpl.org/docs/references/protocol/transactions/types/payment. The balance is that before the fee. */
function pay(json: Json, { state, index, fees }: Site, before: bigint): Outcome {
  const source = state.existing(String(json.Account));
  const destination = state.get(String(json.Destination));
  const amount = dropsIn(json, 'Amount');
  if (amount === null) return { result: destination ? 'tecPATH_DRY' : 'tecNO_DST' };
  if (!destination && amount < fees.reserveBase) return { result: 'tecNO_DST_INSUF_XRP' };
  if (destination && destination.flags & accountFlags.requireDest && !('DestinationTag' in json)) {
    return { result: 'tecDST_TAG_NEEDED' };
  }
  const fee = dropsIn(json, 'Fee') ?? 0n;
  const reserve = reserveOf(source.ownerCount, fees);
  if (before < amount + (fee > reserve ? fee : reserve)) return { result: 'tecUNFUNDED_PAYMENT' };
  if (destination?.isPseudo) return { result: 'tecNO_PERMISSION' };
  if (destination && !isWelcome(source.address, destination, amount, fees)) return { result: 'tecNO_PERMISSION' };
  state.add(source.address, -amount, index);
  state.add(String(json.Destination), amount, index);
  return { result: 'tesSUCCESS', delivered: String(amount) };
}

/**
 * Whether deposit authorisation lets a payment pass; a small one may save an account that is poor.
 * https://xrpl.org/docs/concepts/accounts/depositauth
 */
function isWelcome(source: string, destination: XrpAccount, amount: bigint, fees: Fees): boolean {
  if (isAuthorized(source, destination)) return true;
  return amount <= fees.reserveBase && destination.balance <= fees.reserveBase;
}

/** As `deposit_authorized` answers. */
export function isAuthorized(source: string, destination: XrpAccount): boolean {
  if (!(destination.flags & accountFlags.depositAuth)) return true;
  return source === destination.address || destination.preauthorized.includes(source);
}

/** https://xrpl.org/docs/references/protocol/transactions/types/ticketcreate */
function createTickets(json: Json, { state, fees }: Site, before: bigint): Outcome {
  const account = state.existing(String(json.Account));
  const count = numberIn(json, 'TicketCount') ?? 0;
  if (account.tickets.length + count > mostTickets) return { result: 'tecDIR_FULL' };
  const ownerCount = account.ownerCount + count;
  if (before < reserveOf(ownerCount, fees)) return { result: 'tecINSUFFICIENT_RESERVE' };
  state.set(account.address, withTickets(account, count));
  return { result: 'tesSUCCESS' };
}

/** What changes when an account gets tickets, which take its next sequence numbers. */
export function withTickets(account: XrpAccount, count: number): Partial<XrpAccount> {
  const made = Array.from({ length: count }, (_, i) => account.sequence + i);
  const tickets = [...account.tickets, ...made];
  return { tickets, ownerCount: account.ownerCount + count, sequence: account.sequence + count };
}

const settings: ReadonlyMap<unknown, number> = new Map([
  [1, accountFlags.requireDest],
  [3, accountFlags.disallowXrp],
  [4, accountFlags.disableMaster],
  [8, accountFlags.defaultRipple],
  [9, accountFlags.depositAuth],
]);

/** https://xrpl.org/docs/references/protocol/transactions/types/accountset */
function changeSettings(json: Json, { state }: Site): Outcome {
  const account = state.existing(String(json.Account));
  const [added, removed] = [settings.get(json.SetFlag) ?? 0, settings.get(json.ClearFlag) ?? 0];
  if (added === accountFlags.disableMaster) {
    if (addressOf(String(json.SigningPubKey)) !== account.address) return { result: 'tecNEED_MASTER_KEY' };
    if (account.regularKey === null) return { result: 'tecNO_ALTERNATIVE_KEY' };
  }
  state.set(account.address, { flags: (account.flags | added) & ~removed });
  return { result: 'tesSUCCESS' };
}
