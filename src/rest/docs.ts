import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Router } from 'express';
import type { Document } from 'openapi-backend';
import { apiRoot, type Handler } from './api.ts';
import { matchesEtag } from './etag.ts';

/** GET /openapi.json: the contract as it stands in the package. */
export function getDocumentHandler(document: Document): Handler<'getDocument'> {
  const body = JSON.stringify(document);
  const etag = `"${createHash('sha256').update(body).digest('hex').slice(0, 32)}"`;
  return ({ headers }) => {
    const cache = { ETag: etag, 'Cache-Control': 'public, max-age=300' };
    if (matchesEtag(headers['if-none-match'], etag)) return { status: 304, headers: cache };
    return { status: 200, body, headers: cache };
  };
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

/** The rendered contract at /api/v1/docs: every byte comes from this package, and the page may load nothing else. */
export function docsRouter(): Router {
  const require = createRequire(import.meta.url);
  const vendored = (name: string): Buffer => readFileSync(require.resolve(`swagger-ui-dist/${name}`));
  const files: Record<string, { type: string; content: Buffer | string }> = {
    '/': { type: 'text/html', content: page },
    '/start.js': { type: 'text/javascript', content: start },
    '/swagger-ui.css': { type: 'text/css', content: vendored('swagger-ui.css') },
    '/swagger-ui-bundle.js': { type: 'text/javascript', content: vendored('swagger-ui-bundle.js') },
  };
  const router = Router();
  for (const [path, { type, content }] of Object.entries(files)) {
    router.get(path, (_req, res) => {
      res.locals.state.route = `${apiRoot}/docs`;
      res.set('Cache-Control', 'public, max-age=300');
      res.set('Referrer-Policy', 'no-referrer');
      res.set(
        'Content-Security-Policy',
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      );
      res.type(type).send(content);
    });
  }
  return router;
}
