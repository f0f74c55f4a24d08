import type { RequestListener } from 'node:http';
import type { MikroORM } from '@mikro-orm/postgresql';
import { errorMembers } from '../log.ts';
import { healthChecks } from './health.ts';
import type { StaffAppDependencies } from './staff-app.ts';

export interface InternalDependencies extends StaffAppDependencies {
  readonly orm: MikroORM;
  readonly isDraining: () => boolean;
}

/**
 * The internal listener: health for whoever runs the gateway, and everything that staff use. The latter is loaded by
 * the first request for it, as most processes never get one.
 */
export function createInternalListener({ orm, isDraining, ...dependencies }: InternalDependencies): RequestListener {
  const { log } = dependencies;
  const answersHealth = healthChecks(orm, isDraining);
  let staffApp: Promise<RequestListener> | undefined;
  const openStaffApp = async (): Promise<RequestListener> => {
    const { createStaffApp } = await import('./staff-app.ts');
    return createStaffApp(dependencies);
  };
  const serve: (...exchange: Parameters<RequestListener>) => Promise<void> = async (req, res) => {
    // Probes come every few seconds; in the log they would hide the rest.
    if (await answersHealth(req, res)) return;
    staffApp ??= openStaffApp();
    (await staffApp)(req, res);
  };
  return (req, res) => {
    serve(req, res).catch((error: unknown) => {
      log.error({ event: 'request_failed', ...errorMembers(error) }, 'request failed');
      res.destroy();
    });
  };
}
