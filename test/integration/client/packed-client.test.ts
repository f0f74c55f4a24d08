import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { type NodeVersion, nodeVersions } from '../../support/client/nodes.ts';

/**
 * The client as its users have it: packed, installed in an empty folder, and run on each version of
 * Node, against a gateway that `npm start` started.
 */

const run = promisify(execFile);
const nodes = await nodeVersions();
const formats = ['mjs', 'cjs'];

let folder: string;
let user: string;
let gateway: ChildProcess;
let printed = '';

/** Environment of the gateway and of its command line: none of this process's settings. */
function gatewayEnvironment(): Record<string, string> {
  const { PATH = '', HOME = '' } = process.env;
  const settings = { PORT: '0', INTERNAL_PORT: '0', LOG_LEVEL: 'error' };
  return { PATH, HOME, TMPDIR: folder, npm_config_loglevel: 'error', ...settings, DATA_DIR: join(folder, 'data') };
}

async function until<T>(find: () => T | null | undefined, what: string): Promise<T> {
  for (const deadline = Date.now() + 150_000; Date.now() < deadline; ) {
    const found = find();
    if (found) return found;
    await new Promise((resume) => setTimeout(resume, 50));
  }
  throw new Error(`${what} did not come:\n${printed}`);
}

function environment(): Record<string, string> {
  const [, url = ''] = /^ready rest=(\S+) /m.exec(printed) ?? [];
  const [, key = ''] = /^demo partner key, shown this once: (\S+)$/m.exec(printed) ?? [];
  return { PARTNER_URL: url, PARTNER_KEY: key };
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'packed-client-'));
  // Root's PostgreSQL runs as another user, who must get through.
  await chmod(folder, 0o711);
  gateway = spawn('npm', ['start'], { env: gatewayEnvironment(), stdio: ['ignore', 'pipe', 'pipe'] });
  const hear = (data: Buffer): void => {
    printed += data;
  };
  gateway.stdout?.on('data', hear);
  gateway.stderr?.on('data', hear);

  user = join(folder, 'user');
  await mkdir(user);
  await run('npm', ['pack', '-w', 'client', '--pack-destination', user]);
  const [tarball = ''] = await readdir(user);
  // Offline: a client with dependencies could not be installed.
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', `./${tarball}`], { cwd: user });
  await copyFile('test/support/client/packed-suite.cjs', join(user, 'suite.cjs'));
  await writeFile(join(user, 'run.cjs'), `require('./suite.cjs').run(require('exchange-partner-client'));\n`);
  await writeFile(
    join(user, 'run.mjs'),
    `import * as client from 'exchange-partner-client';\nimport suite from './suite.cjs';\nsuite.run(client);\n`,
  );
  await until(() => /^ready rest=/m.test(printed), 'the gateway');
});

afterAll(async () => {
  if (gateway.exitCode === null && gateway.signalCode === null) {
    gateway.kill('SIGTERM');
    await once(gateway, 'close');
  }
  await rm(folder, { recursive: true, force: true });
});

/** Runs a program of the user to its end. */
async function ran(node: NodeVersion, ...args: string[]): Promise<string> {
  const env = { ...environment(), PATH: process.env.PATH ?? '' };
  return (await run(node.binary, args, { cwd: user, env, timeout: 120_000 })).stdout;
}

describe.each(
  nodes.flatMap((node) => formats.map((format) => [node.major, format, node] as const)),
)('the packed client on Node %s as %s', (major, format, node) => {
  it('does everything that its suite asks for', async () => {
    const { version, results } = JSON.parse(await ran(node, `run.${format}`)) as {
      version: string;
      results: Record<string, string | null>;
    };
    expect(version.split('.')[0]).toBe(major);
    expect(Object.keys(results).length).toBeGreaterThan(10);
    expect(Object.entries(results).filter(([, failure]) => failure !== null)).toEqual([]);
  });
});

it.each(
  nodes.map((node) => [node.major, node] as const),
)('has an entry for browsers that takes no key, on Node %s', async (_, node) => {
  const program = `
      import { PartnerClient, verifyWebhook } from 'exchange-partner-client';
      const url = 'https://gateway.example';
      new PartnerClient({ url });
      new PartnerClient({ url, key: 'a.b', dangerouslyAllowBrowser: true });
      try { new PartnerClient({ url, key: 'a.b' }); } catch (error) { console.log(error.message, typeof verifyWebhook); }`;
  await writeFile(join(user, 'browser.mjs'), program);
  const said = await ran(node, '--conditions=browser', 'browser.mjs');
  expect(said).toMatch(/^A partner key does not belong into a browser.* function\n$/);
});

it('takes a key in a bundle for Cloudflare Workers, which needs nothing of Node', async () => {
  const program = `
      import { PartnerClient } from 'exchange-partner-client';
      export default { ask: (options) => new PartnerClient(options).listCurrencies().toArray() };`;
  await writeFile(join(user, 'worker.mjs'), program);
  // The conditions of wrangler. Without a platform, a module of Node's could not be bundled.
  const options = ['--bundle', '--format=esm', '--platform=neutral', '--conditions=workerd,worker,browser'];
  await run(resolve('node_modules/.bin/esbuild'), ['worker.mjs', ...options, '--outfile=worker-bundle.mjs'], {
    cwd: user,
  });
  const start = `
      import worker from './worker-bundle.mjs';
      const found = await worker.ask({ url: process.env.PARTNER_URL, key: process.env.PARTNER_KEY });
      console.log(found.length > 1);`;
  await writeFile(join(user, 'worker-start.mjs'), start);
  for (const node of nodes) expect(await ran(node, 'worker-start.mjs')).toBe('true\n');
});

it.each(
  nodes.map((node) => [node.major, node] as const),
)('can be required with the conditions of Jest for jsdom, on Node %s', async (_, node) => {
  // What jsdom lacks is taken away before the client is loaded.
  const program = `
      for (const name of ['fetch', 'crypto', 'structuredClone', 'TextEncoder', 'TextDecoder']) delete globalThis[name];
      const { PartnerClient, verifyWebhook } = require('exchange-partner-client');
      const url = 'https://gateway.example';
      new PartnerClient({ url, fetch: () => {} });
      try { new PartnerClient({ url, key: 'a.b' }); } catch (error) { console.log(error.message, typeof verifyWebhook); }`;
  await writeFile(join(user, 'jsdom.cjs'), program);
  // Jest cannot require an ES module, as Node can by now.
  const said = await ran(node, '--no-experimental-require-module', '--conditions=browser', 'jsdom.cjs');
  expect(said).toMatch(/^A partner key does not belong into a browser.* function\n$/);
});

describe('the ten lines of the README', () => {
  it.each(nodes.map((node) => [node.major, node] as const))('run on Node %s, up to the payout', async (_, node) => {
    const readme = await readFile('client/README.md', 'utf8');
    const [, lines = ''] = /`first-order\.mjs`:\n\n```js\n([\s\S]*?)```/.exec(readme) ?? [];
    expect(lines.trim().split('\n').length).toBeLessThanOrEqual(10);
    await writeFile(join(user, 'first-order.mjs'), lines);

    const env = { ...environment(), PATH: process.env.PATH ?? '' };
    const child = spawn(node.binary, ['first-order.mjs'], { cwd: user, env, stdio: ['ignore', 'pipe', 'inherit'] });
    let said = '';
    child.stdout.on('data', (data) => {
      said += data;
    });
    const ended = once(child, 'close');
    const [, shortId = ''] = await until(() => /^(XP-\w{6}): send 0\.01 BTC to \S+$/m.exec(said), 'the order');
    await run('npm', ['run', '-s', 'cli', '--', 'sandbox', 'deposit', '--order', shortId], {
      env: gatewayEnvironment(),
    });
    expect(await ended).toEqual([0, null]);
    expect(said).toMatch(/^completed, payout [0-9a-f]{64}$/m);
  });
});

describe('the types of the packed client', () => {
  it.each([
    ['nodenext', 'nodenext'],
    ['esnext', 'bundler'],
  ])('fit a program of the module kind %s, and refuse amounts that are numbers', async (module, resolution) => {
    const program = `
      import { PartnerClient, PartnerError, verifyWebhook, type Order, type ErrorBody } from 'exchange-partner-client';
      const client = new PartnerClient({ url: 'https://gateway.example' });
      export async function amount(): Promise<string> {
        const order: Order = await client.createOrder({ recipient_address: 'x', amount_from: '0.1' });
        // @ts-expect-error an amount is no number
        await client.createOrder({ recipient_address: 'x', amount_from: 0.1 });
        // @ts-expect-error the contract has no such operation
        client.payMe;
        for await (const { details } of client.listOrders({ status: ['expired'] })) return details?.terms.rate ?? '';
        return order.rate_quoted;
      }
      export const facts = (error: PartnerError): ErrorBody | null => error.body;
      export const verify = verifyWebhook;
    `;
    const names = module === 'nodenext' ? ['types.mts', 'types.cts'] : ['types.ts'];
    for (const name of names) await writeFile(join(user, name), program);
    const options = [
      '--noEmit',
      '--strict',
      '--exactOptionalPropertyTypes',
      '--target',
      'es2022',
      '--lib',
      'es2022,dom',
    ];
    // TypeScript 5 and 7, which judge the declarations of the package too.
    for (const compiler of ['tools/node_modules/typescript/bin/tsc', 'node_modules/typescript/bin/tsc']) {
      const args = [resolve(compiler), ...options, '--module', module, '--moduleResolution', resolution, ...names];
      await run(process.execPath, args, { cwd: user });
    }
  });
});
