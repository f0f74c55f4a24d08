import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import {
  type AddressReader,
  forwardedScheme,
  isLoopback,
  type RequestOrigin,
} from '../../../base/limits/client-address.ts';

export interface Client extends RequestOrigin {
  readonly isSecure: boolean;
  /** Whether the client is on this machine. */
  readonly isLocal: boolean;
}

/** Makes the function that finds a request's client. */
export function clientReader(originOf: AddressReader): (req: IncomingMessage) => Client {
  /** Without proxies all requests of a connection have one client. */
  const direct = new WeakMap<Socket, Client>();
  return (req) => {
    const known = direct.get(req.socket);
    if (known) return known;
    const origin = originOf(req);
    const isEncrypted = 'encrypted' in req.socket;
    const protocol = origin.isBehindProxy ? forwardedScheme(req) : undefined;
    const client = {
      ...origin,
      isSecure: protocol === undefined ? isEncrypted : protocol === 'https',
      isLocal: isLoopback(origin.address),
    };
    if (!origin.isBehindProxy) direct.set(req.socket, client);
    return client;
  };
}
