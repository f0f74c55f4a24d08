import type { MikroORM } from '@mikro-orm/postgresql';
import type { KeyHasher } from '../accounts/partners/secret-key.ts';
import { warning } from '../base/jobs/repeat.ts';
import type { Config } from '../config/settings.ts';
import { cursorPurpose, ListCursors } from '../orders/read/list-cursor.ts';
import { RepeatableRequests } from '../orders/repeatable-requests.ts';
import { DeliveryLog } from '../webhooks/delivery-log.ts';
import { WebhookDispatcher } from '../webhooks/dispatcher.ts';
import { Egress } from '../webhooks/egress.ts';
import type { EgressRules } from '../webhooks/egress-rules.ts';
import { EndpointService } from '../webhooks/endpoint-service.ts';
import { Replays } from '../webhooks/replays.ts';
import { SecretBox, secretPurpose } from '../webhooks/secret-box.ts';
import { WebhookSender } from '../webhooks/sender.ts';
import { WebhookWorker } from '../webhooks/webhook-worker.ts';
import { type Foundation, inBackground } from './foundation.ts';
import { openDatabase } from './open-database.ts';

/** Old secrets and old deliveries are looked for this often. */
const housekeepingMs = 600_000;

/** What partners and staff manage of webhooks. */
export interface Webhooks {
  readonly endpoints: EndpointService;
  readonly deliveries: DeliveryLog;
  readonly requests: RepeatableRequests;
}

/** What a worker sends webhooks with. */
export interface WebhookSending {
  readonly dispatcher: WebhookDispatcher;
  readonly sender: WebhookSender;
}

/** Opens the management of webhooks. It connects to no receiver. */
export function openWebhooks(
  { config, clock }: Pick<Foundation, 'config' | 'clock'>,
  { orm, hasher }: { readonly orm: MikroORM; readonly hasher: KeyHasher },
): Webhooks {
  return {
    endpoints: new EndpointService({ orm, clock, secrets: secretsOf(hasher), rules: egressRules(config) }),
    deliveries: new DeliveryLog(orm, clock, new ListCursors(hasher.derivedKeys(cursorPurpose))),
    requests: new RepeatableRequests(orm, clock),
  };
}

/** Opens the replays of partners, on connections of their own. */
export async function openReplays(foundation: Foundation): Promise<Replays> {
  const orm = await openDatabase(foundation, 'replays');
  foundation.closing.add(() => orm.close(true));
  return new Replays(orm, foundation.clock);
}

/** Opens the dispatch and the sending of webhooks, in a worker. Null in an api process. */
export async function openWebhookSending(foundation: Foundation, hasher: KeyHasher): Promise<WebhookSending | null> {
  const { config, clock, log, metrics, outside, closing } = foundation;
  if (config.ROLE === 'api') return null;
  const orm = await openDatabase(foundation, 'webhooks');
  closing.add(() => orm.close(true));
  const egress = new Egress({
    rules: egressRules(config),
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
    secrets: secretsOf(hasher),
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
    const { endpoints, deliveries } = openWebhooks(foundation, { orm, hasher });
    inBackground(foundation, housekeepingMs, 'webhook_secrets_failed', () => endpoints.resealOld());
    inBackground(foundation, housekeepingMs, 'webhook_forget_failed', () => deliveries.forgetOld());
  }
  return { dispatcher, sender };
}

const secretsOf = (hasher: KeyHasher): SecretBox => new SecretBox(hasher.derivedKeys(secretPurpose));

function egressRules(config: Config): EgressRules {
  const own = [config.INTERNAL_PUBLIC_URL].flatMap((url) => (url === null ? [] : [new URL(url).hostname]));
  return {
    ports: config.WEBHOOK_PORTS,
    denyCidrs: config.WEBHOOK_DENY_CIDRS,
    denyHosts: [...config.WEBHOOK_DENY_HOSTS, ...own],
    allowLoopback: config.WEBHOOK_ALLOW_LOOPBACK,
  };
}
