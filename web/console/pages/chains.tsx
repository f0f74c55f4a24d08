import { useQuery } from '@tanstack/react-query';
import { lazy, type ReactNode, Suspense } from 'react';
import { count, duration } from '../../ui/format.ts';
import { Loaded, PageHead } from '../../ui/page.tsx';
import { Ago, Badge, Card, Empty, Skeleton, Table } from '../../ui/parts.tsx';
import { query } from '../api.ts';
import { HealthDocument, type HealthQuery } from '../generated/graphql.ts';
import { Allowed } from '../session.tsx';

/** The plots are large, so they come after the figures. */
const ChainLag = lazy(() => import('../history.tsx').then(({ ChainLag }) => ({ default: ChainLag })));

type Chain = HealthQuery['system']['chains'][number];

/** Chains against their nodes, the workers and their queues. */
export function Chains(): ReactNode {
  return (
    <Allowed to="system:read">
      <Content />
    </Allowed>
  );
}

function severity({ problem, failure, lag }: Chain): number {
  return problem !== null ? 1_000_000 : failure !== null ? 500_000 : lag;
}

/** Blocks above which a chain counts as behind. */
const behind = 20;

/** The chain that is worst off; null while all are well. */
function worstOf(chains: readonly Chain[]): string | null {
  const [worst] = [...chains].sort((a, b) => severity(b) - severity(a));
  return worst && severity(worst) > behind ? worst.chain : null;
}

function Content(): ReactNode {
  const health = useQuery({ ...query('health', HealthDocument, {}), refetchInterval: 10_000 });
  return (
    <div className="page">
      <PageHead title="Chains" lead="Ill chains first, then by name." />
      <Loaded of={health} lines={12}>
        {({ system }) => (
          <>
            <Card title={`${system.chains.length} chains`} flush>
              {system.chains.length === 0 ? (
                <Empty icon="chains" title="No chain was read yet">
                  <p>A worker reads the chains of every active currency.</p>
                </Empty>
              ) : (
                <ChainTable
                  chains={[...system.chains].sort((a, b) => severity(b) - severity(a) || (a.chain < b.chain ? -1 : 1))}
                />
              )}
            </Card>
            <Suspense fallback={<Skeleton lines={6} />}>
              <ChainLag first={worstOf(system.chains)} />
            </Suspense>
            <div className="halves">
              <Workers workers={system.workers} />
              <Queues queues={system.queues} />
            </div>
            <Card title="Statistics">
              <p className={system.statistics.eventsBehind > 100 ? 'warn-text' : 'muted'}>
                {system.statistics.eventsBehind === 0
                  ? 'The statistics have every move.'
                  : `${count(system.statistics.eventsBehind)} moves are not in the statistics yet.`}{' '}
                {system.statistics.rolledAt ? (
                  <>
                    Brought up to date <Ago at={system.statistics.rolledAt} />.
                  </>
                ) : null}
              </p>
            </Card>
          </>
        )}
      </Loaded>
    </div>
  );
}

function ChainTable({ chains }: { chains: readonly Chain[] }): ReactNode {
  return (
    <Table
      label="Chains"
      head={
        <>
          <th>Chain</th>
          <th>State</th>
          <th className="number">Read up to</th>
          <th className="number">Node has</th>
          <th className="number">Behind</th>
          <th className="number">Last news</th>
        </>
      }
    >
      {chains.map((chain) => (
        <tr key={chain.chain}>
          <td className="strong">{chain.chain}</td>
          <td>
            <ChainState of={chain} />
          </td>
          <td className="number">{count(chain.height)}</td>
          <td className="number">{count(chain.head)}</td>
          <td className={`number ${chain.lag > behind ? 'warn-text strong' : 'muted'}`}>{count(chain.lag)}</td>
          <td className="number muted">{chain.scannedAt ? <Ago at={chain.scannedAt} /> : '–'}</td>
        </tr>
      ))}
    </Table>
  );
}

function ChainState({ of: { problem, failure, failingSince, lag } }: { of: Chain }): ReactNode {
  if (problem !== null) {
    return (
      <>
        <Badge tone="bad">Stopped</Badge> <span className="small">{problem}</span>
      </>
    );
  }
  if (failure !== null) {
    return (
      <>
        <Badge tone="bad">Node fails</Badge>{' '}
        <span className="small">
          {failure} {failingSince ? <Ago at={failingSince} /> : null}
        </span>
      </>
    );
  }
  return lag > behind ? <Badge tone="warn">Behind</Badge> : <Badge tone="good">Current</Badge>;
}

function Workers({ workers }: { workers: HealthQuery['system']['workers'] }): ReactNode {
  return (
    <Card title="Workers" flush={workers.length > 0}>
      {workers.length === 0 ? (
        <p className="bad-text">No worker reported. Orders do not move without one.</p>
      ) : (
        <Table
          label="Workers"
          head={
            <>
              <th>Worker</th>
              <th className="number">Reported</th>
            </>
          }
        >
          {workers.map(({ id, seenAt }) => (
            <tr key={id}>
              <td>
                <code title={id}>{id.slice(0, 18)}</code>
              </td>
              <td className="number muted">
                <Ago at={seenAt} />
              </td>
            </tr>
          ))}
        </Table>
      )}
    </Card>
  );
}

function Queues({ queues }: { queues: HealthQuery['system']['queues'] }): ReactNode {
  return (
    <Card title="Queues" flush={queues.length > 0}>
      {queues.length === 0 ? (
        <p className="muted">The first worker makes the queues.</p>
      ) : (
        <Table
          label="Queues"
          head={
            <>
              <th>Queue</th>
              <th className="number">Waiting</th>
              <th className="number">Oldest</th>
            </>
          }
        >
          {queues.map(({ name, waiting, oldestSec }) => (
            <tr key={name}>
              <td>{name}</td>
              <td className="number">{count(waiting)}</td>
              <td className="number muted">{oldestSec === null ? '–' : duration(oldestSec)}</td>
            </tr>
          ))}
        </Table>
      )}
    </Card>
  );
}
