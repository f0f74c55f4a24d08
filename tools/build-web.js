// Bundles the pages for people, and only what changed since the last build. Compresses each file in
// advance, because the server compresses nothing. Usage: node tools/build-web.js
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  mkdtempSync,
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

const here = fileURLToPath(new URL('..', import.meta.url));
/** Each surface is a folder of web with an index.html, and so is the playground. */
const surfaces = ['console', 'cabinet'];
/** Smaller files are served as they are. */
const leastBytes = 1_024;
const recordName = '.build.json';

/** Why there is no build. */
export class WebBuildError extends Error {}

/** Paths of the files below a folder. Skipped folders are not read. */
function filesBelow(folder, isSkipped = () => false) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (!entry.isDirectory()) return entry.isFile() ? [path] : [];
    return isSkipped(entry.name) ? [] : filesBelow(path, isSkipped);
  });
}

/** Names and contents of files below a folder, as one hash. */
function hashOf(folder, paths) {
  const digest = createHash('sha256');
  for (const path of paths.sort()) {
    digest
      .update(`${path.slice(folder.length)}\0`)
      .update(readFileSync(path))
      .update('\0');
  }
  return digest.digest('base64url');
}

/** The sources. Folders of other builds come and go meanwhile, so they are not even read. */
function inputs(root) {
  const web = join(root, 'web');
  const isSkipped = (name) => name === 'node_modules' || name === 'dist' || name.startsWith('.building-');
  const digest = createHash('sha256').update(hashOf(web, filesBelow(web, isSkipped)));
  digest.update(readFileSync(join(root, 'package-lock.json')));
  return digest.update(readFileSync(fileURLToPath(import.meta.url))).digest('base64url');
}

function outputs(dist) {
  return hashOf(
    dist,
    filesBelow(dist).filter((path) => path !== join(dist, recordName)),
  );
}

/** Whether the bundles are whole and of these sources. Another build may be replacing them. */
function isCurrent(dist, wanted) {
  try {
    const record = JSON.parse(readFileSync(join(dist, recordName), 'utf8'));
    return record.inputs === wanted && record.outputs === outputs(dist);
  } catch {
    return false;
  }
}

/**
 * Takes the playground as it is: tools/playground.js has copied its packages. The page names the
 * hash of all its files, so that a cached script is never older than the page.
 */
function copyPlayground(from, to) {
  const isServed = (path) => !/(?:package|package-lock|record)\.json$|node_modules$/.test(path);
  cpSync(from, to, { recursive: true, filter: (path) => isServed(path) && path !== join(from, 'packaged') });
  cpSync(join(from, 'packaged'), to, { recursive: true, filter: isServed });
  const release = hashOf(to, filesBelow(to)).slice(0, 16);
  const page = readFileSync(join(to, 'index.html'), 'utf8');
  const named = page.replaceAll(/"(\/playground\/[\w-]+\.(?:js|css))"/g, `"$1?release=${release}"`);
  writeFileSync(join(to, 'index.html'), named);
  writeFileSync(join(to, 'addresses.json'), '[]');
}

/** Writes a gzip and a brotli form next to each file that gains by it. */
function compress(folder) {
  for (const path of filesBelow(folder)) {
    if (!/\.(?:js|css|svg|md)$/.test(path)) continue;
    const content = readFileSync(path);
    if (content.length < leastBytes) continue;
    writeFileSync(`${path}.gz`, gzipSync(content, { level: 9 }));
    writeFileSync(`${path}.br`, brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }));
  }
}

/**
 * Puts a whole build in the place of the last one. Builds at the same time each have a folder of
 * their own. The first one stays where it is of the same sources, so that a gateway may read it.
 */
function replace(building, dist, wanted) {
  for (let tries = 0; !isCurrent(dist, wanted); tries++) {
    try {
      renameSync(dist, `${building}.old`);
    } catch (error) {
      if (error.code !== 'ENOENT') throw error;
    }
    try {
      renameSync(building, dist);
      return;
    } catch (error) {
      // Another build was faster.
      if (tries === 10 || !['ENOTEMPTY', 'EEXIST'].includes(error.code)) throw error;
    } finally {
      rmSync(`${building}.old`, { recursive: true, force: true });
    }
  }
}

/**
 * Brings web/dist up to date with web. Returns 'current' when there was nothing to do, otherwise
 * 'built'. The new files replace the old ones at once, so that a gateway never sees half of them.
 * Builds may run at the same time. Throws a WebBuildError.
 */
export async function buildWeb(root = here) {
  const web = join(root, 'web');
  const dist = join(web, 'dist');
  const before = inputs(root);
  if (isCurrent(dist, before)) return 'current';
  const vite = await import('vite').catch(() => {
    throw new WebBuildError('the bundler is not installed; run: npm ci');
  });
  // The bundler would put development code into the pages under any other name.
  process.env.NODE_ENV = 'production';
  const building = mkdtempSync(join(web, '.building-'));
  try {
    for (const surface of surfaces) {
      await vite.build({
        root: join(web, surface),
        base: `/${surface}/`,
        configFile: join(web, 'vite.config.ts'),
        // Another loader writes a file next to the sources. A build at the same time would read it.
        configLoader: 'runner',
        logLevel: 'warn',
        build: { outDir: join(building, surface) },
      });
    }
    copyPlayground(join(web, 'playground'), join(building, 'playground'));
    compress(building);
    chmodSync(building, 0o755);
    writeFileSync(join(building, recordName), JSON.stringify({ inputs: before, outputs: outputs(building) }));
    replace(building, dist, before);
  } finally {
    rmSync(building, { recursive: true, force: true });
  }
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
