import type { MikroORM } from '@mikro-orm/postgresql';
import { DepositAddresses } from '../chains/addresses/deposit-addresses.ts';
import { pointAddition } from '../chains/addresses/point-addition.ts';
import type { CurrencyCatalogue } from '../currencies/currency-catalogue.ts';
import type { Log } from '../log.ts';
import { AddressChecks } from '../orders/address-checks.ts';
import { OpenOrders } from '../orders/open-orders.ts';
import { OrderService } from '../orders/order-service.ts';
import type { PriceBook } from '../rates/price-book.ts';
import { RateService } from '../rates/rate-service.ts';
import type { ProcessMetrics } from '../telemetry/process-metrics.ts';
import type { Foundation } from './foundation.ts';

export interface OrderParts {
  readonly orm: MikroORM;
  readonly catalogue: CurrencyCatalogue;
  readonly prices: PriceBook;
}

/** The services that quote rates and create orders. */
export interface Orders {
  readonly rates: RateService;
  readonly orders: OrderService;
  readonly addressChecks: AddressChecks;
  readonly unpaid: OpenOrders;
}

/** Opens the services for partners: rates, limits of unpaid orders, orders. */
export async function openOrders(
  { config, clock, log, metrics }: Foundation,
  { orm, catalogue, prices }: OrderParts,
): Promise<Orders> {
  const rates = new RateService(catalogue, prices, { float: config.FEE_RATE_FLOAT, fixed: config.FEE_RATE_FIXED });
  const addresses = new DepositAddresses(orm);
  await addresses.load();
  await tellOfDerivation(log, metrics);
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
  return { rates, orders, unpaid, addressChecks: new AddressChecks(orm, catalogue) };
}

/** Orders cost more than twice the CPU time on a platform without machine code for secp256k1. */
async function tellOfDerivation(log: Log, metrics: ProcessMetrics): Promise<void> {
  const { engine } = await pointAddition;
  metrics.observeDerivation(engine !== 'native');
  if (engine === 'native') return;
  const advice = 'deposit addresses are derived in WebAssembly, at twice the time: secp256k1 has no machine code here';
  log.warn({ event: 'slow_derivation', code: `${process.platform} ${process.arch}` }, advice);
}
