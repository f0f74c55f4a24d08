import { randomUUID } from 'node:crypto';
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
  /** Told of each request that is refused here, before it reaches the handler. */
  readonly onRefused?: (refusal: Refusal) => void;
  /** Told of each connection that is cut because its client takes no answers. */
  readonly onUnread?: () => void;
  /** How long a client may leave an answer untaken; 30 seconds unless given. */
  readonly unreadMs?: number;
}

/** A request that the handler never saw, as its log line needs it. */
export interface Refusal {
  readonly requestId: string;
  readonly code: ErrorKind;
  readonly status: number;
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

const defaultUnreadMs = 30_000;

interface Fault {
  readonly code: ErrorKind;
  readonly detail: string;
}

/** Node's parser refuses these before any middleware runs, with text that is not ours. */
const parserFaults: Record<string, Fault> = {
  HPE_HEADER_OVERFLOW: { code: 'headers_too_large', detail: 'the request headers are larger than 16 KiB' },
  ERR_HTTP_REQUEST_TIMEOUT: { code: 'request_timeout', detail: 'the request took too long to arrive' },
};
const malformed: Fault = { code: 'invalid_request', detail: 'this is not a valid HTTP request' };
const unmetExpectation: Fault = {
  code: 'expectation_failed',
  detail: 'the header Expect can be 100-continue only; leave it out',
};

/**
 * Whether a proxy in front may have read the request in another way than Node does, and so may disagree about its host or
 * about where it ends: RFC 9112 sections 2.3, 3.2 and 6.1.
 */
function isAmbiguous({ httpVersionMajor, httpVersionMinor, headers }: IncomingMessage): boolean {
  const encoding = headers['transfer-encoding'];
  if (httpVersionMajor !== 1 || headers.host?.includes(',')) return true;
  if (httpVersionMinor >= 1 && headers.host === undefined) return true;
  return encoding !== undefined && encoding.toLowerCase() !== 'chunked';
}

export async function listen(
  handler: RequestListener,
  { host, port, tls, upgrade, onRefused, onUnread, unreadMs = defaultUnreadMs }: ListenerOptions,
): Promise<Listener> {
  const refuse = (fault: Fault): ReturnType<typeof refusal> => {
    const made = refusal(fault);
    onRefused?.(made);
    return made;
  };
  const unread = new UnreadAnswers(unreadMs, onUnread);
  let draining = false;
  const options = {
    requestTimeout: 15_000,
    headersTimeout: 10_000,
    keepAliveTimeout: 65_000,
    // Node looks for requests that take too long every half minute, and they would be held for so much longer.
    connectionsCheckingInterval: 1_000,
    // Checked with the rest of what is ambiguous, as Node's own answer has no body.
    requireHostHeader: false,
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
  const take = (req: IncomingMessage, res: ServerResponse, fault: Fault | null): void => {
    idle.delete(req.socket);
    if (refused.has(req.socket)) return;
    res.on('close', becomeIdle);
    unread.watch(req.socket, res);
    if (draining) res.setHeader('Connection', 'close');
    if (fault) {
      refused.add(req.socket);
      // After the answers to what came before it on its connection.
      const { status, headers, body } = refuse(fault);
      res.writeHead(status, headers).end(body);
    } else handler(req, res);
  };
  const listener: RequestListener = (req, res) => take(req, res, isAmbiguous(req) ? malformed : null);
  const server: Server = tls
    ? createTlsServer({ ...options, cert: readFileSync(tls.certFile), key: readFileSync(tls.keyFile) }, listener)
    : createServer(options, listener);
  // Its body may follow or not, so the connection is closed.
  server.on('checkExpectation', (req: IncomingMessage, res: ServerResponse) => {
    take(req, res, isAmbiguous(req) ? malformed : unmetExpectation);
  });
  const refuseMalformed = (error: { code?: string }, socket: Duplex): void => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const { status, headers, body } = refuse(parserFaults[error.code ?? ''] ?? malformed);
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`);
  };
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
    socket.once('close', () => {
      idle.delete(socket);
      unread.forget(socket);
    });
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
          unread.stop();
          resolve();
        });
      }),
  };
}

function refusal({ code, detail }: Fault) {
  const requestId = randomUUID();
  const body = JSON.stringify({ detail, code, request_id: requestId });
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'X-Request-Id': requestId,
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'no-store',
    'Content-Length': Buffer.byteLength(body),
    Connection: 'close',
  };
  return { requestId, code, status: errorTable[code].status, headers, body };
}

/** How often connections are looked at for answers that are not taken. */
const unreadLookMs = 1_000;

/**
 * Cuts connections whose client leaves an answer untaken for too long. What waits for such a client stays in memory, and
 * no other limit ends that: a request is over for the handler once it is answered. The clock runs for one answer, from
 * when it is the connection's first and complete until the operating system has taken its last byte.
 */
class UnreadAnswers {
  readonly #unreadMs: number;
  readonly #onUnread: (() => void) | undefined;
  /** Answers that are not sent yet, by connection and in order. */
  readonly #open = new Map<Socket, Set<ServerResponse>>();
  readonly #waiting = new WeakMap<ServerResponse, number>();
  readonly #timer: NodeJS.Timeout;

  constructor(unreadMs: number, onUnread: (() => void) | undefined) {
    this.#unreadMs = unreadMs;
    this.#onUnread = onUnread;
    this.#timer = setInterval(() => this.#look(), Math.min(unreadLookMs, unreadMs)).unref();
  }

  watch(socket: Socket, res: ServerResponse): void {
    let open = this.#open.get(socket);
    if (!open) {
      open = new Set();
      this.#open.set(socket, open);
    }
    open.add(res);
    res.once('close', () => open.delete(res));
  }

  forget(socket: Socket): void {
    this.#open.delete(socket);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const now = performance.now();
    for (const [socket, open] of this.#open) {
      const [first] = open;
      if (!first?.writableEnded) continue;
      const since = this.#waiting.get(first);
      if (since === undefined) this.#waiting.set(first, now);
      else if (now - since >= this.#unreadMs) {
        socket.destroy();
        this.#onUnread?.();
      }
    }
  }
}
