import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { NextFunction, Request, Response } from 'express';
import { type Context, type Document, OpenAPIBackend } from 'openapi-backend';
import { AppError } from '../errors.ts';
import { parseDecimal } from '../money.ts';
import { orderNotFound, partnerInactive } from '../orders/order-service.ts';
import { missingKey, verifySignature } from './authenticate.ts';
import type { Body, OperationId, Path, Query, Reply } from './contract.ts';
import type { RequestState } from './request-state.ts';
import { validationError } from './validation-faults.ts';

/** A request that has passed the contract. */
export interface ApiRequest<Id extends OperationId> {
  readonly path: Path<Id>;
  readonly query: Query<Id>;
  readonly body: Body<Id>;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly state: RequestState;
}

export type Handler<Id extends OperationId> = (request: ApiRequest<Id>) => Promise<Reply<Id>> | Reply<Id>;

/** One handler for each operation of the contract; the compiler lists the ones that are missing. */
export type Handlers = { readonly [Id in OperationId]: Handler<Id> };

export const apiRoot = '/api/v1';

/**
 * openapi-backend checks documents with the schema of OpenAPI 3.0 only, which refuses valid 3.1 documents
 * (openapistack/openapi-backend#532). Ours is checked by linters in CI instead.
 */
class Contract31Backend extends OpenAPIBackend {
  override validateDefinition(): Document {
    return this.document;
  }
}

interface Exchange {
  readonly req: Request;
  readonly res: Response;
  /** What openapi-backend validates. */
  readonly checked: { query: Record<string, unknown> };
}

/**
 * Routes, secures and validates requests by the contract, then calls the operation's handler. Nothing reaches a
 * handler that the contract does not allow: each way to fail has its own answer, and a missing one fails the start.
 */
export async function createApi(
  document: Document,
  handlers: Handlers,
): Promise<(req: Request, res: Response, next: NextFunction) => Promise<void>> {
  const api = new Contract31Backend({
    definition: document,
    apiRoot,
    strict: true,
    validate: true,
    coerceTypes: false,
    ajvOpts: { strictNumbers: true, allErrors: true, validateSchema: false, strict: false },
    customizeAjv: (_ajv, options) => {
      const ajv = new Ajv2020({ ...(options as object), coerceTypes: false });
      addFormats.default(ajv);
      ajv.addFormat('int32', true);
      return ajv as never;
    },
  });

  for (const id of Object.keys(handlers) as OperationId[]) {
    api.register(id, async (context: Context, { res }: Exchange) => {
      const { state } = res.locals;
      const reply = await (handlers[id] as (request: never) => unknown)({
        path: context.request.params,
        query: res.locals.query,
        body: context.request.body,
        headers: context.request.headers,
        state,
      } as never);
      send(res, reply as AnyReply);
    });
  }
  api.register({
    postRoutingHandler: (context: Context, { res, checked }: Exchange) => {
      res.locals.state.route = context.operation ? `${apiRoot}${context.operation.path}` : 'unmatched';
      if (context.operation) prepareQuery(context, res, checked);
    },
    unauthorizedHandler: (_context: Context, { res }: Exchange) => {
      throw res.locals.state.authFailure ?? missingKey();
    },
    postSecurityHandler: (context: Context, { req, res }: Exchange) => authorize(context, req, res.locals.state),
    validationFail: (context: Context) => {
      const errors = context.validation.errors ?? [];
      // An id of neither form is answered like an unknown order, so that it tells nothing.
      if (errors.some((error) => error.instancePath.startsWith('/path'))) {
        throw context.operation.operationId === 'getOrder' ? orderNotFound() : notFound();
      }
      throw validationError(errors, bodyMembers(context));
    },
    notFound: () => {
      throw notFound();
    },
    methodNotAllowed: (context: Context) => {
      const allow = allowedMethods(api, context.request.path);
      const detail = `${context.request.method.toUpperCase()} is not supported here; use ${allow.join(' or ')}`;
      throw new AppError('method_not_allowed', detail, { allow });
    },
    notImplemented: (context: Context) => {
      throw new Error(`operation ${context.operation.operationId} has no handler`);
    },
  });
  const hasCaller = (_context: Context, { res }: Exchange): boolean => res.locals.state.caller !== null;
  api.registerSecurityHandler('bearerKey', hasCaller);
  api.registerSecurityHandler('headerKey', hasCaller);
  await api.init();
  for (const { operationId } of api.getOperations()) {
    if (!operationId || !(operationId in handlers))
      throw new Error(`the contract's operation ${operationId} has no handler`);
  }

  return async (req, res, next) => {
    try {
      const { method, path } = req;
      const checked = {
        method,
        path,
        query: { ...req.query } as Record<string, string | string[]>,
        headers: req.headers as Record<string, string>,
        body: req.body,
      };
      await api.handleRequest(checked, { req, res, checked } satisfies Exchange);
    } catch (error) {
      next(error);
    }
  };
}

/** What a proven key may do here; runs after the key is known and before anything is validated. */
function authorize(context: Context, req: Request, state: RequestState): void {
  const scope = operationScopes[context.operation.operationId as OperationId];
  if (!scope || !state.caller) return;
  const { caller } = state;
  if (caller.partner.status !== 'active') {
    throw partnerInactive();
  }
  if (!caller.addressAllowed) {
    throw new AppError('address_not_allowed', 'this API key may not be used from your address');
  }
  if (!caller.scopes.includes(scope)) {
    throw new AppError('insufficient_scope', `this API key lacks the scope ${scope}`);
  }
  verifySignature(req, state);
}

/** The scope that an operation with a key needs. */
const operationScopes: { readonly [Id in OperationId]?: 'orders:create' | 'orders:read' } = {
  createOrder: 'orders:create',
  getOrder: 'orders:read',
};

/**
 * Unknown query members are ignored. A number is validated as a double but handed on as its text; text that is not a
 * plain JSON number stays text, so that the schema refuses it (`0x10`, ` 1`, `Infinity`).
 */
function prepareQuery(context: Context, res: Response, request: Exchange['checked']): void {
  const known = (context.operation.parameters ?? []) as { name: string; in: string; schema?: { type?: string } }[];
  const sent = context.request.query as Record<string, unknown>;
  const texts: Record<string, unknown> = {};
  const checked: Record<string, unknown> = {};
  for (const { name, in: place, schema } of known) {
    const value = place === 'query' ? sent[name] : undefined;
    if (value === undefined) continue;
    texts[name] = value;
    const isNumber = schema?.type === 'number' && typeof value === 'string' && parseDecimal(value) !== null;
    checked[name] = isNumber ? JSON.parse(value) : value;
  }
  res.locals.query = texts;
  request.query = checked;
}

function bodyMembers(context: Context): string[] {
  const body = context.operation.requestBody as
    | { content?: Record<string, { schema?: { properties?: object } }> }
    | undefined;
  return Object.keys(body?.content?.['application/json']?.schema?.properties ?? {});
}

function allowedMethods(api: OpenAPIBackend, path: string): string[] {
  const parts = path
    .slice(apiRoot.length)
    .split('/')
    .filter((part) => part !== '');
  const matches = (template: string): boolean => {
    const names = template.split('/').filter((part) => part !== '');
    return names.length === parts.length && names.every((name, i) => name.startsWith('{') || name === parts[i]);
  };
  return api
    .getOperations()
    .filter((operation) => matches(operation.path))
    .map((operation) => operation.method.toUpperCase());
}

function notFound(): AppError {
  return new AppError('not_found', 'there is nothing at this path');
}

/** What the replies of all operations have in common, once the compiler has checked each by itself. */
type AnyReply = { status: number; headers?: Record<string, string> } & ({ body?: string } | { image: string });

function send(res: Response, reply: AnyReply): void {
  res.status(reply.status);
  if (reply.headers) res.set(reply.headers);
  if ('image' in reply) res.type('image/svg+xml').send(reply.image);
  else if (reply.body !== undefined) res.type('application/json').send(reply.body);
  else res.end();
}

declare global {
  namespace Express {
    interface Locals {
      /** The query's known members as they were sent. */
      query: Record<string, unknown>;
    }
  }
}
