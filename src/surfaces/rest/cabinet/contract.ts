import type { Document } from 'openapi-backend';
import type { CabinetOperation } from '../../../accounts/members/rights.ts';
import type { MemberCaller } from '../../../accounts/members/sessions.ts';
import type { components, operations } from '../../../generated/cabinet.ts';
import { cabinetContractJson } from '../../../generated/cabinet-contract.ts';
import type { Call } from '../api/call.ts';

/** The path prefix of the cabinet's API. */
export const cabinetApiRoot = '/cabinet/api';

/** Reads a fresh copy of the contract, cabinet-openapi.yaml at the top of the package. */
export function readCabinetContract(): Document {
  return JSON.parse(cabinetContractJson);
}

export type Schemas = components['schemas'];

/** The JSON of a success; undefined for one without a body. */
export type CabinetBody<Id extends CabinetOperation> = operations[Id]['responses'] extends {
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

/** A request that the contract allows, by a member who may send it. */
export interface CabinetRequest<Id extends CabinetOperation> {
  readonly path: Parameters<Id, 'path'>;
  readonly query: Parameters<Id, 'query'>;
  readonly body: Sent<Id>;
  readonly call: Call;
  /** Null for operations that need no session. */
  readonly member: MemberCaller | null;
}

/** What an operation answers: its JSON, or text that is sent in parts. */
export type CabinetReply<Id extends CabinetOperation> =
  | { readonly body: CabinetBody<Id>; readonly headers?: Readonly<Record<string, string>> }
  | {
      readonly parts: AsyncIterable<string>;
      readonly type: string;
      readonly headers?: Readonly<Record<string, string>>;
    };

/** One handler for each operation. The compiler refuses a missing one. */
export type CabinetHandlers = {
  readonly [Id in CabinetOperation]: (request: CabinetRequest<Id>) => Promise<CabinetReply<Id>>;
};
