import { existsSync, readFileSync } from 'node:fs';

const text = readFileSync('SECURITY.md', 'utf8');
const boundaries = [...text.matchAll(/^### (.+)$/gm)].map(([, name]) => name);

describe('SECURITY.md', () => {
  it('names existing test files', () => {
    const named = [...text.matchAll(/`(test\/[^`]+)`/g)].map(([, path = '']) => path);
    expect(named.length).toBeGreaterThan(boundaries.length);
    expect([...new Set(named)].filter((path) => !existsSync(path))).toEqual([]);
  });

  it('names a test for each threat', () => {
    const rows = text.split('\n').filter((line) => /^\| (?!threat|---)/.test(line) && !line.startsWith('|---'));
    expect(rows.filter((row) => !/\| `test\/[^|]+` \|$/.test(row))).toEqual([]);
  });

  it('has every trust boundary', () => {
    expect(boundaries).toEqual([
      'Internet → public listener',
      'Partner → order',
      "Staff's browser → internal listener",
      'Gateway → PostgreSQL',
      'Gateway → Redis',
      "Gateway → signer's socket",
      'Gateway → nodes of chains',
      'Gateway → exchanges and prices',
      'Operator → command line and host',
      'npm → build',
    ]);
  });
});
