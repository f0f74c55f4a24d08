import { AppError } from '../errors.ts';
import type { components } from '../generated/openapi.ts';
import { jsonNumber, parseDecimal } from '../money.ts';
import type { Order } from '../orders/order.entity.ts';
import type { KeyPrefix } from '../partners/secret-key.ts';
import type { MadeDeposits, PartnerSandbox } from '../sandbox/partner-sandbox.ts';
import type { EndpointService } from '../webhooks/endpoint-service.ts';
import type { Handlers } from './api.ts';
import { callerOf } from './authenticate.ts';
import { numberSource } from './body.ts';
import type { Call } from './call.ts';
import type { Json } from './contract.ts';
import { amountedJson } from './json-writer.ts';

type Schemas = components['schemas'];

const testKeyPrefix: KeyPrefix = 'xp_test_';

/** The paths of the sandbox begin with this. */
export const sandboxPaths = '/partner/sandbox/';

export interface SandboxParts {
  /** Null on every gateway that has a network of its own beside the sandbox. */
  readonly sandbox: PartnerSandbox | null;
  readonly endpoints: EndpointService;
}

/** The operations below /partner/sandbox. A gateway without a sandbox does not have them. */
export function sandboxHandlers({ sandbox, endpoints }: SandboxParts) {
  /** A key of a gateway that moved money is no key of a sandbox. */
  const opened = (call: Call): PartnerSandbox => {
    const isTestKey = callerOf(call).keyId.startsWith(testKeyPrefix);
    if (!sandbox || !isTestKey) throw new AppError('not_found', 'there is nothing at this path');
    return sandbox;
  };
  return {
    makeSandboxDeposits: async ({ path, body, call }) => {
      const made = await opened(call).deposit(callerOf(call).partner.id, path.order_id, {
        amount: body.amount === undefined ? null : parseDecimal(numberSource(body, 'amount')),
        coin: body.coin ?? null,
        network: body.network ?? null,
        tag: body.tag ?? null,
        count: body.count ?? 1,
        blocks: body.blocks ?? 0,
      });
      return { status: 200, body: amountedJson<Schemas['SandboxDeposits']>(depositsBody(made)) };
    },
    expireSandboxOrder: async ({ path, call }) => {
      return changed(await opened(call).expire(callerOf(call).partner.id, path.order_id));
    },
    reorgSandboxDeposit: async ({ path, call }) => {
      const { orderId, txids } = await opened(call).reorg(callerOf(call).partner.id, path.order_id);
      return { status: 200, body: json<Schemas['SandboxReorg']>({ order_id: orderId, dropped: txids }) };
    },
    forceSandboxOutcome: async ({ path, body, call }) => {
      return changed(await opened(call).force(callerOf(call).partner.id, path.order_id, body.outcome));
    },
    emitSandboxEvent: async ({ body, call }) => {
      opened(call);
      const samples = await endpoints.orderSamples(callerOf(call).partner.id, body.type);
      const data = samples.map(({ endpointId, eventId }) => ({ endpoint_id: endpointId, event_id: eventId }));
      return { status: 200, body: json<Schemas['SandboxSamples']>({ data }) };
    },
  } satisfies Partial<Handlers>;
}

function json<Shape>(value: Shape): Json<Shape> {
  return JSON.stringify(value);
}

function changed({ id, status, expiresAt }: Order) {
  const body = { order_id: id, status, expires_at: expiresAt.toISOString() };
  return { status: 200 as const, body: json<Schemas['SandboxOrder']>(body) };
}

function depositsBody({ orderId, coin, network, amount, address, tag, txids }: MadeDeposits) {
  return { order_id: orderId, coin, network, amount: jsonNumber(amount), address, tag, txids: [...txids] };
}
