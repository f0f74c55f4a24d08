import type { MikroORM } from '@mikro-orm/postgresql';
import type { Log } from '../base/log.ts';
import type { ProcessMetrics } from '../base/telemetry/process-metrics.ts';
import { DepositAddresses } from '../chains/addresses/deposit-addresses.ts';
import { pointAddition } from '../chains/addresses/point-addition.ts';
import { OrderCreation } from '../orders/order-creation.ts';
import type { Foundation } from './foundation.ts';
import { type GatewayServices, type GatewayShared, gatewayServices } from './services.ts';

/** The services over the connections of requests. */
export interface Requests extends GatewayServices {
  /** Creates orders. Only this pool has it, with the batches and the addresses of the process. */
  readonly creation: OrderCreation;
}

/** Opens the services of requests, and the thread that derives deposit addresses ahead. */
export async function openRequests(foundation: Foundation, shared: GatewayShared, orm: MikroORM): Promise<Requests> {
  const { config, clock, log, metrics } = foundation;
  const { rates, openOrders, quotes, pages, queues, onBatch } = shared;
  const addresses = new DepositAddresses(orm, {
    onDerived: (isAhead) => metrics.countDerivation(isAhead),
    onThreadEnd: (reason) => {
      const advice = 'the thread that derives deposit addresses ahead has ended; requests derive them for 10 seconds';
      log.warn({ event: 'derivation_thread_ended', detail: reason }, advice);
    },
  });
  foundation.closing.add(() => addresses.close());
  await addresses.load();
  await tellOfDerivation(log, metrics);
  const creation = new OrderCreation({
    orm,
    clock,
    rates,
    addresses,
    openOrders,
    quotes,
    pages,
    depositWindowSec: config.DEPOSIT_WINDOW_SEC,
    shortIdPrefix: config.SHORT_ID_PREFIX,
    queues,
    onQuoteUsed: (partnerId, adverse) => {
      const adverseBps = Number.parseInt(adverse.times('10000').toFixed(0), 10);
      metrics.observeQuote(adverseBps);
      log.info({ event: 'quote_used', partner_id: partnerId, adverse_bps: adverseBps }, 'a quote became an order');
    },
    onBatch,
  });
  return { ...gatewayServices(orm, shared), creation };
}

/** Orders cost more than twice the CPU time on a platform without machine code for secp256k1. */
async function tellOfDerivation(log: Log, metrics: ProcessMetrics): Promise<void> {
  const { engine } = await pointAddition;
  metrics.observeDerivation(engine !== 'native');
  if (engine === 'native') return;
  const advice = 'deposit addresses are derived in WebAssembly, at twice the time: secp256k1 has no machine code here';
  log.warn({ event: 'slow_derivation', code: `${process.platform} ${process.arch}` }, advice);
}
