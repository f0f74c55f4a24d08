import { type NextFunction, type Request, type Response, Router } from 'express';
import type { StaffAuthenticator, StaffCaller } from '../../accounts/staff/staff-authenticator.ts';
import { systemClock } from '../../base/clock.ts';
import { codingFor, compressors } from '../pages/coding.ts';
import { WebBundle } from '../pages/web-bundle.ts';
import { exampleQueries } from './example-queries.ts';
import { continuePage, escapeHtml, pagePolicy } from './page.ts';
import { staffCaller } from './staff-caller.ts';

/** Allows requests to this gateway only. GraphiQL's editor writes inline styles into the page. */
const playgroundPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/**
 * Serves GraphiQL to staff with a session, from files of web/playground only. It works without the
 * internet.
 */
export function playgroundRouter(authenticator: StaffAuthenticator): Router {
  const router = Router();
  const bundle = WebBundle.lazy('playground');

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

  router.get('/', async (req, res) => {
    const page = Buffer.from(playgroundPage(res.locals.caller as StaffCaller, bundle().page));
    const coding = codingFor(req.get('accept-encoding'));
    res.set('Content-Security-Policy', playgroundPolicy).type('html').vary('Accept-Encoding');
    if (coding === 'identity') res.send(page);
    else res.set('Content-Encoding', coding).send(await compressors[coding](page));
  });

  router.get('/:name', (req, res, next) => {
    const file = bundle().file(req.path, req.get('accept-encoding'));
    if (!file) {
      next();
      return;
    }
    res.set(file.headers);
    // The page names the release of its files, so this very address may be cached for good.
    if (bundle().page.includes(`"${req.originalUrl}"`)) {
      res.set('Cache-Control', 'private, max-age=31536000, immutable');
    }
    res.end(file.content);
  });
  return router;
}

function playgroundPage({ email, role }: StaffCaller, page: string): string {
  const setup = JSON.stringify({ examples: exampleQueries(systemClock.now()) }).replaceAll('<', '\\u003c');
  return page.replace('%MEMBER%', () => `${escapeHtml(email)} (${role})`).replace('"%SETUP%"', () => setup);
}
