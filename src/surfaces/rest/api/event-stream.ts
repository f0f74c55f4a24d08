import type { ServerResponse } from 'node:http';

/** The times of a stream in milliseconds. */
export interface StreamTimes {
  /** A comment is sent after a silence of this long, so that proxies keep the connection. */
  readonly commentMs: number;
  /** The key and the partner are read again so often. */
  readonly recheckMs: number;
  /** The stream ends, and the client comes back with its last id. */
  readonly endMs: number;
  /** A client that takes nothing for this long is cut. */
  readonly unreadMs: number;
}

export const usualStreamTimes: StreamTimes = {
  commentMs: 15_000,
  recheckMs: 60_000,
  endMs: 3_600_000,
  unreadMs: 30_000,
};

/** When a client comes back, in milliseconds. */
const retryMs = 3_000;

/** The first bytes of a stream: how soon the client comes back when it ends. */
export const streamHead = `retry: ${retryMs}\n\n`;
export const streamComment = ': still here\n\n';
/** Tells the client to come back, to this or another process. */
export const streamEnd = `event: reconnect\ndata: {}\n\n`;

/** An event of a stream. The data has no line break, as JSON text. */
export function streamEvent(id: string, type: string, data: string): string {
  return `id: ${id}\nevent: ${type}\ndata: ${data}\n\n`;
}

/**
 * Writes to a client, and waits until it has taken what waits for it.
 *
 * @returns False when the connection is over, also because the client took nothing for too long.
 */
export async function writeOut(res: ServerResponse, text: string, unreadMs: number): Promise<boolean> {
  if (res.destroyed || res.writableEnded) return false;
  if (res.write(text)) return true;
  return new Promise((resolve) => {
    const end = (isOpen: boolean): void => {
      clearTimeout(timer);
      res.off('drain', drained);
      res.off('close', closed);
      resolve(isOpen);
    };
    const drained = (): void => end(true);
    const closed = (): void => end(false);
    const timer = setTimeout(() => {
      res.destroy();
      end(false);
    }, unreadMs);
    res.once('drain', drained);
    res.once('close', closed);
  });
}
