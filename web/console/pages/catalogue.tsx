import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { faultsOf } from '../../ui/failure.ts';
import { duration, percent } from '../../ui/format.ts';
import { Loaded, PageHead } from '../../ui/page.tsx';
import { Ago, Amount, Badge, Card, Empty, Facts, Notice, Segments, Table, Time } from '../../ui/parts.tsx';
import type { Search } from '../../ui/search.ts';
import { query } from '../api.ts';
import {
  CatalogueDocument,
  type CatalogueQuery,
  EndOverrideDocument,
  OverridePriceDocument,
  PricesDocument,
  type PricesQuery,
  QuoteDocument,
  SetTermsDocument,
  SwitchCurrencyDocument,
} from '../generated/graphql.ts';
import { PartnerPicker } from '../partner-picker.tsx';
import { Allowed, useMay } from '../session.tsx';
import { type Action, Actions, send } from '../shared.tsx';

const tabs = [
  ['currencies', 'Currencies'],
  ['prices', 'Prices'],
  ['quote', 'Quote'],
] as const;
type Tab = (typeof tabs)[number][0];

/** Currencies with their switches and terms, prices set by hand, and a quote as any partner. */
export function Catalogue(): ReactNode {
  return (
    <Allowed to="currencies:read">
      <Content />
    </Allowed>
  );
}

function Content(): ReactNode {
  const { tab } = useSearch({ strict: false }) as Search;
  const navigate = useNavigate();
  const shown: Tab = tabs.find(([name]) => name === tab)?.[0] ?? 'currencies';
  return (
    <div className="page">
      <PageHead title="Catalogue and prices">
        <Segments
          label="Part"
          value={shown}
          choices={tabs}
          onChange={(next) => navigate({ to: '/catalogue', search: { tab: next } })}
        />
      </PageHead>
      {shown === 'currencies' ? <Currencies /> : null}
      {shown === 'prices' ? <Prices /> : null}
      {shown === 'quote' ? <QuoteTool /> : null}
    </div>
  );
}

type Currency = CatalogueQuery['currencies'][number];

function Currencies(): ReactNode {
  const { q = '' } = useSearch({ strict: false }) as Search;
  const navigate = useNavigate();
  const may = useMay();
  const catalogue = useQuery(query('catalogue', CatalogueDocument, {}));
  const fits = ({ coin, network, name }: Currency): boolean =>
    `${coin} ${network} ${name}`.toLowerCase().includes(q.toLowerCase());
  return (
    <Card
      title="Currencies"
      flush
      tools={
        <input
          className="input small finder"
          aria-label="Find a currency"
          placeholder="Find a currency"
          value={q}
          onChange={({ target }) =>
            navigate({ to: '/catalogue', search: { tab: 'currencies', q: target.value }, replace: true })
          }
        />
      }
    >
      <Loaded of={catalogue} lines={10}>
        {({ currencies }) => {
          const shown = currencies.filter(fits);
          if (shown.length === 0) return <Empty icon="search" title="No currency fits" />;
          return (
            <Table
              label="Currencies"
              head={
                <>
                  <th>Currency</th>
                  <th>Partners</th>
                  <th>Deposits</th>
                  <th>Payouts</th>
                  <th className="number">Smallest</th>
                  <th className="number">Largest</th>
                  <th className="number">Network fee</th>
                  <th className="number">Confirmations</th>
                  <th>
                    <span className="hidden">Actions</span>
                  </th>
                </>
              }
            >
              {shown.map((currency) => (
                <tr key={currency.id}>
                  <td className="nowrap">
                    <span className="strong">{currency.coin}</span> <span className="muted">{currency.network}</span>
                    <br />
                    <span className="muted small">{currency.name}</span>
                  </td>
                  <td>
                    <Switch isOn={currency.isActive} on="Shown" off="Hidden" />
                  </td>
                  <td>
                    <Switch isOn={currency.isDepositEnabled} on="On" off="Off" />
                  </td>
                  <td>
                    <Switch isOn={currency.isWithdrawEnabled} on="On" off="Off" />
                  </td>
                  <td className="number">
                    <Amount value={currency.minAmount} />
                  </td>
                  <td className="number">
                    <Amount value={currency.maxAmount} />
                  </td>
                  <td className="number">
                    <Amount value={currency.networkFee} />
                  </td>
                  <td className="number">{currency.minConfirmations}</td>
                  <td>
                    <span className="row tight nowrap-row">
                      <Actions small version={currency.updatedAt} of={currencyActions(currency, may)} />
                    </span>
                  </td>
                </tr>
              ))}
            </Table>
          );
        }}
      </Loaded>
    </Card>
  );
}

function Switch({ isOn, on, off }: { isOn: boolean; on: string; off: string }): ReactNode {
  return <Badge tone={isOn ? 'good' : 'bad'}>{isOn ? on : off}</Badge>;
}

function currencyActions(currency: Currency, may: (permission: string) => boolean): readonly (Action | false)[] {
  const { coin, network } = currency;
  return [
    may('currencies:switch') && {
      name: 'Switches',
      title: `Switches of ${coin} on ${network}`,
      about: 'In force in this process at once, in others within five seconds. Orders under way continue.',
      fields: [
        {
          name: 'isActive',
          label: 'Partners see the currency',
          kind: 'check',
          isOptional: true,
          initial: String(currency.isActive),
        },
        {
          name: 'isDepositEnabled',
          label: 'New orders may deposit it',
          kind: 'check',
          isOptional: true,
          initial: String(currency.isDepositEnabled),
        },
        {
          name: 'isWithdrawEnabled',
          label: 'New orders may pay it out',
          kind: 'check',
          isOptional: true,
          initial: String(currency.isWithdrawEnabled),
        },
      ],
      run: ({ reason = '', ...values }) =>
        send(SwitchCurrencyDocument, {
          coin,
          network,
          reason,
          switches: {
            isActive: values.isActive === 'true',
            isDepositEnabled: values.isDepositEnabled === 'true',
            isWithdrawEnabled: values.isWithdrawEnabled === 'true',
          },
        }),
    },
    may('currencies:write') && {
      name: 'Terms',
      title: `Terms of ${coin} on ${network}`,
      about: 'For new orders.',
      fields: [
        { name: 'minAmount', label: 'Smallest amount', initial: currency.minAmount },
        { name: 'maxAmount', label: 'Largest amount', initial: currency.maxAmount },
        { name: 'networkFee', label: 'Network fee', initial: currency.networkFee },
        { name: 'minConfirmations', label: 'Confirmations', initial: String(currency.minConfirmations) },
      ],
      run: ({ reason = '', minAmount = '', maxAmount = '', networkFee = '', minConfirmations = '' }) =>
        send(SetTermsDocument, {
          coin,
          network,
          reason,
          terms: {
            minAmount: minAmount.trim(),
            maxAmount: maxAmount.trim(),
            networkFee: networkFee.trim(),
            minConfirmations: Number(minConfirmations),
          },
        }),
    },
  ];
}

function Prices(): ReactNode {
  const may = useMay();
  const prices = useQuery({ ...query('prices', PricesDocument, {}), refetchInterval: 10_000 });
  const catalogue = useQuery({ ...query('catalogue', CatalogueDocument, {}), staleTime: 60_000 });
  const known = new Set(catalogue.data?.currencies.map(({ coin }) => coin));
  const coins = [['', 'Choose a coin'] as const, ...[...known].sort().map((coin) => [coin, coin] as const)];
  const override: Action = {
    name: 'Set a price',
    icon: 'plus',
    title: 'Set a price by hand',
    about: 'At most a quarter away from the market, and at most for seven days. Float quotes use it at once.',
    fields: [
      { name: 'coinFrom', label: 'From coin', kind: 'choice', choices: coins },
      { name: 'coinTo', label: 'To coin', kind: 'choice', choices: coins },
      { name: 'price', label: 'Units of the second coin for one of the first', hint: 'Before fees' },
      { name: 'hours', label: 'Hours until it ends', initial: '1', hint: '1 to 168' },
    ],
    run: ({ coinFrom = '', coinTo = '', price = '', hours = '', reason = '' }) =>
      send(OverridePriceDocument, {
        reason,
        input: {
          coinFrom,
          coinTo,
          price: price.trim(),
          endsAt: new Date(Date.now() + Number(hours) * 3_600_000).toISOString(),
        },
      }),
  };
  return (
    <Loaded of={prices} lines={10}>
      {({ priceOverrides, system }) => (
        <>
          <Card
            title="Set by hand"
            flush={priceOverrides.length > 0}
            tools={may('prices:override') ? <Actions small of={[override]} /> : null}
          >
            {priceOverrides.length === 0 ? (
              <p className="muted">Every pair follows the market.</p>
            ) : (
              <Overrides overrides={priceOverrides} />
            )}
          </Card>
          <Card title="Market prices" flush>
            {system.prices.length === 0 ? (
              <Empty icon="catalogue" title="No price is known">
                <p>Quotes are refused until a price source answers.</p>
              </Empty>
            ) : (
              <Table
                label="Market prices"
                head={
                  <>
                    <th>Coin</th>
                    <th className="number">US dollars</th>
                    <th className="number">Age</th>
                  </>
                }
              >
                {system.prices.map(({ coin, price, ageSec }) => (
                  <tr key={coin}>
                    <td className="strong">{coin}</td>
                    <td className="number">
                      <Amount value={price} />
                    </td>
                    <td className={`number ${ageSec > 60 ? 'warn-text strong' : 'muted'}`}>{duration(ageSec)}</td>
                  </tr>
                ))}
              </Table>
            )}
          </Card>
        </>
      )}
    </Loaded>
  );
}

function Overrides({ overrides }: { overrides: PricesQuery['priceOverrides'] }): ReactNode {
  const may = useMay();
  return (
    <Table
      label="Prices set by hand"
      head={
        <>
          <th>Pair</th>
          <th className="number">Price</th>
          <th>Ends</th>
          <th>Set by</th>
          <th>
            <span className="hidden">Actions</span>
          </th>
        </>
      }
    >
      {overrides.map(({ id, coinFrom, coinTo, price, endsAt, setBy }) => (
        <tr key={id}>
          <td className="strong">
            {coinFrom} → {coinTo}
          </td>
          <td className="number">
            <Amount value={price} />
          </td>
          <td className="nowrap">
            <Time at={endsAt} />{' '}
            <span className="muted">
              (<Ago at={endsAt} />)
            </span>
          </td>
          <td>{setBy.email}</td>
          <td className="number">
            <Actions
              small
              of={[
                may('prices:override') && {
                  name: 'End',
                  title: `End the price of ${coinFrom} → ${coinTo}`,
                  about: 'The pair follows the market again.',
                  run: ({ reason = '' }) => send(EndOverrideDocument, { coinFrom, coinTo, reason }),
                },
              ]}
            />
          </td>
        </tr>
      ))}
    </Table>
  );
}

/** A quote exactly as a partner would get it. */
function QuoteTool(): ReactNode {
  const catalogue = useQuery({ ...query('catalogue', CatalogueDocument, {}), staleTime: 60_000 });
  const assets = catalogue.data?.currencies.map(({ coin, network }) => `${coin}/${network}`) ?? [];
  const [values, setValues] = useState({
    from: 'BTC/BTC',
    to: 'USDT/TRC20',
    amount: '',
    rateType: 'FLOAT',
    partner: '',
  });
  const set = (change: Partial<typeof values>): void => setValues({ ...values, ...change });
  const quote = useMutation({
    mutationFn: () => {
      const [coinFrom = '', networkFrom = ''] = values.from.split('/');
      const [coinTo = '', networkTo = ''] = values.to.split('/');
      return send(QuoteDocument, {
        input: {
          coinFrom,
          networkFrom,
          coinTo,
          networkTo,
          rateType: values.rateType === 'FIXED' ? 'FIXED' : 'FLOAT',
          ...(values.amount.trim() ? { amount: values.amount.trim() } : {}),
          ...(values.partner ? { partnerId: values.partner } : {}),
        },
      });
    },
  });
  const choose = (label: string, name: 'from' | 'to'): ReactNode => (
    <label className="field">
      <span>{label}</span>
      <select className="input" value={values[name]} onChange={({ target }) => set({ [name]: target.value })}>
        {assets.map((asset) => (
          <option key={asset}>{asset}</option>
        ))}
      </select>
    </label>
  );
  const found = quote.data?.quote;
  return (
    <div className="halves">
      <Card title="What a partner would be quoted now">
        <form
          className="stack"
          onSubmit={(event) => {
            event.preventDefault();
            quote.mutate();
          }}
        >
          {choose('From', 'from')}
          {choose('To', 'to')}
          <label className="field">
            <span>
              Amount <span className="muted">(the smallest without one)</span>
            </span>
            <input
              className="input"
              inputMode="decimal"
              value={values.amount}
              onChange={({ target }) => set({ amount: target.value })}
            />
          </label>
          <div className="field">
            <span>Partner</span>
            <PartnerPicker
              label="Partner"
              none="Public pricing"
              value={values.partner}
              onChange={(partner) => set({ partner })}
            />
          </div>
          <Segments
            label="Rate"
            value={values.rateType}
            choices={[
              ['FLOAT', 'Float'],
              ['FIXED', 'Fixed'],
            ]}
            onChange={(rateType) => set({ rateType })}
          />
          <div>
            <button type="submit" className="button primary" disabled={quote.isPending}>
              Get the quote
            </button>
          </div>
        </form>
      </Card>
      <Card title="Quote">
        {quote.error ? <Notice tone="bad">{faultsOf(quote.error).whole}</Notice> : null}
        {found ? (
          <Facts
            of={[
              ['User sends', <Amount key="f" value={found.amountFrom} coin={found.coinFrom} />],
              ['User gets', <Amount key="t" value={found.amountTo} coin={found.coinTo} />],
              ['Rate', found.rate],
              ['Service fee', `${found.serviceFee} ${found.coinTo} (${percent(found.feeRate)})`],
              ['Network fee', `${found.networkFee} ${found.coinTo}`],
              ['Amounts', `${found.minAmount} to ${found.maxAmount} ${found.coinFrom}`],
              ['Holds for', found.expiresIn === null ? 'no time: float' : duration(found.expiresIn)],
            ]}
          />
        ) : quote.error ? null : (
          <Empty icon="catalogue" title="No quote yet">
            <p>Rate, fees and bounds would be here, exactly as the partner gets them.</p>
          </Empty>
        )}
      </Card>
    </div>
  );
}
