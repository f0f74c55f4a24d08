import type { Limiter } from '../base/limits/limiter.ts';
import { cabinetUrl } from '../config/cabinet-url.ts';
import type { CabinetServices } from '../surfaces/rest/cabinet/cabinet-parts.ts';
import { Overview } from '../surfaces/rest/cabinet/overview.ts';
import { OwnLimits } from '../surfaces/rest/cabinet/own-limits.ts';
import type { Replays } from '../webhooks/replays.ts';
import { type Foundation, inBackground } from './foundation.ts';
import { openDatabase } from './open-database.ts';
import { type GatewayShared, gatewayServices } from './services.ts';

const housekeepingMs = 600_000;

/** Opens the partner cabinet. Null where it is switched off. */
export async function openCabinet(
  foundation: Foundation,
  shared: GatewayShared,
  { replays, limiter }: { readonly replays: Replays; readonly limiter: Limiter },
): Promise<CabinetServices | null> {
  const { config, clock } = foundation;
  if (cabinetUrl(config) === null) return null;
  const own = gatewayServices(await openDatabase(foundation, 'cabinet'), shared);
  const { orm, partners, people, stats } = own;
  if (people === null) return null;
  const { openOrders, cursors } = shared;
  inBackground(foundation, housekeepingMs, 'cabinet_forget_failed', async () => {
    await people.passkeys.forgetOld();
    await people.sessions.forgetOld();
  });
  return {
    ...own,
    ...people,
    keys: own.ownKeys,
    overview: new Overview(orm, clock, stats),
    limits: new OwnLimits({ orm, clock, partners, openOrders, limiter, settings: config }),
    commissionAddresses: shared.commissionAddresses,
    orders: own.orderReads,
    replays,
    cursors,
    maxOpenOrders: config.MAX_OPEN_ORDERS,
    assets: shared.assets,
    commissionMinUsd: config.COMMISSION_MIN_USD,
    areOfValue: shared.networks.areOfValue,
  };
}
