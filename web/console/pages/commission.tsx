import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense } from 'react';
import { words } from '../../ui/format.ts';
import { Icon } from '../../ui/icon.tsx';
import { Loaded, PageHead } from '../../ui/page.tsx';
import { Card, Empty, Skeleton, Table } from '../../ui/parts.tsx';
import type { Search } from '../../ui/search.ts';
import { query } from '../api.ts';
import { MonthActions, MonthState } from '../commission-months.tsx';
import { type CommissionState, CommissionsDocument } from '../generated/graphql.ts';
import { Allowed } from '../session.tsx';
import { Pager } from '../shared.tsx';

/** The plot is large, so it comes after the figures. */
const Earned = lazy(() => import('../commission-plot.tsx').then(({ Earned }) => ({ default: Earned })));

const pageSize = 25;
const states: readonly CommissionState[] = ['OPEN', 'CLOSED', 'ROLLED', 'PAYABLE', 'PAID'];

/** What partners earned in a month, and what of it is paid. */
export function Commission(): ReactNode {
  return (
    <Allowed to="partners:read">
      <Content />
    </Allowed>
  );
}

/** The month before the present one, whose payments are due. */
function lastMonth(): string {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1, 1)).toISOString().slice(0, 7);
}

/** Filters and cursors are in the address, so that Back and links restore them. */
function Content(): ReactNode {
  const { month: asked = '', state = '', after, before } = useSearch({ strict: false }) as Search;
  const navigate = useNavigate();
  const month = /^20\d\d-(0[1-9]|1[0-2])$/.test(asked) ? asked : lastMonth();
  const set = (change: Search): void => {
    void navigate({ to: '/commission', search: { month: asked, state, ...change } });
  };
  const known = states.find((name) => name === state);
  const page = before ? { last: pageSize, before } : { first: pageSize, ...(after ? { after } : {}) };
  const commissions = useQuery({
    ...query('commissions', CommissionsDocument, { month, ...(known ? { state: [known] } : {}), ...page }),
    placeholderData: keepPreviousData,
    refetchInterval: 30_000,
  });
  return (
    <div className="page">
      <PageHead title="Commission" lead="What partners earned by their markups, by month in UTC, and what is paid." />
      <div className="filters">
        <label>
          <span className="muted">Month</span>
          <input
            className="input small"
            type="month"
            aria-label="Month"
            value={month}
            onChange={({ target }) => set({ month: target.value })}
          />
        </label>
        <select
          className="input small"
          aria-label="State"
          value={state}
          onChange={({ target }) => set({ state: target.value })}
        >
          <option value="">Any state</option>
          {states.map((name) => (
            <option key={name} value={name}>
              {words(name)}
            </option>
          ))}
        </select>
        {asked === '' && state === '' ? null : (
          <Link to="/commission" className="button quiet small">
            <Icon name="close" /> Clear
          </Link>
        )}
      </div>
      <section className="card" aria-label="Months of partners" aria-busy={commissions.isFetching}>
        <Loaded of={commissions}>
          {({ commissions: { edges, pageInfo } }) =>
            edges.length === 0 ? (
              <Empty icon="statements" title={`No partner has such a month ${month}`}>
                <p>A partner has a month from its first completed order with a markup on.</p>
              </Empty>
            ) : (
              <>
                <Table
                  label="Months of partners"
                  head={
                    <>
                      <th>Partner</th>
                      <th className="number">Accrued</th>
                      <th className="number">Owed at its end</th>
                      <th className="number">Due</th>
                      <th>Asset</th>
                      <th>State</th>
                      <th>
                        <span className="hidden">Actions</span>
                      </th>
                    </>
                  }
                >
                  {edges.map(({ node }) => (
                    <tr key={node.id}>
                      <td>
                        <Link to="/commission/$id" params={{ id: node.partner.id }} search={{ month: node.month }}>
                          {node.partner.name}
                        </Link>
                      </td>
                      <td className="number">{node.figures[0]?.accrued ?? '0'}</td>
                      <td className="number">
                        {node.figures[0]?.closing ?? '0'}
                        {node.figures.length > 1 ? <span className="muted small"> and others</span> : null}
                      </td>
                      <td className="number strong">{node.due ?? '–'}</td>
                      <td>
                        {node.coin} <span className="muted">{node.network}</span>
                      </td>
                      <td>
                        <MonthState of={node} />
                      </td>
                      <td className="number">
                        <MonthActions of={node} partner={node.partner} />
                      </td>
                    </tr>
                  ))}
                </Table>
                <Pager info={pageInfo} go={set} />
              </>
            )
          }
        </Loaded>
      </section>
      <Card title="Accrued and paid by month">
        <Suspense fallback={<Skeleton lines={6} />}>
          <Earned />
        </Suspense>
      </Card>
    </div>
  );
}
