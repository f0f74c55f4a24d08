// Compiles src to dist and bundles web to web/dist, and only what changed since the last build.
// Usage: npm run build
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildWebOrExit } from './build-web.js';

const here = fileURLToPath(new URL('..', import.meta.url));
const compiler = join(here, 'node_modules/typescript');

/** Hashes of the files below a folder with one of the endings, by path. */
function hashes(folder, ...endings) {
  const names = existsSync(folder) ? readdirSync(folder, { recursive: true }) : [];
  const files = names.filter((name) => endings.some((ending) => name.endsWith(ending))).sort();
  return Object.fromEntries(files.map((name) => [name, hash(join(folder, name))]));
}

function hash(path) {
  return createHash('sha256').update(readFileSync(path)).digest('base64url');
}

function same(a, b) {
  return JSON.stringify(a) === JSON.stringify(b);
}

/**
 * Brings dist up to date with src. Returns 'current' when there was nothing to do, otherwise
 * 'built'. The record of the last build holds the content of every source and output, so that the
 * times of files do not matter. A checkout, a copy, a deleted or damaged output and a removed
 * source are all seen. Throws a BuildError.
 */
export function build(root = here) {
  if (!existsSync(compiler)) throw new BuildError('the compiler is not installed; run: npm ci');
  const dist = join(root, 'dist');
  const recordPath = join(dist, '.build.json');
  const compilerState = join(dist, '.tsbuildinfo');
  const inputs = () => ({
    sources: hashes(join(root, 'src'), '.ts'),
    settings: hash(join(root, 'tsconfig.json')),
    compiler: hash(join(compiler, 'package.json')),
  });
  const outputs = () => hashes(dist, '.js', '.js.map');
  const before = inputs();
  const record = existsSync(recordPath) ? parsed(readFileSync(recordPath, 'utf8')) : null;
  const hasItsOutputs = record !== null && same(record.outputs, outputs());
  if (hasItsOutputs && same(record.inputs, before)) return 'current';

  rmSync(recordPath, { force: true });
  // The compiler does not check its earlier outputs.
  if (!hasItsOutputs) rmSync(compilerState, { force: true });
  const args = [join(compiler, 'bin/tsc'), '-p', root, '--incremental', '--tsBuildInfoFile', compilerState];
  const { status, error } = spawnSync(process.execPath, args, { stdio: 'inherit' });
  if (error) throw error;
  if (status !== 0) throw new BuildError('src does not compile');
  removeOthers(dist, Object.keys(before.sources));
  mkdirSync(dist, { recursive: true });
  // A separate file for each process: builds at the same time each write a complete record.
  const own = `${recordPath}.${process.pid}`;
  writeFileSync(own, JSON.stringify({ inputs: before, outputs: outputs() }));
  renameSync(own, recordPath);
  return 'built';
}

/** Why there is no build. The compiler has printed its errors before. */
export class BuildError extends Error {}

/** A record that cannot be read counts as none. */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Removes outputs of deleted sources, and empty folders. */
function removeOthers(dist, sources) {
  const wanted = new Set(sources.flatMap((name) => [name.replace(/ts$/, 'js'), name.replace(/ts$/, 'js.map')]));
  for (const name of Object.keys(hashes(dist, '.js', '.js.map'))) {
    if (wanted.has(name)) continue;
    rmSync(join(dist, name));
    for (let folder = dirname(name); folder !== '.'; folder = dirname(folder)) {
      if (readdirSync(join(dist, folder)).length > 0) break;
      rmdirSync(join(dist, folder));
    }
  }
}

/** Builds, or ends the process with 1. */
export function buildOrExit() {
  try {
    build();
  } catch (error) {
    if (!(error instanceof BuildError)) throw error;
    console.error(error.message);
    process.exit(1);
  }
}

if (realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  buildOrExit();
  await buildWebOrExit();
}
