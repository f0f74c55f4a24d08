import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import proxyAddress from 'proxy-addr';
import { isLoopback } from '../limits/client-address.ts';

/** The client of a request. */
export interface Client {
  readonly address: string;
  readonly isSecure: boolean;
  /** Whether the client is on this machine. */
  readonly isLocal: boolean;
  /** The peer of the connection is a trusted proxy, so its forwarding headers are believed. */
  readonly isBehindProxy: boolean;
}

/**
 * Makes the function that finds a request's client. It believes forwarding headers from the trusted
 * proxies only.
 */
export function clientReader(trustedProxies: readonly string[]): (req: IncomingMessage) => Client {
  const trust = trustedProxies.length > 0 ? proxyAddress.compile([...trustedProxies]) : null;
  /** Without proxies all requests of a connection have one client. */
  const direct = new WeakMap<Socket, Client>();
  return (req) => {
    const known = direct.get(req.socket);
    if (known) return known;
    const peer = req.socket.remoteAddress ?? '';
    const isEncrypted = 'encrypted' in req.socket;
    if (!trust?.(peer, 0)) {
      const client = { address: peer, isSecure: isEncrypted, isLocal: isLoopback(peer), isBehindProxy: false };
      direct.set(req.socket, client);
      return client;
    }
    const protocol = firstOf(req.headers['x-forwarded-proto']);
    const address = proxyAddress(req, trust);
    return {
      address,
      isSecure: protocol === undefined ? isEncrypted : protocol === 'https',
      isLocal: isLoopback(address),
      isBehindProxy: true,
    };
  };
}

function firstOf(header: string | string[] | undefined): string | undefined {
  return (
    String(header ?? '')
      .split(',')[0]
      ?.trim() || undefined
  );
}
