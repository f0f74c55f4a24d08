import { createHash } from 'node:crypto';
import type { OpenAPIBackend, Request } from 'openapi-backend';
import {
  type CabinetOperation,
  operationRows,
  requireActive,
  requireRight,
  signedOut,
} from '../../../accounts/members/rights.ts';
import { approvalOf, type MemberCaller, type MemberSessions } from '../../../accounts/members/sessions.ts';
import { requireStorable } from '../../../base/db/stored-text.ts';
import { AppError, errorFromFaults } from '../../../base/errors.ts';
import { addressKeys } from '../../../base/limits/client-address.ts';
import type { Bucket, Limiter } from '../../../base/limits/limiter.ts';
import type { Config } from '../../../config/settings.ts';
import { type Answer, jsonType } from '../api/answer.ts';
import { parseBody, readBody } from '../api/body.ts';
import type { Call } from '../api/call.ts';
import { backendOf } from '../api/operations.ts';
import { faultsOf } from '../api/validation-faults.ts';
import type { CabinetTurns } from './cabinet-turns.ts';
import { type CabinetHandlers, type CabinetReply, cabinetApiRoot, readCabinetContract } from './contract.ts';
import { sessionSecret } from './session-cookie.ts';

export interface CabinetApiOptions {
  readonly config: Pick<Config, 'RATE_LIMIT_SIGN_IN_PER_MIN' | 'RATE_LIMIT_CABINET_PER_MIN'>;
  /** CABINET_URL. */
  readonly origin: string;
  readonly limiter: Limiter;
  readonly sessions: MemberSessions;
  readonly turns: CabinetTurns;
  readonly handlers: CabinetHandlers;
}

/**
 * Makes the function that answers the cabinet's API by its contract. A request passes these steps:
 * origin, limit, session, right, contract, passkey, handler.
 */
export async function cabinetApi(options: CabinetApiOptions): Promise<(call: Call) => Promise<Answer>> {
  const { handlers, sessions, turns } = options;
  const backend = await backendOf(readCabinetContract(), cabinetApiRoot, { coerceParameters: true });
  return async (call) => {
    const request = requestOf(call);
    const id = operationAt(backend, request, call);
    call.route = `${cabinetApiRoot} ${id}`;
    const row = operationRows[id];
    const { needs, isConfirmed } = row;
    if (call.method !== 'GET') requireOwnOrigin(call, options.origin);
    const secret = sessionSecret(call.req);
    await countAddress(call, needs === 'nothing' || secret === null, options);
    const member = secret === null ? null : await sessions.find(secret, !isBackground(call));
    if (needs !== 'nothing') {
      if (!member) throw signedOut();
      await countMember(member, options);
      requireRight(member.role, needs);
      requireActive(member.partnerStatus, row, call.method === 'GET');
    }
    const checked = await validated(backend, request, call, id);
    const handler = handlers[id] as (request: unknown) => Promise<CabinetReply<CabinetOperation>>;
    const handled = async (): Promise<CabinetReply<CabinetOperation>> => {
      if (isConfirmed && member) {
        const approval = approvalOf(id, digestOf(call));
        await sessions.requireConfirmation(member.sessionId, approval, call.header('x-confirmation'));
      }
      return handler({ ...checked, call, member });
    };
    return toAnswer(await (member && needs !== 'nothing' ? turns.work(member, row, handled) : handled()), call);
  };
}

/** What a member approves: the schema RequestDigest of the contract. */
function digestOf({ method, path, queryText, rawBody }: Call): string {
  const target = queryText === '' ? path : `${path}?${queryText}`;
  return createHash('sha256').update(`${method} ${target}\n`).update(rawBody).digest('base64url');
}

function requestOf({ req, method, path, queryText }: Call): Request {
  return { method, path, query: queryText, headers: req.headers as Record<string, string> };
}

function operationAt(backend: OpenAPIBackend, request: Request, call: Call): CabinetOperation {
  if (!isDecodable(call.path)) throw new AppError('not_found', 'there is nothing at this path');
  const known = backend.router
    .getOperations()
    .map(({ method, path }) => ({ method: method.toUpperCase(), path }))
    .filter(({ path }) => patternOf(path).test(call.path));
  if (known.length === 0) throw new AppError('not_found', 'there is nothing at this path');
  if (!known.some(({ method }) => method === call.method)) {
    const allow = known.map(({ method }) => method);
    throw new AppError('method_not_allowed', `${call.method} is not supported here; use ${allow.join(' or ')}`, {
      allow,
    });
  }
  const id = backend.router.matchOperation(request, true)?.operationId;
  if (id === undefined) throw new AppError('not_found', 'there is nothing at this path');
  return id as CabinetOperation;
}

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${cabinetApiRoot}${path.replace(/\{\w+\}/g, '[^/]+')}$`);
}

/** @throws AppError with every fault that the contract finds. */
async function validated(backend: OpenAPIBackend, request: Request, call: Call, id: CabinetOperation) {
  const operation = backend.router.getOperation(id);
  if (!operation) throw new Error(`${id} is not in the contract`);
  const takesBody = operation.requestBody !== undefined;
  if (takesBody) call.rawBody = await readBody(call);
  const body = takesBody ? parseBody(call.rawBody) : undefined;
  const whole = { ...request, ...(body === undefined ? {} : { body }) } as Request;
  const { params, query } = backend.router.parseRequest(whole, operation);
  const { errors } = backend.validateRequest(whole, operation);
  if (errors && errors.length > 0) {
    const members = Object.keys(
      (operation.requestBody as { content?: Record<string, { schema?: { properties?: object } }> } | undefined)
        ?.content?.['application/json']?.schema?.properties ?? {},
    );
    throw errorFromFaults(faultsOf(errors, members));
  }
  requireStorable(body);
  return { path: params, query: coerced(query), body };
}

/** The whole numbers of a query, which are text in a URL. */
function coerced(query: Record<string, string | string[]>): Record<string, unknown> {
  const { limit } = query;
  const list = query.status;
  return {
    ...query,
    ...(typeof limit === 'string' ? { limit: Number.parseInt(limit, 10) } : {}),
    ...(list === undefined ? {} : { status: [list].flat().flatMap((part) => part.split(',')) }),
  };
}

/** A page that only keeps itself up to date keeps no session alive. */
const isBackground = (call: Call): boolean => call.header('x-background') !== undefined;

/**
 * Browsers attach the cookie to requests of other sites of the same host as well. A request without
 * `Origin` counts as foreign.
 */
function requireOwnOrigin(call: Call, origin: string): void {
  const site = call.header('sec-fetch-site');
  if (call.header('origin') === origin && (site === undefined || site === 'same-origin')) return;
  throw new AppError('foreign_origin', `the cabinet takes requests from its own pages only: ${origin}`);
}

/** Members who work behind one address together, and hosts of one IPv6 block. */
const sharedBy = 10;

/**
 * Counts a request by its address before the session is looked up, so that a client that invents
 * sessions cannot keep the database busy.
 */
async function countAddress(call: Call, isStranger: boolean, { limiter, config }: CabinetApiOptions): Promise<void> {
  const { host, block } = addressKeys(call.client.address);
  const { bucket, limit } = addressLimit(call, isStranger, config);
  const own: Bucket = { bucket, key: `cabinet:${host}`, limit };
  const wide: Bucket = { bucket, key: `cabinet:${block}`, limit: limit * sharedBy };
  refuseOver(block === null ? await limiter.consume(own) : await limiter.consume(own, wide));
}

function addressLimit(
  { method }: Call,
  isStranger: boolean,
  config: CabinetApiOptions['config'],
): Pick<Bucket, 'bucket' | 'limit'> {
  if (!isStranger) return { bucket: 'lookup', limit: config.RATE_LIMIT_CABINET_PER_MIN * sharedBy };
  // Opening a page asks for the session first, so reading costs less than a try to sign in.
  if (method === 'GET') return { bucket: 'cabinet', limit: config.RATE_LIMIT_SIGN_IN_PER_MIN * 6 };
  return { bucket: 'signin', limit: config.RATE_LIMIT_SIGN_IN_PER_MIN };
}

/** Browsers of a member that may ask as much as they want at the same time. */
const busySessions = 3;

/**
 * Counts a request by its session first. So the thief of a session leaves its owner requests enough
 * to end it.
 */
async function countMember({ sessionId, memberId }: MemberCaller, options: CabinetApiOptions): Promise<void> {
  const { limiter, config } = options;
  const limit = config.RATE_LIMIT_CABINET_PER_MIN;
  const own: Bucket = { bucket: 'cabinet', key: sessionId, limit };
  refuseOver(await limiter.consume(own, { bucket: 'cabinet', key: memberId, limit: limit * busySessions }));
}

function refuseOver({ allowed, resetMs }: { readonly allowed: boolean; readonly resetMs: number }): void {
  if (allowed) return;
  const seconds = Math.max(1, Math.ceil(resetMs / 1000));
  throw new AppError('rate_limited', `too many requests; retry in ${seconds} seconds`, { retryAfterSec: seconds });
}

function toAnswer(reply: CabinetReply<CabinetOperation>, { res }: Call): Answer {
  const headers = {
    ...reply.headers,
    'Referrer-Policy': 'no-referrer',
    'Cross-Origin-Resource-Policy': 'same-origin',
  };
  if ('parts' in reply) {
    const { parts, type } = reply;
    return { status: 200, type, headers, stream: () => sendParts(parts, res) };
  }
  if (reply.body === undefined) return { status: 204, headers };
  return { status: 200, type: jsonType, headers, body: JSON.stringify(reply.body) };
}

/**
 * Sends parts as fast as the client reads. A failure cuts the connection, so that no file looks
 * whole.
 */
async function sendParts(parts: AsyncIterable<string>, res: Call['res']): Promise<void> {
  try {
    for await (const part of parts) {
      if (res.destroyed) return;
      if (!res.write(part)) await new Promise((resolve) => res.once('drain', resolve).once('close', resolve));
    }
    res.end();
  } catch {
    res.destroy();
  }
}
