import { type App, startApp } from './app.ts';
import { StartError } from './bootstrap.ts';
import { addressExample } from './chains/address.ts';
import { ConfigError, loadConfig } from './config.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from './db/embedded-postgres.ts';

/** From the signal to the end, whatever hangs. */
const hardExitMs = 25_000;

const help = `Usage: npm start [-- --help]

Starts the Exchange Partner Gateway. Settings come from the environment; none is needed, and .env.example explains each.
The last line when it is ready: ready rest=<url>/api/v1 internal=<url>
Command line for partners, keys, staff, currencies and the database: npm run -s cli -- --help
`;

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function main(): Promise<void> {
  if (process.argv.includes('--help') || process.argv.includes('-h')) {
    process.stdout.write(help);
    return;
  }
  if (Number.parseInt(process.versions.node, 10) < 24) {
    throw new StartError(
      `Node 24 is needed, and this is ${process.version}; start with npm start, which brings its own`,
    );
  }
  const config = loadConfig();
  let database: EmbeddedPostgres | null = null;
  let app: App | undefined;
  let ending = false;

  const end = async (code: number): Promise<void> => {
    if (ending) return;
    ending = true;
    setTimeout(() => process.exit(1), hardExitMs).unref();
    await app?.stop();
    await database?.stop();
    process.exit(code);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      print(`${signal}: finishing what is under way`);
      void end(0);
    });
  }

  try {
    if (config.DATABASE_URL === null) {
      database = await startEmbeddedPostgres({
        dataDir: config.DATA_DIR,
        onProgress: print,
        onUnexpectedExit: (detail) => {
          process.stderr.write(`the embedded PostgreSQL ended: ${detail}\n`);
          void end(1);
        },
      });
    }
    app = await startApp({
      config,
      databaseUrl: config.DATABASE_URL ?? database?.url ?? '',
      embedded: database !== null,
      surroundings: { onProgress: print },
    });
  } catch (error) {
    // A signal during the start has begun the end already, and may be why the start failed.
    if (ending) return;
    await database?.stop();
    throw error;
  }
  if (ending) return;
  announce(app);
}

/** What a person needs after a start; the last line is for programs too. */
function announce({ restUrl, internalUrl, demo, catalogue, networks }: App): void {
  if (demo && restUrl) {
    print('');
    print(`demo partner key, shown this once: ${demo.partnerKey}`);
    print(`staff token of ${demo.staffEmail} (admin), shown this once: ${demo.staffToken}`);
    print(`staff sign in at ${internalUrl}/sign-in`);
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
  if (restUrl) print(`documentation: ${restUrl}/api/v1/docs`);
  print(`ready rest=${restUrl === null ? 'none' : `${restUrl}/api/v1`} internal=${internalUrl}`);
}

/** BTC to USDT where they are offered: for the sandbox only, as the example's addresses are nobody's on real networks. */
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

main().catch((error: unknown) => {
  if (error instanceof ConfigError) {
    process.stderr.write(`${error.message}\n${error.problems.map((problem) => `  - ${problem}\n`).join('')}`);
  } else if (error instanceof StartError) {
    process.stderr.write(`cannot start: ${error.message}\n`);
  } else if (error instanceof Error) {
    process.stderr.write(`cannot start: ${explain(error)}\n`);
  } else {
    process.stderr.write('cannot start\n');
  }
  process.exit(1);
});

/** Errors of the system, with what to change. */
function explain(error: Error): string {
  const code = 'code' in error ? String(error.code) : '';
  if (code === 'EADDRINUSE' && 'port' in error) {
    return `port ${error.port} is in use; set PORT (8080) or INTERNAL_PORT (8081) to a free one`;
  }
  if (code === 'EACCES' && 'port' in error) return `port ${error.port} may not be opened; set PORT to one above 1023`;
  if (['ECONNREFUSED', 'ENOTFOUND', 'ETIMEDOUT', 'EAI_AGAIN'].includes(code)) {
    return `PostgreSQL at DATABASE_URL cannot be reached (${code}); a good value: postgres://gateway:secret@127.0.0.1:5432/gateway`;
  }
  return error.message;
}
