import { type EntityManager, LockMode, type MikroORM } from '@mikro-orm/postgresql';
import ipaddr from 'ipaddr.js';
import { validate as isUuid, v7 as uuidv7 } from 'uuid';
import type { Clock } from '../../base/clock.ts';
import { AppError, errorFromFaults, type FieldFault, fieldError } from '../../base/errors.ts';
import { Big, formatDecimal, parseDecimal } from '../../base/money.ts';
import { ApiKey, type MarkupChange } from './api-key.entity.ts';
import { isLive } from './authenticator.ts';
import { type KeyScope, keyScopes, usualScopes } from './key-scope.ts';
import { Partner, type PartnerStatus } from './partner.entity.ts';
import { generateKey, type KeyHasher, type KeyPrefix } from './secret-key.ts';

/** Limit of a partner's keys that are neither revoked nor expired. */
export const maxLiveKeys = 5;
const maxRollHours = 7 * 24;
/** Bounds of the hold of a partner's quotes. */
const shortestHoldSec = 15;
const longestHoldSec = 300;
/** Limit of a key's networks, because each of them is compared with the address of each request. */
export const maxCidrs = 100;

/**
 * What may be changed of a partner. An absent member stays as it is; null restores the gateway's
 * setting.
 */
export interface PartnerChanges {
  readonly name?: string;
  readonly status?: PartnerStatus;
  readonly feeRateFloat?: string | null;
  readonly feeRateFixed?: string | null;
  readonly rateLimitPerMin?: number | null;
  readonly ordersLimitPerMin?: number | null;
  readonly listsLimitPerMin?: number | null;
  readonly maxOpenOrders?: number | null;
  readonly maxFixedExposureUsd?: number | null;
  readonly maxFixedDayUsd?: number | null;
  readonly maxFloatExposureUsd?: number | null;
  readonly keepsFixedCaps?: boolean;
  /** Basis points. */
  readonly maxMarkupBps?: number | null;
  /** Seconds. */
  readonly quoteHoldSec?: number | null;
  readonly requireSignature?: boolean;
  readonly publicStatus?: boolean;
  /** Needs a display name, and a gateway that knows its public address. */
  readonly orderPage?: boolean;
  readonly displayName?: string | null;
}

export interface KeyOptions {
  readonly label?: string;
  readonly scopes?: readonly string[];
  readonly allowedCidrs?: readonly string[];
  readonly expiresAt?: Date | null;
  /** Basis points. Null for none. */
  readonly defaultMarkupBps?: number | null;
}

/** What the gateway's settings give to a partner without its own terms. */
interface GatewayTerms {
  /** Service fee on fixed orders as a fraction. */
  readonly feeRateFixed: string;
  readonly quoteHoldSec: number;
  readonly maxMarkupBps: number;
  /** Scheme and host of links to the public listener. Null when the gateway does not know them. */
  readonly publicUrl: string | null;
}

/** Tells the owners of a partner, in the transaction of the change. */
export type OnMarkupChanged = (
  em: EntityManager,
  partnerId: string,
  change: MarkupChange,
  at: Date,
) => Promise<unknown>;

/** An issued key with its secret. The secret cannot be read again. */
export interface IssuedKey {
  readonly keyId: string;
  readonly key: string;
}

/** Partner accounts and their keys. */
export class PartnerService {
  readonly #orm: MikroORM;
  readonly #hasher: KeyHasher;
  readonly #clock: Clock;
  readonly #keyPrefix: KeyPrefix;
  readonly #terms: GatewayTerms;
  readonly #onMarkupChanged: OnMarkupChanged;

  /** @param areOfValue Whether the keys move real money; the prefix of each key says so. */
  constructor(
    orm: MikroORM,
    hasher: KeyHasher,
    clock: Clock,
    areOfValue: boolean,
    terms: GatewayTerms,
    onMarkupChanged: OnMarkupChanged,
  ) {
    this.#onMarkupChanged = onMarkupChanged;
    this.#orm = orm;
    this.#hasher = hasher;
    this.#clock = clock;
    this.#terms = terms;
    this.#keyPrefix = areOfValue ? 'xp_live_' : 'xp_test_';
  }

  /** Creates an active account with the gateway's own pricing and limits. */
  async create(name: string, em: EntityManager = this.#orm.em.fork()): Promise<Partner> {
    const now = this.#clock.now();
    const partner = em.create(Partner, {
      id: uuidv7(),
      name: checkedName(name),
      status: 'active',
      feeRateFloat: null,
      feeRateFixed: null,
      rateLimitPerMin: null,
      ordersLimitPerMin: null,
      listsLimitPerMin: null,
      maxOpenOrders: null,
      maxFixedExposureUsd: null,
      maxFixedDayUsd: null,
      maxFloatExposureUsd: null,
      keepsFixedCaps: false,
      maxMarkupBps: null,
      quoteHoldSec: null,
      quoteAdverseBps: null,
      quoteCutSince: null,
      requireSignature: false,
      publicStatus: false,
      orderPage: false,
      displayName: null,
      createdAt: now,
      updatedAt: now,
    });
    await em.flush();
    return partner;
  }

  async list(): Promise<Partner[]> {
    return this.#orm.em.fork().find(Partner, {}, { orderBy: { createdAt: 'asc', id: 'asc' }, limit: 1000 });
  }

  /** @throws AppError partner_not_found */
  async get(id: string): Promise<Partner> {
    return this.#find(this.#orm.em.fork(), id);
  }

  /**
   * Loads a partner and locks its row until the caller's transaction ends. @throws AppError
   * partner_not_found
   */
  async lock(id: string, em: EntityManager): Promise<Partner> {
    return this.#find(em, id, LockMode.PESSIMISTIC_WRITE);
  }

  /**
   * Changes an account. A hold of quotes above the gateway's needs a fixed fee above the gateway's.
   * The largest markup is at least the default markup of each live key.
   *
   * @throws AppError partner_not_found, invalid_value
   */
  async change(id: string, changes: PartnerChanges, em: EntityManager = this.#orm.em.fork()): Promise<Partner> {
    if (Object.keys(changes).length === 0) throw new AppError('invalid_value', 'say what is to be changed');
    return em.transactional(async (tx) => {
      const partner = await this.#find(tx, id, LockMode.PESSIMISTIC_WRITE);
      const faults: FieldFault[] = [];
      /** Sets a member that is given, or notes what is wrong with it. */
      const set = <Name extends keyof PartnerChanges>(
        name: Name,
        assign: (value: Exclude<PartnerChanges[Name], undefined>) => void,
      ): void => {
        const value = changes[name];
        if (value === undefined) return;
        try {
          assign(value as Exclude<PartnerChanges[Name], undefined>);
        } catch (error) {
          if (!(error instanceof AppError)) throw error;
          faults.push({ field: name, kind: error.kind, detail: error.detail });
        }
      };
      set('name', (name) => {
        partner.name = checkedName(name);
      });
      set('status', (status) => {
        partner.status = status;
      });
      for (const name of ['feeRateFloat', 'feeRateFixed'] as const) {
        set(name, (rate) => {
          partner[name] = checkedRate(rate);
        });
      }
      for (const name of ['rateLimitPerMin', 'ordersLimitPerMin', 'listsLimitPerMin'] as const) {
        set(name, (limit) => {
          partner[name] = checkedLimit(limit);
        });
      }
      for (const name of ['maxOpenOrders', 'maxFixedExposureUsd', 'maxFixedDayUsd', 'maxFloatExposureUsd'] as const) {
        set(name, (cap) => {
          partner[name] = checkedCap(cap);
        });
      }
      for (const name of ['keepsFixedCaps', 'requireSignature', 'publicStatus', 'orderPage'] as const) {
        set(name, (isOn) => {
          partner[name] = isOn;
        });
      }
      set('maxMarkupBps', (markupBps) => {
        partner.maxMarkupBps = checkedMarkup(markupBps);
      });
      set('quoteHoldSec', (seconds) => {
        partner.quoteHoldSec = checkedHold(seconds);
      });
      set('displayName', (name) => {
        partner.displayName = checkedDisplayName(name);
      });
      if (faults.length > 0) throw errorFromFaults(faults);
      if (changes.maxMarkupBps !== undefined) await this.#refuseMarkupAbove(tx, partner);
      this.#refuseFreeHold(partner);
      this.#refuseNamelessPage(partner, changes);
      partner.updatedAt = this.#clock.now();
      return partner;
    });
  }

  /**
   * Creates a key and returns it with its secret, which is shown only now.
   *
   * @throws AppError partner_not_found, too_many_keys (five live ones), invalid_value
   */
  async issueKey(
    partnerId: string,
    options: KeyOptions = {},
    em: EntityManager = this.#orm.em.fork(),
  ): Promise<IssuedKey> {
    return em.transactional(async (tx) => {
      const issued = await this.#issueKey(tx, partnerId, options);
      const key = await this.#findKey(tx, issued.keyId);
      if (key.defaultMarkupBps !== null) await this.#noteMarkup(tx, key, null);
      return issued;
    });
  }

  /**
   * Creates a successor with the same label, scopes and networks, and sets the end of the old key.
   * `oldKeyHours` is at most seven days; 0 ends the old key at once.
   *
   * @throws AppError key_not_found, too_many_keys, invalid_value
   */
  async rollKey(keyId: string, oldKeyHours = 24, em: EntityManager = this.#orm.em.fork()): Promise<IssuedKey> {
    if (!(oldKeyHours >= 0 && oldKeyHours <= maxRollHours)) {
      throw fieldError('invalid_value', 'old_key_hours', `the old key may live on for 0 to ${maxRollHours} hours`);
    }
    return em.transactional(async (tx) => {
      const old = await this.#findKey(tx, keyId);
      const now = this.#clock.now();
      if (!isLive(old, now)) throw new AppError('key_not_found', `the key ${keyId} has ended already`);
      const end = new Date(now.getTime() + oldKeyHours * 3_600_000);
      old.expiresAt = old.expiresAt && old.expiresAt < end ? old.expiresAt : end;
      await tx.flush();
      return this.#issueKey(tx, old.partner.id, {
        label: old.label,
        scopes: old.scopes,
        allowedCidrs: old.allowedCidrs,
        defaultMarkupBps: old.defaultMarkupBps,
      });
    });
  }

  /** Revokes a key at once. Repeating it changes nothing. @throws AppError key_not_found */
  async revokeKey(keyId: string, em: EntityManager = this.#orm.em.fork()): Promise<ApiKey> {
    return em.transactional(async (tx) => {
      const key = await this.#findKey(tx, keyId);
      key.revokedAt ??= this.#clock.now();
      return key;
    });
  }

  /**
   * Changes the label, scopes, networks, end and default markup of a live key. An absent member
   * stays as it is. Owners get a notice of another default markup.
   *
   * @throws AppError key_not_found, invalid_value
   */
  async changeKey(keyId: string, changes: KeyOptions, em: EntityManager = this.#orm.em.fork()): Promise<ApiKey> {
    const { label, scopes, allowedCidrs, expiresAt, defaultMarkupBps } = changes;
    if (Object.keys(changes).length === 0) throw new AppError('invalid_value', 'say what is to be changed');
    return em.transactional(async (tx) => {
      const key = await this.#findKey(tx, keyId);
      const now = this.#clock.now();
      if (!isLive(key, now)) throw new AppError('key_not_found', `the key ${keyId} has ended already`);
      if (label !== undefined) key.label = checkedLabel(label);
      if (scopes !== undefined) key.scopes = checkedScopes(scopes);
      if (allowedCidrs !== undefined) key.allowedCidrs = checkedCidrs(allowedCidrs);
      if (expiresAt !== undefined) key.expiresAt = checkedEnd(expiresAt, now);
      if (defaultMarkupBps !== undefined) {
        const partner = await this.#find(tx, key.partner.id, LockMode.PESSIMISTIC_WRITE);
        const previous = key.defaultMarkupBps;
        key.defaultMarkupBps = this.#checkedDefault(defaultMarkupBps, partner);
        if (key.defaultMarkupBps !== previous) await this.#noteMarkup(tx, key, previous);
      }
      return key;
    });
  }

  /** @throws AppError partner_not_found */
  async keys(partnerId: string): Promise<ApiKey[]> {
    const em = this.#orm.em.fork();
    const partner = await this.#find(em, partnerId);
    return em.find(ApiKey, { partner }, { orderBy: { createdAt: 'asc' } });
  }

  async #issueKey(em: EntityManager, partnerId: string, options: KeyOptions): Promise<IssuedKey> {
    // Serialises the issue of keys for one partner, so that two requests at once cannot both make
    // the fifth.
    const partner = await this.#find(em, partnerId, LockMode.PESSIMISTIC_WRITE);
    const now = this.#clock.now();
    const keys = await em.find(ApiKey, { partner, revokedAt: null });
    if (keys.filter((key) => isLive(key, now)).length >= maxLiveKeys) {
      throw new AppError('too_many_keys', `the partner has ${maxLiveKeys} live keys already; revoke one first`);
    }
    const key = generateKey(this.#keyPrefix);
    em.create(ApiKey, {
      keyId: key.keyId,
      partner,
      ...this.#hasher.hash(key),
      last4: key.secret.slice(-4),
      label: checkedLabel(options.label ?? ''),
      scopes: checkedScopes(options.scopes ?? usualScopes),
      allowedCidrs: checkedCidrs(options.allowedCidrs ?? []),
      createdAt: now,
      expiresAt: checkedEnd(options.expiresAt ?? null, now),
      defaultMarkupBps: this.#checkedDefault(options.defaultMarkupBps ?? null, partner),
      markupChangedAt: null,
      revokedAt: null,
      lastUsedAt: null,
      lastUsedFrom: null,
    });
    await em.flush();
    return { keyId: key.keyId, key: key.whole };
  }

  async #noteMarkup(em: EntityManager, key: ApiKey, previous: number | null): Promise<void> {
    const { keyId, label, defaultMarkupBps } = key;
    const now = this.#clock.now();
    key.markupChangedAt = now;
    await em.flush();
    const change = { key_id: keyId, label, markup_bps: defaultMarkupBps, previous_markup_bps: previous };
    await this.#onMarkupChanged(em, key.partner.id, change, now);
  }

  /** Zero is no default: the key's creates are then plain. */
  #checkedDefault(markupBps: number | null, { maxMarkupBps }: Partner): number | null {
    const most = maxMarkupBps ?? this.#terms.maxMarkupBps;
    if (markupBps === null || checkedMarkup(markupBps) === 0) return null;
    if (markupBps <= most) return markupBps;
    throw new AppError('markup_too_high', `the largest markup of this partner is ${most} basis points`);
  }

  async #refuseMarkupAbove(em: EntityManager, partner: Partner): Promise<void> {
    const most = partner.maxMarkupBps ?? this.#terms.maxMarkupBps;
    const now = this.#clock.now();
    const keys = await em.find(ApiKey, { partner, revokedAt: null, defaultMarkupBps: { $gt: most } });
    const [key] = keys.filter((one) => isLive(one, now));
    if (!key) return;
    const detail = `the default markup of the key ${key.keyId} is ${key.defaultMarkupBps} basis points; change it first`;
    throw fieldError('invalid_value', 'maxMarkupBps', detail);
  }

  /** A quote is an option for as long as it holds, and the fee is what the partner pays for it. */
  #refuseFreeHold({ quoteHoldSec, feeRateFixed }: Partner): void {
    const { quoteHoldSec: holdSec, feeRateFixed: fee } = this.#terms;
    if ((quoteHoldSec ?? 0) <= holdSec || new Big(feeRateFixed ?? fee).gt(fee)) return;
    const detail = `quotes that hold for more than ${holdSec} seconds need a fixed fee above the gateway's ${fee}`;
    throw fieldError('invalid_value', 'quoteHoldSec', detail);
  }

  /** The page tells its reader whose order it shows, and its links begin with our address. */
  #refuseNamelessPage({ orderPage, displayName }: Partner, changes: PartnerChanges): void {
    if (!orderPage) return;
    if (displayName === null)
      throw fieldError('invalid_value', 'displayName', 'an order page needs a display name to show');
    if (!changes.orderPage || this.#terms.publicUrl !== null) return;
    throw fieldError('invalid_value', 'orderPage', 'set PUBLIC_URL first: links to order pages begin with it');
  }

  async #find(em: EntityManager, id: string, lockMode = LockMode.NONE): Promise<Partner> {
    const partner = isUuid(id) ? await em.findOne(Partner, { id }, { lockMode }) : null;
    if (!partner) throw new AppError('partner_not_found', `there is no partner with the id '${id.slice(0, 40)}'`);
    return partner;
  }

  async #findKey(em: EntityManager, keyId: string): Promise<ApiKey> {
    const key = await em.findOne(ApiKey, { keyId });
    if (!key) throw new AppError('key_not_found', `there is no key with the id '${keyId.slice(0, 40)}'`);
    return key;
  }
}

/** The refusal of one member of the input. */
function checkedName(name: string): string {
  const trimmed = name.trim();
  // Control characters would break logs and terminals.
  if (trimmed.length < 1 || trimmed.length > 200 || /\p{Cc}/u.test(trimmed)) {
    throw fieldError('invalid_value', 'name', 'a partner name has 1 to 200 characters and no control characters');
  }
  return trimmed;
}

/** Users read it, so that it must not hide or reorder what surrounds it. */
function checkedDisplayName(name: string | null): string | null {
  if (name === null) return null;
  const trimmed = name.trim();
  if (trimmed.length < 1 || trimmed.length > 60 || /[\p{C}\p{Zl}\p{Zp}]/u.test(trimmed)) {
    throw new AppError('invalid_value', 'a display name has 1 to 60 visible characters');
  }
  return trimmed;
}

function checkedRate(text: string | null): string | null {
  if (text === null) return null;
  const rate = parseDecimal(text);
  if (!rate || rate.lt('0') || rate.gte('0.5') || rate.round(6).cmp(rate) !== 0) {
    throw new AppError('invalid_value', `a fee rate is a fraction from 0 to below 0.5 with at most 6 decimals: 0.004`);
  }
  return formatDecimal(rate);
}

function checkedLimit(limit: number | null): number | null {
  if (limit === null) return null;
  if (!Number.isInteger(limit) || limit < 1 || limit > 1_000_000) {
    throw new AppError('invalid_value', 'a rate limit is a whole number from 1 to 1000000 per minute');
  }
  return limit;
}

function checkedCap(cap: number | null): number | null {
  if (cap === null) return null;
  if (!Number.isInteger(cap) || cap < 1 || cap > 1_000_000_000) {
    throw new AppError('invalid_value', 'a cap is a whole number from 1 to 1000000000');
  }
  return cap;
}

function checkedMarkup(markupBps: number | null): number | null {
  if (markupBps === null) return null;
  if (!Number.isInteger(markupBps) || markupBps < 0 || markupBps > 500) {
    throw new AppError('invalid_value', 'a markup is a whole number of basis points from 0 to 500');
  }
  return markupBps;
}

function checkedHold(seconds: number | null): number | null {
  if (seconds === null) return null;
  if (!Number.isInteger(seconds) || seconds < shortestHoldSec || seconds > longestHoldSec) {
    const detail = `quotes hold for a whole number of seconds from ${shortestHoldSec} to ${longestHoldSec}`;
    throw new AppError('invalid_value', detail);
  }
  return seconds;
}

function checkedLabel(label: string): string {
  if (label.length > 100 || /\p{Cc}/u.test(label)) {
    throw fieldError(
      'invalid_value',
      'label',
      'the label of a key has at most 100 characters and no control characters',
    );
  }
  return label;
}

function checkedEnd(expiresAt: Date | null, now: Date): Date | null {
  if (expiresAt && expiresAt <= now)
    throw fieldError('invalid_value', 'expires_at', 'the end of a key lies in the future');
  return expiresAt;
}

function checkedScopes(scopes: readonly string[]): KeyScope[] {
  if (scopes.length === 0) throw fieldError('invalid_value', 'scopes', `a key needs a scope: ${keyScopes.join(', ')}`);
  const unknown = scopes.find((scope) => !keyScopes.some((known) => known === scope));
  if (unknown !== undefined) throw fieldError('invalid_value', 'scopes', `a scope is one of ${keyScopes.join(', ')}`);
  return keyScopes.filter((known) => scopes.includes(known));
}

function checkedCidrs(cidrs: readonly string[]): string[] {
  if (cidrs.length > maxCidrs) throw fieldError('invalid_value', 'networks', `a key has at most ${maxCidrs} networks`);
  for (const cidr of cidrs) {
    if (!ipaddr.IPv4.isValidCIDRFourPartDecimal(cidr) && !ipaddr.IPv6.isValidCIDR(cidr)) {
      throw fieldError('invalid_value', 'networks', `'${cidr.slice(0, 80)}' is not an IP range like 203.0.113.0/24`);
    }
  }
  return [...cidrs];
}
