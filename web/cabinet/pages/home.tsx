import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense, useMemo, useState } from 'react';
import { count, usd } from '../../ui/format.ts';
import { Loaded, PageHead } from '../../ui/page.tsx';
import { Badge, Card, Empty, Meter, Segments, Skeleton } from '../../ui/parts.tsx';
import { query, type Schemas } from '../api.ts';
import { useMay, useMe } from '../session.tsx';
import { steps } from '../tasks.ts';

type HomeView = Schemas['Home'];

/** The plot is large, so it comes after the figures. */
const Plot = lazy(() => import('../../ui/plot.tsx').then(({ Plot }) => ({ default: Plot })));

/** The partner at a glance: what needs action, today and 30 days, limits, and health. */
export function Home(): ReactNode {
  const { partner, member } = useMe();
  const home = useQuery({ ...query('getHome', {}), refetchInterval: 30_000 });
  return (
    <div className="page">
      <PageHead title="Home" lead={`${partner.name}. Signed in as ${member.name}, ${member.role}.`}>
        {partner.status === 'inactive' ? <Badge tone="bad">Account switched off</Badge> : null}
      </PageHead>
      <Loaded of={home} lines={10}>
        {(view) => (
          <>
            <Tasks view={view} />
            <Figures view={view} />
            <Days days={view.by_day} />
            <div className="thirds">
              <Limits view={view} />
              <Webhooks view={view} />
              <Requests view={view} />
            </div>
          </>
        )}
      </Loaded>
    </div>
  );
}

function Tasks({ view }: { view: HomeView }): ReactNode {
  const may = useMay();
  const shown = steps(view.needs_action);
  if (shown.length === 0) {
    return (
      <section className="card attention-card calm" aria-label="Needs action">
        <div className="body row">
          <span className="good-text strong">Nothing needs action</span>
          <span className="muted">Keys, webhooks and orders are as they should be.</span>
        </div>
      </section>
    );
  }
  return (
    <Card
      className={`attention-card ${shown.some(({ tone }) => tone === 'bad') ? '' : 'mild'}`}
      title="Needs action"
      flush
    >
      <ul className="todo">
        {shown.map(({ code, text, detail, tone, to, link, right }) => (
          <li key={code}>
            <Badge tone={tone}>{text}</Badge>
            <span className="detail">{detail}</span>
            {right === null || may(right) ? <Link to={to}>{link}</Link> : null}
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Figures({ view }: { view: HomeView }): ReactNode {
  const { today, days_30: month } = view;
  const tiles = [
    ['Orders today', count(today.created), `${count(month.created)} in 30 days`],
    ['Completed today', count(today.completed), `${count(month.completed)} in 30 days`],
    ['Volume today', usd(today.volume_usd), `${usd(month.volume_usd)} in 30 days`],
    ['Refunded today', count(today.refunded), `${count(month.refunded)} in 30 days`],
  ] as const;
  return (
    <div className="tiles">
      {tiles.map(([name, value, note]) => (
        <div key={name} className="card tile">
          <span className="label">{name}</span>
          <span className="value">{value}</span>
          <span className="note">{note}</span>
        </div>
      ))}
    </div>
  );
}

const measures = [
  ['created', 'Orders'],
  ['completed', 'Completed'],
  ['volume', 'Volume'],
] as const;
type Measure = (typeof measures)[number][0];

const whole = (value: number): string => (Number.isInteger(value) ? count(value) : '');
const dollars = (value: number): string => (value >= 1_000 ? `$${value / 1_000}k` : `$${value}`);

function Days({ days }: { days: HomeView['by_day'] }): ReactNode {
  const [measure, setMeasure] = useState<Measure>('created');
  const name = measures.find(([value]) => value === measure)?.[1] ?? '';
  const points = useMemo(
    () =>
      days.map(({ day, created, completed, volume_usd }) => ({
        at: `${day}T00:00:00.000Z`,
        ...{
          created: { value: created, text: count(created) },
          completed: { value: completed, text: count(completed) },
          // The place on the plot only; the text is exact.
          volume: { value: Number(volume_usd), text: `$${volume_usd}` },
        }[measure],
      })),
    [days, measure],
  );
  return (
    <Card
      title="The last 30 days"
      tools={<Segments label="Measure" value={measure} choices={measures} onChange={setMeasure} />}
    >
      {points.every(({ value }) => value === 0) ? (
        <Empty icon="orders" title="No orders in the last 30 days">
          <p>Make a key, and create the first order with it. The plot of each day would be here.</p>
        </Empty>
      ) : (
        <Suspense fallback={<Skeleton lines={6} />}>
          <Plot
            sentence={`${name} of each of the last 30 days; the table below has the figures.`}
            points={points}
            axis={measure === 'volume' ? dollars : whole}
            unit={name}
          />
        </Suspense>
      )}
    </Card>
  );
}

function Limits({ view }: { view: HomeView }): ReactNode {
  const { open_orders: open, most_open_orders: most, orders_on_hold: held, live_keys: keys } = view;
  const share = most === 0 ? 0 : open / most;
  return (
    <Card
      title="Open orders"
      tools={
        <span className="row">
          <Link to="/orders" search={{ status: 'waiting_deposit' }}>
            Show them
          </Link>
          <Link to="/limits">All limits</Link>
        </span>
      }
    >
      <div className="gauge">
        <p>
          <span className="big-amount">{count(open)}</span> <span className="muted">of at most {count(most)}</span>
        </p>
        <Meter
          share={share}
          tone={share > 0.9 ? 'bad' : share > 0.7 ? 'warn' : 'accent'}
          label={`${count(open)} of at most ${count(most)} open orders`}
        />
        <p className="muted small">
          {share > 0.9
            ? 'Near the limit: new orders are refused above it.'
            : 'Orders that wait for a deposit. They end by themselves after their deposit window.'}
        </p>
        <p>
          {held === 0
            ? 'No order is held.'
            : `${count(held)} ${held === 1 ? 'order is' : 'orders are'} held for a check.`}{' '}
          {keys === 0 ? 'No key is live.' : keys === 1 ? 'One key is live.' : `${count(keys)} keys are live.`}
        </p>
      </div>
    </Card>
  );
}

function Requests({ view }: { view: HomeView }): ReactNode {
  const may = useMay();
  const { rate_limited_24h: limited, refused_24h: refused } = view.requests;
  return (
    <Card title="Refused requests" tools={may('keys:read') ? <Link to="/keys">Keys</Link> : null}>
      <div className="gauge">
        <p>
          <span className="big-amount">{count(limited)}</span>{' '}
          <span className="muted">over the rate limit in 24 hours</span>
        </p>
        <p className="muted small">
          {limited === 0
            ? 'Your programs stay below your rate limits.'
            : 'Each answer 429 says in Retry-After when to ask again.'}
        </p>
        <p>
          {refused === 0
            ? 'No request was refused for another reason.'
            : `${count(refused)} ${refused === 1 ? 'was' : 'were'} refused for another reason, which the answer tells.`}
        </p>
      </div>
    </Card>
  );
}

function Webhooks({ view }: { view: HomeView }): ReactNode {
  const may = useMay();
  const { endpoints, disabled, failing, delivered_24h: delivered, failed_24h: failed } = view.webhooks;
  const ended = delivered + failed;
  const share = ended === 0 ? 1 : delivered / ended;
  return (
    <Card title="Webhook health" tools={may('webhooks:read') ? <Link to="/webhooks">Endpoints</Link> : null}>
      {endpoints === 0 ? (
        <Empty icon="webhook" title="No endpoint yet">
          <p>Add one, and each change of an order is sent to you.</p>
        </Empty>
      ) : (
        <div className="gauge">
          <p>
            <span className="big-amount">{count(delivered)}</span>{' '}
            <span className="muted">delivered in 24 hours, {count(failed)} failed</span>
          </p>
          <Meter
            share={share}
            tone={failed === 0 ? 'good' : share > 0.9 ? 'warn' : 'bad'}
            label={`${count(delivered)} of ${count(ended)} deliveries of the last 24 hours succeeded`}
          />
          <p className="row tight">
            <Badge tone={failing + disabled === 0 ? 'good' : 'idle'}>
              {endpoints - failing - disabled} of {endpoints} healthy
            </Badge>
            {failing > 0 ? <Badge tone="warn">{failing} failing</Badge> : null}
            {disabled > 0 ? <Badge tone="bad">{disabled} switched off</Badge> : null}
          </p>
        </div>
      )}
    </Card>
  );
}
