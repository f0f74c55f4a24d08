import { xdr } from '@stellar/stellar-base';
import { type AssetText, assetText, assetXdr, trustAssetXdr } from './assets.ts';
import { accountIdText, accountIdXdr, int64, noExtension, uint64 } from './keys.ts';

interface Common {
  readonly address: string;
  /** The ledger that changed it last. */
  readonly lastModified: number;
}

/** Amounts are in stroops. https://developers.stellar.org/docs/learn/fundamentals/stellar-data-structures/accounts */
export interface StellarAccount extends Common {
  readonly kind: 'account';
  readonly balance: bigint;
  readonly seqNum: bigint;
  /** Trust lines, data entries and signers, which count for the reserve. */
  readonly numSubEntries: number;
  readonly flags: number;
  readonly homeDomain: string;
  /** Weight of the master key, and the low, medium and high threshold. */
  readonly thresholds: readonly [number, number, number, number];
  readonly signers: readonly { readonly address: string; readonly weight: number }[];
  readonly numSponsoring: number;
  readonly numSponsored: number;
  readonly buying: bigint;
  readonly selling: bigint;
  /** Ledger and time of its newest transaction; null before the first one. */
  readonly seqLedger: number | null;
  readonly seqTime: number | null;
}

export interface TrustLine extends Common {
  readonly kind: 'trust';
  readonly asset: AssetText;
  readonly balance: bigint;
  readonly limit: bigint;
  readonly flags: number;
  readonly buying: bigint;
  readonly selling: bigint;
}

export interface DataItem extends Common {
  readonly kind: 'data';
  readonly name: string;
  readonly value: Uint8Array;
}

/** Of an account that made it. */
export interface ClaimableBalance extends Common {
  readonly kind: 'claimable';
  /** 64 digits. */
  readonly id: string;
  readonly asset: AssetText;
  readonly amount: bigint;
  readonly claimants: readonly string[];
}

export type Entry = StellarAccount | TrustLine | DataItem | ClaimableBalance;

/** Flags of an account that issues. */
export const accountFlags = { authRequired: 1, authRevocable: 2, authImmutable: 4, clawback: 8 } as const;
/** Flags of a trust line. */
export const trustFlags = { authorized: 1, maintainLiabilities: 2, clawback: 4 } as const;

/** An account as a ledger makes it: its sequence number begins with the ledger's. */
export function newAccount(address: string, balance: bigint, seq: number): StellarAccount {
  return {
    ...{ kind: 'account', address, lastModified: seq, balance, seqNum: BigInt(seq) << 32n, numSubEntries: 0 },
    ...{ flags: 0, homeDomain: '', thresholds: [1, 0, 0, 0], signers: [], numSponsoring: 0, numSponsored: 0 },
    ...{ buying: 0n, selling: 0n, seqLedger: null, seqTime: null },
  };
}

export const accountKey = (address: string): string => `account ${address}`;
export const trustKey = (address: string, asset: AssetText): string => `trust ${address} ${asset}`;
export const dataKey = (address: string, name: string): string => `data ${address} ${name}`;

export function keyOfEntry(entry: Entry): string {
  switch (entry.kind) {
    case 'account':
      return accountKey(entry.address);
    case 'trust':
      return trustKey(entry.address, entry.asset);
    case 'data':
      return dataKey(entry.address, entry.name);
    case 'claimable':
      return `claimable ${entry.id}`;
  }
}

/** The key of what a server is asked for; null when the kind of entry is not simulated. */
export function keyFromXdr(key: xdr.LedgerKey): string | null {
  switch (key.switch().name) {
    case 'account':
      return accountKey(accountIdText(key.account().accountId()));
    case 'trustline': {
      const asset = assetText(key.trustLine().asset());
      return asset && trustKey(accountIdText(key.trustLine().accountId()), asset);
    }
    case 'data':
      return dataKey(accountIdText(key.data().accountId()), key.data().dataName().toString());
    case 'claimableBalance':
      return `claimable ${key.claimableBalance().balanceId().v0().toString('hex')}`;
    default:
      return null;
  }
}

export function keyXdr(entry: Entry): xdr.LedgerKey {
  const accountId = accountIdXdr(entry.address);
  switch (entry.kind) {
    case 'account':
      return xdr.LedgerKey.account(new xdr.LedgerKeyAccount({ accountId }));
    case 'trust':
      return xdr.LedgerKey.trustline(new xdr.LedgerKeyTrustLine({ accountId, asset: trustAssetXdr(entry.asset) }));
    case 'data':
      return xdr.LedgerKey.data(new xdr.LedgerKeyData({ accountId, dataName: entry.name }));
    case 'claimable':
      return xdr.LedgerKey.claimableBalance(new xdr.LedgerKeyClaimableBalance({ balanceId: balanceIdXdr(entry.id) }));
  }
}

/** The account in an entry, for states that begin with recorded ones. */
export function accountFromXdr(entry: xdr.LedgerEntry): StellarAccount {
  const account = entry.data().account();
  const v1 = account.ext().switch() === 1 ? account.ext().v1() : null;
  const v2 = v1?.ext().switch() === 2 ? v1.ext().v2() : null;
  const v3 = v2?.ext().switch() === 3 ? v2.ext().v3() : null;
  const [master = 0, low = 0, medium = 0, high = 0] = account.thresholds();
  return {
    kind: 'account',
    address: accountIdText(account.accountId()),
    lastModified: entry.lastModifiedLedgerSeq(),
    balance: account.balance().toBigInt(),
    seqNum: account.seqNum().toBigInt(),
    numSubEntries: account.numSubEntries(),
    flags: account.flags(),
    homeDomain: account.homeDomain().toString(),
    thresholds: [master, low, medium, high],
    signers: account.signers().map((signer) => ({
      address: accountIdText(xdr.PublicKey.publicKeyTypeEd25519(signer.key().ed25519())),
      weight: signer.weight(),
    })),
    numSponsoring: v2?.numSponsoring() ?? 0,
    numSponsored: v2?.numSponsored() ?? 0,
    buying: v1?.liabilities().buying().toBigInt() ?? 0n,
    selling: v1?.liabilities().selling().toBigInt() ?? 0n,
    seqLedger: v3?.seqLedger() ?? null,
    seqTime: v3 ? Number(v3.seqTime().toString()) : null,
  };
}

export function balanceIdXdr(id: string): xdr.ClaimableBalanceId {
  return xdr.ClaimableBalanceId.claimableBalanceIdTypeV0(Buffer.from(id, 'hex'));
}

export function entryXdr(entry: Entry): xdr.LedgerEntry {
  const { lastModified: lastModifiedLedgerSeq } = entry;
  const ext = entry.kind === 'claimable' ? sponsored(entry.address) : new xdr.LedgerEntryExt(0);
  return new xdr.LedgerEntry({ lastModifiedLedgerSeq, data: dataXdr(entry), ext });
}

function sponsored(sponsor: string): xdr.LedgerEntryExt {
  const ext = new xdr.LedgerEntryExtensionV1Ext(0);
  return new xdr.LedgerEntryExt(1, new xdr.LedgerEntryExtensionV1({ sponsoringId: accountIdXdr(sponsor), ext }));
}

export function dataXdr(entry: Entry): xdr.LedgerEntryData {
  switch (entry.kind) {
    case 'account':
      return xdr.LedgerEntryData.account(accountXdr(entry));
    case 'trust':
      return xdr.LedgerEntryData.trustline(trustXdr(entry));
    case 'data':
      return xdr.LedgerEntryData.data(
        new xdr.DataEntry({
          accountId: accountIdXdr(entry.address),
          dataName: entry.name,
          dataValue: Buffer.from(entry.value),
          ext: new xdr.DataEntryExt(0),
        }),
      );
    case 'claimable':
      return xdr.LedgerEntryData.claimableBalance(claimableXdr(entry));
  }
}

function accountXdr(account: StellarAccount): xdr.AccountEntry {
  return new xdr.AccountEntry({
    accountId: accountIdXdr(account.address),
    balance: int64(account.balance),
    seqNum: int64(account.seqNum),
    numSubEntries: account.numSubEntries,
    inflationDest: null,
    flags: account.flags,
    homeDomain: account.homeDomain,
    thresholds: Buffer.from(account.thresholds),
    signers: account.signers.map(
      ({ address, weight }) =>
        new xdr.Signer({ key: xdr.SignerKey.signerKeyTypeEd25519(accountIdXdr(address).ed25519()), weight }),
    ),
    ext: accountExtXdr(account),
  });
}

/** Extensions as far as an account has a use for them, as the network writes them. */
function accountExtXdr(account: StellarAccount): xdr.AccountEntryExt {
  const { buying, selling, numSponsored, numSponsoring, seqLedger, seqTime, signers } = account;
  const hasTime = seqLedger !== null && seqTime !== null;
  const hasSponsors = hasTime || numSponsored > 0 || numSponsoring > 0;
  if (!hasSponsors && buying === 0n && selling === 0n) return new xdr.AccountEntryExt(0);
  const liabilities = new xdr.Liabilities({ buying: int64(buying), selling: int64(selling) });
  const v3 = hasTime
    ? new xdr.AccountEntryExtensionV2Ext(
        3,
        new xdr.AccountEntryExtensionV3({ ext: noExtension(), seqLedger, seqTime: uint64(BigInt(seqTime)) }),
      )
    : new xdr.AccountEntryExtensionV2Ext(0);
  const signerSponsoringIDs = signers.map(() => undefined);
  const v2 = hasSponsors
    ? new xdr.AccountEntryExtensionV1Ext(
        2,
        new xdr.AccountEntryExtensionV2({ numSponsored, numSponsoring, signerSponsoringIDs, ext: v3 }),
      )
    : new xdr.AccountEntryExtensionV1Ext(0);
  return new xdr.AccountEntryExt(1, new xdr.AccountEntryExtensionV1({ liabilities, ext: v2 }));
}

function trustXdr(line: TrustLine): xdr.TrustLineEntry {
  const { buying, selling } = line;
  const liabilities = new xdr.Liabilities({ buying: int64(buying), selling: int64(selling) });
  const hasLiabilities = buying > 0n || selling > 0n;
  return new xdr.TrustLineEntry({
    accountId: accountIdXdr(line.address),
    asset: trustAssetXdr(line.asset),
    balance: int64(line.balance),
    limit: int64(line.limit),
    flags: line.flags,
    ext: hasLiabilities
      ? new xdr.TrustLineEntryExt(1, new xdr.TrustLineEntryV1({ liabilities, ext: new xdr.TrustLineEntryV1Ext(0) }))
      : new xdr.TrustLineEntryExt(0),
  });
}

function claimableXdr(entry: ClaimableBalance): xdr.ClaimableBalanceEntry {
  return new xdr.ClaimableBalanceEntry({
    balanceId: balanceIdXdr(entry.id),
    claimants: entry.claimants.map((address) =>
      xdr.Claimant.claimantTypeV0(
        new xdr.ClaimantV0({
          destination: accountIdXdr(address),
          predicate: xdr.ClaimPredicate.claimPredicateUnconditional(),
        }),
      ),
    ),
    asset: assetXdr(entry.asset),
    amount: int64(entry.amount),
    ext: new xdr.ClaimableBalanceEntryExt(0),
  });
}
