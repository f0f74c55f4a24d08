import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { count } from '../../ui/format.ts';
import { Icon } from '../../ui/icon.tsx';
import { Loaded, PageButtons, PageHead } from '../../ui/page.tsx';
import { Amount, Asset, Card, Empty, Table, Time } from '../../ui/parts.tsx';
import type { Search } from '../../ui/search.ts';
import { addressOf, type PartnerSchemas, query } from '../api.ts';
import { Allowed, useMay } from '../session.tsx';
import { OrderLink } from '../shared.tsx';

type Statement = PartnerSchemas['Statement'];

const names = 'January February March April May June July August September October November December'.split(' ');

/** '2026-11' as 'November 2026'. */
function monthName(month: string): string {
  return `${names[Number(month.slice(5, 7)) - 1]} ${month.slice(0, 4)}`;
}

/** Months with what the partner earned, and the entries of one of them. */
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
        <PageHead title="Statements" lead="Your commission, by month in UTC. Amounts are exact." />
        <Loaded of={months}>
          {({ data }) =>
            data.length === 0 ? (
              <Card title="Months">
                <Empty icon="statements" title="No commission yet">
                  <p>Each month in which orders earned something would be here, to read and to download.</p>
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

function Months(props: { months: readonly Statement[]; chosen: string; choose: (month: string) => void }): ReactNode {
  return (
    <ul className="months">
      {props.months.map(({ month, state, orders, figures }) => (
        <li key={month}>
          <button
            type="button"
            className="card month"
            aria-pressed={month === props.chosen}
            onClick={() => props.choose(month)}
          >
            <span className="strong">{monthName(month)}</span>
            <span className="muted small">
              {orders === 1 ? 'one order' : `${count(orders)} orders`}, {state}
            </span>
            <span className="commissions">
              {figures.slice(0, 3).map(({ coin, network, closing }) => (
                <span key={`${coin} ${network}`} className="commission">
                  <Amount value={closing} decimals={8} />
                  <Asset coin={coin} network={network} />
                </span>
              ))}
              {figures.length > 3 ? <span className="muted small">and {figures.length - 3} more coins</span> : null}
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
    ...query('listCommissionEntries', { query: { month, limit: 50, ...(cursor ? { cursor } : {}) } }),
    placeholderData: keepPreviousData,
  });
  return (
    <Card
      title={monthName(month)}
      flush
      tools={
        <a
          className="button small"
          href={addressOf('getStatement', { month }, { format: 'csv' })}
          download={`commission-${month}.csv`}
        >
          <Icon name="download" /> CSV
        </a>
      }
    >
      <Loaded of={entries}>
        {({ data, next_cursor: next }) => (
          <>
            {data.length === 0 ? (
              <Empty icon="statements" title="Nothing was booked in this month" />
            ) : (
              <Table
                label={`Commission of ${monthName(month)}`}
                head={
                  <>
                    <th>Entry</th>
                    <th>Booked</th>
                    <th className="number">Amount</th>
                  </>
                }
              >
                {data.map((entry) => (
                  <tr key={entry.id}>
                    <td>
                      {entry.order_id === null ? (
                        entry.kind
                      ) : (
                        <OrderLink id={entry.order_id} shortId={entry.short_id ?? ''} />
                      )}
                      {entry.external_id === null && entry.reason === null ? null : (
                        <small className="muted block cut partner-cell">{entry.external_id ?? entry.reason}</small>
                      )}
                    </td>
                    <td className="nowrap">
                      <Time at={entry.at} />
                    </td>
                    <td className="number">
                      <span>
                        <Amount value={entry.amount} decimals={8} />
                        <Asset coin={entry.coin} network={entry.network} />
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
