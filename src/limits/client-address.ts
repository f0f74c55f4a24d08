import { isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * The keys by which limits count: one host, and for IPv6 also the larger block that one customer
 * usually holds.
 */
export interface AddressKeys {
  /** IPv4 address, or IPv6 /64. */
  readonly host: string;
  /** IPv6 /48; null for IPv4. */
  readonly block: string | null;
}

/** Groups client addresses, so that changing the address inside one IPv6 network gains nothing. */
export function addressKeys(address: string): AddressKeys {
  // The usual case. The text of an IPv4 address has one form only.
  if (isIPv4(address)) return { host: address, block: null };
  if (!ipaddr.isValid(address)) return { host: 'unknown', block: null };
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return { host: parsed.toString(), block: null };
  const { parts } = parsed as ipaddr.IPv6;
  const prefix = (groups: number): string =>
    parts
      .slice(0, groups)
      .map((part) => part.toString(16))
      .join(':');
  return { host: `${prefix(4)}::/64`, block: `${prefix(3)}::/48` };
}

/** True for 127.0.0.0/8 and ::1. */
export function isLoopback(address: string): boolean {
  if (isIPv4(address)) return address.startsWith('127.');
  return ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback';
}

/** A client's network for logs: the address without its last part. */
export function addressPrefix(address: string): string {
  const { host, block } = addressKeys(address);
  return block ?? host.replace(/\.\d+$/, '.0');
}
