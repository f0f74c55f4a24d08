import type { MikroORM } from '@mikro-orm/postgresql';
import { mostInvitations, mostMembers } from '../../../accounts/members/members.ts';
import { mostPasskeys } from '../../../accounts/members/passkeys.ts';
import type { Partner } from '../../../accounts/partners/partner.entity.ts';
import { maxCidrs, maxLiveKeys, type PartnerService } from '../../../accounts/partners/partner-service.ts';
import {
  hasOwnRequestLimit,
  type RequestKind,
  requestKinds,
  requestLimit,
} from '../../../accounts/partners/request-limits.ts';
import type { Clock } from '../../../base/clock.ts';
import { sql } from '../../../base/db/sql.ts';
import type { Limiter } from '../../../base/limits/limiter.ts';
import { Big, formatDecimal } from '../../../base/money.ts';
import { fixedRateTimes } from '../../../config/fixed-rates.ts';
import type { Config } from '../../../config/settings.ts';
import { holdSecOf } from '../../../market/rates/binding-quotes.ts';
import type { OpenOrders } from '../../../orders/open-orders.ts';
import { mostEndpoints } from '../../../webhooks/endpoint-service.ts';

const dayMs = 86_400_000;

/** Every limit and term that a partner is shown, in the order of the page. */
export const limitNames = [
  'open_orders',
  'float_usd',
  'fixed_hour_usd',
  'fixed_day_usd',
  'late_refunds_usd',
  'extra_refunds',
  'requests',
  'order_requests',
  'quote_requests',
  'list_requests',
  'validation_requests',
  'change_requests',
  'keyless_requests',
  'failed_keys',
  'service_fee_float',
  'service_fee_fixed',
  'markup_bps',
  'quote_hold_sec',
  'deposit_window_sec',
  'answer_sec',
  'live_keys',
  'key_addresses',
  'webhook_endpoints',
  'members',
  'invitations',
  'passkeys',
] as const;
type LimitName = (typeof limitNames)[number];

/** One limit. Both values are decimal texts, in the unit that the name ends with. */
interface LimitView {
  readonly name: LimitName;
  readonly most: string;
  /** What is used of it now. Null where there is no use, or where it is not known. */
  readonly used: string | null;
  /** Whether the partner has its own value. Otherwise it is the gateway's. */
  readonly isOwn: boolean;
}

interface LimitsView {
  readonly limits: readonly LimitView[];
  /** Whether the fixed caps are lower because the partner's fixed-rate orders lose money. */
  readonly areFixedCapsCut: boolean;
  /** Whether fixed quotes hold shorter, because the used ones exceed the market. */
  readonly isQuoteHoldCut: boolean;
}

type LimitSettings = Pick<
  Config,
  | 'FEE_RATE_FLOAT'
  | 'FEE_RATE_FIXED'
  | 'MAX_MARKUP_BPS'
  | 'FIXED_RATE_WINDOW_SEC'
  | 'FIXED_RATE_HOLD_SEC'
  | 'DEPOSIT_WINDOW_SEC'
  | 'ACTION_DEADLINE_SEC'
  | 'MAX_FIXED_DAY_USD'
  | 'LATE_REFUND_LIMIT_USD'
  | 'MAX_REFUNDS_PER_ORDER'
  | 'RATE_LIMIT_PUBLIC_PER_MIN'
  | 'RATE_LIMIT_AUTH_FAILURES_PER_MIN'
  | 'RATE_LIMIT_PARTNER_PER_MIN'
  | 'RATE_LIMIT_ORDERS_PER_MIN'
  | 'RATE_LIMIT_QUOTES_PER_MIN'
  | 'RATE_LIMIT_LISTS_PER_MIN'
  | 'RATE_LIMIT_VALIDATIONS_PER_MIN'
  | 'RATE_LIMIT_CHANGES_PER_MIN'
>;

interface OwnLimitsOptions {
  readonly orm: MikroORM;
  readonly clock: Clock;
  readonly partners: Pick<PartnerService, 'get'>;
  readonly openOrders: Pick<OpenOrders, 'exposures'>;
  readonly limiter: Pick<Limiter, 'used'>;
  readonly settings: LimitSettings;
}

/** The name under which each kind of requests is shown. */
const requestNames = {
  partner: 'requests',
  orders: 'order_requests',
  quotes: 'quote_requests',
  lists: 'list_requests',
  validations: 'validation_requests',
  changes: 'change_requests',
} as const satisfies Readonly<Record<RequestKind, LimitName>>;
type RequestLimitName = (typeof requestNames)[RequestKind];

type Amounts = Omit<LimitView, 'name'>;

interface Counts {
  readonly live_keys: number;
  readonly endpoints: number;
  readonly members: number;
  readonly invitations: number;
  readonly passkeys: number;
  readonly late_usd: string;
}

/** A stored decimal without the zeros at its end. */
const plain = (decimal: string): string => formatDecimal(new Big(decimal));

/** The limits of one partner, each with what is used of it. The same services enforce them. */
export class OwnLimits {
  readonly #options: OwnLimitsOptions;

  constructor(options: OwnLimitsOptions) {
    this.#options = options;
  }

  /**
   * @param memberId who looks, for the passkeys that this member has.
   * @throws AppError partner_not_found
   */
  async of(partnerId: string, memberId: string): Promise<LimitsView> {
    const { orm, openOrders, partners, settings } = this.#options;
    const partner = await partners.get(partnerId);
    const [exposure] = await openOrders.exposures([partner], orm.em.fork());
    const counts = await this.#counts(partnerId, memberId);
    const requests = await this.#requests(partner);
    if (!exposure) throw new Error('a partner without an exposure');
    const terms = fixedRateTimes(settings);
    const ownHour = partner.maxFixedExposureUsd;
    const of = (most: string | number, used: string | number | null = null, own: unknown = null): Amounts => {
      return { most: String(most), used: used === null ? null : String(used), isOwn: own !== null };
    };
    const table: Readonly<Record<LimitName, Amounts>> = {
      ...requests,
      open_orders: of(exposure.ordersCap, exposure.orders, partner.maxOpenOrders),
      float_usd: of(exposure.floatCapUsd, exposure.floatUsd, partner.maxFloatExposureUsd),
      fixed_hour_usd: of(exposure.fixedHourCapUsd, exposure.fixedHourUsd, ownHour),
      fixed_day_usd: {
        ...of(exposure.fixedDayCapUsd, exposure.fixedDayUsd, partner.maxFixedDayUsd),
        // Without its own daily cap, a higher cap of the hour raises the gateway's.
        isOwn: partner.maxFixedDayUsd !== null || (ownHour ?? 0) > settings.MAX_FIXED_DAY_USD,
      },
      late_refunds_usd: of(settings.LATE_REFUND_LIMIT_USD, plain(counts.late_usd)),
      extra_refunds: of(settings.MAX_REFUNDS_PER_ORDER),
      keyless_requests: of(settings.RATE_LIMIT_PUBLIC_PER_MIN),
      failed_keys: of(settings.RATE_LIMIT_AUTH_FAILURES_PER_MIN),
      service_fee_float: of(plain(partner.feeRateFloat ?? settings.FEE_RATE_FLOAT), null, partner.feeRateFloat),
      service_fee_fixed: of(plain(partner.feeRateFixed ?? settings.FEE_RATE_FIXED), null, partner.feeRateFixed),
      markup_bps: of(partner.maxMarkupBps ?? settings.MAX_MARKUP_BPS, null, partner.maxMarkupBps),
      quote_hold_sec: of(holdSecOf(partner, 'fixed', terms.holdSec), null, partner.quoteHoldSec),
      deposit_window_sec: of(settings.DEPOSIT_WINDOW_SEC),
      answer_sec: of(settings.ACTION_DEADLINE_SEC),
      live_keys: of(maxLiveKeys, counts.live_keys),
      key_addresses: of(maxCidrs),
      webhook_endpoints: of(mostEndpoints, counts.endpoints),
      members: of(mostMembers, counts.members),
      invitations: of(mostInvitations, counts.invitations),
      passkeys: of(mostPasskeys, counts.passkeys),
    };
    return {
      limits: limitNames.map((name) => ({ name, ...table[name] })),
      areFixedCapsCut: exposure.areFixedCapsCut,
      isQuoteHoldCut: partner.quoteCutSince !== null,
    };
  }

  /** The requests of the present minute. A refused request is no use of a limit. */
  async #requests(partner: Partner): Promise<Record<RequestLimitName, Amounts>> {
    const { limiter, settings } = this.#options;
    const buckets = requestKinds.map((bucket) => {
      return { bucket, key: partner.id, limit: requestLimit(bucket, partner, settings) };
    });
    const used = await limiter.used(buckets);
    const rows = buckets.map(({ bucket, limit }, index): [LimitName, Amounts] => [
      requestNames[bucket],
      {
        most: String(limit),
        used: used && String(Math.min(limit, used[index] ?? 0)),
        isOwn: hasOwnRequestLimit(bucket, partner),
      },
    ]);
    return Object.fromEntries(rows) as Record<RequestLimitName, Amounts>;
  }

  async #counts(partnerId: string, memberId: string): Promise<Counts> {
    const now = this.#options.clock.now();
    const [row] = await sql<Counts>(
      this.#options.orm.em.fork(),
      `with own as (select ?::uuid as partner_id, ?::timestamptz as now)
       select
         (select count(*)::int from api_key k, own
           where k.partner_id = own.partner_id and k.revoked_at is null
             and (k.expires_at is null or k.expires_at > own.now)) as live_keys,
         (select count(*)::int from webhook_endpoint w, own
           where w.partner_id = own.partner_id and w.status <> 'deleted') as endpoints,
         (select count(*)::int from partner_member m, own
           where m.partner_id = own.partner_id and m.removed_at is null) as members,
         (select count(*)::int from partner_invitation i, own
           where i.partner_id = own.partner_id and i.ended_at is null and i.expires_at > own.now) as invitations,
         (select count(*)::int from partner_passkey where member_id = ?) as passkeys,
         (select coalesce(sum(usd), 0)::text from late_refund l, own
           where l.partner_id = own.partner_id and l.at > ?) as late_usd`,
      [partnerId, now, memberId, new Date(now.getTime() - dayMs)],
    );
    if (!row) throw new Error('a query of counts answers with one row');
    return row;
  }
}
