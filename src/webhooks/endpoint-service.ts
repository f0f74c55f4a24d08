import { type EntityManager, LockMode, type MikroORM } from '@mikro-orm/postgresql';
import { validate as isUuid, v7 as uuidv7 } from 'uuid';
import { Partner } from '../accounts/partners/partner.entity.ts';
import type { Clock } from '../base/clock.ts';
import { sql } from '../base/db/sql.ts';
import { AppError, fieldError } from '../base/errors.ts';
import { takeAllowance } from './allowance.ts';
import { testEventId, testEventType } from './delivery-body.ts';
import { type EgressRules, judgeUrl } from './egress-rules.ts';
import { type WebhookEventType, webhookEventTypes } from './partner-events.ts';
import type { SecretBox } from './secret-box.ts';
import { newSecret, secretMark, secretText } from './signature.ts';
import { type DeliveryState, WebhookDelivery } from './webhook-delivery.entity.ts';
import { type DisabledReason, WebhookEndpoint } from './webhook-endpoint.entity.ts';

/** Most endpoints of a partner. */
export const mostEndpoints = 10;
/** Longest time that the secret before a rotation signs too. */
const mostOldSecretHours = 7 * 24;
const usualOldSecretHours = 24;

const hourMs = 3_600_000;
const minuteMs = 60_000;
/** Waiting deliveries that go with their endpoint at once. The rest goes within minutes. */
const forgottenAtOnce = 10_000;
/** Secrets that one run encrypts again. */
const resealBatch = 200;

/** What a caller may set of an endpoint. An absent member stays as it is. */
export interface EndpointChanges {
  readonly url?: string;
  /** Null for all types. */
  readonly types?: readonly string[] | null;
  /** Null for all coins. */
  readonly coinFrom?: string | null;
  readonly coinTo?: string | null;
  readonly amounts?: 'string' | 'number';
  readonly status?: 'enabled' | 'disabled';
}

/** A new secret with its endpoint. The secret cannot be read again. */
export interface SecretOfEndpoint {
  readonly endpoint: WebhookEndpoint;
  readonly secret: string;
}

/** A test of an endpoint that was ordered. */
export interface OrderedTest {
  readonly deliveryId: string;
  readonly eventId: string;
}

/** A sample of an event that was ordered for an endpoint. */
interface OrderedSample {
  readonly endpointId: string;
  readonly eventId: string;
}

/** The result of a test. All but the state is null until an attempt has ended. */
export interface TestResult {
  readonly state: DeliveryState;
  readonly status: number | null;
  readonly ms: number | null;
  readonly error: string | null;
}

interface EndpointServiceOptions {
  readonly orm: MikroORM;
  readonly clock: Clock;
  readonly secrets: SecretBox;
  readonly rules: EgressRules;
}

/**
 * Webhook endpoints of partners. The partner API and staff use the same service. A method that
 * takes `em` joins the caller's transaction.
 */
export class EndpointService {
  readonly #orm: MikroORM;
  readonly #clock: Clock;
  readonly #secrets: SecretBox;
  readonly #rules: EgressRules;

  constructor({ orm, clock, secrets, rules }: EndpointServiceOptions) {
    this.#orm = orm;
    this.#clock = clock;
    this.#secrets = secrets;
    this.#rules = rules;
  }

  /**
   * Creates an enabled endpoint and returns its secret, which is shown only now. It gets the events
   * from now on.
   *
   * @throws AppError url_not_allowed, too_many_endpoints (ten), invalid_value, partner_not_found
   */
  async create(
    partnerId: string,
    changes: EndpointChanges & { readonly url: string },
    em: EntityManager = this.#orm.em.fork(),
  ): Promise<SecretOfEndpoint> {
    return em.transactional(async (tx) => {
      // Serialises the creates of one partner, so that two at once cannot both make the tenth. Rows
      // that refer to the partner, such as orders, are written meanwhile.
      if (isUuid(partnerId)) await sql(tx, 'select 1 from partner where id = ? for no key update', [partnerId]);
      const partner = isUuid(partnerId) ? await tx.findOne(Partner, { id: partnerId }) : null;
      if (!partner) throw new AppError('partner_not_found', 'there is no such partner');
      const count = await tx.count(WebhookEndpoint, { partner, status: { $ne: 'deleted' } });
      if (count >= mostEndpoints) {
        throw new AppError('too_many_endpoints', `there are ${mostEndpoints} endpoints already; delete one first`);
      }
      const id = uuidv7();
      const secret = newSecret();
      const sealed = this.#secrets.seal(id, secret);
      const now = this.#clock.now();
      const endpoint = tx.create(WebhookEndpoint, {
        id,
        partner,
        url: this.#checkedUrl(changes.url),
        types: checkedTypes(changes.types ?? null),
        coinFrom: checkedCoin('coin_from', changes.coinFrom ?? null),
        coinTo: checkedCoin('coin_to', changes.coinTo ?? null),
        amounts: changes.amounts ?? 'string',
        status: 'enabled',
        disabledReason: null,
        disabledAt: null,
        secret: sealed.bytes,
        secretVersion: sealed.version,
        oldSecret: null,
        oldSecretVersion: null,
        oldSecretUntil: null,
        createdAt: now,
        updatedAt: now,
        failures: 0,
        failingSince: null,
        probeAt: null,
        isQuick: false,
        lastSuccessAt: null,
        lastFailureAt: null,
      });
      if (changes.status === 'disabled') disable(endpoint, 'partner', now);
      await tx.flush();
      return { endpoint, secret: secretText(secret) };
    });
  }

  /** The endpoints of a partner, oldest first. */
  async list(partnerId: string): Promise<WebhookEndpoint[]> {
    if (!isUuid(partnerId)) return [];
    return this.#orm.em
      .fork()
      .find(
        WebhookEndpoint,
        { partner: partnerId, status: { $ne: 'deleted' } },
        { orderBy: { createdAt: 'asc', id: 'asc' } },
      );
  }

  /**
   * @param partnerId Null finds the endpoint of any partner, for staff.
   * @throws AppError endpoint_not_found, also for an endpoint of another partner.
   */
  async get(partnerId: string | null, id: string): Promise<WebhookEndpoint> {
    return this.#find(this.#orm.em.fork(), partnerId, id);
  }

  /**
   * Changes an endpoint. Enabling it forgets its failures; deliveries that waited go on.
   *
   * @param by Who disables it.
   * @throws AppError endpoint_not_found, url_not_allowed, invalid_value
   */
  async change(
    partnerId: string | null,
    id: string,
    changes: EndpointChanges,
    by: 'partner' | 'staff',
    em: EntityManager = this.#orm.em.fork(),
  ): Promise<WebhookEndpoint> {
    if (Object.keys(changes).length === 0) throw new AppError('invalid_value', 'say what is to be changed');
    return em.transactional(async (tx) => {
      const endpoint = await this.#find(tx, partnerId, id, LockMode.PESSIMISTIC_WRITE);
      const now = this.#clock.now();
      if (changes.url !== undefined) endpoint.url = this.#checkedUrl(changes.url);
      if (changes.types !== undefined) endpoint.types = checkedTypes(changes.types);
      if (changes.coinFrom !== undefined) endpoint.coinFrom = checkedCoin('coin_from', changes.coinFrom);
      if (changes.coinTo !== undefined) endpoint.coinTo = checkedCoin('coin_to', changes.coinTo);
      if (changes.amounts !== undefined) endpoint.amounts = changes.amounts;
      if (changes.status === 'enabled' && endpoint.status !== 'enabled') enable(endpoint);
      if (changes.status === 'disabled' && endpoint.status !== 'disabled') disable(endpoint, by, now);
      endpoint.updatedAt = now;
      return endpoint;
    });
  }

  /**
   * Deletes an endpoint and what waits for it. Deliveries under way end; no other begins.
   *
   * @throws AppError endpoint_not_found
   */
  async delete(
    partnerId: string | null,
    id: string,
    em: EntityManager = this.#orm.em.fork(),
  ): Promise<WebhookEndpoint> {
    return em.transactional(async (tx) => {
      const endpoint = await this.#find(tx, partnerId, id, LockMode.PESSIMISTIC_WRITE);
      endpoint.status = 'deleted';
      endpoint.disabledReason = null;
      endpoint.disabledAt = null;
      endpoint.updatedAt = this.#clock.now();
      await tx.flush();
      await sql(
        tx,
        `delete from webhook_delivery where id = any (array(
           select d.id from webhook_delivery d
            where d.endpoint_id = ? and d.state = 'pending' and (d.leased_until is null or d.leased_until <= ?::timestamptz)
            limit ? for update skip locked))`,
        [endpoint.id, endpoint.updatedAt, forgottenAtOnce],
      );
      return endpoint;
    });
  }

  /**
   * Makes a new secret and returns it, which is shown only now. The old one signs too for some
   * hours; 0 ends it at once. The secret before that ends now.
   *
   * @throws AppError endpoint_not_found, invalid_value
   */
  async rotateSecret(
    partnerId: string | null,
    id: string,
    oldSecretHours: number = usualOldSecretHours,
    em: EntityManager = this.#orm.em.fork(),
  ): Promise<SecretOfEndpoint> {
    if (!(oldSecretHours >= 0 && oldSecretHours <= mostOldSecretHours)) {
      throw fieldError(
        'invalid_value',
        'old_secret_hours',
        `the old secret may sign for 0 to ${mostOldSecretHours} hours more`,
      );
    }
    return em.transactional(async (tx) => {
      const endpoint = await this.#find(tx, partnerId, id, LockMode.PESSIMISTIC_WRITE);
      await tx.populate(endpoint, ['secret', 'secretVersion', 'oldSecret', 'oldSecretVersion']);
      const now = this.#clock.now();
      const keeps = oldSecretHours > 0;
      endpoint.oldSecret = keeps ? endpoint.secret : null;
      endpoint.oldSecretVersion = keeps ? endpoint.secretVersion : null;
      endpoint.oldSecretUntil = keeps ? new Date(now.getTime() + oldSecretHours * hourMs) : null;
      const secret = newSecret();
      // The id as it is stored: the one that was sent may have capitals.
      const sealed = this.#secrets.seal(endpoint.id, secret);
      endpoint.secret = sealed.bytes;
      endpoint.secretVersion = sealed.version;
      endpoint.updatedAt = now;
      return { endpoint, secret: secretText(secret) };
    });
  }

  /**
   * Finds a secret of an endpoint again by its mark, for the repetition of an answer.
   *
   * @throws AppError action_not_available when the secret or the endpoint has ended.
   */
  async markedSecret(partnerId: string, id: string, mark: string): Promise<string> {
    const endpoint = await this.#orm.em
      .fork()
      .findOne(
        WebhookEndpoint,
        { id, partner: partnerId, status: { $ne: 'deleted' } },
        { populate: ['secret', 'secretVersion', 'oldSecret', 'oldSecretVersion'] },
      );
    const known = endpoint ? this.#signing(endpoint) : [];
    const found = known.map(secretText).find((text) => secretMark(text) === mark);
    if (found === undefined) {
      throw new AppError('action_not_available', 'the secret of the first answer has ended; make a new one');
    }
    return found;
  }

  /**
   * Orders a test: a worker sends an event that is none, once and before all others.
   *
   * @throws AppError endpoint_not_found, endpoint_disabled, and rate_limited while a test waits,
   *   while a replay runs, or when the partner has asked for all deliveries of a day.
   */
  async orderTest(
    partnerId: string | null,
    id: string,
    joined: EntityManager = this.#orm.em.fork(),
  ): Promise<OrderedTest> {
    return joined.transactional(async (em) => {
      const now = this.#clock.now();
      const owner = partnerId ?? (await ownerOf(em, id));
      const allowance = await takeAllowance(em, owner, now, 'wait');
      const endpoint = await this.#find(em, owner, id, LockMode.PESSIMISTIC_WRITE);
      requireEnabled(endpoint);
      const since = new Date(now.getTime() - minuteMs);
      const test = { endpointId: id, orderId: null, data: null, state: 'pending' } as const;
      const waiting = await em.findOne(WebhookDelivery, { ...test, createdAt: { $gt: since } }, { fields: ['id'] });
      if (waiting) {
        throw new AppError('rate_limited', 'a test of this endpoint is under way', { retryAfterSec: 15 });
      }
      await allowance.use(1);
      // An endpoint that fails would not be tried before its next probe.
      endpoint.probeAt = null;
      const made = { ...test, type: testEventType, nextAttemptAt: now, createdAt: now };
      const deliveryId = await em.insert(WebhookDelivery, made);
      return { deliveryId, eventId: testEventId(deliveryId) };
    });
  }

  /**
   * Orders a sample of an event for each enabled endpoint of the partner that gets the type. A
   * worker sends each once, before all others. No order has the event.
   *
   * @throws AppError rate_limited while a replay runs, or when the partner has asked for all
   *   deliveries of a day.
   */
  async orderSamples(partnerId: string, type: WebhookEventType, em: EntityManager): Promise<OrderedSample[]> {
    const now = this.#clock.now();
    const allowance = await takeAllowance(em, partnerId, now, 'wait');
    const made = await sql<{ id: string; endpoint_id: string }>(
      em,
      `insert into webhook_delivery (endpoint_id, type, state, next_attempt_at, created_at)
       select w.id, ?::text, 'pending', ?::timestamptz, ?::timestamptz from webhook_endpoint w
        where w.partner_id = ? and w.status = 'enabled' and (w.types is null or ?::text = any (w.types))
        order by w.created_at, w.id limit ?
       returning id::text, endpoint_id`,
      [type, now, now, partnerId, type, allowance.left],
    );
    await allowance.use(made.length);
    return made.map(({ id, endpoint_id }) => ({ endpointId: endpoint_id, eventId: testEventId(id) }));
  }

  /** The result of a test so far. */
  async testResult({ deliveryId }: OrderedTest): Promise<TestResult> {
    const em = this.#orm.em.fork();
    const delivery = await em.findOne(WebhookDelivery, { id: deliveryId }, { fields: ['state', 'log'] });
    const last = delivery?.log.at(-1);
    return {
      state: delivery?.state ?? 'pending',
      status: last?.status ?? null,
      ms: last?.ms ?? null,
      error: last?.error ?? null,
    };
  }

  /**
   * Encrypts secrets again that an older key encrypted, and removes old ones whose time is over.
   * Any number of processes may call it.
   *
   * @returns The number of endpoints whose secrets it encrypted.
   * @throws Error naming endpoints whose secrets do not open, once all others are encrypted.
   */
  async resealOld(): Promise<number> {
    const closed: string[] = [];
    const count = await this.#orm.em.fork().transactional(async (em) => {
      const none = { oldSecret: null, oldSecretVersion: null, oldSecretUntil: null };
      await em.nativeUpdate(WebhookEndpoint, { oldSecretUntil: { $lte: this.#clock.now() } }, none);
      const { version } = this.#secrets;
      const rows = await em.find(
        WebhookEndpoint,
        { $or: [{ secretVersion: { $lt: version } }, { oldSecretVersion: { $lt: version } }] },
        {
          limit: resealBatch,
          lockMode: LockMode.PESSIMISTIC_PARTIAL_WRITE,
          populate: ['secret', 'secretVersion', 'oldSecret', 'oldSecretVersion'],
        },
      );
      for (const row of rows) if (!this.#reseal(row)) closed.push(row.id);
      return rows.length - closed.length;
    });
    if (closed.length > 0) {
      throw new Error(`the secrets of these webhook endpoints do not open; rotate them: ${closed.join(', ')}`);
    }
    return count;
  }

  /** Encrypts the secrets of an endpoint under the present key. False when one does not open. */
  #reseal(row: WebhookEndpoint): boolean {
    try {
      const sealed = this.#resealed(row.id, row.secret, row.secretVersion);
      const { id, oldSecret, oldSecretVersion } = row;
      const old = oldSecret && oldSecretVersion !== null && this.#resealed(id, oldSecret, oldSecretVersion);
      row.secret = sealed.bytes;
      row.secretVersion = sealed.version;
      if (old) {
        row.oldSecret = old.bytes;
        row.oldSecretVersion = old.version;
      }
      return true;
    } catch {
      return false;
    }
  }

  /** The secrets that sign now, the newest first. */
  #signing(endpoint: WebhookEndpoint): Buffer[] {
    const { id, secret, secretVersion, oldSecret, oldSecretVersion, oldSecretUntil } = endpoint;
    const secrets = [this.#secrets.open(id, { bytes: secret, version: secretVersion })];
    const isOldAlive = oldSecretUntil !== null && oldSecretUntil > this.#clock.now();
    if (isOldAlive && oldSecret && oldSecretVersion !== null) {
      secrets.push(this.#secrets.open(id, { bytes: oldSecret, version: oldSecretVersion }));
    }
    return secrets;
  }

  #resealed(id: string, bytes: Buffer, version: number) {
    return this.#secrets.seal(id, this.#secrets.open(id, { bytes, version }));
  }

  async #find(
    em: EntityManager,
    partnerId: string | null,
    id: string,
    lockMode = LockMode.NONE,
  ): Promise<WebhookEndpoint> {
    const owner = partnerId === null ? {} : { partner: partnerId };
    const found = isUuid(id)
      ? await em.findOne(WebhookEndpoint, { id: id.toLowerCase(), status: { $ne: 'deleted' }, ...owner }, { lockMode })
      : null;
    if (!found) throw endpointNotFound();
    return found;
  }

  #checkedUrl(text: string): string {
    const judged = judgeUrl(text, this.#rules);
    if ('url' in judged) return judged.url;
    throw fieldError('url_not_allowed', 'url', `url is not allowed: ${judged.fault}`);
  }
}

/** The partner of an endpoint. @throws AppError endpoint_not_found */
async function ownerOf(em: EntityManager, id: string): Promise<string> {
  const options = { fields: ['partner'], disableIdentityMap: true } as const;
  const endpoint = isUuid(id) ? await em.findOne(WebhookEndpoint, { id }, options) : null;
  if (!endpoint) throw endpointNotFound();
  return endpoint.partner.id;
}

/** @throws AppError endpoint_disabled */
export function requireEnabled({ status }: Pick<WebhookEndpoint, 'status'>): void {
  if (status === 'enabled') return;
  throw new AppError('endpoint_disabled', 'this endpoint is disabled; enable it first');
}

/** The one error for an endpoint that does not exist and for one of another partner. */
export function endpointNotFound(): AppError {
  return new AppError('endpoint_not_found', 'there is no such webhook endpoint');
}

function enable(endpoint: WebhookEndpoint): void {
  endpoint.status = 'enabled';
  endpoint.disabledReason = null;
  endpoint.disabledAt = null;
  endpoint.failures = 0;
  endpoint.failingSince = null;
  endpoint.probeAt = null;
}

function disable(endpoint: WebhookEndpoint, reason: DisabledReason, now: Date): void {
  endpoint.status = 'disabled';
  endpoint.disabledReason = reason;
  endpoint.disabledAt = now;
}

function checkedTypes(types: readonly string[] | null): WebhookEventType[] | null {
  if (types === null) return null;
  const unknown = types.find((type) => !webhookEventTypes.some((known) => known === type));
  if (types.length === 0 || unknown !== undefined) {
    throw fieldError('invalid_value', 'types', `types is null or a list of ${webhookEventTypes.join(', ')}`);
  }
  return webhookEventTypes.filter((known) => types.includes(known));
}

function checkedCoin(field: string, coin: string | null): string | null {
  if (coin !== null && !/^[\x21-\x7e]{1,20}$/.test(coin)) {
    throw fieldError('invalid_value', field, `${field} is null or a coin like BTC`);
  }
  return coin;
}
