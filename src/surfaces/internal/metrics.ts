import type { IncomingMessage, ServerResponse } from 'node:http';
import type { MikroORM } from '@mikro-orm/postgresql';
import type { Clock } from '../../base/clock.ts';
import { errorMembers, type Log } from '../../base/log.ts';
import { expositionOf, type ProcessMetrics, type Snapshot } from '../../base/telemetry/process-metrics.ts';
import type { PriceBook } from '../../market/rates/price-book.ts';
import type { BusinessSources } from '../../operations/business-metrics.ts';

export interface MetricsSources {
  readonly orm: MikroORM;
  readonly clock: Clock;
  readonly log: Log;
  readonly prices: PriceBook;
  readonly metrics: ProcessMetrics;
  readonly payoutRules: BusinessSources['payoutRules'];
  /**
   * Collects the counters of all processes that share this one's port, its own included. Null for a
   * single process.
   */
  readonly gather: (() => Promise<readonly Snapshot[]>) | null;
}

/** https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format */
const textFormat = 'text/plain; version=0.0.4; charset=utf-8';

/**
 * Answers `/metrics` for Prometheus; returns false for another request. The page has the counters
 * of the gateway's processes, and the state of the business from the database. When the database is
 * down it has the counters and `gateway_database_up 0`.
 */
export function metricsPage({ orm, clock, log, prices, metrics, payoutRules, gather }: MetricsSources) {
  const business = async (): Promise<string> => {
    try {
      const { businessMetrics } = await import('../../operations/business-metrics.ts');
      return databaseUp(1) + (await businessMetrics({ em: orm.em.fork(), prices, now: clock.now(), payoutRules }));
    } catch (error) {
      log.warn({ event: 'metrics_incomplete', ...errorMembers(error) }, 'the state of the business could not be read');
      return databaseUp(0);
    }
  };
  return async (req: IncomingMessage, res: ServerResponse): Promise<boolean> => {
    if (req.method !== 'GET' && req.method !== 'HEAD') return false;
    if (req.url?.split('?', 1)[0] !== '/metrics') return false;
    const [processes, state] = await Promise.all([
      gather ? gather() : metrics.snapshot().then((snapshot) => [snapshot]),
      business(),
    ]);
    const body = (await expositionOf(processes)) + state;
    res.writeHead(200, {
      'Content-Type': textFormat,
      'Content-Length': Buffer.byteLength(body),
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
    });
    res.end(body);
    return true;
  };
}

function databaseUp(value: 0 | 1): string {
  return `# HELP gateway_database_up 1 where the database told the state of the business.\n# TYPE gateway_database_up gauge\ngateway_database_up ${value}\n`;
}
