import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OutsideWorld } from '../../../src/app/outside-world.ts';
import { createLog } from '../../../src/base/log.ts';
import { loadConfig } from '../../../src/config/load-config.ts';
import { openLocalSigner } from '../../../src/signer/local-signer.ts';
import { signerSecret } from '../../../src/signer/secret.ts';
import { createSealedSeed } from '../../../src/signer/seed.ts';
import { type SignerServer, serveSigner } from '../../../src/signer/server.ts';
import { createDatabase, query, type TestDatabase } from '../../support/database/database.ts';
import { startGateway } from '../../support/gateway/gateway.ts';
import { LogSink } from '../../support/gateway/log-sink.ts';
import type { TestSettings } from '../../support/gateway/settings.ts';

const entropy = new Uint8Array(32).fill(5);
const passphrase = 'a passphrase of some words';

let dir: string;
let database: TestDatabase;
let closing: (() => Promise<void>)[];

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'signer-gateway-'));
  database = await createDatabase('empty');
  closing = [];
});

afterEach(async () => {
  for (const close of closing.reverse()) await close();
  await database.drop();
  await rm(dir, { recursive: true, force: true });
});

async function signer(seed: Uint8Array = entropy, secretDir = 'gateway'): Promise<SignerServer> {
  const local = await openLocalSigner({ entropy: seed, dataDir: join(dir, 'signer') });
  const secret = signerSecret(loadConfig({ DATA_DIR: join(dir, secretDir) }));
  const server = await serveSigner({ signer: local, socketPath: join(dir, 'sock'), secret, log: createLog('silent') });
  closing.push(() => server.close());
  return server;
}

const start = (settings: TestSettings = { SIGNER_SOCKET: join(dir, 'sock') }, outside: OutsideWorld = {}) =>
  startGateway({
    databaseUrl: database.url,
    outside,
    settings: { DATA_DIR: join(dir, 'gateway'), KEY_PEPPER: 'p'.repeat(32), ...settings },
  });

const free = async (): Promise<number> => {
  const [row] = await query<{ free: number }>(
    database.url,
    'select count(*)::int as free from deposit_address where leased_at is null',
  );
  return row?.free ?? 0;
};

describe('a gateway whose signer is a separate process', () => {
  it('takes its accounts and addresses from the signer, and makes no seed', async () => {
    await expect(start()).rejects.toThrow('start the signer of SIGNER_SOCKET first');
    await signer();
    const gateway = await start();
    await gateway.stop();
    // A batch for each of six pools, and what was made of the rest before it stopped.
    expect(await free()).toBeGreaterThanOrEqual(300);
    expect(await readdir(join(dir, 'gateway'))).toEqual(['signer-secret']);
    const accounts = await query<{ signer: string }>(database.url, 'select distinct signer from deposit_account');
    expect(accounts).toEqual([{ signer: await (await openLocalSigner({ entropy, dataDir: dir })).fingerprint() }]);
  });

  it('starts while the signer is away once it has accounts, and refuses another signer', async () => {
    const server = await signer();
    await (await start()).stop();
    await server.close();
    await (await start()).stop();
    await signer(new Uint8Array(32).fill(6));
    await expect(start()).rejects.toThrow("the signer's seed does not belong to this database");
  });

  it('says that its secret is not that of the signer, and where it has it from', async () => {
    await signer(entropy, 'other');
    const told = `its secret is not the one of ${join(dir, 'gateway', 'signer-secret')}; signer and gateways need the same SIGNER_SECRET, SIGNER_SECRET_FILE or signer-secret in DATA_DIR`;
    await expect(start()).rejects.toThrow(told);
    const settings = { SIGNER_SOCKET: join(dir, 'sock'), SIGNER_SECRET: 'ab'.repeat(32) };
    await expect(start(settings)).rejects.toThrow('its secret is not the one of SIGNER_SECRET; ');
  });

  it('logs that the secret is another one when the signer came back with it', async () => {
    const server = await signer();
    await (await start()).stop();
    await server.close();
    await signer(entropy, 'other');
    const log = new LogSink();
    const settings = { SIGNER_SOCKET: join(dir, 'sock'), LOG_LEVEL: 'warn' };
    await (await start(settings, { logStream: log })).stop();
    const away = log
      .lines()
      .map((line) => JSON.parse(line))
      .find(({ event }) => event === 'signer_away');
    expect(away.detail).toContain('its secret is not the one of');
  });

  it('refuses a separate seed', async () => {
    await signer();
    const settings = { SIGNER_SOCKET: join(dir, 'sock'), SIGNER_SEED: 'ab'.repeat(32) };
    await expect(start(settings)).rejects.toThrow('give SIGNER_SEED to the signer only');
  });
});

describe('a gateway that signs itself', () => {
  it('opens a sealed seed, and takes one from the environment', async () => {
    const path = join(dir, 'gateway', 'signer-seed');
    await createSealedSeed(path, entropy, Buffer.from(passphrase));
    await expect(start({})).rejects.toThrow('SIGNER_PASSPHRASE_FILE');
    await expect(start({ SIGNER_PASSPHRASE: 'some other passphrase' })).rejects.toThrow('the passphrase is wrong');
    await writeFile(join(dir, 'passphrase'), `${passphrase}\n`);
    await (await start({ SIGNER_PASSPHRASE_FILE: join(dir, 'passphrase') })).stop();
    await rm(path);
    await (await start({ SIGNER_SEED: Buffer.from(entropy).toString('hex') })).stop();
    await expect(start({ SIGNER_SEED: 'ab'.repeat(32) })).rejects.toThrow('does not belong to this database');
  });
});
