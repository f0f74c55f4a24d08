import { connect } from 'node:net';

/** What a server sent until it closed the connection. */
export interface RawAnswer {
  readonly text: string;
  /** Of each answer, in order. */
  readonly statuses: readonly number[];
}

/** Above what any time limit of a server is, so that a test ends. */
const hangMs = 90_000;

export interface RawOptions {
  /** Sends more once the parts are out; stops when the connection is closed. */
  readonly drip?: { readonly part: string; readonly everyMs: number };
}

/** Sends bytes as they are, and hears until the server closes the connection. */
export function rawExchange(
  url: string,
  parts: string | Buffer | readonly (string | Buffer)[],
  { drip }: RawOptions = {},
): Promise<RawAnswer> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let dripping: NodeJS.Timeout | undefined;
    const socket = connect(Number(port), hostname, () => {
      for (const part of typeof parts === 'string' || Buffer.isBuffer(parts) ? [parts] : parts) {
        socket.write(typeof part === 'string' ? Buffer.from(part, 'latin1') : part);
      }
      if (drip) dripping = setInterval(() => socket.write(drip.part), drip.everyMs);
    });
    const hang = setTimeout(() => {
      socket.destroy();
      reject(new Error(`the connection stayed open, with ${Buffer.concat(chunks)}`));
    }, hangMs);
    socket.on('data', (data) => chunks.push(data));
    // A server that has answered may reset what still arrives.
    socket.on('error', () => {});
    socket.on('close', () => {
      clearTimeout(hang);
      clearInterval(dripping);
      const text = Buffer.concat(chunks).toString('latin1');
      // An answer follows the body of the previous one without a line end.
      resolve({ text, statuses: [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status)) });
    });
  });
}
