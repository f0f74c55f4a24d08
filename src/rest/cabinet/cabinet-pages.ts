import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AppError } from '../../errors.ts';
import type { Answer } from '../answer.ts';
import { CachedBytes } from '../cached-bytes.ts';
import type { Call } from '../call.ts';

/** The bundled pages, where tools/build-web.js puts them. */
const bundle = fileURLToPath(new URL('../../../web/dist/cabinet', import.meta.url));

const root = '/cabinet';

const types: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.md': 'text/markdown; charset=utf-8',
};

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

/** Addresses of pages have letters only, and one id. All else below is no page. */
const page = /^(?:\/[a-z-]{1,30}(?:\/[\w-]{1,64})?)?\/?$/;

/**
 * Makes the function that answers the pages of the cabinet and their files. They hold no data, so
 * everyone may have them. They are read from the package when the first is asked for.
 *
 * @throws AppError not_found, method_not_allowed; unavailable when the pages were not bundled.
 */
export function cabinetPages(): (call: Call) => Answer {
  let files: ReadonlyMap<string, { readonly type: string; readonly bytes: CachedBytes }> | null = null;
  return (call) => {
    call.route = root;
    if (call.method !== 'GET' && call.method !== 'HEAD') {
      const allow = ['GET', 'HEAD'];
      throw new AppError('method_not_allowed', `${call.method} is not supported here; use GET`, { allow });
    }
    files ??= readBundle();
    const below = call.path.slice(root.length);
    const file = files.get(below);
    const found = file ?? (page.test(below) ? files.get('/index.html') : undefined);
    if (!found) throw new AppError('not_found', 'there is nothing at this path');
    // The name of a file has a hash of its content; the page names the files of this version.
    const caching = file ? 'public, max-age=31536000, immutable' : 'no-cache';
    const answer = found.bytes.answer(call, {
      'Cache-Control': caching,
      'Content-Security-Policy': policy,
      'Referrer-Policy': 'no-referrer',
      // A page of another site that opens this one, or loads a part of it, learns nothing from it.
      'Cross-Origin-Opener-Policy': 'same-origin',
      'Cross-Origin-Resource-Policy': 'same-origin',
    });
    return answer.status === 304 ? answer : { ...answer, type: found.type };
  };
}

function readBundle(): Map<string, { type: string; bytes: CachedBytes }> {
  if (!existsSync(join(bundle, 'index.html'))) {
    throw new AppError('unavailable', 'the pages of the cabinet are not built; run: npm run build');
  }
  const files = new Map<string, { type: string; bytes: CachedBytes }>();
  for (const entry of readdirSync(bundle, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const isPage = entry.name === 'index.html';
    const type = isPage ? 'text/html; charset=utf-8' : types[extname(entry.name)];
    if (!entry.isFile() || type === undefined) continue;
    files.set(`/${relative(bundle, path)}`, { type, bytes: new CachedBytes(readFileSync(path)) });
  }
  return files;
}
