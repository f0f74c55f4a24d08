import type { EntityManager } from '@mikro-orm/postgresql';
import { AppError } from '../../../base/errors.ts';
import type { components } from '../../../generated/openapi.ts';
import type { Repeatable } from '../../../orders/idempotency.ts';
import type { Effect, RepeatableRequests, RepeatedAnswer } from '../../../orders/repeatable-requests.ts';
import type { DeliveryLog, DeliveryView, ReplayRequest } from '../../../webhooks/delivery-log.ts';
import type { EndpointChanges, EndpointService, OrderedTest } from '../../../webhooks/endpoint-service.ts';
import type { Replays } from '../../../webhooks/replays.ts';
import { secretMark } from '../../../webhooks/signature.ts';
import { TestWaits } from '../../../webhooks/test-waits.ts';
import type { WebhookEndpoint } from '../../../webhooks/webhook-endpoint.entity.ts';
import type { Call } from '../api/call.ts';
import { repeatable, replayedHeader } from '../api/idempotency-header.ts';
import { json } from '../api/json.ts';
import { moment, wholeNumber } from '../api/query-values.ts';
import { callerOf } from './authenticate.ts';
import { apiRoot, type Body } from './contract.ts';
import type { Acting, Handlers } from './handler.ts';

type Schemas = components['schemas'];
type SecretAnswer = Schemas['WebhookEndpointSecret'];

const endpointsPath = `${apiRoot}/partner/webhook-endpoints`;

const usualLimit = 20;

export interface WebhookParts {
  readonly endpoints: EndpointService;
  readonly deliveries: DeliveryLog;
  readonly requests: RepeatableRequests;
  readonly replays: Replays;
}

/** The operations below /partner/webhook-endpoints. */
export function webhookHandlers(parts: WebhookParts, acting: Acting) {
  return {
    ...endpointHandlers(parts, acting),
    ...secretHandlers(parts, acting),
    ...testHandlers(parts, acting),
    ...deliveryHandlers(parts, acting),
  } satisfies Partial<Handlers>;
}

/** Reading, changing and deleting endpoints. */
function endpointHandlers({ endpoints, requests }: WebhookParts, { act }: Acting) {
  const own = ownOf(endpoints);
  return {
    listWebhookEndpoints: async ({ call }) => {
      const all = await endpoints.list(callerOf(call).partner.id);
      return { status: 200, body: json({ data: all.map(endpointView), has_more: false }) };
    },
    getWebhookEndpoint: async ({ path, call }) => {
      return { status: 200, body: json(endpointView(await own(call, path.endpoint_id))) };
    },
    updateWebhookEndpoint: async ({ path, body, call }) => {
      const partnerId = callerOf(call).partner.id;
      const { endpoint_id: id } = path;
      const { stored } = await requests.run(partnerId, null, async (em) => {
        const endpoint = await act(em, call, 'updateWebhookEndpoint', async () => {
          const result = await endpoints.change(partnerId, id, changesOf(body), 'partner', em);
          return { result, target: `webhook:${result.id}`, after: body };
        });
        return { stored: JSON.stringify(endpointView(endpoint)), status: 200, orderId: null };
      });
      return { status: 200, body: stored };
    },
    deleteWebhookEndpoint: async ({ path, call }) => {
      const before = await own(call, path.endpoint_id);
      const { id } = before;
      const partnerId = callerOf(call).partner.id;
      await requests.run(partnerId, null, (em) =>
        act(em, call, 'deleteWebhookEndpoint', async () => {
          const { url } = await endpoints.delete(partnerId, id, em);
          const result = { stored: '', status: 200 as const, orderId: null };
          return { result, target: `webhook:${id}`, before: { url } };
        }),
      );
      return { status: 200, body: json(endpointView(before)) };
    },
  } satisfies Partial<Handlers>;
}

/** The operations that make a secret. Only the first answer to a key has it from the change. */
function secretHandlers({ endpoints, requests }: WebhookParts, { act }: Acting) {
  const once = onceOf(requests);
  /** The answer with its secret. The stored answer has only the mark of the secret. */
  const withSecret = async (
    call: Call,
    { stored, isReplayed }: RepeatedAnswer,
    made: string | null,
  ): Promise<SecretAnswer> => {
    const { endpoint, secret: mark }: SecretAnswer = JSON.parse(stored);
    const isMade = made !== null && !isReplayed;
    const secret = isMade ? made : await endpoints.markedSecret(callerOf(call).partner.id, endpoint.id, mark);
    return { endpoint, secret };
  };
  return {
    createWebhookEndpoint: async ({ body, call }) => {
      const changes = { ...changesOf(body), url: body.url };
      let made: string | null = null;
      const answer = await once(call, '', async (em) => {
        const { endpoint, secret } = await act(em, call, 'createWebhookEndpoint', async () => {
          const result = await endpoints.create(callerOf(call).partner.id, changes, em);
          return { result, target: `webhook:${result.endpoint.id}`, after: { types: null, ...body } };
        });
        made = secret;
        return { stored: markedJson(endpoint, secret), status: 201, orderId: null };
      });
      const shown = await withSecret(call, answer, made);
      // A key reads the endpoint there. Members read it in their list.
      const place = callerOf(call).kind === 'key' ? { Location: `${endpointsPath}/${shown.endpoint.id}` } : {};
      const headers = { ...place, ...replayedHeader(answer.isReplayed) };
      return { status: 201, body: json(shown), headers };
    },
    rotateWebhookSecret: async ({ path, body, call }) => {
      const partnerId = callerOf(call).partner.id;
      let made: string | null = null;
      const answer = await once(call, `/${path.endpoint_id}/rotate-secret`, async (em) => {
        const { endpoint, secret } = await act(em, call, 'rotateWebhookSecret', async () => {
          const hours = body.old_secret_hours;
          const result = await endpoints.rotateSecret(partnerId, path.endpoint_id, hours, em);
          return { result, target: `webhook:${result.endpoint.id}`, after: { ...body } };
        });
        made = secret;
        return { stored: markedJson(endpoint, secret), status: 200, orderId: null };
      });
      const shown = await withSecret(call, answer, made);
      return { status: 200, body: json(shown), headers: replayedHeader(answer.isReplayed) };
    },
  } satisfies Partial<Handlers>;
}

/** The test of an endpoint, which waits for the delivery. */
function testHandlers({ endpoints, requests }: WebhookParts, { part, audit }: Acting) {
  const waits = new TestWaits();
  const once = onceOf(requests);
  return {
    testWebhookEndpoint: async ({ path, call }) => {
      const partnerId = callerOf(call).partner.id;
      const { stored, isReplayed } = await part(call, () =>
        once(call, `/${path.endpoint_id}/test`, async (em) => {
          const ordered = await endpoints.orderTest(partnerId, path.endpoint_id, em);
          const about = { target: `webhook:${path.endpoint_id.toLowerCase()}`, after: { event_id: ordered.eventId } };
          await audit(em, call, 'testWebhookEndpoint', about);
          return { stored: JSON.stringify(ordered), status: 200, orderId: null };
        }),
      );
      const test: OrderedTest = JSON.parse(stored);
      const look = () => part(call, () => endpoints.testResult(test));
      const result = await waits.result(test.deliveryId, look, call.res);
      return { status: 200, body: json({ event_id: test.eventId, ...result }), headers: replayedHeader(isReplayed) };
    },
  } satisfies Partial<Handlers>;
}

/** The deliveries of an endpoint, and sending events again. */
function deliveryHandlers({ endpoints, deliveries, replays }: WebhookParts, { part, audit }: Acting) {
  const own = ownOf(endpoints);
  return {
    listWebhookDeliveries: async ({ path, query, call }) => {
      const endpoint = await own(call, path.endpoint_id);
      const limit = wholeNumber(query.limit, usualLimit);
      const page = await deliveries.list(endpoint, { state: query.state ?? null, limit, cursor: query.cursor ?? null });
      const isForPerson = callerOf(call).kind === 'member';
      const data = page.deliveries.map((delivery) => deliveryView(delivery, isForPerson));
      return { status: 200, body: json({ data, has_more: page.nextCursor !== null, next_cursor: page.nextCursor }) };
    },
    replayWebhookEvents: async ({ path, body, call }) => {
      const endpoint = await part(call, () => own(call, path.endpoint_id));
      const asked = replayOf(body);
      const key = keyOf(call, `/${endpoint.id}/replay`);
      const { stored, isReplayed } = await replays.run(endpoint.partner.id, key, async (em) => {
        const { count, nextCursor } = await deliveries.replay(endpoint, asked, em);
        const after = { ...body, count };
        await audit(em, call, 'replayWebhookEvents', { target: `webhook:${endpoint.id}`, after });
        return { stored: JSON.stringify({ count, next_cursor: nextCursor }), status: 200, orderId: null };
      });
      return { status: 200, body: stored, headers: replayedHeader(isReplayed) };
    },
  } satisfies Partial<Handlers>;
}

/** The Idempotency-Key of a POST. `path` is what follows the list of endpoints. */
function keyOf(call: Call, path: string): Repeatable | null {
  return repeatable(call, `POST ${endpointsPath}${path.toLowerCase()}`);
}

/** Makes the function that runs a POST once for each idempotency key. */
function onceOf(requests: RepeatableRequests) {
  return (call: Call, path: string, effect: (em: EntityManager) => Promise<Effect>): Promise<RepeatedAnswer> =>
    requests.run(callerOf(call).partner.id, keyOf(call, path), effect);
}

/** Makes the function that reads an endpoint of the caller's partner. */
function ownOf(endpoints: EndpointService) {
  return (call: Call, id: string): Promise<WebhookEndpoint> => endpoints.get(callerOf(call).partner.id, id);
}

/** The answer with a new secret, as it is stored: with the mark of the secret. */
function markedJson(endpoint: WebhookEndpoint, secret: string): string {
  return JSON.stringify({ endpoint: endpointView(endpoint), secret: secretMark(secret) } satisfies SecretAnswer);
}

/** These answers hold no amounts. */
function endpointView(endpoint: WebhookEndpoint): Schemas['WebhookEndpoint'] {
  return {
    id: endpoint.id,
    url: endpoint.url,
    types: endpoint.types,
    coin_from: endpoint.coinFrom,
    coin_to: endpoint.coinTo,
    amounts: endpoint.amounts,
    status: endpoint.status === 'enabled' ? 'enabled' : 'disabled',
    disabled_reason: endpoint.disabledReason,
    disabled_at: endpoint.disabledAt?.toISOString() ?? null,
    failures: endpoint.failures,
    failing_since: endpoint.failingSince?.toISOString() ?? null,
    last_success_at: endpoint.lastSuccessAt?.toISOString() ?? null,
    last_failure_at: endpoint.lastFailureAt?.toISOString() ?? null,
    old_secret_until: endpoint.oldSecretUntil?.toISOString() ?? null,
    created_at: endpoint.createdAt.toISOString(),
    updated_at: endpoint.updatedAt.toISOString(),
  };
}

/** @param isForPerson whether it has what only people of the partner see. */
function deliveryView(delivery: DeliveryView, isForPerson: boolean): Schemas['WebhookDelivery'] {
  return {
    event_id: delivery.eventId,
    type: delivery.type,
    order_id: delivery.orderId,
    is_replay: delivery.isReplay,
    state: delivery.state,
    created_at: delivery.createdAt,
    next_attempt_at: delivery.nextAttemptAt,
    ended_at: delivery.endedAt,
    attempts: delivery.log.map(({ attempt, at, status, ms, error, answer = null }) => {
      return { attempt, at, status, ms, error, ...(isForPerson ? { answer } : {}) };
    }),
  };
}

function changesOf(body: Body<'updateWebhookEndpoint'>): EndpointChanges {
  const { url, types, coin_from, coin_to, amounts, status } = body;
  return {
    ...(url === undefined ? {} : { url }),
    ...(types === undefined ? {} : { types }),
    ...(coin_from === undefined ? {} : { coinFrom: coin_from }),
    ...(coin_to === undefined ? {} : { coinTo: coin_to }),
    ...(amounts === undefined ? {} : { amounts }),
    ...(status === undefined ? {} : { status }),
  };
}

/** @throws AppError invalid_value for ids and a range together, or a time that does not exist. */
function replayOf({ event_ids, from, to, failed_only, cursor }: Body<'replayWebhookEvents'>): ReplayRequest {
  if (event_ids) {
    if ([from, to, failed_only, cursor].some((member) => member !== undefined)) {
      throw new AppError('invalid_value', 'send either event_ids or a range of time');
    }
    return { eventIds: event_ids };
  }
  return {
    from: moment('from', from),
    to: moment('to', to),
    failedOnly: failed_only ?? false,
    cursor: cursor ?? null,
  };
}
