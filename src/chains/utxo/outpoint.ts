import type { Reservation } from '../chain-adapter.ts';

/** An output by the transaction that made it and its place there. */
export interface Outpoint {
  readonly txid: string;
  readonly vout: number;
}

/** As transfers are keyed: 'txid:0'. */
export function outpointKey({ txid, vout }: Outpoint): string {
  return `${txid}:${vout}`;
}

/** Null for what is no such key. */
export function parseOutpointKey(key: string): Outpoint | null {
  const match = /^([0-9a-f]{64}):(0|[1-9]\d{0,6})$/.exec(key);
  return match ? { txid: match[1] ?? '', vout: Number.parseInt(match[2] ?? '', 10) } : null;
}

/** Of one of our own outputs, whose key is sound. */
export function outpointOf({ key }: { readonly key: string }): Outpoint {
  const outpoint = parseOutpointKey(key);
  if (!outpoint) throw new Error(`'${key}' is no key of an output`);
  return outpoint;
}

/** The reservation of an output, by its key. */
export function outpointReservation(key: string): Reservation {
  return `outpoint:${key}`;
}

/** The order of BIP69: by the digits of the txid as they are shown, then by place. */
export function compareOutpoints(a: Outpoint, b: Outpoint): number {
  if (a.txid === b.txid) return a.vout - b.vout;
  return a.txid < b.txid ? -1 : 1;
}
