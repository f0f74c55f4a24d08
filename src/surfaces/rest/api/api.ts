import { parse as parseQuery } from 'node:querystring';
import { partnerInactive } from '../../../accounts/partners/authenticator.ts';
import { AppError, errorFromFaults, type FieldFault, isShapeFault } from '../../../base/errors.ts';
import type { PartnerLanes } from '../../../base/limits/partner-lanes.ts';
import { isDecimal } from '../../../base/money.ts';
import { orderNotFound } from '../../../orders/order-errors.ts';
import { endpointNotFound } from '../../../webhooks/endpoint-service.ts';
import { type Answer, jsonType } from './answer.ts';
import { missingKey, verifySignature } from './authenticate.ts';
import { parseBody, readBody, readTextAmounts } from './body.ts';
import { type Call, turnOf } from './call.ts';
import type { Body, OperationId, Path, Query, Reply } from './contract.ts';
import type { Operation, Target } from './operations.ts';
import { faultsOf } from './validation-faults.ts';

/** A request that the contract allows. */
export interface ApiRequest<Id extends OperationId> {
  readonly path: Path<Id>;
  readonly query: Query<Id>;
  readonly body: Body<Id>;
  readonly call: Call;
}

export type Handler<Id extends OperationId> = (request: ApiRequest<Id>) => Promise<Reply<Id>> | Reply<Id>;

/** One handler for each operation of the contract. The compiler refuses a missing one. */
export type Handlers = { readonly [Id in OperationId]: Handler<Id> };

/**
 * Finds what an operation itself would refuse in a request that the contract refuses. The caller
 * then gets all faults at once. Returns null without a fault. Such a request never reaches the
 * operation's handler.
 */
export type Refusal<Id extends OperationId> = (request: ApiRequest<Id>) => Promise<AppError | null>;

export type Refusals = { readonly [Id in OperationId]?: Refusal<Id> };

/**
 * Authorizes and validates requests by the contract, then calls the operation's handler. A request
 * that the contract refuses never reaches a handler.
 *
 * @param lanes the turns of partners at the connections of requests.
 */
export function createApi(
  handlers: Handlers,
  refusals: Refusals,
  lanes: PartnerLanes,
): (call: Call, target: Target) => Promise<Answer> {
  return async (call, target) => {
    if (!target) throw notFound();
    if ('allow' in target) {
      const detail = `${call.method} is not supported here; use ${target.allow.join(' or ')}`;
      throw new AppError('method_not_allowed', detail, { allow: target.allow });
    }
    const { operation, params } = target;
    call.route = operation.route;
    authorize(operation, call);
    if (operation.takesBody) call.rawBody = await readBody(call);
    if (operation.scope !== 'public') verifySignature(call);
    const { request, faults } = checked(operation, params, call);
    if (faults.length > 0) {
      const refusal = refusals[operation.id] as ((request: unknown) => Promise<AppError | null>) | undefined;
      // An operation can judge values only when all their types are right.
      const more = faults.some(isShapeFault) ? null : ((await refusal?.(request)) ?? null);
      throw errorFromFaults([...faults, ...(more?.extras.faults ?? [])], more?.extras);
    }
    const handle = handlers[operation.id] as (request: unknown) => AnyReply | Promise<AnyReply>;
    const whole = async (): Promise<AnyReply> => {
      requireClient(call);
      return handle(request);
    };
    const reply = operation.turn === 'whole' ? lanes.work(turnOf(call), whole) : handle(request);
    return toAnswer(reply instanceof Promise ? await reply : reply);
  };
}

/**
 * Checks the key's rights to the operation before the request is read or validated.
 *
 * @throws AppError for a missing or ended key, an inactive partner, a foreign address or a scope
 *   that the key lacks.
 */
export function authorize({ scope }: Pick<Operation, 'scope'>, { caller, authFailure }: Call): void {
  if (scope === 'public') return;
  if (!caller) throw authFailure ?? missingKey();
  if (caller.partner.status !== 'active') throw partnerInactive();
  if (!caller.addressAllowed) {
    throw new AppError('address_not_allowed', 'this API key may not be used from your address');
  }
  const accepted = [scope].flat();
  if (!accepted.some((one) => caller.scopes.includes(one))) {
    throw new AppError('insufficient_scope', `this API key lacks the scope ${accepted.join(' or ')}`);
  }
}

/**
 * Returns the request and the faults that the contract finds in it. Unknown query members are
 * ignored. A list in the query is split into its items. A number in the query is validated as a
 * double and handed on as its text. Text that is no JSON number (`0x10`, ` 1`, `Infinity`) stays
 * text, so that the schema refuses it.
 */
function checked(
  operation: Operation,
  path: Readonly<Record<string, string>>,
  call: Call,
): { request: unknown; faults: readonly FieldFault[] } {
  const texts: Record<string, unknown> = {};
  const query: Record<string, unknown> = {};
  if (operation.query.length > 0) {
    const sent = parseQuery(call.queryText);
    for (const { name, isNumber, isList } of operation.query) {
      const value = isList ? listOf(sent[name]) : sent[name];
      if (value === undefined) continue;
      texts[name] = value;
      query[name] = isNumber && typeof value === 'string' && isDecimal(value) ? JSON.parse(value) : value;
    }
  }
  const body = operation.takesBody ? parseBody(call.rawBody) : undefined;
  if (call.wantsTextAmounts) readTextAmounts(body, operation.bodyAmounts);
  const shape = { path, query, header: call.req.headers };
  const faults = operation.faults(body === undefined ? shape : { ...shape, requestBody: body });
  if (faults.length > 0) {
    // A malformed order id gets the same answer as an unknown order, so that the answer reveals
    // nothing.
    if (faults.some(({ instancePath }) => instancePath.startsWith('/path'))) {
      throw 'order_id' in path ? orderNotFound() : 'endpoint_id' in path ? endpointNotFound() : notFound();
    }
  }
  return { request: { path, query: texts, body, call }, faults: faultsOf(faults, operation.bodyMembers) };
}

/** The items of a query member that is a list: separated by commas, repeated, or both. */
function listOf(sent: string | string[] | undefined): string[] | undefined {
  return sent === undefined ? undefined : [sent].flat().flatMap((part) => part.split(','));
}

/**
 * A client that gave up may send its request again, and the first one would hold that one up.
 *
 * @throws AppError invalid_request, which no one reads, when the client went away.
 */
function requireClient({ res }: Call): void {
  if (res.destroyed) throw new AppError('invalid_request', 'the client went away before the turn of its request');
}

function notFound(): AppError {
  return new AppError('not_found', 'there is nothing at this path');
}

/** The common shape of all replies. The compiler has checked each reply by its own type. */
type AnyReply = { status: number; headers?: Record<string, string> } & (
  | { body?: string | Buffer }
  | { image: Buffer }
  | { stream: () => Promise<void> }
);

function toAnswer(reply: AnyReply): Answer {
  const { status, headers = {} } = reply;
  if ('image' in reply) return { status, headers, type: 'image/svg+xml; charset=utf-8', body: reply.image };
  if ('stream' in reply) {
    // nginx would keep events until its buffer is full.
    const unbuffered = { ...headers, 'X-Accel-Buffering': 'no' };
    return { status, headers: unbuffered, type: 'text/event-stream', stream: reply.stream };
  }
  return reply.body === undefined ? { status, headers } : { status, headers, type: jsonType, body: reply.body };
}
