import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { type NextFunction, type Request, type Response, Router } from 'express';
import type { StaffAuthenticator, StaffCaller } from '../../accounts/staff/staff-authenticator.ts';
import { systemClock } from '../../base/clock.ts';
import { exampleQueries } from './example-queries.ts';
import { continuePage, escapeHtml, pagePolicy } from './page.ts';
import { playgroundBoot, playgroundStyle } from './playground-boot.ts';
import { staffCaller } from './staff-caller.ts';

/** Allows requests to this gateway only. GraphiQL's editor writes inline styles into the page. */
const playgroundPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

interface Asset {
  readonly type: 'text/javascript' | 'text/css';
  readonly content: Buffer | string;
}

interface Assets {
  readonly files: ReadonlyMap<string, Asset>;
  /** A hash of the files' content. */
  readonly release: string;
}

/**
 * Serves GraphiQL to staff with a session, from files of this package only. It works without the
 * internet.
 */
export function playgroundRouter(authenticator: StaffAuthenticator): Router {
  const router = Router();

  router.use(async (req: Request, res: Response, next: NextFunction) => {
    const caller = await staffCaller(req, authenticator);
    if (caller) {
      res.locals.caller = caller;
      next();
    } else if (['cross-site', 'same-site'].includes(req.get('sec-fetch-site') ?? '')) {
      // A link from another site brings the browser here without its strict cookie, although its
      // session is valid.
      res.set('Content-Security-Policy', pagePolicy).type('html').send(continuePage('/playground'));
    } else {
      res.redirect(302, '/sign-in?return_to=/playground');
    }
  });

  // Loaded when the page is first opened: most processes never need these megabytes.
  let known: Assets | undefined;
  const assets = (): Assets => {
    known ??= readAssets();
    return known;
  };

  router.get('/', (_req, res) => {
    res.set('Content-Security-Policy', playgroundPolicy).type('html');
    res.send(playgroundPage(res.locals.caller as StaffCaller, assets().release));
  });

  router.get('/:name', (req, res, next) => {
    const { files, release } = assets();
    const asset = files.get(req.params.name);
    if (!asset) {
      next();
      return;
    }
    // The page names its release, so a cached script is never older than the page.
    if (req.query.release === release) res.set('Cache-Control', 'private, max-age=31536000, immutable');
    res.type(asset.type).send(asset.content);
  });
  return router;
}

function readAssets(): Assets {
  const files = readFiles();
  const digest = createHash('sha256');
  for (const { content } of files.values()) digest.update(content);
  return { files, release: digest.digest('hex').slice(0, 16) };
}

function readFiles(): ReadonlyMap<string, Asset> {
  const require = createRequire(import.meta.url);
  // The packages do not export these files, so they are found beside each package.json.
  const vendored = (from: string, file: string) =>
    readFileSync(join(dirname(require.resolve(`${from}/package.json`)), file));
  const script = (content: Buffer | string): Asset => ({ type: 'text/javascript', content });
  const style = (content: Buffer | string): Asset => ({ type: 'text/css', content });
  return new Map([
    ['graphiql.css', style(vendored('graphiql', 'graphiql.min.css'))],
    ['playground.css', style(playgroundStyle)],
    ['react.js', script(vendored('react', 'umd/react.production.min.js'))],
    ['react-dom.js', script(vendored('react-dom', 'umd/react-dom.production.min.js'))],
    ['graphql-ws.js', script(vendored('graphql-ws', 'umd/graphql-ws.min.js'))],
    ['graphiql.js', script(withoutSourceMap(vendored('graphiql', 'graphiql.min.js')))],
    ['boot.js', script(playgroundBoot)],
  ]);
}

/** The source map is not served, and requests for it would only fill the log. */
function withoutSourceMap(script: Buffer): string {
  return script.toString('utf8').replace(/\n\/\/# sourceMappingURL=\S+\s*$/, '\n');
}

function playgroundPage(caller: StaffCaller, release: string): string {
  const address = (name: string) => `/playground/${name}?release=${release}`;
  const scripts = ['react.js', 'react-dom.js', 'graphql-ws.js', 'graphiql.js', 'boot.js'];
  const setup = JSON.stringify({ examples: exampleQueries(systemClock.now()) }).replaceAll('<', '\\u003c');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Playground · Exchange gateway</title>
<link rel="icon" href="/sign-in/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${address('graphiql.css')}">
<link rel="stylesheet" href="${address('playground.css')}">
</head>
<body>
<header id="bar">
<h1>Exchange gateway: playground</h1>
<span>signed in as ${escapeHtml(caller.email)} (${caller.role})</span>
<form method="post" action="/sign-out"><button type="submit">Sign out</button></form>
</header>
<main id="playground"></main>
<script type="application/json" id="setup">${setup}</script>
${scripts.map((name) => `<script src="${address(name)}"></script>`).join('\n')}
</body>
</html>
`;
}
