import { setFlagsFromString } from 'node:v8';
import { type Addresses, joinGroup, ProcessFailure, runApiProcesses } from './app/api-processes.ts';
import { ignoreClosedOutput } from './app/closed-output.ts';
import { endPart } from './app/start-parts.ts';
import { ConfigError, loadConfig, wholeEnvironment } from './config/load-config.ts';

const help = `Usage: npm start [-- --help]

Starts the Exchange Partner Gateway. Settings come from the environment; none is needed, and .env.example explains each.
The last line when it is ready: ready rest=<url>/api/v1 internal=<url>
SIGTERM and SIGINT end it without cutting a request; with API_PROCESSES above 1, SIGUSR2 replaces its processes one by one.
SIGHUP reads TLS_CERT_FILE and TLS_KEY_FILE again; without them it ends the gateway as SIGTERM does.
Command line for partners, keys, staff, currencies and the database: npm run -s cli -- --help
`;

/** The messages between the primary process and this one; null when this process runs alone. */
const group = joinGroup();

/**
 * Sets the factor by which V8 enlarges its young generation. A large one does not speed up the
 * start, and V8 would keep the 45 MB for good. Requests under load do get faster with it.
 */
function growYoungGeneration(factor: 1 | 2): void {
  setFlagsFromString(`--semi-space-growth-factor=${factor}`);
}

async function main(): Promise<void> {
  if (process.argv.includes('--help') || process.argv.includes('-h')) {
    ignoreClosedOutput();
    process.stdout.write(help);
    return;
  }
  if (Number.parseInt(process.versions.node, 10) < 24) {
    throw new Error(`Node 24 is needed, and this is ${process.version}; start with npm start, which brings its own`);
  }
  const environment = wholeEnvironment();
  const config = loadConfig();
  if (config.ROLE === 'api' && config.API_PROCESSES > 1 && !group) {
    const addresses = await runApiProcesses({ count: config.API_PROCESSES, environment, config });
    if (addresses) announce(addresses);
    return;
  }
  endPart('Node');
  growYoungGeneration(1);
  // A primary process loads none of the gateway's own modules.
  const { runGateway } = await import('./app/gateway-process.ts');
  endPart('code');
  const addresses = await runGateway(config, group, environment.NODE_ENV !== 'production');
  growYoungGeneration(2);
  if (!addresses) return;
  if (group) group.ready(addresses);
  else announce(addresses);
}

/** Prints the address line, the last line of the start, which programs read too. */
function announce({ restUrl, internalUrl }: Addresses): void {
  if (restUrl) process.stdout.write(`documentation: ${restUrl}/api/v1/docs\n`);
  process.stdout.write(`ready rest=${restUrl === null ? 'none' : `${restUrl}/api/v1`} internal=${internalUrl}\n`);
}

main().catch(async (error: unknown) => {
  const text = describe(error);
  if (group) await group.failed(text);
  else process.stderr.write(`${text}\n`);
  process.exit(1);
});

/** Says why the gateway did not start, and what to change. */
function describe(error: unknown): string {
  if (error instanceof ConfigError) {
    return [error.message, ...error.problems.map((problem) => `  - ${problem}`)].join('\n');
  }
  if (error instanceof ProcessFailure) return error.message;
  return error instanceof Error ? `cannot start: ${explain(error)}` : 'cannot start';
}

/** Explains errors of the operating system, with what to change. */
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
