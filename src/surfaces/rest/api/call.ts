import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Caller, MemberCaller } from '../../../accounts/members/sessions.ts';
import type { AppError } from '../../../base/errors.ts';
import { addressKeys } from '../../../base/limits/client-address.ts';
import type { Verdict } from '../../../base/limits/limiter.ts';
import { textAmounts } from './amounts.ts';
import type { Client } from './client.ts';

const nothing: Buffer = Buffer.alloc(0);

/** One request on the public listener, and what the steps of its handling find out about it. */
export class Call {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly id: string;
  readonly client: Client;
  readonly method: string;
  /** The path as it was sent, still percent-encoded. */
  readonly path: string;
  /** The query string without its question mark. */
  readonly queryText: string;
  readonly startedAt = performance.now();
  /** The proven key, or the member of the cabinet's session. Only the cabinet reads the cookie. */
  caller: Caller | null = null;
  /** The part of the proven key after the dot: the HMAC key of `X-Signature`. */
  secret: string | null = null;
  /** Why a presented key was refused. */
  authFailure: AppError | null = null;
  /** The state of the strictest rate limit, once the request is counted. */
  verdict: Verdict | null = null;
  /** The exact bytes of the body. */
  rawBody: Buffer = nothing;
  /** The route in logs: a path template of the contract, never the path itself. */
  route = 'unmatched';
  /** The code of the error that was answered. */
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

  /** Whether the request asks for its amounts as strings. */
  get wantsTextAmounts(): boolean {
    return this.req.headers.amounts === textAmounts;
  }

  header(name: string): string | undefined {
    const value = this.req.headers[name];
    return typeof value === 'string' ? value : value?.join(', ');
  }
}

/** The member who sent a request. @throws Error without one: the door lets in members only. */
export function memberOf({ call }: { readonly call: Call }): MemberCaller {
  const member = sessionOf(call);
  if (!member) throw new Error('this operation needs a session');
  return member;
}

/** The member of the request's session, or null. */
export const sessionOf = ({ caller }: Call): MemberCaller | null => (caller?.kind === 'member' ? caller : null);

/** Whose turn a request takes: that of its partner, or of its address without a key. */
export function turnOf({ caller, client }: Call): string {
  return caller?.partner.id ?? addressKeys(client.address).host;
}

/** The path of a request target, which may be a whole URL (RFC 9112 section 3.2.2). */
function pathOf(target: string): string {
  return target.startsWith('/') ? target : (URL.parse(target)?.pathname ?? '');
}
