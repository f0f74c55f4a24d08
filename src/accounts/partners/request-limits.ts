import type { Config } from '../../config/settings.ts';
import type { Partner } from './partner.entity.ts';

/** The limits on requests with a key that count for a partner account. */
export const requestKinds = ['partner', 'orders', 'quotes', 'lists', 'validations', 'changes'] as const;
export type RequestKind = (typeof requestKinds)[number];

type OwnLimit = 'rateLimitPerMin' | 'ordersLimitPerMin' | 'listsLimitPerMin';

/** The partner's own value of each limit, and the gateway's setting. Null where none is its own. */
const rows = {
  partner: ['rateLimitPerMin', 'RATE_LIMIT_PARTNER_PER_MIN'],
  orders: ['ordersLimitPerMin', 'RATE_LIMIT_ORDERS_PER_MIN'],
  quotes: [null, 'RATE_LIMIT_QUOTES_PER_MIN'],
  lists: ['listsLimitPerMin', 'RATE_LIMIT_LISTS_PER_MIN'],
  validations: [null, 'RATE_LIMIT_VALIDATIONS_PER_MIN'],
  changes: [null, 'RATE_LIMIT_CHANGES_PER_MIN'],
} as const satisfies Readonly<Record<RequestKind, readonly [OwnLimit | null, keyof Config]>>;

/** The settings that limit the requests of partners. */
type RequestLimitSettings = Pick<Config, (typeof rows)[RequestKind][1]>;

/** Requests of a kind that a partner may make each minute: its own limit, or the gateway's. */
export function requestLimit(
  kind: RequestKind,
  partner: Pick<Partner, OwnLimit>,
  settings: RequestLimitSettings,
): number {
  const [own, name] = rows[kind];
  return (own === null ? null : partner[own]) ?? settings[name];
}

/** Whether the limit of a kind is the partner's own. */
export function hasOwnRequestLimit(kind: RequestKind, partner: Pick<Partner, OwnLimit>): boolean {
  const [own] = rows[kind];
  return own !== null && partner[own] !== null;
}
