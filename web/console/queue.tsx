import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { words } from '../ui/format.ts';
import { Ago, Badge } from '../ui/parts.tsx';
import type { AttentionKind, AttentionQuery } from './generated/graphql.ts';
import { OrderLink, Pair } from './shared.tsx';

type Item = AttentionQuery['attention'][number];

/** Kinds that wait for a decision and are no fault. */
const calm = new Set<AttentionKind>([
  'PROPOSAL_OPEN',
  'STAFF_CHANGE_OPEN',
  'HELD_ORDER',
  'PAYOUT_LIMIT',
  'WALLET_LEVEL',
]);

/** Items that staff must look at, each with the way to its subject. */
export function AttentionQueue({ items }: { items: readonly Item[] }): ReactNode {
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
        </li>
      ))}
    </ul>
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
