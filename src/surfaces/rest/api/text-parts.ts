import type { ServerResponse } from 'node:http';
import { usualStreamTimes, writeOut } from './event-stream.ts';

/** Text that is sent in parts, as the answer of an operation. */
export interface TextParts {
  readonly parts: AsyncIterable<string>;
  /** With its charset. */
  readonly type: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A file of CSV. */
export function csvFile(name: string, parts: AsyncIterable<string>): TextParts {
  return {
    parts,
    type: 'text/csv; charset=utf-8',
    headers: { 'Content-Disposition': `attachment; filename="${name}.csv"` },
  };
}

/**
 * Sends parts as fast as the client reads. A failure cuts the connection, so that no file looks
 * whole. So does a client that takes nothing for half a minute.
 */
export async function sendParts(parts: AsyncIterable<string>, res: ServerResponse): Promise<void> {
  try {
    for await (const part of parts) if (!(await writeOut(res, part, usualStreamTimes.unreadMs))) return;
    res.end();
  } catch {
    res.destroy();
  }
}
