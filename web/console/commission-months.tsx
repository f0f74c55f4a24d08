import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { phrase, words } from '../ui/format.ts';
import { Badge, type Tone } from '../ui/parts.tsx';
import { query } from './api.ts';
import {
  CancelCommissionDocument,
  type CommissionMonthRowFragment,
  type CommissionState,
  HoldCommissionDocument,
  PayCommissionDocument,
  ProposalsDocument,
  ReleaseCommissionDocument,
} from './generated/graphql.ts';
import { useMay } from './session.tsx';
import { type Action, Actions, send } from './shared.tsx';

const tones: Readonly<Record<CommissionState, Tone>> = {
  OPEN: 'info',
  CLOSED: 'plain',
  ROLLED: 'idle',
  PAYABLE: 'accent',
  PAID: 'good',
};

/** The state of a month, and why it is not paid yet. */
export function MonthState({ of }: { of: CommissionMonthRowFragment }): ReactNode {
  const { state, problem, heldAt, holdReason, payment } = of;
  const isPaying = state === 'PAYABLE' && payment !== null && payment.state !== 'DEAD';
  return (
    <>
      <Badge tone={tones[state]}>{words(state)}</Badge>{' '}
      {heldAt ? (
        <Badge tone="warn">Held</Badge>
      ) : problem ? (
        <Badge tone="bad">{words(problem)}</Badge>
      ) : isPaying ? (
        <Badge tone="info">Payment {phrase(payment.state)}</Badge>
      ) : null}
      {heldAt ? <span className="muted small"> {holdReason}</span> : null}
    </>
  );
}

/** What a member may do about a month. */
function actionsOf(
  { month, state, heldAt, due, coin, payment }: CommissionMonthRowFragment,
  { id: partnerId, name }: { readonly id: string; readonly name: string },
  may: (permission: string) => boolean,
): (Action | false)[] {
  const isPayable = state === 'PAYABLE';
  const isFree = payment === null || payment.state === 'DEAD';
  const mayDecide = may('treasury:decide');
  return [
    isPayable &&
      heldAt === null &&
      may('payouts:stop') && {
        name: 'Hold',
        icon: 'pause',
        title: `Hold ${month} of ${name}`,
        about: 'No payment of the month begins, from now on. One that has begun goes on. Two members release it.',
        run: ({ reason = '' }) => send(HoldCommissionDocument, { partnerId, month, reason }),
      },
    heldAt !== null &&
      mayDecide && {
        name: 'Release',
        icon: 'play',
        title: `Release ${month} of ${name}`,
        about: 'Its payment goes on as if it had not been held.',
        needsSecond: true,
        run: ({ reason = '' }) => send(ReleaseCommissionDocument, { partnerId, month, reason }),
      },
    ((isPayable && isFree) || state === 'ROLLED') &&
      mayDecide && {
        name: 'Pay',
        title: `Pay ${month} of ${name}`,
        about: isPayable
          ? `Its ${due ?? ''} ${coin} are paid although the partner is inactive, payments died, or the month is held.`
          : 'What is owed is paid although it is below the minimum, if it exceeds the fee of its network. It must be the last closed month.',
        needsSecond: true,
        run: ({ reason = '' }) => send(PayCommissionDocument, { partnerId, month, reason }),
      },
    isPayable &&
      (isFree || payment.state === 'READY') &&
      mayDecide && {
        name: 'Cancel the payment',
        icon: 'close',
        title: `Cancel the payment of ${month} of ${name}`,
        about: `For a month that cannot be paid. Its ${due ?? ''} ${coin} count in the next month that is closed.`,
        needsSecond: true,
        run: ({ reason = '' }) => send(CancelCommissionDocument, { partnerId, month, reason }),
      },
  ];
}

/** What is proposed about a month of a partner. Without a month: its addresses and entries. */
export function Proposed({ partnerId, month }: { partnerId: string; month: string | null }): ReactNode {
  const may = useMay();
  const { data } = useQuery({ ...query('proposals', ProposalsDocument, {}), enabled: may('actions:read') });
  const proposals = data?.proposals.filter((one) => one.partner?.id === partnerId && one.month === month) ?? [];
  return proposals.map(({ id, action, amount, coin, proposedBy }) => (
    <Link key={id} to="/attention" className="small">
      {proposedBy.email} proposed {words(action).toLowerCase()}
      {amount ? ` by ${amount} ${coin}` : null}
    </Link>
  ));
}

/** What is proposed about a month, and what a member may do about it. */
export function MonthActions(props: {
  of: CommissionMonthRowFragment;
  partner: { readonly id: string; readonly name: string };
}): ReactNode {
  const { of, partner } = props;
  const may = useMay();
  return (
    <span className="row tight">
      <Proposed partnerId={partner.id} month={of.month} />
      <Actions small of={actionsOf(of, partner, may)} version={`${of.state} ${of.heldAt}`} />
    </span>
  );
}
