import type { Tone } from '../ui/parts.tsx';
import type { Schemas } from './api.ts';

type Code = Schemas['Home']['needs_action'][number]['code'];

/** Something that a person of the partner should do, with the way to it. */
export interface Step {
  readonly code: Code;
  readonly text: string;
  readonly detail: string;
  readonly tone: Tone;
  readonly to: '/orders' | '/keys' | '/webhooks' | '/team' | '/commission' | '/me';
  readonly link: string;
  /** What the way needs; null for everyone. */
  readonly right: Schemas['Right'] | null;
}

type Row = Omit<Step, 'code' | 'detail'> & { readonly detail: (count: number) => string };

const some = (one: string, many: string) => (count: number) => (count === 1 ? one : many.replace('%', String(count)));

const rows: Readonly<Record<Code, Row>> = {
  commission_address_waiting: {
    text: 'Address changes',
    detail: () => 'A new address for your commission waits. Cancel it if it is not yours.',
    tone: 'bad',
    to: '/commission',
    link: 'Commission',
    right: 'statements:read',
  },
  owner_by_staff: {
    text: 'New access',
    detail: some(
      'An owner got access by a link of our staff in the last seven days. Remove the owner if you do not know why.',
      '% owners got access by links of our staff in the last seven days. Remove those whom you do not know.',
    ),
    tone: 'bad',
    to: '/team',
    link: 'Team',
    right: 'team:read',
  },
  markup_changed: {
    text: 'Markup changes',
    detail: some(
      'The default markup of a key was changed in the last seven days.',
      'The default markups of % keys were changed in the last seven days.',
    ),
    tone: 'warn',
    to: '/keys',
    link: 'Keys',
    right: 'keys:read',
  },
  orders_ask: {
    text: 'Decide',
    detail: some('An order waits for your decision.', '% orders wait for your decision.'),
    tone: 'bad',
    to: '/orders',
    link: 'Orders',
    right: 'orders:read',
  },
  webhook_disabled: {
    text: 'Switched off',
    detail: some('A webhook endpoint is switched off and gets no events.', '% webhook endpoints get no events.'),
    tone: 'bad',
    to: '/webhooks',
    link: 'Webhooks',
    right: 'webhooks:read',
  },
  webhook_failing: {
    text: 'Failing',
    detail: some('A webhook endpoint does not accept events.', '% webhook endpoints do not accept events.'),
    tone: 'warn',
    to: '/webhooks',
    link: 'Webhooks',
    right: 'webhooks:read',
  },
  key_expires: {
    text: 'Ends soon',
    detail: some('A key ends soon. Change over to its successor.', '% keys end soon. Change over to others.'),
    tone: 'warn',
    to: '/keys',
    link: 'Keys',
    right: 'keys:read',
  },
  no_live_key: {
    text: 'No key',
    detail: () => 'No key is live. Make one, and your programs can create orders.',
    tone: 'info',
    to: '/keys',
    link: 'Make a key',
    right: 'keys:write',
  },
  one_passkey: {
    text: 'One passkey',
    detail: () => 'You have a single passkey. With a second one, a lost device does not lock you out.',
    tone: 'warn',
    to: '/me',
    link: 'Add a passkey',
    right: null,
  },
  invitation_open: {
    text: 'Invited',
    detail: some('An invitation was not accepted yet.', '% invitations were not accepted yet.'),
    tone: 'idle',
    to: '/team',
    link: 'Team',
    right: 'team:read',
  },
};

/** What needs action, in words. Codes that this page does not know are left out. */
export function steps(of: Schemas['Home']['needs_action']): readonly Step[] {
  return of.flatMap(({ code, count }) => {
    const row = rows[code];
    return row === undefined || count === 0 ? [] : [{ ...row, code, detail: row.detail(count) }];
  });
}
