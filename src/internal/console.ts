import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Request, type Response, Router } from 'express';
import { AppError } from '../errors.ts';
import type { StaffAuthenticator } from '../staff/staff-authenticator.ts';
import { continuePage, pagePolicy } from './page.ts';
import { staffCaller } from './staff-caller.ts';

/** The bundled pages, where tools/build-web.js puts them: web/dist/console. */
const bundle = fileURLToPath(new URL('../../web/dist/console', import.meta.url));

const types: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.md': 'text/markdown; charset=utf-8',
};

/** The addresses of pages: those of web/console/router.tsx. Below all others is nothing. */
export const consolePages =
  /^\/(?:(?:orders|partners)(?:\/[\w-]{1,64})?|attention|money|chains|catalogue|audit|staff|me|components)?$/;

interface ConsoleAsset {
  readonly type: string;
  readonly content: Buffer;
  readonly gzip: Buffer | null;
  readonly brotli: Buffer | null;
}

interface Bundle {
  /** The page, with a mark where the environment goes. */
  readonly page: string;
  /** By path below /console/. */
  readonly assets: ReadonlyMap<string, ConsoleAsset>;
}

export interface ConsoleOptions {
  readonly authenticator: StaffAuthenticator;
  /** INTERNAL_PUBLIC_URL. */
  readonly publicUrl: string | null;
  /** Whether the chains are real ones, with coins of value. */
  readonly areOfValue: boolean;
}

/**
 * Serves the staff console. Its page needs a session, and leads to the sign-in and back without
 * one. Its scripts and styles hold no data, so they are served to everyone and cached for good.
 */
export function consoleRouter({ authenticator, publicUrl, areOfValue }: ConsoleOptions): Router {
  const router = Router();
  // Read when the console is first opened: most processes never need these files.
  let known: Bundle | null = null;
  const files = (): Bundle => {
    known ??= readBundle();
    return known;
  };

  router.get('/assets/:name', (req, res, next) => {
    const asset = files().assets.get(`assets/${req.params.name}`);
    if (asset) sendAsset(req, res, asset);
    else next();
  });

  router.get('/licences.md', (_req, res, next) => {
    const licences = files().assets.get('licences.md');
    if (licences) res.type(licences.type).send(licences.content);
    else next();
  });

  router.get(consolePages, async (req: Request, res: Response) => {
    if (await staffCaller(req, authenticator)) {
      const environment = areOfValue ? 'live' : 'sandbox';
      res.set('Content-Security-Policy', consolePolicy(socketOrigin(req, publicUrl))).type('html');
      res.send(files().page.replace('%ENVIRONMENT%', environment));
    } else if (['cross-site', 'same-site'].includes(req.get('sec-fetch-site') ?? '')) {
      // A link from another site brings the browser here without its strict cookie, although its
      // session is valid.
      res.set('Content-Security-Policy', pagePolicy).type('html').send(continuePage(req.originalUrl));
    } else {
      res.redirect(302, `/sign-in?return_to=${encodeURIComponent(req.originalUrl)}`);
    }
  });
  return router;
}

/** @param socket The origin of the socket; some browsers do not count it as 'self'. */
function consolePolicy(socket: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `connect-src 'self'${socket}`,
    "img-src 'self' data:",
    "font-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
}

/** The origin of the WebSocket as a source of the policy; empty for a host of unusual signs. */
function socketOrigin(req: Request, publicUrl: string | null): string {
  const seen = publicUrl ?? `${req.protocol}://${req.headers.host}`;
  const { protocol, host } = URL.canParse(seen) ? new URL(seen) : { protocol: '', host: '' };
  if (!/^[\w.:[\]-]+$/.test(host)) return '';
  return ` ${protocol === 'https:' ? 'wss' : 'ws'}://${host}`;
}

/** Sends the smallest form that the browser reads. The name has a hash of the content. */
function sendAsset(req: Request, res: Response, { type, content, gzip, brotli }: ConsoleAsset): void {
  res.set({ 'Content-Type': type, 'Cache-Control': 'public, max-age=31536000, immutable', Vary: 'Accept-Encoding' });
  const encoding = req.acceptsEncodings('br', 'gzip', 'identity');
  const packed = encoding === 'br' ? brotli : encoding === 'gzip' ? gzip : null;
  if (packed && encoding) res.set('Content-Encoding', encoding);
  res.end(packed ?? content);
}

/** @throws AppError unavailable when the pages were not bundled */
function readBundle(): Bundle {
  if (!existsSync(join(bundle, 'index.html'))) {
    throw new AppError('unavailable', 'the console is not built; run: npm run build');
  }
  const assets = new Map<string, ConsoleAsset>();
  for (const entry of readdirSync(bundle, { recursive: true, withFileTypes: true })) {
    const type = types[extname(entry.name)];
    if (!entry.isFile() || type === undefined) continue;
    const path = join(entry.parentPath, entry.name);
    const form = (ending: string): Buffer | null => (existsSync(path + ending) ? readFileSync(path + ending) : null);
    const content = readFileSync(path);
    assets.set(relative(bundle, path), { type, content, gzip: form('.gz'), brotli: form('.br') });
  }
  return { page: readFileSync(join(bundle, 'index.html'), 'utf8'), assets };
}
