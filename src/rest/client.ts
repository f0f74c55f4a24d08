import type { IncomingMessage } from 'node:http';
import proxyAddress from 'proxy-addr';

/** The client of a request. */
export interface Client {
  readonly address: string;
  readonly isSecure: boolean;
  /** The peer of the connection is a trusted proxy, so its forwarding headers are believed. */
  readonly isBehindProxy: boolean;
}

/**
 * Makes the function that finds a request's client. It believes forwarding headers from the trusted
 * proxies only.
 */
export function clientReader(trustedProxies: readonly string[]): (req: IncomingMessage) => Client {
  const trust = trustedProxies.length > 0 ? proxyAddress.compile([...trustedProxies]) : null;
  return (req) => {
    const peer = req.socket.remoteAddress ?? '';
    const isEncrypted = 'encrypted' in req.socket;
    if (!trust?.(peer, 0)) return { address: peer, isSecure: isEncrypted, isBehindProxy: false };
    const protocol = firstOf(req.headers['x-forwarded-proto']);
    return {
      address: proxyAddress(req, trust),
      isSecure: protocol === undefined ? isEncrypted : protocol === 'https',
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
