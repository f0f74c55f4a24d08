import { words } from '../ui/format.ts';
import type { Tone } from '../ui/parts.tsx';
import { causeWords } from './cause-words.ts';
import type { WholeOrder } from './whole-order.ts';

/** One thing that happened to an order. */
export interface Moment {
  readonly key: string;
  readonly at: string;
  readonly tone: Tone;
  readonly what: string;
  readonly text: string | null;
  readonly txid: string | null;
  /** Seconds since the moment before; null for the first. */
  readonly sinceSec: number | null;
}

const tones: Readonly<Record<string, Tone>> = {
  completed: 'good',
  failed: 'bad',
  refunding: 'warn',
  refunded: 'warn',
  expired: 'warn',
  sending: 'accent',
  confirming: 'info',
  exchanging: 'info',
};

const ends: ReadonlySet<string> = new Set(['completed', 'expired', 'refunded', 'failed']);
const passing: ReadonlySet<string> = new Set(['mempool', 'confirming', 'pending', 'sent']);

/**
 * Whether an order will change without action. One that has ended may still get a deposit, ask
 * about it and return it.
 */
export function isUnderWay(
  order: Pick<WholeOrder, 'status' | 'action_required'> & {
    readonly deposits: readonly { readonly state: string }[];
    readonly refunds: readonly { readonly state: string }[];
  },
): boolean {
  const { status, action_required: question, deposits, refunds } = order;
  return !ends.has(status) || question !== null || [...deposits, ...refunds].some(({ state }) => passing.has(state));
}

/** Moves, deposits and payments as one list, oldest first. */
export function momentsOf(order: Pick<WholeOrder, 'events' | 'deposits' | 'payout' | 'refunds'>): Moment[] {
  const moments: Omit<Moment, 'sinceSec'>[] = [];
  const add = (at: string | null, rank: number, what: string, more: Partial<Moment> = {}): void => {
    if (at !== null)
      moments.push({ key: `${rank} ${moments.length}`, at, tone: 'plain', what, text: null, txid: null, ...more });
  };
  for (const { seen_at, amount, coin, txid, state } of order.deposits) {
    add(seen_at, 1, `Deposit of ${amount} ${coin} seen`, { txid, tone: state === 'lost' ? 'bad' : 'plain' });
  }
  for (const { at, status, previous_status, cause } of order.events) {
    if (previous_status === null) add(at, 0, 'Created');
    else if (previous_status === status) add(at, 2, causeWords(cause));
    else add(at, 2, words(status), { text: causeWords(cause), tone: tones[status] ?? 'plain' });
  }
  const payments = [
    ...(order.payout ? [['Payout', order.payout] as const] : []),
    ...order.refunds.map((refund) => ['Refund', refund] as const),
  ];
  for (const [name, { amount, coin, txid, sent_at, confirmed_at }] of payments) {
    add(sent_at, 3, `${name} of ${amount} ${coin} sent`, { txid, tone: 'accent' });
    add(confirmed_at, 1, `${name} of ${amount} ${coin} confirmed`, { txid, tone: 'good' });
  }
  // At the same moment, a deposit comes before the move that it causes.
  moments.sort((a, b) => (a.at === b.at ? a.key.charCodeAt(0) - b.key.charCodeAt(0) : a.at < b.at ? -1 : 1));
  return moments.map((moment, index) => {
    const before = moments[index - 1];
    return { ...moment, sinceSec: before ? (Date.parse(moment.at) - Date.parse(before.at)) / 1_000 : null };
  });
}
