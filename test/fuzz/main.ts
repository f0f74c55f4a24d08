// Requests to all surfaces, right and wrong by construction, against a gateway as an operator
// starts it. Every answer must be documented and right. Samples of the heap show whether it grows.
// Usage: npm run fuzz -- --help
import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { keyScopes } from '../../src/accounts/partners/key-scope.ts';
import { addressExample } from '../../src/chains/addresses/address.ts';
import { cabinetSettings } from '../support/cabinet/cabinet-client.ts';
import { readArguments } from '../support/faults/arguments.ts';
import { BuiltProcess, runBuilt } from '../support/gateway/built-process.ts';
import { type Heap, inspectorOption, openHeap } from '../support/gateway/heap.ts';
import { quickPairs } from '../support/gateway/orders.ts';
import { loadSettings, testSettings } from '../support/gateway/settings.ts';
import { contractClient } from '../support/http/contract-client.ts';
import { cabinetSurface } from './cabinet-fuzz.ts';
import { fuzzChains } from './chain-fuzz.ts';
import { type FuzzReport, fuzz } from './contract-fuzz.ts';
import { pageSurface } from './page-fuzz.ts';
import { staffSurface } from './staff-fuzz.ts';
import type { Surface } from './surface.ts';

if (process.argv.includes('--chains')) process.exit(await fuzzChains());

const help = `Usage: npm run fuzz -- [options]

Requests to the partner contract, the cabinet, the staff API, order pages and other pages.

  --requests <n>     requests to send (20000)
  --minutes <n>      ends after this time instead
  --heap-every <n>   minutes between two samples of the heap after a forced collection (20)
  --concurrency <n>  requests under way at a time (8)
  --seed <n>         seed of every choice; a random one unless given
  --keep             keep the folder with the gateway's data and log
  --chains           hostile blocks for the scanners instead (--chains --help)
`;

const options = readArguments(help, { requests: 20_000, minutes: 0, 'heap-every': 20, concurrency: 8 });
const { minutes, concurrency, seed, keep } = options;
const requests = minutes > 0 ? Number.POSITIVE_INFINITY : options.requests;
const folder = await mkdtemp(join(tmpdir(), 'gateway-fuzz-'));
const wide = '1000000';
const settings = {
  ...testSettings,
  ...loadSettings,
  DATA_DIR: folder,
  LOG_LEVEL: 'warn',
  RATE_LIMIT_ICONS_PER_MIN: wide,
  RATE_LIMIT_SIGN_IN_PER_MIN: wide,
  ...cabinetSettings,
};

/** What a command of the command line says. */
async function cli(...args: string[]): Promise<Record<string, string>> {
  const { code, output, errors } = await runBuilt('surfaces/cli/main.js', [...args, '--json'], { folder, settings });
  if (code !== 0) throw new Error(`${args.join(' ')}: ${errors}`);
  return JSON.parse(output);
}

interface FuzzPartner {
  readonly id: string;
  readonly key: string;
}

async function newPartner(): Promise<FuzzPartner> {
  const { id = '' } = await cli('partner', 'create', '--name', 'Fuzz');
  const { key = '' } = await cli('partner', 'key', '--partner', id, '--scopes', keyScopes.join(','));
  return { id, key };
}

/** Orders of a partner with order pages. Returns the paths of the pages. */
async function makeOrders(restUrl: string, { id, key }: FuzzPartner): Promise<string[]> {
  await cli('partner', 'set', '--partner', id, '--display-name', 'Fuzz', '--order-page', 'true');
  const call = contractClient(restUrl);
  const links: string[] = [];
  for (const [coin_from, network_from, coin_to, network_to, amount_from] of quickPairs) {
    const body = {
      coin_from,
      network_from,
      coin_to,
      network_to,
      amount_from,
      rate_type: 'float',
      recipient_address: addressExample(network_to),
    };
    const { status, text, json } = await call('POST', '/partner/orders', { key, body });
    if (status !== 201) throw new Error(`an order is refused: ${text}`);
    const { json: details } = await call('GET', `/partner/orders/${json.id}/details`, { key });
    links.push(new URL(details.public_url).pathname);
  }
  return links;
}

async function otherSurfaces(restUrl: string, internalUrl: string): Promise<() => Surface[]> {
  const links = await makeOrders(restUrl, await newPartner());
  const { token = '' } = await cli('staff', 'create', '--email', 'fuzz@example.com', '--role', 'admin');
  const invite = async (): Promise<string> => {
    const partner = await newPartner();
    await makeOrders(restUrl, partner);
    return (await cli('partner', 'invite', '--partner', partner.id, '--name', 'Fuzz')).link ?? '';
  };
  return () => [
    cabinetSurface(restUrl, invite),
    staffSurface(internalUrl, token),
    pageSurface(restUrl, internalUrl, links),
  ];
}

/** Samples the heap until it is told to stop. The first sample comes before the load. */
async function watchHeap(heap: Heap, everyMinutes: number, isOver: AbortSignal): Promise<void> {
  const began = performance.now();
  while (!isOver.aborted) {
    const minutes = Math.round((performance.now() - began) / 60_000);
    const mib = (await heap.usedBytes()) / 2 ** 20;
    process.stdout.write(`heap after ${minutes} min: ${mib.toFixed(1)} MiB\n`);
    await sleep(everyMinutes * 60_000, undefined, { signal: isOver }).catch(() => {});
  }
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

// Pages are served from their bundles.
execFileSync(process.execPath, ['tools/build-web.js'], { stdio: 'inherit' });
const gateway = new BuiltProcess({
  script: 'main.js',
  name: 'gateway',
  folder,
  settings,
  nodeOptions: [inspectorOption],
  ready: /^ready rest=\S+/m,
});
try {
  const output = await gateway.ready();
  const [, restUrl = '', internalUrl = ''] = /^ready rest=(\S+)\/api\/v1 internal=(\S+)/m.exec(output) ?? [];
  const keys = { partner: (await newPartner()).key, stranger: (await newPartner()).key };
  const others = await otherSurfaces(restUrl, internalUrl);
  const heap = await openHeap(output);
  const began = performance.now();
  const onProgress = (done: number): void => {
    const passed = Math.floor((performance.now() - began) / 60_000);
    process.stderr.write(minutes > 0 ? `${done} in ${passed} of ${minutes} min\n` : `${done} of ${requests}\n`);
  };
  const isOver = new AbortController();
  const watching = watchHeap(heap, options['heap-every'], isOver.signal);
  const lastsMs = minutes > 0 ? minutes * 60_000 : Number.POSITIVE_INFINITY;
  const report = await fuzz({ restUrl, keys, requests, lastsMs, concurrency, seed, others, onProgress });
  isOver.abort();
  await watching;
  process.stdout.write(`heap at the end: ${((await heap.usedBytes()) / 2 ** 20).toFixed(1)} MiB\n`);
  heap.close();
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
