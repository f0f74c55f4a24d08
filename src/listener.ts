import { readFileSync } from 'node:fs';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type ErrorKind, errorTable } from './errors.ts';

export interface ListenerOptions {
  readonly host: string;
  readonly port: number;
  /** PEM files; null for plain HTTP. */
  readonly tls: { readonly certFile: string; readonly keyFile: string } | null;
  /** Takes connections that become WebSockets. Without it they are answered as plain requests. */
  readonly upgrade?: (req: IncomingMessage, socket: Duplex, head: Buffer) => void;
}

/** A listening HTTP server that can be drained without cutting or refusing a request that reached it. */
export interface Listener {
  readonly url: string;
  /** Answers what comes from now on with `Connection: close`, so that clients stop reusing their connections. */
  beginDrain(): void;
  /** Stops listening, waits for requests under way and then cuts what is left after the time. */
  close(timeoutMs: number): Promise<void>;
}

/** How long a connection without a request is left open once the listener has closed. */
const settleMs = 500;

/** Node's parser refuses these before any middleware runs, with text that is not ours. */
const parserFaults: Record<string, { code: ErrorKind; detail: string }> = {
  HPE_HEADER_OVERFLOW: { code: 'headers_too_large', detail: 'the request headers are larger than 16 KiB' },
  ERR_HTTP_REQUEST_TIMEOUT: { code: 'request_timeout', detail: 'the request took too long to arrive' },
};
const malformed = { code: 'invalid_request', detail: 'this is not a valid HTTP request' } as const;

/**
 * Whether a proxy in front may have read the request in another way than Node does, and so may disagree about its host or
 * about where it ends: RFC 9112 sections 2.3, 3.2 and 6.1.
 */
function isAmbiguous({ httpVersionMajor, headers }: IncomingMessage): boolean {
  const encoding = headers['transfer-encoding'];
  if (httpVersionMajor !== 1 || headers.host?.includes(',')) return true;
  return encoding !== undefined && encoding.toLowerCase() !== 'chunked';
}

export async function listen(
  handler: RequestListener,
  { host, port, tls, upgrade }: ListenerOptions,
): Promise<Listener> {
  let draining = false;
  const options = {
    requestTimeout: 15_000,
    headersTimeout: 10_000,
    keepAliveTimeout: 65_000,
    // Node looks for requests that take too long every half minute, and they would be held for so much longer.
    connectionsCheckingInterval: 1_000,
    // A second Host or Authorization is joined to the first, where it can be seen, and not left out.
    joinDuplicateHeaders: true,
  };
  // The server's own closing of idle connections passes over those that have never sent a request.
  const idle = new Set<Socket>();
  function becomeIdle(this: ServerResponse): void {
    const { socket } = this.req;
    if (!socket.destroyed) idle.add(socket);
  }
  // What follows an ambiguous request on its connection may be a part of it.
  const refused = new WeakSet<Socket>();
  const listener: RequestListener = (req, res) => {
    idle.delete(req.socket);
    if (refused.has(req.socket)) return;
    res.on('close', becomeIdle);
    if (draining) res.setHeader('Connection', 'close');
    if (isAmbiguous(req)) {
      refused.add(req.socket);
      refuseAmbiguous(res);
    } else handler(req, res);
  };
  const server: Server = tls
    ? createTlsServer({ ...options, cert: readFileSync(tls.certFile), key: readFileSync(tls.keyFile) }, listener)
    : createServer(options, listener);
  server.on('clientError', refuseMalformed);
  if (upgrade) {
    server.on('upgrade', (req: IncomingMessage, socket: Duplex, head: Buffer) => {
      idle.delete(req.socket);
      if (isAmbiguous(req) || refused.has(req.socket)) refuseMalformed({}, req.socket);
      else upgrade(req, socket, head);
    });
  }
  server.on(tls ? 'secureConnection' : 'connection', (socket: Socket) => {
    idle.add(socket);
    socket.once('close', () => idle.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const address = server.address() as AddressInfo;
  const shownHost = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return {
    url: `${tls ? 'https' : 'http'}://${shownHost}:${address.port}`,
    beginDrain: () => {
      draining = true;
    },
    close: (timeoutMs) =>
      new Promise((resolve) => {
        // A connection that was just made may not have sent its request yet, so the idle ones are given a moment.
        const closeIdle = () => {
          for (const socket of idle) socket.destroy();
        };
        const settle = setTimeout(closeIdle, Math.min(settleMs, timeoutMs));
        const cut = setTimeout(() => server.closeAllConnections(), timeoutMs);
        // The method of the plain server stops listening only; that of the HTTP server would cut idle connections.
        NetServer.prototype.close.call(server, () => {
          clearTimeout(settle);
          clearTimeout(cut);
          resolve();
        });
      }),
  };
}

function refuseMalformed(error: { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const { status, headers, body } = refusal(parserFaults[error.code ?? ''] ?? malformed);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`);
}

/** After the answers to what came before it on its connection. */
function refuseAmbiguous(res: ServerResponse): void {
  const { status, headers, body } = refusal(malformed);
  res.writeHead(status, headers).end(body);
}

function refusal({ code, detail }: { code: ErrorKind; detail: string }) {
  const body = JSON.stringify({ detail, code, request_id: 'none' });
  const headers = {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    Connection: 'close',
  };
  return { status: errorTable[code].status, headers, body };
}
