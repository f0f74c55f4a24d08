import { hexToBytes } from '@noble/hashes/utils.js';
import { type Hash, sha512Half, uint32, uint64 } from './crypto.ts';

/** A ledger header without what is derived from it. Times are seconds since 2000-01-01. */
export interface Header {
  readonly ledger_index: number;
  /** In drops. */
  readonly total_coins: bigint;
  readonly parent_hash: Hash;
  readonly transaction_hash: Hash;
  readonly account_hash: Hash;
  readonly parent_close_time: number;
  readonly close_time: number;
  readonly close_time_resolution: number;
  readonly close_flags: number;
}

/** Seconds from 1970-01-01 to 2000-01-01. */
const epochSec = 946_684_800;

/**
 * The hash of a ledger: of the prefix `LWR` and a zero byte, and the members in this order.
 * https://xrpl.org/docs/references/protocol/ledger-data/ledger-header
 */
export function ledgerHash(header: Header): Hash {
  return sha512Half(
    Buffer.from('LWR\0'),
    uint32(header.ledger_index),
    uint64(header.total_coins),
    hexToBytes(header.parent_hash),
    hexToBytes(header.transaction_hash),
    hexToBytes(header.account_hash),
    uint32(header.parent_close_time),
    uint32(header.close_time),
    Uint8Array.of(header.close_time_resolution, header.close_flags),
  );
}

/** From milliseconds since 1970-01-01. */
export function rippleTime(ms: number): number {
  return Math.floor(ms / 1_000) - epochSec;
}

/** As `close_time_iso` has it. */
export function isoTime(time: number): string {
  return new Date((time + epochSec) * 1_000).toISOString().replace('.000', '');
}

/** As `close_time_human` has it. */
export function humanTime(time: number): string {
  const date = new Date((time + epochSec) * 1_000);
  const month = date.toLocaleString('en-US', { month: 'short', timeZone: 'UTC' });
  const [day = '', clock = ''] = date.toISOString().split(/[T.]/);
  return `${day.slice(0, 4)}-${month}-${day.slice(8)} ${clock}.000000000 UTC`;
}
