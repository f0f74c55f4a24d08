import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { count, words } from '../../ui/format.ts';
import { Icon } from '../../ui/icon.tsx';
import { Loaded, PageButtons, PageHead } from '../../ui/page.tsx';
import { Amount, Asset, Badge, Card, Copy, Empty, Facts, Notice, Table, Time } from '../../ui/parts.tsx';
import type { Search } from '../../ui/search.ts';
import { addressOf, type PartnerSchemas, query } from '../api.ts';
import { CommissionAddress } from '../commission-address.tsx';
import { assetName, monthName, monthState } from '../commission-words.ts';
import { Allowed, useMay } from '../session.tsx';
import { OrderLink, Transaction } from '../shared.tsx';
import { type WholeCommission, wholeCommission } from '../whole-commission.ts';
import './commission.css';

type Statement = PartnerSchemas['Statement'];

/** What the partner earns, where it is paid to, and its months. */
export function Commission(): ReactNode {
  const may = useMay();
  const commission = useQuery({
    ...wholeCommission,
    enabled: may('statements:read'),
    refetchInterval: 30_000,
  });
  return (
    <Allowed to="statements:read">
      <div className="page">
        <PageHead title="Commission" lead="What your markups earn, by month in UTC. Amounts are exact." />
        <Loaded of={commission} lines={12}>
          {(view) => (
            <>
              <div className="wide-narrow">
                <Balance of={view} />
                <CommissionAddress of={view.addresses} settled={view.balance} />
              </div>
              <History of={view} />
            </>
          )}
        </Loaded>
      </div>
    </Allowed>
  );
}

/** An amount of an asset, one a line. */
function Amounts({ of }: { of: readonly { coin: string; network: string; amount: string }[] }): ReactNode {
  return (
    <span className="commissions">
      {of.map(({ coin, network, amount }) => (
        <span key={`${coin} ${network}`}>
          <Amount value={amount} decimals={8} />
          <Asset coin={coin} network={network} />
        </span>
      ))}
    </span>
  );
}

function Balance({ of: { balance, months } }: { of: WholeCommission }): ReactNode {
  const { coin, network, month, others } = balance;
  const open = months.find((one) => one.month === month);
  const accrued = open?.figures.map((figures) => ({ ...figures, amount: figures.accrued }));
  const earned = accrued?.filter(({ amount }, index) => index === 0 || amount !== '0');
  return (
    <Card title="Balance" flush>
      <div className="item">
        <p>
          <span className="big-amount">{balance.balance}</span>{' '}
          <span className="muted">{assetName(balance)} is owed to you</span>
        </p>
        <Facts
          of={[
            [`Accrued in ${monthName(month)}`, <Amounts key="a" of={earned ?? [{ coin, network, amount: '0' }]} />],
            ['In other assets', others.length === 0 ? null : <Amounts key="o" of={others} />],
            ['Settled in', assetName(balance)],
            ['Minimum', `$${balance.min_payment_usd} at the end of a month; less counts in the next one`],
          ]}
        />
        {others.length === 0 ? null : (
          <p className="muted small">
            What is due for a closed month stays in the asset of that month. Other amounts are converted once there is a
            price.
          </p>
        )}
      </div>
      <Unpaid of={months} minUsd={balance.min_payment_usd} />
    </Card>
  );
}

/** Closed months that are not paid yet, and why. */
function Unpaid({ of: months, minUsd }: { of: readonly Statement[]; minUsd: string }): ReactNode {
  // The balance of an older month that was carried over is in a later one.
  const newest = months.find(({ state }) => state !== 'open');
  const unpaid = months.filter((one) => one.state === 'payable' || (one === newest && one.state === 'rolled'));
  if (unpaid.length === 0) return null;
  return (
    <>
      <div className="sub-head">
        <h3>Closed and not paid</h3>
      </div>
      <ul className="items" aria-label="Closed and not paid">
        {unpaid.map((one) => {
          const [tone, label, text] = monthState(one, minUsd);
          return (
            <li key={one.month} className="item">
              <header>
                <h3 className="item-title">
                  {monthName(one.month)} {one.due === null ? null : <Amount value={one.due} coin={assetName(one)} />}
                </h3>
                <Badge tone={tone}>{label}</Badge>
              </header>
              <p className="muted small">{text}</p>
            </li>
          );
        })}
      </ul>
    </>
  );
}

function History({ of: { months, balance } }: { of: WholeCommission }): ReactNode {
  const search = useSearch({ strict: false }) as Search;
  const navigate = useNavigate();
  const minUsd = balance.min_payment_usd;
  const chosen = months.find(({ month }) => month === search.month) ?? months[0];
  if (chosen === undefined) {
    return (
      <Card title="Months">
        <Empty icon="statements" title="No commission yet">
          <p>Each month in which orders earned something would be here, to read and to download.</p>
        </Empty>
      </Card>
    );
  }
  return (
    <>
      {search.month !== undefined && search.month !== chosen.month ? (
        <Notice tone="warn">There is no such month. {monthName(chosen.month)} is shown.</Notice>
      ) : null}
      <Months
        months={months}
        chosen={chosen.month}
        minUsd={minUsd}
        choose={(month) => void navigate({ to: '/commission', search: { month } })}
      />
      <Month of={chosen} minUsd={minUsd} />
      <Entries month={chosen.month} cursor={search.month === chosen.month ? search.cursor : undefined} />
    </>
  );
}

function Months(props: {
  months: readonly Statement[];
  chosen: string;
  minUsd: string;
  choose: (month: string) => void;
}): ReactNode {
  return (
    <ul className="months">
      {props.months.map((one) => {
        const { month, orders, figures } = one;
        const [tone, label] = monthState(one, props.minUsd);
        return (
          <li key={month}>
            <button
              type="button"
              className="card month"
              aria-pressed={month === props.chosen}
              onClick={() => props.choose(month)}
            >
              <span className="row">
                <span className="strong">{monthName(month)}</span>
                <Badge tone={tone}>{label}</Badge>
              </span>
              <span className="muted small">{orders === 1 ? 'one order' : `${count(orders)} orders`}</span>
              <Amounts of={figures.slice(0, 3).map((one) => ({ ...one, amount: one.closing }))} />
              {figures.length > 3 ? <span className="muted small">and {figures.length - 3} more coins</span> : null}
            </button>
          </li>
        );
      })}
    </ul>
  );
}

/** The statement of a month, with its files. */
function Month({ of, minUsd }: { of: Statement; minUsd: string }): ReactNode {
  const { month, payment, due, sha256 } = of;
  const [tone, label, text] = monthState(of, minUsd);
  const file = (format: 'csv' | 'json'): ReactNode => (
    <a
      className="button small"
      href={addressOf('getStatement', { month }, { format })}
      download={`commission-${month}.${format}`}
    >
      <Icon name="download" /> {format.toUpperCase()}
    </a>
  );
  return (
    <Card
      title={`Statement of ${monthName(month)}`}
      flush
      tools={
        <span className="row tight">
          {file('csv')}
          {file('json')}
        </span>
      }
    >
      <div className="item">
        <Facts
          of={[
            [
              'State',
              <span key="s" className="row tight">
                <Badge tone={tone}>{label}</Badge> <span>{text}</span>
              </span>,
            ],
            ['Due', due === null ? null : <Amount key="d" value={due} coin={assetName(of)} />],
            ['Paid', payment ? <Amount key="p" value={payment.amount} coin={assetName(of)} /> : null],
            ['Network fee', payment ? <Amount key="f" value={payment.fee} coin={of.coin} /> : null],
            [
              'Transaction',
              payment?.txid ? <Transaction key="t" txid={payment.txid} url={payment.explorer_url} /> : null,
            ],
            ['Paid at', of.paid_at ? <Time key="i" at={of.paid_at} /> : null],
            ['Closed', of.closed_at ? <Time key="c" at={of.closed_at} /> : null],
            ['SHA-256 of the CSV', sha256 === null ? null : <Copy key="h" text={sha256} label="SHA-256" />],
          ]}
        />
      </div>
      <Table
        label={`Figures of ${monthName(month)}`}
        head={
          <>
            <th>Asset</th>
            <th className="number">Opening</th>
            <th className="number">Accrued</th>
            <th className="number">Converted</th>
            <th className="number">Corrected</th>
            <th className="number">Paid</th>
            <th className="number">Closing</th>
          </>
        }
      >
        {of.figures.map(({ coin, network, ...figures }) => (
          <tr key={`${coin} ${network}`}>
            <td>{assetName({ coin, network })}</td>
            {(['opening', 'accrued', 'converted', 'corrected', 'paid', 'closing'] as const).map((name) => (
              <td key={name} className="number">
                <Amount value={figures[name]} decimals={8} />
              </td>
            ))}
          </tr>
        ))}
      </Table>
    </Card>
  );
}

function Entries({ month, cursor }: { month: string; cursor: string | undefined }): ReactNode {
  const navigate = useNavigate();
  const entries = useQuery({
    ...query('listCommissionEntries', { query: { month, limit: 50, ...(cursor ? { cursor } : {}) } }),
    placeholderData: keepPreviousData,
  });
  return (
    <Card title={`Entries of ${monthName(month)}`} flush>
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
                        words(entry.kind)
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
              after={next === null ? null : () => void navigate({ to: '/commission', search: { month, cursor: next } })}
            />
          </>
        )}
      </Loaded>
    </Card>
  );
}
