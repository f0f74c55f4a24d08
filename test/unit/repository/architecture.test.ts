import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

const src = resolve('src');

/**
 * The layers of src, from the bottom up: each folder or top file, with the layers below it that it
 * may import. A row names only layers above which it stands in this table, so that no import runs
 * upward and no circle can form.
 */
const layers: Record<string, readonly string[]> = {
  'errors.ts': [],
  'money.ts': [],
  'clock.ts': [],
  'log.ts': [],
  generated: [],
  telemetry: [],
  web: ['errors.ts'],
  exchanges: ['log.ts', 'money.ts', 'clock.ts'],
  config: ['exchanges', 'money.ts'],
  db: ['clock.ts', 'config', 'errors.ts', 'log.ts', 'telemetry'],
  jobs: ['db', 'log.ts', 'telemetry'],
  limits: ['clock.ts', 'errors.ts', 'log.ts', 'telemetry'],
  partners: ['clock.ts', 'config', 'errors.ts', 'money.ts'],
  staff: ['clock.ts', 'db', 'errors.ts', 'partners'],
  chains: ['clock.ts', 'db', 'errors.ts', 'money.ts', 'telemetry'],
  signer: ['chains', 'clock.ts', 'config', 'db', 'jobs', 'log.ts', 'money.ts'],
  currencies: ['chains', 'clock.ts', 'errors.ts', 'generated', 'jobs', 'log.ts', 'money.ts'],
  ledger: ['chains', 'clock.ts', 'log.ts', 'money.ts'],
  rates: ['clock.ts', 'currencies', 'errors.ts', 'exchanges', 'jobs', 'log.ts', 'money.ts', 'partners'],
  orders: [
    'chains',
    'clock.ts',
    'currencies',
    'db',
    'errors.ts',
    'limits',
    'money.ts',
    'partners',
    'rates',
    'telemetry',
  ],
  settlement: [
    'chains',
    'clock.ts',
    'currencies',
    'db',
    'errors.ts',
    'exchanges',
    'jobs',
    'ledger',
    'log.ts',
    'money.ts',
    'orders',
    'rates',
    'staff',
    'telemetry',
  ],
  reports: ['clock.ts', 'db', 'errors.ts', 'ledger', 'log.ts', 'money.ts', 'orders', 'partners', 'rates', 'telemetry'],
  webhooks: ['clock.ts', 'db', 'errors.ts', 'jobs', 'limits', 'orders', 'partners', 'reports'],
  sandbox: ['chains', 'clock.ts', 'currencies', 'errors.ts', 'money.ts', 'orders', 'reports'],
  'order-page': ['chains', 'clock.ts', 'orders', 'reports'],
  cabinet: [
    'clock.ts',
    'config',
    'errors.ts',
    'generated',
    'limits',
    'money.ts',
    'orders',
    'partners',
    'rates',
    'reports',
    'webhooks',
  ],
  rest: [
    'cabinet',
    'clock.ts',
    'config',
    'currencies',
    'db',
    'errors.ts',
    'generated',
    'limits',
    'log.ts',
    'money.ts',
    'order-page',
    'orders',
    'partners',
    'rates',
    'reports',
    'sandbox',
    'staff',
    'telemetry',
    'web',
    'webhooks',
  ],
  graphql: [
    'cabinet',
    'clock.ts',
    'currencies',
    'db',
    'errors.ts',
    'ledger',
    'limits',
    'log.ts',
    'money.ts',
    'orders',
    'partners',
    'rates',
    'reports',
    'settlement',
    'staff',
    'webhooks',
  ],
  internal: [
    'clock.ts',
    'config',
    'db',
    'errors.ts',
    'limits',
    'log.ts',
    'rates',
    'reports',
    'staff',
    'telemetry',
    'web',
  ],
  // The composition: it may import every layer below it.
  app: [
    'cabinet',
    'chains',
    'clock.ts',
    'config',
    'currencies',
    'db',
    'errors.ts',
    'exchanges',
    'graphql',
    'internal',
    'jobs',
    'ledger',
    'limits',
    'log.ts',
    'order-page',
    'orders',
    'partners',
    'rates',
    'reports',
    'rest',
    'sandbox',
    'settlement',
    'signer',
    'staff',
    'telemetry',
    'webhooks',
  ],
  cli: [
    'app',
    'cabinet',
    'chains',
    'clock.ts',
    'config',
    'currencies',
    'db',
    'errors.ts',
    'ledger',
    'log.ts',
    'money.ts',
    'orders',
    'partners',
    'reports',
    'settlement',
    'signer',
    'staff',
  ],
  'main.ts': ['app', 'config'],
  'signer-main.ts': ['app', 'config', 'log.ts', 'signer'],
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
  return path.split('/')[0] ?? '';
}

/** Files of src that a file imports, types included, at its top or later. */
function imports({ path, text }: SourceFile): string[] {
  const found = text.matchAll(/(?:from\s+|import\(\s*|^import\s+)'(\.[^']+)'/gm);
  return [...new Set([...found].map(([, target = '']) => relative(src, resolve(dirname(join(src, path)), target))))];
}

/** Imports of a file that lie in another layer, as layers. */
function layersImported(file: SourceFile): string[] {
  return imports(file)
    .map(layerOf)
    .filter((layer) => layer !== file.layer);
}

/** Groups of files that import each other in a circle. */
function circles(): string[][] {
  const targets = new Map(code.map((file) => [file.path, imports(file)]));
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
  it('has a row in the table for every folder and top file, and no more than six top files', () => {
    expect([...new Set(files.map((file) => file.layer))].sort()).toEqual(Object.keys(layers).sort());
    expect(files.filter(({ path }) => !path.includes('/')).length).toBeLessThanOrEqual(6);
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
      .filter(({ layer }) => layer !== 'sandbox')
      .filter(({ text }) =>
        /^(?!import type).*from '[^']*\/sandbox\/(?:partner-sandbox|magic-orders)\.ts'|import\('[^']*\/sandbox\/(?:partner-sandbox|magic-orders)/m.test(
          text,
        ),
      )
      .map(({ path }) => path);
    expect(loading).toEqual(['app/open-sandbox.ts']);
    const writing = code
      .filter(({ path }) => !path.startsWith('db/'))
      .filter(({ text }) => /insert into sandbox_outcome/.test(text))
      .map(({ path }) => path);
    expect(writing).toEqual(['sandbox/partner-sandbox.ts']);
  });

  it('has no circle between files, types included', () => {
    expect(circles()).toEqual([]);
  });

  it('reads the time of the machine in clock.ts only', () => {
    const reading = code.filter((file) => /\bDate\.now\(|new Date\(\)/.test(file.text)).map(({ path }) => path);
    expect(reading).toEqual(['clock.ts']);
  });

  it('branches on the kind of a chain in the table of families only', () => {
    const branches = /kind\)? ?[!=]==? ?'(?:evm|utxo)'|case '(?:evm|utxo)':/;
    expect(code.filter((file) => branches.test(file.text)).map(({ path }) => path)).toEqual([]);
    const rows = code.filter((file) => /\/(?:evm|utxo)-family\.ts'/.test(file.text)).map(({ path }) => path);
    expect(rows).toEqual(['chains/families.ts']);
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
    expect([...new Set(serving)].sort()).toEqual(['graphql', 'internal']);
  });

  it('loads parts that few processes need on demand only', () => {
    const late =
      /^import (?!type )[^;]*'(?:[./\w-]*\/(?:open-staff-api|staff-app|open-signing|open-settlement|migrator)\.ts|openid-client)';/m;
    expect(code.filter((file) => late.test(file.text)).map(({ path }) => path)).toEqual([]);
  });

  it('imports the generated contract in rest only', () => {
    const seeing = code
      .filter((file) => /generated\/(?:openapi|contract)\.ts/.test(file.text))
      .map((file) => file.layer);
    expect([...new Set(seeing)]).toEqual(['rest']);
  });

  it('puts no amount through a binary float', () => {
    const money = code.filter((file) =>
      /^(rates|orders|currencies|rest|reports|settlement|ledger|money\.ts)/.test(file.path),
    );
    const floats = money.flatMap((file) =>
      [
        ...file.text.matchAll(
          /parseFloat|\.toNumber\(|(?<![\w.])Number\((?!process)|Number\.parseFloat|type: 'double'|type: 'float'/g,
        ),
      ]
        .map((match) => `${file.path}: ${match[0]}`)
        // Prometheus keeps binary floats: a metric is an indication, not an amount.
        .filter((hit) => !hit.startsWith('reports/business-metrics.ts: Number(')),
    );
    expect(floats).toEqual([]);
  });

  it('has no default export, barrel file or utility file', () => {
    expect(code.filter((file) => /^export default/m.test(file.text)).map((file) => file.path)).toEqual([]);
    const bags = /(^|\/)(index|utils?|helpers?|common|types|manager)\.ts$/;
    expect(code.filter((file) => bags.test(file.path)).map((file) => file.path)).toEqual([]);
  });
});
