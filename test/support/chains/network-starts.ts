import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getAddress } from 'viem/utils';
import { stringify } from 'yaml';
import { ConfigError } from '../../../src/config/load-config.ts';
import { createDatabase, type TestDatabase } from '../database/database.ts';
import { commandLine } from '../gateway/built-process.ts';
import { startGateway, type TestGateway } from '../gateway/gateway.ts';
import { type Anvil, findAnvil, startAnvil } from './anvil.ts';
import { SignerProcess } from './signer-process.ts';

// All of a process has one form of addresses, and so all of this file has litecoin on regtest.

export let folder: string;
export let anvil: Anvil;
export let usdt: string;
export let signer: SignerProcess;
export let database: TestDatabase;
export let settings: Record<'DATA_DIR' | 'SIGNER_SOCKET' | 'NETWORKS_FILE', string>;

/** Of every coin. */
export const limits = { per_payment: '100', per_day: '1000' };

export function ethereum(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    kind: 'evm',
    chain_id: 31337,
    nodes: [{ url: anvil.url }],
    start_height: 0,
    finality: 2,
    max_fee_per_gas_gwei: '100',
    tokens: { USDT: usdt },
    wallet_levels: { ETH: { low: '1' } },
    limits: { ETH: limits, USDT: limits },
    ...changes,
  };
}

/** Its node is down. */
export const litecoin = {
  kind: 'utxo',
  net: 'regtest',
  nodes: [{ url: 'http://127.0.0.1:1/' }],
  start_height: 0,
  fee_ceiling: '0.01',
  limits: { LTC: limits },
};

export async function networksFile(networks: Record<string, unknown>): Promise<string> {
  const path = join(folder, `${randomUUID()}.yaml`);
  await writeFile(path, stringify({ networks }));
  return path;
}

export interface Start {
  readonly networks?: Record<string, unknown>;
  readonly databaseUrl?: string;
  readonly settings?: Record<string, string>;
}

export async function start(options: Start = {}): Promise<TestGateway & { readonly told: string[] }> {
  const told: string[] = [];
  const networks = options.networks ?? { ethereum: ethereum(), litecoin };
  const gateway = await startGateway({
    databaseUrl: options.databaseUrl ?? database.url,
    settings: { ...settings, NETWORKS_FILE: await networksFile(networks), ...options.settings },
    outside: { background: false, onProgress: (line) => told.push(line) },
  });
  return { ...gateway, told };
}

export async function refusal(options: Start): Promise<string> {
  try {
    const gateway = await start(options);
    await gateway.stop();
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.join('\n');
    if (error instanceof Error) return error.message;
  }
  return 'it started';
}

export interface Ended {
  readonly code: number;
  readonly output: string;
  readonly errors: string;
}

export const cli = (...args: string[]): Promise<Ended> => cliWith({}, ...args);

export function cliWith(changes: Record<string, string>, ...args: string[]): Promise<Ended> {
  return commandLine(database.url, args, { ...settings, ...changes });
}

/** Starts anvil and a signer, and makes an empty database, for the tests of the file. */
export function withRealNode(): void {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'networks-'));
    if (findAnvil() === null) return;
    await writeFile(join(folder, 'signer-seed'), `${randomBytes(32).toString('hex')}\n`, { mode: 0o600 });
    anvil = await startAnvil();
    usdt = getAddress(await anvil.deployToken(6));
    await anvil.mine(3);
    settings = {
      DATA_DIR: folder,
      SIGNER_SOCKET: join(folder, 'signer.sock'),
      NETWORKS_FILE: await networksFile({ ethereum: ethereum(), litecoin }),
    };
    signer = new SignerProcess(settings);
    await signer.ready();
    database = await createDatabase('empty');
  });
  afterAll(async () => {
    await signer?.stop();
    await anvil?.stop();
    await database?.drop();
    await rm(folder, { recursive: true, force: true });
  });
}
