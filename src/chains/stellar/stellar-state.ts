import { xdr } from '@stellar/stellar-base';
import { stellarKey } from '../addresses/stellar.ts';
import { asList, asObject, unsound } from '../nodes/node-answer.ts';
import { asIndex, decodeXdr } from './stellar-decoding.ts';
import { bigintOf } from './stellar-ledger.ts';
import type { StellarToken } from './stellar-section.ts';
import { maxAmount, memoEntry } from './stellar-tx.ts';

/** An account in the newest ledger. Amounts are in stroops. */
export interface StellarAccount {
  readonly balance: bigint;
  readonly sequence: bigint;
  /** The number of entries whose reserve it keeps, in addition to its own two. */
  readonly owned: number;
  /** What its offers promise. */
  readonly promised: bigint;
  /** Whether its own key alone signs payments for it. */
  readonly signsAlone: boolean;
}

/** What an account has, and may have, of a token. */
interface TrustLine {
  readonly balance: bigint;
  readonly limit: bigint;
  readonly isAuthorised: boolean;
  /** What offers promise to others, and what they may bring. */
  readonly selling: bigint;
  readonly buying: bigint;
}

/** An entry of the ledger that can be asked for. */
export type EntryKey =
  | { readonly account: string }
  | { readonly account: string; readonly token: StellarToken }
  | { readonly account: string; readonly data: string };

/** An account's entry that asks senders for a memo. */
export function memoKey(account: string): EntryKey {
  return { account, data: memoEntry.name };
}

/** An account's trust lines of tokens, and the accounts of their issuers. */
export function trustKeys(account: string, tokens: readonly StellarToken[]): EntryKey[] {
  const issuers = new Set(tokens.map(({ issuer }) => issuer));
  return [...tokens.map((token) => ({ account, token })), ...[...issuers].map((issuer) => ({ account: issuer }))];
}

/** The entries that a node told, by what was asked for. */
export class Entries {
  readonly #found: ReadonlyMap<string, xdr.LedgerEntryData>;
  /** The ledger after which they are as told. */
  readonly latest: number;

  constructor(found: ReadonlyMap<string, xdr.LedgerEntryData>, latest: number) {
    this.#found = found;
    this.latest = latest;
  }

  /** Null for an account that does not exist. */
  account(address: string): StellarAccount | null {
    const data = this.#found.get(encodeKey({ account: address }));
    return data === undefined ? null : accountOf(data.account());
  }

  /** Null for an account that does not trust the token. */
  trustLine(account: string, token: StellarToken): TrustLine | null {
    const data = this.#found.get(encodeKey({ account, token }));
    return data === undefined ? null : trustLineOf(data.trustLine());
  }

  asksForMemo(account: string): boolean {
    const data = this.#found.get(encodeKey(memoKey(account)));
    return data !== undefined && data.data().dataValue().toString('latin1') === memoEntry.value;
  }
}

/** The text by which a node is asked for an entry, and by which it names it. */
export function encodeKey(key: EntryKey): string {
  const accountId = publicKey(key.account);
  if ('token' in key) {
    return xdr.LedgerKey.trustline(new xdr.LedgerKeyTrustLine({ accountId, asset: trustLineAsset(key.token) })).toXDR(
      'base64',
    );
  }
  if ('data' in key) {
    return xdr.LedgerKey.data(new xdr.LedgerKeyData({ accountId, dataName: key.data })).toXDR('base64');
  }
  return xdr.LedgerKey.account(new xdr.LedgerKeyAccount({ accountId })).toXDR('base64');
}

function publicKey(address: string): xdr.PublicKey {
  return xdr.PublicKey.publicKeyTypeEd25519(Buffer.from(stellarKey(address)));
}

function trustLineAsset({ code, issuer }: StellarToken): xdr.TrustLineAsset {
  const size = code.length > 4 ? 12 : 4;
  const asset = { assetCode: Buffer.from(code.padEnd(size, '\0')), issuer: publicKey(issuer) };
  return size === 4
    ? xdr.TrustLineAsset.assetTypeCreditAlphanum4(new xdr.AlphaNum4(asset))
    : xdr.TrustLineAsset.assetTypeCreditAlphanum12(new xdr.AlphaNum12(asset));
}

/** @throws ChainError for an entry that was not asked for, or is told twice. */
export function readEntries(answer: unknown, keys: readonly EntryKey[]): Entries {
  const asked = new Set(keys.map(encodeKey));
  const found = new Map<string, xdr.LedgerEntryData>();
  const { entries, latestLedger } = asObject(answer, 'entries');
  const latest = asIndex(latestLedger, 'newest ledger');
  for (const item of asList(entries, 'entries')) {
    const { key, xdr: text } = asObject(item, 'entry');
    if (typeof key !== 'string' || !asked.has(key)) throw unsound('an entry that was not asked for');
    if (found.has(key)) throw unsound('an entry twice');
    const data = decodeXdr('entry', xdr.LedgerEntryData, text);
    if (keyOf(data) !== key) throw unsound('another entry than the one it names');
    found.set(key, data);
  }
  return new Entries(found, latest);
}

function keyOf(data: xdr.LedgerEntryData): string {
  switch (data.switch().name) {
    case 'account':
      return xdr.LedgerKey.account(new xdr.LedgerKeyAccount({ accountId: data.account().accountId() })).toXDR('base64');
    case 'trustline': {
      const line = data.trustLine();
      return xdr.LedgerKey.trustline(
        new xdr.LedgerKeyTrustLine({ accountId: line.accountId(), asset: line.asset() }),
      ).toXDR('base64');
    }
    case 'data': {
      const entry = data.data();
      return xdr.LedgerKey.data(
        new xdr.LedgerKeyData({ accountId: entry.accountId(), dataName: entry.dataName() }),
      ).toXDR('base64');
    }
    default:
      throw unsound('an entry of another kind');
  }
}

function accountOf(entry: xdr.AccountEntry): StellarAccount {
  const ext = entry.ext().switch() === 1 ? entry.ext().v1() : null;
  const more = ext !== null && ext.ext().switch() === 2 ? ext.ext().v2() : null;
  const sponsored = more === null ? 0 : more.numSponsoring() - more.numSponsored();
  const [master = 0, , medium = 0] = entry.thresholds();
  return {
    balance: notNegative(bigintOf(entry.balance())),
    sequence: followed(notNegative(bigintOf(entry.seqNum()))),
    owned: entry.numSubEntries() + sponsored,
    promised: ext === null ? 0n : notNegative(bigintOf(ext.liabilities().selling())),
    signsAlone: master > 0 && master >= medium,
  };
}

/** The issuer allows the account to hold the token and to send it. */
const authorised = 1;

function trustLineOf(entry: xdr.TrustLineEntry): TrustLine {
  const liabilities = entry.ext().switch() === 1 ? entry.ext().v1().liabilities() : null;
  return {
    balance: notNegative(bigintOf(entry.balance())),
    limit: notNegative(bigintOf(entry.limit())),
    isAuthorised: (entry.flags() & authorised) !== 0,
    selling: liabilities === null ? 0n : notNegative(bigintOf(liabilities.selling())),
    buying: liabilities === null ? 0n : notNegative(bigintOf(liabilities.buying())),
  };
}

/** A sequence number that another one follows. The ledger gives no account a higher one. */
function followed(sequence: bigint): bigint {
  if (sequence >= maxAmount) throw unsound('a sequence number that none follows');
  return sequence;
}

function notNegative(amount: bigint): bigint {
  if (amount < 0n) throw unsound('an amount below 0');
  return amount;
}
