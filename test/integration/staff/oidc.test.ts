import { loadConfig } from '../../../src/config/load-config.ts';
import { query } from '../../support/database/database.ts';
import { TestClock } from '../../support/gateway/clock.ts';
import { startGateway, type TestGateway } from '../../support/gateway/gateway.ts';
import { freePort } from '../../support/http/local-server.ts';
import {
  type IdentityProviderOptions,
  startIdentityProvider,
  type TestIdentityProvider,
} from '../../support/staff/identity-provider.ts';
import { alertOf, StaffBrowser } from '../../support/staff/staff-browser.ts';

const clock = new TestClock(new Date());
let gateway: TestGateway;
let idp: TestIdentityProvider;

async function start(options: Partial<IdentityProviderOptions> = {}) {
  const port = await freePort();
  const own = `http://127.0.0.1:${port}`;
  const provider = await startIdentityProvider({ redirectUrl: `${own}/sign-in/oidc/callback`, ...options });
  const started = await startGateway({
    outside: { clock, background: false },
    settings: {
      INTERNAL_PORT: String(port),
      INTERNAL_PUBLIC_URL: own,
      OIDC_ISSUER: provider.issuer,
      OIDC_CLIENT_ID: provider.clientId,
      ...(options.authMethod === 'none' ? {} : { OIDC_CLIENT_SECRET: provider.clientSecret }),
    },
  });
  return { started, provider };
}

beforeAll(async () => {
  ({ started: gateway, provider: idp } = await start());
  await gateway.staff.create('ada@example.com', 'operator');
  for (const name of ['ada', 'eve', 'gone']) {
    idp.people.set(name, { email: `${name}@example.com`, verified: true });
  }
  idp.people.set('careless', { email: 'ada@example.com', verified: false });
  idp.people.set('shy', { email: undefined, verified: false });
  idp.people.set('loud', { email: 'LOUD@Example.com', verified: true });
  idp.people.set('impostor', { email: 'ada@example.com', verified: true });
});

afterAll(async () => {
  await gateway?.stop();
  await idp?.stop();
});

/** Goes to the identity provider. */
async function leave(from = gateway, path = '/sign-in/oidc') {
  const browser = new StaffBrowser(from.app.internalUrl);
  const response = await browser.get(path);
  expect(response.status).toBe(303);
  return { browser, url: new URL(response.headers.get('location') ?? ''), response };
}

/** Comes back from the identity provider, as a browser does that another site has sent. */
function comeBack(browser: StaffBrowser, url: URL): Promise<Response> {
  return browser.get(`${url.pathname}${url.search}`, { 'Sec-Fetch-Site': 'cross-site' });
}

async function expectRefusal(response: Response, browser: StaffBrowser, reason: RegExp): Promise<void> {
  expect([response.status, alertOf(await response.text())]).toEqual([401, expect.stringMatching(reason)]);
  expect(browser.cookies.has('__Host-staff')).toBe(false);
}

describe('signing in at the identity provider', () => {
  it('starts a session for a member with a verified address', async () => {
    const { browser, url, response } = await leave(gateway, '/sign-in/oidc?return_to=/playground%3Fa%3Db');
    const [cookie = ''] = response.headers.getSetCookie();
    expect(cookie).toMatch(/^__Host-staff-sign-in=[\w-]{43}; Max-Age=600; Path=\/;.*HttpOnly; Secure; SameSite=Lax$/);
    expect(`${url.origin}${url.pathname}`).toBe(`${idp.issuer}/auth`);
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      response_type: 'code',
      client_id: idp.clientId,
      scope: 'openid email',
      redirect_uri: `${gateway.app.internalUrl}/sign-in/oidc/callback`,
      code_challenge_method: 'S256',
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
    });

    const back = await comeBack(browser, await idp.signIn(url.href, 'ada'));
    expect(back.status).toBe(200);
    expect(await back.text()).toContain('<meta http-equiv="refresh" content="0;url=/playground?a=b">');
    const set = back.headers.getSetCookie().find((line) => line.startsWith('__Host-staff=')) ?? '';
    expect(set).toMatch(/HttpOnly; Secure; SameSite=Strict$/);
    expect([...browser.cookies.keys()]).toEqual(['__Host-staff']);
    expect(await (await browser.get('/sign-in')).text()).toContain('Signed in as ada@example.com (operator)');
    expect(await query(gateway.databaseUrl, 'select via from staff_session')).toEqual([{ via: 'oidc' }]);
    expect(await query(gateway.databaseUrl, 'select 1 from staff_sign_in')).toEqual([]);
    expect(idp.tokenRequests.at(-1)).toEqual({ hasVerifier: true, method: 'client_secret_basic' });
  });

  it('knows an address by its small letters, and a member without a token', async () => {
    await gateway.staff.create('loud@example.com', 'viewer');
    const { browser, url } = await leave();
    expect((await comeBack(browser, await idp.signIn(url.href, 'loud'))).status).toBe(200);
    await gateway.app.orm.em.fork().transactional((em) => gateway.staff.inviteByCode(em, 'new@example.com', 'viewer'));
    idp.people.set('new', { email: 'new@example.com', verified: true });
    const other = await leave();
    expect((await comeBack(other.browser, await idp.signIn(other.url.href, 'new'))).status).toBe(200);
  });

  it('is offered on the page, next to the token', async () => {
    const html = await (await new StaffBrowser(gateway.app.internalUrl).get('/sign-in?return_to=/playground')).text();
    expect(html).toContain(`href="/sign-in/oidc?return_to=%2Fplayground">Sign in with ${new URL(idp.issuer).host}<`);
    expect(html).toContain('name="token"');
  });

  it('refuses a person who is no member, and creates no member', async () => {
    const { browser, url } = await leave();
    const members = await gateway.staff.list();
    await expectRefusal(
      await comeBack(browser, await idp.signIn(url.href, 'eve')),
      browser,
      /eve@example.com is no member/,
    );
    expect(await gateway.staff.list()).toHaveLength(members.length);
  });

  it('refuses another account there that has taken over the address of a member', async () => {
    const own = await leave();
    expect((await comeBack(own.browser, await idp.signIn(own.url.href, 'ada'))).status).toBe(200);
    const other = await leave();
    const back = await comeBack(other.browser, await idp.signIn(other.url.href, 'impostor'));
    await expectRefusal(back, other.browser, /ada@example.com is no member/);
  });

  it('refuses an address that is not verified, and a person without one', async () => {
    const careless = await leave();
    const unverified = await comeBack(careless.browser, await idp.signIn(careless.url.href, 'careless'));
    await expectRefusal(unverified, careless.browser, /has not verified the address/);
    const shy = await leave();
    const nameless = await comeBack(shy.browser, await idp.signIn(shy.url.href, 'shy'));
    await expectRefusal(nameless, shy.browser, /gives no e-mail address/);
  });

  it('refuses a revoked member', async () => {
    const { member } = await gateway.staff.create('gone@example.com', 'viewer');
    await gateway.app.orm.em.fork().transactional((em) => gateway.staff.revoke(em, member.id));
    const { browser, url } = await leave();
    await expectRefusal(await comeBack(browser, await idp.signIn(url.href, 'gone')), browser, /is no member/);
  });

  it('says so when the person turns back', async () => {
    const { browser, url } = await leave();
    const back = await idp.signIn(url.href, 'ada', 'abort');
    await expectRefusal(await comeBack(browser, back), browser, /did not let you in \(access_denied\)/);
  });
});

describe('an answer of the identity provider', () => {
  it('with another state is refused, and with none', async () => {
    const { browser, url } = await leave();
    const back = await idp.signIn(url.href, 'ada');
    for (const state of ['x'.repeat(43), '']) {
      const changed = new URL(back);
      if (state === '') changed.searchParams.delete('state');
      else changed.searchParams.set('state', state);
      await expectRefusal(
        await comeBack(browser, changed),
        browser,
        /began in another browser or more than ten minutes ago/,
      );
    }
  });

  it('of a sign-in that another browser began is refused', async () => {
    const victim = await leave();
    const attacker = await leave();
    const back = await idp.signIn(attacker.url.href, 'ada');
    await expectRefusal(
      await comeBack(victim.browser, back),
      victim.browser,
      /began in another browser or more than ten minutes ago/,
    );
    const newBrowser = new StaffBrowser(gateway.app.internalUrl);
    await expectRefusal(
      await comeBack(newBrowser, back),
      newBrowser,
      /began in another browser or more than ten minutes ago/,
    );
  });

  it('serves once, and for ten minutes', async () => {
    const { browser, url } = await leave();
    const secret = browser.cookies.get('__Host-staff-sign-in') ?? '';
    const back = await idp.signIn(url.href, 'ada');
    expect((await comeBack(browser, back)).status).toBe(200);
    browser.cookies.clear();
    browser.cookies.set('__Host-staff-sign-in', secret);
    await expectRefusal(
      await comeBack(browser, back),
      browser,
      /began in another browser or more than ten minutes ago/,
    );

    const late = await leave();
    const answer = await idp.signIn(late.url.href, 'ada');
    clock.advance(10 * 60_000);
    await expectRefusal(await comeBack(late.browser, answer), late.browser, /more than ten minutes ago/);
  });

  it('with another nonce is refused', async () => {
    const { browser, url } = await leave();
    url.searchParams.set('nonce', 'n'.repeat(43));
    await expectRefusal(
      await comeBack(browser, await idp.signIn(url.href, 'ada')),
      browser,
      /failed \(OAUTH_JWT_CLAIM_COMPARISON_FAILED\)/,
    );
  });

  it('to another code challenge is refused', async () => {
    const { browser, url } = await leave();
    url.searchParams.set('code_challenge', 'c'.repeat(43));
    const back = await comeBack(browser, await idp.signIn(url.href, 'ada'));
    await expectRefusal(back, browser, /failed \(OAUTH_RESPONSE_BODY_ERROR\)/);
  });

  it('with a code that does not exist is refused', async () => {
    const { browser, url } = await leave();
    const back = await idp.signIn(url.href, 'ada');
    back.searchParams.set('code', 'made-up');
    await expectRefusal(await comeBack(browser, back), browser, /failed \(OAUTH_RESPONSE_BODY_ERROR\)/);
  });

  it('of another issuer is refused', async () => {
    const { browser, url } = await leave();
    const back = await idp.signIn(url.href, 'ada');
    expect(back.searchParams.get('iss')).toBe(idp.issuer);
    back.searchParams.set('iss', 'https://evil.example');
    await expectRefusal(await comeBack(browser, back), browser, /failed \(OAUTH_INVALID_RESPONSE\)/);
  });

  it('with a forged ID token is refused', async () => {
    idp.tamper = (answer) => {
      const [header, payload = '', signature] = answer.id_token.split('.');
      const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
      const forged = Buffer.from(JSON.stringify({ ...claims, email: 'ada@example.com' })).toString('base64url');
      return { ...answer, id_token: `${header}.${forged}.${signature}` };
    };
    try {
      const { browser, url } = await leave();
      await expectRefusal(
        await comeBack(browser, await idp.signIn(url.href, 'eve')),
        browser,
        /failed \(OAUTH_INVALID_RESPONSE\)/,
      );
    } finally {
      idp.tamper = null;
    }
  });
});

describe('other identity providers', () => {
  it.each([
    { authMethod: 'none', emailByUserinfo: true },
    { authMethod: 'client_secret_post', emailByUserinfo: false },
  ] as const)('work with %j', async (options) => {
    const { started, provider } = await start(options);
    try {
      await started.staff.create('ada@example.com', 'viewer');
      provider.people.set('ada', { email: 'ada@example.com', verified: true });
      provider.people.set('careless', { email: 'ada@example.com', verified: false });
      const { browser, url } = await leave(started);
      expect((await comeBack(browser, await provider.signIn(url.href, 'ada'))).status).toBe(200);
      expect(provider.tokenRequests).toEqual([{ hasVerifier: true, method: options.authMethod }]);
      const careless = await leave(started);
      const refused = await comeBack(careless.browser, await provider.signIn(careless.url.href, 'careless'));
      await expectRefusal(refused, careless.browser, /has not verified/);
    } finally {
      await started.stop();
      await provider.stop();
    }
  });

  it('may be away: the token still works, and the next sign-in asks again', async () => {
    const port = await freePort();
    const own = `http://127.0.0.1:${port}`;
    const started = await startGateway({
      outside: { clock, background: false },
      settings: {
        INTERNAL_PORT: String(port),
        INTERNAL_PUBLIC_URL: own,
        OIDC_ISSUER: `http://127.0.0.1:${await freePort()}`,
        OIDC_CLIENT_ID: 'gateway',
      },
    });
    try {
      const browser = new StaffBrowser(own);
      for (let i = 0; i < 2; i++) {
        const response = await browser.get('/sign-in/oidc');
        expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5']);
        expect(alertOf(await response.text())).toMatch(/127.0.0.1:\d+ cannot be reached.*sign in with a token/);
      }
      const { token } = await started.staff.create('ada@example.com', 'viewer');
      expect((await browser.post('/sign-in', { token })).status).toBe(303);
    } finally {
      await started.stop();
    }
  });
});

describe('the settings of the identity provider', () => {
  const problem = (environment: Record<string, string>): string => {
    try {
      loadConfig(environment);
      return '';
    } catch (error) {
      return (error as { problems: string[] }).problems.join('\n');
    }
  };

  it('come together or not at all', () => {
    const good = {
      OIDC_ISSUER: 'https://login.example.com',
      OIDC_CLIENT_ID: 'gateway',
      INTERNAL_PUBLIC_URL: 'https://staff.example.com',
    };
    expect(problem(good)).toBe('');
    expect(problem({ INTERNAL_PUBLIC_URL: good.INTERNAL_PUBLIC_URL })).toBe('');
    for (const name of Object.keys(good)) {
      expect(problem({ ...good, [name]: '' })).toMatch(
        new RegExp(`also needs ${name} \\(for example http`.slice(0, 40)),
      );
    }
    expect(problem({ OIDC_CLIENT_SECRET: 'hush-hush' })).toMatch(/OIDC_ISSUER.*OIDC_CLIENT_ID.*INTERNAL_PUBLIC_URL/);
    expect(problem({ OIDC_CLIENT_SECRET: 'hush-hush' })).not.toContain('hush');
  });

  it.each([
    ['OIDC_ISSUER', 'http://login.example.com', 'https://'],
    ['OIDC_ISSUER', 'login.example.com', 'must be a URL'],
    ['OIDC_ISSUER', 'https://login.example.com/?tenant=1', 'nothing after its path'],
    ['INTERNAL_PUBLIC_URL', 'http://staff.example.com', 'https://'],
    ['INTERNAL_PUBLIC_URL', 'https://staff.example.com/gateway', 'without a path'],
  ])('refuse %s=%s', (name, value, reason) => {
    expect(problem({ [name]: value })).toContain(reason);
  });
});
