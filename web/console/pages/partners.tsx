import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { count, percent, sumOf, usd } from '../../ui/format.ts';
import { Icon } from '../../ui/icon.tsx';
import { Loaded, PageHead, TextFilter } from '../../ui/page.tsx';
import { Badge, Empty, Meter, Table } from '../../ui/parts.tsx';
import type { Search } from '../../ui/search.ts';
import { query } from '../api.ts';
import { CreatePartnerDocument, PartnersDocument, type PartnersQuery } from '../generated/graphql.ts';
import { Allowed, useMay } from '../session.tsx';
import { Actions, Pager, send } from '../shared.tsx';

/** Partners with what they pay and their last 30 days. */
export function Partners(): ReactNode {
  return (
    <Allowed to="partners:read">
      <Content />
    </Allowed>
  );
}

const pageSize = 25;

/** Filters and cursors are in the address, so that Back and links restore them. */
function Content(): ReactNode {
  const may = useMay();
  const { q = '', status = '', after, before } = useSearch({ strict: false }) as Search;
  const navigate = useNavigate();
  const set = (change: Search): void => {
    void navigate({ to: '/partners', search: { q, status, ...change } });
  };
  const known = (['ACTIVE', 'INACTIVE'] as const).find((name) => name === status);
  const filter = { ...(q === '' ? {} : { search: q }), ...(known ? { status: known } : {}) };
  const page = before ? { last: pageSize, before } : { first: pageSize, ...(after ? { after } : {}) };
  const partners = useQuery({
    ...query('partners', PartnersDocument, { ...page, ...filter }),
    placeholderData: keepPreviousData,
  });
  return (
    <div className="page">
      <PageHead title="Partners" lead="By name. Orders and volume are of the last 30 days.">
        <Actions
          of={[
            may('partners:write') && {
              name: 'New partner',
              icon: 'plus',
              title: 'New partner',
              about: "An active partner with the gateway's pricing and limits, and without a key.",
              fields: [{ name: 'name', label: 'Name' }],
              run: ({ name = '', reason = '' }) => send(CreatePartnerDocument, { name, reason }),
            },
          ]}
        />
      </PageHead>
      <div className="filters">
        <TextFilter label="Name or id" value={q} onChange={(text) => set({ q: text })} width={24} />
        <select
          className="input small"
          aria-label="Status"
          value={status}
          onChange={({ target }) => set({ status: target.value })}
        >
          <option value="">Any status</option>
          <option value="ACTIVE">Active</option>
          <option value="INACTIVE">Blocked</option>
        </select>
        {q === '' && status === '' ? null : (
          <Link to="/partners" className="button quiet small">
            <Icon name="close" /> Clear
          </Link>
        )}
      </div>
      <section className="card" aria-label="Partners" aria-busy={partners.isFetching}>
        <Loaded of={partners}>
          {({ partnerList: { edges, pageInfo } }) => (
            <>
              <Rows edges={edges} isFiltered={q !== '' || status !== ''} />
              <Pager info={pageInfo} go={set} />
            </>
          )}
        </Loaded>
      </section>
    </div>
  );
}

type Edge = PartnersQuery['partnerList']['edges'][number];

function Rows({ edges, isFiltered }: { edges: readonly Edge[]; isFiltered: boolean }): ReactNode {
  if (edges.length === 0) {
    return (
      <Empty icon="partners" title={isFiltered ? 'No partner fits this filter' : 'There is no partner yet'}>
        <p>Partners create orders with their keys.</p>
      </Empty>
    );
  }
  const rows = edges.map(({ node }) => ({
    ...node,
    orders: node.usage.reduce((sum, { created }) => sum + created, 0),
    volume: sumOf(node.usage.map(({ volumeUsd }) => volumeUsd)),
    revenue: sumOf(node.usage.map(({ revenueUsd }) => revenueUsd)),
  }));
  const most = Math.max(...rows.map(({ volume }) => Number(volume)), 1);
  return (
    <Table
      label="Partners"
      head={
        <>
          <th>Partner</th>
          <th>Status</th>
          <th className="number">Float fee</th>
          <th className="number">Fixed fee</th>
          <th className="number">Orders</th>
          <th className="number">Revenue</th>
          <th className="number">Volume</th>
          <th className="share">
            <span className="hidden">Against the largest volume of this page</span>
          </th>
        </>
      }
    >
      {rows.map(({ id, name, status, pricing, orders, volume, revenue }) => (
        <tr key={id}>
          <td>
            <Link to="/partners/$id" params={{ id }} className="strong">
              {name}
            </Link>
          </td>
          <td>
            <Badge tone={status === 'ACTIVE' ? 'good' : 'bad'}>{status === 'ACTIVE' ? 'Active' : 'Blocked'}</Badge>
          </td>
          <td className="number">{percent(pricing.float)}</td>
          <td className="number">{percent(pricing.fixed)}</td>
          <td className="number">{count(orders)}</td>
          <td className="number">{usd(revenue)}</td>
          <td className="number strong">{usd(volume)}</td>
          <td className="share">
            <Meter share={Number(volume) / most} label={`${usd(volume)} of volume`} />
          </td>
        </tr>
      ))}
    </Table>
  );
}
