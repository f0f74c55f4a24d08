import type { MikroORM } from '@mikro-orm/postgresql';
import { cabinetUrl } from '../config/cabinet-url.ts';
import { gatewayTerms } from '../config/fixed-rates.ts';
import { partnerLimits } from '../config/partner-limits.ts';
import { payoutRules } from '../config/payout-rules.ts';
import { publicUrl } from '../config/public-url.ts';
import type { CurrencyCatalogue } from '../currencies/currency-catalogue.ts';
import { CurrencyService, type PaymentLimits } from '../currencies/currency-service.ts';
import type { WalletLinks } from '../currencies/wallet-links.ts';
import { ActionResolver } from '../graphql/actions.ts';
import { AttentionResolver } from '../graphql/attention.ts';
import { CurrencyResolver } from '../graphql/currencies.ts';
import { MemberResolver } from '../graphql/members.ts';
import { OrderViewResolver } from '../graphql/order-views.ts';
import { OrderResolver } from '../graphql/orders.ts';
import { PartnerResolver } from '../graphql/partners.ts';
import { PayoutResolver } from '../graphql/payouts.ts';
import { RateResolver } from '../graphql/rates.ts';
import { LiveFeed } from '../graphql/server/live-feed.ts';
import { buildStaffSchema } from '../graphql/server/schema.ts';
import { createStaffApi, type StaffApi } from '../graphql/server/staff-api.ts';
import { SessionResolver } from '../graphql/sessions.ts';
import { StaffResolver } from '../graphql/staff.ts';
import { StatsResolver } from '../graphql/stats.ts';
import { SystemResolver } from '../graphql/system.ts';
import { WebhookResolver } from '../graphql/webhooks.ts';
import { isSameOrigin, staffCaller } from '../internal/staff-caller.ts';
import { addressReader, unknownClientWarning } from '../limits/client-address.ts';
import type { Limiter } from '../limits/limiter.ts';
import type { OpenOrders } from '../orders/open-orders.ts';
import { OrderPages, pagePurpose } from '../orders/order-pages.ts';
import { PartnerService } from '../partners/partner-service.ts';
import type { KeyHasher } from '../partners/secret-key.ts';
import type { PriceBook } from '../rates/price-book.ts';
import type { PriceOverrideService } from '../rates/price-override-service.ts';
import type { RateService } from '../rates/rate-service.ts';
import { OrderStats } from '../reports/order-stats.ts';
import { PayoutHolds } from '../settlement/payments/payout-holds.ts';
import type { StaffActions } from '../settlement/staff-actions.ts';
import { AuditLog } from '../staff/audit/audit-log.ts';
import type { StaffAuthenticator } from '../staff/staff-authenticator.ts';
import { StaffChanges } from '../staff/staff-changes.ts';
import { StaffService } from '../staff/staff-service.ts';
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
