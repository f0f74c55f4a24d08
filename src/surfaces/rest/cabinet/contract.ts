import type { Document } from 'openapi-backend';
import { type CabinetOperation, sharedOperations } from '../../../accounts/members/rights.ts';
import type { components, operations } from '../../../generated/cabinet.ts';
import { cabinetContractJson } from '../../../generated/cabinet-contract.ts';
import type { Call } from '../api/call.ts';
import { sharedContract } from '../partner/contract.ts';

/** The path prefix of the cabinet's API. */
export const cabinetApiRoot = '/cabinet/api';

/** Reads a fresh copy of the contract, cabinet-openapi.yaml at the top of the package. */
export function readCabinetContract(): Document {
  return JSON.parse(cabinetContractJson);
}

let shared: Document | undefined;

/** The cabinet's contract, one copy for all listeners of the process. No caller changes it. */
export function sharedCabinetContract(): Document {
  shared ??= readCabinetContract();
  return shared;
}

let ofMembers: Document | undefined;

/** The partner contract with the operations that members may use, and no other. */
export function membersContract(): Document {
  ofMembers ??= onlyShared(sharedContract());
  return ofMembers;
}

function onlyShared(contract: Document): Document {
  const paths = Object.entries(contract.paths ?? {}).flatMap(([path, item]) => {
    const operations = Object.entries(item as Record<string, { operationId?: string }>);
    const kept = operations.filter(([, { operationId }]) => sharedOperations.some((id) => id === operationId));
    return kept.length === 0 ? [] : [[path, Object.fromEntries(kept)]];
  });
  return { ...contract, paths: Object.fromEntries(paths) };
}

export type Schemas = components['schemas'];

/** The JSON of a success; undefined for one without a body. */
type CabinetBody<Id extends CabinetOperation> = operations[Id]['responses'] extends {
  200: { content: { 'application/json': infer Body } };
}
  ? Body
  : undefined;

type Parameters<Id extends CabinetOperation, Place extends 'query' | 'path'> = operations[Id]['parameters'] extends {
  [Name in Place]?: infer Members;
}
  ? NonNullable<Members>
  : Record<string, never>;

type Sent<Id extends CabinetOperation> = operations[Id] extends {
  requestBody: { content: { 'application/json': infer Members } };
}
  ? Members
  : undefined;

/** The validated query of an operation. Numbers are the texts that were sent. */
type Query<Id extends CabinetOperation> = {
  [Name in keyof Parameters<Id, 'query'>]: Parameters<Id, 'query'>[Name] extends number | undefined
    ? string | Extract<Parameters<Id, 'query'>[Name], undefined>
    : Parameters<Id, 'query'>[Name];
};

/** A request that the contract allows, by a member who may send it. */
interface CabinetRequest<Id extends CabinetOperation> {
  readonly path: Parameters<Id, 'path'>;
  readonly query: Query<Id>;
  readonly body: Sent<Id>;
  readonly call: Call;
}

/** What an operation answers: its JSON. */
export interface CabinetReply<Id extends CabinetOperation> {
  readonly body: CabinetBody<Id>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** One handler for each operation. The compiler refuses a missing one. */
export type CabinetHandlers = {
  readonly [Id in CabinetOperation]: (request: CabinetRequest<Id>) => Promise<CabinetReply<Id>>;
};
