import type { operations } from './generated/contract.ts';

export type OperationId = keyof operations;

type Parameters<Id extends OperationId, Place extends 'query' | 'path'> = NonNullable<
  operations[Id]['parameters'][Place]
>;

/** The query of an operation, with amounts as strings. */
export type Query<Id extends OperationId> = Parameters<Id, 'query'>;

/** The JSON body of an operation, with amounts as strings. */
export type Body<Id extends OperationId> = operations[Id] extends {
  requestBody: { content: { 'application/json': infer Members } };
}
  ? Members
  : never;

type Content<Response> = Response extends { content: infer Types } ? Types[keyof Types] : never;

/** The successful answer of an operation, with amounts as strings. */
export type Answer<Id extends OperationId> = {
  [Status in keyof operations[Id]['responses']]: Status extends 200 | 201 | 202
    ? Content<operations[Id]['responses'][Status]>
    : never;
}[keyof operations[Id]['responses']];
