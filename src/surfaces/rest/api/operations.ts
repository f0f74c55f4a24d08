import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { type Operation as ContractOperation, type Document, OpenAPIBackend, ValidationContext } from 'openapi-backend';
import type { KeyScope } from '../../../accounts/partners/key-scope.ts';
import { apiRoot, type Body, type OperationId } from './contract.ts';

/** Properties of an operation that are needed before its request is read. */
export interface OperationRow {
  /** The scopes of which a key must have one, or `public` when the operation needs no key. */
  readonly scope: KeyScope | readonly KeyScope[] | 'public';
  /**
   * The rate limit that counts its requests.
   * - `assets`: the client's address, separate from its other requests.
   * - `anon`: the partner account when the key is genuine, the client's address otherwise.
   * - `partner`: the partner account.
   * - `orders`: the partner account, and also its limit of new orders.
   * - `quotes`: the partner account, separate from its other requests.
   * - `lists`: the partner account, and also its limit of lists.
   * - `validations`: the partner account, and also its limit of validations.
   * - `changes`: the partner account, and also its limit of changes.
   */
  readonly bucket: 'assets' | 'anon' | 'partner' | 'orders' | 'quotes' | 'lists' | 'validations' | 'changes';
  readonly takesBody: boolean;
  /**
   * When its requests take their turn among those of the partner, or of the address without a key,
   * for a connection to the database.
   * - `whole`: before the handler begins, until it has ended.
   * - `parts`: its handler or service takes a turn for each part, and waits or shares in between.
   * - `none`: it answers from memory, or by the statements that many requests share.
   */
  readonly turn: 'whole' | 'parts' | 'none';
}

/** One row for each operation of the contract. The compiler refuses an operation without a row. */
export const operationRows: {
  readonly [Id in OperationId]: OperationRow & { readonly takesBody: Body<Id> extends undefined ? false : true };
} = {
  listCurrencies: { scope: 'public', bucket: 'anon', takesBody: false, turn: 'none' },
  getCoinIcon: { scope: 'public', bucket: 'assets', takesBody: false, turn: 'none' },
  // A key with the scope rates:read gets its partner's quote.
  getRate: { scope: 'public', bucket: 'anon', takesBody: false, turn: 'none' },
  createQuote: { scope: ['rates:read', 'orders:create'], bucket: 'quotes', takesBody: true, turn: 'none' },
  getQuote: { scope: ['rates:read', 'orders:create'], bucket: 'partner', takesBody: false, turn: 'parts' },
  listAssets: { scope: 'public', bucket: 'anon', takesBody: false, turn: 'none' },
  // A key with the scope rates:read gets its partner's limits.
  listPairs: { scope: 'public', bucket: 'anon', takesBody: false, turn: 'none' },
  validateAddress: { scope: 'orders:create', bucket: 'validations', takesBody: true, turn: 'whole' },
  validateOrder: { scope: 'orders:create', bucket: 'validations', takesBody: true, turn: 'parts' },
  createOrder: { scope: 'orders:create', bucket: 'orders', takesBody: true, turn: 'parts' },
  getOrder: { scope: 'orders:read', bucket: 'partner', takesBody: false, turn: 'none' },
  listOrders: { scope: 'orders:read', bucket: 'lists', takesBody: false, turn: 'whole' },
  getOrderDetails: { scope: 'orders:read', bucket: 'partner', takesBody: false, turn: 'whole' },
  listOrderEvents: { scope: 'orders:read', bucket: 'partner', takesBody: false, turn: 'whole' },
  changeOrder: { scope: 'orders:manage', bucket: 'changes', takesBody: true, turn: 'whole' },
  setRefundAddress: { scope: 'orders:manage', bucket: 'changes', takesBody: true, turn: 'whole' },
  actOnOrder: { scope: 'orders:manage', bucket: 'changes', takesBody: true, turn: 'whole' },
  cancelOrder: { scope: 'orders:manage', bucket: 'changes', takesBody: false, turn: 'whole' },
  renewOrderPage: { scope: 'orders:manage', bucket: 'changes', takesBody: false, turn: 'whole' },
  revokeOrderPage: { scope: 'orders:manage', bucket: 'changes', takesBody: false, turn: 'whole' },
  listEvents: { scope: 'orders:read', bucket: 'partner', takesBody: false, turn: 'parts' },
  streamEvents: { scope: 'orders:read', bucket: 'partner', takesBody: false, turn: 'parts' },
  listWebhookEndpoints: { scope: 'webhooks:manage', bucket: 'partner', takesBody: false, turn: 'whole' },
  createWebhookEndpoint: { scope: 'webhooks:manage', bucket: 'partner', takesBody: true, turn: 'whole' },
  getWebhookEndpoint: { scope: 'webhooks:manage', bucket: 'partner', takesBody: false, turn: 'whole' },
  updateWebhookEndpoint: { scope: 'webhooks:manage', bucket: 'partner', takesBody: true, turn: 'whole' },
  deleteWebhookEndpoint: { scope: 'webhooks:manage', bucket: 'partner', takesBody: false, turn: 'whole' },
  rotateWebhookSecret: { scope: 'webhooks:manage', bucket: 'partner', takesBody: true, turn: 'whole' },
  testWebhookEndpoint: { scope: 'webhooks:manage', bucket: 'partner', takesBody: false, turn: 'parts' },
  listWebhookDeliveries: { scope: 'webhooks:manage', bucket: 'lists', takesBody: false, turn: 'whole' },
  replayWebhookEvents: { scope: 'webhooks:manage', bucket: 'lists', takesBody: true, turn: 'parts' },
  makeSandboxDeposits: { scope: 'sandbox', bucket: 'changes', takesBody: true, turn: 'whole' },
  expireSandboxOrder: { scope: 'sandbox', bucket: 'changes', takesBody: false, turn: 'whole' },
  reorgSandboxDeposit: { scope: 'sandbox', bucket: 'changes', takesBody: false, turn: 'whole' },
  forceSandboxOutcome: { scope: 'sandbox', bucket: 'changes', takesBody: true, turn: 'whole' },
  emitSandboxEvent: { scope: 'sandbox', bucket: 'changes', takesBody: true, turn: 'whole' },
  getPublicStatus: { scope: 'public', bucket: 'anon', takesBody: false, turn: 'whole' },
  getDocument: { scope: 'public', bucket: 'anon', takesBody: false, turn: 'none' },
};

/** The contract's viewer is not an operation of the contract. */
const docsRow: OperationRow = { scope: 'public', bucket: 'assets', takesBody: false, turn: 'none' };

/** Paths that the contract does not have. */
const otherRow: OperationRow = { scope: 'public', bucket: 'anon', takesBody: false, turn: 'none' };

/** A request as the contract's validators see it. */
export interface CheckedRequest {
  readonly path: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly header: Readonly<Record<string, unknown>>;
  /** Absent when the request has no body. */
  readonly requestBody?: unknown;
}

/** An operation of the contract. */
export interface Operation extends OperationRow {
  readonly id: OperationId;
  /** HTTP method in upper case. */
  readonly method: string;
  /** Path template with the prefix, for logs. */
  readonly route: string;
  readonly query: readonly { readonly name: string; readonly isNumber: boolean; readonly isList: boolean }[];
  /** Names of the body's members, for the hints in errors. */
  readonly bodyMembers: readonly string[];
  /** Names of the body's members that are amounts. */
  readonly bodyAmounts: readonly string[];
  /** Finds every fault of a request by the contract. */
  faults(request: CheckedRequest): readonly ErrorObject[];
}

/** The operation at a path, or the methods that the path allows, or null. */
export type Target =
  | { readonly operation: Operation; readonly params: Readonly<Record<string, string>> }
  | { readonly allow: readonly string[] }
  | null;

/**
 * openapi-backend checks documents with the schema of OpenAPI 3.0 only, which refuses valid 3.1
 * documents (openapistack/openapi-backend#532). Linters in CI check our document instead.
 */
class Contract31Backend extends OpenAPIBackend {
  override validateDefinition(): Document {
    return this.document;
  }
}

/**
 * Reads a contract. openapi-backend finds its operations and compiles the validators of requests.
 *
 * @param options.coerceParameters Whether numbers of a query may be text, as they are in a URL.
 */
export async function backendOf(
  document: Document,
  root: string,
  { coerceParameters = false }: { readonly coerceParameters?: boolean } = {},
): Promise<OpenAPIBackend> {
  const api = new Contract31Backend({
    definition: document,
    apiRoot: root,
    // Compiles the request validators when they are requested below, and no response validators.
    quick: true,
    strict: true,
    validate: true,
    coerceTypes: coerceParameters,
    ajvOpts: { strictNumbers: true, allErrors: true, verbose: true, validateSchema: false, strict: false },
    customizeAjv: (_ajv, options, context) => {
      // Parameters are text in a URL. A body has types of its own, and is taken by them.
      const coerceTypes = coerceParameters && context === ValidationContext.Params;
      const ajv = new Ajv2020({ ...(options as object), coerceTypes });
      addFormats.default(ajv);
      ajv.addFormat('int32', true);
      return ajv as never;
    },
  });
  await api.init();
  return api;
}

type PlacedOperation = readonly [path: string, operation: Operation];

/** A path of the contract and its operations by method. */
interface Place {
  readonly pattern: RegExp;
  readonly names: readonly string[];
  readonly operations: Map<string, Operation>;
}

/**
 * Finds the contract's operations by method and path. Each has the validators that openapi-backend
 * compiled when the process started.
 */
export class Operations {
  /** Paths without parameters. */
  readonly #fixed = new Map<string, Place>();
  /** Paths with parameters, in the contract's order. */
  readonly #templates: Place[] = [];
  /** Rows for requests without an operation, by the beginning of their path in lower case. */
  readonly #beginnings: { readonly start: string; readonly method: string; readonly row: OperationRow }[] = [
    { start: `${apiRoot}/docs`, method: 'GET', row: docsRow },
  ];

  private constructor(operations: readonly PlacedOperation[]) {
    for (const [path, operation] of operations) {
      this.#placeOf(path).operations.set(operation.method, operation);
      const start = operation.route.replace(/\/?\{.*$/, '').toLowerCase();
      this.#beginnings.push({ start, method: operation.method, row: operation });
    }
    // Paths below an operation count like the operations that have paths below it.
    const depth = (row: OperationRow): number => ('route' in row ? String(row.route).split('{').length : 0);
    this.#beginnings.sort((one, other) => depth(other.row) - depth(one.row));
  }

  /** @param absent Beginnings of paths that this gateway does not have. */
  static async compile(document: Document, absent: readonly string[] = []): Promise<Operations> {
    let operations = compiledOf.get(document);
    if (!operations) {
      operations = operationsOf(document);
      compiledOf.set(document, operations);
    }
    return new Operations((await operations).filter(([path]) => !absent.some((start) => path.startsWith(start))));
  }

  /**
   * Finds the operation at a path, the allowed methods of a path, or null. Trailing slashes are
   * ignored.
   */
  find(method: string, path: string): Target {
    if (!path.startsWith(`${apiRoot}/`)) return null;
    let end = path.length;
    while (path[end - 1] === '/') end--;
    const below = path.slice(apiRoot.length, end);
    let place = this.#fixed.get(below);
    let values: RegExpExecArray | null = null;
    for (let i = 0; !place && i < this.#templates.length; i++) {
      values = this.#templates[i]?.pattern.exec(below) ?? null;
      if (values) place = this.#templates[i];
    }
    if (!place) return null;
    const operation = place.operations.get(method);
    if (!operation) return { allow: [...place.operations.keys()] };
    const params: Record<string, string> = {};
    for (const [i, name] of place.names.entries()) params[name] = decoded(values?.[i + 1] ?? '');
    return { operation, params };
  }

  /**
   * Returns the row by which a request is counted. A request without an operation counts like the
   * operations whose path it begins with; one of the same method comes first.
   */
  rowOf(target: Target, method: string, path: string): OperationRow {
    if (target !== null && 'operation' in target) return target.operation;
    const small = path.toLowerCase();
    const near = this.#beginnings.filter(({ start }) => small.startsWith(start));
    const nearest = near.find((one) => one.method === method) ?? near.find(({ row }) => !row.takesBody);
    return nearest?.row ?? otherRow;
  }

  #placeOf(path: string): Place {
    const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '');
    const pattern = new RegExp(`^${path.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{\w+\}/g, '([^/]+)')}$`);
    const known = this.#fixed.get(path) ?? this.#templates.find((place) => place.pattern.source === pattern.source);
    if (known) return known;
    const place = { pattern, names, operations: new Map() };
    if (names.length === 0) this.#fixed.set(path, place);
    else this.#templates.push(place);
    return place;
  }
}

/** A listener after the first one of a process compiles nothing. */
const compiledOf = new WeakMap<Document, Promise<readonly PlacedOperation[]>>();

async function operationsOf(document: Document): Promise<readonly PlacedOperation[]> {
  const api = await backendOf(document, apiRoot);
  return api.getOperations().map((operation) => {
    const validators = api.validator.getRequestValidatorsForOperation(operation.operationId ?? '');
    if (!validators) throw new Error(`${operation.method} ${operation.path} has no operationId`);
    return [operation.path, compiled(operation, validators as unknown as ValidateFunction[])];
  });
}

function compiled(operation: ContractOperation, validators: readonly ValidateFunction[]): Operation {
  const id = operation.operationId as OperationId;
  if (!Object.hasOwn(operationRows, id)) throw new Error(`the contract's operation ${id} has no row`);
  const parameters = (operation.parameters ?? []) as { name: string; in: string; schema?: { type?: string } }[];
  const body = operation.requestBody as
    | { content?: Record<string, { schema?: { properties?: Record<string, { type?: unknown }> } }> }
    | undefined;
  const members = body?.content?.['application/json']?.schema?.properties ?? {};
  return {
    ...operationRows[id],
    id,
    method: operation.method.toUpperCase(),
    route: `${apiRoot}${operation.path}`,
    query: parameters
      .filter((parameter) => parameter.in === 'query')
      .map(({ name, schema }) => ({
        name,
        isNumber: schema?.type === 'number' || schema?.type === 'integer',
        isList: schema?.type === 'array',
      })),
    bodyMembers: Object.keys(members),
    bodyAmounts: Object.keys(members).filter((name) => members[name]?.type === 'number'),
    faults: (request) => {
      let faults: ErrorObject[] = none;
      for (const validate of validators) {
        if (!validate(request)) faults = [...faults, ...(validate.errors ?? [])];
      }
      return faults;
    },
  };
}

const none: ErrorObject[] = [];

/** Decodes percent signs. Malformed text stays as it is, and the contract then refuses it. */
function decoded(text: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
