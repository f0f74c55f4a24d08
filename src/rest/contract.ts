import { readFileSync } from 'node:fs';
import type { Document } from 'openapi-backend';
import { parse } from 'yaml';
import type { operations } from '../generated/openapi.ts';

/** The REST contract, read once from openapi.yaml at the top of the package. */
export function readContract(): Document {
  return parse(readFileSync(new URL('../../openapi.yaml', import.meta.url), 'utf8')) as Document;
}

export type OperationId = keyof operations;

/** A shape of the contract whose numbers may carry exact digits. */
export type Exact<T> = T extends number
  ? number | JsonNumber
  : T extends readonly (infer Item)[]
    ? Exact<Item>[]
    : T extends object
      ? { [Member in keyof T]: Exact<T[Member]> }
      : T;

declare const shape: unique symbol;
/** JSON text of a shape of the contract. */
export type Json<Shape> = string & { readonly [shape]?: Shape };

/** Writes a shape of the contract as JSON, amounts with all their digits. */
export function toJson<Shape>(value: Exact<Shape>): Json<Shape> {
  return JSON.stringify(value);
}

type Answer<Status, Response> = Response extends { content: { 'application/json': infer Body } }
  ? { status: Status; body: Json<Body>; headers?: Record<string, string> }
  : Response extends { content: { 'image/svg+xml': infer _Image } }
    ? { status: Status; image: string; headers?: Record<string, string> }
    : { status: Status; headers?: Record<string, string> };

type Responses<Id extends OperationId> = operations[Id]['responses'];

/** What a handler may answer: a documented success of its operation. Refusals are thrown. */
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

/** The validated query of an operation. Numbers are the texts that were sent, so that no digit is lost. */
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
