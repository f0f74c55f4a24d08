import { count, duration, percent, usd } from '../ui/format.ts';
import type { components } from './generated/contract.ts';

type Schemas = components['schemas'];
type Name = Schemas['Limit']['name'];

/** A limit in words. */
export interface LimitRow {
  readonly name: Name;
  readonly label: string;
  readonly about: string;
  readonly most: string;
  /** Null where nothing is counted, or where the count is not known at this moment. */
  readonly used: string | null;
  /** The place of the use on a bar only; the texts are exact. */
  readonly share: number | null;
  readonly isOwn: boolean;
}

export interface LimitGroup {
  readonly title: string;
  readonly about: string;
  readonly rows: readonly LimitRow[];
}

const plain = (value: string): string => count(Number.parseInt(value, 10));
const perMinute = (value: string): string => `${plain(value)} a minute`;
const seconds = (value: string): string => duration(Number.parseInt(value, 10));

/** Basis points as a percentage, exactly: '150' is '1.5 %'. */
const basisPoints = (value: string): string => percent(`0.${value.padStart(4, '0')}`);

type Words = readonly [label: string, about: string, shown: (value: string) => string];

const words: Readonly<Record<Name, Words>> = {
  open_orders: ['Open orders', 'Orders that wait for a deposit, and many cancelled ones.', plain],
  float_usd: ['Float orders under way', 'Value of float orders from their creation to their payout.', usd],
  fixed_hour_usd: ['Fixed orders in an hour', 'Value of all fixed orders created, paid or not.', usd],
  fixed_day_usd: ['Fixed orders in 24 hours', 'Value of all fixed orders created, paid or not.', usd],
  late_refunds_usd: [
    'Refunds to addresses set after the create',
    'Value in 24 hours that is paid without a check by our team.',
    usd,
  ],
  extra_refunds: ['Refunds of extra deposits', 'For each order, without a check by our team.', plain],
  requests: ['All requests', 'With any of your keys, but binding quotes.', perMinute],
  order_requests: ['Orders created', 'They count as requests as well.', perMinute],
  quote_requests: ['Binding quotes', 'They count apart from all other requests.', perMinute],
  list_requests: ['Lists of orders', 'They count as requests as well.', perMinute],
  validation_requests: ['Validations', 'Of addresses and orders.', perMinute],
  change_requests: ['Changes of orders', 'Cancels, refund addresses, answers and metadata.', perMinute],
  keyless_requests: ['Requests without a key', 'For each IP address.', perMinute],
  failed_keys: ['Requests with a wrong key', 'For each IP address.', perMinute],
  service_fee_float: ['Service fee of float orders', 'Part of each rate.', percent],
  service_fee_fixed: ['Service fee of fixed orders', 'Part of each rate.', percent],
  markup_bps: ['Largest markup', 'What you may add to the service fee.', basisPoints],
  quote_hold_sec: ['A fixed quote holds', 'From its answer to the create of the order.', seconds],
  deposit_window_sec: ['An order waits for its deposit', 'From its creation.', seconds],
  answer_sec: ['A question about a deposit waits', 'Without an answer the deposit is refunded.', seconds],
  live_keys: ['Live keys', 'Keys that have not ended.', plain],
  key_addresses: ['Allowed IP addresses of a key', 'Addresses and ranges.', plain],
  webhook_endpoints: ['Webhook endpoints', 'Switched-off ones count too.', plain],
  members: ['Members', 'People who can sign in.', plain],
  invitations: ['Open invitations', 'Invitations that were not accepted yet.', plain],
  passkeys: ['Your passkeys', 'Each member has this limit.', plain],
};

const groups: readonly (readonly [title: string, about: string, names: readonly Name[]])[] = [
  [
    'Orders',
    'An order above one of them is refused. The answer names the limit.',
    ['open_orders', 'float_usd', 'fixed_hour_usd', 'fixed_day_usd'],
  ],
  [
    'Requests of your programs',
    'Requests above a limit get 429. Retry-After says when to ask again.',
    [
      'requests',
      'order_requests',
      'quote_requests',
      'list_requests',
      'validation_requests',
      'change_requests',
      'keyless_requests',
      'failed_keys',
    ],
  ],
  [
    'Fees, times and refunds',
    'The terms of new quotes and orders. Existing ones keep theirs.',
    [
      'service_fee_float',
      'service_fee_fixed',
      'markup_bps',
      'quote_hold_sec',
      'deposit_window_sec',
      'answer_sec',
      'late_refunds_usd',
      'extra_refunds',
    ],
  ],
  [
    'Account',
    'Free a place by ending or removing one.',
    ['live_keys', 'key_addresses', 'webhook_endpoints', 'members', 'invitations', 'passkeys'],
  ],
];

/** All limits in words, by subject. A limit that this page does not know is left out. */
export function limitGroups(limits: Schemas['Limits']['limits']): readonly LimitGroup[] {
  return groups.map(([title, about, names]) => ({
    title,
    about,
    rows: names.flatMap((name) => {
      const limit = limits.find((one) => one.name === name);
      return limit ? [rowOf(limit)] : [];
    }),
  }));
}

function rowOf({ name, most, used, is_own: isOwn }: Schemas['Limit']): LimitRow {
  const [label, about, shown] = words[name];
  const isPerMinute = shown === perMinute;
  return {
    name,
    label,
    about,
    most: shown(most),
    used: used === null ? null : isPerMinute ? plain(used) : shown(used),
    share: used === null ? null : Number(most) === 0 ? 1 : Number(used) / Number(most),
    isOwn,
  };
}
