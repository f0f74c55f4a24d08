import express, { type Express, type RequestHandler } from 'express';
import type { AuditLog } from '../../accounts/staff/audit/audit-log.ts';
import type { StaffAuthenticator } from '../../accounts/staff/staff-authenticator.ts';
import type { StaffService } from '../../accounts/staff/staff-service.ts';
import type { StaffSessions } from '../../accounts/staff/staff-sessions.ts';
import type { Clock } from '../../base/clock.ts';
import { addressReader, unknownClientWarning } from '../../base/limits/client-address.ts';
import type { Limiter } from '../../base/limits/limiter.ts';
import type { Log } from '../../base/log.ts';
import type { Config } from '../../config/settings.ts';
import type { OrderReads } from '../../orders/read/order-reads.ts';
import { consoleRouter } from './console.ts';
import { errorHandler } from './error-handler.ts';
import { IdentityProvider } from './identity-provider.ts';
import { orderExportRouter } from './order-export.ts';
import { playgroundRouter } from './playground.ts';
import { requestContext } from './request-context.ts';
import { signInRouter } from './sign-in.ts';

/** The services behind the staff pages and the staff API. */
interface StaffServices {
  readonly limiter: Limiter;
  readonly authenticator: StaffAuthenticator;
  readonly sessions: StaffSessions;
  readonly members: StaffService;
  /** Opens the connections of the staff API, which no partner waits for. */
  readonly database: () => Promise<{ readonly orderReads: OrderReads; readonly audit: AuditLog }>;
  /** Answers /graphql. It authenticates its callers itself, with `staffCaller`. */
  readonly graphql?: RequestHandler;
}

export interface StaffAppDependencies {
  readonly config: Config;
  readonly log: Log;
  readonly clock: Clock;
  /** Whether the chains are real ones, with coins of value. The console says so. */
  readonly areOfValue: boolean;
  /** Null for a worker, which serves no staff. */
  readonly staff: StaffServices | null;
}

/** Makes the application for staff on the internal listener. */
export function createStaffApp({ config, log, clock, areOfValue, staff }: StaffAppDependencies): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', 'simple');
  app.set('trust proxy', config.TRUSTED_PROXIES.length > 0 ? [...config.TRUSTED_PROXIES] : false);
  app.use(requestContext(log, addressReader(config.TRUSTED_PROXIES, unknownClientWarning(log))));
  if (staff) {
    const provider = IdentityProvider.ofSettings(config);
    app.use(signInRouter({ ...staff, config, log, provider, areOfValue }));
    const publicUrl = config.INTERNAL_PUBLIC_URL;
    app.use('/console', orderExportRouter({ ...staff, config, log, clock }));
    app.use('/console', consoleRouter({ authenticator: staff.authenticator, publicUrl, areOfValue }));
    if (config.PLAYGROUND) app.use('/playground', playgroundRouter(staff.authenticator));
    if (staff.graphql) app.use('/graphql', staff.graphql);
  }
  app.use((_req, res) => {
    res.status(404).json({ detail: 'there is nothing at this path', code: 'not_found' });
  });
  app.use(errorHandler(log));
  return app;
}
