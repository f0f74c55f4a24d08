import { request } from 'node:http';
import { startGateway } from '../../support/gateway/gateway.ts';
import { alertOf, StaffBrowser } from '../../support/staff/staff-browser.ts';
import { browser, clock, gateway, newMember, signedIn, withStaffGateway } from '../../support/staff/staff-gateway.ts';

withStaffGateway();

describe('a gateway over plain HTTP on a network', () => {
  const signIn = (host: string, token: string, method = 'POST', base = gateway.app.internalUrl) =>
    new Promise<{ status: number; body: string }>((resolve, reject) => {
      const body = new URLSearchParams({ token }).toString();
      const headers = { Host: host, Origin: `http://${host}`, 'Content-Type': 'application/x-www-form-urlencoded' };
      const sent = request(`${base}/sign-in`, { method, headers }, (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part) => parts.push(part));
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(parts).toString() }));
      });
      sent.once('error', reject);
      sent.end(method === 'POST' ? body : undefined);
    });

  it('refuses to sign in and says what to do', async () => {
    const { token } = await newMember();
    for (const method of ['POST', 'GET']) {
      const { status, body } = await signIn('gateway.internal:8081', token, method);
      expect([status, alertOf(body)]).toEqual([
        method === 'POST' ? 403 : 200,
        expect.stringMatching(/HTTPS.*TRUSTED_PROXIES.*SSH/),
      ]);
    }
    for (const host of ['localhost:8081', '127.0.0.1', '[::1]:8081']) {
      expect((await signIn(host, token)).status).toBe(303);
    }
  });

  it('refuses so too at its port without the TLS proxy, and not behind it', async () => {
    const proxied = await startGateway({
      settings: { INTERNAL_PUBLIC_URL: 'https://staff.example.com' },
      outside: { clock, background: false },
    });
    try {
      const { token } = await proxied.staff.create('ada@example.com', 'viewer');
      const plain = await signIn('gateway.internal:8081', token, 'POST', proxied.app.internalUrl);
      expect([plain.status, alertOf(plain.body)]).toEqual([403, expect.stringContaining('HTTPS')]);
      const behind = new StaffBrowser(proxied.app.internalUrl);
      const response = await behind.post('/sign-in', { token }, { Origin: 'https://staff.example.com' });
      expect(response.status).toBe(303);
      expect(alertOf(await (await new StaffBrowser(proxied.app.internalUrl).get('/sign-in')).text())).toBe('');
    } finally {
      await proxied.stop();
    }
  });
});

describe('a worker', () => {
  it('answers health checks and nothing that is for staff', async () => {
    const worker = await startGateway({
      databaseUrl: gateway.databaseUrl,
      settings: { ROLE: 'worker' },
      outside: { clock, background: false },
    });
    try {
      const own = new StaffBrowser(worker.app.internalUrl);
      expect((await own.get('/livez')).status).toBe(200);
      for (const path of ['/', '/sign-in', '/playground', '/console']) expect((await own.get(path)).status).toBe(404);
    } finally {
      await worker.stop();
    }
  });
});

describe('the playground', () => {
  it('is served to signed-in staff only, and only where the setting allows it', async () => {
    const refused = await browser().get('/playground');
    expect([refused.status, refused.headers.get('location')]).toEqual([302, '/sign-in?return_to=/playground']);
    const stranger = await browser().get('/playground/graphiql.js');
    expect([stranger.status, stranger.headers.get('location')]).toEqual([302, '/sign-in?return_to=/playground']);
    const { own } = await signedIn();
    const response = await own.get('/playground');
    expect(response.status).toBe(200);
    expect(response.headers.get('cache-control')).toBe('no-store');
    const policy = response.headers.get('content-security-policy') ?? '';
    expect(policy).toMatch(/default-src 'none'; script-src 'self';/);
    expect(policy).not.toMatch(/https?:|\*|unsafe-eval/);
    const html = await response.text();
    const addresses = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1] ?? '');
    expect(addresses.length).toBeGreaterThan(6);
    for (const address of addresses) {
      const asset = await own.get(address);
      expect([address, asset.status]).toEqual([address, 200]);
      if (address.includes('release=')) expect(asset.headers.get('cache-control')).toContain('immutable');
    }

    const without = await startGateway({
      settings: { PLAYGROUND: 'false' },
      outside: { clock, background: false },
    });
    try {
      const visitor = new StaffBrowser(without.app.internalUrl);
      expect((await visitor.get('/playground')).status).toBe(404);
      expect((await visitor.get('/')).headers.get('location')).toBe('/console');
      const { token } = await without.staff.create('ada@example.com', 'viewer');
      expect((await visitor.post('/sign-in', { token })).headers.get('location')).toBe('/console');
      expect(await (await visitor.get('/sign-in')).text()).not.toContain('/playground');
    } finally {
      await without.stop();
    }
  });
});
