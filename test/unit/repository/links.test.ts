import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const pages = execFileSync('git', ['ls-files', '*.md'], { encoding: 'utf8' }).trim().split('\n');
const proseOf = (file: string): string => readFileSync(file, 'utf8').replace(/^```.*?^```/gms, '');

/** The names that a page's headings have on GitHub. */
function anchorsOf(file: string): Set<string> {
  const headings = [...proseOf(file).matchAll(/^#+ (.+)$/gm)].map(([, text = '']) => text);
  return new Set(
    headings.map((text) =>
      text
        .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .toLowerCase()
        .replace(/[^\p{L}\p{N}_\- ]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}

/** The links of a page that lead to no file or to no heading. */
function brokenLinks(file: string): string[] {
  const links = [...proseOf(file).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
  return links.filter((link) => {
    if (/^(?:[a-z]+:|\/)/.test(link)) return false;
    const [path = '', anchor] = link.split('#');
    const target = path === '' ? file : join(dirname(file), path);
    return !existsSync(target) || (anchor !== undefined && !anchorsOf(target).has(anchor));
  });
}

/**
 * The paths of the repository that a page names and that do not exist. Decision records and the
 * changelog name files that no longer exist.
 */
function missingPaths(file: string): string[] {
  if (file.startsWith('docs/adr/') || file === 'CHANGELOG.md') return [];
  const named = proseOf(file).matchAll(/`((?:src|test|web|tools|docs|deploy|client|schema)\/[\w./-]+)`/g);
  return [...named].map(([, path = '']) => path).filter((path) => !existsSync(path));
}

describe('links between documents', () => {
  it('lead to a file, and to a heading of it', () => {
    expect(pages).toEqual(expect.arrayContaining(['README.md', 'docs/performance.md', 'docs/partners/errors.md']));
    expect(pages.flatMap((file) => brokenLinks(file).map((link) => `${file}: ${link}`))).toEqual([]);
  });

  it('name paths of the repository that exist', () => {
    expect(pages.flatMap((file) => missingPaths(file).map((path) => `${file}: ${path}`))).toEqual([]);
  });
});
