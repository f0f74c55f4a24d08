/**
 * The scopes of a key. Quotes need no key; `rates:read` makes them reflect the partner's pricing.
 */
export const keyScopes = ['orders:create', 'orders:read', 'rates:read'] as const;
export type KeyScope = (typeof keyScopes)[number];
