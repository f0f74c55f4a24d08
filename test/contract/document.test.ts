import { readFileSync } from 'node:fs';
import { errorTable } from '../../src/base/errors.ts';
import { startGateway, type TestGateway } from '../support/gateway/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway?.stop());

/** Kinds that only the command line, staff surfaces or the partner cabinet can meet. */
const inside = new Set([
  'partner_not_found',
  'currency_not_found',
  'key_not_found',
  'staff_not_found',
  'already_exists',
  'too_many_keys',
  'deposit_not_found',
  'action_not_found',
  'hold_not_found',
  'action_not_possible',
  'second_member_needed',
  'approval_too_early',
  'foreign_origin',
  'passkey_refused',
  'passkey_required',
  'member_not_found',
  'invitation_not_found',
  'passkey_not_found',
  'network_locked_out',
  'insufficient_role',
  'query_too_complex',
  'query_too_slow',
]);

describe('the document', () => {
  it('names every error code of the gateway that a partner can get, and no other code', () => {
    const text = readFileSync('docs/partners/errors.md', 'utf8');
    const table = text.slice(text.indexOf('| Codes | Status |'));
    const named = [...table.matchAll(/`([a-z_]+)`/g)].map((match) => match[1]).sort();
    expect(named).toEqual(
      Object.keys(errorTable)
        .filter((kind) => !inside.has(kind))
        .sort(),
    );
  });

  it('gives each error code its HTTP status', () => {
    const text = readFileSync('docs/partners/errors.md', 'utf8');
    for (const [kind, { status }] of Object.entries(errorTable)) {
      const row = text.split('\n').find((line) => line.includes(`\`${kind}\``) && /\| \d{3} \|$/.test(line));
      if (!inside.has(kind)) expect({ kind, row: row?.trim().endsWith(`| ${status} |`) }).toEqual({ kind, row: true });
    }
  });

  it('is served as JSON, with an ETag', async () => {
    const reply = await gateway.call('GET', '/openapi.json');
    expect(Object.keys(reply.json.paths)).toContain('/partner/orders');
    const again = await gateway.call('GET', '/openapi.json', {
      headers: { 'If-None-Match': reply.headers.get('etag') ?? '' },
    });
    expect([again.status, again.text]).toEqual([304, '']);
  });

  it('is rendered from packaged files: the page names no other host, and may load from none', async () => {
    const response = await fetch(`${gateway.app.restUrl}/api/v1/docs`);
    const page = await response.text();
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(page).not.toMatch(/https?:\/\//);
    for (const [, path] of page.matchAll(/(?:src|href)="(\/[^"]+)"/g)) {
      const file = await fetch(`${gateway.app.restUrl}${path}`);
      expect(file.status).toBe(200);
      const etag = file.headers.get('etag') ?? '';
      const again = await fetch(`${gateway.app.restUrl}${path}`, { headers: { 'If-None-Match': etag } });
      expect(again.status).toBe(304);
    }
  });

  it('has every route: each path of the listener is an operation of the contract or the documentation', async () => {
    for (const path of ['/health', '/orders', '/partner', '/partner/orders/a/b', '/currencies/BTC', '/docs/x']) {
      expect((await gateway.call('GET', path)).status).toBe(404);
    }
  });
});

describe('icons', () => {
  it('are cached for ever with a version, for a while without one, and have a sandbox policy', async () => {
    const rows = (await gateway.call('GET', '/currencies')).json as { icon_url: string }[];
    for (const { icon_url } of rows) {
      const reply = await gateway.call('GET', icon_url.replace('/api/v1', ''));
      expect(reply.headers.get('cache-control')).toContain('immutable');
      expect(reply.headers.get('content-security-policy')).toContain('sandbox');
      expect(reply.text).toMatch(/^<svg /);
    }
    const plain = await gateway.call('GET', '/coin-icons/btc.svg');
    expect(plain.headers.get('cache-control')).toBe('public, max-age=300');
  });
});
