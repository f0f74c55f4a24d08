import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { type Operation as ContractOperation, type Document, OpenAPIBackend } from 'openapi-backend';
import { apiRoot, type OperationId } from './contract.ts';

/** A request as the contract's validators see it. */
export interface CheckedRequest {
  readonly path: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly header: Readonly<Record<string, unknown>>;
  /** Left out when there is none. */
  readonly requestBody?: unknown;
}

/** What the contract says of an operation. */
export interface Operation {
  readonly id: OperationId;
  /** `GET` and so on. */
  readonly method: string;
  /** Its template below the host, for logs. */
  readonly route: string;
  /** Whether it may not be asked without a key. */
  readonly needsKey: boolean;
  readonly query: readonly { readonly name: string; readonly isNumber: boolean }[];
  readonly takesBody: boolean;
  /** Names of the body's members, for hints. */
  readonly bodyMembers: readonly string[];
  /** Everything that the contract finds wrong with a request. */
  faults(request: CheckedRequest): readonly ErrorObject[];
}

/** Where a path leads. */
export type Target =
  | { readonly operation: Operation; readonly params: Readonly<Record<string, string>> }
  | { readonly allow: readonly string[] }
  | null;

/**
 * openapi-backend checks documents with the schema of OpenAPI 3.0 only, which refuses valid 3.1 documents
 * (openapistack/openapi-backend#532). Ours is checked by linters in CI instead.
 */
class Contract31Backend extends OpenAPIBackend {
  override validateDefinition(): Document {
    return this.document;
  }
}

/** Proves of a caller that a security scheme of the contract accepts it: one key, in either header. */
const keySchemes = new Set(['bearerKey', 'headerKey']);

/** A path of the contract and what can be done there. */
interface Place {
  readonly pattern: RegExp;
  readonly names: readonly string[];
  readonly operations: Map<string, Operation>;
}

/**
 * The contract's operations, found by method and path, each with the validators that openapi-backend compiled for it
 * when the process started.
 */
export class Operations {
  /** Paths without parameters. */
  readonly #fixed = new Map<string, Place>();
  /** Paths with parameters, in the contract's order. */
  readonly #templates: Place[] = [];

  private constructor(operations: readonly (readonly [path: string, operation: Operation])[]) {
    for (const [path, operation] of operations) this.#placeOf(path).operations.set(operation.method, operation);
  }

  static async compile(document: Document): Promise<Operations> {
    const api = new Contract31Backend({
      definition: document,
      apiRoot,
      // Compiles what is asked for below, not also the validators of answers.
      quick: true,
      strict: true,
      validate: true,
      coerceTypes: false,
      ajvOpts: { strictNumbers: true, allErrors: true, verbose: true, validateSchema: false, strict: false },
      customizeAjv: (_ajv, options) => {
        const ajv = new Ajv2020({ ...(options as object), coerceTypes: false });
        addFormats.default(ajv);
        ajv.addFormat('int32', true);
        return ajv as never;
      },
    });
    await api.init();
    return new Operations(
      api.getOperations().map((operation) => {
        const validators = api.validator.getRequestValidatorsForOperation(operation.operationId ?? '');
        if (!validators) throw new Error(`${operation.method} ${operation.path} has no operationId`);
        return [operation.path, compiled(operation, validators as unknown as ValidateFunction[])];
      }),
    );
  }

  ids(): OperationId[] {
    return [...this.#fixed.values(), ...this.#templates].flatMap(({ operations }) =>
      [...operations.values()].map(({ id }) => id),
    );
  }

  /** The operation at a path, or what else may be asked there, or null. Slashes at the end make no difference. */
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

function compiled(operation: ContractOperation, validators: readonly ValidateFunction[]): Operation {
  const security = operation.security ?? [];
  for (const scheme of security.flatMap((requirement) => Object.keys(requirement))) {
    if (!keySchemes.has(scheme)) throw new Error(`the contract's security scheme ${scheme} is not known`);
  }
  const parameters = (operation.parameters ?? []) as { name: string; in: string; schema?: { type?: string } }[];
  const body = operation.requestBody as { content?: Record<string, { schema?: { properties?: object } }> } | undefined;
  return {
    id: operation.operationId as OperationId,
    method: operation.method.toUpperCase(),
    route: `${apiRoot}${operation.path}`,
    needsKey: security.length > 0 && security.every((requirement) => Object.keys(requirement).length > 0),
    query: parameters
      .filter((parameter) => parameter.in === 'query')
      .map(({ name, schema }) => ({ name, isNumber: schema?.type === 'number' })),
    takesBody: body !== undefined,
    bodyMembers: Object.keys(body?.content?.['application/json']?.schema?.properties ?? {}),
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

/** Text whose percent signs mean nothing stays as it is, and then is nothing that the contract allows. */
function decoded(text: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
