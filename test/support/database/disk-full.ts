import { execFileSync } from 'node:child_process';
import { chmod, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type FaultRow, findUnreadable, problemsOf, within } from '../faults/fault-run.ts';
import { MixedLoad } from '../faults/mixed-load.ts';
import { BuiltProcess, runBuilt } from '../gateway/built-process.ts';
import { loadSettings } from '../gateway/settings.ts';
import { freePort } from '../http/local-server.ts';

const diskMb = 320;
const fullMs = 15_000;
const recoveryMs = 60_000;

/** A separate file system on a folder, which takes root; why there is none. */
function mountOn(folder: string): string | null {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${diskMb}m,mode=711`, 'tmpfs', folder], { stdio: 'pipe' });
    return null;
  } catch (error) {
    return `a file system of its own could not be mounted: ${String((error as { stderr?: Buffer }).stderr).trim()}`;
  }
}

/** Takes all room that is left. */
async function fill(file: string): Promise<void> {
  const handle = await open(file, 'w');
  try {
    for (let size = 1 << 20; size >= 4096; ) {
      await handle.write(Buffer.alloc(size)).catch(() => {
        size /= 2;
      });
    }
  } finally {
    await handle.close();
  }
}

/**
 * Fills the disk of an embedded database under load. When PostgreSQL gives up, the gateway ends,
 * and is started again as a service manager does. Returns why it could not be tried where that is
 * so.
 */
export async function runDiskFull(seed: number, keep: boolean): Promise<FaultRow | string> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-disk-full-'));
  await chmod(folder, 0o711);
  const why = mountOn(folder);
  if (why !== null) {
    await rm(folder, { recursive: true });
    return why;
  }
  const logs = await mkdtemp(join(tmpdir(), 'gateway-disk-full-log-'));
  const settings = {
    DATA_DIR: join(folder, 'data'),
    PORT: String(await freePort()),
    INTERNAL_PORT: String(await freePort()),
    ...loadSettings,
    LOG_LEVEL: 'warn',
  };
  const gateway = new BuiltProcess({
    script: 'main.js',
    name: 'gateway',
    folder: logs,
    settings,
    ready: /^ready .*$/m,
  });
  try {
    const output = await gateway.ready();
    const found = (pattern: RegExp): string => pattern.exec(output)?.[1] ?? '';
    const target = {
      restUrl: found(/^ready rest=(\S+)\/api\/v1 /m),
      internalUrl: found(/^ready .*internal=(\S+)$/m),
      partnerKey: found(/^demo partner key, shown this once: (\S+)$/m),
      staffToken: found(/^staff token of .*: (\S+)$/m),
      deposit: () => Promise.reject(new Error('deposits are not supported here')),
    };
    const load = new MixedLoad(target, { seed, clients: 8, pauseMs: 60, paidShare: 0 });
    load.start();
    await sleep(1_500);
    const problems = problemsOf(load.takeSeen(), { refused: 'none' });
    const ballast = join(folder, 'ballast');
    await fill(ballast);
    await sleep(fullMs);
    await rm(ballast);
    const mended = performance.now();
    let starts = 0;
    const isAnswering = async (): Promise<boolean> => {
      if (!gateway.isRunning) {
        starts += 1;
        gateway.start();
        await gateway.ready();
      }
      return (await load.createOne()) === 201;
    };
    if (!(await within(recoveryMs, isAnswering))) problems.push(`no order was made within ${recoveryMs / 1000} s`);
    const answeredAfterMs = performance.now() - mended;
    const seen = load.takeSeen();
    await sleep(1_500);
    await load.stop();
    problems.push(...problemsOf(seen, { refused: 'orders', mayEnd: starts > 0 }));
    problems.push(...problemsOf(load.takeSeen(), { refused: 'none' }));
    problems.push(...load.problems, ...(await findUnreadable(target, load)));
    const { code, output: said } = await runBuilt('surfaces/cli/main.js', ['ledger', 'reconcile'], {
      folder: logs,
      settings,
    });
    if (code !== 0) problems.push(`reconcile ended with ${code}: ${said}`);
    return {
      name: 'disk-full',
      requests: seen.requests,
      outcomes: { ...seen.counts(), ...(starts > 0 ? { 'ended and started': starts } : {}) },
      worstMs: Math.round(Math.max(0, ...seen.latenciesMs)),
      refusedMs: seen.refusedMs,
      acknowledged: load.acknowledged.size,
      paid: 0,
      answeredAfterMs,
      settledAfterMs: answeredAfterMs,
      problems,
    };
  } finally {
    await gateway.end('SIGTERM');
    execFileSync('umount', [folder]);
    await rm(folder, { recursive: true });
    if (keep) process.stderr.write(`the log stays in ${logs}\n`);
    else await rm(logs, { recursive: true });
  }
}
