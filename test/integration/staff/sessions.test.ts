import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { generateKey } from '../../../src/accounts/partners/secret-key.ts';
import type { StaffMember } from '../../../src/accounts/staff/staff-member.entity.ts';
import { isSameOrigin, staffCaller } from '../../../src/surfaces/internal/staff-caller.ts';
import { query } from '../../support/database/database.ts';
import { startGateway } from '../../support/gateway/gateway.ts';
import { alertOf, StaffBrowser } from '../../support/staff/staff-browser.ts';
import {
  authenticator,
  browser,
  change,
  clock,
  gateway,
  isSignedIn,
  minute,
  newMember,
  sessions,
  signedIn,
  withStaffGateway,
} from '../../support/staff/staff-gateway.ts';

withStaffGateway();

describe('a token', () => {
  it('names its member, and nothing else does', async () => {
    const { member, token } = await newMember('viewer');
    expect(await authenticator.byToken(token)).toEqual({
      id: member.id,
      email: member.email,
      role: 'viewer',
      via: 'token',
      sessionId: null,
      signedInAt: null,
    });
    const forged = `${token.slice(0, token.indexOf('.'))}${generateKey('xs_').whole.slice(15)}`;
    for (const text of ['', 'xs_', forged, generateKey('xs_').whole, generateKey('xp_live_').whole]) {
      expect(await authenticator.byToken(text)).toBeNull();
    }
    const { key } = await gateway.partner();
    expect(await authenticator.byToken(key)).toBeNull();
  });

  it('ends at once with its member, and with the next token', async () => {
    const { member, token } = await newMember();
    const next = await change((em) => gateway.staff.rotateToken(em, member.id));
    expect(await authenticator.byToken(token)).toBeNull();
    expect(await authenticator.byToken(next.token)).toMatchObject({ id: member.id });
    await change((em) => gateway.staff.revoke(em, member.id));
    expect(await authenticator.byToken(next.token)).toBeNull();
  });

  it('is used instead of a session cookie, even when it is wrong', async () => {
    const { secret, token, member } = await signedIn();
    const caller = (headers: Record<string, string>) => staffCaller(incoming(headers), authenticator);
    const Cookie = `theme=dark; __Host-staff=${secret}`;
    expect(await caller({ Cookie })).toMatchObject({ id: member.id, via: 'session' });
    expect(await caller({ Authorization: `Bearer ${token}` })).toMatchObject({ id: member.id, via: 'token' });
    expect(await caller({ Authorization: `bearer ${generateKey('xs_').whole}`, Cookie })).toBeNull();
    expect(await caller({ Authorization: `Basic ${token}`, Cookie })).toBeNull();
    expect(await caller({ Cookie: `${Cookie}; __Host-staff=${secret}` })).toBeNull();
    expect(await caller({})).toBeNull();
  });

  it('is not what every member has', async () => {
    const { member } = await change((em) => gateway.staff.inviteByCode(em, 'oidc-only@example.com', 'viewer'));
    expect(member.tokenId).toBeNull();
    const issued = await change((em) => gateway.staff.rotateToken(em, member.id));
    expect(await authenticator.byToken(issued.token)).toMatchObject({ email: 'oidc-only@example.com' });
  });
});

describe('signing in with a token', () => {
  it('sets a cookie that scripts, other sites and plain networks never get, and goes on', async () => {
    const { token } = await newMember();
    const response = await browser().post('/sign-in', { token: ` ${token} `, return_to: '/playground?a=b' });
    expect([response.status, response.headers.get('location')]).toEqual([303, '/playground?a=b']);
    const [cookie = ''] = response.headers.getSetCookie();
    expect(cookie).toMatch(/^__Host-staff=[\w-]{43}; /);
    const attributes = cookie.split('; ').slice(1);
    for (const attribute of ['Path=/', 'HttpOnly', 'Secure', 'SameSite=Strict', 'Max-Age=36000']) {
      expect(attributes).toContain(attribute);
    }
    expect(cookie).not.toContain('Domain');
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(cookie).not.toContain(token);
  });

  it('answers JSON with JSON', async () => {
    const { member, token } = await newMember('admin');
    const send = (body: string) =>
      fetch(`${gateway.app.internalUrl}/sign-in`, {
        method: 'POST',
        body,
        headers: { 'Content-Type': 'application/json', Origin: gateway.app.internalUrl },
      });
    const response = await send(JSON.stringify({ token }));
    expect([response.status, await response.json()]).toEqual([200, { email: member.email, role: 'admin' }]);
    const cases = [
      [JSON.stringify({ token: 'xs_no' }), 401, 'unauthorized'],
      [JSON.stringify({}), 400, 'missing_field'],
      [JSON.stringify({ token: 7 }), 400, 'missing_field'],
      ['{', 400, 'invalid_request'],
      [JSON.stringify({ token: 'x'.repeat(5000) }), 413, 'body_too_large'],
    ] as const;
    for (const [body, status, code] of cases) {
      const refused = await send(body);
      expect([refused.status, await refused.json()]).toEqual([
        status,
        { code, detail: expect.any(String), request_id: refused.headers.get('x-request-id') },
      ]);
    }
  });

  it('keeps the secret of a session out of the database', async () => {
    const { secret } = await signedIn();
    const rows = await query<{ row: string }>(gateway.databaseUrl, 'select s::text as row from staff_session s');
    const kept = rows.map(({ row }) => row).join();
    expect(kept).not.toContain(secret);
    expect(kept).not.toContain(Buffer.from(secret).toString('hex'));
    expect(kept).not.toContain(Buffer.from(secret, 'base64url').toString('hex'));
  });

  it('says on the page what is wrong', async () => {
    const wrong = await browser().post('/sign-in', { token: generateKey('xs_').whole, return_to: '/playground?q=%22' });
    expect(wrong.status).toBe(401);
    expect(wrong.headers.getSetCookie()).toEqual([]);
    const html = await wrong.text();
    expect(alertOf(html)).toMatch(/token is not valid.*ask an admin/);
    expect(html).toContain('name="return_to" value="/playground?q=%22"');
    const empty = await browser().post('/sign-in', { token: '' });
    expect([empty.status, alertOf(await empty.text())]).toEqual([400, expect.stringContaining('xs_')]);
  });

  it('serves a page that loads nothing from elsewhere and runs no script', async () => {
    const response = await browser().get('/sign-in');
    expect(response.status).toBe(200);
    const policy = response.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain('script-src');
    expect(policy).not.toMatch(/https?:/);
    const html = await response.text();
    expect(html).not.toMatch(/(src|href|action)="(https?:)?\/\//);
    expect(html).not.toContain('/sign-in/oidc');
    expect((await browser().get('/sign-in/page.css')).headers.get('content-type')).toContain('text/css');
    expect((await browser().get('/sign-in/oidc')).status).toBe(404);
  });

  it.each([
    'https://evil.example/',
    '//evil.example/',
    '/\\evil.example',
    '/.//evil.example',
    '/x/..//evil.example',
    '/\t/evil.example',
    'javascript:alert(1)',
    'evil',
    '/"><script>',
    '/\r\nSet-Cookie: a=b',
  ])('never leads to %j', async (returnTo) => {
    const { token } = await newMember();
    const posted = await browser().post('/sign-in', { token, return_to: returnTo });
    const location = posted.headers.get('location');
    if (posted.status === 303) {
      expect(new URL(location ?? '', 'http://gateway.test').origin).toBe('http://gateway.test');
      expect(location).not.toMatch(/[<>"\r\n]/);
    } else {
      expect([posted.status, alertOf(await posted.text())]).toEqual([422, expect.stringContaining('return_to')]);
      expect(posted.headers.getSetCookie()).toEqual([]);
    }
    const shown = await browser().get(`/sign-in?return_to=${encodeURIComponent(returnTo)}`);
    expect(await shown.text()).not.toContain('<script>');
  });
});

describe('a request from elsewhere', () => {
  const foreign = [
    { Origin: 'https://evil.example' },
    { Origin: 'null' },
    { 'Sec-Fetch-Site': 'cross-site' },
    { 'Sec-Fetch-Site': 'same-site' },
    { Origin: 'http://127.0.0.1:1' },
    { Origin: 'not a URL' },
  ];

  it.each(foreign)('with %j can neither sign in nor out', async (headers) => {
    const { own, token } = await signedIn();
    for (const path of ['/sign-in', '/sign-out']) {
      const response = await own.post(path, { token }, headers as unknown as Record<string, string>);
      expect([response.status, response.headers.getSetCookie()]).toEqual([403, []]);
      expect(alertOf(await response.text())).toMatch(/does not come from a page of this gateway/);
    }
    expect(await isSignedIn(own)).toBe(true);
  });

  it('is also one that does not say where it comes from', async () => {
    const { token } = await newMember();
    const body = new URLSearchParams({ token });
    expect((await fetch(`${gateway.app.internalUrl}/sign-in`, { method: 'POST', body })).status).toBe(403);
  });

  it('is told from one of our own by its headers alone', () => {
    const from = (headers: Record<string, string>, publicUrl: string | null = null) =>
      isSameOrigin(incoming({ Host: 'gateway.internal', ...headers }), publicUrl);
    expect(from({ Origin: 'https://gateway.internal' })).toBe(true);
    expect(from({ Origin: 'https://gateway.internal:443' })).toBe(true);
    expect(from({ 'Sec-Fetch-Site': 'same-origin' })).toBe(true);
    expect(from({ Origin: 'https://gateway.internal', 'Sec-Fetch-Site': 'same-origin' })).toBe(true);
    expect(from({ Origin: 'https://gateway.internal', 'Sec-Fetch-Site': 'same-site' })).toBe(false);
    expect(from({ Origin: 'https://gateway.internal:8443' })).toBe(false);
    expect(from({ Origin: 'https://gateway.internal.evil.example' })).toBe(false);
    expect(from({})).toBe(false);
    const proxied = { Host: '10.0.0.7:8081', Origin: 'https://staff.example.com' };
    expect(from(proxied)).toBe(false);
    expect(from(proxied, 'https://staff.example.com')).toBe(true);
  });
});

describe('a session', () => {
  it('names its member with the time when it began', async () => {
    const { secret, member } = await signedIn('support');
    expect(await authenticator.bySession(secret)).toEqual({
      id: member.id,
      email: member.email,
      role: 'support',
      via: 'session',
      sessionId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      signedInAt: clock.now(),
    });
    for (const text of ['', 'x', `${secret}x`, `${secret.slice(1)}A`, '__Host-staff', '\u0000'.repeat(43)]) {
      expect(await authenticator.bySession(text)).toBeNull();
    }
  });

  it('ends after half an hour without a request, and not before', async () => {
    const { secret } = await signedIn();
    clock.advance(29 * minute);
    expect(await authenticator.bySession(secret)).not.toBeNull();
    clock.advance(29 * minute);
    expect(await authenticator.bySession(secret)).not.toBeNull();
    clock.advance(30 * minute);
    expect(await authenticator.bySession(secret)).toBeNull();
  });

  it('is not kept alive by a page that asks by itself', async () => {
    const { own } = await signedIn();
    const ask = async (headers: Record<string, string>): Promise<number> => {
      const response = await fetch(`${gateway.app.internalUrl}/graphql`, {
        method: 'POST',
        body: '{"query":"{ me { email } }"}',
        headers: {
          'Content-Type': 'application/json',
          Origin: gateway.app.internalUrl,
          Cookie: own.cookie,
          ...headers,
        },
      });
      return response.status;
    };
    clock.advance(20 * minute);
    expect(await ask({})).toBe(200);
    clock.advance(20 * minute);
    expect(await ask({ 'X-Background': '1' })).toBe(200);
    clock.advance(10 * minute);
    expect(await ask({ 'X-Background': '1' })).toBe(401);
  });

  it('ends after ten hours, also when it is used all the time', async () => {
    const { secret } = await signedIn();
    for (let i = 0; i < 29; i++) {
      clock.advance(20 * minute);
      expect(await authenticator.bySession(secret)).not.toBeNull();
    }
    clock.advance(20 * minute);
    expect(await authenticator.bySession(secret)).toBeNull();
  });

  it('writes that it is used at most once a minute', async () => {
    const { secret } = await signedIn();
    const seen = async () => {
      const caller = await authenticator.bySession(secret);
      const sql = 'select last_seen_at from staff_session where id = $1';
      const [row] = await query<{ last_seen_at: Date }>(gateway.databaseUrl, sql, [caller?.sessionId]);
      return row?.last_seen_at;
    };
    const start = clock.now();
    clock.advance(59_000);
    expect(await seen()).toEqual(start);
    clock.advance(1_000);
    expect(await seen()).toEqual(clock.now());
  });

  it('ends at sign-out, and its cookie with it', async () => {
    const { own, secret } = await signedIn();
    expect(await isSignedIn(own)).toBe(true);
    const response = await own.post('/sign-out');
    expect([response.status, response.headers.get('location')]).toEqual([303, '/sign-in']);
    expect(own.cookies.size).toBe(0);
    expect(await authenticator.bySession(secret)).toBeNull();
  });

  it('ends at once when its member is revoked, gets another role or a new token', async () => {
    const actions: ((member: StaffMember) => Promise<unknown>)[] = [
      ({ id }) => change((em) => gateway.staff.revoke(em, id)),
      ({ id }) => change((em) => gateway.staff.changeRole(em, id, 'viewer')),
      ({ id }) => change((em) => gateway.staff.rotateToken(em, id)),
    ];
    for (const action of actions) {
      const { own, member } = await signedIn();
      const other = await signedIn();
      await action(member);
      expect([await isSignedIn(own), await isSignedIn(other.own)]).toEqual([false, true]);
    }
  });

  it('is useless while its member is suspended, even where it was not ended', async () => {
    const { secret, member } = await signedIn();
    await query(gateway.databaseUrl, 'update staff_member set suspended_at = now() where id = $1', [member.id]);
    expect(await authenticator.bySession(secret)).toBeNull();
    await query(gateway.databaseUrl, 'update staff_member set suspended_at = null where id = $1', [member.id]);
    expect(await authenticator.bySession(secret)).toMatchObject({ id: member.id });
  });

  it('is one of ten: a further one ends the oldest', async () => {
    const { token, secret } = await signedIn();
    const later: string[] = [];
    for (let i = 0; i < 10; i++) {
      clock.advance(1);
      later.push((await sessions.signIn(token))?.secret ?? '');
    }
    expect(await authenticator.bySession(secret)).toBeNull();
    for (const each of later) expect(await authenticator.bySession(each)).not.toBeNull();
  });

  it('is forgotten long after its end', async () => {
    const { secret } = await signedIn();
    await sessions.forgetOld();
    expect(await authenticator.bySession(secret)).not.toBeNull();
    clock.advance(91 * 24 * 60 * minute);
    await sessions.forgetOld();
    expect(await query(gateway.databaseUrl, 'select 1 from staff_session')).toEqual([]);
  });
});

describe('the last admin', () => {
  it('can neither be revoked nor become something else', async () => {
    const admins = async () => (await gateway.staff.list()).filter((one) => one.role === 'admin' && !one.revokedAt);
    const [last, ...others] = await admins();
    for (const { id } of others) await change((em) => gateway.staff.revoke(em, id));
    const id = last?.id ?? '';
    const refusal = { kind: 'action_not_possible', message: expect.stringContaining('last admin') };
    await expect(change((em) => gateway.staff.revoke(em, id))).rejects.toMatchObject(refusal);
    await expect(change((em) => gateway.staff.changeRole(em, id, 'viewer'))).rejects.toMatchObject(refusal);
    await change((em) => gateway.staff.changeRole(em, id, 'admin'));

    const { member } = await newMember('viewer');
    await change((em) => gateway.staff.changeRole(em, member.id, 'admin'));
    const both = await Promise.allSettled([
      change((em) => gateway.staff.revoke(em, id)),
      change((em) => gateway.staff.changeRole(em, member.id, 'viewer')),
    ]);
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(await admins()).toHaveLength(1);
  });

  it('does not stop changes of other members, or of unknown ones', async () => {
    const { member } = await newMember();
    await change((em) => gateway.staff.revoke(em, member.id));
    expect((await change((em) => gateway.staff.revoke(em, member.id))).revokedAt).not.toBeNull();
    const revoked = { kind: 'action_not_possible' };
    await expect(change((em) => gateway.staff.changeRole(em, member.id, 'viewer'))).rejects.toMatchObject(revoked);
    await expect(change((em) => gateway.staff.rotateToken(em, member.id))).rejects.toMatchObject(revoked);
    for (const id of ['unknown', '019a0000-0000-7000-8000-000000000000']) {
      await expect(change((em) => gateway.staff.revoke(em, id))).rejects.toMatchObject({ kind: 'staff_not_found' });
    }
  });
});

describe('attempts to sign in', () => {
  const startAlone = () =>
    startGateway({
      settings: { RATE_LIMIT_SIGN_IN_PER_MIN: '3', TRUSTED_PROXIES: '127.0.0.1/32' },
      outside: { clock, background: false },
    });
  type Alone = Awaited<ReturnType<typeof startAlone>>;
  let alone: Alone;
  let token: string;
  beforeEach(async () => {
    alone = await startAlone();
    token = (await alone.staff.create('limited@example.com', 'viewer')).token;
  });
  afterEach(() => alone?.stop());

  const from = (address: string, text: string) =>
    new StaffBrowser(alone.app.internalUrl).post('/sign-in', { token: text }, { 'X-Forwarded-For': address });
  const guess = async (address: string, kind: 'xs_' | 'xe_' = 'xs_') => {
    const text = kind === 'xs_' ? generateKey('xs_').whole : `xe_${'A'.repeat(43)}`;
    return (await from(address, text)).status;
  };

  it('with wrong tokens and codes are counted by address, and lock out no member behind it', async () => {
    for (let i = 0; i < 2; i++) expect(await guess('192.0.2.1')).toBe(401);
    expect([await guess('192.0.2.1', 'xe_'), await guess('192.0.2.1', 'xe_')]).toEqual([401, 429]);
    const refused = await from('192.0.2.1', generateKey('xs_').whole);
    expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([429, true]);
    expect(alertOf(await refused.text())).toMatch(/too many attempts.*retry in \d+ seconds/i);
    expect((await from('192.0.2.1', token)).status).toBe(303);
    expect(await guess('192.0.2.2')).toBe(401);
  });

  it('are looked up ten times as often as wrong ones are allowed, and no more', async () => {
    for (let i = 0; i < 30; i++) await guess('192.0.2.3');
    expect((await from('192.0.2.3', token)).status).toBe(429);
    expect((await from('192.0.2.4', token)).status).toBe(303);
  });

  it('of a block of IPv6 are counted together, however many hosts it has', async () => {
    const statuses: number[] = [];
    for (let i = 0; i < 32; i++) statuses.push(await guess(`2001:db8:7:${i.toString(16)}::1`));
    expect(statuses).toEqual([...Array(30).fill(401), 429, 429]);
    expect(await guess('2001:db8:8::1')).toBe(401);
    expect((await from('2001:db8:7:ff::1', token)).status).toBe(303);
  });
});

/** A request of which only the headers are known, as at a WebSocket's upgrade. */
function incoming(headers: Record<string, string>): IncomingMessage {
  const message = new IncomingMessage(new Socket());
  for (const [name, value] of Object.entries(headers)) message.headers[name.toLowerCase()] = value;
  return message;
}
