// Prints the packages of a deployed gateway by licence. Exits with 1 when a licence is not on the
// list.
// Usage: node tools/licences.js
import { readFileSync, realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Licences that allow the use and distribution of packages with notices only. */
const allowed = new Set([
  'MIT',
  'ISC',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  '0BSD',
  'BlueOak-1.0.0',
  'Unlicense',
  'Python-2.0',
  'PSF-2.0',
  'CC0-1.0',
]);

/**
 * True when an SPDX expression can be satisfied with licences of the list only.
 */
export function isAllowed(expression) {
  const plain = expression.replaceAll(/[()]/g, '');
  return plain.split(' OR ').some((choice) => choice.split(' AND ').every((licence) => allowed.has(licence)));
}

/**
 * Packages without development packages, and the packages of the playground, each with
 * its licence. Null for a package without one.
 */
export function licences(root = new URL('..', import.meta.url)) {
  const locks = ['package-lock.json', 'web/playground/package-lock.json'];
  return locks
    .flatMap((lock) => Object.entries(JSON.parse(readFileSync(new URL(lock, root), 'utf8')).packages))
    .filter(([path, entry]) => path.includes('node_modules/') && !entry.dev && !entry.link)
    .map(([path, entry]) => ({
      name: `${path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)}@${entry.version}`,
      licence: entry.license ?? null,
    }));
}

if (realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const found = licences();
  const counts = Map.groupBy(found, ({ licence }) => licence ?? 'none');
  for (const [licence, packages] of [...counts].sort(([, a], [, b]) => b.length - a.length)) {
    const isListed = isAllowed(licence);
    console.log(
      `${String(packages.length).padStart(4)} ${licence}${isListed ? '' : `, not on the list: ${packages.map(({ name }) => name).join(', ')}`}`,
    );
  }
  process.exitCode = found.every(({ licence }) => isAllowed(licence ?? 'none')) ? 0 : 1;
}
