// Requests made from the contract, right and wrong by construction, against a gateway as an
// operator starts it; whether every answer is documented and right. Usage: npm run fuzz -- --help
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keyScopes } from '../../src/accounts/partners/key-scope.ts';
import { readArguments } from '../support/faults/arguments.ts';
import { BuiltProcess, runBuilt } from '../support/gateway/built-process.ts';
import { testSettings } from '../support/gateway/settings.ts';
import { fuzzChains } from './chain-fuzz.ts';
import { type FuzzReport, fuzz } from './contract-fuzz.ts';

if (process.argv.includes('--chains')) process.exit(await fuzzChains());

const help = `Usage: npm run fuzz -- [options]

  --requests <n>     requests to send (20000)
  --concurrency <n>  requests under way at a time (8)
  --seed <n>         seed of every choice; a random one unless given
  --keep             keep the folder with the gateway's data and log
  --chains           hostile blocks for the scanners instead (--chains --help)
`;

const { requests, concurrency, seed, keep } = readArguments(help, { requests: 20_000, concurrency: 8 });
const folder = await mkdtemp(join(tmpdir(), 'gateway-fuzz-'));
const wide = '1000000';
const settings = {
  ...testSettings,
  DATA_DIR: folder,
  LOG_LEVEL: 'warn',
  RATE_LIMIT_PUBLIC_PER_MIN: wide,
  RATE_LIMIT_PARTNER_PER_MIN: wide,
  RATE_LIMIT_ORDERS_PER_MIN: wide,
  RATE_LIMIT_LISTS_PER_MIN: wide,
  RATE_LIMIT_QUOTES_PER_MIN: wide,
  RATE_LIMIT_VALIDATIONS_PER_MIN: wide,
  RATE_LIMIT_CHANGES_PER_MIN: wide,
  RATE_LIMIT_AUTH_FAILURES_PER_MIN: wide,
  RATE_LIMIT_ICONS_PER_MIN: wide,
  MAX_OPEN_ORDERS: wide,
  MAX_FIXED_EXPOSURE_USD: '1000000000',
  MAX_FIXED_DAY_USD: '1000000000',
  MAX_FIXED_ALL_USD: '9000000000',
  MAX_FLOAT_EXPOSURE_USD: '1000000000',
  MAX_FLOAT_ALL_USD: '9000000000',
};

/** What a command of the command line says. */
async function cli(...args: string[]): Promise<Record<string, string>> {
  const { code, output, errors } = await runBuilt('surfaces/cli/main.js', [...args, '--json'], { folder, settings });
  if (code !== 0) throw new Error(`${args.join(' ')}: ${errors}`);
  return JSON.parse(output);
}

async function newKey(): Promise<string> {
  const { id = '' } = await cli('partner', 'create', '--name', 'Fuzz');
  return (await cli('partner', 'key', '--partner', id, '--scopes', keyScopes.join(','))).key ?? '';
}

/** A table of what was answered to each kind of request. */
function rendered({ kinds }: FuzzReport): string {
  const width = Math.max(...[...kinds.keys()].map(({ length }) => length));
  const lines = [...kinds].sort().map(([kind, statuses]) => {
    const counts = [...statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`);
    return `${kind.padEnd(width)}  ${counts.join('  ')}`;
  });
  return lines.join('\n');
}

const gateway = new BuiltProcess({ script: 'main.js', name: 'gateway', folder, settings, ready: /^ready rest=\S+/m });
try {
  const restUrl = /^ready rest=(\S+)\/api\/v1/m.exec(await gateway.ready())?.[1] ?? '';
  const keys = { partner: await newKey(), stranger: await newKey() };
  const began = performance.now();
  const onProgress = (done: number): void => void process.stderr.write(`${done} of ${requests}\n`);
  const report = await fuzz({ restUrl, keys, requests, concurrency, seed, onProgress });
  const seconds = Math.round((performance.now() - began) / 1000);
  const isAlive = gateway.isRunning;
  await gateway.end('SIGTERM');
  const log = await readFile(join(folder, 'gateway.log'), 'utf8');
  const failures = log.split('\n').filter((line) => line.includes('"level":"error"') || /unhandled/i.test(line));
  process.stdout.write(`${rendered(report)}\n`);
  for (const fault of [...report.faults, ...failures].slice(0, 20)) process.stdout.write(`fault: ${fault}\n`);
  const faults = report.faults.length + failures.length + (isAlive ? 0 : 1);
  if (!isAlive) process.stdout.write('fault: the gateway ended\n');
  process.stdout.write(`fuzz: requests=${report.requests} faults=${faults} seed=${seed} seconds=${seconds}\n`);
  process.exitCode = faults === 0 ? 0 : 1;
} finally {
  await gateway.end('SIGKILL');
  if (keep) process.stdout.write(`kept ${folder}\n`);
  else await rm(folder, { recursive: true, force: true });
}
