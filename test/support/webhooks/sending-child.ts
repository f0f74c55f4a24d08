import { resolve } from 'node:path';
import { KeyHasher } from '../../../src/accounts/partners/secret-key.ts';
import { createOrm } from '../../../src/app/orm.ts';
import { systemClock } from '../../../src/base/clock.ts';
import type { WebhookCrashPoint } from '../../../src/webhooks/crash-points.ts';
import { WebhookDispatcher } from '../../../src/webhooks/dispatcher.ts';
import { Egress } from '../../../src/webhooks/egress.ts';
import { SecretBox, secretPurpose } from '../../../src/webhooks/secret-box.ts';
import { WebhookSender } from '../../../src/webhooks/sender.ts';
import { TalkingProcess } from '../gateway/processes.ts';

// A process that dispatches and sends webhooks until it is killed, by the parent or by itself at a
// crash point. Its one argument is a SendingStart as JSON.

export interface SendingStart {
  readonly databaseUrl: string;
  readonly pepper: string;
  readonly port: number;
  readonly ca: string;
  /** How much faster its clock runs, so that leases and retries come soon. */
  readonly speed: number;
  readonly failpoint: { readonly name: WebhookCrashPoint; readonly passing: number } | null;
}

/** The parent's handle on a child. */
export class SendingChild extends TalkingProcess {
  constructor(start: SendingStart) {
    super([
      'env',
      `TSX_TSCONFIG_PATH=${resolve('tsconfig.json')}`,
      process.execPath,
      '--import',
      resolve('node_modules/tsx/dist/loader.mjs'),
      resolve('test/support/webhooks/sending-child.ts'),
      JSON.stringify(start),
    ]);
  }
}

function say(message: object): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

async function send({ databaseUrl, pepper, port, ca, speed, failpoint }: SendingStart): Promise<void> {
  const orm = await createOrm({ url: databaseUrl, poolSize: 4 });
  const clock = {
    now: () => new Date(fixedMs + (systemClock.now().getTime() - fixedMs) * speed),
  };
  let passings = 0;
  const onCrashPoint = (name: WebhookCrashPoint): void => {
    if (name !== failpoint?.name || ++passings !== failpoint.passing) return;
    say({ at: name });
    process.kill(process.pid, 'SIGKILL');
  };
  const rules = { ports: [443, port], denyCidrs: [], denyHosts: [], allowLoopback: true };
  const egress = new Egress({ rules, proxy: null, resolve: async () => ['127.0.0.1'], ca });
  const secrets = new SecretBox(new KeyHasher([{ version: 1, secret: pepper }]).derivedKeys(secretPurpose));
  const onFailure = (error: unknown): void => say({ failure: String(error) });
  const dispatcher = new WebhookDispatcher(orm, clock);
  const sender = new WebhookSender({ orm, clock, egress, secrets, most: 40, onCrashPoint, onFailure });
  say({ ready: true });
  for (;;) {
    try {
      await dispatcher.dispatch({ size: 50, onBatch: async () => onCrashPoint('webhook.dispatched') });
      await sender.begin();
    } catch (error) {
      onFailure(error);
    }
    await new Promise((done) => setTimeout(done, 10));
  }
}

/** Where clocks of all processes agree. */
const fixedMs = Date.parse('2026-01-01T00:00:00Z');

if (process.argv[1] === import.meta.filename) await send(JSON.parse(process.argv[2] ?? '{}'));
