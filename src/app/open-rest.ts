import { setTimeout as sleep } from 'node:timers/promises';
import type { MikroORM } from '@mikro-orm/postgresql';
import { RefusalCounter } from '../accounts/partners/key-refusals.ts';
import { TrafficRecorder, trafficFlushMs } from '../operations/api-traffic.ts';
import { FeedWatch } from '../orders/read/feed-watch.ts';
import { OrderFeed } from '../orders/read/order-feed.ts';
import { OrderPageSite } from '../surfaces/pages/order-page-site.ts';
import { usualStreamTimes } from '../surfaces/rest/api/event-stream.ts';
import { EventWaits } from '../surfaces/rest/api/event-waits.ts';
import { createRestListener } from '../surfaces/rest/server.ts';
import { type Foundation, inBackground } from './foundation.ts';
import { type Listener, listen, reportsTo } from './listener.ts';
import type { Admission } from './open-admission.ts';
import { openCabinet } from './open-cabinet.ts';
import type { Requests } from './open-requests.ts';
import { openSandbox } from './open-sandbox.ts';
import { openReplays } from './open-webhooks.ts';
import type { GatewayShared } from './services.ts';

/** The end of the process waits this long for the figures of its last requests. */
const lastFlushMs = 1_000;
const refusalsFlushMs = 10_000;
const refusalsForgetMs = 600_000;
/** Requests under way on the public listener are cut after this time. */
const inFlightMs = 15_000;

/** Opens the public listener, with the cabinet. Null for a worker, which has none. */
export async function openRest(
  foundation: Foundation,
  shared: GatewayShared,
  requests: Requests,
  admission: Admission,
): Promise<Listener | null> {
  const { config, clock, servesPartners, log, metrics, outside, closing } = foundation;
  if (!servesPartners) return null;
  const { orm, orderReads } = requests;
  const replays = await openReplays(foundation, shared);
  const cabinet = await openCabinet(foundation, shared, { ...admission, replays });
  const recorder = new TrafficRecorder(orm, clock, () => metrics.requestCounts());
  // Closed after the listener, so that the last requests count. Without a database they are lost.
  const lastFlush = (): Promise<void> => recorder.flush().catch(() => {});
  closing.add(() => Promise.race([lastFlush(), sleep(lastFlushMs, undefined, { ref: false })]));
  inBackground(foundation, trafficFlushMs, 'traffic_flush_failed', () => recorder.flush());
  const { HOST: host, PORT: port, TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile } = config;
  const feedWatch = new FeedWatch(new OrderFeed(orm), log);
  closing.add(() => feedWatch.stop());
  const eventWaits = new EventWaits(outside.mostWaits);
  metrics.watchWaits(() => eventWaits.count);
  const streamTimes = { ...usualStreamTimes, ...outside.streamTimes };
  const refusals = openRefusals(foundation, orm);
  const handler = await createRestListener({
    ...shared,
    ...requests,
    ...admission,
    orderPageSite: new OrderPageSite(orderReads, shared.wallets, clock),
    replays,
    cabinet,
    commissionMinUsd: config.COMMISSION_MIN_USD,
    sandbox: await openSandbox(foundation, shared, orm),
    metrics,
    refusals,
    feedWatch,
    eventWaits,
    streamTimes,
    checksAnswers: outside.checksAnswers ?? false,
  });
  const rest = await listen(handler, {
    host,
    port,
    tls: certFile !== null && keyFile !== null ? { certFile, keyFile } : null,
    ...reportsTo(log, metrics),
    ...(outside.unreadMs === undefined ? {} : { unreadMs: outside.unreadMs }),
  });
  closing.add(() => rest.close(inFlightMs));
  return {
    url: rest.url,
    beginDrain: () => {
      rest.beginDrain();
      eventWaits.beginDrain();
    },
    renewCertificate: () => rest.renewCertificate(),
    close: (timeoutMs) => rest.close(timeoutMs),
  };
}

/** Counts the refused requests of keys, and writes the counts from time to time, and at the end. */
function openRefusals(foundation: Foundation, orm: MikroORM): RefusalCounter {
  const refusals = new RefusalCounter(orm, foundation.clock);
  foundation.closing.add(() => refusals.flush());
  inBackground(foundation, refusalsFlushMs, 'key_refusals_failed', () => refusals.flush());
  inBackground(foundation, refusalsForgetMs, 'forget_refusals_failed', () => refusals.forgetOld());
  return refusals;
}
