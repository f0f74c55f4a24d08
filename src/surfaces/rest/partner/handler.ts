import type { EntityManager } from '@mikro-orm/postgresql';
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

/** A change, with what the audit log says of it. */
interface Change<Result> {
  readonly result: Result;
  /** '<kind>:<id>'. */
  readonly target: string;
  readonly before?: Record<string, unknown>;
  readonly after?: Record<string, unknown>;
}

/** How handlers work for their kind of caller. */
export interface Acting {
  /** Takes the caller's turn for a part of a request, where the whole one would wait in between. */
  part<Result>(call: Call, work: () => Promise<Result>): Promise<Result>;
  /** Counts parts of text among the caller's downloads, and takes a turn for each of them. */
  download(call: Call, parts: AsyncIterable<string>): AsyncIterable<string>;
  /**
   * Runs a change in the transaction of `em`. For a member it checks the right again first, and
   * writes the audit entry.
   */
  act<Result>(em: EntityManager, call: Call, id: OperationId, change: () => Promise<Change<Result>>): Promise<Result>;
  /** Writes the audit entry of a member's change in the transaction of `em`. None for a key. */
  audit(em: EntityManager, call: Call, id: OperationId, about: Omit<Change<unknown>, 'result'>): Promise<void>;
}

/** Finds what an operation itself would refuse in a request that the contract refuses. */
export type Refusal<Id extends OperationId> = (request: ApiRequest<Id>) => Promise<AppError | null>;

export type Refusals = { readonly [Id in OperationId]?: Refusal<Id> };
