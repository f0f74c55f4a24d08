import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { Webhook } from 'standardwebhooks';
import { type Certificate, makeCertificate } from './certificates.ts';

/** A delivery as a receiver got it. */
export interface Received {
  /** The name by which the receiver was called. */
  readonly host: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look at members of events
  readonly event: any;
  readonly id: string;
}

/** Answers a delivery. */
export type Behaviour = (received: Received, res: ServerResponse) => void;

export const accept: Behaviour = (_received, res) => void res.writeHead(204).end();
export const answer =
  (status: number, headers: Record<string, string> = {}): Behaviour =>
  (_received, res) =>
    void res.writeHead(status, headers).end('answered');
export const answerWith =
  (status: number, body: string | Buffer): Behaviour =>
  (_received, res) =>
    void res.writeHead(status).end(body);
export const hang: Behaviour = () => {};

/** Receivers of webhooks: one HTTPS server under many names below `hooks.test`. */
export class Receivers {
  readonly received: Received[] = [];
  readonly #server: Server;
  readonly #sockets = new Set<Duplex>();
  readonly #behaviours = new Map<string, Behaviour>();
  readonly certificate: Certificate;
  /** Called with each delivery before it is answered. */
  onReceived: (received: Received) => void = () => {};

  private constructor(certificate: Certificate) {
    this.certificate = certificate;
    this.#server = createServer(certificate, (req, res) => {
      const chunks: Buffer[] = [];
      req.on('data', (chunk: Buffer) => chunks.push(chunk));
      req.on('end', () => {
        const body = Buffer.concat(chunks).toString('utf8');
        const host = (req.headers.host ?? '').split(':')[0] ?? '';
        const id = String(req.headers['webhook-id']);
        const received = { host, path: req.url ?? '', headers: req.headers, body, event: JSON.parse(body), id };
        this.received.push(received);
        this.onReceived(received);
        (this.#behaviours.get(`${host}${received.path}`) ?? this.#behaviours.get(host) ?? accept)(received, res);
      });
    });
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('error', () => {});
      socket.once('close', () => this.#sockets.delete(socket));
    });
  }

  static async start(): Promise<Receivers> {
    const receivers = new Receivers(await makeCertificate(['hooks.test', '*.hooks.test']));
    await new Promise<void>((resolve) => receivers.#server.listen(0, '127.0.0.1', resolve));
    return receivers;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** What a gateway needs to reach these receivers, as its outside world and its settings. */
  get outside() {
    return { resolve: async () => ['127.0.0.1'], ca: this.certificate.cert };
  }

  get settings() {
    return { WEBHOOK_ALLOW_LOOPBACK: 'on', WEBHOOK_PORTS: `443,${this.port}` };
  }

  url(name: string, path = '/'): string {
    return `https://${name}.hooks.test:${this.port}${path}`;
  }

  behave(name: string, behaviour: Behaviour): void {
    this.#behaviours.set(`${name}.hooks.test`, behaviour);
  }

  of(name: string): Received[] {
    return this.received.filter(({ host }) => host === `${name}.hooks.test`);
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/**
 * Whether the independent verifier accepts a delivery under a secret.
 *
 * @param at The time that the verifier takes for now; it refuses times far from it.
 */
export function isVerified(
  { body, headers }: Pick<Received, 'body' | 'headers'>,
  secret: string,
  at: Date = new Date(),
): boolean {
  const { now } = Date;
  Date.now = () => at.getTime();
  try {
    new Webhook(secret).verify(body, {
      'webhook-id': String(headers['webhook-id']),
      'webhook-timestamp': String(headers['webhook-timestamp']),
      'webhook-signature': String(headers['webhook-signature']),
    });
    return true;
  } catch {
    return false;
  } finally {
    Date.now = now;
  }
}
