import type { Reservation } from '../port/chain-adapter.ts';

/** An output: the transaction that made it, and its index there. */
export interface Outpoint {
  readonly txid: string;
  readonly vout: number;
}

/** The key of an outpoint, as transfers are keyed: 'txid:0'. */
export function outpointKey({ txid, vout }: Outpoint): string {
  return `${txid}:${vout}`;
}

/** Reads a key; null when it is not valid. */
export function parseOutpointKey(key: string): Outpoint | null {
  const match = /^([0-9a-f]{64}):(0|[1-9]\d{0,6})$/.exec(key);
  return match ? { txid: match[1] ?? '', vout: Number.parseInt(match[2] ?? '', 10) } : null;
}

/** The outpoint of one of our own outputs, whose key is valid. */
export function outpointOf({ key }: { readonly key: string }): Outpoint {
  const outpoint = parseOutpointKey(key);
  if (!outpoint) throw new Error(`'${key}' is not the key of an output`);
  return outpoint;
}

/** The reservation of an output, by its key. */
export function outpointReservation(key: string): Reservation {
  return `outpoint:${key}`;
}

/** The order of BIP69: by the digits of the txid as they are shown, then by index. */
export function compareOutpoints(a: Outpoint, b: Outpoint): number {
  if (a.txid === b.txid) return a.vout - b.vout;
  return a.txid < b.txid ? -1 : 1;
}
