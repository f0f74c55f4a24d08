import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { errorMembers } from '../../base/log.ts';
import { isTracing, span } from '../../base/telemetry/tracing.ts';
import { healthChecks } from './health.ts';
import { type MetricsSources, metricsPage } from './metrics.ts';
import type { StaffAppDependencies } from './staff-app.ts';

interface InternalDependencies extends StaffAppDependencies, MetricsSources {
  readonly isDraining: () => boolean;
}

/**
 * Makes the internal listener: health and metrics for operators, and the pages and the API for
 * staff. The part for staff is loaded by its first request, because most processes never get one.
 */
export function createInternalListener({ isDraining, ...dependencies }: InternalDependencies): RequestListener {
  const { orm, log } = dependencies;
  const answersHealth = healthChecks(orm, isDraining);
  const answersMetrics = metricsPage(dependencies);
  let staffApp: Promise<RequestListener> | undefined;
  const openStaffApp = async (): Promise<RequestListener> => {
    const { createStaffApp } = await import('./staff-app.ts');
    return createStaffApp(dependencies);
  };
  const serve: (...exchange: Parameters<RequestListener>) => Promise<void> = async (req, res) => {
    // Health checks and scrapes come every few seconds. In the log they would hide other requests.
    if ((await answersHealth(req, res)) || (await answersMetrics(req, res))) return;
    staffApp ??= openStaffApp();
    const app = await staffApp;
    if (res.closed) return;
    if (!isTracing() || req.url?.split('?', 1)[0] !== '/graphql') return app(req, res);
    await span(`${req.method} /graphql`, { kind: 'server' }, async (opened) => {
      const closed = once(res, 'close');
      app(req, res);
      await closed;
      opened.set({ 'http.response.status_code': res.statusCode });
    });
  };
  return (req, res) => {
    serve(req, res).catch((error: unknown) => {
      log.error({ event: 'request_failed', ...errorMembers(error) }, 'request failed');
      res.destroy();
    });
  };
}
