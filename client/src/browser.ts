// What bundlers for browsers load. It has no import of Node's, and it refuses a key without a look
// at the platform.
import { refuseKey } from './environment.ts';
import { PartnerClient as Client } from './partner-client.ts';
import type { ClientOptions } from './transport.ts';

/** The client, which takes a key in a browser only with `dangerouslyAllowBrowser`. */
export class PartnerClient extends Client {
  constructor(options: ClientOptions) {
    if (options.key !== undefined && options.dangerouslyAllowBrowser !== true) refuseKey();
    super(options);
  }
}

export type { EventWalk } from './event-walk.ts';
export type * from './generated/contract.ts';
export { List, type Page } from './list.ts';
export type { Answer, Body, OperationId, Query } from './operation-types.ts';
export type { EventFilters, EventOptions, SyncFilters, SyncOptions, SyncPage, WaitOptions } from './partner-client.ts';
export { type ClientCode, PartnerError } from './partner-error.ts';
export type { ClientOptions, RequestOptions } from './transport.ts';
export { type VerifiedWebhook, type VerifyOptions, verifyWebhook, type WebhookHeaders } from './webhooks.ts';
