import { warning } from '../base/jobs/repeat.ts';
import { WebhookDispatcher } from '../webhooks/dispatcher.ts';
import { Egress } from '../webhooks/egress.ts';
import { Replays } from '../webhooks/replays.ts';
import { WebhookSender } from '../webhooks/sender.ts';
import { WebhookWorker } from '../webhooks/webhook-worker.ts';
import { type Foundation, inBackground } from './foundation.ts';
import { openDatabase } from './open-database.ts';
import { type Shared, services } from './services.ts';

/** Old secrets and old deliveries are looked for this often. */
const housekeepingMs = 600_000;

/** What a worker sends webhooks with. */
export interface WebhookSending {
  readonly dispatcher: WebhookDispatcher;
  readonly sender: WebhookSender;
}

/** Opens the replays of partners, on their own connections. */
export async function openReplays(foundation: Foundation, shared: Shared): Promise<Replays> {
  const { requests } = services(await openDatabase(foundation, 'replays'), shared);
  return new Replays(requests);
}

/** Opens the dispatch and the sending of webhooks, in a worker. Null in an api process. */
export async function openWebhookSending(foundation: Foundation, shared: Shared): Promise<WebhookSending | null> {
  const { config, clock, log, metrics, outside, closing } = foundation;
  if (config.ROLE === 'api') return null;
  const { orm, endpoints, deliveries } = services(await openDatabase(foundation, 'webhooks'), shared);
  const egress = new Egress({
    rules: shared.egressRules,
    proxy: config.WEBHOOK_PROXY === null ? null : new URL(config.WEBHOOK_PROXY),
    ...outside.receivers,
    onRefused: (fault) => log.warn({ event: 'webhook_refused', code: fault }, 'a webhook was not sent'),
  });
  const onFailure = warning(log, 'webhooks_failed', 'webhooks were not dispatched or not sent');
  const dispatcher = new WebhookDispatcher(orm, clock);
  const sender = new WebhookSender({
    orm,
    clock,
    egress,
    secrets: shared.secrets,
    most: config.WEBHOOK_SENDERS,
    onFailure,
    ...(outside.onWebhookCrashPoint ? { onCrashPoint: outside.onWebhookCrashPoint } : {}),
    onAttempt: ({ sent, firstMs, isDisabled }) => {
      const firstSeconds = sent.fault === null && firstMs !== null ? firstMs / 1000 : null;
      metrics.observeWebhook(sent.fault ?? 'delivered', firstSeconds, isDisabled);
      if (isDisabled) log.warn({ event: 'webhook_disabled' }, 'a webhook endpoint was disabled');
    },
  });
  if (outside.background !== false) {
    const worker = new WebhookWorker({ dispatcher, sender, onFailure });
    worker.start();
    closing.add(() => worker.stop());
    inBackground(foundation, housekeepingMs, 'webhook_secrets_failed', () => endpoints.resealOld());
    inBackground(foundation, housekeepingMs, 'webhook_forget_failed', () => deliveries.forgetOld());
  }
  return { dispatcher, sender };
}
