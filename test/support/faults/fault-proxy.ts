import { once } from 'node:events';
import { connect, createServer, type NetConnectOpts, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { listen } from '../http/local-server.ts';

/** One connection through the proxy, with what is on its way in both directions. */
interface Link {
  readonly client: Socket;
  readonly target: Socket;
  /** Whether this connection passes nothing on, apart from the other connections. */
  isLost: boolean;
  /** Bytes that may still come from the target. */
  left: number;
}

/** Stands between the gateway and a server, and does what networks do. */
export class FaultProxy {
  readonly #server: Server;
  readonly #links = new Set<Link>();
  /** Every connection that was accepted and is open, also those whose link is over. */
  readonly #clients = new Set<Socket>();
  #targets: readonly NetConnectOpts[];
  /** Connections that were passed on so far. */
  #count = 0;
  #port = 0;
  #latency: readonly [leastMs: number, mostMs: number] = [0, 0];
  #cutAfter = Number.POSITIVE_INFINITY;
  #isResetting = false;
  /** Settled unless the proxy hangs. */
  #flow: Promise<void> = Promise.resolve();
  #resume: () => void = () => {};

  private constructor(target: NetConnectOpts) {
    this.#targets = [target];
    this.#server = createServer({ allowHalfOpen: false, noDelay: true }, (client) => void this.#accept(client));
  }

  static async open(target: NetConnectOpts): Promise<FaultProxy> {
    const proxy = new FaultProxy(target);
    proxy.#port = await listen(proxy.#server);
    return proxy;
  }

  get port(): number {
    return this.#port;
  }

  /** Connections that are open now. */
  get connections(): number {
    return this.#links.size;
  }

  /** Every piece takes so long in either direction, and overtakes no other. */
  delay(leastMs: number, mostMs = leastMs): void {
    this.#latency = [leastMs, mostMs];
  }

  /** Connections are accepted and none is closed, but no byte gets through. */
  hang(): void {
    this.#flow = new Promise((resolve) => {
      this.#resume = resolve;
    });
  }

  /** Open connections silently pass nothing on any more. New ones work. */
  lose(): void {
    for (const link of this.#links) link.isLost = true;
  }

  /** Every connection is reset, and each new one at once. */
  reset(): void {
    this.#isResetting = true;
    this.drop();
  }

  /** Every connection ends after this many more bytes from the server. */
  cutAfter(bytes: number): void {
    this.#cutAfter = bytes;
    for (const link of this.#links) link.left = bytes;
  }

  /** Resets every connection, and refuses new ones. */
  async refuse(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.drop();
    // One whose other side is gone would keep the server open for as long as its client likes.
    for (const client of this.#clients) client.resetAndDestroy();
    await closed;
  }

  /** Resets the connections that are open now. */
  drop(): void {
    for (const link of this.#links) end(link);
  }

  /** New connections lead to each of these targets in turn. Open ones stay as they are. */
  takeTurns(...targets: readonly NetConnectOpts[]): void {
    this.#targets = targets;
  }

  /**
   * Everything gets through again, also what was kept back. What is lost stays lost, which servers
   * find out in time.
   */
  async heal(): Promise<void> {
    this.#latency = [0, 0];
    this.#cutAfter = Number.POSITIVE_INFINITY;
    this.#isResetting = false;
    for (const link of this.#links) {
      link.left = this.#cutAfter;
      if (link.isLost) link.target.destroy();
    }
    this.#resume();
    if (this.#server.listening) return;
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  async close(): Promise<void> {
    this.#resume();
    if (this.#server.listening) await this.refuse();
  }

  async #accept(client: Socket): Promise<void> {
    client.on('error', () => {});
    this.#clients.add(client);
    client.once('close', () => this.#clients.delete(client));
    if (this.#isResetting) {
      client.resetAndDestroy();
      return;
    }
    await this.#flow;
    if (client.destroyed) return;
    const place = this.#count++ % this.#targets.length;
    const target = connect(this.#targets[place] as NetConnectOpts);
    target.on('error', () => {});
    const link: Link = { client, target, isLost: false, left: this.#cutAfter };
    this.#links.add(link);
    this.#pass(link, client, target);
    this.#pass(link, target, client);
  }

  /** Passes on what comes from one side, and then its end. */
  #pass(link: Link, from: Socket, to: Socket): void {
    let last: Promise<unknown> = Promise.resolve();
    const inTurn = (step: () => void): void => {
      const [leastMs, mostMs] = this.#latency;
      const delayed = mostMs > 0 ? sleep(leastMs + Math.random() * (mostMs - leastMs)) : undefined;
      last = Promise.all([last, delayed, this.#flow]).then(() => !link.isLost && step());
    };
    from.on('data', (data: Buffer) => inTurn(() => this.#deliver(link, to, data)));
    from.once('close', () =>
      inTurn(() => {
        this.#links.delete(link);
        // After an error of one side the other is to see one as well.
        if (from.errored) end(link);
        else to.end();
      }),
    );
  }

  #deliver(link: Link, to: Socket, data: Buffer): void {
    if (to === link.target) {
      to.write(data);
      return;
    }
    if (data.length < link.left) to.write(data);
    else {
      // Not by a reset, which would take what was sent with it.
      to.end(data.subarray(0, link.left));
      link.target.destroy();
    }
    link.left -= data.length;
  }
}

function end({ client, target }: Link): void {
  client.resetAndDestroy();
  target.destroy();
}
