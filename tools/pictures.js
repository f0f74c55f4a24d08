// Renews the documentation's pictures of every page, by the browser tests that open these pages.
// Usage: npm run demo -- pictures --help
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = 'docs/pictures';
const index = 'docs/pictures.md';

/** The surfaces that are shown, each with its title and the tests that open its pages. */
const surfaces = {
  console: ['Staff console', 'console-pages'],
  playground: ['GraphQL playground', 'console-pages', 'playground'],
  cabinet: ['Partner cabinet', 'cabinet-pages'],
  'order-page': ['Order page', 'order-page'],
  guides: ['Documentation for integrators', 'docs'],
};
/** The forms of a page, in the order of the table: width and theme, and the width in the table. */
const forms = [
  ['1280-light', 320],
  ['1280-dark', 320],
  ['390-light', 110],
  ['390-dark', 110],
];

const help = `Usage: npm run demo -- pictures [<surface> ...]

Opens every page in Chromium, light and dark, 1280 and 390 pixels wide, and writes their pictures below ${folder} and
the list of them to ${index}. Takes some ten minutes. Surfaces: ${Object.keys(surfaces).join(', ')}; all unless named.
`;

/** The text of the list: a table for each surface, with a row for each page. */
export function pictureList(names) {
  const parts = [
    '# Pictures of every page',
    '',
    'Written by `npm run demo -- pictures`, from the pages that the browser tests open. Long ones are',
    'cut.',
  ];
  for (const [surface, [title]] of Object.entries(surfaces)) {
    const shown = new Set(names(surface));
    const pages = [...new Set([...shown].map((name) => name.replace(/-\d+-(light|dark)\.webp$/, '')))].sort();
    if (pages.length === 0) continue;
    parts.push('', `## ${title}`, '', `| page |${forms.map(([form]) => ` ${form.replace('-', ', ')} |`).join('')}`);
    parts.push(`|---|${forms.map(() => '---|').join('')}`);
    for (const page of pages) {
      const cells = forms.map(([form, width]) => {
        const name = `${page}-${form}.webp`;
        if (!shown.has(name)) return ' |';
        const path = `pictures/${surface}/${name}`;
        return ` <a href="${path}"><img src="${path}" width="${width}" alt="${page}, ${form.replace('-', ', ')}"></a> |`;
      });
      parts.push(`| ${page} |${cells.join('')}`);
    }
  }
  return `${parts.join('\n')}\n`;
}

/** The names of a surface's pictures. */
export function picturesOf(surface) {
  const path = join(root, folder, surface);
  return existsSync(path) ? readdirSync(path).sort() : [];
}

function main(words) {
  if (words.includes('--help') || words.includes('-h')) {
    process.stdout.write(help);
    return;
  }
  const unknown = words.find((word) => !Object.hasOwn(surfaces, word));
  if (unknown !== undefined) {
    process.stderr.write(`there is no surface '${unknown}'\n\n${help}`);
    process.exitCode = 2;
    return;
  }
  const wanted = words.length === 0 ? Object.keys(surfaces) : words;
  mkdirSync(join(root, folder), { recursive: true });
  const taken = mkdtempSync(join(root, 'docs/.pictures-'));
  try {
    const jest = ['--import', 'tsx', 'node_modules/jest/bin/jest.js', '--config', 'jest.config.js', '--forceExit'];
    const tests = new Set(wanted.flatMap((surface) => surfaces[surface].slice(1)));
    const files = [...tests].map((test) => `test/browser/${test}.test.ts`);
    const { status } = spawnSync(process.execPath, [...jest, '--runInBand', ...files], {
      cwd: root,
      stdio: 'inherit',
      env: { ...process.env, PICTURES: taken, CI_BROWSER: 'required' },
    });
    if (status !== 0) {
      process.stderr.write('a page has a fault, so the pictures stay as they were\n');
      process.exitCode = status ?? 1;
      return;
    }
    for (const surface of wanted) {
      rmSync(join(root, folder, surface), { recursive: true, force: true });
      renameSync(join(taken, surface), join(root, folder, surface));
    }
    writeFileSync(join(root, index), pictureList(picturesOf));
  } finally {
    rmSync(taken, { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main(process.argv.slice(2));
