import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { type Surface, WebBundle, webPolicy } from '../../../src/surfaces/pages/web-bundle.ts';

const addressesOf = (surface: Surface): string[] =>
  JSON.parse(readFileSync(`web/dist/${surface}/addresses.json`, 'utf8'));

describe.each<Surface>(['console', 'cabinet'])('the bundle of the %s', (surface) => {
  let bundle: WebBundle;
  beforeAll(() => {
    execFileSync(process.execPath, ['tools/build-web.js'], { stdio: 'inherit' });
    bundle = WebBundle.read(surface);
  });

  it('has a page at each address of its router', () => {
    const router = readFileSync(`web/${surface}/router.tsx`, 'utf8');
    const loaded = new Set([...router.matchAll(/import\('\.\/pages\/[\w-]+\.tsx'\)/g)].map(([text]) => text));
    const addresses = addressesOf(surface);
    const moved = [...router.matchAll(/\bmoved\('/g)].length;
    expect(addresses).toHaveLength(loaded.size + moved);
    expect(addresses).toEqual(expect.arrayContaining(['/', '/orders', '/orders/$id', '/me']));
    for (const address of addresses)
      expect([address, bundle.hasPage(address.replace('$id', 'a1-b2'))]).toEqual([address, true]);
    expect(bundle.hasPage('')).toBe(true);
    expect(bundle.hasPage('/orders/')).toBe(true);
  });

  it('has no page elsewhere', () => {
    for (const path of [
      '/nothing',
      '/orders/a/b',
      '/me/a',
      '/index.html',
      '/orders/a.b',
      `/orders/${'a'.repeat(65)}`,
    ]) {
      expect([path, bundle.hasPage(path)]).toEqual([path, false]);
      expect(bundle.file(path, undefined)).toBeNull();
    }
    for (const path of ['/addresses.json', '/.vite/manifest.json']) expect(bundle.file(path, undefined)).toBeNull();
  });

  it('sends each file in the form that the browser reads', () => {
    const [, script = ''] = new RegExp(`src="/${surface}(/assets/[^"]+\\.js)"`).exec(bundle.page) ?? [];
    const plain = bundle.file(script, undefined);
    expect(plain?.headers).toMatchObject({ 'Content-Type': 'text/javascript; charset=utf-8', Vary: 'Accept-Encoding' });
    expect(plain?.headers['Content-Encoding']).toBeUndefined();
    for (const [accepted, coding] of [
      ['gzip', 'gzip'],
      ['gzip, br', 'br'],
    ] as const) {
      const packed = bundle.file(script, accepted);
      expect(packed?.headers['Content-Encoding']).toBe(coding);
      expect(packed?.headers['Cache-Control']).toBe('public, max-age=31536000, immutable');
      expect(packed?.content.length).toBeLessThan(plain?.content.length ?? 0);
    }
    expect(bundle.file('/licences.md', undefined)?.headers['Cache-Control']).toBe('no-cache');
  });
});

it('the policy admits no code but our own files', () => {
  expect(webPolicy(' wss://staff.example')).toContain("connect-src 'self' wss://staff.example;");
  expect(webPolicy()).not.toMatch(/unsafe|\*/);
});
