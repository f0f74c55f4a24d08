import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** How often connections are checked for answers that their clients do not read. */
const unreadLookMs = 1_000;

/**
 * Cuts connections whose client does not read an answer for too long. What waits for such a client
 * stays in memory, and no other limit ends that: for the handler a request is over once it is
 * answered. The time of one answer begins when it is complete and the first of its connection. It
 * ends when the operating system has taken its last byte.
 */
export class UnreadAnswers {
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
