import type { ReactNode } from 'react';
import { phrase, words } from '../ui/format.ts';
import { Ago, Notice } from '../ui/parts.tsx';
import { ApproveActionDocument, type OrderActionKind, RejectActionDocument } from './generated/graphql.ts';
import { useMay, useMember } from './session.tsx';
import { type Action, Actions, send } from './shared.tsx';

/** A proposal, as every page that shows one has it. */
export interface ProposalView {
  readonly id: string;
  readonly action: OrderActionKind;
  readonly reason: string;
  readonly address: string | null;
  readonly tag: string | null;
  readonly price: string | null;
  readonly proposedAt: string;
  readonly approvableFrom: string | null;
  readonly proposedBy: { readonly id: string; readonly email: string };
}

/** What a member may decide about a proposal: its own may only be withdrawn. */
export function decisionsOf(
  { id, action, approvableFrom, proposedBy }: ProposalView,
  member: { readonly id: string },
  may: (permission: string) => boolean,
): readonly (Action | null)[] {
  if (!may('actions:decide')) return [];
  const isOwn = proposedBy.id === member.id;
  const name = phrase(action);
  return [
    isOwn
      ? null
      : {
          name: 'Approve',
          icon: 'check',
          title: `Approve: ${name}`,
          notBefore: approvableFrom,
          about: `It is carried out at once. ${proposedBy.email} proposed it.`,
          run: ({ reason = '' }) => send(ApproveActionDocument, { id, reason }),
        },
    {
      name: isOwn ? 'Withdraw' : 'Reject',
      icon: 'close',
      title: `${isOwn ? 'Withdraw' : 'Reject'}: ${name}`,
      about: 'The proposal ends, and nothing happens.',
      isDangerous: true,
      run: ({ reason = '' }) => send(RejectActionDocument, { id, reason }),
    },
  ];
}

/** A proposal that waits, with the decisions that the member may take. */
export function Decide({ proposal }: { proposal: ProposalView }): ReactNode {
  const member = useMember();
  const may = useMay();
  const isOwn = proposal.proposedBy.id === member.id;
  return (
    <Notice tone="warn">
      <div className="stack tight">
        <p>
          <span className="strong">{words(proposal.action)}</span> waits for a second member.{' '}
          {proposal.proposedBy.email} proposed it <Ago at={proposal.proposedAt} />: {proposal.reason}
          {proposal.address ? (
            <>
              . To <code>{proposal.address}</code>
            </>
          ) : null}
          {proposal.tag ? ` with the tag ${proposal.tag}` : ''}
          {proposal.price ? `. Worst price ${proposal.price}` : ''}
        </p>
        {isOwn ? <p>Another member must approve it: you proposed it.</p> : null}
        <div className="row">
          <Actions of={decisionsOf(proposal, member, may)} small />
        </div>
      </div>
    </Notice>
  );
}
