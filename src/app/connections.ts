import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** How often connections are checked for answers that their clients do not read. */
const unreadLookMs = 1_000;

/** An open connection of a client. */
interface Connection {
  readonly socket: Socket;
  /** Answers that are not sent to their last byte yet, in the order of their requests. */
  readonly owed: ServerResponse[];
  /** Whether it sent an ambiguous request: what follows may be a part of that request. */
  isRefused: boolean;
  /** When the first owed answer was found complete, by the monotonic clock. */
  unread: { readonly answer: ServerResponse; readonly sinceMs: number } | null;
}

/**
 * The open connections of a listener, and the answers that each still owes.
 *
 * It cuts connections whose client does not read an answer for too long. What waits for such a
 * client stays in memory, and no other limit ends that: for the handler a request is over once it
 * is answered. The time of one answer begins when it is complete and the first of its connection.
 * It ends when the operating system has taken its last byte.
 */
export class Connections {
  readonly #unreadMs: number;
  readonly #onUnread: (() => void) | undefined;
  readonly #bySocket = new Map<Socket, Connection>();
  readonly #timer: NodeJS.Timeout;

  constructor(unreadMs: number, onUnread: (() => void) | undefined) {
    this.#unreadMs = unreadMs;
    this.#onUnread = onUnread;
    this.#timer = setInterval(() => this.#look(), Math.min(unreadLookMs, unreadMs)).unref();
    const bySocket = this.#bySocket;
    this.#settled = function () {
      const owed = bySocket.get(this.req.socket)?.owed ?? [];
      const place = owed.indexOf(this);
      if (place >= 0) owed.splice(place, 1);
    };
  }

  /** Registers a new connection. */
  open(socket: Socket): void {
    this.#bySocket.set(socket, { socket, owed: [], isRefused: false, unread: null });
    socket.once('close', () => this.#bySocket.delete(socket));
  }

  /** Registers the answer to a request. False on a connection that was refused. */
  owe(answer: ServerResponse): boolean {
    const connection = this.#bySocket.get(answer.req.socket);
    if (!connection) return true;
    if (connection.isRefused) return false;
    connection.owed.push(answer);
    answer.on('close', this.#settled);
    return true;
  }

  /** Takes no further request of a connection. */
  refuse(socket: Socket): void {
    const connection = this.#bySocket.get(socket);
    if (connection) connection.isRefused = true;
  }

  isRefused(socket: Socket): boolean {
    return this.#bySocket.get(socket)?.isRefused ?? false;
  }

  /** Leaves a connection to another protocol. */
  release(socket: Socket): void {
    this.#bySocket.delete(socket);
  }

  /** Cuts the connections without a request. */
  closeIdle(): void {
    for (const { socket, owed } of this.#bySocket.values()) if (owed.length === 0) socket.destroy();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** The same function for all answers, so that a request makes none. */
  readonly #settled: (this: ServerResponse) => void;

  #look(): void {
    const now = performance.now();
    for (const connection of this.#bySocket.values()) {
      const [first] = connection.owed;
      if (!first?.writableEnded) continue;
      if (connection.unread?.answer !== first) connection.unread = { answer: first, sinceMs: now };
      else if (now - connection.unread.sinceMs >= this.#unreadMs) {
        connection.socket.destroy();
        this.#onUnread?.();
      }
    }
  }
}
