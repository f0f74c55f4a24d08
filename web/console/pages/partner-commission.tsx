import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { ends, words } from '../../ui/format.ts';
import { Loaded, PageHead } from '../../ui/page.tsx';
import { Badge, Card, Copy, Empty, Table, Time } from '../../ui/parts.tsx';
import type { Search } from '../../ui/search.ts';
import { query } from '../api.ts';
import { MonthActions, MonthState, Proposed } from '../commission-months.tsx';
import {
  CatalogueDocument,
  CommissionEntriesDocument,
  type CommissionEntriesQuery,
  type CommissionMonthRowFragment,
  CorrectCommissionDocument,
  PartnerCommissionDocument,
  type PartnerCommissionQuery,
  SetCommissionAddressDocument,
} from '../generated/graphql.ts';
import { Allowed, useMay } from '../session.tsx';
import { type Action, Actions, OrderLink, Pager, send } from '../shared.tsx';

const pageSize = 25;

/** The commission of one partner: its months, its addresses and the entries of a month. */
export function PartnerCommission(): ReactNode {
  return (
    <Allowed to="partners:read">
      <Content />
    </Allowed>
  );
}

type Commission = PartnerCommissionQuery['partnerCommission'];

function Content(): ReactNode {
  const { id: partnerId = '' } = useParams({ strict: false });
  const { month: asked } = useSearch({ strict: false }) as Search;
  const commission = useQuery({
    ...query('partnerCommission', PartnerCommissionDocument, { partnerId }),
    refetchInterval: 30_000,
  });
  return (
    <div className="page">
      <Loaded of={commission}>
        {({ partnerCommission: { partner, addresses, months } }) => {
          const chosen = months.find(({ month }) => month === asked) ?? months[0] ?? null;
          return (
            <>
              <PageHead title={`Commission of ${partner.name}`} lead="Months in UTC. The newest 24 are shown.">
                <Proposed partnerId={partner.id} month={null} />
                <Decisions partner={partner} entry={null} />
                <Link to="/partners/$id" params={{ id: partner.id }} className="button">
                  Partner
                </Link>
              </PageHead>
              <Addresses of={addresses} />
              <Months of={months} partner={partner} chosen={chosen?.month ?? null} />
              {chosen ? <Figures of={chosen} /> : null}
              {chosen ? <Entries partner={partner} month={chosen.month} /> : null}
            </>
          );
        }}
      </Loaded>
    </div>
  );
}

type Entry = CommissionEntriesQuery['partnerCommission']['month']['entries']['edges'][number]['node'];

/** A correction, of an entry or in general, and another address. */
function Decisions({ partner, entry }: { partner: Commission['partner']; entry: Entry | null }): ReactNode {
  const may = useMay();
  const catalogue = useQuery({ ...query('catalogue', CatalogueDocument, {}), staleTime: 60_000 });
  if (!may('treasury:decide')) return null;
  const assets = [
    ['', 'Choose an asset'] as const,
    ...(catalogue.data?.currencies ?? []).map(
      ({ coin, network }) => [`${coin}/${network}`, coin === network ? coin : `${coin} on ${network}`] as const,
    ),
  ];
  const assetOf = (asset = ''): { coin: string; network: string } => {
    const [coin = '', network = ''] = asset.split('/');
    return { coin, network };
  };
  const correction: Action = {
    name: 'Correct',
    title: `Correct the commission of ${partner.name}`,
    about: `An entry of the open month${entry ? `, about the ${words(entry.kind).toLowerCase()} of ${entry.amount} ${entry.coin}` : ''}. The partner reads it with the reason. A balance below zero counts in the next month.`,
    needsSecond: true,
    fields: [
      {
        name: 'asset',
        label: 'Asset',
        kind: 'choice',
        choices: assets,
        ...(entry ? { initial: `${entry.coin}/${entry.network}` } : {}),
      },
      { name: 'amount', label: 'Amount', hint: 'Negative to take from the partner, such as -12.5.' },
    ],
    run: ({ asset, amount = '', reason = '' }) => {
      const corrects = entry === null ? {} : { corrects: entry.id };
      const input = { partnerId: partner.id, ...assetOf(asset), amount: amount.trim(), ...corrects };
      return send(CorrectCommissionDocument, { input, reason });
    },
  };
  if (entry) return <Actions small of={[correction]} />;
  const address: Action = {
    name: 'Set address',
    title: `Another payout address of ${partner.name}`,
    about:
      'It takes effect 72 hours after a second member approves it. The members of the partner hear of it, and can cancel it. Ask the partner by another way than e-mail first.',
    needsSecond: true,
    fields: [
      { name: 'asset', label: 'Asset', kind: 'choice', choices: assets },
      { name: 'address', label: 'Address', autoComplete: 'off' },
      { name: 'tag', label: 'Tag or memo', autoComplete: 'off', isOptional: true },
      {
        name: 'oldIsLost',
        label: 'The present address is lost: pay nothing to it meanwhile',
        kind: 'check',
        isOptional: true,
      },
    ],
    run: ({ asset, address: given = '', tag = '', oldIsLost = '', reason = '' }) => {
      const target = { address: given.trim(), tag: tag.trim() || null, oldIsLost: oldIsLost === 'true' };
      return send(SetCommissionAddressDocument, {
        input: { partnerId: partner.id, ...assetOf(asset), ...target },
        reason,
      });
    },
  };
  return <Actions of={[correction, address]} />;
}

function Addresses({ of }: { of: Commission['addresses'] }): ReactNode {
  return (
    <Card title="Payout addresses" flush>
      {of.length === 0 ? (
        <Empty icon="statements" title="No address yet">
          <p>Nothing is paid before the partner sets one. It takes effect after 72 hours.</p>
        </Empty>
      ) : (
        <Table
          label="Payout addresses"
          head={
            <>
              <th>Asset</th>
              <th>Address</th>
              <th>State</th>
              <th>From</th>
            </>
          }
        >
          {of.map(({ id, coin, network, address, tag, oldIsLost, requestedBy, effectiveAt, tookEffectAt }) => (
            <tr key={id}>
              <td>
                {coin} <span className="muted">{network}</span>
              </td>
              <td>
                <Copy text={address} short label="address" />
                {tag ? <span className="muted small"> tag {tag}</span> : null}
              </td>
              <td>
                <Badge tone={tookEffectAt === null ? 'warn' : 'good'}>
                  {tookEffectAt === null ? 'Waits' : 'In effect'}
                </Badge>
                <span className="muted small"> by {requestedBy ?? 'staff'}</span>
                {tookEffectAt === null && oldIsLost ? (
                  <span className="muted small"> the present one is lost</span>
                ) : null}
              </td>
              <td>
                <Time at={tookEffectAt ?? effectiveAt} />
              </td>
            </tr>
          ))}
        </Table>
      )}
    </Card>
  );
}

function Months(props: {
  of: readonly CommissionMonthRowFragment[];
  partner: Commission['partner'];
  chosen: string | null;
}): ReactNode {
  const { of, partner, chosen } = props;
  return (
    <Card title="Months" flush>
      {of.length === 0 ? (
        <Empty icon="statements" title="Nothing was earned yet" />
      ) : (
        <Table
          label="Months"
          head={
            <>
              <th>Month</th>
              <th className="number">Orders</th>
              <th className="number">Owed at its end</th>
              <th className="number">Due</th>
              <th>Asset</th>
              <th>State</th>
              <th>Transaction</th>
              <th>
                <span className="hidden">Actions</span>
              </th>
            </>
          }
        >
          {of.map((month) => {
            const txid = month.payment?.attempts.at(-1)?.txid ?? null;
            return (
              <tr key={month.id} aria-current={month.month === chosen ? 'true' : undefined}>
                <td>
                  <Link
                    to="/commission/$id"
                    params={{ id: partner.id }}
                    search={{ month: month.month }}
                    resetScroll={false}
                  >
                    {month.month}
                  </Link>
                </td>
                <td className="number">{month.orders}</td>
                <td className="number">{month.figures[0]?.closing ?? '0'}</td>
                <td className="number strong">{month.due ?? '–'}</td>
                <td>
                  {month.coin} <span className="muted">{month.network}</span>
                </td>
                <td>
                  <MonthState of={month} />
                </td>
                <td>
                  {txid === null ? (
                    '–'
                  ) : month.payment?.explorerUrl ? (
                    <a href={month.payment.explorerUrl} rel="noreferrer" target="_blank">
                      {ends(txid)}
                    </a>
                  ) : (
                    <Copy text={txid} short label="transaction" />
                  )}
                </td>
                <td className="number">
                  <MonthActions of={month} partner={partner} />
                </td>
              </tr>
            );
          })}
        </Table>
      )}
    </Card>
  );
}

const columns = ['opening', 'accrued', 'converted', 'corrected', 'paid', 'closing'] as const;

function Figures({ of: { month, figures, sha256 } }: { of: CommissionMonthRowFragment }): ReactNode {
  return (
    <Card title={`Figures of ${month}`} flush>
      <Table
        label={`Figures of ${month}`}
        head={
          <>
            <th>Asset</th>
            {columns.map((name) => (
              <th key={name} className="number">
                {words(name)}
              </th>
            ))}
          </>
        }
      >
        {figures.map((one) => (
          <tr key={`${one.coin} ${one.network}`}>
            <td>
              {one.coin} <span className="muted">{one.network}</span>
            </td>
            {columns.map((name) => (
              <td key={name} className="number">
                {one[name]}
              </td>
            ))}
          </tr>
        ))}
      </Table>
      {sha256 ? (
        <p className="muted small body">
          SHA-256 of the CSV of its entries: <Copy text={sha256} short label="SHA-256" />
        </p>
      ) : null}
    </Card>
  );
}

function Entries({ partner, month }: { partner: Commission['partner']; month: string }): ReactNode {
  const { after, before } = useSearch({ strict: false }) as Search;
  const navigate = useNavigate();
  const page = before ? { last: pageSize, before } : { first: pageSize, ...(after ? { after } : {}) };
  const entries = useQuery({
    ...query('commissionEntries', CommissionEntriesDocument, { partnerId: partner.id, month, ...page }),
    placeholderData: keepPreviousData,
  });
  return (
    <Card title={`Entries of ${month}`} flush>
      <Loaded of={entries}>
        {({ partnerCommission }) => {
          const { edges, pageInfo } = partnerCommission.month.entries;
          if (edges.length === 0) return <Empty icon="statements" title="No entry yet" />;
          return (
            <>
              <Table
                label={`Entries of ${month}`}
                head={
                  <>
                    <th>At</th>
                    <th>Kind</th>
                    <th className="number">Amount</th>
                    <th>Asset</th>
                    <th>About</th>
                    <th>
                      <span className="hidden">Actions</span>
                    </th>
                  </>
                }
              >
                {edges.map(({ node }) => (
                  <tr key={node.id}>
                    <td>
                      <Time at={node.at} />
                    </td>
                    <td>{words(node.kind)}</td>
                    <td className="number strong">{node.amount}</td>
                    <td>
                      {node.coin} <span className="muted">{node.network}</span>
                    </td>
                    <td>
                      <EntryDetail of={node} />
                    </td>
                    <td className="number">
                      <Decisions partner={partner} entry={node} />
                    </td>
                  </tr>
                ))}
              </Table>
              <Pager
                info={pageInfo}
                go={(cursor) =>
                  void navigate({
                    to: '/commission/$id',
                    params: { id: partner.id },
                    search: { month, ...cursor },
                    resetScroll: false,
                  })
                }
              />
            </>
          );
        }}
      </Loaded>
    </Card>
  );
}

function EntryDetail({ of }: { of: Entry }): ReactNode {
  const { order, fromAmount, fromCoin, fromPrice, price, payment, reason } = of;
  return (
    <>
      {order ? <OrderLink order={order} /> : null}
      {payment ? `Payment ${words(payment.state).toLowerCase()}` : null}
      {fromAmount ? (
        <span className="muted small">
          {' '}
          of {fromAmount} {fromCoin} at {fromPrice} to {price} dollars
        </span>
      ) : null}
      {reason ? <span className="muted"> {reason}</span> : null}
    </>
  );
}
