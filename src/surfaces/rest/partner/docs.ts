import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Document } from 'openapi-backend';
import { AppError } from '../../../base/errors.ts';
import { type Answer, jsonType } from '../api/answer.ts';
import { CachedBytes } from '../api/cached-bytes.ts';
import type { Call } from '../api/call.ts';
import { apiRoot, sharedContract } from './contract.ts';
import { openScript, pageScript, pageStyle, startScript } from './docs-assets.ts';
import { docsRoot, guidePages, guideSources, llmsText, referencePage } from './docs-pages.ts';
import type { Handler } from './handler.ts';
import { postmanCollection } from './postman.ts';

/** GET /openapi.json: the contract of the package. */
export function getDocumentHandler(document: Document): Handler<'getDocument'> {
  const bytes = new CachedBytes(JSON.stringify(document));
  return ({ call }) => bytes.answer(call, { 'Cache-Control': 'public, max-age=300' });
}

const headers = {
  'Cache-Control': 'public, max-age=300',
  'Referrer-Policy': 'no-referrer',
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
};

/** Reads a file of the packaged viewer on its first request. It is large and seldom requested. */
function vendored(name: string): () => Promise<Buffer> {
  const path = createRequire(import.meta.url).resolve(`swagger-ui-dist/${name}`);
  return () => readFile(path);
}

interface File {
  readonly type: string;
  readonly content: () => string | Promise<Buffer>;
}

const file = (type: string, content: string | File['content']): File => ({
  type: `${type}; charset=utf-8`,
  content: typeof content === 'string' ? () => content : content,
});

/** Every file of the documentation by its path. */
const files: ReadonlyMap<string, File> = new Map([
  [docsRoot, file('text/html', () => referencePage(sharedContract()))],
  [`${docsRoot}/page.css`, file('text/css', pageStyle)],
  [`${docsRoot}/start.js`, file('text/javascript', startScript)],
  [`${docsRoot}/page.js`, file('text/javascript', pageScript)],
  [`${docsRoot}/open.js`, file('text/javascript', openScript)],
  [`${docsRoot}/swagger-ui.css`, file('text/css', vendored('swagger-ui.css'))],
  [`${docsRoot}/swagger-ui-bundle.js`, file('text/javascript', vendored('swagger-ui-bundle.js'))],
  [
    `${docsRoot}/postman.json`,
    { type: jsonType, content: () => JSON.stringify(postmanCollection(sharedContract()), null, 2) },
  ],
  [`${apiRoot}/llms.txt`, file('text/plain', llmsText)],
  ...[...guidePages].map(([path, page]) => [`${docsRoot}${path}`, file('text/html', page)] as const),
  ...[...guideSources].map(([path, source]) => [`${docsRoot}${path}`, file('text/markdown', source)] as const),
]);

/** The files that were requested. They change only with the package. */
const requested = new Map<string, CachedBytes>();

/** Whether a path may be a file of the documentation. */
export function isDocs({ path }: Call): boolean {
  return path.startsWith(docsRoot) || path === `${apiRoot}/llms.txt`;
}

/**
 * Answers the documentation below /api/v1/docs, and /api/v1/llms.txt; null where there is no such
 * file. Every byte comes from this package, and the pages may load nothing else.
 */
export async function docsAnswer(call: Call): Promise<Answer | null> {
  const path = call.path.replace(/\/$/, '');
  const found = files.get(path);
  if (!found) return null;
  call.route = docsRoot;
  if (call.method !== 'GET' && call.method !== 'HEAD') {
    const allow = ['GET', 'HEAD'];
    throw new AppError('method_not_allowed', `${call.method} is not supported here; use GET`, { allow });
  }
  const bytes = requested.get(path) ?? new CachedBytes(await found.content());
  requested.set(path, bytes);
  const answer = bytes.answer(call, headers);
  return answer.status === 304 ? answer : { ...answer, type: found.type };
}
