import type { MikroORM } from '@mikro-orm/postgresql';
import { payoutRules } from '../config/payout-rules.ts';
import type { StaffApi } from '../surfaces/graphql/server/staff-api.ts';
import { staffApiOnDemand } from '../surfaces/graphql/server/staff-api-on-demand.ts';
import { createInternalListener } from '../surfaces/internal/server.ts';
import { type Foundation, inBackground } from './foundation.ts';
import { listen, reportsTo } from './listener.ts';
import { databaseOnDemand } from './open-database.ts';
import type { StaffApiParts } from './open-staff-api.ts';
import { type GatewayServices, type GatewayShared, gatewayServices } from './services.ts';

/** The internal listener as the end of the process needs it. */
export interface Internal {
  readonly url: string;
  /**
   * @param isReplaced Another process replaced this one behind the same port, so ready stays true.
   */
  beginDrain(isReplaced: boolean): void;
}

/** Requests under way on the internal listener are cut after this time. */
const inFlightMs = 1_000;
const forgetSessionsMs = 600_000;

/**
 * Opens the internal listener: health checks, metrics, and the pages and API for staff. Sign-in
 * works on the connections of requests, everything else of staff on the pool of staff.
 */
export async function openInternal(
  foundation: Foundation,
  shared: GatewayShared,
  { orm, staff, staffAuthenticator, staffSessions }: GatewayServices,
  parts: Omit<StaffApiParts, 'authenticator'>,
): Promise<Internal> {
  const { config, clock, log, metrics, group, closing } = foundation;
  inBackground(foundation, forgetSessionsMs, 'forget_sessions_failed', () => staffSessions.forgetOld());
  const ofStaff = databaseOnDemand(foundation, 'staff', (own: MikroORM) => gatewayServices(own, shared));
  const staffApi = offerStaffApi(foundation, shared, ofStaff, { ...parts, authenticator: staffAuthenticator });
  let isDraining = false;
  const handler = createInternalListener({
    config,
    log,
    orm,
    clock,
    prices: shared.prices,
    metrics,
    payoutRules: payoutRules(config),
    gather: group ? () => group.gather() : null,
    isDraining: () => isDraining,
    areOfValue: shared.networks.areOfValue,
    staff: staffApi && {
      limiter: parts.limiter,
      authenticator: staffAuthenticator,
      sessions: staffSessions,
      members: staff,
      database: ofStaff,
      graphql: staffApi.handler,
    },
  });
  const listener = await listen(handler, {
    host: config.INTERNAL_HOST,
    port: config.INTERNAL_PORT,
    tls: null,
    ...(staffApi ? { upgrade: staffApi.upgrade } : {}),
    ...reportsTo(log, metrics),
  });
  closing.add(() => listener.close(inFlightMs));
  if (staffApi) closing.add(() => staffApi.stop());
  return {
    url: listener.url,
    beginDrain: (isReplaced) => {
      isDraining = !isReplaced;
      listener.beginDrain();
    },
  };
}

/**
 * The staff API. The first request for it loads its code and opens its connections to PostgreSQL.
 * Null for a worker, which has nothing for staff.
 */
function offerStaffApi(
  foundation: Foundation,
  shared: GatewayShared,
  ofStaff: () => Promise<GatewayServices>,
  parts: StaffApiParts,
): StaffApi | null {
  if (!foundation.servesPartners) return null;
  return staffApiOnDemand(async () => {
    const { openStaffApi } = await import('./open-staff-api.ts');
    return openStaffApi(shared, await ofStaff(), parts);
  }, foundation.log);
}
