import type { MikroORM } from '@mikro-orm/postgresql';
import { PartnerService } from '../accounts/partners/partner-service.ts';
import type { KeyHasher } from '../accounts/partners/secret-key.ts';
import { AuditLog } from '../accounts/staff/audit/audit-log.ts';
import type { StaffAuthenticator } from '../accounts/staff/staff-authenticator.ts';
import { StaffChanges } from '../accounts/staff/staff-changes.ts';
import { StaffService } from '../accounts/staff/staff-service.ts';
import { addressReader, unknownClientWarning } from '../base/limits/client-address.ts';
import type { Limiter } from '../base/limits/limiter.ts';
import { cabinetUrl } from '../config/cabinet-url.ts';
import { gatewayTerms } from '../config/fixed-rates.ts';
import { partnerLimits } from '../config/partner-limits.ts';
import { payoutRules } from '../config/payout-rules.ts';
import { publicUrl } from '../config/public-url.ts';
import type { CurrencyCatalogue } from '../market/currencies/currency-catalogue.ts';
import { CurrencyService, type PaymentLimits } from '../market/currencies/currency-service.ts';
import type { WalletLinks } from '../market/currencies/wallet-links.ts';
import type { PriceBook } from '../market/rates/price-book.ts';
import type { PriceOverrideService } from '../market/rates/price-override-service.ts';
import type { RateService } from '../market/rates/rate-service.ts';
import { OrderStats } from '../operations/order-stats.ts';
import type { OpenOrders } from '../orders/open-orders.ts';
import { OrderPages, pagePurpose } from '../orders/order-pages.ts';
import { PayoutHolds } from '../settlement/pay/payout-holds.ts';
import type { StaffActions } from '../settlement/staff-actions.ts';
import { ActionResolver } from '../surfaces/graphql/actions.ts';
import { AttentionResolver } from '../surfaces/graphql/attention.ts';
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
import { WebhookResolver } from '../surfaces/graphql/webhooks.ts';
import { isSameOrigin, staffCaller } from '../surfaces/internal/staff-caller.ts';
import type { Foundation } from './foundation.ts';
import { cabinetPeople } from './open-cabinet.ts';
import { openWebhooks } from './open-webhooks.ts';
import { staffActionsWithoutWorker } from './settlement-tools.ts';

export interface StaffApiParts {
  /** Connections for the staff API only. */
  readonly orm: MikroORM;
  readonly hasher: KeyHasher;
  readonly limiter: Limiter;
  readonly authenticator: StaffAuthenticator;
  readonly catalogue: CurrencyCatalogue;
  readonly networks: PaymentLimits & { readonly areOfValue: boolean };
  readonly prices: PriceBook;
  readonly overrides: PriceOverrideService;
  readonly rates: RateService;
  readonly wallets: WalletLinks;
  readonly openOrders: OpenOrders;
  /** Null in a process without settlement. */
  readonly actions: StaffActions | null;
}

/**
 * Builds the staff API from plain constructors: the same services that partners and settlement use.
 */
export async function openStaffApi({ config, clock, log }: Foundation, parts: StaffApiParts): Promise<StaffApi> {
  const { orm, hasher, limiter, authenticator, catalogue, networks, prices, overrides, rates } = parts;
  const actions = parts.actions ?? staffActionsWithoutWorker({ config, orm, clock, log, catalogue, prices });
  const audit = new AuditLog(orm, clock);
  const origin = cabinetUrl(config);
  const members = new StaffService(orm, hasher, clock, config.OIDC_ISSUER !== null);
  const stats = new OrderStats(orm);
  const webhooks = openWebhooks({ config, clock }, { orm, hasher });
  const partners = new PartnerService(orm, hasher, clock, networks.areOfValue, gatewayTerms(config));
  const schema = await buildStaffSchema([
    new OrderResolver(clock, audit, actions, new OrderPages(hasher.derivedKeys(pagePurpose), publicUrl(config))),
    new ActionResolver(audit, actions),
    new PayoutResolver(clock, audit, new PayoutHolds(orm, clock, log), actions, payoutRules(config)),
    new PartnerResolver(audit, partners, rates, partnerLimits(config)),
    new MemberResolver(audit, origin === null ? null : cabinetPeople(orm, clock, origin).members),
    new CurrencyResolver(audit, new CurrencyService(orm, clock, networks), catalogue),
    new RateResolver(audit, rates, partners, overrides, prices, () => prices.refresh(catalogue.coins())),
    new StatsResolver(stats),
    new AttentionResolver(clock, audit),
    new SystemResolver(prices, clock),
    new SessionResolver(audit, clock),
    new StaffResolver(audit, members, new StaffChanges(members, clock)),
    new WebhookResolver(audit, webhooks.endpoints, webhooks.deliveries),
    new OrderViewResolver(orm, clock),
  ]);
  const originOf = addressReader(config.TRUSTED_PROXIES, unknownClientWarning(log));
  return createStaffApi(
    {
      schema,
      sources: {
        orm,
        clock,
        live: new LiveFeed(orm, clock, log),
        stats,
        wallets: parts.wallets,
        openOrders: parts.openOrders,
      },
      limiter,
      log,
      operationsPerMin: config.RATE_LIMIT_STAFF_PER_MIN,
    },
    {
      caller: (req, isActivity) => staffCaller(req, authenticator, isActivity),
      isSameOrigin: (req) => isSameOrigin(req, config.INTERNAL_PUBLIC_URL),
      clientAddress: (req) => originOf(req).address,
      failuresPerMin: config.RATE_LIMIT_SIGN_IN_PER_MIN,
    },
  );
}
