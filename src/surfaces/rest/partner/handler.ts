import type { AppError } from '../../../base/errors.ts';
import type { Call } from '../api/call.ts';
import type { Body, OperationId, Path, Query, Reply } from './contract.ts';

/** A request that the contract allows. */
export interface ApiRequest<Id extends OperationId> {
  readonly path: Path<Id>;
  readonly query: Query<Id>;
  readonly body: Body<Id>;
  readonly call: Call;
}

export type Handler<Id extends OperationId> = (request: ApiRequest<Id>) => Promise<Reply<Id>> | Reply<Id>;

/** One handler for each operation of the contract. The compiler refuses a missing one. */
export type Handlers = { readonly [Id in OperationId]: Handler<Id> };

/** Finds what an operation itself would refuse in a request that the contract refuses. */
export type Refusal<Id extends OperationId> = (request: ApiRequest<Id>) => Promise<AppError | null>;

export type Refusals = { readonly [Id in OperationId]?: Refusal<Id> };
