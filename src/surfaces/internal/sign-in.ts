import express, { type CookieOptions, type NextFunction, type Request, type Response, Router } from 'express';
import { cookieOf } from '../../accounts/staff/cookie.ts';
import type { StaffAuthenticator } from '../../accounts/staff/staff-authenticator.ts';
import { isEnrolmentCode, type StaffService } from '../../accounts/staff/staff-service.ts';
import { maxSessionMs, type StaffSessions, type StartedSession } from '../../accounts/staff/staff-sessions.ts';
import { AppError } from '../../base/errors.ts';
import { addressPrefix, isLoopback } from '../../base/limits/client-address.ts';
import { addressBuckets, type Limiter, type Verdict } from '../../base/limits/limiter.ts';
import { errorMembers, type Log } from '../../base/log.ts';
import type { Config } from '../../config/settings.ts';
import { logFailure, toAppError } from './error-handler.ts';
import { callbackPath, type IdentityProvider } from './identity-provider.ts';
import { continuePage, icon, pagePolicy, pageStyle } from './page.ts';
import { enrolledPage, signedInPage, signInPage } from './sign-in-pages.ts';
import { isSameOrigin, sessionCookie, staffCaller } from './staff-caller.ts';

/** Binds a sign-in at the identity provider to the browser that began it. */
const underWayCookie = '__Host-staff-sign-in';
const underWayMs = 10 * 60_000;
/** Attempts of an address that are looked up, for each wrong one that its limit allows. */
const attemptsPerFailure = 10;

interface SignInDependencies {
  readonly config: Config;
  readonly log: Log;
  readonly limiter: Limiter;
  readonly authenticator: StaffAuthenticator;
  readonly sessions: StaffSessions;
  readonly members: StaffService;
  /** Null when no identity provider is configured. */
  readonly provider: IdentityProvider | null;
  /** Whether the chains are real ones, with coins of value. The page says so. */
  readonly areOfValue: boolean;
}

/**
 * Routes for staff in a browser: `/sign-in` with a token, `/sign-in/oidc` at the identity provider,
 * `/sign-out`. A form is answered with a page or a redirect, JSON with JSON.
 */
export function signInRouter(dependencies: SignInDependencies): Router {
  const signIn = new SignIn(dependencies);
  const router = Router();
  const body = [express.urlencoded({ extended: false, limit: '4kb' }), express.json({ limit: '4kb' })];
  router.get('/sign-in/page.css', (_req, res) => {
    res.type('css').send(pageStyle);
  });
  router.get('/sign-in/icon.svg', (_req, res) => {
    res.type('svg').send(icon);
  });
  router.get('/', (_req, res) => {
    res.redirect(302, signIn.home);
  });
  router.get('/sign-in', (req, res) => signIn.show(req, res));
  router.post('/sign-in', ...body, (req, res) => signIn.withToken(req, res));
  router.post('/sign-out', ...body, (req, res) => signIn.end(req, res));
  router.get('/sign-in/oidc', (req, res) => signIn.beginAtProvider(req, res));
  router.get(callbackPath, (req, res) => signIn.finishAtProvider(req, res));
  router.use(['/sign-in', '/sign-out'], (thrown: unknown, req: Request, res: Response, next: NextFunction) =>
    signIn.answerError(thrown, req, res, next),
  );
  return router;
}

class SignIn {
  /** The path that a member sees after the sign-in. */
  readonly home = '/console';
  readonly #dependencies: SignInDependencies;

  constructor(dependencies: SignInDependencies) {
    this.#dependencies = dependencies;
  }

  /** Shows the sign-in page, or the page of the member who is signed in. */
  async show(req: Request, res: Response): Promise<void> {
    const { config, authenticator, provider, areOfValue } = this.#dependencies;
    const problem = cookieProblem(req, config);
    const returnTo = localPath(req.query.return_to, this.home);
    const caller = await staffCaller(req, authenticator);
    sendPage(
      res,
      200,
      caller ? signedInPage(caller, this.home) : signInPage({ provider, areOfValue, returnTo, problem }),
    );
  }

  /** Signs a member in with a token. An enrolment code creates a token first. */
  async withToken(req: Request, res: Response): Promise<void> {
    const { config, sessions } = this.#dependencies;
    requireSameOrigin(req, config);
    requireCookies(req, config);
    const { token, return_to } = (req.body ?? {}) as Record<string, unknown>;
    const returnTo = localPath(return_to, this.home);
    await this.#countAttempt(res);
    if (typeof token !== 'string' || token.trim() === '') {
      throw new AppError('missing_field', 'enter your staff token, which begins with xs_, or an enrolment code');
    }
    if (isEnrolmentCode(token.trim())) {
      await this.#enrol(token.trim(), req, res);
      return;
    }
    const started = await sessions.signIn(token.trim());
    if (!started) {
      const detail = 'this token is not valid: mistyped, replaced or revoked; ask an admin for a new one';
      return this.#refuseGuess(res, detail);
    }
    this.#setSession(res, started);
    if (isForm(req)) res.redirect(303, returnTo);
    else res.json({ email: started.member.email, role: started.member.role });
  }

  /** Sends the browser to the identity provider. */
  async beginAtProvider(req: Request, res: Response): Promise<void> {
    const { config, sessions } = this.#dependencies;
    requireCookies(req, config);
    const returnTo = localPath(req.query.return_to, this.home);
    const idp = this.#requireProvider();
    await this.#countAttempt(res);
    const { url, checks } = await idp.begin(returnTo).catch((error: unknown) => {
      const detail = `${idp.name} cannot be reached${this.#providerFault(error)}; retry in a few seconds, or sign in with a token`;
      throw new AppError('unavailable', detail, { retryAfterSec: 5, cause: error });
    });
    const secret = await sessions.begin(checks);
    res.cookie(underWayCookie, secret, { ...cookieOptions('lax'), maxAge: underWayMs });
    res.redirect(303, url.href);
  }

  /** Signs a member in from the identity provider's answer. */
  async finishAtProvider(req: Request, res: Response): Promise<void> {
    const { sessions } = this.#dependencies;
    const idp = this.#requireProvider();
    const secret = cookieOf(req, underWayCookie);
    const { state, error } = req.query;
    const checks = secret === null || typeof state !== 'string' ? null : await sessions.takeUp(secret, state);
    if (!checks) {
      throw new AppError(
        'unauthorized',
        'this sign-in began in another browser or more than ten minutes ago; sign in again',
      );
    }
    res.clearCookie(underWayCookie, cookieOptions('lax'));
    if (error !== undefined) {
      throw new AppError('unauthorized', `${idp.name} did not let you in (${shortCode(error)}); sign in again`);
    }
    const { search } = new URL(req.originalUrl, 'http://local.invalid');
    const { email, isVerified, account } = await idp.finish(search, checks).catch((error: unknown) => {
      const detail = `signing in at ${idp.name} failed${this.#providerFault(error)}; sign in again, and tell an admin if it fails again`;
      throw new AppError('unauthorized', detail, { cause: error });
    });
    if (email === null || account === null) {
      throw new AppError('unauthorized', `${idp.name} gives no e-mail address; release it to this client`);
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
    this.#setSession(res, started);
    // A redirect would still count as a request from the provider's site, and the browser would not
    // send the strict cookie.
    sendPage(res, 200, continuePage(checks.returnTo));
  }

  /** Signs out. */
  async end(req: Request, res: Response): Promise<void> {
    const { config, authenticator, sessions } = this.#dependencies;
    requireSameOrigin(req, config);
    const secret = cookieOf(req, sessionCookie);
    const caller = secret === null ? null : await authenticator.bySession(secret);
    if (caller?.sessionId) await sessions.end(caller.sessionId);
    res.clearCookie(sessionCookie, cookieOptions('strict'));
    if (isForm(req)) res.redirect(303, '/sign-in');
    else res.status(204).end();
  }

  /** Answers an error of a route: a form with a page, JSON with JSON. */
  answerError(thrown: unknown, req: Request, res: Response, next: NextFunction): void {
    const { log, provider, areOfValue } = this.#dependencies;
    const wantsPage = req.method === 'GET' || isForm(req);
    if (!wantsPage || res.headersSent) {
      next(thrown);
      return;
    }
    const error = toAppError(thrown);
    logFailure(log, error, res.locals.requestId);
    if (error.extras.retryAfterSec !== undefined) res.set('Retry-After', String(error.extras.retryAfterSec));
    const returnTo = localPathOrNull((req.body as Record<string, unknown> | undefined)?.return_to) ?? this.home;
    sendPage(res, error.status, signInPage({ provider, areOfValue, returnTo, problem: error.detail }));
  }

  /** Enrols a member with a code, shows the new token once and starts a session. */
  async #enrol(code: string, req: Request, res: Response): Promise<void> {
    const { sessions, members } = this.#dependencies;
    const { requestId, clientAddress } = res.locals;
    const request = { requestId, ip: addressPrefix(clientAddress) };
    const enrolled = await sessions.enrol(code, members, request);
    if (!enrolled) {
      return this.#refuseGuess(res, 'this enrolment code is unknown, used or expired; ask an admin for a new one');
    }
    this.#setSession(res, enrolled);
    const { member, token } = enrolled;
    if (isForm(req)) sendPage(res, 200, enrolledPage(member.email, token, this.home));
    else res.json({ email: member.email, role: member.role, token });
  }

  /** Counts the attempt before any lookup, so that guesses cost a bounded number of statements. */
  async #countAttempt({ locals: { clientAddress } }: Response): Promise<void> {
    const { config, limiter } = this.#dependencies;
    const limit = config.RATE_LIMIT_SIGN_IN_PER_MIN * attemptsPerFailure;
    refuseOver(await limiter.consume(...addressBuckets('lookup', clientAddress, limit, 'staff:')));
  }

  /**
   * Counts a wrong token or code. Over the limit only further wrong ones are refused, so that a
   * guesser locks out no member behind the same address.
   *
   * @throws AppError rate_limited, or else unauthorized with the detail
   */
  async #refuseGuess({ locals: { clientAddress } }: Response, detail: string): Promise<never> {
    const { config, limiter } = this.#dependencies;
    const limit = config.RATE_LIMIT_SIGN_IN_PER_MIN;
    refuseOver(await limiter.consume(...addressBuckets('signin', clientAddress, limit)));
    throw new AppError('unauthorized', detail);
  }

  #requireProvider(): IdentityProvider {
    const { provider } = this.#dependencies;
    if (provider) return provider;
    throw new AppError(
      'not_found',
      'no identity provider is configured here; sign in with a token, or set OIDC_ISSUER',
    );
  }

  /**
   * Logs a fault of the provider by its code, because its texts are not ours. Returns the code for
   * people.
   */
  #providerFault(error: unknown): string {
    const { log } = this.#dependencies;
    log.warn({ event: 'oidc_failed', ...errorMembers(error) }, 'a sign-in at the identity provider failed');
    return error instanceof Error && 'code' in error ? ` (${shortCode(error.code)})` : '';
  }

  #setSession(res: Response, { member, secret }: StartedSession): void {
    const { log } = this.#dependencies;
    const { requestId } = res.locals;
    log.info({ event: 'staff_signed_in', request_id: requestId, staff_id: member.id }, 'a member of staff signed in');
    res.cookie(sessionCookie, secret, { ...cookieOptions('strict'), maxAge: maxSessionMs });
  }
}

function cookieOptions(sameSite: 'strict' | 'lax'): CookieOptions {
  return { path: '/', httpOnly: true, secure: true, sameSite };
}

/** @throws AppError rate_limited */
function refuseOver({ allowed, resetMs }: Verdict): void {
  if (allowed) return;
  const seconds = Math.max(1, Math.ceil(resetMs / 1000));
  const detail = `too many attempts to sign in; retry in ${seconds} seconds`;
  throw new AppError('rate_limited', detail, { retryAfterSec: seconds });
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
 * Explains why a browser would not keep the session cookie; null when it would keep it. Browsers
 * keep Secure cookies over HTTPS, and over plain HTTP from this machine. A form's Origin shows the
 * scheme that the browser sees, also through a proxy.
 */
function cookieProblem(req: Request, config: Config): string | null {
  const { origin, host } = req.headers;
  const seen = origin ?? (req.secure ? `https://${host}` : (config.INTERNAL_PUBLIC_URL ?? `http://${host}`));
  const { protocol, hostname } = URL.canParse(seen) ? new URL(seen) : { protocol: '', hostname: '' };
  if (protocol === 'https:' || hostname === 'localhost' || isLoopback(hostname.replace(/^\[|\]$/g, ''))) return null;
  return 'signing in needs HTTPS here: open this through a TLS proxy that TRUSTED_PROXIES or INTERNAL_PUBLIC_URL names, or over an SSH tunnel as http://localhost';
}

/**
 * Returns a path of this host.
 *
 * @throws AppError invalid_value for a text that could lead to another host
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
  // Removing dot segments may leave two leading slashes, which would name another host.
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
