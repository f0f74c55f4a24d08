import type { EmbeddedPostgres } from '../base/db/embedded/embedded-postgres.ts';
import { addressExample } from '../chains/addresses/address.ts';
import type { Config } from '../config/settings.ts';
import { type Addresses, onHangUp, type ProcessGroup } from './api-processes.ts';
import { type App, startApp } from './app.ts';
import { endPart } from './start-parts.ts';

/** From the signal until the process ends itself, also when a part hangs. */
const hardExitMs = 25_000;

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/**
 * Starts the gateway in this process. A signal ends it. In a group of processes the primary ends it
 * too.
 *
 * @param isDevelopment Whether each answer is checked by its contract, which costs time.
 * @returns its addresses, or null when a signal came first.
 * @throws what `startApp` and the embedded PostgreSQL throw when they cannot start.
 */
export async function runGateway(
  config: Config,
  group: ProcessGroup | null,
  isDevelopment: boolean,
): Promise<Addresses | null> {
  let database: EmbeddedPostgres | null = null;
  let app: App | undefined;
  let ending = false;

  const end = async (code: number, isReplaced = false): Promise<void> => {
    if (ending) return;
    ending = true;
    setTimeout(() => process.exit(1), hardExitMs).unref();
    await app?.stop({ isReplaced });
    await database?.stop();
    await group?.leave();
    process.exit(code);
  };
  if (group) {
    group.onStop((isReplaced) => void end(0, isReplaced));
  } else {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        print(`${signal}: finishing what is under way`);
        void end(0);
      });
    }
    onHangUp(config, {
      renew: () => renewCertificate(app),
      end: () => void end(0),
    });
  }

  try {
    if (config.DATABASE_URL === null) {
      const { startEmbeddedPostgres } = await import('../base/db/embedded/embedded-postgres.ts');
      database = await startEmbeddedPostgres({
        dataDir: config.DATA_DIR,
        onProgress: print,
        onUnexpectedExit: (detail) => {
          process.stderr.write(`the embedded PostgreSQL ended: ${detail}\n`);
          void end(1);
        },
      });
      endPart('PostgreSQL');
    }
    app = await startApp({
      config,
      databaseUrl: config.DATABASE_URL ?? database?.url ?? '',
      embedded: database !== null,
      group,
      outside: { onProgress: print, checksAnswers: isDevelopment },
    });
  } catch (error) {
    // A signal during the start has begun the end already, and may be why the start failed.
    if (ending) return null;
    await database?.stop();
    throw error;
  }
  if (ending) return null;
  announceDemo(app);
  return { restUrl: app.restUrl, internalUrl: app.internalUrl };
}

/** Reads the certificate again, and says so. During the start it is read anyway. */
function renewCertificate(app: App | undefined): void {
  if (!app) return;
  try {
    app.renewCertificate();
    print('SIGHUP: the certificate was read again');
  } catch (error) {
    process.stderr.write(
      `SIGHUP: the old certificate stays in use: ${error instanceof Error ? error.message : error}\n`,
    );
  }
}

/** Prints the keys of the first start and how to use them. */
function announceDemo({ restUrl, internalUrl, demo, catalogue, networks }: App): void {
  if (!demo || !restUrl) return;
  print('');
  print(`demo partner key, shown this once: ${demo.partnerKey}`);
  print(`staff token of ${demo.staffEmail} (admin), shown this once: ${demo.staffToken}`);
  print(`staff sign in at ${internalUrl}/sign-in`);
  if (demo.invitation) print(`partner cabinet, this link works once: ${demo.invitation}`);
  print('');
  const order = networks.live.size === 0 ? exampleOrder(catalogue) : null;
  const quote = exampleQuote(catalogue);
  if (order) {
    print('create an order:');
    print(
      `curl -sS -X POST ${restUrl}/api/v1/partner/orders -H 'Authorization: Bearer ${demo.partnerKey}' -H 'Content-Type: application/json' -d '${JSON.stringify(order)}'`,
    );
    print('');
  } else if (quote) {
    print('ask for a rate:');
    print(`curl -sS '${restUrl}/api/v1/partner/rates?${quote}' -H 'Authorization: Bearer ${demo.partnerKey}'`);
    print('');
  }
}

/**
 * BTC to USDT where they are offered. For the sandbox only: on real networks the keys of the
 * example's addresses are public.
 */
function exampleOrder(catalogue: App['catalogue']): Record<string, unknown> | null {
  const from = catalogue.find('BTC', 'BTC');
  const to = catalogue.find('USDT', 'TRC20');
  if (!from?.isActive || !to?.isActive) return null;
  return {
    coin_from: from.coin,
    network_from: from.network,
    coin_to: to.coin,
    network_to: to.network,
    amount_from: 0.01,
    rate_type: 'float',
    recipient_address: addressExample(to.network),
    refund_address: addressExample(from.network),
  };
}

/** The first two coins that are offered. */
function exampleQuote(catalogue: App['catalogue']): URLSearchParams | null {
  const offered = catalogue.rows.filter(({ isActive }) => isActive);
  const [from] = offered;
  const to = offered.find(({ coin }) => coin !== from?.coin);
  if (!from || !to) return null;
  return new URLSearchParams({
    coin_from: from.coin,
    network_from: from.network,
    coin_to: to.coin,
    network_to: to.network,
  });
}
