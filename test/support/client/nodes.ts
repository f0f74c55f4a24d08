import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

/** A version of Node that the client is tested on. */
export interface NodeVersion {
  readonly major: string;
  readonly binary: string;
}

const folder = resolve('tools/nodes');
const wanted = Object.entries(
  (JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { optionalDependencies: Record<string, string> })
    .optionalDependencies,
);

/**
 * The versions of Node that the client is tested on: our own, and those of tools/nodes, which npm
 * installs there when they are missing. Throws without them where CI requires them. Elsewhere they
 * are left out, and the reason is printed.
 */
export async function nodeVersions(): Promise<NodeVersion[]> {
  const own = { major: process.versions.node.split('.')[0] ?? '', binary: process.execPath };
  const here = wanted.filter(([name]) => name.endsWith(`-${process.platform}-${process.arch}`));
  const others = here.map(([name]) => ({
    major: name.split('-')[1] ?? '',
    binary: join(folder, 'node_modules', name, 'bin/node'),
  }));
  const isThere = here.length > 0;
  const problem = isThere ? await installed(here, others) : 'npm has no other versions for this machine';
  if (problem === null) return [...others, own];
  if (process.env.CI_NODES === 'required' && isThere) throw new Error(problem);
  process.stderr.write(`\nThe client is tested on Node ${own.major} only: ${problem}\n\n`);
  return [own];
}

/** Installs missing or outdated versions, with their checksums. Returns what stands against it. */
async function installed(here: typeof wanted, nodes: readonly NodeVersion[]): Promise<string | null> {
  const run = promisify(execFile);
  const areCurrent = async (): Promise<boolean> => {
    if (!nodes.every(({ binary }) => existsSync(binary))) return false;
    const printed = await Promise.all(nodes.map(({ binary }) => run(binary, ['--version'])));
    return printed.every(({ stdout }, i) => here[i]?.[1].endsWith(`@${stdout.trim().slice(1)}`));
  };
  if (await areCurrent()) return null;
  try {
    await run('npm', ['ci', '--prefix', '.', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: folder });
  } catch (error) {
    return `npm cannot install tools/nodes: ${(error as Error).message.trim().split('\n').at(-1)}`;
  }
  return (await areCurrent()) ? null : 'tools/nodes has other versions than its package.json names';
}
