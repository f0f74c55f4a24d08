import { phrase, words } from '../ui/format.ts';
import type { OrderQuery } from './generated/graphql.ts';

/** One thing that happened to an order. */
export interface Moment {
  readonly key: string;
  readonly at: string;
  readonly kind: 'move' | 'money' | 'staff';
  readonly tone: 'plain' | 'good' | 'warn' | 'bad' | 'info' | 'accent';
  readonly what: string;
  readonly text: string | null;
  readonly who: string | null;
  readonly txid: string | null;
  /** The page of a block explorer with the transaction. */
  readonly url: string | null;
}

type OrderView = OrderQuery['order'];

const tones: Readonly<Record<string, Moment['tone']>> = {
  COMPLETED: 'good',
  FAILED: 'bad',
  REFUNDING: 'warn',
  REFUNDED: 'warn',
  EXPIRED: 'warn',
  SENDING: 'accent',
  CONFIRMING: 'info',
  EXCHANGING: 'info',
};

/** Moves, deposits, payments, questions and actions of staff as one list, oldest first. */
export function momentsOf(order: OrderView): Moment[] {
  const people = new Map<string, string>();
  for (const { author } of order.notes) people.set(author.id, author.email);
  for (const { proposedBy, decidedBy } of order.actions ?? []) {
    people.set(proposedBy.id, proposedBy.email);
    if (decidedBy) people.set(decidedBy.id, decidedBy.email);
  }
  const nameOf = (actor: string | null): string | null => {
    if (actor === null || actor === 'system') return null;
    if (actor.startsWith('partner:')) return order.partner.name;
    return actor.startsWith('staff:') ? (people.get(actor.slice('staff:'.length)) ?? 'staff') : actor;
  };
  const moments: Moment[] = [];
  const add = (at: string | null, kind: Moment['kind'], what: string, more: Partial<Moment> = {}): void => {
    if (at === null) return;
    const key = `${kind} ${moments.length}`;
    moments.push({ key, at, kind, what, tone: 'plain', text: null, who: null, txid: null, url: null, ...more });
  };

  for (const { at, fromStatus, toStatus, cause, actor, detail } of order.events) {
    const isMove = fromStatus !== toStatus;
    const what = fromStatus === null ? 'Created' : isMove ? words(toStatus) : words(cause);
    const text = [isMove && fromStatus !== null ? `${words(cause)}` : null, detail].filter(Boolean).join(': ') || null;
    add(at, 'move', what, { tone: isMove ? (tones[toStatus] ?? 'plain') : 'plain', text, who: nameOf(actor) });
  }
  for (const { seenAt, creditedAt, amount, coin, state, txid, explorerUrl: url, problem, height } of order.deposits) {
    const problemText = problem === null ? null : words(problem);
    add(seenAt, 'money', `Deposit of ${amount} ${coin} seen`, {
      txid,
      url,
      tone: state === 'ORPHANED' ? 'bad' : 'plain',
    });
    add(creditedAt, 'money', `Deposit of ${amount} ${coin} credited`, {
      tone: problem === null ? 'good' : 'warn',
      text: problemText ?? (height === null ? null : `Block ${height}`),
    });
  }
  if (order.trade) {
    const { createdAt, settledAt, state, amountFrom, bought, venue } = order.trade;
    add(createdAt, 'money', `Exchange of ${amountFrom} ${order.coinFrom} decided`, { text: `At ${venue}` });
    add(settledAt, 'money', `Exchange ${phrase(state)}`, {
      tone: state === 'FILLED' ? 'good' : 'warn',
      text: bought === null ? null : `Bought ${bought} ${order.coinTo}`,
    });
  }
  for (const {
    kind,
    leg,
    amount,
    coin,
    createdAt,
    sentAt,
    endedAt,
    state,
    problem,
    attempts,
    address,
    explorerUrl: url,
  } of order.payments) {
    const name = `${words(kind)}${leg === 'EXCESS' ? ' of the excess' : ''}`;
    add(createdAt, 'money', `${name} of ${amount} ${coin} decided`, { text: `To ${address}` });
    const shown =
      attempts.findLast(({ minedHeight, deadAt }) => minedHeight !== null && deadAt === null) ?? attempts.at(-1);
    add(sentAt, 'money', `${name} sent`, { tone: 'accent', text: attemptText(shown), txid: shown?.txid ?? null, url });
    add(endedAt, 'money', `${name} ${state === 'CONFIRMED' ? 'confirmed' : 'ended'}`, {
      tone: state === 'CONFIRMED' ? 'good' : 'bad',
      text: problem,
    });
  }
  for (const { askedAt, reason, endedAt, outcome, actor, amount } of order.questions) {
    add(askedAt, 'move', 'The partner is asked', {
      tone: 'warn',
      text: `${words(reason)}: ${amount} ${order.coinFrom} arrived`,
    });
    add(endedAt, 'move', 'The question ended', { text: outcome && words(outcome), who: nameOf(actor) });
  }
  for (const { action, state, reason, proposedAt, proposedBy, decidedAt, decidedBy } of order.actions ?? []) {
    const isOwn = decidedBy === null || decidedBy.id === proposedBy.id;
    add(proposedAt, 'staff', `${words(action)}${state === 'DONE' && isOwn ? '' : ' proposed'}`, {
      tone: 'warn',
      text: reason,
      who: proposedBy.email,
    });
    if (decidedBy && !isOwn) {
      const verdict = state === 'DONE' ? 'approved' : 'rejected';
      add(decidedAt, 'staff', `${words(action)} ${verdict}`, {
        tone: state === 'DONE' ? 'good' : 'bad',
        who: decidedBy.email,
      });
    }
  }
  // At the same moment, a deposit comes before the move that it causes.
  const rank = ({ what, kind }: Moment): number => (what === 'Created' ? 0 : kind === 'move' ? 2 : 1);
  return moments.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : rank(a) - rank(b)));
}

/** Which attempt a payment is at, from the second on, and when a waiting one expires. */
function attemptText(attempt: OrderView['payments'][number]['attempts'][number] | undefined): string | null {
  if (!attempt) return null;
  const { attempt: number, minedHeight, deadAt, expiresAt, expiresAtHeight } = attempt;
  const isWaiting = minedHeight === null && deadAt === null;
  const expiry = expiresAt ?? (expiresAtHeight === null ? null : `block ${expiresAtHeight}`);
  const parts = [number > 1 ? `attempt ${number}` : null, isWaiting && expiry ? `expires at ${expiry}` : null];
  return parts.filter((part) => part !== null).join(', ') || null;
}
