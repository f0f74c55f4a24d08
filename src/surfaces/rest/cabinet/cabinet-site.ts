import type { Limiter } from '../../../base/limits/limiter.ts';
import type { Config } from '../../../config/settings.ts';
import type { Answer } from '../api/answer.ts';
import type { Call } from '../api/call.ts';
import { commissionHandlers } from '../partner/commission.ts';
import { actOnOrderHandler } from '../partner/order-changes.ts';
import { getOrderDetailsHandler, listOrderEventsHandler, listOrdersHandler } from '../partner/order-lists.ts';
import { getOrderHandler } from '../partner/orders.ts';
import { webhookHandlers } from '../partner/webhooks.ts';
import { addressHandlers } from './address-handlers.ts';
import { cabinetApi } from './cabinet-api.ts';
import { cabinetPages } from './cabinet-pages.ts';
import { type CabinetServices, cabinetParts } from './cabinet-parts.ts';
import { cabinetApiRoot } from './contract.ts';
import { homeHandlers } from './home-handlers.ts';
import { keyHandlers } from './key-handlers.ts';
import { passkeyHandlers } from './passkey-handlers.ts';
import { reportHandlers } from './report-handlers.ts';
import { sessionHandlers, signInHandlers } from './session-handlers.ts';
import { teamHandlers } from './team-handlers.ts';

interface CabinetSiteOptions {
  readonly services: CabinetServices;
  readonly config: Pick<Config, 'RATE_LIMIT_SIGN_IN_PER_MIN' | 'RATE_LIMIT_CABINET_PER_MIN'>;
  readonly limiter: Limiter;
  /** CABINET_URL. */
  readonly origin: string;
  /** Whether each answer is checked by the contract. */
  readonly checksAnswers: boolean;
}

/** Makes the function that answers the partner cabinet: its pages and their API. */
export async function cabinetSite(options: CabinetSiteOptions): Promise<(call: Call) => Promise<Answer>> {
  const { services, config, limiter, origin, checksAnswers } = options;
  const parts = cabinetParts(services);
  const handlers = {
    ...signInHandlers(parts),
    ...sessionHandlers(parts),
    ...passkeyHandlers(parts),
    ...teamHandlers(parts),
    ...homeHandlers(parts),
    ...keyHandlers(parts),
    ...reportHandlers(parts),
    ...addressHandlers(parts),
  };
  const { sessions, turns, acting } = parts;
  const { orders, orderService } = parts;
  const sharedHandlers = {
    listOrders: listOrdersHandler(orders),
    getOrder: getOrderHandler(orders),
    getOrderDetails: getOrderDetailsHandler(orders),
    listOrderEvents: listOrderEventsHandler(orders),
    actOnOrder: actOnOrderHandler(orderService, orders, acting),
    ...webhookHandlers(parts, acting),
    ...commissionHandlers(parts, acting),
  };
  const api = await cabinetApi({ config, origin, limiter, sessions, turns, handlers, sharedHandlers, checksAnswers });
  const pages = cabinetPages();
  return async (call) => (call.path.startsWith(`${cabinetApiRoot}/`) ? api(call) : pages(call));
}
