import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

const src = resolve('src');

/** Folders and top files of src, each with what it may import. Nouns never import a surface, and there is no circle. */
const mayImport: Record<string, readonly string[]> = {
  'errors.ts': [],
  'money.ts': [],
  'clock.ts': [],
  'log.ts': [],
  'secret-file.ts': [],
  'start-error.ts': [],
  'start-parts.ts': ['log.ts'],
  'listener.ts': ['errors.ts'],
  'setting-parsers.ts': ['money.ts', 'exchanges'],
  'config.ts': ['setting-parsers.ts', 'exchanges'],
  limits: ['log.ts', 'tracing'],
  exchanges: ['log.ts', 'money.ts'],
  generated: [],
  db: ['log.ts', 'tracing'],
  audit: ['errors.ts', 'clock.ts'],
  'db/orm.ts': ['audit', 'currencies', 'partners', 'chains', 'orders', 'rates', 'settlement', 'staff', 'db'],
  chains: ['errors.ts', 'clock.ts', 'log.ts', 'money.ts', 'db', 'tracing'],
  jobs: ['log.ts', 'tracing'],
  currencies: ['errors.ts', 'clock.ts', 'log.ts', 'money.ts', 'generated', 'chains'],
  partners: ['errors.ts', 'clock.ts', 'log.ts', 'money.ts', 'config.ts'],
  staff: ['errors.ts', 'clock.ts', 'audit', 'partners', 'db'],
  rates: ['errors.ts', 'clock.ts', 'log.ts', 'money.ts', 'currencies', 'partners', 'exchanges'],
  orders: ['errors.ts', 'clock.ts', 'money.ts', 'currencies', 'partners', 'chains', 'rates', 'db', 'tracing'],
  ledger: ['clock.ts', 'log.ts', 'money.ts', 'chains'],
  settlement: [
    'errors.ts',
    'clock.ts',
    'log.ts',
    'money.ts',
    'currencies',
    'chains',
    'exchanges',
    'rates',
    'orders',
    'ledger',
    'jobs',
    'staff',
    'db',
    'tracing',
  ],
  reports: ['errors.ts', 'orders'],
  tracing: [],
  metrics: ['ledger', 'limits', 'orders', 'rates', 'reports'],
  rest: [
    'errors.ts',
    'log.ts',
    'money.ts',
    'config.ts',
    'currencies',
    'partners',
    'rates',
    'orders',
    'db',
    'generated',
    'limits',
    'metrics',
    'tracing',
  ],
  internal: ['errors.ts', 'log.ts', 'clock.ts', 'config.ts', 'limits', 'metrics', 'rates', 'staff', 'db', 'tracing'],
  graphql: [
    'errors.ts',
    'clock.ts',
    'log.ts',
    'money.ts',
    'audit',
    'currencies',
    'db',
    'ledger',
    'limits',
    'orders',
    'partners',
    'rates',
    'reports',
    'settlement',
    'staff',
  ],
  'staff-setup.ts': [
    'audit',
    'clock.ts',
    'config.ts',
    'currencies',
    'graphql',
    'internal',
    'limits',
    'log.ts',
    'partners',
    'rates',
    'reports',
    'settlement',
    'settlement-tools.ts',
    'staff',
  ],
  cli: [
    'audit',
    'bootstrap.ts',
    'chains-setup.ts',
    'networks-setup.ts',
    'signer',
    'clock.ts',
    'config.ts',
    'errors.ts',
    'money.ts',
    'chains',
    'currencies',
    'ledger',
    'orders',
    'partners',
    'reports',
    'settlement',
    'log.ts',
    'staff',
    'db',
    'db/orm.ts',
    'start-error.ts',
  ],
  'bootstrap.ts': [
    'chains',
    'clock.ts',
    'config.ts',
    'currencies',
    'db',
    'db/orm.ts',
    'log.ts',
    'partners',
    'reports',
    'secret-file.ts',
    'signing-setup.ts',
    'staff',
    'start-error.ts',
  ],
  'signing-setup.ts': ['chains', 'clock.ts', 'config.ts', 'log.ts', 'secret-file.ts', 'signer', 'start-error.ts'],
  'surroundings.ts': ['chains', 'clock.ts', 'rates', 'settlement'],
  'networks-setup.ts': ['chains', 'config.ts', 'currencies', 'signer'],
  'chains-setup.ts': ['chains', 'clock.ts', 'currencies', 'db', 'log.ts', 'settlement', 'start-error.ts'],
  'settlement-setup.ts': [
    'chains',
    'chains-setup.ts',
    'clock.ts',
    'config.ts',
    'currencies',
    'jobs',
    'ledger',
    'log.ts',
    'orders',
    'rates',
    'settlement',
    'settlement-tools.ts',
    'start-error.ts',
    'surroundings.ts',
    'venue-setup.ts',
    'tracing',
    'db/orm.ts',
  ],
  'settlement-tools.ts': ['clock.ts', 'config.ts', 'currencies', 'log.ts', 'rates', 'settlement', 'start-error.ts'],
  signer: ['chains', 'clock.ts', 'config.ts', 'db', 'log.ts', 'money.ts', 'secret-file.ts'],
  'signer-main.ts': ['chains', 'networks-setup.ts', 'config.ts', 'log.ts', 'signer'],
  'price-setup.ts': ['clock.ts', 'config.ts', 'exchanges', 'log.ts', 'rates', 'surroundings.ts'],
  'venue-setup.ts': ['clock.ts', 'config.ts', 'exchanges', 'log.ts', 'rates', 'settlement', 'start-error.ts'],
  'app.ts': [
    'bootstrap.ts',
    'chains',
    'chains-setup.ts',
    'networks-setup.ts',
    'clock.ts',
    'config.ts',
    'currencies',
    'db',
    'db/orm.ts',
    'internal',
    'listener.ts',
    'log.ts',
    'orders',
    'partners',
    'rates',
    'limits',
    'metrics',
    'price-setup.ts',
    'reports',
    'rest',
    'graphql',
    'settlement-setup.ts',
    'staff',
    'staff-setup.ts',
    'start-error.ts',
    'start-parts.ts',
    'surroundings.ts',
    'tracing',
  ],
  'api-processes.ts': [],
  'gateway-process.ts': ['api-processes.ts', 'app.ts', 'chains', 'config.ts', 'db', 'start-parts.ts'],
  'main.ts': ['api-processes.ts', 'config.ts', 'gateway-process.ts', 'start-parts.ts'],
};

interface SourceFile {
  readonly path: string;
  readonly room: string;
  readonly text: string;
}

/** The mapper knows every entity, so it stands above the nouns; the rest of db stands below them. */
function roomOf(path: string): string {
  return path === 'db/orm.ts' ? path : (path.split('/')[0] ?? '');
}

const files: SourceFile[] = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => ({ path, room: roomOf(path), text: readFileSync(join(src, path), 'utf8') }));

const code = files.filter((file) => file.room !== 'generated');

function imports({ path, text }: SourceFile): { target: string; typeOnly: boolean }[] {
  return [...text.matchAll(/^(?:import|export)\s+(type\s+)?[^'"]*?from\s+'(\.[^']+)'/gms)].map((match) => ({
    target: relative(src, resolve(dirname(join(src, path)), match[2] ?? '')),
    typeOnly: match[1] !== undefined,
  }));
}

describe('the structure of src', () => {
  it('knows every folder and top file', () => {
    expect([...new Set(files.map((file) => file.room))].filter((room) => !(room in mayImport))).toEqual([]);
  });

  it('has imports only where the table allows them', () => {
    const forbidden = code.flatMap((file) =>
      imports(file)
        .map(({ target }) => target)
        .filter((target) => {
          const room = roomOf(target);
          return room !== file.room && !mayImport[file.room]?.includes(room);
        })
        .map((target) => `${file.path} imports ${target}`),
    );
    expect(forbidden).toEqual([]);
  });

  it('allows no circle', () => {
    const done = new Set<string>();
    for (let before = -1; before < done.size; ) {
      before = done.size;
      for (const [room, targets] of Object.entries(mayImport)) {
        if (targets.every((target) => done.has(target))) done.add(room);
      }
    }
    expect(Object.keys(mayImport).filter((room) => !done.has(room))).toEqual([]);
  });

  it('keeps private keys out of the API: only the signing setup makes a signer', () => {
    const users = code.filter((file) => /\/(?:signer-keys|local-signer)\.ts'/.test(file.text));
    expect(users.filter(({ room }) => room !== 'signer').map(({ path }) => path)).toEqual([
      'signer-main.ts',
      'signing-setup.ts',
    ]);
  });

  it('reads the environment in config.ts only, and express in surfaces only', () => {
    const reading = code.filter((file) => /process\.env/.test(file.text)).map((file) => file.path);
    expect(reading).toEqual(['config.ts']);
    const serving = code.filter((file) => /from 'express'/.test(file.text)).map((file) => file.room);
    expect([...new Set(serving)].sort()).toEqual(['graphql', 'internal']);
  });

  it('imports what most processes never need only where it is needed', () => {
    const late =
      /^import (?!type )[^;]*'(?:[./\w-]*\/(?:staff-setup|staff-app|signing-setup|settlement-setup|migrator)\.ts|openid-client)';/m;
    expect(code.filter((file) => late.test(file.text)).map(({ path }) => path)).toEqual([]);
  });

  it('sees the generated contract in rest only', () => {
    const seeing = code
      .filter((file) => /generated\/(?:openapi|contract)\.ts/.test(file.text))
      .map((file) => file.room);
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
        // Request times in milliseconds are no amounts.
        .filter((hit) => hit !== 'rest/request-context.ts: Number('),
    );
    expect(floats).toEqual([]);
  });

  it('has no default export, barrel or bag', () => {
    expect(code.filter((file) => /^export default/m.test(file.text)).map((file) => file.path)).toEqual([]);
    const bags = /(^|\/)(index|utils?|helpers?|common|types|manager)\.ts$/;
    expect(code.filter((file) => bags.test(file.path)).map((file) => file.path)).toEqual([]);
  });
});
