import type { EntityManager } from '@mikro-orm/postgresql';
import type { KeyPrefix } from '../../../accounts/partners/secret-key.ts';
import { AppError } from '../../../base/errors.ts';
import { jsonNumber, parseDecimal } from '../../../base/money.ts';
import type { components } from '../../../generated/openapi.ts';
import type { Order } from '../../../orders/order.entity.ts';
import type { RepeatableRequests } from '../../../orders/repeatable-requests.ts';
import type { MadeDeposits, PartnerSandbox } from '../../../settlement/sandbox/partner-sandbox.ts';
import type { EndpointService } from '../../../webhooks/endpoint-service.ts';
import { numberSource } from '../api/body.ts';
import type { Call } from '../api/call.ts';
import { repeatable, replayedHeader } from '../api/idempotency-header.ts';
import { json } from '../api/json.ts';
import { keyOf } from './authenticate.ts';
import { apiRoot } from './contract.ts';
import type { Handlers } from './handler.ts';

type Schemas = components['schemas'];

const testKeyPrefix: KeyPrefix = 'xp_test_';

/** The paths of the sandbox begin with this. */
export const sandboxPaths = '/partner/sandbox/';

export interface SandboxParts {
  /** Null on every gateway that has a network other than the sandbox. */
  readonly sandbox: PartnerSandbox | null;
  readonly endpoints: EndpointService;
  readonly requests: RepeatableRequests;
}

/** What an operation does to one order, in the transaction that stores its answer. */
type Change = (sandbox: PartnerSandbox, orderId: string, partnerId: string, em: EntityManager) => Promise<string>;

/** The operations below /partner/sandbox. A gateway without a sandbox does not have them. */
export function sandboxHandlers({ sandbox, endpoints, requests }: SandboxParts) {
  /** A key of a gateway that moved money is no key of a sandbox. */
  const opened = (call: Call): PartnerSandbox => {
    const isTestKey = keyOf(call).keyId.startsWith(testKeyPrefix);
    if (!sandbox || !isTestKey) throw new AppError('not_found', 'there is nothing at this path');
    return sandbox;
  };
  /** Changes an order once for each idempotency key. All names of the order count as the same. */
  const once = async (call: Call, orderName: string, operation: string, change: Change) => {
    const opening = opened(call);
    const partnerId = keyOf(call).partner.id;
    const orderId = await opening.idOf(partnerId, orderName);
    const key = repeatable(call, `POST ${apiRoot}${sandboxPaths}orders/${orderId}/${operation}`);
    const { stored, isReplayed } = await requests.run(partnerId, key, async (em) => {
      return { stored: await change(opening, orderId, partnerId, em), status: 200, orderId };
    });
    return { status: 200 as const, body: stored, headers: replayedHeader(isReplayed) };
  };
  return {
    makeSandboxDeposits: ({ path, body, call }) => {
      const asked = {
        amount: body.amount === undefined ? null : parseDecimal(numberSource(body, 'amount')),
        coin: body.coin ?? null,
        network: body.network ?? null,
        tag: body.tag ?? null,
        count: body.count ?? 1,
        blocks: body.blocks ?? 0,
      };
      return once(call, path.order_id, 'deposits', async (opening, orderId, partnerId, em) =>
        json<Schemas['SandboxDeposits']>(depositsBody(await opening.deposit(partnerId, orderId, asked, em))),
      );
    },
    expireSandboxOrder: ({ path, call }) =>
      once(call, path.order_id, 'expire', async (opening, orderId, partnerId, em) =>
        changed(await opening.expire(partnerId, orderId, em)),
      ),
    reorgSandboxDeposit: ({ path, call }) =>
      once(call, path.order_id, 'reorg', async (opening, orderId, partnerId, em) => {
        const { txids } = await opening.reorg(partnerId, orderId, em);
        return json<Schemas['SandboxReorg']>({ order_id: orderId, dropped: txids });
      }),
    forceSandboxOutcome: ({ path, body, call }) =>
      once(call, path.order_id, 'force', async (opening, orderId, partnerId, em) =>
        changed(await opening.force(partnerId, orderId, body.outcome, em)),
      ),
    emitSandboxEvent: async ({ body, call }) => {
      opened(call);
      const partnerId = keyOf(call).partner.id;
      const key = repeatable(call, `POST ${apiRoot}${sandboxPaths}webhooks/emit`);
      const { stored, isReplayed } = await requests.run(partnerId, key, async (em) => {
        const samples = await endpoints.orderSamples(partnerId, body.type, em);
        const data = samples.map(({ endpointId, eventId }) => ({ endpoint_id: endpointId, event_id: eventId }));
        return { stored: json<Schemas['SandboxSamples']>({ data }), status: 200, orderId: null };
      });
      return { status: 200, body: stored, headers: replayedHeader(isReplayed) };
    },
  } satisfies Partial<Handlers>;
}

function changed({ id, status, expiresAt }: Order): string {
  return json<Schemas['SandboxOrder']>({ order_id: id, status, expires_at: expiresAt.toISOString() });
}

function depositsBody({ orderId, coin, network, amount, address, tag, txids }: MadeDeposits) {
  return { order_id: orderId, coin, network, amount: jsonNumber(amount), address, tag, txids: [...txids] };
}
