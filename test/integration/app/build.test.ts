import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const tool = pathToFileURL('tools/build.js').href;

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'gateway-build-'));
  write('package.json', '{ "type": "module" }');
  const options = { module: 'nodenext', target: 'es2024', types: [], sourceMap: true, rootDir: 'src', outDir: 'dist' };
  write('tsconfig.json', JSON.stringify({ compilerOptions: options, include: ['src'] }));
  write('src/main.ts', 'export const answer: number = 1;\n');
  write('src/part/other.ts', 'export const other: number = 2;\n');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function write(path: string, text: string): void {
  mkdirSync(join(root, path, '..'), { recursive: true });
  writeFileSync(join(root, path), text);
}

const read = (path: string): string => readFileSync(join(root, path), 'utf8');

/**
 * Builds in a separate process. Returns 'built', 'current', or the exit code and what the
 * compiler said.
 */
function build(): string {
  const program = `import { build } from ${JSON.stringify(tool)}; console.log(build(process.argv[1]));`;
  try {
    const args = ['--input-type=module', '--eval', program, root];
    return execFileSync(process.execPath, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    return stdout + stderr;
  }
}

const outputs = (): string[] =>
  readdirSync(join(root, 'dist'), { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.js(?:\.map)?$/.test(path))
    .sort();

describe('the build', () => {
  it('compiles nothing when nothing changed but the times of files', () => {
    expect(build()).toBe('built');
    expect(outputs()).toEqual(['main.js', 'main.js.map', 'part/other.js', 'part/other.js.map']);
    utimesSync(join(root, 'src/main.ts'), new Date(), new Date());
    const { mtimeMs } = statSync(join(root, 'dist/main.js'));
    expect(build()).toBe('current');
    expect(statSync(join(root, 'dist/main.js')).mtimeMs).toBe(mtimeMs);
  });

  it('sees a change that keeps the size and the time of a source, as a checkout may', () => {
    const path = join(root, 'src/main.ts');
    const { atime, mtime } = statSync(path);
    build();
    const { mtimeMs } = statSync(join(root, 'dist/part/other.js'));
    write('src/main.ts', 'export const answer: number = 7;\n');
    utimesSync(path, atime, mtime);
    expect(build()).toBe('built');
    expect(read('dist/main.js')).toContain('answer = 7');
    // What did not change is not written again.
    expect(statSync(join(root, 'dist/part/other.js')).mtimeMs).toBe(mtimeMs);
  });

  it.each([
    ['the folder', () => rmSync(join(root, 'dist'), { recursive: true })],
    ['one output', () => rmSync(join(root, 'dist/part/other.js'))],
    ['one source map', () => rmSync(join(root, 'dist/main.js.map'))],
    ['a part of an output', () => write('dist/main.js', 'export')],
    ['the record of the build', () => write('dist/.build.json', '{')],
  ])('makes up for the loss of %s', (_, lose) => {
    build();
    const before = [read('dist/main.js'), read('dist/part/other.js')];
    lose();
    expect(build()).toBe('built');
    expect([read('dist/main.js'), read('dist/part/other.js')]).toEqual(before);
    expect(outputs()).toHaveLength(4);
    expect(build()).toBe('current');
  });

  it('removes the output of a source that is gone, with its folder', () => {
    build();
    rmSync(join(root, 'src/part'), { recursive: true });
    write('dist/stray.js', '');
    expect(build()).toBe('built');
    expect(readdirSync(join(root, 'dist')).sort()).toEqual(['.build.json', '.tsbuildinfo', 'main.js', 'main.js.map']);
  });

  it('compiles again after a change of the settings', () => {
    build();
    write('tsconfig.json', read('tsconfig.json').replace('"sourceMap":true', '"sourceMap":false'));
    expect(build()).toBe('built');
    expect(read('dist/main.js')).not.toContain('sourceMappingURL');
  });

  it('fails for as long as a source does not compile', () => {
    build();
    write('src/main.ts', "export const answer: number = 'x';\n");
    for (const _ of [1, 2]) expect(build()).toMatch(/src\/main\.ts.*TS2322[\s\S]*src does not compile/);
    write('src/main.ts', 'export const answer: number = 1;\n');
    expect(build()).toBe('built');
    expect(read('dist/main.js')).toContain('answer = 1');
  });
});
