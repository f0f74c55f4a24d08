import { parse as parseQuery } from 'node:querystring';
import type { Document } from 'openapi-backend';
import { AppError, errorFromFaults, type FieldFault, isShapeFault } from '../errors.ts';
import { parseDecimal } from '../money.ts';
import { orderNotFound, partnerInactive } from '../orders/order-service.ts';
import type { KeyScope } from '../partners/key-scope.ts';
import { type Answer, jsonType } from './answer.ts';
import { missingKey, verifySignature } from './authenticate.ts';
import { parseBody, readBody } from './body.ts';
import type { Call } from './call.ts';
import type { Body, OperationId, Path, Query, Reply } from './contract.ts';
import { type Operation, Operations } from './operations.ts';
import { faultsOf } from './validation-faults.ts';

/** A request that has passed the contract. */
export interface ApiRequest<Id extends OperationId> {
  readonly path: Path<Id>;
  readonly query: Query<Id>;
  readonly body: Body<Id>;
  readonly call: Call;
}

export type Handler<Id extends OperationId> = (request: ApiRequest<Id>) => Promise<Reply<Id>> | Reply<Id>;

/** One handler for each operation of the contract; the compiler lists the ones that are missing. */
export type Handlers = { readonly [Id in OperationId]: Handler<Id> };

/**
 * What an operation itself would refuse in a request whose values the contract refuses, so that all is told at once.
 * Null when it finds nothing wrong. Such a request never reaches the operation's handler.
 */
export type Refusal<Id extends OperationId> = (request: ApiRequest<Id>) => Promise<AppError | null>;

export type Refusals = { readonly [Id in OperationId]?: Refusal<Id> };

/** The scope that an operation with a key needs. */
const operationScopes: { readonly [Id in OperationId]?: KeyScope } = {
  createOrder: 'orders:create',
  getOrder: 'orders:read',
};

/**
 * Routes, secures and validates requests by the contract, then calls the operation's handler. Nothing reaches a
 * handler that the contract does not allow: each way to fail has its own answer, and a missing handler fails the start.
 */
export async function createApi(
  document: Document,
  handlers: Handlers,
  refusals: Refusals = {},
): Promise<(call: Call) => Promise<Answer>> {
  const operations = await Operations.compile(document);
  for (const id of operations.ids()) {
    if (!Object.hasOwn(handlers, id)) throw new Error(`the contract's operation ${id} has no handler`);
  }
  return async (call) => {
    const target = operations.find(call.method, call.path);
    if (!target) throw notFound();
    if ('allow' in target) {
      const detail = `${call.method} is not supported here; use ${target.allow.join(' or ')}`;
      throw new AppError('method_not_allowed', detail, { allow: target.allow });
    }
    const { operation, params } = target;
    call.route = operation.route;
    authorize(operation, call);
    if (operation.takesBody) call.rawBody = await readBody(call);
    if (operation.needsKey) verifySignature(call);
    const { request, faults } = checked(operation, params, call);
    if (faults.length > 0) {
      const refusal = refusals[operation.id] as ((request: unknown) => Promise<AppError | null>) | undefined;
      // Values can be judged further only where their types are right.
      const more = faults.some(isShapeFault) ? null : ((await refusal?.(request)) ?? null);
      throw errorFromFaults([...faults, ...(more?.extras.faults ?? [])], more?.extras);
    }
    const reply = (handlers[operation.id] as (request: unknown) => AnyReply | Promise<AnyReply>)(request);
    return toAnswer(reply instanceof Promise ? await reply : reply);
  };
}

/** What a proven key may do here, before anything of the request is read or validated. */
function authorize({ id, needsKey }: Operation, { caller, authFailure }: Call): void {
  if (!needsKey) return;
  if (!caller) throw authFailure ?? missingKey();
  if (caller.partner.status !== 'active') throw partnerInactive();
  if (!caller.addressAllowed) {
    throw new AppError('address_not_allowed', 'this API key may not be used from your address');
  }
  const scope = operationScopes[id];
  if (scope && !caller.scopes.includes(scope)) {
    throw new AppError('insufficient_scope', `this API key lacks the scope ${scope}`);
  }
}

/**
 * The request, and what the contract refuses in it. Unknown query members are ignored. A number of the query is validated
 * as a double but handed on as its text. Text that is no JSON number stays text, so that the schema refuses it (`0x10`,
 * ` 1`, `Infinity`).
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
    for (const { name, isNumber } of operation.query) {
      const value = sent[name];
      if (value === undefined) continue;
      texts[name] = value;
      query[name] = isNumber && typeof value === 'string' && parseDecimal(value) ? JSON.parse(value) : value;
    }
  }
  const body = operation.takesBody ? parseBody(call.rawBody) : undefined;
  const shape = { path, query, header: call.req.headers };
  const faults = operation.faults(body === undefined ? shape : { ...shape, requestBody: body });
  if (faults.length > 0) {
    // An id of neither form is answered like an unknown order, so that it tells nothing.
    if (faults.some(({ instancePath }) => instancePath.startsWith('/path'))) {
      throw operation.id === 'getOrder' ? orderNotFound() : notFound();
    }
  }
  return { request: { path, query: texts, body, call }, faults: faultsOf(faults, operation.bodyMembers) };
}

function notFound(): AppError {
  return new AppError('not_found', 'there is nothing at this path');
}

/** What the replies of all operations have in common, once the compiler has checked each by itself. */
type AnyReply = { status: number; headers?: Record<string, string> } & ({ body?: string | Buffer } | { image: string });

function toAnswer(reply: AnyReply): Answer {
  const { status, headers = {} } = reply;
  if ('image' in reply) return { status, headers, type: 'image/svg+xml; charset=utf-8', body: reply.image };
  return reply.body === undefined ? { status, headers } : { status, headers, type: jsonType, body: reply.body };
}
