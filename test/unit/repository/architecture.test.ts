import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { families } from '../../../src/chains/families/families.ts';

const src = resolve('src');

/**
 * The layers of src, from the bottom up: each folder, sub-folder and top file, with the layers that
 * it may import. They stand above it in this table, so that no circle can form. A folder and its
 * sub-folders are their own layers.
 */
const layers: Record<string, readonly string[]> = {
  generated: [],
  base: [],
  'base/db/migrations': [],
  'base/telemetry': [],
  'base/db': ['base', 'base/db/migrations', 'base/telemetry'],
  'base/db/embedded': ['base', 'base/db'],
  'base/jobs': ['base', 'base/db', 'base/telemetry'],
  'base/limits': ['base', 'base/telemetry'],
  exchanges: ['base'],
  'exchanges/sandbox': ['base', 'exchanges'],
  config: ['base', 'exchanges'],
  'chains/addresses/keyless': [],
  'chains/networks': ['base'],
  'chains/port': [],
  'chains/addresses': ['base', 'base/db', 'chains/addresses/keyless', 'chains/networks', 'chains/port'],
  'chains/nodes': ['base', 'base/telemetry', 'chains/networks', 'chains/port'],
  chains: ['base/db', 'chains/addresses', 'chains/networks', 'chains/nodes', 'chains/port'],
  'chains/evm': ['base', 'chains', 'chains/addresses', 'chains/networks', 'chains/nodes', 'chains/port'],
  'chains/sandbox': ['base', 'base/db', 'chains/networks', 'chains/nodes', 'chains/port'],
  'chains/ton': ['base', 'base/db', 'chains', 'chains/addresses', 'chains/networks', 'chains/nodes', 'chains/port'],
  'chains/tron': ['base', 'chains', 'chains/addresses', 'chains/networks', 'chains/nodes', 'chains/port'],
  'chains/xrp': ['base', 'chains', 'chains/addresses', 'chains/networks', 'chains/nodes', 'chains/port'],
  'chains/monero': ['base', 'chains', 'chains/addresses', 'chains/networks', 'chains/nodes', 'chains/port'],
  'chains/solana': ['base', 'chains', 'chains/addresses', 'chains/networks', 'chains/nodes', 'chains/port'],
  'chains/stellar': ['base', 'chains', 'chains/addresses', 'chains/networks', 'chains/nodes', 'chains/port'],
  'chains/utxo': ['base', 'chains', 'chains/networks', 'chains/nodes', 'chains/port'],
  'chains/families': [
    'base/db',
    'chains',
    'chains/addresses',
    'chains/evm',
    'chains/monero',
    'chains/networks',
    'chains/port',
    'chains/solana',
    'chains/stellar',
    'chains/ton',
    'chains/tron',
    'chains/utxo',
    'chains/xrp',
  ],
  signer: [
    'base',
    'base/db',
    'base/db/embedded',
    'base/jobs',
    'chains/addresses',
    'chains/networks',
    'chains/port',
    'chains/sandbox',
    'config',
  ],
  'accounts/partners': ['base', 'base/db', 'config'],
  'accounts/members': ['accounts/partners', 'base', 'base/db', 'generated'],
  'accounts/staff/audit': ['base', 'base/db'],
  'accounts/staff': ['accounts/partners', 'accounts/staff/audit', 'base', 'base/db'],
  'market/currencies': ['base', 'base/db', 'base/jobs', 'chains/addresses', 'chains/families', 'chains/networks'],
  'market/rates': ['accounts/partners', 'base', 'base/db', 'base/jobs', 'market/currencies'],
  'market/rates/sources': ['base', 'base/db', 'exchanges', 'market/rates'],
  'ledger/reconcile': ['base', 'chains/networks', 'chains/port'],
  ledger: ['base', 'base/db', 'chains/port', 'ledger/reconcile'],
  orders: [
    'accounts/members',
    'accounts/partners',
    'base',
    'base/db',
    'base/limits',
    'base/telemetry',
    'chains/addresses',
    'chains/networks',
    'market/currencies',
    'market/rates',
  ],
  'orders/read': ['accounts/partners', 'base', 'base/db', 'base/telemetry', 'ledger', 'market/rates', 'orders'],
  'settlement/rows': ['base', 'base/db', 'exchanges'],
  'settlement/rules': [
    'base',
    'base/db',
    'chains/networks',
    'chains/port',
    'ledger',
    'market/currencies',
    'market/rates',
    'orders',
    'settlement/rows',
  ],
  'settlement/sandbox': [
    'base',
    'base/db',
    'chains/addresses',
    'chains/networks',
    'chains/sandbox',
    'exchanges',
    'exchanges/sandbox',
    'market/currencies',
    'market/rates',
    'orders',
    'orders/read',
  ],
  'settlement/trade': [
    'base',
    'base/db',
    'chains/networks',
    'chains/sandbox',
    'exchanges',
    'ledger',
    'market/currencies',
    'market/rates',
    'settlement/rows',
    'settlement/rules',
  ],
  'settlement/turns': ['base/db', 'chains/port'],
  'settlement/scan': [
    'base',
    'base/db',
    'base/jobs',
    'chains',
    'chains/families',
    'chains/networks',
    'chains/port',
    'ledger',
    'market/currencies',
    'orders',
    'settlement/rows',
    'settlement/rules',
    'settlement/turns',
  ],
  'settlement/commission': [
    'base',
    'base/db',
    'chains/networks',
    'ledger',
    'market/currencies',
    'orders',
    'orders/read',
    'settlement/rows',
    'settlement/rules',
  ],
  'settlement/treasury': [
    'base',
    'base/db',
    'chains/addresses',
    'chains/networks',
    'chains/port',
    'exchanges',
    'ledger',
    'ledger/reconcile',
    'market/currencies',
    'settlement/rows',
    'settlement/rules',
    'settlement/turns',
  ],
  'settlement/pay': [
    'base',
    'base/db',
    'base/jobs',
    'base/telemetry',
    'chains',
    'chains/families',
    'chains/networks',
    'chains/port',
    'chains/sandbox',
    'ledger',
    'market/currencies',
    'market/rates',
    'orders',
    'settlement/commission',
    'settlement/rows',
    'settlement/rules',
    'settlement/scan',
    'settlement/turns',
  ],
  settlement: [
    'accounts/staff',
    'base',
    'base/db',
    'base/jobs',
    'base/telemetry',
    'chains/addresses',
    'chains/networks',
    'chains/port',
    'ledger',
    'orders',
    'settlement/commission',
    'settlement/pay',
    'settlement/rows',
    'settlement/rules',
    'settlement/scan',
    'settlement/trade',
    'settlement/treasury',
    'settlement/turns',
  ],
  webhooks: ['accounts/partners', 'base', 'base/db', 'base/jobs', 'base/limits', 'orders', 'orders/read'],
  operations: [
    'base',
    'base/db',
    'base/telemetry',
    'ledger/reconcile',
    'market/rates',
    'orders',
    'orders/read',
    'settlement/rows',
    'settlement/treasury',
  ],
  'surfaces/graphql/server': [
    'accounts/members',
    'accounts/partners',
    'accounts/staff',
    'accounts/staff/audit',
    'base',
    'base/db',
    'base/limits',
    'ledger',
    'market/currencies',
    'market/rates',
    'operations',
    'orders',
    'orders/read',
    'settlement/rows',
    'webhooks',
  ],
  'surfaces/graphql': [
    'accounts/members',
    'accounts/partners',
    'accounts/staff',
    'accounts/staff/audit',
    'base',
    'ledger',
    'market/currencies',
    'market/rates',
    'operations',
    'orders',
    'orders/read',
    'settlement',
    'settlement/commission',
    'settlement/pay',
    'settlement/rows',
    'surfaces/graphql/server',
    'webhooks',
  ],
  'surfaces/pages': ['base', 'chains/networks', 'orders', 'orders/read'],
  'surfaces/internal': [
    'accounts/staff',
    'accounts/staff/audit',
    'base',
    'base/db',
    'base/limits',
    'base/telemetry',
    'config',
    'market/rates',
    'operations',
    'orders/read',
    'surfaces/pages',
  ],
  'surfaces/rest/api': ['accounts/members', 'base', 'base/db', 'base/limits', 'generated', 'orders', 'surfaces/pages'],
  'surfaces/rest/partner': [
    'accounts/members',
    'accounts/partners',
    'base',
    'base/limits',
    'config',
    'generated',
    'market/currencies',
    'market/rates',
    'orders',
    'orders/read',
    'settlement/commission',
    'settlement/sandbox',
    'surfaces/rest/api',
    'webhooks',
  ],
  'surfaces/rest/cabinet': [
    'accounts/members',
    'accounts/partners',
    'accounts/staff',
    'accounts/staff/audit',
    'base',
    'base/db',
    'base/limits',
    'config',
    'generated',
    'market/rates',
    'operations',
    'orders',
    'orders/read',
    'settlement/commission',
    'settlement/rows',
    'surfaces/pages',
    'surfaces/rest/api',
    'surfaces/rest/partner',
    'webhooks',
  ],
  'surfaces/rest': [
    'accounts/partners',
    'base',
    'base/limits',
    'base/telemetry',
    'config',
    'market/currencies',
    'market/rates',
    'orders',
    'orders/read',
    'surfaces/pages',
    'surfaces/rest/api',
    'surfaces/rest/cabinet',
    'surfaces/rest/partner',
  ],
  app: [
    'accounts/members',
    'accounts/partners',
    'accounts/staff',
    'accounts/staff/audit',
    'base',
    'base/db',
    'base/db/embedded',
    'base/jobs',
    'base/limits',
    'base/telemetry',
    'chains/addresses',
    'chains/families',
    'chains/networks',
    'chains/nodes',
    'chains/port',
    'chains/sandbox',
    'config',
    'exchanges',
    'ledger',
    'market/currencies',
    'market/rates',
    'market/rates/sources',
    'operations',
    'orders',
    'orders/read',
    'settlement',
    'settlement/commission',
    'settlement/pay',
    'settlement/rows',
    'settlement/rules',
    'settlement/sandbox',
    'settlement/scan',
    'settlement/trade',
    'settlement/treasury',
    'settlement/turns',
    'signer',
    'surfaces/graphql',
    'surfaces/graphql/server',
    'surfaces/internal',
    'surfaces/pages',
    'surfaces/rest',
    'surfaces/rest/api',
    'surfaces/rest/cabinet',
    'webhooks',
  ],
  'surfaces/cli': [
    'accounts/members',
    'accounts/partners',
    'accounts/staff',
    'accounts/staff/audit',
    'app',
    'base',
    'base/db',
    'base/db/embedded',
    'chains/addresses',
    'chains/families',
    'chains/networks',
    'chains/port',
    'chains/sandbox',
    'config',
    'exchanges',
    'exchanges/sandbox',
    'ledger',
    'market/currencies',
    'market/rates',
    'operations',
    'orders',
    'orders/read',
    'settlement/sandbox',
    'settlement/treasury',
    'signer',
  ],
  'main.ts': ['app', 'config'],
  'signer-main.ts': ['app', 'base', 'config', 'signer'],
};

interface SourceFile {
  /** Relative to src. */
  readonly path: string;
  /** Its row in the table. */
  readonly layer: string;
  readonly text: string;
}

const files: SourceFile[] = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => ({ path, layer: layerOf(path), text: readFileSync(join(src, path), 'utf8') }));

const code = files.filter((file) => file.layer !== 'generated');

function layerOf(path: string): string {
  const folder = dirname(path);
  return folder === '.' ? path : folder;
}

/** Files of src that a file imports, types included, at its top or later. */
function imports({ path, text }: SourceFile): string[] {
  return [...new Set(specifiers(text).map((target) => relative(src, resolve(dirname(join(src, path)), target))))];
}

/** The relative paths that a file imports, types included, at its top or later. */
function specifiers(text: string): string[] {
  return [...text.matchAll(/(?:from\s+|import\(\s*|^import\s+)'(\.[^']+)'/gm)].map(([, target = '']) => target);
}

/** Imports of a file that lie in another layer, as layers. */
function layersImported(file: SourceFile): string[] {
  return imports(file)
    .map(layerOf)
    .filter((layer) => layer !== file.layer);
}

/** Groups of files that import each other in a circle, by what each of them imports. */
function circles(targets: ReadonlyMap<string, readonly string[]>): string[][] {
  const reach = (from: string): Set<string> => {
    const seen = new Set<string>();
    for (const queue = [from]; queue.length > 0; ) {
      for (const next of targets.get(queue.pop() ?? '') ?? []) {
        if (!seen.has(next)) queue.push(next);
        seen.add(next);
      }
    }
    return seen;
  };
  const reached = new Map([...targets.keys()].map((path) => [path, reach(path)]));
  const groups = [...targets.keys()]
    .filter((path) => reached.get(path)?.has(path))
    .map((path) =>
      [...targets.keys()].filter((other) => reached.get(path)?.has(other) && reached.get(other)?.has(path)),
    );
  return [...new Map(groups.map((group) => [group.join(), group])).values()];
}

describe('the structure of src', () => {
  it('has a row in the table for every folder, and at most 16 top folders and three top files', () => {
    expect([...new Set(files.map((file) => file.layer))].sort()).toEqual(Object.keys(layers).sort());
    const tops = [...new Set(files.map(({ path }) => path.split('/')[0] ?? ''))];
    expect(tops.filter((name) => !name.endsWith('.ts')).length).toBeLessThanOrEqual(16);
    expect(tops.filter((name) => name.endsWith('.ts')).length).toBeLessThanOrEqual(3);
  });

  it('imports only downward, as the table allows', () => {
    const order = Object.keys(layers);
    const upward = Object.entries(layers).flatMap(([layer, below]) =>
      below.filter((each) => order.indexOf(each) >= order.indexOf(layer)).map((each) => `${layer} may import ${each}`),
    );
    expect(upward).toEqual([]);
    const forbidden = code.flatMap((file) =>
      layersImported(file)
        .filter((layer) => !layers[file.layer]?.includes(layer))
        .map((layer) => `${file.path} imports ${layer}`),
    );
    expect(forbidden).toEqual([]);
  });

  it('has no permission in the table that no file uses', () => {
    const unused = Object.entries(layers).flatMap(([layer, below]) => {
      const used = new Set(code.filter((file) => file.layer === layer).flatMap(layersImported));
      return below.filter((each) => !used.has(each)).map((each) => `${layer} need not import ${each}`);
    });
    expect(unused).toEqual([]);
  });

  it('loads the sandbox of partners only where every network is of the sandbox', () => {
    const loading = code
      .filter(({ layer }) => layer !== 'settlement/sandbox')
      .filter(({ text }) =>
        /^(?!import type).*from '[^']*\/sandbox\/(?:partner-sandbox|magic-orders|sandbox-venue)\.ts'|import\('[^']*\/sandbox\/(?:partner-sandbox|magic-orders|sandbox-venue)/m.test(
          text,
        ),
      )
      .map(({ path }) => path);
    expect(loading).toEqual(['app/open-sandbox.ts']);
    const writing = code
      .filter(({ path }) => !path.startsWith('base/db/'))
      .filter(({ text }) => /insert into sandbox_outcome/.test(text))
      .map(({ path }) => path);
    expect(writing).toEqual(['settlement/sandbox/partner-sandbox.ts']);
  });

  it('has no circle between files, types included', () => {
    expect(circles(new Map(code.map((file) => [file.path, imports(file)])))).toEqual([]);
  });

  it('nor has web', () => {
    const web = readdirSync('web', { recursive: true, encoding: 'utf8' })
      .filter((path) => /\.tsx?$/.test(path) && !/^dist|node_modules/.test(path))
      .map((path) => ({ path: resolve('web', path), text: readFileSync(join('web', path), 'utf8') }));
    const targets = new Map(
      web.map(({ path, text }) => [path, specifiers(text).map((target) => resolve(dirname(path), target))]),
    );
    expect(targets.size).toBeGreaterThan(60);
    expect(circles(targets)).toEqual([]);
  });

  it('reads the time of the machine in base/clock.ts only', () => {
    const reading = code.filter((file) => /\bDate\.now\(|new Date\(\)/.test(file.text)).map(({ path }) => path);
    expect(reading).toEqual(['base/clock.ts']);
  });

  it('names a family of chains in its own folder and its row only', () => {
    const kinds = families.map(({ kind }) => kind);
    const isOfFamily = (path: string): boolean => kinds.some((kind) => path.startsWith(`chains/${kind}/`));
    const others = code.filter(({ path }) => !isOfFamily(path));
    const importing = others.filter((file) => imports(file).some(isOfFamily)).map(({ path }) => path);
    expect(importing).toEqual(['chains/families/families.ts']);
    // No family reads another one: what two need stands below both.
    const across = code
      .filter(({ path }) => isOfFamily(path))
      .filter((file) => imports(file).some((path) => isOfFamily(path) && layerOf(path) !== file.layer));
    expect(across.map(({ path }) => path)).toEqual([]);
    const word = new RegExp(`['"\`](?:${kinds.join('|')})['"\`]`);
    const naming = others.filter(({ text }) => word.test(text)).map(({ path }) => path);
    // Form of an address, by the same word: a chain has it with an adapter and without.
    const ofAddresses = ['chains/addresses/address.ts', 'chains/networks/networks.ts', 'signer/signer-keys.ts'];
    expect(naming.sort()).toEqual(ofAddresses);
  });

  it('keeps private keys out of the API: only the signing setup makes a signer', () => {
    const users = code.filter((file) => /\/(?:signer-keys|local-signer)\.ts'/.test(file.text));
    expect(
      users
        .filter(({ layer }) => layer !== 'signer')
        .map(({ path }) => path)
        .sort(),
    ).toEqual(['app/open-signing.ts', 'signer-main.ts']);
  });

  it('reads the environment in config/load-config.ts only, and express in surfaces only', () => {
    const reading = code.filter((file) => /process\.env/.test(file.text)).map((file) => file.path);
    expect(reading).toEqual(['config/load-config.ts']);
    const serving = code.filter((file) => /from 'express'/.test(file.text)).map((file) => file.layer);
    expect([...new Set(serving)].sort()).toEqual(['surfaces/graphql/server', 'surfaces/internal']);
  });

  it('runs SQL in base/db only, but for the job queue and the reconciler', () => {
    const others = /^(base\/db\/|base\/jobs\/job-queue\.ts|ledger\/reconcile\/)/;
    const runs = /\.execute\b|\bgetNativeClient\b|\bgetKysely\b|^import (?!type )[^;]*from 'pg'/m;
    const paths = code.filter(({ path, text }) => !others.test(path) && runs.test(text)).map(({ path }) => path);
    expect(paths).toEqual([]);
  });

  it('loads parts that few processes need on demand only', () => {
    const late =
      /^import (?!type )[^;]*'(?:[./\w-]*\/(?:open-staff-api|staff-app|open-signing|open-settlement|migrator)\.ts|openid-client)';/m;
    expect(code.filter((file) => late.test(file.text)).map(({ path }) => path)).toEqual([]);
  });

  it('builds the services of pools in app/services.ts only, for every surface', () => {
    const services = code.find(({ path }) => path === 'app/services.ts');
    const built = new Set([...(services?.text ?? '').matchAll(/new ([A-Z]\w+)\(\{?\s*orm\b/g)].map(([, name]) => name));
    expect(built.size).toBeGreaterThan(15);
    const elsewhere = code
      .filter(({ path, layer }) => /^(app|surfaces)\b/.test(layer) && path !== 'app/services.ts')
      .flatMap(({ path, text }) => [...text.matchAll(/new ([A-Z]\w+)\(/g)].map(([, name]) => ({ path, name })))
      .filter(({ name }) => built.has(name))
      .map(({ path, name }) => `${path} builds ${name}`);
    expect(elsewhere).toEqual([]);
  });

  it('imports the generated contract in rest only', () => {
    const seeing = code
      .filter((file) => /generated\/(?:openapi|contract)\.ts/.test(file.text))
      .map((file) => file.layer)
      .filter((layer) => !layer.startsWith('surfaces/rest'));
    expect(seeing).toEqual([]);
  });

  it('puts no amount through a binary float', () => {
    const money = code.filter((file) =>
      /^(market|orders|operations|surfaces\/rest|settlement|ledger|base\/money\.ts)/.test(file.path),
    );
    const floats = money.flatMap((file) =>
      [
        ...file.text.matchAll(
          /parseFloat|\.toNumber\(|(?<![\w.])Number\((?!process)|Number\.parseFloat|type: 'double'|type: 'float'/g,
        ),
      ]
        .map((match) => `${file.path}: ${match[0]}`)
        // Prometheus keeps binary floats: a metric is an indication, not an amount.
        .filter((hit) => !hit.startsWith('operations/business-metrics.ts: Number(')),
    );
    expect(floats).toEqual([]);
  });

  it('has no default export, barrel file or utility file', () => {
    expect(code.filter((file) => /^export default/m.test(file.text)).map((file) => file.path)).toEqual([]);
    const bags = /(^|\/)(index|utils?|helpers?|common|types|manager)\.ts$/;
    expect(code.filter((file) => bags.test(file.path)).map((file) => file.path)).toEqual([]);
  });
});
