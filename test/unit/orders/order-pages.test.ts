import { createHmac, createSecretKey } from 'node:crypto';
import { OrderPages, tokenHash } from '../../../src/orders/order-pages.ts';

const base = 'https://pay.example';
const order = '0199c0de-7a11-7c3e-9a4e-5d2f6b7c8d90';
const key = (version: number, secret = `key ${version}`) => ({
  version,
  key: createSecretKey(createHmac('sha256', 'test').update(secret).digest()),
});
const linkOf = ({ pageNonce, pageKeyVersion }: ReturnType<OrderPages['make']>) => ({
  nonce: pageNonce,
  keyVersion: pageKeyVersion,
});

describe('the link of an order page', () => {
  it('is shown again from its row, and found by the hash of its token', () => {
    const pages = new OrderPages([key(1)], base);
    const made = pages.make(order);
    const url = pages.urlOf(order, linkOf(made)) ?? '';
    expect(url).toMatch(/^https:\/\/pay\.example\/o\/[\w-]{22}$/);
    expect(tokenHash(url.slice(`${base}/o/`.length))).toEqual(made.pageTokenHash);
    expect(made.pageNonce).toHaveLength(16);
  });

  it('differs for each order, each time and each key', () => {
    const pages = new OrderPages([key(1)], base);
    const link = linkOf(pages.make(order));
    const urls = [
      pages.urlOf(order, link),
      pages.urlOf('0199c0de-7a11-7c3e-9a4e-5d2f6b7c8d91', link),
      pages.urlOf(order, linkOf(pages.make(order))),
      new OrderPages([key(1, 'another pepper')], base).urlOf(order, link),
    ];
    expect(new Set(urls).size).toBe(4);
  });

  it('stays the same when a new pepper comes, and is not shown once the old one is gone', () => {
    const link = linkOf(new OrderPages([key(1)], base).make(order));
    const before = new OrderPages([key(1)], base).urlOf(order, link);
    const both = new OrderPages([key(2), key(1)], base);
    expect(both.urlOf(order, link)).toBe(before);
    expect(both.make(order).pageKeyVersion).toBe(2);
    expect(new OrderPages([key(2)], base).urlOf(order, link)).toBeNull();
  });

  it('is none without an address of the gateway, and after it was revoked', () => {
    const pages = new OrderPages([key(1)], base);
    expect(new OrderPages([key(1)], null).urlOf(order, linkOf(pages.make(order)))).toBeNull();
    expect(pages.urlOf(order, { nonce: null, keyVersion: null })).toBeNull();
  });
});
