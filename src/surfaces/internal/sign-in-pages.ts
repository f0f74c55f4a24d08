import type { StaffCaller } from '../../accounts/staff/staff-authenticator.ts';
import type { IdentityProvider } from './identity-provider.ts';
import { escapeHtml, page } from './page.ts';

interface SignInView {
  readonly provider: IdentityProvider | null;
  /** Whether coins of value move here. */
  readonly areOfValue: boolean;
  /** The path that the member wants. */
  readonly returnTo: string;
  /** Why the try before was refused. */
  readonly problem: string | null;
}

export function signInPage({ provider, areOfValue, returnTo, problem }: SignInView): string {
  const mark = areOfValue
    ? '<p class="mark live"><strong>Live</strong> Real coins move here</p>'
    : '<p class="mark"><strong>Sandbox</strong> Coins here have no value</p>';
  const alert = problem === null ? '' : `<p class="alert" role="alert">${escapeHtml(capitalized(problem))}.</p>\n`;
  const other = provider
    ? `<a class="button" href="/sign-in/oidc?return_to=${encodeURIComponent(returnTo)}">Sign in with ${escapeHtml(provider.name)}</a>
<p class="or">or with a token</p>\n`
    : '';
  return page(
    'Sign in',
    `${mark}
<h1>Exchange gateway: staff</h1>
${alert}${other}<form method="post" action="/sign-in">
<label for="token">Staff token</label>
<input id="token" name="token" type="password" required autocomplete="current-password" autocapitalize="off" spellcheck="false" aria-describedby="token-hint" autofocus>
<p class="hint" id="token-hint">Begins with xs_. New here? Enter the enrolment code that you were given; it begins with xe_. Lost your token? Ask an admin for a new code.</p>
<input type="hidden" name="return_to" value="${escapeHtml(returnTo)}">
<button type="submit">Sign in</button>
</form>`,
  );
}

/** Shows a new token on this page only. The token is not in the address and not stored. */
export function enrolledPage(email: string, token: string, home: string): string {
  return page(
    'Your token',
    `<h1>Exchange gateway: staff</h1>
<p>Signed in as ${escapeHtml(email)}. This is your token, shown this once; keep it where your passwords are:</p>
<p><code id="new-token">${escapeHtml(token)}</code></p>
<a class="button" href="${home}">Go on</a>`,
  );
}

export function signedInPage(caller: StaffCaller, home: string): string {
  return page(
    'Signed in',
    `<h1>Exchange gateway: staff</h1>
<p>Signed in as ${escapeHtml(caller.email)} (${caller.role}).</p>
<a class="button" href="${home}">Open the console</a>
<form method="post" action="/sign-out"><button class="quiet" type="submit">Sign out</button></form>`,
  );
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
