import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { ends, phrase, words } from '../../ui/format.ts';
import { Loaded, PageHead } from '../../ui/page.tsx';
import { Ago, Badge, Card, Empty, Segments } from '../../ui/parts.tsx';
import type { Search } from '../../ui/search.ts';
import { query } from '../api.ts';
import { decisionsOf } from '../decide.tsx';
import {
  AttentionDocument,
  type CommissionSubjectFragment,
  DecidedProposalsDocument,
  type DecidedProposalsQuery,
  ProposalsDocument,
  type ProposalsQuery,
  type VenueSubjectFragment,
} from '../generated/graphql.ts';
import { AttentionQueue, assetOf, ExchangeLink } from '../queue.tsx';
import { Allowed, useMay, useMember } from '../session.tsx';
import { Actions, OrderLink, Pair } from '../shared.tsx';
import { Unassigned } from '../unassigned.tsx';

type Subject = Pick<DecidedProposalsQuery['decidedProposals'][number], 'order' | 'deposit' | 'hold'> &
  VenueSubjectFragment &
  CommissionSubjectFragment;

const whose = [
  ['all', 'All'],
  ['none', 'Not taken'],
  ['me', 'Mine'],
] as const;

/** What staff must look at, and the proposals that wait for a second member. */
export function Attention(): ReactNode {
  return (
    <Allowed to="orders:read">
      <Content />
    </Allowed>
  );
}

function Content(): ReactNode {
  const may = useMay();
  const member = useMember();
  const { kind, who } = useSearch({ strict: false }) as Search;
  const navigate = useNavigate();
  const attention = useQuery(query('attention', AttentionDocument, { mayActions: may('actions:read') }));
  return (
    <div className="page">
      <PageHead title="Attention" lead="Oldest first. An item ends by itself when its cause ends." />
      {may('actions:read') ? <Proposals /> : null}
      <Card title="Items" flush>
        <Loaded of={attention}>
          {({ attention: items }) => {
            const kinds = [...new Set(items.map((item) => item.kind))].sort();
            const shown = items.filter(
              ({ kind: own, assignee }) =>
                (!kind || own === kind) &&
                (who !== 'me' || assignee?.member.id === member.id) &&
                (who !== 'none' || assignee === null),
            );
            if (items.length === 0) {
              return (
                <Empty icon="check" title="Nothing needs attention">
                  <p>
                    Held and failed orders, blocked payments, chains that stand still and wallets out of bounds would be
                    here.
                  </p>
                </Empty>
              );
            }
            return (
              <>
                <div className="body stack tight">
                  <fieldset className="chips" aria-label="Kinds">
                    {[null, ...kinds].map((name) => (
                      <button
                        key={name}
                        type="button"
                        className="chip"
                        aria-pressed={(kind ?? null) === name}
                        onClick={() => navigate({ to: '/attention', search: { who, kind: name ?? undefined } })}
                      >
                        {name === null
                          ? `All ${items.length}`
                          : `${words(name)} ${items.filter((item) => item.kind === name).length}`}
                      </button>
                    ))}
                  </fieldset>
                  <Segments
                    label="Worked on by"
                    value={who === 'me' || who === 'none' ? who : 'all'}
                    choices={whose}
                    onChange={(chosen) =>
                      navigate({ to: '/attention', search: { kind, who: chosen === 'all' ? undefined : chosen } })
                    }
                  />
                </div>
                {shown.length === 0 ? <p className="muted body">No item fits this choice.</p> : null}
                <AttentionQueue items={shown} canAct />
              </>
            );
          }}
        </Loaded>
      </Card>
      <Unassigned />
      {may('actions:read') ? <Decided /> : null}
    </div>
  );
}

function Proposals(): ReactNode {
  const proposals = useQuery(query('proposals', ProposalsDocument, {}));
  return (
    <Card title="Proposals" flush>
      <Loaded of={proposals} lines={3}>
        {({ proposals: waiting }) =>
          waiting.length === 0 ? (
            <p className="muted body">No proposal waits for a second member.</p>
          ) : (
            <ul className="queue">
              {waiting.map((proposal) => (
                <Proposal key={proposal.id} proposal={proposal} />
              ))}
            </ul>
          )
        }
      </Loaded>
    </Card>
  );
}

/** The proposals that were decided last, and by whom. */
function Decided(): ReactNode {
  const decided = useQuery(query('decidedProposals', DecidedProposalsDocument, {}));
  return (
    <Card title="Decided lately" flush>
      <Loaded of={decided} lines={3}>
        {({ decidedProposals }) =>
          decidedProposals.length === 0 ? (
            <p className="muted body">No proposal was decided yet.</p>
          ) : (
            <ul className="queue">
              {decidedProposals.map(({ id, action, state, reason, proposedBy, decidedBy, decidedAt, ...about }) => (
                <li key={id}>
                  <span className="kind">
                    <Badge tone={state === 'DONE' ? 'good' : 'plain'}>
                      {words(action)}: {phrase(state)}
                    </Badge>
                  </span>
                  <span className="subject">
                    <About of={about} />
                  </span>
                  <span className="detail">
                    {reason}
                    <br />
                    <span className="muted small">
                      proposed by {proposedBy.email}
                      {decidedBy ? ` · decided by ${decidedBy.email}` : ''}
                    </span>
                  </span>
                  <span className="age">{decidedAt ? <Ago at={decidedAt} /> : null}</span>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Card>
  );
}

/**
 * What a proposal is about: an order, a deposit without one, a hold of payouts, or the account at
 * an exchange.
 */
function About({ of }: { of: Subject }): ReactNode {
  const { order, deposit, hold, venue } = of;
  if (order) {
    return (
      <>
        <OrderLink order={order} /> <Pair of={order} />
      </>
    );
  }
  if (deposit) return `Deposit of ${deposit.amount} ${deposit.coin}`;
  if (hold) return <Link to="/money">{assetOf(hold)}</Link>;
  if (of.partner) {
    return (
      <>
        <Link to="/commission/$id" params={{ id: of.partner.id }}>
          {of.partner.name}
        </Link>{' '}
        <span className="muted">{commissionOf(of)}</span>
      </>
    );
  }
  return venue ? <ExchangeLink>{entryOf(venue, of)}</ExchangeLink> : null;
}

/** The month of a partner, or the amount or asset that is decided. */
function commissionOf({ month, amount, coin, network, oldIsLost }: CommissionSubjectFragment): string {
  if (month) return month;
  const asset = coin === network ? coin : `${coin} on ${network}`;
  if (amount) return `${amount} ${asset}`;
  return oldIsLost ? `${asset}, the present address is lost` : `${asset}`;
}

/** The account at an exchange, or its entry that is classified. */
function entryOf(venue: string, { movementKind, reference, coin, amount, class: given }: VenueSubjectFragment): string {
  const entry =
    movementKind && reference
      ? `${words(movementKind)} ${ends(reference)}`
      : coin && amount
        ? `Difference of ${amount} ${coin}`
        : 'Account';
  return `${entry} at ${words(venue)}${given ? ` as ${phrase(given)}` : ''}`;
}

function Proposal({ proposal }: { proposal: ProposalsQuery['proposals'][number] }): ReactNode {
  const member = useMember();
  const may = useMay();
  const { action, address, tag, price, evidence, deposit, order, proposedBy, proposedAt, reason } = proposal;
  return (
    <li>
      <span className="kind">
        <Badge tone="warn">{words(action)}</Badge>
      </span>
      <span className="subject">
        <About of={proposal} />
      </span>
      <span className="detail">
        {reason}
        {address ? (
          <>
            {' '}
            · to <code>{address}</code>
            {tag ? ` with the tag ${tag}` : null}
          </>
        ) : null}
        {order && evidence && deposit ? ` · gets ${deposit.amount} ${deposit.coin}` : null}
        {evidence ? ` · evidence: ${evidence}` : null}
        {price ? ` · worst price ${price}` : null}
        <br />
        <span className="muted small">
          {proposedBy.email} · <Ago at={proposedAt} />
          {proposedBy.id === member.id ? ' · another member must approve it' : ''}
        </span>
      </span>
      <span className="row tight">
        <Actions of={decisionsOf(proposal, member, may)} small />
      </span>
    </li>
  );
}
