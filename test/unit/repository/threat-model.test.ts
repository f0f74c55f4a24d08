import { existsSync, readFileSync } from 'node:fs';

// The threat model names a test for each bound. A test that is renamed or removed must not go
// unnoticed there.

const text = readFileSync('docs/threat-model.md', 'utf8');
const cells = (row: string): string[] => row.split('|').map((cell) => cell.trim());
const rows = text.split('\n').filter((line) => /^\| (?!-)/.test(line));
const tests = rows.flatMap((row) => {
  const [, name = '', file = '', title = ''] = cells(row);
  return /^T\d+$/.test(name) ? [{ name, file: file.replaceAll('`', ''), title }] : [];
});
const bounds = rows.filter((row) => cells(row).length >= 6 && !/^\| (actor|payment) /.test(row));

describe('the threat model of money', () => {
  it.each(tests)('names a test that exists: $name', ({ file, title }) => {
    expect(existsSync(file)).toBe(true);
    expect(readFileSync(file, 'utf8').replaceAll("\\'", "'")).toContain(title);
  });

  it('refers to tests that it lists, and lists none that it does not refer to', () => {
    const referred = new Set(bounds.flatMap((row) => row.match(/\bT\d+\b/g) ?? []));
    expect([...referred].sort()).toEqual(tests.map(({ name }) => name).sort());
  });

  it('has a bound and a test in each row', () => {
    expect(bounds.length).toBeGreaterThan(40);
    for (const row of bounds) expect(row).toMatch(/\bT\d+\b|not tested/);
  });
});
