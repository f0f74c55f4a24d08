import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, useCallback, useEffect, useRef, useState } from 'react';
import { count, words } from '../../ui/format.ts';
import { Icon } from '../../ui/icon.tsx';
import { Loaded, PageHead, StatusBadge, TextFilter } from '../../ui/page.tsx';
import { Ago, Amount, Asset, Badge, Empty, Table } from '../../ui/parts.tsx';
import type { Search } from '../../ui/search.ts';
import { query } from '../api.ts';
import {
  type OrderFilter,
  type OrderStatus,
  OrdersDocument,
  type OrdersQuery,
  OrderViewsDocument,
  RemoveOrderViewDocument,
  SaveOrderViewDocument,
} from '../generated/graphql.ts';
import { useMoves } from '../live.ts';
import { PartnerPicker } from '../partner-picker.tsx';
import { useMay } from '../session.tsx';
import { type Action, Actions, DayRange, OrderLink, orderStatuses, Pager, send } from '../shared.tsx';

const pageSize = 25;

const views = [
  ['All', {}],
  ['Under way', { status: 'CONFIRMING,EXCHANGING,SENDING,REFUNDING' }],
  ['Waiting', { status: 'WAITING_DEPOSIT' }],
  ['Needs attention', { attention: '1' }],
  ['Held', { held: '1' }],
  ['Failed', { status: 'FAILED' }],
  ['Completed', { status: 'COMPLETED' }],
] as const satisfies readonly (readonly [string, Search])[];

/** The filters that an address carries. Cursors are none. */
const filterNames = ['q', 'status', 'partner', 'coin', 'held', 'attention', 'from', 'to'] as const;

/** The filters of an address, in one order and without empty ones. */
function queryOf(search: Search): string {
  const given = filterNames.flatMap((name) => {
    const value = search[name];
    return value ? [[name, value]] : [];
  });
  return new URLSearchParams(given).toString();
}

/** The filter that an address stands for. Members that no filter knows are left out. */
function filterOf(search: Search): OrderFilter {
  const { q, status, partner, coin, held, attention, from, to } = search;
  const statuses = (status ?? '')
    .split(',')
    .filter((name): name is OrderStatus => orderStatuses.some((known) => known === name));
  const isDay = (text: string | undefined): text is string => /^\d{4}-\d{2}-\d{2}$/.test(text ?? '');
  return {
    ...(q ? { search: q } : {}),
    ...(statuses.length > 0 ? { statuses } : {}),
    ...(partner ? { partnerId: partner } : {}),
    ...(coin ? { coin: coin.toUpperCase() } : {}),
    ...(held ? { heldOnly: true } : {}),
    ...(attention ? { needsAttention: true } : {}),
    ...(isDay(from) ? { createdFrom: `${from}T00:00:00.000Z` } : {}),
    ...(isDay(to) ? { createdTo: new Date(Date.parse(to) + 86_400_000).toISOString() } : {}),
  };
}

/** Orders, newest first. The address has filters and cursors, so Back and links restore them. */
export function Orders(): ReactNode {
  const search = useSearch({ strict: false }) as Search;
  const navigate = useNavigate();
  const may = useMay();
  const { after, before, ...filters } = search;
  const set = useCallback(
    (change: Search): void => {
      void navigate({ to: '/orders', search: { ...filters, ...change } });
    },
    [navigate, filters],
  );
  const page = before ? { last: pageSize, before } : { first: pageSize, ...(after ? { after } : {}) };
  const orders = useQuery({
    ...query('orders', OrdersDocument, { ...page, filter: filterOf(filters) }),
    placeholderData: keepPreviousData,
  });
  return (
    <div className="page">
      <PageHead title="Orders" lead={<Lead data={orders.data} isFiltered={Object.values(filters).some(Boolean)} />}>
        {may('orders:export') && orders.data ? (
          <a
            className="button"
            href={`/console/orders.csv?${queryOf(filters)}`}
            download
            title={
              orders.data.orders.count.isExact
                ? 'The orders of this filter. The audit log keeps the filter and their number.'
                : 'The newest 50,000 orders of this filter at most. The audit log keeps the filter and their number.'
            }
          >
            <Icon name="download" /> CSV
          </a>
        ) : null}
      </PageHead>
      <Filters search={filters} set={set} />
      <NewMoves />
      <section className="card" aria-label="Orders" aria-busy={orders.isFetching}>
        <Loaded of={orders} lines={12}>
          {(data) => (
            <>
              <Rows edges={data.orders.edges} reset={() => void navigate({ to: '/orders', search: {} })} />
              <Pager info={data.orders.pageInfo} go={set} />
            </>
          )}
        </Loaded>
      </section>
    </div>
  );
}

function Lead({ data, isFiltered }: { data: OrdersQuery | undefined; isFiltered: boolean }): ReactNode {
  if (!data) return '\u00a0';
  const { value, isExact } = data.orders.count;
  return `${isExact ? '' : 'more than '}${count(value)} ${value === 1 ? 'order' : 'orders'}${isFiltered ? ' of this filter' : ''}`;
}

/** Own views of the member, kept by the gateway, so that they are there in each browser. */
function useViews(search: Search) {
  const { data } = useQuery({ ...query('order-views', OrderViewsDocument, {}), staleTime: 60_000 });
  const views = data?.orderViews ?? [];
  const shown = views.find((view) => queryOf(Object.fromEntries(new URLSearchParams(view.query))) === queryOf(search));
  return { views, shown: shown ?? null };
}

function Filters({ search, set }: { search: Search; set: (change: Search) => void }): ReactNode {
  const navigate = useNavigate();
  const own = useViews(search);
  const { q, status, partner, coin, held, attention, from, to } = search;
  const none = { status: undefined, held: undefined, attention: undefined };
  const matches = (view: Search): boolean =>
    (view.status ?? '') === (status ?? '') &&
    (view.held ?? '') === (held ?? '') &&
    (view.attention ?? '') === (attention ?? '');
  const isOwn = !views.some(([, view]) => matches(view));
  return (
    <div className="stack tight">
      <fieldset className="chips" aria-label="Views">
        {views.map(([name, view]) => (
          <button
            key={name}
            type="button"
            className="chip"
            aria-pressed={matches(view)}
            onClick={() => set({ ...none, ...view })}
          >
            {name}
          </button>
        ))}
        {own.views.map((view) => (
          <button
            key={view.id}
            type="button"
            className="chip"
            aria-pressed={view.id === own.shown?.id}
            onClick={() =>
              navigate({ to: '/orders', search: Object.fromEntries(new URLSearchParams(view.query)) as Search })
            }
          >
            {view.name}
          </button>
        ))}
        {isOwn && !own.shown ? (
          <span className="chip" aria-current="true">
            {(status ?? '').split(',').filter(Boolean).map(words).join(', ') || 'Own view'}
          </span>
        ) : null}
      </fieldset>
      <div className="filters">
        <select
          className="input small"
          aria-label="Status"
          value={status && !status.includes(',') ? status : ''}
          onChange={({ target }) => set({ ...none, status: target.value })}
        >
          <option value="">Any status</option>
          {orderStatuses.map((name) => (
            <option key={name} value={name}>
              {words(name)}
            </option>
          ))}
        </select>
        <PartnerPicker
          label="Partner"
          none="Any partner"
          value={partner ?? ''}
          onChange={(id) => set({ partner: id })}
          isSmall
        />
        <TextFilter label="Coin" value={coin ?? ''} onChange={(text) => set({ coin: text })} width={9} />
        <TextFilter
          label="Id, address or transaction"
          value={q ?? ''}
          onChange={(text) => set({ q: text })}
          width={24}
        />
        <DayRange from={from ?? ''} to={to ?? ''} set={set} />
        {Object.values(search).some(Boolean) ? (
          <Link to="/orders" className="button quiet small">
            <Icon name="close" /> Clear
          </Link>
        ) : null}
        <Actions small of={[own.shown ? removal(own.shown) : queryOf(search) === '' ? null : saving(search)]} />
      </div>
    </div>
  );
}

function saving(search: Search): Action {
  return {
    name: 'Save view',
    title: 'Save this view',
    about: 'The filters get a name, and a place among the other views. Only you see them.',
    fields: [{ name: 'name', label: 'Name', hint: 'A view of yours with this name is replaced.' }],
    hasNoReason: true,
    run: ({ name = '' }) => send(SaveOrderViewDocument, { name, query: queryOf(search) }),
  };
}

function removal({ id, name }: { id: string; name: string }): Action {
  return {
    name: 'Remove view',
    title: `Remove the view ${name}`,
    about: 'Only its name goes. The filters and the orders stay.',
    hasNoReason: true,
    isDangerous: true,
    run: () => send(RemoveOrderViewDocument, { id }),
  };
}

/** Tells how many moves happened since the list was read. The list changes only on request. */
function NewMoves(): ReactNode {
  const [moves, setMoves] = useState(0);
  const client = useQueryClient();
  useMoves(useCallback(() => setMoves((number) => number + 1), []));
  if (moves === 0) return null;
  const show = (): void => {
    setMoves(0);
    void client.invalidateQueries({ queryKey: ['orders'] });
  };
  return (
    <button type="button" className="moves-bar" onClick={show} aria-live="polite">
      {moves === 1 ? '1 move' : `${moves} moves`} · show
    </button>
  );
}

type Edge = OrdersQuery['orders']['edges'][number];

function Rows({ edges, reset }: { edges: readonly Edge[]; reset: () => void }): ReactNode {
  const known = useRef<ReadonlySet<string> | null>(null);
  const earlier = known.current;
  useEffect(() => {
    known.current = new Set(edges.map(({ node }) => `${node.id}${node.status}`));
  }, [edges]);
  if (edges.length === 0) {
    return (
      <Empty icon="orders" title="No order fits this filter">
        <p>Orders appear here as partners create them.</p>
        <button type="button" className="button" onClick={reset}>
          Show all orders
        </button>
      </Empty>
    );
  }
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
            <th>Partner</th>
            <th className="number">Created</th>
          </>
        }
      >
        {edges.map(({ node }) => (
          <tr key={node.id} className={earlier && !earlier.has(`${node.id}${node.status}`) ? 'fresh' : ''}>
            <td>
              <OrderLink order={node} />
            </td>
            <td>
              <span className="row tight">
                <StatusBadge status={node.status} />
                {node.hold ? <Badge tone="bad">Held</Badge> : null}
              </span>
            </td>
            <td className="number">
              <Amount value={node.amountFromActual ?? node.amountFromExpected} decimals={8} />
              <Asset coin={node.coinFrom} network={node.networkFrom} />
            </td>
            <td className="number">
              <Amount value={node.amountToActual ?? node.amountToExpected} decimals={8} />
              <Asset coin={node.coinTo} network={node.networkTo} />
            </td>
            <td className="cut partner-cell">{node.partner.name}</td>
            <td className="number muted">
              <Ago at={node.createdAt} />
            </td>
          </tr>
        ))}
      </Table>
    </div>
  );
}
