import type { MikroORM } from '@mikro-orm/postgresql';
import { Members } from '../accounts/members/members.ts';
import { OwnKeys } from '../accounts/members/own-keys.ts';
import { Passkeys } from '../accounts/members/passkeys.ts';
import { MemberSessions } from '../accounts/members/sessions.ts';
import { PartnerService } from '../accounts/partners/partner-service.ts';
import type { KeyHasher } from '../accounts/partners/secret-key.ts';
import { AuditLog } from '../accounts/staff/audit/audit-log.ts';
import type { Clock } from '../base/clock.ts';
import type { Limiter } from '../base/limits/limiter.ts';
import { cabinetUrl } from '../config/cabinet-url.ts';
import { gatewayTerms } from '../config/fixed-rates.ts';
import type { WalletLinks } from '../market/currencies/wallet-links.ts';
import type { OpenOrders } from '../orders/open-orders.ts';
import { cursorPurpose, ListCursors } from '../orders/read/list-cursor.ts';
import type { CabinetServices } from '../surfaces/rest/cabinet/cabinet-parts.ts';
import { Glance } from '../surfaces/rest/cabinet/glance.ts';
import { OwnLimits } from '../surfaces/rest/cabinet/own-limits.ts';
import { Statements } from '../surfaces/rest/cabinet/statements.ts';
import type { Replays } from '../webhooks/replays.ts';
import { type Foundation, inBackground } from './foundation.ts';
import { openDatabase } from './open-database.ts';
import type { Orders } from './open-orders.ts';
import { openWebhooks } from './open-webhooks.ts';

const housekeepingMs = 600_000;

export interface CabinetSetup {
  readonly hasher: KeyHasher;
  readonly networks: { readonly areOfValue: boolean };
  readonly cabinetOrders: Orders['cabinetOrders'];
  readonly replays: Replays;
  readonly openOrders: OpenOrders;
  readonly wallets: WalletLinks;
  readonly limiter: Limiter;
}

/** The people of partners, and how they sign in. */
export interface CabinetPeople {
  readonly members: Members;
  readonly passkeys: Passkeys;
  readonly sessions: MemberSessions;
}

/** @param origin where browsers reach the cabinet. */
export function cabinetPeople(orm: MikroORM, clock: Clock, origin: string): CabinetPeople {
  const passkeys = new Passkeys({ orm, clock, origin });
  const sessions = new MemberSessions(orm, clock);
  return { passkeys, sessions, members: new Members({ orm, clock, passkeys, sessions, origin }) };
}

/**
 * Opens the partner cabinet. Null where it is switched off, and in a process that serves no
 * partners.
 */
export async function openCabinet(foundation: Foundation, setup: CabinetSetup): Promise<CabinetServices | null> {
  const { config, clock, servesPartners, closing } = foundation;
  const { hasher, networks, cabinetOrders, replays, openOrders, wallets, limiter } = setup;
  const origin = cabinetUrl(config);
  if (origin === null || !servesPartners) return null;
  const orm = await openDatabase(foundation, 'cabinet');
  closing.add(() => orm.close(true));
  const { partnerOrders, choices } = cabinetOrders(orm);
  const { endpoints, deliveries } = openWebhooks(foundation, { orm, hasher });
  const people = cabinetPeople(orm, clock, origin);
  const partners = new PartnerService(orm, hasher, clock, networks.areOfValue, gatewayTerms(config));
  inBackground(foundation, housekeepingMs, 'cabinet_forget_failed', async () => {
    await people.passkeys.forgetOld();
    await people.sessions.forgetOld();
  });
  return {
    ...people,
    origin,
    orm,
    partners,
    audit: new AuditLog(orm, clock),
    keys: new OwnKeys(orm, clock, partners),
    glance: new Glance(orm, clock),
    limits: new OwnLimits({ orm, clock, partners, openOrders, limiter, settings: config }),
    statements: new Statements(orm),
    orders: partnerOrders,
    choices,
    explorers: wallets,
    endpoints,
    deliveries,
    replays,
    cursors: new ListCursors(hasher.derivedKeys(cursorPurpose)),
    maxOpenOrders: config.MAX_OPEN_ORDERS,
    areOfValue: networks.areOfValue,
  };
}
