import { memberOf } from '../api/call.ts';
import type { CabinetParts } from './cabinet-parts.ts';
import type { CabinetHandlers } from './contract.ts';

/** How the account stands: the first page, and the limits. */
export function homeHandlers(parts: CabinetParts) {
  const { overview } = parts;
  return {
    getHome: async (request) => {
      const { partner, memberId } = memberOf(request);
      const view = await overview.of(partner.id, memberId);
      const figures = ({ created, completed, refunded, expired, volumeUsd }: typeof view.today) => {
        return { created, completed, refunded, expired, volume_usd: volumeUsd };
      };
      return {
        body: {
          today: figures(view.today),
          days_30: figures(view.days30),
          by_day: view.byDay.map(({ day, created, completed, volumeUsd }) => {
            return { day, created, completed, volume_usd: volumeUsd };
          }),
          open_orders: view.openOrders,
          most_open_orders: partner.maxOpenOrders ?? parts.maxOpenOrders,
          orders_on_hold: view.ordersOnHold,
          requests: { rate_limited_24h: view.requests.limited, refused_24h: view.requests.refused },
          live_keys: view.liveKeys,
          webhooks: {
            endpoints: view.webhooks.endpoints,
            disabled: view.webhooks.disabled,
            failing: view.webhooks.failing,
            delivered_24h: view.webhooks.delivered,
            failed_24h: view.webhooks.failed,
          },
          needs_action: view.needsAction.map(({ reason, count }) => ({ code: reason, count })),
        },
      };
    },
    getLimits: async (request) => {
      const { partner, memberId } = memberOf(request);
      const { limits, areFixedCapsCut, isQuoteHoldCut } = await parts.limits.of(partner.id, memberId);
      return {
        body: {
          limits: limits.map(({ name, most, used, isOwn }) => ({ name, most, used, is_own: isOwn })),
          are_fixed_caps_cut: areFixedCapsCut,
          is_quote_hold_cut: isQuoteHoldCut,
        },
      };
    },
  } satisfies Partial<CabinetHandlers>;
}
