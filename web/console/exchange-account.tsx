import { useQuery } from '@tanstack/react-query';
import { Link, useRouterState } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef } from 'react';
import { phrase, sumOf, words } from '../ui/format.ts';
import { Loaded } from '../ui/page.tsx';
import { Ago, Amount, Badge, Card, Copy, Empty, Facts, Notice, Table, Time, type Tone, useNow } from '../ui/parts.tsx';
import { query } from './api.ts';
import {
  ClassifyEntryDocument,
  type ClassifyEntryMutationVariables,
  ProposalsDocument,
  ProposeOpeningDocument,
  TreasuryDocument,
  type TreasuryQuery,
  type TreasuryTransferState,
  type VenueClass,
} from './generated/graphql.ts';
import { exchangePart } from './queue.tsx';
import { useMay } from './session.tsx';
import { type Action, Actions, send } from './shared.tsx';

type Account = TreasuryQuery['treasury']['accounts'][number];
type Balance = Account['balances'][number];
type Transfer = TreasuryQuery['treasury']['open']['edges'][number]['node'];
type Movement = TreasuryQuery['foreign']['edges'][number]['node'];

/** A reading that is older than this is not current: the account is read once a minute. */
const oldMs = 300_000;
/** A difference lasts once this many comparisons in a row found it. */
const lasting = 2;

/** Our accounts at exchanges against the books, and coins on their way to and from them. */
export function ExchangeAccount(): ReactNode {
  const place = useRef<HTMLDivElement>(null);
  const isAsked = useRouterState({ select: ({ location }) => location.hash === exchangePart });
  const treasury = useQuery({ ...query('treasury', TreasuryDocument, {}), refetchInterval: 15_000 });
  const isShown = treasury.data !== undefined;
  // The browser looked for the part before it was there.
  useEffect(() => {
    if (isAsked && isShown) place.current?.scrollIntoView();
  }, [isAsked, isShown]);
  return (
    <div className="page" id={exchangePart} ref={place}>
      <Loaded of={treasury}>
        {({ treasury: { accounts, open, returned }, foreign, undecided }) =>
          accounts.length === 0 ? (
            <Card title="Account at the exchange">
              <Empty icon="money" title="No account at an exchange is read">
                <p>
                  With a key that can only read (<code>VENUE_FUNDING_KEY</code>), workers compare the account with the
                  ledger. Its coins and transfers would be here.
                </p>
              </Empty>
            </Card>
          ) : (
            <>
              {accounts.map((account) => (
                <AccountCard
                  key={account.venue}
                  account={account}
                  unbooked={[...foreign.edges, ...undecided.edges]
                    .map(({ node }) => node)
                    .filter(({ venue }) => venue === account.venue)}
                />
              ))}
              <Transfers open={open} returned={returned} />
              <Movements foreign={foreign} undecided={undecided} />
            </>
          )
        }
      </Loaded>
    </div>
  );
}

/** What an entry is that the gateway did not make, as staff choose it. */
const classes: readonly (readonly [VenueClass | '', string])[] = [
  ['', 'Choose what it is'],
  ['CAPITAL', 'Capital: coins that the house put in or took out'],
  ['TRADING', 'Trading: a trade by hand, a reward, interest'],
  ['COST', 'Cost: a fee that the exchange kept'],
];

/** The entry to classify: a movement, or the difference of a coin. */
type Entry = Omit<ClassifyEntryMutationVariables, 'class' | 'reason'>;

function classifying(name: string, entry: Entry, about: string): Action {
  return {
    name,
    title: 'Classify an entry of the exchange',
    about: `${about} Say what it is, so that the books have it too.`,
    needsSecond: true,
    fields: [{ name: 'class', label: 'What it is', kind: 'choice', choices: classes }],
    run: ({ class: given = '', reason = '' }) =>
      send(ClassifyEntryDocument, { ...entry, class: given as VenueClass, reason }),
  };
}

/** The open proposal about an account or one of its entries; undefined without one. */
function useProposed() {
  const may = useMay();
  const { data } = useQuery({ ...query('proposals', ProposalsDocument, {}), enabled: may('actions:read') });
  return ({ venue, kind, reference, coin }: Entry) => {
    const isEntry = reference !== undefined || coin !== undefined;
    return data?.proposals.find(
      (proposal) =>
        proposal.venue === venue &&
        (isEntry
          ? proposal.movementKind === (kind ?? null) &&
            proposal.reference === (reference ?? null) &&
            proposal.coin === (coin ?? null)
          : proposal.action === 'VENUE_OPENING'),
    );
  };
}

/** Ends a transfer that has a problem, or of which nothing arrived. */
function accepting(entry: Entry, rest: string): Action {
  return {
    name: 'Accept the rest',
    title: 'Accept the rest of a transfer',
    about: `${rest} are still in transit by the books. They become a cost, and the transfer ends. Wait while the exchange may still correct it.`,
    needsSecond: true,
    run: ({ reason = '' }) => send(ClassifyEntryDocument, { ...entry, class: 'COST', reason }),
  };
}

/** What a member may do about an entry, or who proposed something before. */
function Decision(props: { entry: Entry; action: Action | null; version?: string }): ReactNode {
  const { entry, action, version } = props;
  const may = useMay();
  const proposal = useProposed()(entry);
  if (proposal) {
    const what = proposal.class === null ? 'it' : phrase(proposal.class);
    return (
      <Link to="/attention" className="small">
        {proposal.proposedBy.email} proposed {what}
      </Link>
    );
  }
  if (!action || !may('treasury:decide')) return null;
  return <Actions small of={[action]} {...(version === undefined ? {} : { version })} />;
}

function AccountCard({ account, unbooked }: { account: Account; unbooked: readonly Movement[] }): ReactNode {
  const { venue, isWatched, watchedFrom, openedAt, listedAt, balancesAt, failingSince, failure, balances } = account;
  const name = words(venue);
  // What differs comes first.
  const shown = balances.filter(isOfNote).toSorted((one, other) => Number(isLasting(other)) - Number(isLasting(one)));
  return (
    <Card
      title={`Account at ${name}`}
      className="long"
      tools={
        isWatched && openedAt === null ? (
          <Decision
            entry={{ venue }}
            action={{
              name: 'Take into the books',
              title: `Take the account at ${name} into the books`,
              about: 'Its balances become balances of the ledger, against capital. From then on they are compared.',
              needsSecond: true,
              run: ({ reason = '' }) => send(ProposeOpeningDocument, { venue, reason }),
            }}
          />
        ) : null
      }
      flush
    >
      <div className="body stack tight">
        {failingSince ? (
          <Notice tone="bad">
            {name} gives no answer since <Time at={failingSince} />: {failure}
          </Notice>
        ) : null}
        <Facts
          of={[
            ['Balances read', <Reading key="b" at={balancesAt} isWatched={isWatched} />],
            ['Deposits and withdrawals read', <Reading key="l" at={listedAt} isWatched={isWatched} />],
            [
              'Watched',
              isWatched ? (
                <>
                  since <Time at={watchedFrom} />
                </>
              ) : (
                'no more'
              ),
            ],
            [
              'In the books',
              openedAt ? (
                <>
                  since <Time at={openedAt} />
                </>
              ) : (
                'not yet: two members take its balances into them'
              ),
            ],
          ]}
        />
      </div>
      {shown.length === 0 ? (
        <Empty icon="money" title="It holds no coin" />
      ) : (
        <Table
          label={`Coins at ${name}`}
          head={
            <>
              <th>Coin</th>
              <th className="number">Held</th>
              <th className="number">Free</th>
              <th className="number">In the books</th>
              <th className="number">In flight</th>
              <th className="number">Difference</th>
              <th>State</th>
              <th>
                <span className="hidden">Actions</span>
              </th>
            </>
          }
        >
          {shown.map((balance) => (
            <CoinRow
              key={balance.coin}
              balance={balance}
              account={account}
              hasUnbooked={unbooked.some(({ coin }) => coin === balance.coin)}
            />
          ))}
        </Table>
      )}
    </Card>
  );
}

/** Whether a coin is held, booked or under way. An exchange once held the others. */
function isOfNote({ total, booked, inFlight, differing }: Balance): boolean {
  return differing > 0 || [total, booked ?? '0', inFlight ?? '0'].some((amount) => Number(amount) !== 0);
}

function isLasting({ differing }: Balance): boolean {
  return differing >= lasting;
}

/** When something was read, and whether that is too long ago. */
function Reading({ at, isWatched }: { at: string | null; isWatched: boolean }): ReactNode {
  const now = useNow();
  if (at === null) return 'not yet';
  return (
    <>
      <Ago at={at} /> {isWatched && now - Date.parse(at) > oldMs ? <Badge tone="bad">Old</Badge> : null}
    </>
  );
}

function stateOf({ openedAt }: Account, { difference, differing }: Balance): readonly [Tone, string] {
  if (difference === null) return ['idle', 'Not compared yet'];
  if (openedAt === null) return ['idle', 'Not in the books'];
  if (differing === 0) return ['good', 'Agrees'];
  return differing < lasting ? ['warn', 'Differs once'] : ['bad', 'Differs'];
}

/**
 * @param props.hasUnbooked A movement of the coin is not in the books. It may be the difference, so
 *   it comes first.
 */
function CoinRow(props: { balance: Balance; account: Account; hasUnbooked: boolean }): ReactNode {
  const { balance, account, hasUnbooked } = props;
  const { coin, total, free, booked, inFlight, difference } = balance;
  const { venue, openedAt } = account;
  const [tone, state] = stateOf(account, balance);
  const side = difference?.startsWith('-') ? 'less' : 'more';
  return (
    <tr>
      <td className="strong">{coin}</td>
      {[total, free, booked, inFlight].map((amount, index) => (
        <td key={index} className={`number ${index === 0 ? 'strong' : ''}`}>
          {amount === null ? '–' : <Amount value={amount} decimals={8} />}
        </td>
      ))}
      <td className={`number ${tone === 'bad' ? 'bad-text strong' : ''}`}>
        {difference === null ? '–' : <Amount value={difference} />}
      </td>
      <td>
        <Badge tone={tone}>{state}</Badge>
      </td>
      <td className="number">
        {openedAt === null || difference === null || !isLasting(balance) ? null : !balance.isClassifiable ? (
          <span className="muted small">{hasUnbooked ? 'its movements come first' : 'compared again in a minute'}</span>
        ) : (
          <Decision
            entry={{ venue, coin, amount: difference }}
            version={difference}
            action={classifying(
              'Classify difference',
              { venue, coin, amount: difference },
              `${words(venue)} has ${difference.replace('-', '')} ${coin} ${side} than the books.`,
            )}
          />
        )}
      </td>
    </tr>
  );
}

const transferTones: Readonly<Record<TreasuryTransferState, Tone>> = {
  ASKED: 'idle',
  SENT: 'info',
  ARRIVED: 'accent',
  DONE: 'good',
  RETURNED: 'warn',
};

/** What the entries of a transfer leave between its two sides. */
function inTransit({ bookedAmount, bookedFee, arrived, writtenOff }: Transfer): string {
  const gone = sumOf([bookedFee, arrived, writtenOff]);
  return sumOf([bookedAmount, gone.startsWith('-') ? gone.slice(1) : `-${gone}`]);
}

function Transfers(props: Pick<TreasuryQuery['treasury'], 'open' | 'returned'>): ReactNode {
  const { open, returned } = props;
  const late = returned.edges.filter(({ node }) => node.problem !== null);
  const shown = [...late, ...open.edges].map(({ node }) => node);
  return (
    <Card
      title="Transfers under way"
      tools={open.pageInfo.hasNextPage ? <span className="muted small">the newest {open.edges.length}</span> : null}
      flush
    >
      {shown.length === 0 ? (
        <p className="muted body">No coin is on its way between an exchange and a hot wallet.</p>
      ) : (
        <Table
          label="Transfers under way"
          head={
            <>
              <th>Transfer</th>
              <th>State</th>
              <th>At the exchange</th>
              <th>On the chain</th>
              <th className="number">In transit</th>
              <th className="number">Since</th>
              <th>
                <span className="hidden">Actions</span>
              </th>
            </>
          }
        >
          {shown.map((transfer) => (
            <TransferRow key={transfer.id} transfer={transfer} />
          ))}
        </Table>
      )}
    </Card>
  );
}

function TransferRow({ transfer }: { transfer: Transfer }): ReactNode {
  const { venue, movementKind, coin, network, chain, state, problem, amount, createdAt, movement, isClassifiable } =
    transfer;
  const sides = [words(venue), `hot wallet on ${chain}`];
  const [from, to] = movementKind === 'WITHDRAWAL' ? sides : sides.toReversed();
  const entry: Entry = { venue, kind: movementKind, reference: movement.reference };
  const rest = inTransit(transfer);
  return (
    <tr>
      <td>
        <span className="strong">
          <Amount value={amount} coin={coin === network ? coin : `${coin} ${network}`} />
        </span>
        <br />
        <span className="muted small">
          {from} → {to}
        </span>
      </td>
      <td>
        <Badge tone={transferTones[state]}>{words(state)}</Badge>{' '}
        {problem === null ? null : <Badge tone="bad">{words(problem)}</Badge>}
      </td>
      <td>
        <Copy text={movement.reference} short label="reference" />
        <br />
        <span className="muted small">{movement.told}</span>
      </td>
      <td>
        <Transactions transfer={transfer} />
      </td>
      <td className="number">
        <Amount value={rest} />
      </td>
      <td className="number muted">
        <Ago at={createdAt} />
      </td>
      <td className="number">
        {!isClassifiable ? null : (
          <Decision entry={entry} version={rest} action={accepting(entry, `${rest} ${coin}`)} />
        )}
      </td>
    </tr>
  );
}

/** Exchanges write a hash in either case, and with or without its '0x'. */
function plain(txid: string): string {
  return txid.toLowerCase().replace(/^0x/, '');
}

/** The transaction that the exchange names, and the coins that arrived by another one. */
function Transactions({ transfer: { movement, explorerUrl, arrivals } }: { transfer: Transfer }): ReactNode {
  const { txid, isInternal } = movement;
  const others = arrivals.filter((arrival) => txid === null || plain(arrival.txid) !== plain(txid));
  const seen = [...(txid === null ? [] : [{ id: 'movement', txid, explorerUrl }]), ...others];
  if (seen.length === 0) return <span className="muted">{isInternal ? 'inside the exchange' : 'none yet'}</span>;
  return (
    <div className="stack tight">
      {seen.map(({ id, txid: hash, explorerUrl: url }) => (
        <span key={id}>
          <Copy text={hash} short label="transaction" />{' '}
          {url ? (
            <a href={url} target="_blank" rel="noreferrer">
              Explorer
            </a>
          ) : null}
        </span>
      ))}
    </div>
  );
}

function Movements({ foreign, undecided }: Pick<TreasuryQuery, 'foreign' | 'undecided'>): ReactNode {
  const count = foreign.edges.length + undecided.edges.length;
  const hasMore = foreign.pageInfo.hasNextPage || undecided.pageInfo.hasNextPage;
  return (
    <Card
      title="Other movements at the exchange"
      tools={hasMore ? <span className="muted small">the newest {count}</span> : null}
      flush
    >
      {count === 0 ? (
        <p className="muted body">Every deposit and withdrawal there is known to the books.</p>
      ) : (
        <ul className="queue">
          {foreign.edges.map(({ node }) => (
            <MovementItem key={node.id} movement={node} isForeign />
          ))}
          {undecided.edges.map(({ node }) => (
            <MovementItem key={node.id} movement={node} />
          ))}
        </ul>
      )}
    </Card>
  );
}

/** A movement that is none of ours, or not decided yet. */
function MovementItem({ movement, isForeign = false }: { movement: Movement; isForeign?: boolean }): ReactNode {
  const { venue, kind, reference, coin, network, txid, isInternal, address, tag, amount, told, at } = movement;
  const { isClassifiable } = movement;
  const tone: Tone = !isForeign ? 'idle' : kind === 'WITHDRAWAL' ? 'bad' : 'warn';
  const what = `${phrase(kind)} of ${amount} ${coin} at ${words(venue)}`;
  return (
    <li>
      <span className="kind">
        <Badge tone={tone}>{isForeign ? `Foreign ${phrase(kind)}` : `${words(kind)}, not decided yet`}</Badge>
      </span>
      <span className="subject">
        <span className="strong">
          <Amount value={amount} coin={coin} />
        </span>
        <span className="muted">{words(venue)}</span>
      </span>
      <span className="detail">
        {address === null ? null : (
          <>
            to <code>{address}</code>
            {tag === null ? '' : ` with the tag ${tag}`}
            {network === null ? '' : ` on ${network}`} ·{' '}
          </>
        )}
        {told}
        {isForeign && !isClassifiable ? ', not over' : ''}
        {isInternal ? ', inside the exchange' : ''}
        <br />
        <span className="muted small">
          <Copy text={reference} short label="reference" />
          {txid === null ? null : (
            <>
              {' · '}
              <Copy text={txid} short label="transaction" />
            </>
          )}
        </span>
      </span>
      <span className="age">
        <Ago at={at} />
      </span>
      {isForeign ? (
        <Decision
          entry={{ venue, kind, reference }}
          action={
            isClassifiable ? classifying('Classify', { venue, kind, reference }, `The ${what} is none of ours.`) : null
          }
        />
      ) : null}
    </li>
  );
}
