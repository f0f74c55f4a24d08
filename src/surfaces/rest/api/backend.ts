import { parse as parseQuery } from 'node:querystring';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import {
  type Operation as ContractOperation,
  type Document,
  OpenAPIBackend,
  OpenAPIRouter,
  OpenAPIValidator,
  type ParsedRequest,
  type Request,
} from 'openapi-backend';
import { isDecimal } from '../../../base/money.ts';
import type { Call } from './call.ts';

/** What the machine needs to know of an operation before it reads a request. */
export interface OperationShape {
  readonly id: string;
  /** HTTP method in upper case. */
  readonly method: string;
  readonly path: string;
  readonly takesBody: boolean;
  readonly query: readonly { readonly name: string; readonly isNumber: boolean; readonly isList: boolean }[];
  /** Names of the body's members, for the hints in errors. */
  readonly bodyMembers: readonly string[];
  /** Names of the body's members that are amounts. */
  readonly bodyAmounts: readonly string[];
}

/** A request as openapi-backend gets it. The steps before a handler fill it in. */
export class ContractRequest implements Request {
  readonly method: string;
  readonly path: string;
  readonly headers: Request['headers'];
  readonly #queryText: string;
  /** The values of the path, decoded. */
  params: Record<string, string> = {};
  /** The parsed body. openapi-backend would parse the text of a `body` again. */
  json: unknown;
  /** Members of the query as they were sent. Numbers are text, so that no digit is lost. */
  texts: Readonly<Record<string, unknown>> = {};
  /** The same with numbers as numbers, for the validators. */
  values: Record<string, unknown> = {};

  constructor({ req, method, path, queryText }: Call) {
    this.method = method;
    this.path = path;
    this.headers = req.headers as Request['headers'];
    this.#queryText = queryText;
  }

  /**
   * Reads the members of the query that the operation has, and ignores others. A list is split into
   * its items. Text that is no JSON number (`0x10`, ` 1`, `Infinity`) stays text, so that the
   * schema refuses it.
   */
  readQuery({ query }: OperationShape): void {
    if (query.length === 0) return;
    const sent = parseQuery(this.#queryText);
    const texts: Record<string, unknown> = {};
    for (const { name, isNumber, isList } of query) {
      const value = isList ? listOf(sent[name]) : sent[name];
      if (value === undefined) continue;
      texts[name] = value;
      this.values[name] = isNumber && typeof value === 'string' && isDecimal(value) ? JSON.parse(value) : value;
    }
    this.texts = texts;
  }
}

/** The items of a query member that is a list: separated by commas, repeated, or both. */
function listOf(sent: string | string[] | undefined): string[] | undefined {
  return sent === undefined ? undefined : [sent].flat().flatMap((part) => part.split(','));
}

interface BackendOptions {
  /** The prefix of all paths. */
  readonly root: string;
  /** Beginnings of paths that this gateway does not have. */
  readonly absent: readonly string[];
  readonly ignoreTrailingSlashes: boolean;
}

/** A path of the contract and its operations by method. */
interface Place {
  readonly pattern: RegExp;
  readonly names: readonly string[];
  readonly operations: Map<string, ContractOperation>;
}

/**
 * The router of openapi-backend, with an index. Its own reads the whole contract for each request,
 * and compiles the pattern of each path: half a millisecond, more than most answers take.
 */
class IndexedRouter extends OpenAPIRouter {
  readonly #operations: readonly ContractOperation[];
  readonly #shapes = new Map<string, OperationShape>();
  /** Paths without parameters. */
  readonly #fixed = new Map<string, Place>();
  /** Paths with parameters, in the contract's order. */
  readonly #templates: Place[] = [];

  readonly #ignoresSlashes: boolean;

  constructor(definition: Document, { root, absent, ignoreTrailingSlashes }: BackendOptions) {
    super({ definition, apiRoot: root, ignoreTrailingSlashes });
    this.#ignoresSlashes = ignoreTrailingSlashes;
    this.#operations = super.getOperations().filter(({ path }) => !absent.some((start) => path.startsWith(start)));
    for (const operation of this.#operations) {
      const shape = shapeOf(operation);
      this.#shapes.set(shape.id, shape);
      this.#placeOf(operation.path).operations.set(shape.method, operation);
    }
  }

  get shapes(): readonly OperationShape[] {
    return [...this.#shapes.values()];
  }

  shapeOf(id: string): OperationShape {
    const shape = this.#shapes.get(id);
    if (!shape) throw new Error(`the contract has no operation ${id}`);
    return shape;
  }

  override getOperations(): ContractOperation[] {
    return this.#operations as ContractOperation[];
  }

  override getOperation(id: string): ContractOperation | undefined {
    return this.#operations.find(({ operationId }) => operationId === id);
  }

  override matchOperation(req: Request, strict: true): ContractOperation;
  override matchOperation(req: Request, strict?: boolean): ContractOperation | undefined;
  override matchOperation(req: Request): ContractOperation {
    const found = this.#find(req.path);
    if (!found) throw new Error('404-notFound: the contract has no such path');
    const operation = found.place.operations.get(req.method);
    if (!operation) throw new Error('405-methodNotAllowed: the contract has no such method at this path');
    if (found.values) req.params = paramsOf(found.place, found.values);
    return operation;
  }

  /** The methods that a path allows. */
  methodsAt(path: string): string[] {
    return [...(this.#find(path)?.place.operations.keys() ?? [])];
  }

  override parseRequest(req: Request, operation?: ContractOperation): ParsedRequest {
    const { method, path, headers, params, values, json } = req as ContractRequest;
    const query = operation ? values : {};
    return { method, path, headers, params, query, cookies: none, requestBody: json };
  }

  #find(path: string): { place: Place; values: RegExpExecArray | null } | null {
    if (!path.startsWith(`${this.apiRoot}/`)) return null;
    let end = path.length;
    while (this.#ignoresSlashes && path[end - 1] === '/') end--;
    const below = path.slice(this.apiRoot.length, end);
    const place = this.#fixed.get(below);
    if (place) return { place, values: null };
    for (const template of this.#templates) {
      const values = template.pattern.exec(below);
      if (values) return { place: template, values };
    }
    return null;
  }

  #placeOf(path: string): Place {
    const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '');
    const pattern = new RegExp(`^${path.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{\w+\}/g, '([^/]+)')}$`);
    const known = this.#fixed.get(path) ?? this.#templates.find((place) => place.pattern.source === pattern.source);
    if (known) return known;
    const place = { pattern, names, operations: new Map<string, ContractOperation>() };
    if (names.length === 0) this.#fixed.set(path, place);
    else this.#templates.push(place);
    return place;
  }
}

const none = {};

function paramsOf({ names }: Place, values: RegExpExecArray): Record<string, string> {
  return Object.fromEntries(names.map((name, i) => [name, decoded(values[i + 1] ?? '')]));
}

/** Decodes percent signs. Malformed text stays as it is, and the contract then refuses it. */
function decoded(text: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function shapeOf(operation: ContractOperation): OperationShape {
  const { operationId: id, method, path } = operation;
  if (id === undefined) throw new Error(`${method} ${path} has no operationId`);
  const parameters = (operation.parameters ?? []) as { name: string; in: string; schema?: { type?: string } }[];
  const body = operation.requestBody as
    | { content?: Record<string, { schema?: { properties?: Record<string, { type?: unknown }> } }> }
    | undefined;
  const members = body?.content?.['application/json']?.schema?.properties ?? {};
  return {
    id,
    method: method.toUpperCase(),
    path,
    takesBody: body !== undefined,
    query: parameters
      .filter((parameter) => parameter.in === 'query')
      .map(({ name, schema }) => ({
        name,
        isNumber: schema?.type === 'number' || schema?.type === 'integer',
        isList: schema?.type === 'array',
      })),
    bodyMembers: Object.keys(members),
    bodyAmounts: Object.keys(members).filter((name) => members[name]?.type === 'number'),
  };
}

/** The validators of each contract. A second listener of a process compiles nothing. */
const validators = new WeakMap<Document, OpenAPIValidator>();

/**
 * openapi-backend for contracts in OpenAPI 3.1. It checks documents with the schema of 3.0 only,
 * which refuses valid 3.1 documents (openapistack/openapi-backend#532). Linters in CI check ours.
 */
export class ContractBackend extends OpenAPIBackend {
  readonly #options: BackendOptions;
  #index: IndexedRouter | undefined;

  constructor(document: Document, options: BackendOptions) {
    super({ definition: document, apiRoot: options.root, quick: true, strict: true, validate: true });
    this.#options = options;
  }

  override validateDefinition(): Document {
    return this.document;
  }

  override async init(): Promise<this> {
    await super.init();
    this.#index = new IndexedRouter(this.definition, this.#options);
    this.router = this.#index;
    const document = this.inputDocument as Document;
    const known = validators.get(document) ?? validatorOf(this.definition, this.#options);
    validators.set(document, known);
    this.validator = known;
    return this;
  }

  /** The router with its index. It is there once `init` has ended. */
  get index(): IndexedRouter {
    if (!this.#index) throw new Error('init comes first');
    return this.#index;
  }
}

/** Compiles the validators of all requests. Those of answers are compiled at their first use. */
function validatorOf(definition: Document, options: BackendOptions): OpenAPIValidator {
  const router = new IndexedRouter(definition, { ...options, absent: [] });
  const validator = new OpenAPIValidator({
    definition,
    router,
    lazyCompileValidators: true,
    ajvOpts: { strictNumbers: true, allErrors: true, verbose: true, validateSchema: false, strict: false },
    customizeAjv: (_ajv, options) => {
      // openapi-backend sets it for parameters. Text would then pass for a number.
      const ajv = new Ajv2020({ ...(options as object), coerceTypes: false });
      addFormats.default(ajv);
      ajv.addFormat('int32', true);
      return ajv as never;
    },
  });
  for (const { id } of router.shapes) validator.getRequestValidatorsForOperation(id);
  return validator;
}
