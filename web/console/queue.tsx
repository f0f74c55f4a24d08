import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { faultsOf } from '../ui/failure.ts';
import { phrase, words } from '../ui/format.ts';
import { Ago, Badge, Notice } from '../ui/parts.tsx';
import { query } from './api.ts';
import {
  AttentionAssigneesDocument,
  type AttentionKind,
  type AttentionQuery,
  HandOverItemDocument,
  ReleaseItemDocument,
  TakeItemDocument,
} from './generated/graphql.ts';
import { useMay, useMember } from './session.tsx';
import { Actions, OrderLink, Pair, send } from './shared.tsx';

/** The part of the page Money about the account at the exchange, in the address. */
export const exchangePart = 'exchange';

type Item = AttentionQuery['attention'][number];

/** Kinds that wait for a decision and are no fault. */
const calm = new Set<AttentionKind>([
  'PROPOSAL_OPEN',
  'STAFF_CHANGE_OPEN',
  'HELD_ORDER',
  'PAYOUT_LIMIT',
  'WALLET_LEVEL',
  'VENUE_UNOPENED',
  'SMALL_DEPOSITS',
]);

/** Kinds about the account at an exchange. */
const atExchange = new Set<AttentionKind>([
  'VENUE_UNOPENED',
  'VENUE_FOREIGN',
  'VENUE_DIFFERENCE',
  'TRANSFER_SHORT',
  'TRANSFER_SLOW',
  'TRANSFER_UNKNOWN',
]);

/** Items that staff must look at, each with a link to its subject and the member who has it. */
export function AttentionQueue({ items, canAct }: { items: readonly Item[]; canAct?: boolean }): ReactNode {
  const may = useMay();
  const members = useQuery({
    ...query('attention-assignees', AttentionAssigneesDocument, {}),
    enabled: canAct === true && may('attention:assign'),
    staleTime: 60_000,
  });
  return (
    <ul className="queue">
      {items.map((item) => (
        <li key={item.id}>
          <span className="kind">
            <Badge tone={calm.has(item.kind) ? 'warn' : 'bad'}>{words(item.kind)}</Badge>
          </span>
          <span className="subject">
            <Subject item={item} />
          </span>
          <Detail of={item} />
          <span className="age">
            <Ago at={item.since} />
          </span>
          {canAct ? <Work item={item} members={members.data?.attentionAssignees ?? []} /> : <Holder item={item} />}
        </li>
      ))}
    </ul>
  );
}

/** Who works on an item. */
function Holder({ item: { assignee } }: { item: Item }): ReactNode {
  const { id } = useMember();
  if (!assignee) return null;
  const { member, since } = assignee;
  return (
    <span className="small holder">
      {member.id === id ? <strong>You work on it</strong> : `${member.email} works on it`}{' '}
      <span className="muted">
        · <Ago at={since} />
      </span>
    </span>
  );
}

/** Who works on an item, and what the member may do about it. */
function Work({ item, members }: { item: Item; members: readonly { id: string; email: string }[] }): ReactNode {
  const me = useMember();
  const may = useMay();
  const client = useQueryClient();
  const { id: itemId, assignee } = item;
  const isMine = assignee?.member.id === me.id;
  const isFree = assignee === null;
  // After a refusal the list is old as well as after a success.
  const { mutate, error, isPending } = useMutation({
    mutationFn: (): Promise<unknown> =>
      isFree ? send(TakeItemDocument, { itemId }) : send(ReleaseItemDocument, { itemId }),
    onSettled: () => client.invalidateQueries({ queryKey: ['attention'] }),
  });
  const others = members.filter(({ id }) => id !== assignee?.member.id);
  const name = item.order?.shortId ?? phrase(item.kind);
  return (
    <span className="work">
      <Holder item={item} />
      {may('attention:take') && (isFree || isMine || may('attention:assign')) ? (
        // One button for both, so that the keyboard stays on it.
        <button
          type="button"
          className="button small"
          aria-label={`${isFree ? 'Take' : 'Put back'} ${name}`}
          aria-busy={isPending}
          onClick={() => isPending || mutate()}
        >
          {isFree ? 'Take' : 'Put back'}
        </button>
      ) : null}
      {others.length > 0 ? (
        <Actions
          small
          of={[
            {
              name: 'Hand over',
              title: `Hand over: ${phrase(item.kind)}`,
              about: 'The member sees the item as their own at once.',
              fields: [
                {
                  name: 'to',
                  label: 'To',
                  kind: 'choice',
                  choices: others.map(({ id, email }) => [id, email] as const),
                  initial: others[0]?.id ?? '',
                },
              ],
              run: ({ to = '', reason = '' }) =>
                send(HandOverItemDocument, { itemId, from: assignee?.member.id ?? null, to, reason }),
            },
          ]}
        />
      ) : null}
      {error ? <Notice tone="bad">{faultsOf(error).whole}</Notice> : null}
    </span>
  );
}

/** The problem, and what the member wrote who held the order or made the proposal. */
function Detail({ of: { kind, detail, reason, hold } }: { of: Item }): ReactNode {
  const isByStaff = kind === 'HELD_ORDER' && detail === 'staff';
  const text = isByStaff
    ? 'Held by staff'
    : kind === 'PAYOUT_HOLD' && hold
      ? `${words(hold.cause)}: ${hold.detail}`
      : told(detail);
  return (
    <span className="detail">
      {text}
      {reason ? <span className="muted">: {reason}</span> : null}
    </span>
  );
}

/** A detail that is a code, as words. */
function told(detail: string): string {
  return /^[a-z]+(?:_[a-z]+)*$/.test(detail) ? words(detail) : detail;
}

function Subject({ item: { kind, order, partner, hold, subjectId } }: { item: Item }): ReactNode {
  if (order) {
    return (
      <>
        <OrderLink order={order} />
        <Pair of={order} />
      </>
    );
  }
  if (partner) {
    return (
      <Link to="/partners/$id" params={{ id: partner.id }}>
        {partner.name}
      </Link>
    );
  }
  if (hold) return <Link to="/money">{assetOf(hold)}</Link>;
  if (kind === 'STAFF_CHANGE_OPEN') return <Link to="/staff">Staff</Link>;
  if (kind === 'SWEEP_REFUSED') return <Link to="/chains">{subjectId}</Link>;
  if (kind === 'CHAIN_PROBLEM') return <Link to="/chains">{subjectId}</Link>;
  if (kind === 'SMALL_DEPOSITS') return subjectId;
  if (kind === 'PAYOUT_LIMIT' || kind === 'WALLET_LEVEL') return <Link to="/money">{words(subjectId)}</Link>;
  if (atExchange.has(kind)) return <ExchangeLink>Account at the exchange</ExchangeLink>;
  return <code className="muted small">{subjectId.slice(0, 18)}</code>;
}

/** The way to the account at the exchange on the page Money. */
export function ExchangeLink({ children }: { children: ReactNode }): ReactNode {
  return (
    <Link to="/money" hash={exchangePart}>
      {children}
    </Link>
  );
}

/** What a hold of payouts covers. */
export function assetOf({ coin, network }: { readonly coin: string | null; readonly network: string | null }): string {
  return coin === null ? 'All payouts' : `Payouts of ${coin === network ? coin : `${coin} on ${network}`}`;
}
