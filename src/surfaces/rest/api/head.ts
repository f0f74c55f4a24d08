import { type ServerResponse, STATUS_CODES } from 'node:http';
import { systemMs } from '../../../base/clock.ts';

/** How long a connection without a request stays open. The head tells it to clients. */
export const keepAliveMs = 65_000;

/** Node keeps the written head here. Its types leave it out. */
interface Headed {
  _header: string | null;
}

/** Text that a header may contain (RFC 9110 section 5.5). */
const headerText = /^[\t\x20-\x7e\x80-\xff]*$/;

/** One header. @throws Error for text that no header may contain, such as the end of a line. */
export function headerLine(name: string, value: string): string {
  if (!headerText.test(value)) throw new Error(`the header ${name} cannot have this value`);
  return `${name}: ${value}\r\n`;
}

/**
 * Writes the status and the headers of an answer. They are sent with its body.
 *
 * `res.writeHead` checks and sorts out each header by itself, which is a tenth of the CPU of a
 * quote. So the head of a usual answer is made here, byte by byte as Node makes it. Node makes all
 * others: of HTTP/1.0, of the last answer of a connection, without a length, and after `setHeader`.
 *
 * @param headers are lines, each ended by `\r\n`.
 * @param hasLength whether `Content-Length` is one of them.
 */
export function writeHead(res: ServerResponse, status: number, headers: string, hasLength: boolean): void {
  const { req, shouldKeepAlive } = res;
  if (hasLength && shouldKeepAlive && req.httpVersionMinor === 1 && res.getHeaderNames().length === 0) {
    const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${headers}${dateLine()}${keepAliveLines}\r\n`;
    (res as unknown as Headed)._header = head;
    res.statusCode = status;
  }
  // False as well where a later Node keeps the head in another place.
  if (!res.headersSent) res.writeHead(status, pairsOf(headers));
}

const keepAliveLines = `Connection: keep-alive\r\nKeep-Alive: timeout=${keepAliveMs / 1000}\r\n`;

let datedSecond = Number.NaN;
let date = '';

/** The header of the present second. */
function dateLine(): string {
  const second = Math.floor(systemMs() / 1000);
  if (second !== datedSecond) {
    datedSecond = second;
    date = headerLine('Date', new Date(second * 1000).toUTCString());
  }
  return date;
}

/** Names and values in turn, for `res.writeHead`. */
function pairsOf(headers: string): string[] {
  return headers
    .split('\r\n')
    .slice(0, -1)
    .flatMap((line) => {
      const colon = line.indexOf(': ');
      return [line.slice(0, colon), line.slice(colon + 2)];
    });
}
