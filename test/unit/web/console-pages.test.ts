import { readFileSync } from 'node:fs';
import { consolePages } from '../../../src/internal/console.ts';

const paths = [...readFileSync('web/console/router.tsx', 'utf8').matchAll(/^ {2}page\('([^']+)'/gm)].map(
  ([, path = '']) => path,
);

describe('the addresses of the console', () => {
  it('are the same in its router and in the gateway', () => {
    expect(paths.length).toBeGreaterThan(10);
    for (const path of paths) expect(path.replace('$id', 'a1-b2')).toMatch(consolePages);
    const served = [...consolePages.source.matchAll(/[a-z]{2,}/g)].map(([name]) => name);
    const routed = paths.map((path) => path.split('/')[1]).filter(Boolean);
    expect([...new Set(served)].sort()).toEqual([...new Set(routed)].sort());
  });

  it('that neither has are not served', () => {
    for (const path of ['/nothing', '/orders/a/b', '/audit/a', '/index.html']) expect(path).not.toMatch(consolePages);
  });
});
