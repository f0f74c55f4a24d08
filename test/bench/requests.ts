import { randomUUID } from 'node:crypto';
import { type IncomingMessage, request } from 'node:http';
import type { Endpoint, Requests } from './endpoints.ts';

export interface Answer {
  readonly status: number;
  /** Lower case, sorted. */
  readonly headerNames: readonly string[];
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** Sends one request of an endpoint, the `turn`th of its paths. */
export function ask(url: string, endpoint: Requests, turn = 0): Promise<Answer> {
  const { method, paths, body, once } = endpoint;
  const headers = {
    ...endpoint.headers,
    ...(once ? { 'Idempotency-Key': randomUUID() } : {}),
    ...(body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) }),
  };
  return new Promise((resolve, reject) => {
    const sent = request(`${url}${paths[turn % paths.length]}`, { method, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('error', reject);
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const headerNames = response.rawHeaders.filter((_, i) => i % 2 === 0).map((name) => name.toLowerCase());
        resolve({
          status: response.statusCode ?? 0,
          headerNames: headerNames.sort(),
          headers: response.headers,
          body: Buffer.concat(chunks).toString(),
        });
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

/**
 * What differs between two servers' answers to the same request, as sentences; empty when nothing
 * does.
 */
export async function differences(first: string, second: string, endpoint: Endpoint): Promise<string[]> {
  const [a, b] = [await ask(first, endpoint), await ask(second, endpoint)];
  const found: string[] = [];
  const compare = (what: string, left: unknown, right: unknown): void => {
    const [one, other] = [JSON.stringify(left), JSON.stringify(right)];
    if (one !== other)
      found.push(`${endpoint.name}: ${what}: ${one?.slice(0, 400) ?? 'none'} and ${other?.slice(0, 400) ?? 'none'}`);
  };
  compare('status', a.status, b.status);
  if (a.status >= 400) found.push(`${endpoint.name}: ${a.body}`);
  compare('headers', a.headerNames, b.headerNames);
  compare('content type', a.headers['content-type'], b.headers['content-type']);
  compare('cache control', a.headers['cache-control'], b.headers['cache-control']);
  if (endpoint.same === 'whole') {
    compare('body', a.body, b.body);
  } else if (found.length === 0) {
    const [left, right] = [JSON.parse(a.body), JSON.parse(b.body)] as Record<string, unknown>[];
    compare('members', shape(left), shape(right));
    for (const member of endpoint.same) compare(member, left?.[member], right?.[member]);
  }
  return found;
}

/** The members in their order, each with the type of its value. */
function shape(value: Record<string, unknown> | undefined): string[] {
  return Object.entries(value ?? {}).map(([name, held]) => `${name}: ${held === null ? 'null' : typeof held}`);
}
