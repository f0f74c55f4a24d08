/**
 * The scopes of a key. Quotes need no key; `rates:read` makes them reflect the partner's pricing.
 * `orders:manage` changes orders that exist. `sandbox` plays the outside world of a sandbox.
 * `reports:read` reads commission and completed orders.
 */
export const keyScopes = [
  'orders:create',
  'orders:read',
  'rates:read',
  'orders:manage',
  'webhooks:manage',
  'sandbox',
  'reports:read',
] as const;
export type KeyScope = (typeof keyScopes)[number];

/** The scopes of a key that is issued without naming any. Later scopes have to be asked for. */
export const usualScopes: readonly KeyScope[] = ['orders:create', 'orders:read', 'rates:read'];
