import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const tool = pathToFileURL('tools/build-web.js').href;

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'gateway-build-web-'));
  write('package.json', '{ "type": "module" }');
  write('package-lock.json', '{}');
  write('web/vite.config.ts', 'export default { build: { emptyOutDir: true } };\n');
  for (const surface of ['console', 'cabinet']) {
    write(`web/${surface}/index.html`, '<!doctype html><script type="module" src="/main.js"></script>\n');
    write(`web/${surface}/main.js`, `document.title = '${surface}'; // ${'long '.repeat(500)}\n`);
  }
  write('web/playground/index.html', '<!doctype html><script src="/playground/graphiql.js"></script>\n');
  write('web/playground/package.json', '{}');
  write('web/playground/packaged/graphiql.js', `// ${'long '.repeat(500)}\n`);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function write(path: string, text: string): void {
  mkdirSync(join(root, path, '..'), { recursive: true });
  writeFileSync(join(root, path), text);
}

/** Builds in a separate process. Returns 'built' or 'current'. */
async function build(): Promise<string> {
  const program = `import { buildWeb } from ${JSON.stringify(tool)}; console.log(await buildWeb(process.argv[1]));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program, root]);
  return stdout.trim();
}

const scriptOf = (surface: string): string => {
  const folder = join(root, 'web/dist', surface);
  const [, path = ''] = /src="\/\w+\/([^"]+)"/.exec(readFileSync(join(folder, 'index.html'), 'utf8')) ?? [];
  return readFileSync(join(folder, path), 'utf8');
};

describe('the build of the pages', () => {
  it('does nothing when nothing changed, and builds again after a change or a loss', async () => {
    expect(await build()).toBe('built');
    expect(scriptOf('cabinet')).toContain('cabinet');
    expect(await build()).toBe('current');
    write('web/cabinet/main.js', "document.title = 'changed';\n");
    expect(await build()).toBe('built');
    expect(scriptOf('cabinet')).toContain('changed');
    rmSync(join(root, 'web/dist/console/index.html'));
    expect(await build()).toBe('built');
    expect(existsSync(join(root, 'web/dist/console/index.html'))).toBe(true);
  });

  it('takes the playground as it is, and gives its page the release of its files', async () => {
    const files = (): string[] => readdirSync(join(root, 'web/dist/playground')).sort();
    const release = (): string | undefined => {
      const page = readFileSync(join(root, 'web/dist/playground/index.html'), 'utf8');
      return /src="\/playground\/graphiql\.js\?release=([\w-]{16})"/.exec(page)?.[1];
    };
    await build();
    expect(files()).toEqual(['addresses.json', 'graphiql.js', 'graphiql.js.br', 'graphiql.js.gz', 'index.html']);
    const first = release();
    expect(first).toBeDefined();
    write('web/playground/packaged/graphiql.js', 'changed();\n');
    await build();
    expect(release()).not.toBe(first);
  });

  it('may run several times at once, from nothing and over an older build', async () => {
    for (const title of ['first', 'second']) {
      write('web/console/main.js', `document.title = '${title}';\n`);
      for (const outcome of await Promise.all([build(), build(), build()])) {
        expect(['built', 'current']).toContain(outcome);
      }
      expect(scriptOf('console')).toContain(title);
      expect(await build()).toBe('current');
      expect(readdirSync(join(root, 'web')).sort()).toEqual([
        'cabinet',
        'console',
        'dist',
        'playground',
        'vite.config.ts',
      ]);
    }
  });
});
