import type { MikroORM } from '@mikro-orm/postgresql';
import type { Limiter } from '../base/limits/limiter.ts';
import { payoutRules } from '../config/payout-rules.ts';
import type { PriceBook } from '../market/rates/price-book.ts';
import type { StaffApi } from '../surfaces/graphql/server/staff-api.ts';
import { createInternalListener } from '../surfaces/internal/server.ts';
import type { Foundation } from './foundation.ts';
import { listen, reportsTo } from './listener.ts';
import type { Staff } from './open-staff.ts';

export interface InternalParts {
  readonly orm: MikroORM;
  readonly prices: PriceBook;
  readonly limiter: Limiter;
  readonly networks: { readonly areOfValue: boolean };
  readonly staff: Staff & { readonly database: () => Promise<MikroORM> };
  /** Null for a worker, which serves no staff. */
  readonly staffApi: StaffApi | null;
}

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

/** Opens the internal listener: health checks, metrics, and the pages and API for staff. */
export async function openInternal(
  { config, clock, log, metrics, group, closing }: Foundation,
  { orm, prices, limiter, networks, staff, staffApi }: InternalParts,
): Promise<Internal> {
  let isDraining = false;
  const handler = createInternalListener({
    config,
    log,
    orm,
    clock,
    prices,
    metrics,
    payoutRules: payoutRules(config),
    gather: group ? () => group.gather() : null,
    isDraining: () => isDraining,
    areOfValue: networks.areOfValue,
    staff: staffApi && { limiter, ...staff, graphql: staffApi.handler },
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
