import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { count } from '../../ui/format.ts';
import { Icon } from '../../ui/icon.tsx';
import { Loaded, PageButtons, PageHead } from '../../ui/page.tsx';
import { Amount, Asset, Card, Empty, Table, Time } from '../../ui/parts.tsx';
import type { Search } from '../../ui/search.ts';
import { addressOf, query, type Schemas } from '../api.ts';
import { Allowed, useMay } from '../session.tsx';
import { OrderLink } from '../shared.tsx';

type Month = Schemas['Month'];

const names = 'January February March April May June July August September October November December'.split(' ');

/** '2026-11' as 'November 2026'. */
function monthName(month: string): string {
  return `${names[Number(month.slice(5, 7)) - 1]} ${month.slice(0, 4)}`;
}

/** Months with what the partner earned, and the orders of one of them. */
export function Statements(): ReactNode {
  const may = useMay();
  const search = useSearch({ strict: false }) as Search;
  const navigate = useNavigate();
  const months = useQuery({ ...query('listStatements', {}), enabled: may('statements:read') });
  const first = months.data?.data[0]?.month;
  const month = /^20\d\d-(0[1-9]|1[0-2])$/.test(search.month ?? '') ? search.month : first;
  return (
    <Allowed to="statements:read">
      <div className="page">
        <PageHead title="Statements" lead="Completed orders and your markup, by month in UTC. Amounts are exact." />
        <Loaded of={months}>
          {({ data }) =>
            data.length === 0 ? (
              <Card title="Months">
                <Empty icon="statements" title="No completed order yet">
                  <p>Each month with completed orders would be here, to read and to download.</p>
                </Empty>
              </Card>
            ) : (
              <>
                <Months
                  months={data}
                  chosen={month ?? ''}
                  choose={(chosen) => void navigate({ to: '/statements', search: { month: chosen } })}
                />
                {month === undefined ? null : <Entries month={month} search={search} />}
              </>
            )
          }
        </Loaded>
      </div>
    </Allowed>
  );
}

function Months(props: { months: readonly Month[]; chosen: string; choose: (month: string) => void }): ReactNode {
  return (
    <ul className="months">
      {props.months.map(({ month, orders, commission }) => (
        <li key={month}>
          <button
            type="button"
            className="card month"
            aria-pressed={month === props.chosen}
            onClick={() => props.choose(month)}
          >
            <span className="strong">{monthName(month)}</span>
            <span className="muted small">{orders === 1 ? 'one order' : `${count(orders)} orders`}</span>
            <span className="commissions">
              {commission.length === 0 ? <span className="muted small">No markup</span> : null}
              {commission.slice(0, 3).map(({ coin, network, amount }) => (
                <span key={`${coin} ${network}`} className="commission">
                  <Amount value={amount} decimals={8} />
                  <Asset coin={coin} network={network} />
                </span>
              ))}
              {commission.length > 3 ? (
                <span className="muted small">and {commission.length - 3} more coins</span>
              ) : null}
            </span>
          </button>
        </li>
      ))}
    </ul>
  );
}

function Entries({ month, search }: { month: string; search: Search }): ReactNode {
  const navigate = useNavigate();
  const { cursor } = search;
  const entries = useQuery({
    ...query('getStatement', { path: { month }, query: { limit: 50, ...(cursor ? { cursor } : {}) } }),
    placeholderData: keepPreviousData,
  });
  return (
    <Card
      title={monthName(month)}
      flush
      tools={
        <a className="button small" href={addressOf('getStatementCsv', { month })} download={`statement-${month}.csv`}>
          <Icon name="download" /> CSV
        </a>
      }
    >
      <Loaded of={entries}>
        {({ month: total, data, next_cursor: next }) => (
          <>
            {total.commission.length > 0 ? (
              <div className="item">
                <dl className="columns">
                  <div>
                    <dt>Completed orders</dt>
                    <dd className="strong">{count(total.orders)}</dd>
                  </div>
                  {total.commission.map(({ coin, network, amount }) => (
                    <div key={`${coin} ${network}`}>
                      <dt>Markup</dt>
                      <dd className="strong">
                        <Amount value={amount} />
                        <Asset coin={coin} network={network} />
                      </dd>
                    </div>
                  ))}
                </dl>
              </div>
            ) : null}
            {data.length === 0 ? (
              <Empty icon="statements" title="No completed order in this month" />
            ) : (
              <Table
                label={`Completed orders of ${monthName(month)}`}
                head={
                  <>
                    <th>Order</th>
                    <th>Completed</th>
                    <th className="number">User sent</th>
                    <th className="number">User got</th>
                    <th className="number">Your markup</th>
                  </>
                }
              >
                {data.map((entry) => (
                  <tr key={entry.order_id}>
                    <td>
                      <OrderLink id={entry.order_id} shortId={entry.short_id} />
                      {entry.external_id === null ? null : (
                        <small className="muted block cut partner-cell">{entry.external_id}</small>
                      )}
                    </td>
                    <td className="nowrap">
                      <Time at={entry.completed_at} />
                    </td>
                    <td className="number">
                      <span>
                        <Amount value={entry.amount_from} decimals={8} />
                        <Asset coin={entry.coin_from} network={entry.network_from} />
                      </span>
                    </td>
                    <td className="number">
                      <span>
                        <Amount value={entry.amount_to} decimals={8} />
                        <Asset coin={entry.coin_to} network={entry.network_to} />
                      </span>
                    </td>
                    <td className="number">
                      <span>
                        <Amount value={entry.partner_markup} decimals={8} />
                        <Asset coin={entry.coin_to} network={entry.network_to} />
                      </span>
                    </td>
                  </tr>
                ))}
              </Table>
            )}
            <PageButtons
              before={cursor ? () => history.back() : null}
              after={next === null ? null : () => void navigate({ to: '/statements', search: { month, cursor: next } })}
            />
          </>
        )}
      </Loaded>
    </Card>
  );
}
