import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AppError } from '../errors.ts';
import type { Verdict } from '../limits/limiter.ts';
import type { Caller } from '../partners/authenticator.ts';
import type { Client } from './client.ts';

const nothing: Buffer = Buffer.alloc(0);

/** A request on its way through the public listener: what was sent, and what became known of it. */
export class Call {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly id: string;
  readonly client: Client;
  readonly method: string;
  /** As it was sent, percent signs and all. */
  readonly path: string;
  /** What stands behind the question mark. */
  readonly queryText: string;
  readonly startedAt = performance.now();
  /** The proven key, or null. */
  caller: Caller | null = null;
  /** The part of the proven key after the dot, with which a signature is keyed. */
  secret: string | null = null;
  /** Why there is no caller, when a key was presented. */
  authFailure: AppError | null = null;
  /** The state of the tightest limit, once the request was counted. */
  verdict: Verdict | null = null;
  /** The exact bytes of the body. */
  rawBody: Buffer = nothing;
  /** What a log line calls the route: a template of the contract, never the path itself. */
  route = 'unmatched';
  /** The stable code of the error that was answered. */
  errorCode: string | null = null;

  constructor(req: IncomingMessage, res: ServerResponse, id: string, client: Client) {
    this.req = req;
    this.res = res;
    this.id = id;
    this.client = client;
    this.method = req.method ?? '';
    const target = req.url ?? '';
    const mark = target.indexOf('?');
    this.path = pathOf(mark < 0 ? target : target.slice(0, mark));
    this.queryText = mark < 0 ? '' : target.slice(mark + 1);
  }

  header(name: string): string | undefined {
    const value = this.req.headers[name];
    return typeof value === 'string' ? value : value?.join(', ');
  }
}

/** A request's target may also be a whole URL: RFC 9112 section 3.2.2. */
function pathOf(target: string): string {
  return target.startsWith('/') ? target : (URL.parse(target)?.pathname ?? '');
}
