import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, useCallback } from 'react';
import { words } from '../../ui/format.ts';
import { Icon } from '../../ui/icon.tsx';
import { Loaded, PageButtons, PageHead, StatusBadge, TextFilter } from '../../ui/page.tsx';
import { Ago, Amount, Asset, Badge, Empty, Table } from '../../ui/parts.tsx';
import type { Search } from '../../ui/search.ts';
import { call, type PartnerSchemas } from '../api.ts';
import { askedByOwnId, askedOrders } from '../order-filter.ts';
import { Allowed, useMay } from '../session.tsx';
import { OrderLink } from '../shared.tsx';

type OrderRow = PartnerSchemas['ListedOrder'];

const views = [
  ['All', ''],
  ['Waiting', 'waiting_deposit'],
  ['Under way', 'confirming,exchanging,sending,refunding'],
  ['Completed', 'completed'],
  ['Refunded', 'refunded'],
  ['Expired', 'expired'],
  ['Failed', 'failed'],
] as const;

/** The options of a query for useQuery. */
function listed(search: Search) {
  const asked = askedOrders(search);
  const byOwnId = askedByOwnId(search);
  return {
    queryKey: ['listedOrders', asked] as const,
    queryFn: async ({ signal }: { signal: AbortSignal }) => {
      const found = await call('listOrders', { query: asked, signal });
      if (found.data.length > 0 || byOwnId === null) return found;
      return call('listOrders', { query: byOwnId, signal });
    },
  };
}

/** The partner's orders, newest first. The address has the filters, so Back and links keep them. */
export function Orders(): ReactNode {
  const search = useSearch({ strict: false }) as Search;
  const navigate = useNavigate();
  const { cursor, ...filters } = search;
  const set = useCallback(
    (change: Search): void => {
      void navigate({ to: '/orders', search: { ...filters, ...change } });
    },
    [navigate, filters],
  );
  const may = useMay();
  const orders = useQuery({
    ...listed(search),
    placeholderData: keepPreviousData,
    refetchInterval: 15_000,
    enabled: may('orders:read'),
  });
  const isFiltered = Object.values(filters).some(Boolean);
  return (
    <Allowed to="orders:read">
      <div className="page">
        <PageHead title="Orders" lead="Newest first. The list follows by itself." />
        <Filters search={filters} set={set} />
        <section className="card" aria-label="Orders" aria-busy={orders.isFetching}>
          <Loaded of={orders} lines={12}>
            {({ data, next_cursor: next }) => (
              <>
                {data.length === 0 ? (
                  <Nothing
                    isFiltered={isFiltered}
                    hasMore={next !== null}
                    reset={() => void navigate({ to: '/orders', search: {} })}
                  />
                ) : (
                  <Rows orders={data} />
                )}
                <PageButtons
                  before={cursor ? () => history.back() : null}
                  after={next === null ? null : () => set({ cursor: next })}
                />
              </>
            )}
          </Loaded>
        </section>
      </div>
    </Allowed>
  );
}

function Nothing(props: { isFiltered: boolean; hasMore: boolean; reset: () => void }): ReactNode {
  const { isFiltered, hasMore, reset } = props;
  if (hasMore) {
    return (
      <Empty icon="orders" title="No order on this page fits this filter">
        <p>A page looks at a bounded number of orders. The page after it looks at older ones.</p>
      </Empty>
    );
  }
  if (!isFiltered) {
    return (
      <Empty icon="orders" title="No order yet">
        <p>Orders that your programs create appear here, each with its timeline.</p>
        <p>
          <a href="/api/v1/docs/guides/quick-start" target="_blank" rel="noopener">
            How to create the first one
          </a>
        </p>
      </Empty>
    );
  }
  return (
    <Empty icon="orders" title="No order fits this filter">
      <button type="button" className="button" onClick={reset}>
        Show all orders
      </button>
    </Empty>
  );
}

function Filters({ search, set }: { search: Search; set: (change: Search) => void }): ReactNode {
  const { q, status, coin, from, to } = search;
  return (
    <div className="stack tight">
      <fieldset className="chips" aria-label="Views">
        {views.map(([name, value]) => (
          <button
            key={name}
            type="button"
            className="chip"
            aria-pressed={(status ?? '') === value}
            onClick={() => set({ status: value })}
          >
            {name}
          </button>
        ))}
        {views.some(([, value]) => value === (status ?? '')) ? null : (
          <span className="chip" aria-current="true">
            {(status ?? '').split(',').map(words).join(', ')}
          </span>
        )}
      </fieldset>
      <div className="filters">
        <TextFilter label="Order or external id" value={q ?? ''} onChange={(text) => set({ q: text })} width={26} />
        <TextFilter label="Coin" value={coin ?? ''} onChange={(text) => set({ coin: text })} width={9} />
        <label>
          <span className="muted">from</span>
          <input
            type="date"
            className="input small"
            value={from ?? ''}
            onChange={({ target }) => set({ from: target.value })}
          />
        </label>
        <label>
          <span className="muted">to</span>
          <input
            type="date"
            className="input small"
            value={to ?? ''}
            onChange={({ target }) => set({ to: target.value })}
          />
        </label>
        {Object.values(search).some(Boolean) ? (
          <Link to="/orders" className="button quiet small">
            <Icon name="close" /> Clear
          </Link>
        ) : null}
      </div>
    </div>
  );
}

function Rows({ orders }: { orders: readonly OrderRow[] }): ReactNode {
  return (
    <div className="folding-host">
      <Table
        label="Orders"
        head={
          <>
            <th>Order</th>
            <th>Status</th>
            <th className="number">User sends</th>
            <th className="number">User gets</th>
            <th>External id</th>
            <th className="number">Created</th>
          </>
        }
      >
        {orders.map(({ details, ...order }) => (
          <tr key={order.id}>
            <td>
              <OrderLink id={order.id} shortId={order.short_id} />
            </td>
            <td>
              <span className="row tight">
                <StatusBadge status={order.status} />
                {details?.hold ? <Badge tone="warn">Held</Badge> : null}
                {details?.action_required ? <Badge tone="bad">Decide</Badge> : null}
              </span>
            </td>
            <td className="number">
              <Amount value={details?.terms.amount_from ?? order.amount_from_expected} decimals={8} />
              <Asset coin={order.coin_from} network={order.network_from} />
            </td>
            <td className="number">
              <Amount value={details?.terms.amount_to ?? order.amount_to_expected} decimals={8} />
              <Asset coin={order.coin_to} network={order.network_to} />
            </td>
            <td className="cut partner-cell muted">{details?.external_id ?? '–'}</td>
            <td className="number muted">
              <Ago at={order.created_at} />
            </td>
          </tr>
        ))}
      </Table>
    </div>
  );
}
