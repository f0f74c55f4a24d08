import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { constants } from '../../../src/config/constants.ts';
import { currencySeed } from '../../../src/market/currencies/seed.ts';
import { createDatabase, query } from '../../support/database/database.ts';
import { builtScript } from '../../support/gateway/built-process.ts';
import { startGateway } from '../../support/gateway/gateway.ts';
import { programEnvironment } from '../../support/gateway/program-environment.ts';
import { listen } from '../../support/http/local-server.ts';

/** The program as an operator starts it. */
class Program {
  readonly #child: ChildProcess;
  readonly ended: Promise<number | null>;
  output = '';
  errors = '';

  constructor(script: string, args: readonly string[], environment: Record<string, string>) {
    this.#child = spawn(process.execPath, [builtScript(script), ...args], {
      env: programEnvironment({ PATH: process.env.PATH, HOME: process.env.HOME, ...environment }),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child.stdout?.on('data', (data) => {
      this.output += data;
    });
    this.#child.stderr?.on('data', (data) => {
      this.errors += data;
    });
    this.ended = new Promise((resolve) => this.#child.once('close', (code) => resolve(code)));
    running.add(this);
    void this.ended.then(() => running.delete(this));
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  /** The addresses of the line that says it is ready. */
  async ready(): Promise<{ rest: string; internal: string }> {
    for (let i = 0; i < 3_000; i++) {
      const match = /^ready rest=(\S+) internal=(\S+)$/m.exec(this.output);
      if (match?.[1] && match[2]) return { rest: match[1], internal: match[2] };
      if (this.#child.exitCode !== null) break;
      await sleep(50);
    }
    throw new Error(`not ready:\n${this.output}\n${this.errors}`);
  }
}

const running = new Set<Program>();
const folders: string[] = [];
const ports = { PORT: '0', INTERNAL_PORT: '0' };

/** Variables that lead clients of PostgreSQL to another server, or to other settings. */
const otherServer = {
  PGHOST: 'db.example.com',
  PGHOSTADDR: '192.0.2.1',
  PGPORT: '1',
  PGUSER: 'other',
  PGPASSWORD: 'other',
  PGPASSFILE: '/nonexistent/pgpass',
  PGDATABASE: 'other',
  PGSERVICE: 'other',
  PGSERVICEFILE: '/nonexistent/service',
  PGDATA: '/nonexistent/data',
  PGSSLMODE: 'verify-full',
  PGSSLNEGOTIATION: 'direct',
  PGSSLROOTCERT: '/nonexistent/root.crt',
  PGREQUIRESSL: '1',
  PGGSSENCMODE: 'require',
  PGCHANNELBINDING: 'require',
  PGOPTIONS: '-c default_transaction_read_only=on -c search_path=nowhere',
  PGTZ: 'Asia/Kolkata',
  PGDATESTYLE: 'German',
  PGCLIENTENCODING: 'LATIN1',
  PGCLIENT_ENCODING: 'latin1',
  PGREPLICATION: 'database',
  PGTARGETSESSIONATTRS: 'read-only',
  PGCONNECT_TIMEOUT: '-1',
  TZ: 'Asia/Kolkata',
};

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'gateway-start-'));
  folders.push(path);
  return path;
}

const gateway = (environment: Record<string, string>, args: string[] = []) =>
  new Program('main.js', args, { ...ports, ...environment });
const cli = async (environment: Record<string, string>, ...args: string[]) => {
  const program = new Program('surfaces/cli/main.js', args, environment);
  const code = await program.ended;
  return { code, output: program.output, errors: program.errors };
};

afterAll(async () => {
  for (const program of running) program.signal('SIGTERM');
  await Promise.all([...running].map((program) => program.ended));
  await Promise.all(folders.map((path) => rm(path, { recursive: true, force: true })));
});

describe('a first start on nothing', () => {
  it('prints a line that creates an order, keeps its data over a restart, and shows secrets once', async () => {
    const DATA_DIR = await folder();
    const first = gateway({ DATA_DIR });
    const { rest } = await first.ready();
    // Six pools with a batch each: the other addresses are made during the first requests.
    expect(first.output).toContain('made 300 deposit addresses');
    expect(first.output.trimEnd().split('\n').at(-1)).toMatch(/^ready rest=\S+\/api\/v1 internal=\S+$/);
    const line = first.output.split('\n').find((text) => text.startsWith('curl ')) ?? '';
    const order = await new Promise<string>((resolve, reject) => {
      const shell = spawn('sh', ['-c', line], { stdio: ['ignore', 'pipe', 'inherit'] });
      let text = '';
      shell.stdout.on('data', (data) => {
        text += data;
      });
      shell.once('error', reject);
      shell.once('close', () => resolve(text));
    });
    const { id, status } = JSON.parse(order);
    expect(status).toBe('waiting_deposit');
    const key = /Bearer (\S+)'/.exec(line)?.[1] ?? '';
    for (const name of ['signer-seed', 'key-pepper']) expect((await stat(join(DATA_DIR, name))).mode & 0o077).toBe(0);

    first.signal('SIGTERM');
    expect(await first.ended).toBe(0);
    const second = gateway({ DATA_DIR });
    const again = await second.ready();
    expect(second.output).not.toMatch(/shown this once|curl/);
    const reply = await fetch(`${again.rest}/partner/orders/${id}`, { headers: { Authorization: `Bearer ${key}` } });
    expect(reply.status).toBe(200);
    expect(rest).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/api\/v1$/);
    expect(second.output + second.errors + first.errors).not.toContain(key);
    second.signal('SIGINT');
    expect(await second.ended).toBe(0);
  });

  it('is the same with variables of PostgreSQL in its shell, and so is the command line', async () => {
    const DATA_DIR = await folder();
    const shell = { DATA_DIR, ...otherServer };
    for (const _start of ['first', 'second']) {
      const program = gateway(shell);
      await program.ready();
      expect(await cli(shell, 'db', 'status', '--json')).toMatchObject({ code: 0, errors: '' });
      program.signal('SIGTERM');
      expect(await program.ended).toBe(0);
      expect(program.errors).toBe('');
    }
    expect(await cli(shell, 'db', 'status', '--json')).toMatchObject({ code: 0, errors: '' });
  });

  it('is not blocked by a gateway that was killed', async () => {
    const DATA_DIR = await folder();
    const first = gateway({ DATA_DIR });
    await first.ready();
    first.signal('SIGKILL');
    await first.ended;
    const second = gateway({ DATA_DIR });
    await second.ready();
    second.signal('SIGTERM');
    expect(await second.ended).toBe(0);
  });
});

describe('three processes that start at once on an empty database', () => {
  it('make one schema, one catalogue, one signer and one demo access', async () => {
    const database = await createDatabase('empty');
    const start = async () => {
      const DATA_DIR = await folder();
      // Redis is away, which no start needs; naming it makes the processes share their limits.
      const settings = { DATA_DIR, REDIS_URL: 'redis://127.0.0.1:1', KEY_PEPPER: 'p'.repeat(32) };
      return startGateway({ databaseUrl: database.url, embedded: false, settings });
    };
    const gateways = await Promise.all([start(), start(), start()]);
    expect(gateways.filter(({ app }) => app.demo !== null)).toHaveLength(1);
    const [counts] = await query(
      database.url,
      `select (select count(*) from partner)::int as partners, (select count(*) from staff_member)::int as staff,
              (select count(distinct signer) from deposit_account)::int as signers,
              (select count(*) from currency)::int as currencies`,
    );
    expect(counts).toEqual({ partners: 1, staff: 1, signers: 1, currencies: currencySeed.length });
    await Promise.all(gateways.map((each) => each.stop()));
    // One that lacks the newest migrations is not migrated behind an operator's back.
    await query(database.url, 'delete from migration');
    await expect(start()).rejects.toThrow('npm run -s cli -- db migrate');
    await database.drop();
  });
});

describe('a database that a checkout from before the release made', () => {
  const advice = 'set DATABASE_URL to another database, or drop this one';

  it('is refused by each start and each command, and is not changed', async () => {
    const database = await createDatabase('empty');
    await query(database.url, 'create table migration (id serial primary key, name text, executed_at timestamptz)');
    await query(database.url, `insert into migration (name) values ('0001-foundation'), ('0053-webhook-allowance')`);
    for (const ROLE of ['all', 'api', 'worker']) {
      const settings = { DATA_DIR: await folder(), ROLE, KEY_PEPPER: 'p'.repeat(32) };
      for (const embedded of [false, true]) {
        await expect(startGateway({ databaseUrl: database.url, embedded, settings })).rejects.toThrow(advice);
      }
    }
    const environment = { DATABASE_URL: database.url, DATA_DIR: await folder(), KEY_PEPPER: 'p'.repeat(32) };
    for (const command of ['db migrate', 'db seed', 'db status', 'db renumber', 'partner list', 'chain list']) {
      const { code, errors } = await cli(environment, ...command.split(' '));
      expect([command, code, errors]).toEqual([command, 1, expect.stringContaining(advice)]);
    }
    const tables = await query(database.url, `select from pg_tables where schemaname = 'public'`);
    expect(tables).toHaveLength(1);
    await database.drop();
  });

  it('is not one that a newer version has migrated', async () => {
    const database = await createDatabase();
    await query(database.url, `insert into migration (name, executed_at) values ('9999-newer', now())`);
    const gateway = await startGateway({ databaseUrl: database.url, embedded: false });
    expect(await query(database.url, `select from migration where name = '9999-newer'`)).toHaveLength(1);
    await gateway.stop();
    await database.drop();
  });
});

describe('an api process', () => {
  it('loads nothing that signs, settles, queues, trades or serves staff, until staff ask', async () => {
    const database = await createDatabase('empty');
    const DATA_DIR = await folder();
    const list = join(DATA_DIR, 'modules');
    const hook = `import { registerHooks } from 'node:module';
      import { appendFileSync } from 'node:fs';
      registerHooks({ load(url, context, next) {
        appendFileSync(${JSON.stringify(list)}, url + '\\n');
        return next(url, context);
      } });`;
    const process = gateway({
      DATA_DIR,
      DATABASE_URL: database.url,
      ROLE: 'api',
      REQUIRE_DURABLE_COMMITS: 'false',
      NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(hook)}`,
    });
    const loaded = async (pattern: RegExp) =>
      (await readFile(list, 'utf8')).split('\n').filter((url) => pattern.test(url));
    const { internal } = await process.ready();
    expect((await fetch(`${internal}/readyz`)).status).toBe(200);
    expect(await loaded(/node_modules\/pg\//)).not.toEqual([]);
    const ofWorkers =
      /node_modules\/(ccxt|viem|pg-boss|@scure\/btc-signer)\/|src\/(jobs\/job-queue|app\/(open-signing|open-settlement|open-payments|worker-tasks)|signer\/(local-signer|signer-keys)|db\/embedded\/)/;
    const ofStaff = /node_modules\/(express|openid-client|graphql|type-graphql|@apollo\/server)\//;
    const ofGraphql = /node_modules\/(graphql|type-graphql|@apollo\/server)\//;
    expect(await loaded(ofWorkers)).toEqual([]);
    expect(await loaded(ofStaff)).toEqual([]);

    expect((await fetch(`${internal}/sign-in`)).status).toBe(200);
    expect((await fetch(`${internal}/playground`, { redirect: 'manual' })).status).toBe(302);
    expect(await loaded(ofGraphql)).toEqual([]);
    expect((await fetch(`${internal}/graphql`, { method: 'POST' })).status).toBe(401);
    expect(await loaded(ofGraphql)).not.toEqual([]);
    expect(await loaded(ofWorkers)).toEqual([]);

    process.signal('SIGTERM');
    expect(await process.ended).toBe(0);
    await database.drop();
  });
});

describe('npm start', () => {
  it('passes SIGTERM on to the gateway, and ends with its exit code', async () => {
    const DATA_DIR = await folder();
    const child = spawn('npm', ['start'], {
      env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', ...ports, DATA_DIR, LOG_LEVEL: 'error' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = new Promise((resolve) => child.once('close', resolve));
    let output = '';
    child.stdout.on('data', (data) => {
      output += data;
    });
    for (let i = 0; i < 3_000 && !/^ready /m.test(output); i++) await sleep(50);
    const internal = /internal=(\S+)/.exec(output)?.[1] ?? '';
    expect((await fetch(`${internal}/readyz`)).status).toBe(200);
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
    await expect(fetch(`${internal}/livez`)).rejects.toThrow();
  });
});

describe('a start that cannot go on', () => {
  it('lists every wrong setting with a good value, and exits 1', async () => {
    const program = gateway({ PORT: 'http', ROLE: 'boss', RATE_LIMIT_PUBLIC_PER_MIN: '0' });
    expect(await program.ended).toBe(1);
    expect(program.errors).toMatch(/PORT='http'.*good value: 8080/);
    expect(program.errors).toMatch(/ROLE='boss'.*good value: all/);
    expect(program.errors).toMatch(/RATE_LIMIT_PUBLIC_PER_MIN='0'.*good value: 60/);
    expect(program.output).toBe('');
  });

  it.each([
    ['the gateway', 'main.js', []],
    ['the signer', 'signer-main.js', []],
    ['the command line', 'surfaces/cli/main.js', ['db', 'status']],
  ])('refuses each name of a constant, of %s, with all that is wrong', (_, script, args) => {
    const names = Object.keys(constants);
    const { PATH, HOME } = process.env;
    // As Compose, Kubernetes and systemd set them.
    const env = { PATH, HOME, PORT: 'x', ...Object.fromEntries(names.map((name) => [name, '1'])) };
    const { status, stdout, stderr } = spawnSync(process.execPath, [builtScript(script), ...args], { env });
    expect([status, String(stdout)]).toEqual([1, '']);
    const refused = [...String(stderr).matchAll(/^ {2}- (\w+) is not a setting: .* src\/config\/constants\.ts; /gm)];
    expect(refused.map(([, name]) => name)).toEqual(names);
    expect(String(stderr)).toContain("  - PORT='x' is not a whole number");
  });

  it('says what to do when a port is taken, the folder is in use, or PostgreSQL is away', async () => {
    const taken = createServer();
    const PORT = String(await listen(taken));
    const halfStarted = await folder();
    const blocked = gateway({ DATA_DIR: halfStarted, PORT });
    expect(await blocked.ended).toBe(1);
    expect(blocked.errors).toContain(`port ${PORT} is in use`);
    expect(blocked.output).not.toContain('shown this once');
    taken.close();
    // What is shown once is made last, so the start that failed has not used it up.
    const retried = gateway({ DATA_DIR: halfStarted });
    await retried.ready();
    expect(retried.output).toContain('demo partner key, shown this once: xp_test_');
    retried.signal('SIGTERM');
    await retried.ended;

    const DATA_DIR = await folder();
    const first = gateway({ DATA_DIR });
    await first.ready();
    const second = gateway({ DATA_DIR });
    expect(await second.ended).toBe(1);
    expect(second.errors).toContain('in use by another gateway');
    first.signal('SIGTERM');
    await first.ended;

    const away = gateway({ DATA_DIR: await folder(), DATABASE_URL: 'postgres://absent@127.0.0.1:1/none' });
    expect(await away.ended).toBe(1);
    expect(away.errors).toContain('PostgreSQL at DATABASE_URL cannot be reached');
  });

  it('refuses another pepper than the one that keys were hashed with', async () => {
    const DATA_DIR = await folder();
    const first = gateway({ DATA_DIR });
    await first.ready();
    first.signal('SIGTERM');
    await first.ended;
    const dropped = gateway({ DATA_DIR, KEY_PEPPER: `2:${'x'.repeat(32)}` });
    expect(await dropped.ended).toBe(1);
    expect(dropped.errors).toContain('KEY_PEPPER lacks version 1 (2 live keys, tokens and webhook secrets)');
    const second = gateway({ DATA_DIR, KEY_PEPPER: 'x'.repeat(32) });
    expect(await second.ended).toBe(1);
    expect(second.errors).toContain('is not the pepper that this database');
    await rm(join(DATA_DIR, 'key-pepper'));
    const third = gateway({ DATA_DIR });
    expect(await third.ended).toBe(1);
    expect(third.errors).toContain('set KEY_PEPPER to the one');
  });

  it('refuses to start when the seed for the deposits is missing', async () => {
    const DATA_DIR = await folder();
    const first = gateway({ DATA_DIR });
    await first.ready();
    first.signal('SIGTERM');
    await first.ended;
    await rm(join(DATA_DIR, 'signer-seed'));
    const second = gateway({ DATA_DIR });
    expect(await second.ended).toBe(1);
    expect(second.errors).toContain('signer-seed from a backup');
  });

  it('refuses a PostgreSQL that may forget commits', async () => {
    const program = gateway({ DATA_DIR: await folder(), DATABASE_URL: process.env.TEST_POSTGRES_URL ?? '' });
    expect(await program.ended).toBe(1);
    expect(program.errors).toContain('fsync=off');
  });
});

describe('the command line', () => {
  const jsonIn =
    (DATA_DIR: string) =>
    async (...args: string[]) => {
      const { code, output, errors } = await cli({ DATA_DIR }, ...args, '--json');
      expect({ code, errors }).toEqual({ code: 0, errors: '' });
      return JSON.parse(output);
    };

  it('works while a gateway runs, with one JSON object on standard output', async () => {
    const DATA_DIR = await folder();
    const program = gateway({ DATA_DIR });
    const { rest } = await program.ready();
    const json = jsonIn(DATA_DIR);
    const partner = await json('partner', 'create', '--name', 'Wallet');
    const issued = await json('partner', 'key', '--partner', partner.id);
    expect(issued.key.startsWith(`${issued.key_id}.`)).toBe(true);
    const orders = (key: string) => fetch(`${rest}/partner/orders/none`, { headers: { 'X-API-Key': key } });
    expect((await orders(issued.key)).status).toBe(404);

    await json('partner', 'set', '--partner', partner.id, '--status', 'inactive');
    const other = await json('partner', 'create', '--name', 'Shop');
    expect((await json('partner', 'list')).partners.map((row: { name: string }) => row.name)).toEqual([
      'Demo partner',
      'Wallet',
      'Shop',
    ]);
    await Promise.all(Array.from({ length: 5 }, () => json('partner', 'key', '--partner', other.id)));
    const sixth = await cli({ DATA_DIR }, 'partner', 'key', '--partner', other.id);
    expect([sixth.code, sixth.errors]).toEqual([1, 'the partner has 5 live keys already; revoke one first\n']);

    const { id, email, token } = await json('staff', 'create', '--email', 'Eve@Example.com', '--role', 'operator');
    expect([typeof id, email, token.startsWith('xs_')]).toEqual(['string', 'eve@example.com', true]);
  });

  it('works without a running gateway, on the embedded database', async () => {
    const DATA_DIR = await folder();
    const program = gateway({ DATA_DIR });
    await program.ready();
    program.signal('SIGTERM');
    await program.ended;

    const json = jsonIn(DATA_DIR);
    const partner = await json('partner', 'create', '--name', 'Wallet');
    const issued = await json('partner', 'key', '--partner', partner.id);
    const rolled = await json('partner', 'roll', '--key', issued.key_id, '--hours', '0');
    expect(rolled.key_id).not.toBe(issued.key_id);
    expect((await json('currency', 'set', '--coin', 'BTC', '--network', 'BTC', '--min', '0.5')).min_amount).toBe('0.5');
    expect(await json('db', 'status')).toEqual({ state: 'current' });
    const files = ['key-pepper', 'postgres', 'postgres-password', 'signer-journal', 'signer-seed'];
    expect((await readdir(DATA_DIR)).sort()).toEqual(files);
  });

  it('gives members roles and tokens, and leaves an admin', async () => {
    const database = await createDatabase();
    const environment = { DATABASE_URL: database.url, DATA_DIR: process.env.TEST_DATA_DIR ?? '' };
    const staff = async (...args: string[]) => JSON.parse((await cli(environment, 'staff', ...args, '--json')).output);
    try {
      const first = await staff('create', '--email', 'eve@example.com', '--role', 'operator');
      const next = await staff('token', '--email', 'Eve@example.com');
      expect([next.id, next.token.startsWith('xs_'), next.token === first.token]).toEqual([first.id, true, false]);
      expect((await staff('role', '--email', 'eve@example.com', '--role', 'admin')).role).toBe('admin');
      // The admin of the first start, of which there is one here too.
      expect((await staff('revoke', '--email', 'admin@example.com')).revoked_at).not.toBeNull();
      const refused = await cli(environment, 'staff', 'revoke', '--email', 'eve@example.com');
      expect([refused.code, refused.errors]).toEqual([
        1,
        'eve@example.com is the last admin; make another member an admin first\n',
      ]);
    } finally {
      await database.drop();
    }
  });

  it('explains itself, and says what is wrong', async () => {
    const help = await cli({}, '--help');
    expect(help.code).toBe(0);
    for (const group of ['db', 'partner', 'staff', 'currency']) expect(help.output).toContain(group);
    expect((await cli({}, 'partner', 'create')).errors).toContain('--name');
    expect((await cli({}, 'staff', 'create', '--email', 'a@b.c', '--role', 'boss')).errors).toContain(
      'viewer, support, operator, admin',
    );
    expect((await cli({}, 'partner', 'key', '--partner', 'x', '--cidrs', '')).errors).toContain('without empty parts');
    const empty = await cli({ DATA_DIR: await folder() }, 'partner', 'list');
    expect([empty.code, empty.errors.includes('db migrate')]).toEqual([1, true]);
  });
});
