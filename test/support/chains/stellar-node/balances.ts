import { type AssetText, issuerOf, native } from './assets.ts';
import { type StellarAccount, trustFlags } from './entries.ts';
import type { State } from './state.ts';

/** Limits of the network, in stroops, which a test may change. */
export interface Fees {
  baseFee: bigint;
  baseReserve: bigint;
}

/** The bank sells one asset for another at these rates: so much arrives for so much sent. */
export interface Rate {
  readonly sent: bigint;
  readonly arrived: bigint;
}

/** Where transactions are applied. */
export interface Site {
  readonly state: State;
  readonly seq: number;
  /** Seconds. */
  readonly closeTime: number;
  readonly fees: Fees;
  readonly passphrase: string;
  /** Address of the market maker. */
  readonly bank: string;
  /** By both assets, as `rateKey` writes them. */
  readonly rates: ReadonlyMap<string, Rate>;
}

export const most = 2n ** 63n - 1n;

export const rateKey = (sent: AssetText, arrived: AssetText): string => `${sent} ${arrived}`;

/** What an account must keep. */
export function minBalance(account: StellarAccount, { baseReserve }: Fees): bigint {
  const { numSubEntries, numSponsoring, numSponsored } = account;
  return BigInt(2 + numSubEntries + numSponsoring - numSponsored) * baseReserve;
}

/** What an account can spend; below 0 when its reserve is not covered. */
export function available(account: StellarAccount, fees: Fees): bigint {
  return account.balance - minBalance(account, fees) - account.selling;
}

/** Counts entries of an account. Returns whether it can pay their reserve; else nothing changes. */
export function reserveEntries(site: Site, address: string, count: number, name: CountName = 'numSubEntries'): boolean {
  const { state, seq, fees } = site;
  const account = state.existing(address);
  const counted = { ...account, [name]: account[name] + count };
  if (count > 0 && counted.balance - counted.selling < minBalance(counted, fees)) return false;
  state.update(address, { [name]: counted[name] }, seq);
  return true;
}

type CountName = 'numSubEntries' | 'numSponsoring';

/** Adds to a balance. Returns why it cannot, by the ending of the code's name. */
export function credit(
  { state, seq }: Site,
  address: string,
  asset: AssetText,
  amount: bigint,
): 'NoDestination' | 'NoTrust' | 'NotAuthorized' | 'LineFull' | null {
  if (issuerOf(asset) === address) return null;
  if (asset === native) {
    const account = state.account(address);
    if (!account) return 'NoDestination';
    const balance = account.balance + amount;
    if (balance + account.buying > most) return 'LineFull';
    state.update(address, { balance }, seq);
    return null;
  }
  const line = state.trustLine(address, asset);
  if (!line) return 'NoTrust';
  if ((line.flags & trustFlags.authorized) === 0) return 'NotAuthorized';
  const balance = line.balance + amount;
  if (balance + line.buying > line.limit) return 'LineFull';
  state.put({ ...line, balance, lastModified: seq });
  return null;
}

/** Takes from a balance. Returns why it cannot, by the ending of the code's name. */
export function debit(
  { state, seq, fees }: Site,
  address: string,
  asset: AssetText,
  amount: bigint,
): 'SrcNoTrust' | 'SrcNotAuthorized' | 'Underfunded' | null {
  if (issuerOf(asset) === address) return null;
  if (asset === native) {
    const account = state.existing(address);
    if (available(account, fees) < amount) return 'Underfunded';
    state.update(address, { balance: account.balance - amount }, seq);
    return null;
  }
  const line = state.trustLine(address, asset);
  if (!line) return 'SrcNoTrust';
  if ((line.flags & trustFlags.authorized) === 0) return 'SrcNotAuthorized';
  if (line.balance - line.selling < amount) return 'Underfunded';
  state.put({ ...line, balance: line.balance - amount, lastModified: seq });
  return null;
}
