import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { faultsOf } from '../ui/failure.ts';
import { words } from '../ui/format.ts';
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

type Item = AttentionQuery['attention'][number];

/** Kinds that wait for a decision and are no fault. */
const calm = new Set<AttentionKind>([
  'PROPOSAL_OPEN',
  'STAFF_CHANGE_OPEN',
  'HELD_ORDER',
  'PAYOUT_LIMIT',
  'WALLET_LEVEL',
]);

/** Items that staff must look at, each with the way to its subject and the member who works on it. */
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
          <Subject item={item} />
          <span className="detail">{told(item.detail)}</span>
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
  const name = item.order?.shortId ?? words(item.kind).toLowerCase();
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
              title: `Hand over: ${words(item.kind).toLowerCase()}`,
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

/** A detail that is a code, as words. */
function told(detail: string): string {
  return /^[a-z]+(?:_[a-z]+)*$/.test(detail) ? words(detail) : detail;
}

function Subject({ item: { kind, order, subjectId } }: { item: Item }): ReactNode {
  if (order) {
    return (
      <>
        <OrderLink order={order} />
        <span className="pair-cell">
          <Pair of={order} />
        </span>
      </>
    );
  }
  if (kind === 'STAFF_CHANGE_OPEN') return <Link to="/staff">Staff</Link>;
  if (kind === 'CHAIN_PROBLEM') return <Link to="/chains">{subjectId}</Link>;
  if (kind === 'ADVERSE_PARTNER') {
    return (
      <Link to="/partners/$id" params={{ id: subjectId }}>
        Partner
      </Link>
    );
  }
  if (kind === 'PAYOUT_HOLD' || kind === 'PAYOUT_LIMIT' || kind === 'WALLET_LEVEL')
    return <Link to="/money">Money</Link>;
  return <code className="muted small">{subjectId.slice(0, 18)}</code>;
}
