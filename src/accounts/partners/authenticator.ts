import type { MikroORM } from '@mikro-orm/postgresql';
import ipaddr from 'ipaddr.js';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../base/clock.ts';
import { sql } from '../../base/db/sql.ts';
import { AppError } from '../../base/errors.ts';
import { ApiKey } from './api-key.entity.ts';
import type { KeyScope } from './key-scope.ts';
import type { Partner } from './partner.entity.ts';
import type { KeyHasher, KeyMac, ParsedKey } from './secret-key.ts';

/**
 * How long a revocation may take to reach every process for reading requests. Creating an order
 * re-reads the row.
 */
const knownForMs = 10_000;
const unknownForMs = 5_000;
const cachedKeys = 10_000;

/** An authenticated key with its partner, at most ten seconds old. */
export interface KeyCaller {
  readonly kind: 'key';
  readonly keyId: string;
  readonly scopes: readonly KeyScope[];
  readonly partner: Partner;
  /** The markup of quotes and creates that name none, in basis points. Null without one. */
  readonly defaultMarkupBps: number | null;
  /** True when the key's networks include the client's address. */
  readonly addressAllowed: boolean;
}

interface CachedKey {
  readonly row: ApiKey | null;
}

/** Authenticates partner keys. Rows are cached by key id, never by the secret. */
export class Authenticator {
  readonly #orm: MikroORM;
  readonly #hasher: KeyHasher;
  readonly #clock: Clock;
  /** Requests that arrive while a row is being read wait for that read. */
  readonly #rows: LRUCache<string, CachedKey>;
  /**
   * Ids of keys that were genuine lately, so that guesses of unknown clients cannot lock them out.
   */
  readonly #proven = new LRUCache<string, true>({ max: cachedKeys });
  readonly #used = new Map<string, { readonly at: Date; readonly from: string }>();
  /** New hashes of genuine keys that were hashed with an older pepper. */
  readonly #rehashed = new Map<string, KeyMac>();

  /** `rowMs` is how old the row of a key may be. */
  constructor(orm: MikroORM, hasher: KeyHasher, clock: Clock, rowMs = knownForMs) {
    this.#orm = orm;
    this.#hasher = hasher;
    this.#clock = clock;
    this.#rows = new LRUCache({
      max: cachedKeys,
      ttl: rowMs,
      // A waiting request gets the row even if other keys evict it meanwhile.
      ignoreFetchAbort: true,
      fetchMethod: async (keyId, _stale, { options }) => {
        const row = await this.#read(keyId);
        if (!row) options.ttl = Math.min(rowMs, unknownForMs);
        return { row };
      },
    });
  }

  /** Whether the row of a key id is cached, or the key was genuine before. */
  isKnown(keyId: string): boolean {
    return this.#rows.has(keyId) || this.#proven.has(keyId);
  }

  /**
   * Finds the caller of a presented key; null when the key is unknown, forged, revoked or expired.
   * An unknown id costs the same as a known one. Returns without a promise when the row is cached.
   * An inactive partner is still a caller: each operation decides what it may do.
   */
  authenticate(key: ParsedKey, clientAddress: string): Promise<KeyCaller | null> | KeyCaller | null {
    const cached = this.#rows.get(key.keyId);
    if (cached) return this.#prove(key, cached.row, clientAddress);
    return this.#rows.forceFetch(key.keyId).then(({ row }) => this.#prove(key, row, clientAddress));
  }

  /**
   * Writes when keys were last used, and their new hashes. It runs from time to time, never while a
   * request waits.
   */
  async flushUsed(): Promise<void> {
    await this.#flushRehashed();
    await this.#flushLastUsed();
  }

  /** Writes the new hashes. An old pepper can be removed once no live key depends on it. */
  async #flushRehashed(): Promise<void> {
    const rehashed = [...this.#rehashed].map(([keyId, { mac, pepperVersion }]) => {
      return { key_id: keyId, mac: mac.toString('hex'), version: pepperVersion };
    });
    // A hash that could not be written is computed again at the key's next use.
    this.#rehashed.clear();
    if (rehashed.length === 0) return;
    await sql(
      this.#orm.em.fork(),
      `update api_key set mac = decode(new.mac, 'hex'), pepper_version = new.version
         from jsonb_to_recordset(?::jsonb) as new(key_id text, mac text, version integer)
        where api_key.key_id = new.key_id and api_key.pepper_version < new.version`,
      [JSON.stringify(rehashed)],
    );
  }

  async #flushLastUsed(): Promise<void> {
    const used = [...this.#used];
    this.#used.clear();
    if (used.length === 0) return;
    const write = sql(
      this.#orm.em.fork(),
      `update api_key set last_used_at = seen.at::timestamptz, last_used_from = seen.used_from
         from jsonb_to_recordset(?::jsonb) as seen(key_id text, at text, used_from text) where api_key.key_id = seen.key_id`,
      [JSON.stringify(used.map(([keyId, { at, from }]) => ({ key_id: keyId, at: at.toISOString(), used_from: from })))],
    );
    try {
      await write;
    } catch (error) {
      for (const [keyId, use] of used) if (!this.#used.has(keyId)) this.#used.set(keyId, use);
      throw error;
    }
  }

  #prove(key: ParsedKey, row: ApiKey | null, clientAddress: string): KeyCaller | null {
    const now = this.#clock.now();
    if (!this.#hasher.matches(key, row) || !row || !isLive(row, now)) return null;
    this.#proven.set(row.keyId, true);
    const addressAllowed = isAllowed(clientAddress, row.allowedCidrs);
    if (addressAllowed) this.#used.set(row.keyId, { at: now, from: clientAddress });
    if (this.#hasher.isOutdated(row) && !this.#rehashed.has(row.keyId)) {
      this.#rehashed.set(row.keyId, this.#hasher.hash(key));
    }
    return {
      kind: 'key',
      keyId: row.keyId,
      scopes: row.scopes,
      partner: row.partner,
      defaultMarkupBps: row.defaultMarkupBps,
      addressAllowed,
    };
  }

  #read(keyId: string): Promise<ApiKey | null> {
    return this.#orm.em.fork().findOne(ApiKey, { keyId }, { populate: ['partner'], strategy: 'joined' });
  }
}

/** The refusal of what an inactive partner may not do. */
export function partnerInactive(): AppError {
  return new AppError('partner_inactive', 'this partner account is not active; contact support');
}

/** Whether a key is neither revoked nor expired. */
export function isLive(key: { revokedAt: Date | null; expiresAt: Date | null }, now: Date): boolean {
  return key.revokedAt === null && (key.expiresAt === null || key.expiresAt > now);
}

/** Whether an address is of one of the networks. Without networks every address is. */
export function isAllowed(address: string, cidrs: readonly string[]): boolean {
  if (cidrs.length === 0) return true;
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  return cidrs.some((cidr) => {
    const [network, bits] = ipaddr.parseCIDR(cidr);
    return network.kind() === parsed.kind() && parsed.match(network, bits);
  });
}
