import type { Document } from 'openapi-backend';
import { contractJson } from '../../../generated/contract.ts';
import type { operations } from '../../../generated/openapi.ts';
import type { Json, JsonBytes } from '../api/json.ts';
import type { TextParts } from '../api/text-parts.ts';

/** The path prefix of the contract. */
export const apiRoot = '/api/v1';

/** Reads a fresh copy of the REST contract, openapi.yaml at the top of the package. */
export function readContract(): Document {
  return JSON.parse(contractJson);
}

let shared: Document | undefined;

/** The REST contract, one copy for all listeners of the process. No caller changes it. */
export function sharedContract(): Document {
  shared ??= readContract();
  return shared;
}

export type OperationId = keyof operations;

/** A success by its type. Text of CSV is sent in parts. */
type Answer<Status, Response> =
  | (Response extends { content: { 'text/csv': infer _Csv } } ? { status: Status } & TextParts : never)
  | WholeAnswer<Status, Response>;

type WholeAnswer<Status, Response> = Response extends { content: { 'application/json': infer Body } }
  ? { status: Status; body: Json<Body> | JsonBytes<Body>; headers?: Record<string, string> }
  : Response extends { content: { 'image/svg+xml': infer _Image } }
    ? { status: Status; image: Buffer; headers?: Record<string, string> }
    : Response extends { content: { 'text/event-stream': infer _Events } }
      ? { status: Status; stream: () => Promise<void>; headers?: Record<string, string> }
      : { status: Status; headers?: Record<string, string> };

type Responses<Id extends OperationId> = operations[Id]['responses'];

/** A documented success of an operation, as its handler returns it. Refusals are thrown. */
export type Reply<Id extends OperationId> = {
  [Status in keyof Responses<Id> & (200 | 201 | 304)]: Answer<Status, Responses<Id>[Status]>;
}[keyof Responses<Id> & (200 | 201 | 304)];

type Parameters<Id extends OperationId, Place extends 'query' | 'path'> = operations[Id]['parameters'] extends {
  [Name in Place]: infer Members;
}
  ? Members
  : operations[Id]['parameters'] extends { [Name in Place]?: infer Members }
    ? NonNullable<Members>
    : Record<string, never>;

/**
 * The validated query of an operation. Numbers are the texts that were sent, so that no digit is
 * lost.
 */
export type Query<Id extends OperationId> = {
  [Name in keyof Parameters<Id, 'query'>]: Parameters<Id, 'query'>[Name] extends number | undefined
    ? string | Extract<Parameters<Id, 'query'>[Name], undefined>
    : Parameters<Id, 'query'>[Name];
};

export type Path<Id extends OperationId> = Parameters<Id, 'path'>;

/** The validated JSON body of an operation. */
export type Body<Id extends OperationId> = operations[Id] extends {
  requestBody: { content: { 'application/json': infer Members } };
}
  ? Members
  : undefined;
