import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { readContract } from '../../../src/surfaces/rest/partner/contract.ts';

export interface CallOptions {
  /** Sent as `Authorization: Bearer`. */
  readonly key?: string;
  readonly headers?: Record<string, string>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as it is, with `Content-Type: application/json` unless the headers say otherwise. */
  readonly raw?: string | Uint8Array;
  /** Rejects when there is no whole answer by then. */
  readonly timeoutMs?: number;
}

// biome-ignore lint/suspicious/noExplicitAny: the contract has already checked the reply
type Json = any;

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly json: Json;
}

export type Call = (method: string, path: string, options?: CallOptions) => Promise<Reply>;

interface ResponseObject {
  headers?: Record<string, { schema: object; $ref?: string }>;
  content?: Record<string, { schema: object }>;
}

const document = readContract() as unknown as Json;

/** Every object closed, so that a member which the contract does not name is noticed. */
function closed(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const parts: Json[] = (Array.isArray(schema.allOf) ? schema.allOf : []).map(resolve);
  // An object that extends another one is closed as a whole.
  if (parts.length > 1 && parts.every(({ type }) => type === 'object')) {
    const properties = Object.assign({}, ...parts.map((part) => part.properties));
    return closed({ type: 'object', properties, required: parts.flatMap(({ required = [] }) => required) });
  }
  const copy = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, closed(value)]));
  if (copy.type === 'object' && copy.properties && !('openapi' in (copy.properties as object)))
    copy.additionalProperties = false;
  return copy;
}

const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: true, strictNumbers: true });
addFormats.default(ajv);
const contract = { components: closed(document.components), paths: closed(document.paths) };
/** The contract with one form of amounts only: that of the answers to a request. */
const withAmounts = (type: 'number' | 'string') => {
  const { schemas, ...others } = contract.components;
  const Amount = { ...schemas.Amount, type };
  return { paths: contract.paths, components: { ...others, schemas: { ...schemas, Amount } } };
};
ajv.addSchema({ $id: 'contract', ...withAmounts('number') });
ajv.addSchema({ $id: 'contract-text', ...withAmounts('string') });
const validators = new Map<string, ValidateFunction>();

function resolve<T>(node: T & { $ref?: string }): T {
  if (!node?.$ref) return node;
  const path = node.$ref.slice(2).split('/');
  return path.reduce((at: Json, part) => at[part], document);
}

function pointer(...parts: string[]): string {
  return parts
    .map((part) => part.replaceAll('~', '~0').replaceAll('/', '~1'))
    .map(encodeURIComponent)
    .join('/');
}

/** The path template of the contract that an address belongs to. */
function templateOf(path: string): string | null {
  const parts =
    path
      .split('?')[0]
      ?.split('/')
      .filter((part) => part !== '') ?? [];
  for (const template of Object.keys(document.paths)) {
    const names = template.split('/').filter((part) => part !== '');
    if (names.length === parts.length && names.every((name, i) => name.startsWith('{') || name === parts[i]))
      return template;
  }
  return null;
}

/** Statuses that may be answered before a request is counted. */
const uncounted = new Set([403, 408, 417, 431]);

/** Throws when a reply, exactly as it was sent, is not what the contract documents. */
function checkReply(
  method: string,
  path: string,
  reply: { status: number; headers: Headers; text: string },
  hasTextAmounts: boolean,
): void {
  const template = templateOf(path);
  const operation = template === null ? null : document.paths[template][method.toLowerCase()];
  const fail = (why: string): never => {
    throw new Error(`${method} ${path} -> ${reply.status}: ${why}\n${reply.text.slice(0, 500)}`);
  };
  if (!reply.headers.get('x-request-id')) fail('X-Request-Id is missing');
  // Unknown paths and methods have no operation; their bodies are still errors of the contract.
  const form = hasTextAmounts ? 'contract-text' : 'contract';
  const schemaRef = operation ? null : `${form}#/components/schemas/Error`;
  let response: ResponseObject | null = null;
  if (operation) {
    const documented = operation.responses[String(reply.status)];
    if (!documented) fail('this status is not documented');
    response = resolve<ResponseObject>(documented);
  }
  const type = (reply.headers.get('content-type') ?? '').split(';')[0] ?? '';
  const documentedTypes = Object.keys(response?.content ?? (schemaRef ? { 'application/json': {} } : {}));
  if (documentedTypes.length === 0) {
    if (reply.text !== '') fail('a body was sent where none is documented');
  } else if (!documentedTypes.includes(type)) {
    fail(`content type '${type}' is not documented`);
  }
  if (type === 'application/json' && documentedTypes.includes(type)) {
    const ref =
      schemaRef ??
      `${form}#/${pointer(...responsePath(template ?? '', method.toLowerCase(), reply.status), 'content', type, 'schema')}`;
    let validate = validators.get(ref);
    if (!validate) {
      validate = ajv.compile({ $ref: ref });
      validators.set(ref, validate);
    }
    if (!validate(JSON.parse(reply.text))) fail(ajv.errorsText(validate.errors));
  }
  for (const name of [
    'ratelimit-policy',
    'ratelimit',
    'x-ratelimit-limit',
    'x-ratelimit-remaining',
    'x-ratelimit-reset',
  ]) {
    if (reply.status < 500 && !uncounted.has(reply.status) && reply.headers.get(name) === null)
      fail(`the header ${name} is missing`);
  }
  for (const [name, header] of Object.entries(response?.headers ?? {})) {
    const value = reply.headers.get(name);
    const { schema } = resolve<{ schema: object }>(header);
    if (value !== null && !ajv.validate(schema, value)) fail(`the header ${name} is '${value}'`);
    if (value === null && needed(name, reply)) fail(`the header ${name} is missing`);
  }
}

/** Whether an answer must have a documented header. Waiting ends no other conflict. */
function needed(name: string, { status, text }: { status: number; text: string }): boolean {
  if (name === 'Retry-After' && status === 409) return text.includes('"code":"idempotency_in_flight"');
  return ['Retry-After', 'Allow', 'ETag'].includes(name);
}

function responsePath(template: string, method: string, status: number): string[] {
  const documented = document.paths[template][method].responses[String(status)];
  if (documented.$ref) return documented.$ref.slice(2).split('/');
  return ['paths', template, method, 'responses', String(status)];
}

/** A `fetch` for programs under test; every reply must be what the contract documents. */
export function checkedFetch(restUrl: string): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    const path = String(input).slice(`${restUrl}/api/v1`.length);
    const hasTextAmounts = new Headers(init?.headers).get('amounts') === 'string';
    const reply = { status: response.status, headers: response.headers, text: await response.clone().text() };
    checkReply(init?.method ?? 'GET', path, reply, hasTextAmounts);
    return response;
  };
}

/** Calls a gateway's REST interface; every reply must be what the contract documents. */
export function contractClient(restUrl: string): Call {
  return async (method, path, options = {}) => {
    const headers: Record<string, string> = {
      ...(options.key === undefined ? {} : { Authorization: `Bearer ${options.key}` }),
      ...(options.body === undefined && options.raw === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...options.headers,
    };
    const body = options.raw ?? (options.body === undefined ? undefined : JSON.stringify(options.body));
    const response = await fetch(`${restUrl}/api/v1${path}`, {
      method,
      headers,
      redirect: 'manual',
      ...(options.timeoutMs === undefined ? {} : { signal: AbortSignal.timeout(options.timeoutMs) }),
      ...(body === undefined ? {} : { body: body as string }),
    });
    // A stream does not end by itself: only its head is looked at.
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
    if (isStream) await response.body?.cancel();
    const text = isStream ? '' : await response.text();
    const hasTextAmounts = new Headers(headers).get('amounts') === 'string';
    checkReply(method, path, { status: response.status, headers: response.headers, text }, hasTextAmounts);
    const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
    return { status: response.status, headers: response.headers, text, json: isJson ? JSON.parse(text) : undefined };
  };
}
