import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Document } from 'openapi-backend';
import { AppError } from '../errors.ts';
import type { Answer } from './answer.ts';
import type { Handler } from './api.ts';
import { CachedBytes } from './cached-bytes.ts';
import type { Call } from './call.ts';
import { apiRoot } from './contract.ts';

/** GET /openapi.json: the contract of the package. */
export function getDocumentHandler(document: Document): Handler<'getDocument'> {
  const bytes = new CachedBytes(JSON.stringify(document));
  return ({ call }) => bytes.answer(call, { 'Cache-Control': 'public, max-age=300' });
}

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Exchange Partner API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${apiRoot}/docs/swagger-ui.css">
</head>
<body>
<div id="docs"></div>
<script src="${apiRoot}/docs/swagger-ui-bundle.js"></script>
<script src="${apiRoot}/docs/start.js"></script>
</body>
</html>
`;

const start = `SwaggerUIBundle({
  url: '${apiRoot}/openapi.json',
  dom_id: '#docs',
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  validatorUrl: null,
});
`;

const headers = {
  'Cache-Control': 'public, max-age=300',
  'Referrer-Policy': 'no-referrer',
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
};

/** Reads a file of the packaged viewer on its first request. It is large and seldom requested. */
function vendored(name: string): () => Promise<Buffer> {
  const path = createRequire(import.meta.url).resolve(`swagger-ui-dist/${name}`);
  return () => readFile(path);
}

/** The files that were requested. They change only with the package. */
const requested = new Map<string, CachedBytes>();

const files: Record<string, { type: string; content: () => string | Promise<Buffer> }> = {
  '': { type: 'text/html; charset=utf-8', content: () => page },
  '/start.js': { type: 'text/javascript; charset=utf-8', content: () => start },
  '/swagger-ui.css': { type: 'text/css; charset=utf-8', content: vendored('swagger-ui.css') },
  '/swagger-ui-bundle.js': { type: 'text/javascript; charset=utf-8', content: vendored('swagger-ui-bundle.js') },
};

const docsRoot = `${apiRoot}/docs`;

/** Whether a path belongs to the rendered contract. */
export function isDocs({ path }: Call): boolean {
  return path.startsWith(docsRoot);
}

/**
 * Answers /api/v1/docs, the rendered contract; null where there is none of its files. Every byte
 * comes from this package, and the page may load nothing else.
 */
export async function docsAnswer(call: Call): Promise<Answer | null> {
  const name = call.path.slice(docsRoot.length).replace(/\/$/, '');
  const file = Object.hasOwn(files, name) ? files[name] : undefined;
  if (!file) return null;
  call.route = docsRoot;
  if (call.method !== 'GET' && call.method !== 'HEAD') {
    const allow = ['GET', 'HEAD'];
    throw new AppError('method_not_allowed', `${call.method} is not supported here; use GET`, { allow });
  }
  const bytes = requested.get(name) ?? new CachedBytes(await file.content());
  requested.set(name, bytes);
  const answer = bytes.answer(call, headers);
  return answer.status === 304 ? answer : { ...answer, type: file.type };
}
