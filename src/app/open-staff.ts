import type { MikroORM } from '@mikro-orm/postgresql';
import type { KeyHasher } from '../accounts/partners/secret-key.ts';
import { StaffAuthenticator } from '../accounts/staff/staff-authenticator.ts';
import { StaffService } from '../accounts/staff/staff-service.ts';
import { StaffSessions } from '../accounts/staff/staff-sessions.ts';
import type { StaffApi } from '../surfaces/graphql/server/staff-api.ts';
import { staffApiOnDemand } from '../surfaces/graphql/server/staff-api-on-demand.ts';
import { type Foundation, inBackground } from './foundation.ts';
import { openDatabase } from './open-database.ts';
import type { StaffApiParts } from './open-staff-api.ts';

const forgetSessionsMs = 600_000;

/** The services that authenticate members of staff. */
export interface Staff {
  readonly authenticator: StaffAuthenticator;
  readonly sessions: StaffSessions;
  readonly members: StaffService;
}

export function openStaff(
  foundation: Foundation,
  { orm, hasher }: { readonly orm: MikroORM; readonly hasher: KeyHasher },
): Staff {
  const { config, clock } = foundation;
  const authenticator = new StaffAuthenticator(orm, hasher, clock);
  const sessions = new StaffSessions(orm, authenticator, clock);
  const members = new StaffService(orm, hasher, clock, config.OIDC_ISSUER !== null);
  inBackground(foundation, forgetSessionsMs, 'forget_sessions_failed', () => sessions.forgetOld());
  return { authenticator, sessions, members };
}

/**
 * The connections of staff to PostgreSQL. The first use opens them, and the next one tries again
 * after a failure.
 */
export function offerStaffDatabase(foundation: Foundation): () => Promise<MikroORM> {
  let opened: Promise<MikroORM> | undefined;
  foundation.closing.add(async () => (await opened?.catch(() => undefined))?.close(true));
  return () => {
    opened ??= openDatabase(foundation, 'staff').catch((error: unknown) => {
      opened = undefined;
      throw error;
    });
    return opened;
  };
}

/**
 * The staff API. The first request for it loads its code and opens its connections to PostgreSQL.
 * Null for a worker, which has nothing for staff.
 */
export function offerStaffApi(
  foundation: Foundation,
  { database, ...parts }: Omit<StaffApiParts, 'orm'> & { readonly database: () => Promise<MikroORM> },
): StaffApi | null {
  if (!foundation.servesPartners) return null;
  return staffApiOnDemand(async () => {
    const { openStaffApi } = await import('./open-staff-api.ts');
    return openStaffApi(foundation, { ...parts, orm: await database() });
  }, foundation.log);
}
