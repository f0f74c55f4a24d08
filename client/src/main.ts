export type { EventWalk } from './event-walk.ts';
export type * from './generated/contract.ts';
export { List, type Page } from './list.ts';
export type { Answer, Body, OperationId, Query } from './operation-types.ts';
export {
  type EventFilters,
  type EventOptions,
  PartnerClient,
  type SyncFilters,
  type SyncOptions,
  type SyncPage,
  type WaitOptions,
} from './partner-client.ts';
export { type ClientCode, PartnerError } from './partner-error.ts';
export type { ClientOptions, RequestOptions } from './transport.ts';
export { type VerifiedWebhook, type VerifyOptions, verifyWebhook, type WebhookHeaders } from './webhooks.ts';
