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
import { createServer as createTlsServer, Server as TlsServer } from 'node:https';
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type ErrorKind, errorTable } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type { ProcessMetrics } from '../base/telemetry/process-metrics.ts';
import { Connections } from './connections.ts';

interface ListenerOptions {
  readonly host: string;
  readonly port: number;
  /** PEM files; null for plain HTTP. */
  readonly tls: { readonly certFile: string; readonly keyFile: string } | null;
  /** Takes WebSocket upgrades. Without it they are answered as plain requests. */
  readonly upgrade?: (req: IncomingMessage, socket: Duplex, head: Buffer) => void;
  /** Called for each request that the listener refuses before it reaches the handler. */
  readonly onRefused?: (refusal: Refusal) => void;
  /** Called for each connection that is cut because its client does not read answers. */
  readonly onUnread?: () => void;
  /** How long a client may leave an answer unread; 30 seconds by default. */
  readonly unreadMs?: number;
}

/** A request that was refused before the handler, with the data of its log line. */
interface Refusal {
  readonly requestId: string;
  readonly code: ErrorKind;
  readonly status: number;
}

/**
 * A listening HTTP server that can be drained without cutting or refusing a request that reached
 * it.
 */
export interface Listener {
  readonly url: string;
  /**
   * Answers further requests with `Connection: close`, so that clients stop reusing their
   * connections.
   */
  beginDrain(): void;
  /**
   * Reads the certificate again, for new connections. Open ones go on. Plain HTTP has none.
   *
   * @throws when the files hold no certificate with its key; the previous one then stays.
   */
  renewCertificate(): void;
  /**
   * Stops listening, waits for requests under way, and cuts the remaining connections after the
   * time.
   */
  close(timeoutMs: number): Promise<void>;
}

/**
 * Reports the requests and connections that a listener refuses or cuts to the log and the metrics.
 */
export function reportsTo(
  log: Log,
  metrics: ProcessMetrics,
): Required<Pick<ListenerOptions, 'onRefused' | 'onUnread'>> {
  return {
    onRefused: ({ requestId, code, status }) =>
      log.info({ event: 'request_refused', request_id: requestId, code, status }, 'refused before any route'),
    onUnread: () => metrics.countCut(),
  };
}

/** How long a connection without a request stays open after the listener closed. */
const settleMs = 500;

const defaultUnreadMs = 30_000;

interface Fault {
  readonly code: ErrorKind;
  readonly detail: string;
}

/** Our errors for requests that Node's parser refuses before any handler runs. */
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
 * Whether a proxy in front may have read the request in another way than Node does. Then the two
 * may disagree about its host or about where it ends: RFC 9112 sections 2.3, 3.2 and 6.1.
 */
function isAmbiguous({ httpVersionMajor, httpVersionMinor, headers }: IncomingMessage): boolean {
  const encoding = headers['transfer-encoding'];
  if (httpVersionMajor !== 1 || headers.host?.includes(',')) return true;
  if (httpVersionMinor >= 1 && headers.host === undefined) return true;
  return encoding !== undefined && encoding.toLowerCase() !== 'chunked';
}

export async function listen(handler: RequestListener, options: ListenerOptions): Promise<Listener> {
  const listener = new DrainableListener(handler, options);
  await listener.open();
  return listener;
}

const serverOptions = {
  requestTimeout: 15_000,
  headersTimeout: 10_000,
  keepAliveTimeout: 65_000,
  // By default Node checks for slow requests every half minute, and holds each for that much
  // longer.
  connectionsCheckingInterval: 1_000,
  // Checked with the other ambiguous requests, as Node's own answer has no body.
  requireHostHeader: false,
  // A second Host or Authorization is joined to the first, where a check sees it.
  joinDuplicateHeaders: true,
};

class DrainableListener implements Listener {
  readonly #handler: RequestListener;
  readonly #options: ListenerOptions;
  readonly #connections: Connections;
  readonly #server: Server;
  #isDraining = false;
  /** Empty until the listener is open. */
  url = '';

  constructor(handler: RequestListener, options: ListenerOptions) {
    this.#handler = handler;
    this.#options = options;
    this.#connections = new Connections(options.unreadMs ?? defaultUnreadMs, options.onUnread);
    this.#server = this.#createServer();
  }

  /** @throws the system's error when the port cannot be opened. */
  async open(): Promise<void> {
    const { host, port, tls } = this.#options;
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, host, () => {
        this.#server.off('error', reject);
        resolve();
      });
    });
    const address = this.#server.address() as AddressInfo;
    const shownHost = address.family === 'IPv6' ? `[${address.address}]` : address.address;
    this.url = `${tls ? 'https' : 'http'}://${shownHost}:${address.port}`;
  }

  beginDrain(): void {
    this.#isDraining = true;
  }

  renewCertificate(): void {
    const { tls } = this.#options;
    if (tls && this.#server instanceof TlsServer) this.#server.setSecureContext(readCertificate(tls));
  }

  close(timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      // A new connection may not have sent its request yet, so idle connections are given a moment.
      // The server's own closing passes over connections that never sent one.
      const settle = setTimeout(() => this.#connections.closeIdle(), Math.min(settleMs, timeoutMs));
      const cut = setTimeout(() => this.#server.closeAllConnections(), timeoutMs);
      // The method of the plain server stops listening only. That of the HTTP server would cut idle
      // connections.
      NetServer.prototype.close.call(this.#server, () => {
        clearTimeout(settle);
        clearTimeout(cut);
        this.#connections.stop();
        resolve();
      });
    });
  }

  #createServer(): Server {
    const { tls, upgrade } = this.#options;
    const listener: RequestListener = (req, res) => this.#take(req, res, isAmbiguous(req) ? malformed : null);
    const server: Server = tls
      ? createTlsServer({ ...serverOptions, ...readCertificate(tls) }, listener)
      : createServer(serverOptions, listener);
    // The body of the request may follow or not, so the connection is closed.
    server.on('checkExpectation', (req: IncomingMessage, res: ServerResponse) => {
      this.#take(req, res, isAmbiguous(req) ? malformed : unmetExpectation);
    });
    server.on('clientError', (error: { code?: string }, socket: Duplex) => this.#refuseMalformed(error, socket));
    if (upgrade) {
      server.on('upgrade', (req: IncomingMessage, socket: Duplex, head: Buffer) => {
        const isRefused = isAmbiguous(req) || this.#connections.isRefused(req.socket);
        this.#connections.release(req.socket);
        if (isRefused) this.#refuseMalformed({}, req.socket);
        else upgrade(req, socket, head);
      });
    }
    server.on(tls ? 'secureConnection' : 'connection', (socket: Socket) => this.#connections.open(socket));
    return server;
  }

  /** Hands a request to the handler, or answers it with its fault. */
  #take(req: IncomingMessage, res: ServerResponse, fault: Fault | null): void {
    if (!this.#connections.owe(res)) return;
    if (this.#isDraining) res.setHeader('Connection', 'close');
    if (fault) {
      this.#connections.refuse(req.socket);
      // Written after the answers to earlier requests of the connection.
      const { status, headers, body } = this.#refuse(fault);
      res.writeHead(status, headers).end(body);
    } else this.#handler(req, res);
  }

  #refuseMalformed(error: { code?: string }, socket: Duplex): void {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const { status, headers, body } = this.#refuse(parserFaults[error.code ?? ''] ?? malformed);
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`);
  }

  #refuse(fault: Fault): ReturnType<typeof refusal> {
    const made = refusal(fault);
    this.#options.onRefused?.(made);
    return made;
  }
}

function readCertificate({ certFile, keyFile }: NonNullable<ListenerOptions['tls']>) {
  return { cert: readFileSync(certFile), key: readFileSync(keyFile) };
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
