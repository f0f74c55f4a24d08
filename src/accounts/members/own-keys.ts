import type { EntityManager } from '@mikro-orm/postgresql';
import ipaddr from 'ipaddr.js';
import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { ApiKey } from '../partners/api-key.entity.ts';
import { isAllowed, isLive } from '../partners/authenticator.ts';
import type { IssuedKey, KeyOptions, PartnerService } from '../partners/partner-service.ts';

type KeyState = 'live' | 'expires' | 'expired' | 'revoked';

export function keyState(key: Pick<ApiKey, 'revokedAt' | 'expiresAt'>, now: Date): KeyState {
  if (key.revokedAt !== null) return 'revoked';
  if (!isLive(key, now)) return 'expired';
  return key.expiresAt === null ? 'live' : 'expires';
}

/** The keys of one partner, as its own members manage them. Another partner's key is not found. */
export class OwnKeys {
  readonly #clock: Clock;
  readonly #partners: PartnerService;

  constructor(clock: Clock, partners: PartnerService) {
    this.#clock = clock;
    this.#partners = partners;
  }

  /** Newest first, ended ones included. */
  async list(partnerId: string): Promise<ApiKey[]> {
    return (await this.#partners.keys(partnerId)).toReversed();
  }

  /** @throws AppError too_many_keys, invalid_value */
  async issue(em: EntityManager, partnerId: string, options: KeyOptions): Promise<[ApiKey, IssuedKey]> {
    const issued = await this.#partners.issueKey(partnerId, options, em);
    return [await this.find(em, partnerId, issued.keyId), issued];
  }

  /** @throws AppError key_not_found, too_many_keys, invalid_value */
  async roll(em: EntityManager, partnerId: string, keyId: string, hours: number): Promise<[ApiKey, IssuedKey]> {
    await this.find(em, partnerId, keyId);
    const issued = await this.#partners.rollKey(keyId, hours, em);
    return [await this.find(em, partnerId, issued.keyId), issued];
  }

  /** @throws AppError key_not_found */
  async revoke(em: EntityManager, partnerId: string, keyId: string): Promise<ApiKey> {
    await this.find(em, partnerId, keyId);
    return this.#partners.revokeKey(keyId, em);
  }

  /**
   * Sets the networks that may use a key. None lets every address use it.
   *
   * @param mayLockOut Whether the address that used the key last may be outside.
   * @returns the networks before, and the key.
   * @throws AppError key_not_found, invalid_value, network_locked_out
   */
  async setNetworks(
    em: EntityManager,
    partnerId: string,
    keyId: string,
    { networks, mayLockOut }: { readonly networks: readonly string[]; readonly mayLockOut: boolean },
  ): Promise<{ before: string[]; key: ApiKey }> {
    const known = await this.find(em, partnerId, keyId);
    const before = [...known.allowedCidrs];
    const key = await this.#partners.changeKey(keyId, { allowedCidrs: networks }, em);
    const { lastUsedFrom } = known;
    if (!mayLockOut && lastUsedFrom !== null && !isAllowed(lastUsedFrom, networks)) {
      const detail = `the key was last used from ${shownAddress(lastUsedFrom)}, which would be locked out`;
      throw new AppError('network_locked_out', detail);
    }
    return { before, key };
  }

  /** @throws AppError key_not_found */
  async find(em: EntityManager, partnerId: string, keyId: string): Promise<ApiKey> {
    // PostgreSQL takes no text with NUL.
    const key = /^\w+$/.test(keyId) ? await em.findOne(ApiKey, { keyId, partner: partnerId }) : null;
    if (!key) throw new AppError('key_not_found', 'you have no such key');
    return key;
  }

  /** The moment at which states of keys are told. */
  now(): Date {
    return this.#clock.now();
  }
}

/** An address without the form of IPv4 inside IPv6. */
export function shownAddress(address: string): string {
  return ipaddr.isValid(address) ? ipaddr.process(address).toString() : address;
}
