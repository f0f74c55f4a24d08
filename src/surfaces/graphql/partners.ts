import { Arg, Args, Ctx, FieldResolver, ID, Int, Mutation, Query, Resolver, Root } from 'type-graphql';
import type { ApiKey } from '../../accounts/partners/api-key.entity.ts';
import type { Partner, PartnerStatus } from '../../accounts/partners/partner.entity.ts';
import { searchPartners } from '../../accounts/partners/partner-search.ts';
import type { IssuedKey, KeyOptions, PartnerChanges, PartnerService } from '../../accounts/partners/partner-service.ts';
import type { AuditLog } from '../../accounts/staff/audit/audit-log.ts';
import { AppError } from '../../base/errors.ts';
import type { RateService } from '../../market/rates/rate-service.ts';
import type { StatsRow } from '../../operations/order-stats.ts';
import type { Exposure } from '../../orders/exposure.ts';
import {
  ApiKeyType,
  ExposureType,
  FixedResultsType,
  IssuedKeyType,
  KeyInput,
  KeyRefusalsType,
  type LimitsInput,
  LimitsType,
  PartnerChangesInput,
  PartnerConnectionType,
  PartnerType,
  type PricingInput,
  PricingType,
} from './partner-types.ts';
import { type ListPage, listPage, PageArgs, pageOf } from './server/connection.ts';
import type { GraphqlContext } from './server/context.ts';
import { KeyScopeEnum, PartnerStatusEnum, scopeName, scopeOf } from './server/enumerations.ts';
import { withInputNames } from './server/input-faults.ts';
import { omitNullish } from './server/omit-nullish.ts';
import { ReasonArg } from './server/reason-arg.ts';
import { RequiresPermission, requirePermission } from './server/requires-permission.ts';
import { StatsBucketType } from './stats.ts';

/** The member of a partner that each fee sets. */
const pricingMembers = {
  float: 'feeRateFloat',
  fixed: 'feeRateFixed',
} as const satisfies Readonly<Record<keyof PricingInput, keyof PartnerChanges>>;

const limitMembers = {
  requests: 'rateLimitPerMin',
  orders: 'ordersLimitPerMin',
  lists: 'listsLimitPerMin',
  openOrders: 'maxOpenOrders',
  fixedExposureUsd: 'maxFixedExposureUsd',
  fixedDayUsd: 'maxFixedDayUsd',
  floatExposureUsd: 'maxFloatExposureUsd',
  markupBps: 'maxMarkupBps',
  quoteHoldSec: 'quoteHoldSec',
  keepsFixedCaps: 'keepsFixedCaps',
} as const satisfies Readonly<Record<keyof LimitsInput, keyof PartnerChanges>>;

@Resolver(() => ApiKeyType)
export class ApiKeyResolver {
  @FieldResolver(() => [KeyScopeEnum], { description: 'Permissions of the key.' })
  scopes(@Root() { scopes }: ApiKey): string[] {
    return scopes.map(scopeName);
  }

  @FieldResolver(() => KeyRefusalsType, { description: 'Its refused requests of the last 24 hours.' })
  async refusals(@Root() { keyId }: ApiKey, @Ctx() { loaders }: GraphqlContext): Promise<KeyRefusalsType> {
    return (await loaders.refusals.load(keyId)) ?? { refused: 0, limited: 0 };
  }
}

@Resolver(() => PartnerType)
export class PartnerResolver {
  readonly #audit: AuditLog;
  readonly #partners: PartnerService;
  readonly #rates: RateService;
  readonly #limits: LimitsType;

  /** @param limits the default limits of a partner. */
  constructor(audit: AuditLog, partners: PartnerService, rates: RateService, limits: LimitsType) {
    this.#audit = audit;
    this.#partners = partners;
    this.#rates = rates;
    this.#limits = limits;
  }

  @RequiresPermission('partners:read')
  @Query(() => [PartnerType], { description: 'All partners, oldest first, at most 1000.' })
  partners(): Promise<Partner[]> {
    return this.#partners.list();
  }

  @RequiresPermission('partners:read')
  @Query(() => PartnerConnectionType, { description: 'Partners by name.' })
  async partnerList(
    @Args(() => PageArgs) pageArgs: PageArgs,
    @Arg('search', () => String, {
      nullable: true,
      description: 'Only partners with this text in their name, or whose id begins with it; case does not matter.',
    })
    search: string | null | undefined,
    @Arg('status', () => PartnerStatusEnum, { nullable: true, description: 'Only partners of this status.' })
    status: PartnerStatus | null | undefined,
    @Ctx() { em }: GraphqlContext,
  ): Promise<ListPage<Partner>> {
    const page = pageOf(pageArgs);
    const { backwards, size, cursor } = page;
    const found = await searchPartners(em, {
      search: search?.trim() ?? '',
      status: status ?? null,
      backwards,
      cursor,
      limit: size + 1,
    });
    return listPage(found, page, ({ id }) => id);
  }

  @RequiresPermission('partners:read')
  @Query(() => PartnerType, { description: 'One partner.' })
  partner(@Arg('id', () => ID, { description: 'Id of the partner.' }) id: string): Promise<Partner> {
    return this.#partners.get(id);
  }

  @FieldResolver(() => PricingType, { description: "The fees that it pays: its own, or the gateway's." })
  pricing(@Root() partner: Partner): PricingType {
    return this.#rates.pricing(partner);
  }

  @FieldResolver(() => LimitsType, { description: "The limits in force: its own, or the gateway's." })
  limits(@Root() partner: Partner): LimitsType {
    const own = Object.entries(limitMembers).flatMap(([name, member]) => {
      const limit = partner[member];
      return limit === null ? [] : [[name, limit] as const];
    });
    const hourUsd = partner.maxFixedExposureUsd ?? 0;
    const fixedDayUsd = Math.max(this.#limits.fixedDayUsd, hourUsd);
    return { ...this.#limits, fixedDayUsd, ...Object.fromEntries(own) };
  }

  @RequiresPermission('keys:read')
  @FieldResolver(() => [ApiKeyType], { description: 'Its keys, oldest first.' })
  keys(@Root() { id }: Partner, @Ctx() { loaders }: GraphqlContext): Promise<ApiKey[]> {
    return loaders.keys.load(id);
  }

  @RequiresPermission('stats:read')
  @FieldResolver(() => [StatsBucketType], {
    description: 'Its orders of the last 30 days, by day. Days without orders are omitted.',
  })
  usage(@Root() { id }: Partner, @Ctx() { loaders }: GraphqlContext): Promise<StatsRow[]> {
    return loaders.usage.load(id);
  }

  @RequiresPermission('partners:read')
  @FieldResolver(() => ExposureType, { description: 'What its open orders take of its caps.' })
  async exposure(@Root() { id }: Partner, @Ctx() { loaders }: GraphqlContext): Promise<Exposure> {
    const exposure = await loaders.exposure.load(id);
    if (!exposure) throw new AppError('partner_not_found', 'there is no such partner');
    return exposure;
  }

  @RequiresPermission('stats:read')
  @FieldResolver(() => FixedResultsType, { description: 'Costs and earnings of its fixed orders.' })
  async fixedResults(@Root() { id }: Partner, @Ctx() { loaders }: GraphqlContext): Promise<FixedResultsType> {
    const none = { orders: 0, sentUsd: '0', adverseBps: null, lossUsd: '0' };
    const [day, month] = await Promise.all([loaders.fixedDay.load(id), loaders.fixedMonth.load(id)]);
    return { day: day ?? none, month: month ?? none };
  }

  @RequiresPermission('partners:write')
  @Mutation(() => PartnerType, { description: "Creates an active partner with the gateway's pricing and limits." })
  partnerCreate(
    @Arg('name', () => String, { description: 'Name, 1 to 200 characters.' }) name: string,
    @ReasonArg() reason: string,
    @Ctx() context: GraphqlContext,
  ): Promise<Partner> {
    return this.#audit.act(context.actor, 'partnerCreate', reason, async (em) => {
      const partner = await this.#partners.create(name, em);
      return { result: partner, target: `partner:${partner.id}`, after: snapshot(partner) };
    });
  }

  @RequiresPermission('partners:write')
  @Mutation(() => PartnerType, {
    description: 'Changes what is given of a partner. Its pricing and limits need partners:price.',
  })
  async partnerChange(
    @Arg('id', () => ID, { description: 'The partner.' }) id: string,
    @Arg('changes', () => PartnerChangesInput, { description: 'What becomes different.' }) given: PartnerChangesInput,
    @ReasonArg() reason: string,
    @Ctx() context: GraphqlContext,
  ): Promise<Partner> {
    if (given.pricing || given.limits) requirePermission(context, 'partners:price');
    const changes = changesOf(given);
    if (Object.keys(changes).length === 0) throw new AppError('invalid_value', nothingChanges);
    return withInputNames(inputNames, () =>
      this.#audit.act(context.actor, 'partnerChange', reason, async (em) => {
        const before = snapshot(await this.#partners.lock(id, em));
        const partner = await this.#partners.change(id, changes, em);
        return { result: partner, target: `partner:${partner.id}`, before, after: snapshot(partner) };
      }),
    );
  }

  @RequiresPermission('keys:write')
  @Mutation(() => IssuedKeyType, { description: 'Issues a key. A partner has at most five valid keys.' })
  keyIssue(
    @Arg('partnerId', () => ID, { description: 'The partner.' }) partnerId: string,
    @Arg('key', () => KeyInput, { nullable: true, description: 'Properties of the key.' }) key: KeyInput | null,
    @ReasonArg() reason: string,
    @Ctx() context: GraphqlContext,
  ): Promise<IssuedKey> {
    return this.#audit.act(context.actor, 'keyIssue', reason, async (em) => {
      const options = keyOptions(key ?? {});
      const issued = await this.#partners.issueKey(partnerId, options, em);
      return { result: issued, target: `key:${issued.keyId}`, after: { partner: partnerId, ...options } };
    });
  }

  @RequiresPermission('keys:write')
  @Mutation(() => IssuedKeyType, { description: 'Issues a successor of a key, and sets an expiry for the old key.' })
  keyRoll(
    @Arg('keyId', () => ID, { description: 'The old key.' }) keyId: string,
    @Arg('hours', () => Int, { defaultValue: 24, description: 'Hours until the old key expires, 0 to 168.' })
    hours: number,
    @ReasonArg() reason: string,
    @Ctx() context: GraphqlContext,
  ): Promise<IssuedKey> {
    return this.#audit.act(context.actor, 'keyRoll', reason, async (em) => {
      const names = { old_key_hours: 'hours' };
      const issued = await withInputNames(names, () => this.#partners.rollKey(keyId, hours, em));
      return { result: issued, target: `key:${keyId}`, after: { successor: issued.keyId, hours } };
    });
  }

  @RequiresPermission('keys:write')
  @Mutation(() => ApiKeyType, {
    description: 'Changes the label, permissions, networks, default markup and expiry of a valid key.',
  })
  keyChange(
    @Arg('keyId', () => ID, { description: 'The key.' }) keyId: string,
    @Arg('key', () => KeyInput, { description: 'The new properties.' }) key: KeyInput,
    @ReasonArg() reason: string,
    @Ctx() context: GraphqlContext,
  ): Promise<ApiKey> {
    return this.#audit.act(context.actor, 'keyChange', reason, async (em) => {
      const options = keyOptions(key);
      const changed = await this.#partners.changeKey(keyId, options, em);
      return { result: changed, target: `key:${keyId}`, after: { ...options } };
    });
  }

  @RequiresPermission('keys:write')
  @Mutation(() => ApiKeyType, { description: 'Revokes a key at once.' })
  keyRevoke(
    @Arg('keyId', () => ID, { description: 'The key.' }) keyId: string,
    @ReasonArg() reason: string,
    @Ctx() context: GraphqlContext,
  ): Promise<ApiKey> {
    return this.#audit.act(context.actor, 'keyRevoke', reason, async (em) => {
      const key = await this.#partners.revokeKey(keyId, em);
      return { result: key, target: `key:${keyId}`, after: { revokedAt: key.revokedAt } };
    });
  }
}

const nothingChanges = 'name at least one member of changes, such as changes: { name: "Shop" }';

function changesOf({ pricing, limits, ...given }: PartnerChangesInput): PartnerChanges {
  // A flag has no value of the gateway's that null could restore.
  const caps = limits?.keepsFixedCaps === null ? { ...limits, keepsFixedCaps: false } : limits;
  return { ...omitNullish(given), ...renamed(pricing, pricingMembers), ...renamed(caps, limitMembers) };
}

/** What an input gives, by the names of a partner's members. */
function renamed(input: object | null | undefined, members: Readonly<Record<string, string>>): PartnerChanges {
  const given = Object.entries(input ?? {}).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [members[name], value]));
}

/** What the input calls the members of a partner. */
const inputNames = Object.fromEntries(
  [
    ...['name', 'status', 'requireSignature', 'publicStatus', 'orderPage', 'displayName'].map((name) => [name, name]),
    ...Object.entries(pricingMembers).map(([name, member]) => [member, `pricing.${name}`]),
    ...Object.entries(limitMembers).map(([name, member]) => [member, `limits.${name}`]),
  ].map(([member, name]) => [member, `changes.${name}`]),
);

function snapshot(partner: Partner): Record<string, unknown> {
  const { name, status, feeRateFloat, feeRateFixed, rateLimitPerMin, ordersLimitPerMin, requireSignature } = partner;
  const { listsLimitPerMin, publicStatus, orderPage, displayName, maxMarkupBps, quoteHoldSec } = partner;
  const { maxOpenOrders, maxFixedExposureUsd, maxFixedDayUsd, maxFloatExposureUsd, keepsFixedCaps } = partner;
  return {
    name,
    status,
    feeRateFloat,
    feeRateFixed,
    rateLimitPerMin,
    ordersLimitPerMin,
    listsLimitPerMin,
    maxOpenOrders,
    maxFixedExposureUsd,
    maxFixedDayUsd,
    maxFloatExposureUsd,
    keepsFixedCaps,
    maxMarkupBps,
    quoteHoldSec,
    requireSignature,
    publicStatus,
    orderPage,
    displayName,
  };
}

function keyOptions({ label, scopes, allowedCidrs, expiresAt, defaultMarkupBps }: KeyInput): KeyOptions {
  return {
    ...(label === undefined || label === null ? {} : { label }),
    ...(scopes === undefined || scopes === null ? {} : { scopes: scopes.map(scopeOf) }),
    ...(allowedCidrs === undefined || allowedCidrs === null ? {} : { allowedCidrs }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(defaultMarkupBps === undefined ? {} : { defaultMarkupBps }),
  };
}
