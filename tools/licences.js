// The licences of every package that a deployed gateway runs, by licence; 1 when one is not on the list. npm run licences
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Licences that let the packages be used and passed on with notices alone. */
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

/** Whether an SPDX expression leaves a licence of the list to choose, and none beside it to obey. */
export function isAllowed(expression) {
  const plain = expression.replaceAll(/[()]/g, '');
  return plain.split(' OR ').some((choice) => choice.split(' AND ').every((licence) => allowed.has(licence)));
}

/** Packages without the development ones, each with its licence; null where it names none. */
export function licences(root = new URL('..', import.meta.url)) {
  const { packages } = JSON.parse(readFileSync(new URL('package-lock.json', root), 'utf8'));
  return Object.entries(packages)
    .filter(([path, entry]) => path.includes('node_modules/') && !entry.dev && !entry.link)
    .map(([path, entry]) => ({
      name: `${path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)}@${entry.version}`,
      licence: entry.license ?? null,
    }));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
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
