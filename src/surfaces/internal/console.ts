import { type NextFunction, type Request, type Response, Router } from 'express';
import type { StaffAuthenticator } from '../../accounts/staff/staff-authenticator.ts';
import { WebBundle, webPolicy } from '../pages/web-bundle.ts';
import { continuePage, pagePolicy } from './page.ts';
import { staffCaller } from './staff-caller.ts';

interface ConsoleOptions {
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
  const bundle = WebBundle.lazy('console');

  router.get(/.*/, async (req: Request, res: Response, next: NextFunction) => {
    const file = bundle().file(req.path, req.get('accept-encoding'));
    if (file) {
      res.set(file.headers).end(file.content);
      return;
    }
    if (!bundle().hasPage(req.path)) {
      next();
      return;
    }
    if (await staffCaller(req, authenticator)) {
      const environment = areOfValue ? 'live' : 'sandbox';
      res.set('Content-Security-Policy', webPolicy(socketOrigin(req, publicUrl))).type('html');
      res.send(bundle().page.replace('%ENVIRONMENT%', environment));
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

/**
 * The origin of the WebSocket as a source of the policy. Some browsers do not count it as 'self'.
 * Empty for a host of unusual signs.
 */
function socketOrigin(req: Request, publicUrl: string | null): string {
  const seen = publicUrl ?? `${req.protocol}://${req.headers.host}`;
  const { protocol, host } = URL.canParse(seen) ? new URL(seen) : { protocol: '', host: '' };
  if (!/^[\w.:[\]-]+$/.test(host)) return '';
  return ` ${protocol === 'https:' ? 'wss' : 'ws'}://${host}`;
}
