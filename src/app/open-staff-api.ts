import type { StaffAuthenticator } from '../accounts/staff/staff-authenticator.ts';
import { StaffChanges } from '../accounts/staff/staff-changes.ts';
import { addressReader, unknownClientWarning } from '../base/limits/client-address.ts';
import type { Limiter } from '../base/limits/limiter.ts';
import { partnerLimits } from '../config/partner-limits.ts';
import { payoutRules } from '../config/payout-rules.ts';
import type { StaffActions } from '../settlement/staff-actions.ts';
import { ActionResolver } from '../surfaces/graphql/actions.ts';
import { AttentionResolver } from '../surfaces/graphql/attention.ts';
import { CommissionResolver, PartnerCommissionResolver } from '../surfaces/graphql/commission.ts';
import { CurrencyResolver } from '../surfaces/graphql/currencies.ts';
import { MemberResolver } from '../surfaces/graphql/members.ts';
import { OrderViewResolver } from '../surfaces/graphql/order-views.ts';
import { OrderResolver } from '../surfaces/graphql/orders.ts';
import { PartnerResolver } from '../surfaces/graphql/partners.ts';
import { PayoutResolver } from '../surfaces/graphql/payouts.ts';
import { RateResolver } from '../surfaces/graphql/rates.ts';
import { buildStaffSchema } from '../surfaces/graphql/schema.ts';
import { LiveFeed } from '../surfaces/graphql/server/live-feed.ts';
import { createStaffApi, type StaffApi } from '../surfaces/graphql/server/staff-api.ts';
import { SessionResolver } from '../surfaces/graphql/sessions.ts';
import { StaffResolver } from '../surfaces/graphql/staff.ts';
import { StatsResolver } from '../surfaces/graphql/stats.ts';
import { SystemResolver } from '../surfaces/graphql/system.ts';
import { TreasuryResolver } from '../surfaces/graphql/treasury.ts';
import { WebhookResolver } from '../surfaces/graphql/webhooks.ts';
import { isSameOrigin, staffCaller } from '../surfaces/internal/staff-caller.ts';
import type { GatewayServices, GatewayShared } from './services.ts';
import { staffActionsWithoutWorker } from './settlement-tools.ts';

export interface StaffApiParts {
  readonly limiter: Limiter;
  /** The one of the pages for staff. */
  readonly authenticator: StaffAuthenticator;
  /** Null in a process without settlement. */
  readonly actions: StaffActions | null;
}

/**
 * Builds the staff API over the pool of staff: the same services that partners and settlement use.
 */
export async function openStaffApi(
  shared: GatewayShared,
  own: GatewayServices,
  parts: StaffApiParts,
): Promise<StaffApi> {
  const { config, clock, log, catalogue, rates, overrides, prices, wallets, openOrders } = shared;
  const { orm, audit, partners, staff, stats } = own;
  const actions = parts.actions ?? staffActionsWithoutWorker(shared, orm);
  const schema = await buildStaffSchema([
    new OrderResolver(clock, audit, actions, own.orderService),
    new ActionResolver(audit, actions),
    new PayoutResolver(clock, audit, own.holds, actions, payoutRules(config)),
    new PartnerResolver(audit, partners, rates, partnerLimits(config)),
    new MemberResolver(audit, own.people?.members ?? null),
    new CurrencyResolver(audit, own.currencies, catalogue),
    new RateResolver(audit, rates, partners, overrides, prices, () => prices.refresh(catalogue.coins())),
    new StatsResolver(stats),
    new AttentionResolver(clock, audit),
    new SystemResolver(prices, clock),
    new SessionResolver(audit, clock),
    new StaffResolver(audit, staff, new StaffChanges(staff, clock)),
    new WebhookResolver(audit, own.endpoints, own.deliveries),
    new OrderViewResolver(orm, clock),
    new TreasuryResolver(clock, audit, actions),
    new CommissionResolver(audit, actions, prices),
    new PartnerCommissionResolver(shared.commissionAddresses),
  ]);
  const originOf = addressReader(config.TRUSTED_PROXIES, unknownClientWarning(log));
  return createStaffApi(
    {
      schema,
      sources: { orm, clock, live: new LiveFeed(orm, clock, log), stats, wallets, openOrders, orders: own.orderReads },
      limiter: parts.limiter,
      log,
      operationsPerMin: config.RATE_LIMIT_STAFF_PER_MIN,
      socketsPerAddress: config.STAFF_SOCKETS_PER_ADDRESS,
    },
    {
      caller: (req, isActivity) => staffCaller(req, parts.authenticator, isActivity),
      isSameOrigin: (req) => isSameOrigin(req, config.INTERNAL_PUBLIC_URL),
      clientAddress: (req) => originOf(req).address,
      failuresPerMin: config.RATE_LIMIT_SIGN_IN_PER_MIN,
    },
  );
}
