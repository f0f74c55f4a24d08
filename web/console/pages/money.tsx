import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense } from 'react';
import { count, usd, words } from '../../ui/format.ts';
import { Icon } from '../../ui/icon.tsx';
import { Loaded, PageHead } from '../../ui/page.tsx';
import { Ago, Amount, Badge, Card, Empty, Meter, Notice, Skeleton, Table, type Tone } from '../../ui/parts.tsx';
import type { Search } from '../../ui/search.ts';
import { query } from '../api.ts';
import { ExchangeAccount } from '../exchange-account.tsx';
import {
  BalancesDocument,
  CatalogueDocument,
  MoneyDocument,
  type MoneyQuery,
  ResumePayoutsDocument,
  StopPayoutsDocument,
} from '../generated/graphql.ts';
import { Allowed, useMay } from '../session.tsx';
import { Actions, send } from '../shared.tsx';

/** The plots are large, so they come after the figures. */
const WalletLevels = lazy(() => import('../history.tsx').then(({ WalletLevels }) => ({ default: WalletLevels })));
const VenueFigures = lazy(() => import('../history.tsx').then(({ VenueFigures }) => ({ default: VenueFigures })));
const HeldCoins = lazy(() => import('../history.tsx').then(({ HeldCoins }) => ({ default: HeldCoins })));

/** The choice that is no asset of the catalogue. */
const allAssets = 'all';

/** Brakes on payments, hot wallets, and whether the ledger agrees with the world. */
export function Money(): ReactNode {
  return (
    <Allowed to="system:read">
      <Content />
    </Allowed>
  );
}

function Content(): ReactNode {
  const may = useMay();
  const catalogue = useQuery({ ...query('catalogue', CatalogueDocument, {}), staleTime: 60_000 });
  const assets = [
    ['', 'Choose an asset'] as const,
    [allAssets, 'All assets'] as const,
    ...(catalogue.data?.currencies ?? []).map(
      ({ coin, network }) => [`${coin}/${network}`, coin === network ? coin : `${coin} on ${network}`] as const,
    ),
  ];
  const money = useQuery({ ...query('money', MoneyDocument, {}), refetchInterval: 15_000 });
  return (
    <div className="page">
      <PageHead
        title="Money"
        lead="Holds and limits of automatic payments, hot wallets, the account at the exchange and the comparison of the ledger."
      >
        <Actions
          of={[
            may('payouts:stop') && {
              name: 'Stop payouts',
              icon: 'pause',
              title: 'Stop payouts and refunds',
              about: 'In force at once. Signed payments continue. Two members resume them.',
              isDangerous: true,
              fields: [{ name: 'asset', label: 'Payouts and refunds of', kind: 'choice', choices: assets }],
              run: ({ asset = '', reason = '' }) => {
                const [coin = '', network = ''] = asset.split('/');
                return send(StopPayoutsDocument, { reason, ...(asset === allAssets ? {} : { coin, network }) });
              },
            },
          ]}
        />
      </PageHead>
      <Loaded of={money}>
        {({ payoutBrakes, system }) => (
          <>
            <Holds holds={payoutBrakes.holds} />
            <div className="wide-narrow">
              <Limits limits={payoutBrakes.limits} />
              <Comparison of={system.reconciliation} />
            </div>
            <Wallets wallets={system.wallets} />
            {may('treasury:read') ? <ExchangeAccount /> : null}
            <Suspense fallback={<Skeleton lines={6} />}>
              <WalletLevels first={system.wallets.find((wallet) => sideOf(wallet) !== null) ?? null} />
              {may('ledger:read') ? (
                <>
                  <HeldCoins />
                  <VenueFigures />
                </>
              ) : null}
            </Suspense>
            {may('ledger:read') ? <Balances /> : null}
          </>
        )}
      </Loaded>
    </div>
  );
}

/**
 * What each account of the ledger has, now or at a time that staff choose. The filters are in the
 * address.
 */
function Balances(): ReactNode {
  const search = useSearch({ strict: false }) as Search;
  const navigate = useNavigate();
  const { at = '', account = '', coin = '' } = search;
  const set = (change: Search): void =>
    void navigate({ to: '/money', search: { ...search, ...change }, replace: true, resetScroll: false });
  const time = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$/.test(at) ? at : '';
  const asked = time === '' ? {} : { at: `${time}:00Z` };
  const balances = useQuery({
    ...query(`balances ${time}`, BalancesDocument, asked),
    placeholderData: keepPreviousData,
  });
  const all = balances.data?.ledgerBalances ?? [];
  const shown = all.filter((row) => (account === '' || row.account === account) && (coin === '' || row.coin === coin));
  const filter = (
    label: string,
    name: 'account' | 'coin',
    none: string,
    text: (value: string) => string,
  ): ReactNode => {
    const chosen = name === 'account' ? account : coin;
    const values = [...new Set([...all.map((row) => row[name]), ...(chosen === '' ? [] : [chosen])])].sort();
    return (
      <select
        className="input small"
        aria-label={label}
        value={chosen}
        onChange={({ target }) => set({ [name]: target.value })}
      >
        <option value="">{none}</option>
        {values.map((value) => (
          <option key={value} value={value}>
            {text(value)}
          </option>
        ))}
      </select>
    );
  };
  return (
    <Card
      title="Balances of the ledger"
      className="long"
      tools={
        <span className="muted small">
          {shown.length === all.length ? count(all.length) : `${count(shown.length)} of ${count(all.length)}`}, none of
          zero
        </span>
      }
      flush
    >
      <div className="body filters">
        {filter('Account', 'account', 'Any account', words)}
        {filter('Coin', 'coin', 'Any coin', String)}
        <label>
          <span className="muted">as of, in UTC</span>
          <input
            className="input small"
            type="datetime-local"
            value={time}
            onChange={({ target }) => set({ at: target.value })}
          />
        </label>
        {[account, coin, at].some(Boolean) ? (
          <button type="button" className="button quiet small" onClick={() => set({ account: '', coin: '', at: '' })}>
            <Icon name="close" /> Clear
          </button>
        ) : null}
      </div>
      <Loaded of={balances}>
        {({ ledgerBalances }) =>
          ledgerBalances.length === 0 ? (
            <Empty icon="money" title="No balances">
              <p>Nothing was booked until then.</p>
            </Empty>
          ) : shown.length === 0 ? (
            <Empty icon="search" title="No balance fits this filter" />
          ) : (
            <Table
              label="Balances by account and asset"
              head={
                <>
                  <th>Account</th>
                  <th className="number">Balance</th>
                  <th>Asset</th>
                </>
              }
            >
              {shown.map(({ account, coin, network, balance, partner, venue }) => (
                <tr key={`${account} ${venue ?? partner?.id ?? ''} ${coin} ${network}`}>
                  <td>
                    {words(account)} {partner || venue ? <span className="muted">{partner?.name ?? venue}</span> : null}
                  </td>
                  <td className="number strong">
                    <Amount value={balance} />
                  </td>
                  <td>
                    {coin} <span className="muted">{network}</span>
                  </td>
                </tr>
              ))}
            </Table>
          )
        }
      </Loaded>
    </Card>
  );
}

type Hold = MoneyQuery['payoutBrakes']['holds'][number];

function Holds({ holds }: { holds: readonly Hold[] }): ReactNode {
  const may = useMay();
  if (holds.length === 0) return <Notice tone="good">Payouts and refunds of every asset flow.</Notice>;
  return (
    <Card title="Held payouts" className="attention-card" flush>
      <ul className="queue">
        {holds.map((hold) => (
          <li key={hold.id}>
            <Badge tone="bad">{hold.coin === null ? 'All assets' : `${hold.coin} ${hold.network}`}</Badge>
            <span className="detail">
              {words(hold.cause)}: {hold.detail}
              <br />
              <span className="muted small">
                {count(hold.waiting)} wait · {hold.openedBy?.email ?? 'the gateway'} · <Ago at={hold.openedAt} />
                {hold.isStanding ? ' · the cause stands' : ' · the cause has ended'}
              </span>
            </span>
            {hold.proposedBy ? (
              <span className="muted">{hold.proposedBy.email} proposed to resume</span>
            ) : (
              <Actions
                small
                of={[
                  may('payouts:resume') && {
                    name: 'Resume',
                    icon: 'play',
                    title: 'Resume payouts',
                    about: 'Payouts and refunds that wait are sent.',
                    needsSecond: true,
                    fields: hold.isStanding
                      ? [
                          {
                            name: 'acknowledge',
                            label: 'End it although its cause stands',
                            kind: 'check',
                            isOptional: true,
                          },
                        ]
                      : [],
                    run: ({ acknowledge = '', reason = '' }) =>
                      send(ResumePayoutsDocument, { holdId: hold.id, acknowledge: acknowledge === 'true', reason }),
                  },
                ]}
              />
            )}
          </li>
        ))}
      </ul>
    </Card>
  );
}

function toneOf(share: number): Tone {
  return share >= 1 ? 'bad' : share >= 0.8 ? 'warn' : 'accent';
}

function Limits({ limits }: { limits: MoneyQuery['payoutBrakes']['limits'] }): ReactNode {
  const use = (used: string, limit: number): ReactNode => {
    const share = limit === 0 ? 1 : Number(used) / limit;
    return (
      <span className="limit">
        <span className="small">
          {usd(used)} <span className="muted">of ${count(limit)}</span>
        </span>
        <Meter share={share} tone={toneOf(share)} label={`${usd(used)} of $${count(limit)}`} />
      </span>
    );
  };
  return (
    <Card title="Limits of automatic payments" flush>
      <Table
        label="Limits of automatic payments"
        head={
          <>
            <th>Asset</th>
            <th>Last hour</th>
            <th>Last 24 hours</th>
            <th className="number">Waiting</th>
          </>
        }
      >
        {limits.map((limit) => (
          <tr key={`${limit.coin} ${limit.network}`}>
            <td className="nowrap">
              {limit.coin === null ? <span className="strong">All assets</span> : `${limit.coin} ${limit.network}`}
            </td>
            <td>{use(limit.hourUsd, limit.hourLimitUsd)}</td>
            <td>{use(limit.dayUsd, limit.dayLimitUsd)}</td>
            <td className={`number ${limit.waiting > 0 ? 'warn-text strong' : 'muted'}`}>
              {count(limit.waiting)} {limit.waitingSince ? <Ago at={limit.waitingSince} /> : null}
            </td>
          </tr>
        ))}
      </Table>
    </Card>
  );
}

function Comparison({ of }: { of: MoneyQuery['system']['reconciliation'] }): ReactNode {
  return (
    <Card title="Ledger against the world">
      {of === null ? (
        <Empty icon="money" title="Not compared yet">
          <p>A worker compares the ledger with the chains, the venue and the orders.</p>
        </Empty>
      ) : (
        <div className="stack tight">
          <p className={`strong ${of.differences === 0 ? 'good-text' : 'bad-text'}`}>
            {of.differences === 0 ? 'They agree' : `${count(of.differences)} differences`}
          </p>
          <p className="muted">
            {count(of.checks)} comparisons with the chains, the venue and the orders, <Ago at={of.endedAt} />.
          </p>
        </div>
      )}
    </Card>
  );
}

/** Which bound a balance exceeds; null for neither. For the badge only: numbers may cut digits. */
function sideOf({ balance, low, high }: MoneyQuery['system']['wallets'][number]): 'low' | 'high' | null {
  if (low !== null && Number(balance) < Number(low)) return 'low';
  return high !== null && Number(balance) > Number(high) ? 'high' : null;
}

function Wallets({ wallets }: { wallets: MoneyQuery['system']['wallets'] }): ReactNode {
  return (
    <Card title="Hot wallets" flush>
      {wallets.length === 0 ? (
        <Empty icon="money" title="No hot wallet of a live chain">
          <p>Balances of live chains would be here, each with its bounds. Sandbox chains pay from nothing.</p>
        </Empty>
      ) : (
        <Table
          label="Hot wallets"
          head={
            <>
              <th>Asset</th>
              <th>Chain</th>
              <th className="number">Balance</th>
              <th className="number">Low</th>
              <th className="number">High</th>
              <th>State</th>
              <th className="number">Seen</th>
            </>
          }
        >
          {wallets.map((wallet) => {
            const side = sideOf(wallet);
            return (
              <tr key={`${wallet.chain} ${wallet.coin}`}>
                <td>
                  {wallet.coin} <span className="muted">{wallet.network}</span>
                </td>
                <td>{wallet.chain}</td>
                <td className="number strong">
                  <Amount value={wallet.balance} />
                </td>
                <td className="number muted">{wallet.low ?? '–'}</td>
                <td className="number muted">{wallet.high ?? '–'}</td>
                <td>
                  <Badge tone={side === 'low' ? 'bad' : side === 'high' ? 'warn' : 'good'}>
                    {side === 'low' ? 'Top up' : side === 'high' ? 'Withdraw' : 'In bounds'}
                  </Badge>
                </td>
                <td className="number muted">
                  <Ago at={wallet.seenAt} />
                </td>
              </tr>
            );
          })}
        </Table>
      )}
    </Card>
  );
}
