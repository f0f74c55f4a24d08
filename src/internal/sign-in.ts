import express, { type CookieOptions, type NextFunction, type Request, type Response, Router } from 'express';
import type { Config } from '../config.ts';
import { AppError } from '../errors.ts';
import { addressKeys, addressPrefix, isLoopback } from '../limits/client-address.ts';
import type { Limiter } from '../limits/limiter.ts';
import { errorMembers, type Log } from '../log.ts';
import type { StaffAuthenticator, StaffCaller } from '../staff/staff-authenticator.ts';
import { isEnrolmentCode, type StaffService } from '../staff/staff-service.ts';
import { absoluteMs, type StaffSessions, type StartedSession } from '../staff/staff-sessions.ts';
import { logFailure, toAppError } from './error-handler.ts';
import { callbackPath, type IdentityProvider } from './identity-provider.ts';
import { continuePage, escapeHtml, icon, page, pagePolicy, pageStyle } from './page.ts';
import { cookieOf, isSameOrigin, sessionCookie, staffCaller } from './staff-caller.ts';

/** Holds a sign-in that is at the identity provider to the browser that began it. */
const underWayCookie = '__Host-staff-sign-in';
const underWayMs = 10 * 60_000;

export interface SignInDependencies {
  readonly config: Config;
  readonly log: Log;
  readonly limiter: Limiter;
  readonly authenticator: StaffAuthenticator;
  readonly sessions: StaffSessions;
  readonly members: StaffService;
  /** Null where no identity provider is configured. */
  readonly provider: IdentityProvider | null;
}

/**
 * Staff sign in and out with a browser: `/sign-in` with a token, `/sign-in/oidc` at the identity provider, `/sign-out`.
 * A form is answered by a page or a redirect, JSON by JSON.
 */
export function signInRouter(dependencies: SignInDependencies): Router {
  const { config, log, limiter, authenticator, sessions, members, provider } = dependencies;
  const home = config.PLAYGROUND ? '/playground' : '/sign-in';
  const router = Router();
  const body = [express.urlencoded({ extended: false, limit: '4kb' }), express.json({ limit: '4kb' })];

  router.get('/sign-in/page.css', (_req, res) => {
    res.type('css').send(pageStyle);
  });
  router.get('/sign-in/icon.svg', (_req, res) => {
    res.type('svg').send(icon);
  });

  router.get('/', (_req, res) => {
    res.redirect(302, home);
  });

  router.get('/sign-in', async (req, res) => {
    const returnTo = localPath(req.query.return_to, home);
    const caller = await staffCaller(req, authenticator);
    sendPage(
      res,
      200,
      caller ? signedInPage(caller, home) : signInPage(provider, returnTo, cookieProblem(req, config)),
    );
  });

  router.post('/sign-in', ...body, async (req, res) => {
    requireSameOrigin(req, config);
    requireCookies(req, config);
    const { token, return_to } = (req.body ?? {}) as Record<string, unknown>;
    const returnTo = localPath(return_to, home);
    await countAttempt(req);
    if (typeof token !== 'string' || token.trim() === '') {
      throw new AppError('missing_field', 'enter your staff token, which begins with xs_, or an enrolment code');
    }
    if (isEnrolmentCode(token.trim())) {
      await enrol(token.trim(), req, res);
      return;
    }
    const started = await sessions.signIn(token.trim());
    if (!started) {
      throw new AppError(
        'unauthorized',
        'this token is not valid: mistyped, replaced or revoked; ask an admin for a new one',
      );
    }
    setSession(res, started);
    if (isForm(req)) res.redirect(303, returnTo);
    else res.json({ email: started.member.email, role: started.member.role });
  });

  router.post('/sign-out', ...body, async (req, res) => {
    requireSameOrigin(req, config);
    const secret = cookieOf(req, sessionCookie);
    const caller = secret === null ? null : await authenticator.bySession(secret);
    if (caller?.sessionId) await sessions.end(caller.sessionId);
    res.clearCookie(sessionCookie, cookieOptions('strict'));
    if (isForm(req)) res.redirect(303, '/sign-in');
    else res.status(204).end();
  });

  router.get('/sign-in/oidc', async (req, res) => {
    requireCookies(req, config);
    const returnTo = localPath(req.query.return_to, home);
    const idp = requireProvider();
    await countAttempt(req);
    const { url, checks } = await idp.begin(returnTo).catch((error: unknown) => {
      const detail = `${idp.name} cannot be reached${providerFault(error)}; retry in a few seconds, or sign in with a token`;
      throw new AppError('unavailable', detail, { retryAfterSec: 5, cause: error });
    });
    const secret = await sessions.begin(checks);
    res.cookie(underWayCookie, secret, { ...cookieOptions('lax'), maxAge: underWayMs });
    res.redirect(303, url.href);
  });

  router.get(callbackPath, async (req, res) => {
    const idp = requireProvider();
    const secret = cookieOf(req, underWayCookie);
    const { state, error } = req.query;
    const checks = secret === null || typeof state !== 'string' ? null : await sessions.takeUp(secret, state);
    if (!checks) {
      throw new AppError(
        'unauthorized',
        'this answer belongs to no sign-in that this browser began within ten minutes; sign in again',
      );
    }
    res.clearCookie(underWayCookie, cookieOptions('lax'));
    if (error !== undefined) {
      throw new AppError('unauthorized', `${idp.name} did not let you in (${shortCode(error)}); sign in again`);
    }
    const { search } = new URL(req.originalUrl, 'http://local.invalid');
    const { email, isVerified, account } = await idp.finish(search, checks).catch((error: unknown) => {
      const detail = `signing in at ${idp.name} failed${providerFault(error)}; sign in again, and tell an admin if it stays so`;
      throw new AppError('unauthorized', detail, { cause: error });
    });
    if (email === null || account === null) {
      throw new AppError('unauthorized', `${idp.name} tells no e-mail address; release it to this client`);
    }
    if (!isVerified) {
      throw new AppError('unauthorized', `${idp.name} has not verified the address ${email}; verify it there`);
    }
    const started = await sessions.signInVerified(email, account);
    if (!started) {
      throw new AppError(
        'unauthorized',
        `the address ${email} is no member of staff here; ask an admin for an invitation`,
      );
    }
    setSession(res, started);
    // A redirect would still count as coming from the provider, and the strict cookie would stay behind.
    sendPage(res, 200, continuePage(checks.returnTo));
  });

  router.use(['/sign-in', '/sign-out'], answerError);

  /** Shows the member the token that the code made, this once, and starts a session. */
  async function enrol(code: string, req: Request, res: Response): Promise<void> {
    const request = { requestId: res.locals.requestId, ip: addressPrefix(req.ip ?? '') };
    const enrolled = await sessions.enrol(code, members, request);
    if (!enrolled) {
      throw new AppError('unauthorized', 'this enrolment code is unknown, used or over; ask an admin for a new one');
    }
    setSession(res, enrolled);
    const { member, token } = enrolled;
    if (isForm(req)) sendPage(res, 200, enrolledPage(member.email, token, home));
    else res.json({ email: member.email, role: member.role, token });
  }

  /** Counts before anything is looked up, so that a flood of guesses costs no statements. */
  async function countAttempt(req: Request): Promise<void> {
    const { host } = addressKeys(req.ip ?? '');
    const verdict = await limiter.consume({ bucket: 'signin', key: host, limit: config.RATE_LIMIT_SIGN_IN_PER_MIN });
    if (verdict.allowed) return;
    const seconds = Math.max(1, Math.ceil(verdict.resetMs / 1000));
    const detail = `too many attempts to sign in; retry in ${seconds} seconds`;
    throw new AppError('rate_limited', detail, { retryAfterSec: seconds });
  }

  function requireProvider(): IdentityProvider {
    if (provider) return provider;
    throw new AppError(
      'not_found',
      'no identity provider is configured here; sign in with a token, or set OIDC_ISSUER',
    );
  }

  /** Logs what went wrong with the provider by its code, as the texts are not ours. Returns the code for people. */
  function providerFault(error: unknown): string {
    log.warn({ event: 'oidc_failed', ...errorMembers(error) }, 'a sign-in at the identity provider failed');
    return error instanceof Error && 'code' in error ? ` (${shortCode(error.code)})` : '';
  }

  function setSession(res: Response, { member, secret }: StartedSession): void {
    const { requestId } = res.locals;
    log.info({ event: 'staff_signed_in', request_id: requestId, staff_id: member.id }, 'a member of staff signed in');
    res.cookie(sessionCookie, secret, { ...cookieOptions('strict'), maxAge: absoluteMs });
  }

  function answerError(thrown: unknown, req: Request, res: Response, next: NextFunction): void {
    const wantsPage = req.method === 'GET' || isForm(req);
    if (!wantsPage || res.headersSent) {
      next(thrown);
      return;
    }
    const error = toAppError(thrown);
    logFailure(log, error, res.locals.requestId);
    if (error.extras.retryAfterSec !== undefined) res.set('Retry-After', String(error.extras.retryAfterSec));
    const returnTo = localPathOrNull((req.body as Record<string, unknown> | undefined)?.return_to) ?? home;
    sendPage(res, error.status, signInPage(provider, returnTo, error.detail));
  }

  return router;
}

function cookieOptions(sameSite: 'strict' | 'lax'): CookieOptions {
  return { path: '/', httpOnly: true, secure: true, sameSite };
}

function isForm(req: Request): boolean {
  return typeof req.is('application/x-www-form-urlencoded') === 'string';
}

/** @throws AppError foreign_origin */
function requireSameOrigin(req: Request, config: Config): void {
  if (isSameOrigin(req, config.INTERNAL_PUBLIC_URL)) return;
  throw new AppError(
    'foreign_origin',
    'this request does not come from a page of this gateway; open /sign-in here (behind a proxy, set INTERNAL_PUBLIC_URL)',
  );
}

/** @throws AppError https_required */
function requireCookies(req: Request, config: Config): void {
  const problem = cookieProblem(req, config);
  if (problem !== null) throw new AppError('https_required', problem);
}

/**
 * Why a browser would not keep the session here; null when it would. Browsers take Secure cookies over HTTPS, and over
 * plain HTTP from this machine. What a form's Origin says of that is what the browser sees, whatever stands between.
 */
function cookieProblem(req: Request, config: Config): string | null {
  const { origin, host } = req.headers;
  const seen = origin ?? (req.secure ? `https://${host}` : (config.INTERNAL_PUBLIC_URL ?? `http://${host}`));
  const { protocol, hostname } = URL.canParse(seen) ? new URL(seen) : { protocol: '', hostname: '' };
  if (protocol === 'https:' || hostname === 'localhost' || isLoopback(hostname.replace(/^\[|\]$/g, ''))) return null;
  return 'signing in needs HTTPS here: open this through a TLS proxy that TRUSTED_PROXIES or INTERNAL_PUBLIC_URL names, or over an SSH tunnel as http://localhost';
}

/**
 * A path of this host to go to.
 *
 * @throws AppError invalid_value for anything that could lead elsewhere
 */
function localPath(text: unknown, fallback: string): string {
  if (text === undefined || text === '') return fallback;
  const path = localPathOrNull(text);
  if (path !== null) return path;
  throw new AppError(
    'invalid_value',
    "the address to return to (return_to) must be a path of this host that begins with one '/'",
  );
}

function localPathOrNull(text: unknown): string | null {
  // Browsers read a backslash as a slash, and drop tabs and line ends.
  if (typeof text !== 'string' || !/^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/.test(text) || text.length > 2000) return null;
  const { origin, pathname, search, hash } = new URL(text, 'http://local.invalid');
  // Dots may go away and leave two slashes, which would name another host.
  return origin === 'http://local.invalid' && !pathname.startsWith('//') ? `${pathname}${search}${hash}` : null;
}

function shortCode(code: unknown): string {
  return String(code)
    .replace(/[^\w.-]/g, '')
    .slice(0, 40);
}

function sendPage(res: Response, status: number, html: string): void {
  res.status(status).set('Content-Security-Policy', pagePolicy).type('html').send(html);
}

function signInPage(provider: IdentityProvider | null, returnTo: string, problem: string | null): string {
  const alert = problem === null ? '' : `<p class="alert" role="alert">${escapeHtml(capitalized(problem))}.</p>\n`;
  const other = provider
    ? `<a class="button" href="/sign-in/oidc?return_to=${encodeURIComponent(returnTo)}">Sign in with ${escapeHtml(provider.name)}</a>
<p class="or">or with a token</p>\n`
    : '';
  return page(
    'Sign in',
    `<h1>Exchange gateway: staff</h1>
${alert}${other}<form method="post" action="/sign-in">
<label for="token">Staff token</label>
<input id="token" name="token" type="password" required autocomplete="current-password" autocapitalize="off" spellcheck="false" aria-describedby="token-hint" autofocus>
<p class="hint" id="token-hint">Begins with xs_. New here? Enter the enrolment code that you were given; it begins with xe_. Lost your token? Ask an admin for a new code.</p>
<input type="hidden" name="return_to" value="${escapeHtml(returnTo)}">
<button type="submit">Sign in</button>
</form>`,
  );
}

/** The token is not in the address, not stored, and on this page alone. */
function enrolledPage(email: string, token: string, home: string): string {
  return page(
    'Your token',
    `<h1>Exchange gateway: staff</h1>
<p>Signed in as ${escapeHtml(email)}. This is your token, shown this once; keep it where your passwords are:</p>
<p><code id="new-token">${escapeHtml(token)}</code></p>
<a class="button" href="${home}">Go on</a>`,
  );
}

function signedInPage(caller: StaffCaller, home: string): string {
  const link = home === '/sign-in' ? '' : `<a class="button" href="${home}">Open the playground</a>\n`;
  return page(
    'Signed in',
    `<h1>Exchange gateway: staff</h1>
<p>Signed in as ${escapeHtml(caller.email)} (${caller.role}).</p>
${link}<form method="post" action="/sign-out"><button class="quiet" type="submit">Sign out</button></form>`,
  );
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
