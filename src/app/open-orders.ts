import type { MikroORM } from '@mikro-orm/postgresql';
import { DepositAddresses } from '../chains/addresses/deposit-addresses.ts';
import type { CurrencyCatalogue } from '../currencies/currency-catalogue.ts';
import { OpenOrders } from '../orders/open-orders.ts';
import { OrderService } from '../orders/order-service.ts';
import type { KeyHasher } from '../partners/secret-key.ts';
import type { PriceBook } from '../rates/price-book.ts';
import { RateService } from '../rates/rate-service.ts';
import { cursorPurpose, ListCursors } from '../reports/list-cursor.ts';
import { PartnerOrders } from '../reports/partner-orders.ts';
import type { Foundation } from './foundation.ts';

export interface OrderParts {
  readonly orm: MikroORM;
  readonly catalogue: CurrencyCatalogue;
  readonly prices: PriceBook;
  readonly hasher: KeyHasher;
}

/** The services that quote rates and create orders. */
export interface Orders {
  readonly rates: RateService;
  readonly orders: OrderService;
  readonly unpaid: OpenOrders;
  readonly partnerOrders: PartnerOrders;
}

/** Opens the services for partners: rates, limits of unpaid orders, orders. */
export async function openOrders(
  { config, clock, metrics }: Foundation,
  { orm, catalogue, prices, hasher }: OrderParts,
): Promise<Orders> {
  const rates = new RateService(catalogue, prices, { float: config.FEE_RATE_FLOAT, fixed: config.FEE_RATE_FIXED });
  const addresses = new DepositAddresses(orm);
  await addresses.load();
  const unpaid = new OpenOrders({
    orm,
    clock,
    prices,
    depositWindowSec: config.DEPOSIT_WINDOW_SEC,
    caps: {
      orders: config.MAX_OPEN_ORDERS,
      fixedUsd: config.MAX_FIXED_EXPOSURE_USD,
      fixedDayUsd: config.MAX_FIXED_DAY_USD,
      fixedAllUsd: config.MAX_FIXED_ALL_USD,
      floatUsd: config.MAX_FLOAT_EXPOSURE_USD,
      floatAllUsd: config.MAX_FLOAT_ALL_USD,
    },
    processes: config.NODE_COUNT * config.API_PROCESSES,
  });
  const orders = new OrderService({
    orm,
    clock,
    rates,
    addresses,
    openOrders: unpaid,
    depositWindowSec: config.DEPOSIT_WINDOW_SEC,
    shortIdPrefix: config.SHORT_ID_PREFIX,
    onBatch: (statement, items, waitedMs) => metrics.observeBatch(statement, items, waitedMs),
  });
  const partnerOrders = new PartnerOrders({
    orm,
    cursors: new ListCursors(hasher.derivedKeys(cursorPurpose)),
    depositGraceSec: config.DEPOSIT_GRACE_SEC,
  });
  return { rates, orders, unpaid, partnerOrders };
}
