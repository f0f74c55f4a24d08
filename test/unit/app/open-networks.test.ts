import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { openNetworks, unsafeSettings } from '../../../src/app/open-networks.ts';
import { LiveNetworks } from '../../../src/chains/families/live-networks.ts';
import { readNetworks } from '../../../src/chains/families/network-file.ts';
import { ConfigError, loadConfig } from '../../../src/config/load-config.ts';
import { chainCoins } from '../../../src/market/currencies/chain-coins.ts';

const folder = mkdtempSync(join(tmpdir(), 'networks-'));
afterAll(() => rmSync(folder, { recursive: true }));

function text(chainId: number): string {
  const limits = { ETH: { per_payment: '1', per_day: '10' } };
  const nodes = [{ url: 'http://127.0.0.1:1/' }];
  const ethereum = { kind: 'evm', chain_id: chainId, nodes, start_height: 1, max_fee_per_gas_gwei: '9', limits };
  return stringify({ networks: { ethereum } });
}

const networksOf = (chainId: number): LiveNetworks => new LiveNetworks(readNetworks(text(chainId), 'x', chainCoins));
const names = (faults: readonly string[]): string[] => faults.map((fault) => fault.split(/[ =]/)[0] ?? '');

/** What is there without any setting. */
const none = { ...loadConfig({}) };
/** Everything that a network of value needs. */
const safe = { ...loadConfig({ SIGNER_SOCKET: '/s', PRICE_SOURCES: 'kraken,binance', VENUE: 'inventory' }) };

describe('unsafeSettings', () => {
  it('requires no setting on the sandbox', () => {
    expect(unsafeSettings(none, new LiveNetworks(null))).toEqual([]);
  });

  it('requires a signer process on a live network', () => {
    for (const ROLE of ['all', 'worker'] as const) {
      expect(names(unsafeSettings({ ...none, ROLE }, networksOf(31337)))).toEqual(['SIGNER_SOCKET']);
    }
    expect(unsafeSettings({ ...none, ROLE: 'api' }, networksOf(31337))).toEqual([]);
    expect(unsafeSettings({ ...none, SIGNER_SOCKET: '/s' }, networksOf(31337))).toEqual([]);
  });

  it('requires real prices and a venue on a network of value', () => {
    expect(unsafeSettings(safe, networksOf(1))).toEqual([]);
    const faults = unsafeSettings({ ...none, SIGNER_SOCKET: '/s' }, networksOf(1));
    expect(names(faults)).toEqual(['PRICE_SOURCES', 'VENUE']);
    for (const fault of faults) expect(fault).toContain('a good value: ');
  });

  it('refuses an imitated exchange with a live network', () => {
    const imitated = loadConfig({ SANDBOX_VENUE: 'on', SIGNER_SOCKET: '/s' });
    expect(unsafeSettings(imitated, new LiveNetworks(null))).toEqual([]);
    expect(names(unsafeSettings(imitated, networksOf(31337)))).toEqual(['SANDBOX_VENUE']);
  });

  it('refuses webhooks to this machine with a live network', () => {
    const open = loadConfig({ WEBHOOK_ALLOW_LOOPBACK: 'on', SIGNER_SOCKET: '/s' });
    expect(unsafeSettings(open, new LiveNetworks(null))).toEqual([]);
    expect(names(unsafeSettings(open, networksOf(31337)))).toEqual(['WEBHOOK_ALLOW_LOOPBACK']);
  });

  it('bounds the wait for a deposit on a network of value', () => {
    const slow = { ...safe, DEPOSIT_WINDOW_SEC: 7_201 };
    const faults = unsafeSettings(slow, networksOf(1));
    expect(names(faults)).toEqual(['DEPOSIT_WINDOW_SEC']);
    expect(faults[0]).toContain('at most 7200');
    expect(unsafeSettings({ ...safe, DEPOSIT_WINDOW_SEC: 7_200 }, networksOf(1))).toEqual([]);
    expect(unsafeSettings(slow, networksOf(31337))).toEqual([]);
  });
});

describe('unsafeSettings of an api process', () => {
  it('requires prices, and the venue whose depth limits the pairs', () => {
    const api = { ...safe, ROLE: 'api' as const, VENUE: null, PRICE_SOURCES: [], SIGNER_SOCKET: null };
    expect(names(unsafeSettings(api, networksOf(1)))).toEqual(['PRICE_SOURCES', 'VENUE']);
  });
});

describe('openNetworks', () => {
  it('names the file and each of its faults', async () => {
    const path = join(folder, 'bad.yaml');
    writeFileSync(path, text(5));
    const error = await openNetworks({ NETWORKS_FILE: path }).catch((thrown: unknown) => thrown);
    expect(error instanceof ConfigError && error.problems).toEqual([
      expect.stringMatching(`^${path}: networks.ethereum.chain_id must be one that is known for ethereum`),
    ]);
    await expect(openNetworks({ NETWORKS_FILE: join(folder, 'nowhere') })).rejects.toThrow(ConfigError);
  });

  it('stops the start of a gateway and of a signer with a list of faults', async () => {
    const path = join(folder, 'main.yaml');
    writeFileSync(path, text(1));
    const environment = { NETWORKS_FILE: path, DATA_DIR: folder, DATABASE_URL: 'postgres://127.0.0.1:1/x' };
    const ended = await run('src/main.ts', environment);
    expect(ended.code).toBe(1);
    for (const name of ['SIGNER_SOCKET', 'PRICE_SOURCES', 'VENUE'])
      expect(ended.errors).toContain(`  - ${name} is not set`);
    writeFileSync(join(folder, 'signer-seed'), `${'5'.repeat(64)}\n`, { mode: 0o600 });
    const signer = await run('src/signer-main.ts', { ...environment, NETWORKS_FILE: join(folder, 'nowhere') });
    expect([signer.code, signer.errors]).toEqual([
      1,
      expect.stringMatching(/NETWORKS_FILE names \S+nowhere, which is not there; a good value: networks.yaml/),
    ]);
  });
});

async function run(script: string, environment: Record<string, string>): Promise<{ code: unknown; errors: string }> {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(process.execPath, ['--import', 'tsx', script], {
    env: { PATH, HOME, ...environment },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let errors = '';
  child.stderr.on('data', (data) => {
    errors += data;
  });
  const [code] = await once(child, 'close');
  return { code, errors };
}
