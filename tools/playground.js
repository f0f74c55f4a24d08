// Copies GraphiQL and what it runs on from their packages to web/playground/packaged, with their
// licences. npm ci does not install these packages. Run this after a change of
// web/playground/package.json or its lock file, and commit the result.
// Usage: node tools/playground.js
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('../web/playground', import.meta.url));
const packaged = join(folder, 'packaged');
const manifests = ['package.json', 'package-lock.json'];

/** Each file of the page, and the file of a package that it is. */
const files = {
  'graphiql.css': 'graphiql/graphiql.min.css',
  'graphiql.js': 'graphiql/graphiql.min.js',
  'graphql-ws.js': 'graphql-ws/umd/graphql-ws.min.js',
  'react-dom.js': 'react-dom/umd/react-dom.production.min.js',
  'react.js': 'react/umd/react.production.min.js',
};

/** The texts of all licences: the file of GraphiQL holds parts of most of its packages. */
function licences(installed, lock) {
  const found = Object.entries(lock.packages).flatMap(([path, { version, license }]) => {
    const at = join(installed, path);
    if (path === '' || !existsSync(at)) return [];
    const name = readdirSync(at).find((each) => /^licen[cs]e/i.test(each));
    const title = `## ${path.slice(path.lastIndexOf('node_modules/') + 13)} - ${version} (${license})`;
    return [{ title, text: name ? readFileSync(join(at, name), 'utf8').trim() : '' }];
  });
  const sections = [...Map.groupBy(found, ({ text }) => text)].map(
    ([text, packages]) => `${packages.map(({ title }) => title).join('\n')}\n\n${text}\n`,
  );
  return `# Licences of the playground's packages\n\n${sections.join('\n')}`;
}

const installed = mkdtempSync(join(tmpdir(), 'playground-'));
try {
  for (const name of manifests) cpSync(join(folder, name), join(installed, name));
  execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: installed, stdio: 'inherit' });
  const lock = readFileSync(join(folder, 'package-lock.json'), 'utf8');
  const written = Object.entries(files).map(([name, source]) => {
    const text = readFileSync(join(installed, 'node_modules', source), 'utf8');
    // The source map is not served, and requests for it would only fill the log.
    return [name, text.replace(/\n\/\/# sourceMappingURL=\S+\s*$/, '\n')];
  });
  written.push(['licences.md', licences(installed, JSON.parse(lock))]);
  for (const [name, text] of written) writeFileSync(join(packaged, name), text);
  const hash = (text) => createHash('sha256').update(text).digest('base64url');
  const record = { lock: hash(lock), files: Object.fromEntries(written.map(([name, text]) => [name, hash(text)])) };
  writeFileSync(join(packaged, 'record.json'), `${JSON.stringify(record, null, 2)}\n`);
} finally {
  rmSync(installed, { recursive: true });
}
