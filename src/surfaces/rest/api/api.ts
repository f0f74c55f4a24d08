import type { ErrorObject } from 'ajv';
import type { Context, Document } from 'openapi-backend';
import { AppError, errorFromFaults, type FieldFault, isShapeFault } from '../../../base/errors.ts';
import { amountsAsText } from './amounts.ts';
import { type Answer, jsonType } from './answer.ts';
import { ContractBackend, ContractRequest, type OperationShape } from './backend.ts';
import { parseBody, readBody, readTextAmounts } from './body.ts';
import type { Call } from './call.ts';
import { faultsOf } from './validation-faults.ts';

/** A request that the contract allows, of any operation. */
export interface AnyRequest {
  readonly path: Readonly<Record<string, string>>;
  /** Numbers are the texts that were sent. */
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: unknown;
  readonly call: Call;
}

/** Who may come in, and in which order. Each API has one, and its steps run in this order. */
export interface Door<Id extends string> {
  /**
   * Proves who calls, and counts the request. Nothing costly comes before it.
   *
   * @param id null for a request without an operation.
   * @throws AppError rate_limited
   */
  admit(call: Call, id: Id | null): Promise<void>;
  /** Whether the caller may use an operation that needs one. @throws AppError when not. */
  authorize(call: Call, id: Id): void;
  /** Judges the bytes of the body, before they are parsed. */
  verify?(call: Call, id: Id): void;
  /** Runs the handler when its turn comes. */
  work<Result>(request: AnyRequest, id: Id, handle: () => Promise<Result> | Result): Promise<Result> | Result;
  /** The refusal of a path whose values no operation can have. Without it, the faults are named. */
  readonly badPath?: ((path: Readonly<Record<string, string>>) => AppError) | undefined;
  /** Answers a path that the contract does not have, once it is counted. */
  elsewhere?(call: Call): Promise<Answer | null>;
}

interface ApiOptions<Id extends string> {
  readonly document: Document;
  /** The prefix of all paths. */
  readonly root: string;
  /** Beginnings of paths that this gateway does not have. */
  readonly absent?: readonly string[];
  readonly ignoreTrailingSlashes: boolean;
  /** @param shapes the operations that this gateway has. */
  readonly door: (shapes: readonly OperationShape[]) => Door<Id>;
  readonly handlers: { readonly [Each in Id]: (request: never) => unknown };
  /**
   * Finds what an operation itself would refuse in a request that the contract refuses. The caller
   * then gets all faults at once. Null without a fault.
   */
  readonly refusals?: { readonly [Each in Id]?: (request: never) => Promise<AppError | null> };
  /** Makes the answer of what a handler returned. */
  readonly toAnswer: (reply: never, call: Call) => Answer;
  /** Whether each answer is checked by the contract. */
  readonly checksAnswers: boolean;
}

/**
 * Opens an API on openapi-backend, which finds the operation of a request, checks its security,
 * validates it, and hands it to the registered handler. A request that the contract refuses never
 * reaches a handler.
 */
export async function openApi<Id extends string>(options: ApiOptions<Id>): Promise<(call: Call) => Promise<Answer>> {
  const { document, root, absent = [], ignoreTrailingSlashes } = options;
  const backend = new ContractBackend(document, { root, absent, ignoreTrailingSlashes });
  await backend.init();
  const { shapes } = backend.index;
  const door = options.door(shapes);
  for (const { id } of shapes) backend.register(id, handlerOf(options, door, id as Id));
  backend.register({
    notFound: async (_context: Context, call: Call) => {
      await door.admit(call, null);
      const other = await door.elsewhere?.(call);
      if (other) return other;
      throw notFound();
    },
    methodNotAllowed: async (_context: Context, call: Call) => {
      await door.admit(call, null);
      const allow = backend.index.methodsAt(call.path);
      throw new AppError('method_not_allowed', `${call.method} is not supported here; use ${allow.join(' or ')}`, {
        allow,
      });
    },
    postRoutingHandler: async ({ operation }: Context, call: Call) => {
      if (!operation) return;
      call.route = `${root}${operation.path}`;
      await door.admit(call, operation.operationId as Id);
    },
    postSecurityHandler: async ({ operation, security }: Context, call: Call, request: ContractRequest) => {
      const needsCaller = (operation?.security ?? []).length > 0;
      if (operation && (security?.authorized || !needsCaller)) {
        await readWhole(call, request, backend.index.shapeOf(operation.operationId ?? ''), door);
      }
    },
    unauthorizedHandler: ({ security }: Context) => {
      throw refusalOf(security);
    },
    validationFail: (context: Context, call: Call, request: ContractRequest) =>
      refuse(options.refusals, door, context, call, request),
    ...(options.checksAnswers ? { postResponseHandler: checkAnswer } : {}),
  });
  for (const scheme of Object.keys(document.components?.securitySchemes ?? {})) {
    backend.registerSecurityHandler(scheme, ({ operation }: Context, call: Call) => {
      door.authorize(call, operation?.operationId as Id);
      return true;
    });
  }
  return (call) => {
    const request = new ContractRequest(call);
    return backend.handleRequest(request, call, request);
  };
}

/** Reads the body, and what else a request needs before the contract judges it. */
async function readWhole<Id extends string>(
  call: Call,
  request: ContractRequest,
  shape: OperationShape,
  door: Door<Id>,
): Promise<void> {
  if (shape.takesBody) call.rawBody = await readBody(call);
  door.verify?.(call, shape.id as Id);
  request.readQuery(shape);
  if (!shape.takesBody) return;
  request.json = parseBody(call.rawBody);
  if (call.wantsTextAmounts) readTextAmounts(request.json, shape.bodyAmounts);
}

/** What openapi-backend calls once a request is right: the handler, in its turn. */
function handlerOf<Id extends string>({ handlers, toAnswer }: ApiOptions<Id>, door: Door<Id>, id: Id) {
  const handle = handlers[id] as (request: AnyRequest) => unknown;
  return async (_context: Context, call: Call, { params, texts, json }: ContractRequest): Promise<Answer> => {
    const request: AnyRequest = { path: params, query: texts, body: json, call };
    return toAnswer((await door.work(request, id, () => handle(request))) as never, call);
  };
}

/** @throws AppError with every fault that the contract, and then the operation, finds. */
async function refuse<Id extends string>(
  refusals: ApiOptions<Id>['refusals'],
  door: Door<Id>,
  { operation, validation, api }: Context,
  call: Call,
  { params, texts, json }: ContractRequest,
): Promise<never> {
  const id = operation.operationId as Id;
  const errors = (validation.errors ?? []) as ErrorObject[];
  if (door.badPath && errors.some(({ instancePath }) => instancePath.startsWith('/path'))) throw door.badPath(params);
  const { bodyMembers } = (api as ContractBackend).index.shapeOf(id);
  const faults: readonly FieldFault[] = faultsOf(errors, bodyMembers);
  const refusal = refusals?.[id] as ((request: AnyRequest) => Promise<AppError | null>) | undefined;
  // An operation can judge values only when all their types are right.
  const isJudged = refusal && !faults.some(isShapeFault);
  const more = isJudged ? await refusal({ path: params, query: texts, body: json, call }) : null;
  throw errorFromFaults([...faults, ...(more?.extras.faults ?? [])], more?.extras);
}

/** The refusal that a security handler threw. */
function refusalOf(security: Context['security']): unknown {
  const results: readonly unknown[] = Object.values(security);
  const refused = results.find((result) => typeof result === 'object' && result !== null && 'error' in result);
  return (
    (refused as { error: unknown } | undefined)?.error ??
    new Error('an operation has a security scheme without handler')
  );
}

/** @throws Error when the contract does not allow an answer. */
function checkAnswer({ api, operation, response }: Context, call: Call): Answer {
  const { status, type, body, headers } = response as Answer;
  const isPlainJson = type === jsonType && headers?.['Content-Encoding'] === undefined;
  if (!operation || !isPlainJson || body === undefined) return response;
  const sent = call.wantsTextAmounts ? amountsAsText(body.toString()) : body.toString();
  const { errors } = api.validateResponse(JSON.parse(sent), operation, status);
  if (errors) {
    const [{ instancePath, message } = { instancePath: '', message: '' }] = errors as ErrorObject[];
    throw new Error(`the answer of ${operation.operationId} is none of the contract: ${instancePath} ${message}`);
  }
  return response;
}

export function notFound(): AppError {
  return new AppError('not_found', 'there is nothing at this path');
}
