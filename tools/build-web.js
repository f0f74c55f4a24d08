// Bundles the pages for people, and only what changed since the last build. Compresses each file in
// advance, because the server compresses nothing. Usage: node tools/build-web.js
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const root = fileURLToPath(new URL('..', import.meta.url));
const web = join(root, 'web');
/** Each surface is a folder of web with an index.html. */
const surfaces = ['console', 'cabinet'];
/** Smaller files are served as they are. */
const leastBytes = 1_024;

/** Why there is no build. */
export class WebBuildError extends Error {}

/** Names and contents of the files below a folder, as one hash. */
function hashOf(folder, isWanted) {
  const digest = createHash('sha256');
  const names = existsSync(folder) ? readdirSync(folder, { recursive: true, withFileTypes: true }) : [];
  const paths = names.filter((name) => name.isFile()).map((name) => join(name.parentPath, name.name));
  for (const path of paths.filter(isWanted).sort()) {
    digest
      .update(`${path.slice(folder.length)}\0`)
      .update(readFileSync(path))
      .update('\0');
  }
  return digest.digest('base64url');
}

function inputs() {
  const isSource = (path) => !/\/(?:node_modules|dist|\.building-\d+)\//.test(path);
  const digest = createHash('sha256').update(hashOf(web, isSource));
  for (const path of ['package-lock.json', 'tools/build-web.js']) digest.update(readFileSync(join(root, path)));
  return digest.digest('base64url');
}

function outputs() {
  return hashOf(join(web, 'dist'), (path) => !path.endsWith('.build.json'));
}

function record() {
  try {
    return JSON.parse(readFileSync(join(web, 'dist/.build.json'), 'utf8'));
  } catch {
    return null;
  }
}

/** Writes a gzip and a brotli form beside each file that gains by it. */
function compress(folder) {
  for (const name of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(name.parentPath, name.name);
    if (!name.isFile() || !/\.(?:js|css|svg|md)$/.test(path)) continue;
    const content = readFileSync(path);
    if (content.length < leastBytes) continue;
    writeFileSync(`${path}.gz`, gzipSync(content, { level: 9 }));
    writeFileSync(`${path}.br`, brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }));
  }
}

/**
 * Brings web/dist up to date with web. Returns 'current' when there was nothing to do, otherwise
 * 'built'. The new files replace the old ones at once, so that a gateway never sees half of them.
 * Throws a WebBuildError.
 */
export async function buildWeb() {
  const before = inputs();
  const last = record();
  if (last !== null && last.inputs === before && last.outputs === outputs()) return 'current';
  const vite = await import('vite').catch(() => {
    throw new WebBuildError('the bundler is not installed; run: npm ci');
  });
  // The bundler would put development code into the pages under any other name.
  process.env.NODE_ENV = 'production';
  const building = join(web, `.building-${process.pid}`);
  rmSync(building, { recursive: true, force: true });
  mkdirSync(building);
  try {
    for (const surface of surfaces) {
      await vite.build({
        root: join(web, surface),
        base: `/${surface}/`,
        configFile: join(web, 'vite.config.ts'),
        logLevel: 'warn',
        build: { outDir: join(building, surface) },
      });
    }
    compress(building);
    rmSync(join(web, 'dist'), { recursive: true, force: true });
    renameSync(building, join(web, 'dist'));
  } finally {
    rmSync(building, { recursive: true, force: true });
  }
  writeFileSync(join(web, 'dist/.build.json'), JSON.stringify({ inputs: before, outputs: outputs() }));
  return 'built';
}

/** Bundles, or ends the process with 1. */
export async function buildWebOrExit() {
  try {
    await buildWeb();
  } catch (error) {
    console.error(error instanceof WebBuildError ? error.message : error);
    process.exit(1);
  }
}

if (import.meta.url === pathToFileURL(realpathSync(process.argv[1])).href) await buildWebOrExit();
