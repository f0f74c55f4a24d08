import type { IncomingMessage } from 'node:http';
import { isIP, isIPv4, isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';
import proxyAddress from 'proxy-addr';
import type { Log } from '../log.ts';

/** Stands for the address of a client of which a trusted proxy told none. */
export const unknownAddress = 'unknown';

/** An address before a port, where IPv6 has brackets. The port has digits, or is hidden. */
const nodeForm = /^(?:\[([\da-fA-F:.]+)\]|([\d.]+))(?::(?:\d{1,5}|_[\w.-]+))?$/;

/**
 * The address in an element of a forwarding header, which may have a port and be quoted (RFC 7239,
 * section 6). Null for a hidden or unknown client, and for text that is no address.
 */
export function nodeAddress(element: string): string | null {
  const trimmed = element.trim();
  // The usual cases: an address alone.
  if (isIP(trimmed) !== 0) return trimmed;
  const [, six, four] = nodeForm.exec(/^"(.*)"$/.exec(trimmed)?.[1] ?? trimmed) ?? [];
  if (six !== undefined && isIPv6(six)) return six;
  return four !== undefined && isIPv4(four) ? four : null;
}

/** Where a request came from. */
export interface RequestOrigin {
  /** The client's address, or `unknownAddress`. */
  readonly address: string;
  /** The peer of the connection is a trusted proxy, so its forwarding headers are believed. */
  readonly isBehindProxy: boolean;
}

export type AddressReader = (req: Pick<IncomingMessage, 'headers' | 'socket'>) => RequestOrigin;

/**
 * Makes the function that finds where a request came from: the nearest node that is no trusted
 * proxy. What precedes that node in the header was written by the client, and is ignored.
 *
 * @param trustedProxies networks in CIDR form.
 * @param onUnknown called for each request of which the proxies tell no address.
 */
export function addressReader(trustedProxies: readonly string[], onUnknown: () => void): AddressReader {
  const trust = trustedProxies.length > 0 ? proxyAddress.compile([...trustedProxies]) : null;
  return ({ headers, socket }) => {
    let address = socket.remoteAddress ?? '';
    if (!trust?.(address, 0)) return { address, isBehindProxy: false };
    const header = headers['x-forwarded-for'];
    const elements = header === undefined ? [] : String(header).split(',');
    for (let element = elements.pop(); element !== undefined && trust(address, 0); element = elements.pop()) {
      if (element.trim() === '') continue;
      const next = nodeAddress(element);
      if (next === null) {
        onUnknown();
        return { address: unknownAddress, isBehindProxy: true };
      }
      address = next;
    }
    return { address, isBehindProxy: true };
  };
}

/**
 * The scheme that a trusted proxy says its client used, in lower case: the first element of
 * `X-Forwarded-Proto`. Undefined when the proxy says none.
 */
export function forwardedScheme({ headers }: Pick<IncomingMessage, 'headers'>): string | undefined {
  const [first = ''] = String(headers['x-forwarded-proto'] ?? '').split(',');
  return first.trim().toLowerCase() || undefined;
}

const unknownWarningMs = 600_000;

/**
 * Makes a function that counts clients without an address. It warns at the first one, and then at
 * most every ten minutes.
 */
export function unknownClientWarning(log: Log): () => void {
  let count = 0;
  let nextMs = Number.NEGATIVE_INFINITY;
  return () => {
    count++;
    const nowMs = performance.now();
    if (nowMs < nextMs) return;
    nextMs = nowMs + unknownWarningMs;
    const advice =
      'a trusted proxy sends no address of its clients in X-Forwarded-For; they share one limit, and keys with networks are refused';
    log.warn({ event: 'client_unknown', setting: 'TRUSTED_PROXIES', count }, advice);
    count = 0;
  };
}

/**
 * The keys by which limits count: one host, and for IPv6 also the larger block that one customer
 * usually holds.
 */
interface AddressKeys {
  /** IPv4 address, or IPv6 /64. */
  readonly host: string;
  /** IPv6 /48; null for IPv4. */
  readonly block: string | null;
}

/** An IPv6 block has the limits of this many hosts. */
export const blockFactor = 10;

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
