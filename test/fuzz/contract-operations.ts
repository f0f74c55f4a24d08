import { readContract } from '../../src/surfaces/rest/partner/contract.ts';
import type { Schema } from './schema-values.ts';

export interface Parameter {
  readonly name: string;
  readonly in: 'query' | 'path' | 'header';
  readonly required?: boolean;
  readonly schema: Schema;
}

/** An operation of the contract, with every reference followed. */
export interface Operation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly Parameter[];
  readonly body: Schema | null;
  /** Whether it needs a key, or looks at one. */
  readonly needsKey: boolean;
  readonly takesKey: boolean;
  readonly statuses: readonly number[];
}

/** An operation as the document has it. */
interface DocumentedOperation {
  readonly operationId: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<'application/json', { readonly schema: Schema }>> };
  readonly security?: readonly object[];
  readonly responses: Readonly<Record<string, object>>;
}

/** The operations of a contract that `paths` has, in the order of the document. */
export function operationsOf(document: ReturnType<typeof readContract>): readonly Operation[] {
  const resolve = <T>(node: T): T => {
    const { $ref } = node as { $ref?: string };
    if ($ref === undefined) return node;
    const parts = $ref.slice(2).split('/');
    return parts.reduce((at: unknown, part) => (at as Record<string, unknown>)[part], document as unknown) as T;
  };
  /** A schema with every reference in it followed. */
  const whole = (schema: Schema): Schema => {
    const { properties, allOf, anyOf, items, ...rest } = resolve(schema);
    return {
      ...rest,
      ...(items ? { items: whole(items) } : {}),
      ...(allOf ? { allOf: allOf.map(whole) } : {}),
      ...(anyOf ? { anyOf: anyOf.map(whole) } : {}),
      ...(properties
        ? { properties: Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, whole(one)])) }
        : {}),
    };
  };
  /** A request waits for events no longer than a second, so that there is time for others. */
  const parameterOf = (one: Parameter): Parameter => {
    const schema = whole(one.schema);
    return { ...one, schema: one.name === 'wait' ? { ...schema, maximum: 1 } : schema };
  };
  return Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
    Object.entries(item as Record<string, DocumentedOperation>).map(([method, operation]) => {
      const body = operation.requestBody ? resolve(operation.requestBody).content['application/json'].schema : null;
      const security = operation.security ?? [];
      return {
        id: operation.operationId,
        method: method.toUpperCase(),
        path,
        parameters: (operation.parameters ?? []).map(resolve).map(parameterOf),
        body: body ? whole(body) : null,
        needsKey: security.length > 0 && security.every((one) => Object.keys(one).length > 0),
        takesKey: security.length > 0,
        statuses: Object.keys(operation.responses).map(Number),
      };
    }),
  );
}

/** The operations of the partner contract. */
export const operations = operationsOf(readContract());

/** @throws Error when the contract has no operation of this id. */
export function operationOf(id: string): Operation {
  const found = operations.find((operation) => operation.id === id);
  if (!found) throw new Error(`the contract has no operation ${id}`);
  return found;
}
