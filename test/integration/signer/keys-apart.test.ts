import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, open, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { HDKey } from '@scure/bip32';
import { allNetworks, depositPath, hotWalletPath } from '../../../src/chains/networks/networks.ts';
import { sandboxKeyPath } from '../../../src/chains/sandbox/sandbox-transactions.ts';
import { bip39Seed, phraseOfSeed } from '../../../src/signer/phrase.ts';
import { createSealedSeed } from '../../../src/signer/seed.ts';
import { SignerKeys } from '../../../src/signer/signer-keys.ts';
import { createDatabase } from '../../support/database/database.ts';
import { builtScript } from '../../support/gateway/built-process.ts';
import { programEnvironment } from '../../support/gateway/program-environment.ts';
import { formsOf, formsOfText, type Needle, SecretSearch } from '../../support/http/secret-search.ts';

// Heaps of three programs are written and read.
jest.setTimeout(600_000);

const entropy = Uint8Array.from({ length: 32 }, (_, index) => (index * 37 + 11) & 0xff);
const passphrase = 'a passphrase of some words';

/** All that must stay in the signer. */
function secrets(): Needle[] {
  const keys = new SignerKeys(entropy);
  const root = HDKey.fromMasterSeed(bip39Seed(entropy));
  const secp256k1 = allNetworks().filter(({ deposit }) => deposit === 'derived');
  const accounts = [...new Set(secp256k1.map(({ accountPath }) => accountPath))];
  const paths = new Set(
    secp256k1.flatMap((network) => [
      hotWalletPath(network),
      // The order below is paid on Bitcoin, at one of the first fifty.
      ...Array.from({ length: network.id === 'BTC' ? 60 : 3 }, (_, index) => depositPath(network, index)),
    ]),
  );
  return [
    ...formsOf('the seed', entropy),
    ...formsOf('the BIP39 seed', bip39Seed(entropy)),
    ...formsOf('the master key', root.privateKey ?? new Uint8Array()),
    ...formsOf('the hot wallet of the sandbox', keys.ed25519(sandboxKeyPath).privateKey),
    ...formsOfText('the phrase', phraseOfSeed(entropy).split(' ').slice(0, 5).join(' ')),
    ...formsOfText('the master xprv', root.privateExtendedKey),
    ...accounts.flatMap((path) => [
      ...formsOfText(`the xprv of ${path}`, root.derive(path).privateExtendedKey),
      ...formsOf(`the account key ${path}`, root.derive(path).privateKey ?? new Uint8Array()),
    ]),
    ...[...paths].flatMap((path) => formsOf(`the key ${path}`, keys.secp256k1(path).privateKey)),
  ];
}

let dir: string;
let children: ChildProcess[];

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'keys-apart-'));
  children = [];
});

afterEach(async () => {
  await Promise.all(
    children.map(async (child) => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'close');
    }),
  );
  await rm(dir, { recursive: true, force: true });
});

interface Program {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly output: () => string;
}

async function start(args: readonly string[], settings: Record<string, string>, ready: RegExp): Promise<Program> {
  const flags = ['--heapsnapshot-signal=SIGUSR2', `--diagnostic-dir=${dir}`];
  const child = spawn(process.execPath, [...flags, ...args], {
    env: programEnvironment({ PATH: process.env.PATH, NODE_NO_WARNINGS: '1', LOG_LEVEL: 'error', ...settings }),
    stdio: 'pipe',
  });
  children.push(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (data) => (output += data));
  while (!ready.test(output)) {
    if (child.exitCode !== null || child.pid === undefined) throw new Error(`${args.join(' ')} ended: ${output}`);
    await sleep(50);
  }
  return { child, pid: child.pid ?? 0, output: () => output };
}

/** Has a process write its heap, as V8 tells it. */
async function heapOf({ child, pid }: Program): Promise<string> {
  child.kill('SIGUSR2');
  for (let size = -1; ; await sleep(300)) {
    const name = (await readdir(dir)).find((file) => file.endsWith('.heapsnapshot') && file.includes(`.${pid}.`));
    if (name === undefined) continue;
    const path = join(dir, name);
    const file = await open(path);
    try {
      const before = size;
      size = (await file.stat()).size;
      const tail = Buffer.alloc(8);
      if (size > 8) await file.read(tail, 0, 8, size - 8);
      if (size === before && /\]\s*\}\s*$/.test(tail.toString('latin1'))) return path;
    } finally {
      await file.close();
    }
  }
}

const inLinux = process.platform === 'linux';
if (!inLinux) process.stderr.write('\nWithout /proc only the heaps of V8 are searched for keys.\n\n');

/** Where a process may hold a secret: its memory, its environment, its arguments, its heap. */
async function foundIn(search: SecretSearch, program: Program): Promise<string[]> {
  const found = new Set<string>();
  if (inLinux) {
    const memory = search.inMemory(program.pid);
    // Less would be no program of Node.
    expect(memory.bytes).toBeGreaterThan(10 * 2 ** 20);
    for (const name of memory.found) found.add(name);
    for (const file of ['environ', 'cmdline']) {
      for (const name of await search.inFile(`/proc/${program.pid}/${file}`)) found.add(`${name} (${file})`);
    }
  }
  for (const name of await search.inFile(await heapOf(program))) found.add(name);
  return [...found].sort();
}

/** A program that holds each needle: what is not found in it cannot be found at all. */
const holder = `
  let text = '';
  process.stdin.on('data', (data) => { text += data; }).on('end', () => {
    const { bytes, texts } = JSON.parse(text);
    text = '';
    globalThis.held = [bytes.map((one) => Buffer.from(one, 'hex').map((byte) => ((byte << 4) | (byte >> 4)) & 255)), texts];
    console.log('holding');
  });
  setInterval(() => {}, 1000);
`;

describe('the keys of a signer apart', () => {
  it('are in no process that answers partners or settles orders, and in no file or variable of theirs', async () => {
    const search = new SecretSearch(secrets());
    const gatewayDir = join(dir, 'gateway');
    const signerDir = join(dir, 'signer');
    await mkdir(gatewayDir);
    await mkdir(signerDir);
    await writeFile(join(dir, 'passphrase'), passphrase);
    await createSealedSeed(join(signerDir, 'signer-seed'), entropy, Buffer.from(passphrase));
    await writeFile(join(dir, 'shared-secret'), 'ab'.repeat(32));
    const database = await createDatabase('empty');
    const shared = { SIGNER_SOCKET: join(dir, 'signer.sock'), SIGNER_SECRET_FILE: join(dir, 'shared-secret') };
    try {
      const signer = await start(
        [builtScript('signer-main.js')],
        { ...shared, DATA_DIR: signerDir, SIGNER_PASSPHRASE_FILE: join(dir, 'passphrase') },
        /^signer ready/m,
      );
      const settings = {
        ...shared,
        DATA_DIR: gatewayDir,
        DATABASE_URL: database.url,
        REQUIRE_DURABLE_COMMITS: 'false',
        PORT: '0',
        INTERNAL_PORT: '0',
        SANDBOX_BLOCK_MS: '100',
      };
      const gateway = (ROLE: string) => start([builtScript('main.js')], { ...settings, ROLE }, /^ready rest=/m);
      const api = await gateway('api');
      const worker = await gateway('worker');

      // The curl line of a first start is an order.
      const [, url = ''] = /curl -sS -X POST (\S+)/.exec(api.output()) ?? [];
      const [, key = ''] = /Bearer (\S+)'/.exec(api.output()) ?? [];
      const [, body = ''] = /-d '(.*)'$/m.exec(api.output()) ?? [];
      const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
      const order = (await (await fetch(url, { method: 'POST', headers, body })).json()) as Record<string, string>;
      expect(order).toMatchObject({ status: 'waiting_deposit' });
      const deposit = spawn(
        process.execPath,
        [builtScript('surfaces/cli/main.js'), 'sandbox', 'deposit', '--order', order.short_id ?? order.id ?? ''],
        { env: programEnvironment({ PATH: process.env.PATH, ...settings }), stdio: 'inherit' },
      );
      children.push(deposit);
      expect((await once(deposit, 'close'))[0]).toBe(0);
      let status = '';
      while (status !== 'completed') {
        await sleep(200);
        const shown = (await (await fetch(`${url}/${order.id}`, { headers })).json()) as Record<string, string>;
        status = shown.status ?? '';
        expect(['waiting_deposit', 'confirming', 'exchanging', 'sending', 'completed']).toContain(status);
      }

      expect(await foundIn(search, api)).toEqual([]);
      expect(await foundIn(search, worker)).toEqual([]);
      expect([...(await search.inFolder(gatewayDir))]).toEqual([]);
      expect((await readdir(gatewayDir)).sort()).toEqual(['key-pepper']);

      // The same search finds them where they belong.
      const own = await foundIn(search, signer);
      if (inLinux) {
        expect(own).toEqual(
          expect.arrayContaining([
            'the BIP39 seed as bytes',
            'the master key as bytes',
            'the hot wallet of the sandbox as bytes',
          ]),
        );
      }
      expect(own.filter((name) => /environ|cmdline|phrase|xprv/.test(name))).toEqual([]);
      expect([...(await search.inFolder(signerDir))]).toEqual([]);
      signer.child.kill('SIGTERM');
      await once(signer.child, 'close');
    } finally {
      for (const child of children) child.kill('SIGTERM');
      await Promise.all(children.map((child) => child.exitCode ?? child.signalCode ?? once(child, 'close')));
      await database.drop();
    }
  });

  it('would be found in any form', async () => {
    const needles = secrets();
    const search = new SecretSearch(needles);
    const swapped = (bytes: Buffer) => bytes.map((byte) => ((byte << 4) | (byte >> 4)) & 255);
    const program = start(['-e', holder], {}, /^holding/m);
    const texts = needles.filter(({ name }) => /in hex$|in base64$|phrase$|xprv/.test(name) && !name.endsWith('wide'));
    const held = {
      // Written so that no form stands in what is sent.
      bytes: needles.map(({ bytes }) => Buffer.from(swapped(bytes)).toString('hex')),
      texts: texts.map(({ bytes }) => bytes.toString('latin1')),
    };
    children.at(-1)?.stdin?.end(JSON.stringify(held));
    const holding = await program;
    if (inLinux) expect([...search.inMemory(holding.pid).found].sort()).toEqual([...search.names].sort());
    const heap = await search.inFile(await heapOf(holding));
    expect(texts.map(({ name }) => name).filter((name) => !heap.has(name))).toEqual([]);

    await mkdir(join(dir, 'data'));
    await writeFile(join(dir, 'data', 'signer-seed'), `${Buffer.from(entropy).toString('hex')}\n`);
    expect([...(await search.inFolder(join(dir, 'data')))]).toEqual(['the seed in hex']);
  });
});
