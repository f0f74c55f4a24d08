import { createHash, createHmac } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { parse as uuidBytes } from 'uuid';
import type { VersionedKey } from '../accounts/partners/secret-key.ts';
import { OrderPage } from './order-page.entity.ts';
import { randomBytesAhead } from './random-bytes.ts';

/** What the keys of `OrderPages` are derived for. */
export const pagePurpose = 'order pages';

/** The path of order pages on the public listener. A token follows. */
export const pageRoot = '/o/';

/** 128 bits. */
const tokenBytes = 16;

/** The link of an order, as its row has it. Without a nonce it was revoked, or never made. */
export type PageLink = Readonly<Pick<OrderPage, 'nonce' | 'keyVersion'>>;

/** The columns of a new link, as the creating statement takes them. */
type PageRow = {
  readonly pageNonce: Buffer;
  readonly pageKeyVersion: number;
  readonly pageTokenHash: Buffer;
};

/**
 * The links of order pages. The token of a link is a MAC over the order and 128 random bits, under
 * a key that the database never sees. So it can be shown again, and rows tell no token. The row
 * also has the token's hash, by which a page is found, also once the key is gone.
 */
export class OrderPages {
  readonly #keys: readonly VersionedKey[];
  readonly #baseUrl: string | null;

  /**
   * @param keys newest first. New tokens use the first.
   * @param baseUrl scheme and host of links. Null when they are unknown: no link is shown then.
   */
  constructor(keys: readonly VersionedKey[], baseUrl: string | null) {
    this.#keys = keys;
    this.#baseUrl = baseUrl;
  }

  /** Makes the link of an order. It is in force once its columns are stored. */
  make(orderId: string): PageRow {
    const [key] = this.#keys;
    if (!key) throw new Error('OrderPages needs at least one key');
    const pageNonce = randomBytesAhead(tokenBytes);
    const token = tokenOf(key, orderId, pageNonce);
    return { pageNonce, pageKeyVersion: key.version, pageTokenHash: tokenHash(token) };
  }

  /** The address of an order's page. Null without a link, or when its key was removed. */
  urlOf(orderId: string, { nonce, keyVersion }: PageLink): string | null {
    const key = this.#keys.find(({ version }) => version === keyVersion);
    if (!key || nonce === null || this.#baseUrl === null) return null;
    return `${this.#baseUrl}${pageRoot}${tokenOf(key, orderId, nonce)}`;
  }

  /** Gives an order a new link. The previous link ends. */
  async renew(em: EntityManager, orderId: string, now: Date): Promise<void> {
    const { pageNonce: nonce, pageKeyVersion: keyVersion, pageTokenHash } = this.make(orderId);
    await em.upsert(OrderPage, { orderId, nonce, keyVersion, tokenHash: pageTokenHash, changedAt: now });
  }

  /** Ends the link of an order. Without one nothing changes. */
  async revoke(em: EntityManager, orderId: string, now: Date): Promise<void> {
    const revoked = { nonce: null, keyVersion: null, tokenHash: null, changedAt: now };
    await em.nativeUpdate(OrderPage, { orderId, nonce: { $ne: null } }, revoked);
  }
}

/** Those of the orders whose page has a link. One statement. */
export function ordersWithPage(em: EntityManager, orderIds: readonly string[]): Promise<{ orderId: string }[]> {
  return em.find(OrderPage, { orderId: { $in: [...orderIds] }, nonce: { $ne: null } }, { fields: ['orderId'] });
}

/** The hash by which a page is found: of any text, so that each text costs the same. */
export function tokenHash(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

function tokenOf({ key }: VersionedKey, orderId: string, nonce: Buffer): string {
  const mac = createHmac('sha256', key).update(uuidBytes(orderId)).update(nonce).digest();
  return mac.subarray(0, tokenBytes).toString('base64url');
}
