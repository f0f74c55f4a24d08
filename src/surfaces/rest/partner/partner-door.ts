import { partnerInactive } from '../../../accounts/partners/authenticator.ts';
import { AppError } from '../../../base/errors.ts';
import type { PartnerQueues } from '../../../base/limits/partner-queues.ts';
import { orderNotFound } from '../../../orders/order-errors.ts';
import { endpointNotFound } from '../../../webhooks/endpoint-service.ts';
import { type Answer, jsonType } from '../api/answer.ts';
import { type AnyRequest, type Door, notFound } from '../api/api.ts';
import { type Call, turnOf } from '../api/call.ts';
import { sendParts, type TextParts } from '../api/text-parts.ts';
import { callerOf, missingKey, verifySignature } from './authenticate.ts';
import type { OperationId } from './contract.ts';
import { docsAnswer, isDocs } from './docs.ts';
import type { Acting } from './handler.ts';
import { type NearbyRows, type OperationRow, operationRows } from './operations.ts';
import type { RateLimit } from './rate-limit.ts';

/** How partners' programs come in: by key and rate limit, and by a signature where one is sent. */
export class PartnerDoor implements Door<OperationId> {
  readonly #rateLimit: RateLimit;
  readonly #queues: PartnerQueues;
  readonly #nearby: NearbyRows;

  /** @param queues the turns of partners at the connections of requests. */
  constructor(rateLimit: RateLimit, queues: PartnerQueues, nearby: NearbyRows) {
    this.#rateLimit = rateLimit;
    this.#queues = queues;
    this.#nearby = nearby;
  }

  admit(call: Call, id: OperationId | null): Promise<void> {
    return this.#rateLimit.admit(call, id === null ? this.#nearby.of(call.method, call.path) : operationRows[id]);
  }

  authorize(call: Call, id: OperationId): void {
    authorize(operationRows[id], call);
  }

  verify(call: Call, id: OperationId): void {
    if (operationRows[id].scope !== 'public') verifySignature(call);
  }

  work<Result>({ call }: AnyRequest, id: OperationId, handle: () => Promise<Result> | Result) {
    if (operationRows[id].turn !== 'whole') return handle();
    return this.#queues.work(turnOf(call), async () => {
      requireClient(call);
      return handle();
    });
  }

  readonly badPath = unknownObject;

  async elsewhere(call: Call): Promise<Answer | null> {
    return isDocs(call) ? docsAnswer(call) : null;
  }
}

/** A malformed id gets the same answer as an unknown one, so that the answer reveals nothing. */
export function unknownObject(path: AnyRequest['path']): AppError {
  if ('order_id' in path) return orderNotFound();
  return 'endpoint_id' in path ? endpointNotFound() : notFound();
}

/** How handlers work for keys. */
export const actingForKeys = (queues: PartnerQueues): Acting => ({
  part: (call, work) => queues.work(callerOf(call).partner.id, work),
  download: (call, parts) => queues.download(callerOf(call).partner.id, parts),
  act: async (_em, _call, _id, change) => (await change()).result,
  audit: async () => {},
});

/**
 * Checks the key's rights to the operation before the request is read or validated.
 *
 * @throws AppError for a missing or ended key, an inactive partner, a foreign address or a scope
 *   that the key lacks.
 */
export function authorize({ scope }: Pick<OperationRow, 'scope'>, { caller, authFailure }: Call): void {
  if (scope === 'public') return;
  if (caller?.kind !== 'key') throw authFailure ?? missingKey();
  if (caller.partner.status !== 'active') throw partnerInactive();
  if (!caller.addressAllowed) {
    throw new AppError('address_not_allowed', 'this API key may not be used from your address');
  }
  const accepted = [scope].flat();
  if (!accepted.some((one) => caller.scopes.includes(one))) {
    throw new AppError('insufficient_scope', `this API key lacks the scope ${accepted.join(' or ')}`);
  }
}

/**
 * A client that gave up may send its request again. The first request would delay the second.
 *
 * @throws AppError invalid_request, which no one reads, when the client went away.
 */
function requireClient({ res }: Call): void {
  if (res.destroyed) throw new AppError('invalid_request', 'the client went away before the turn of its request');
}

/** The common shape of all replies. The compiler has checked each reply by its own type. */
type AnyReply = { status: number; headers?: Readonly<Record<string, string>> } & (
  | TextParts
  | { body?: string | Buffer }
  | { image: Buffer }
  | { stream: () => Promise<void> }
);

export function toAnswer(reply: AnyReply, { res }: Pick<Call, 'res'>): Answer {
  const { status, headers = {} } = reply;
  if ('parts' in reply) return { status, headers, type: reply.type, stream: () => sendParts(reply.parts, res) };
  if ('image' in reply) return { status, headers, type: 'image/svg+xml; charset=utf-8', body: reply.image };
  if ('stream' in reply) {
    // nginx would keep events until its buffer is full.
    const unbuffered = { ...headers, 'X-Accel-Buffering': 'no' };
    return { status, headers: unbuffered, type: 'text/event-stream', stream: reply.stream };
  }
  return reply.body === undefined ? { status, headers } : { status, headers, type: jsonType, body: reply.body };
}
