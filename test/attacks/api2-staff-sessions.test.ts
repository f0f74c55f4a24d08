import type { StaffRole } from '../../src/accounts/staff/staff-member.entity.ts';
import { type SettledGateway, startSettledGateway } from '../support/gateway/settled-gateway.ts';
import { attempt } from '../support/jest/attempts.ts';
import { StaffBrowser } from '../support/staff/staff-browser.ts';
import { changeStaff, enrol, type Member, newMember, proposeChange } from '../support/staff/staff-client.ts';
import { openSocket, refusedOn, socketUrl, upgradeStatus } from '../support/staff/staff-socket.ts';

/**
 * OWASP API2:2023, broken authentication: tokens, sessions and WebSockets of staff. Keys and
 * signatures of partners are in api2-authentication.test.ts.
 */

describe('staff sessions at one gateway node', () => {
  let gateway: SettledGateway;
  let partner: { id: string; keyId: string; key: string };

  beforeAll(async () => {
    gateway = await startSettledGateway({ settings: { RATE_LIMIT_STAFF_PER_MIN: '100000', PLAYGROUND: 'true' } });
    partner = await gateway.partner();
  });
  afterAll(() => gateway?.stop());

  describe('a session of staff', () => {
    const ask = (headers: Record<string, string>, query = '{ me { role } }') =>
      fetch(`${gateway.app.internalUrl}/graphql`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', ...headers },
        body: JSON.stringify({ query }),
      }).then(({ status }) => status);
    const signedIn = async (role: StaffRole) => {
      const member = await newMember(gateway, role);
      const browser = new StaffBrowser(gateway.app.internalUrl);
      expect((await browser.post('/sign-in', { token: member.token })).status).toBe(303);
      return { browser, member, Origin: gateway.app.internalUrl };
    };

    it('never uses an id that an attacker chose before (session fixation)', async () => {
      const chosen = 'A'.repeat(43);
      const member = await newMember(gateway, 'admin');
      const browser = new StaffBrowser(gateway.app.internalUrl);
      browser.cookies.set('__Host-staff', chosen);
      await browser.post('/sign-in', { token: member.token });
      const { Origin } = { Origin: gateway.app.internalUrl };
      expect(browser.cookies.get('__Host-staff')).not.toBe(chosen);
      attempt('the chosen cookie', await ask({ Cookie: `__Host-staff=${chosen}`, Origin }), 401);
      const before = browser.cookie;
      await browser.post('/sign-in', { token: member.token });
      expect(browser.cookie).not.toBe(before);
    });

    it('is not opened by a token in the cookie, a cookie as token, two cookies, cookie and token together, or a partner key', async () => {
      const { browser, Origin } = await signedIn('viewer');
      const admin = await newMember(gateway, 'admin');
      const secret = browser.cookies.get('__Host-staff') ?? '';
      expect(await ask({ Cookie: `__Host-staff=${secret}`, Origin })).toBe(200);
      for (const headers of [
        { Authorization: `Bearer ${secret}` },
        { Cookie: `__Host-staff=${admin.token}` },
        { Cookie: `__Host-staff=${secret}; __Host-staff=${secret}` },
        { Cookie: `__Host-staff=${secret}`, Authorization: 'Bearer xs_x' },
        { Cookie: `__Host-staff=${secret}`, Authorization: 'Basic eDp4' },
        { Cookie: `__host-staff=${secret}` },
        { Cookie: `staff=${secret}` },
        { Cookie: `__Host-staff="${secret}"` },
        { Cookie: `__Host-staff=${secret.toLowerCase()}x` },
        { Cookie: `__Host-staff-sign-in=${secret}` },
        { Authorization: `Bearer ${partner.key}` },
        { 'X-API-Key': admin.token },
        { Authorization: `Bearer ${admin.token.slice(0, -1)}` },
        { Authorization: 'Bearer eyJhbGciOiJub25lIn0.eyJlbWFpbCI6ImFkbWluQGV4YW1wbGUuY29tIn0.' },
      ] as Record<string, string>[]) {
        attempt(JSON.stringify(headers), await ask({ Origin, ...headers }), 401);
      }
      const inQuery = await fetch(`${gateway.app.internalUrl}/sign-in?token=${admin.token}`);
      attempt('a token in the query', inQuery.headers.getSetCookie(), []);
    });

    it('cannot be used by pages of other origins, and neither can a WebSocket', async () => {
      const { browser, Origin } = await signedIn('admin');
      const { cookie: Cookie } = browser;
      const url = socketUrl(Origin);
      const { host, port } = new URL(Origin);
      expect(await ask({ Cookie, Origin })).toBe(200);
      expect(await upgradeStatus(url, { Cookie, Origin })).toBe(101);
      for (const headers of [
        {},
        { Origin: 'null' },
        { Origin: '' },
        { Origin: 'https://evil.example' },
        { Origin: `http://${host}.evil.example` },
        { Origin: `http://evil.example:${port}` },
        { Origin: `http://127.0.0.1.evil.example:${port}` },
        { Origin: 'http://127.0.0.1:1' },
        { Origin: 'http://127.0.0.1' },
        { Origin: `http://localhost:${port}` },
        { Origin: `http://[::1]:${port}` },
        { Origin: 'file://' },
        { Origin: 'chrome-extension://abcdefghijklmnop' },
        { Origin: `http://${host}, https://evil.example` },
        { Origin, 'Sec-Fetch-Site': 'cross-site' },
        { Origin, 'Sec-Fetch-Site': 'same-site' },
        { Origin, 'Sec-Fetch-Site': 'none' },
        { Origin: 'https://evil.example', 'X-Forwarded-Host': 'evil.example' },
        { Origin: 'https://evil.example', Referer: `${Origin}/playground` },
      ] as Record<string, string>[]) {
        attempt(`${JSON.stringify(headers)} by POST`, await ask({ Cookie, ...headers }), 403);
        attempt(`${JSON.stringify(headers)} by WebSocket`, await upgradeStatus(url, { Cookie, ...headers }), 403);
      }
    });

    it('is not opened by messages on an open WebSocket', async () => {
      const url = socketUrl(gateway.app.internalUrl);
      const { token } = await newMember(gateway, 'admin');
      attempt('no token', await upgradeStatus(url, {}), 401);
      attempt('a token as protocol', await upgradeStatus(url, {}, ['graphql-transport-ws', token]), 401);
      attempt('a token in the address', await upgradeStatus(`${url}?token=${token}&access_token=${token}`, {}), 401);
      attempt('a key of a partner', await upgradeStatus(url, { Authorization: `Bearer ${partner.key}` }), 401);
    });

    it('ends when the role, the token or the member changes', async () => {
      const admin = await newMember(gateway, 'admin');
      const other = await newMember(gateway, 'admin');
      const { browser, member, Origin } = await signedIn('admin');
      const bySession = () => ask({ Cookie: browser.cookie, Origin }, '{ staff { id } }');
      expect(await bySession()).toBe(200);
      const { enrolmentCode } = await changeStaff(
        admin,
        other,
        `staffRole(id: "${member.id}", role: VIEWER, reason: "x")`,
      );
      attempt('a session of an earlier role', await bySession(), 401);
      attempt('a token of an earlier role', (await member.ask('{ me { id } }')).status, 401);
      const lowered = await enrol(gateway, enrolmentCode);
      const token = lowered?.token ?? '';
      await browser.post('/sign-in', { token });
      expect(await bySession()).toBe(200);
      // Shut out from the proposal on, before anyone approves it.
      await proposeChange(admin, `staffRevoke(id: "${member.id}", reason: "x")`);
      attempt('a session of a revoked member', await bySession(), 401);
      attempt('a token of a revoked member', (await lowered?.ask('{ me { id } }'))?.status, 401);
      attempt('signing in again', (await browser.post('/sign-in', { token })).status, 401);
    });

    it('is checked again at each subscription of an open WebSocket', async () => {
      const admin = await newMember(gateway, 'admin');
      const member: Member = await newMember(gateway, 'viewer');
      const socket = await openSocket(gateway.app.internalUrl, member.token);
      await proposeChange(admin, `staffRevoke(id: "${member.id}", reason: "x")`);
      const [error] = await refusedOn(socket, 'subscription { orderChanged { seq } }');
      attempt('a subscription of a revoked member', error.extensions.kind, 'unauthorized');
      socket.terminate();
    });
  });
});

describe('a client that guesses tokens', () => {
  it('is soon refused every WebSocket, before the gateway reads its token', async () => {
    const small = await startSettledGateway({ settings: { RATE_LIMIT_SIGN_IN_PER_MIN: '3' } });
    try {
      const statuses: number[] = [];
      const url = socketUrl(small.app.internalUrl);
      for (let i = 0; i < 5; i++) statuses.push(await upgradeStatus(url, { Authorization: 'Bearer xs_nonsense' }));
      attempt('five guesses of a token', statuses, [401, 401, 401, 429, 429]);
    } finally {
      await small.stop();
    }
  });
});
