import { execFile } from 'node:child_process';
import { pathToFileURL } from 'node:url';

interface Fault {
  readonly line: number;
  readonly kind: string;
  readonly what: string;
}

const tool = 'tools/prose-lint.js';
const module = (await import(pathToFileURL(tool).href)) as { proseFaults(path: string, source: string): Fault[] };

/** Faults of some lines of text, each as its line and its kind. */
function faults(path: string, ...lines: string[]): string[] {
  return module.proseFaults(path, lines.join('\n')).map(({ line, kind }) => `${line} ${kind}`);
}

const words = (count: number): string => Array.from({ length: count }, () => 'w').join(' ');
const hiding = ['no', 'body'].join('');

function run(...args: string[]): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [tool, ...args], (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), output: stdout + stderr }),
    );
  });
}

describe('the lint of prose', () => {
  it('finds a hiding word in a comment and in a quoted text, and not in the code', () => {
    expect(faults('a.ts', `// What ${hiding} sent.`, `throw new Error('${hiding} sent it');`)).toEqual([
      '1 word',
      '2 text',
    ]);
    expect(faults('a.ts', `const ${hiding} = 65534;`, `call('${hiding}');`, `// The user \`${hiding}\`.`)).toEqual([]);
    expect(faults('a.ts', 'const quote = /[\'"]/;', `const ${hiding} = 'a b';`, `x(); // ${hiding}`)).toEqual([
      '3 word',
    ]);
  });

  it('finds a sentence of more than 30 words in a comment, at the line where it begins', () => {
    expect(faults('a.ts', '/**', ` * Short. A ${words(20)}`, ` * ${words(9)}.`, ' */')).toEqual([]);
    expect(faults('a.ts', '/**', ' * Short.', ` * A ${words(16)}`, ` * ${words(16)}.`, ' */')).toEqual(['3 sentence']);
    expect(faults('a.ts', `// A ${words(16)}`, `// ${words(16)}.`)).toEqual(['1 sentence']);
    expect(faults('a.ts', `// - ${words(16)}`, `// - ${words(16)}.`)).toEqual([]);
    expect(faults('a.ts', `const text = '${words(40)}';`)).toEqual([]);
  });

  it('finds a comment of more than 100 columns, and leaves wide code alone', () => {
    const wide = 'x'.repeat(98);
    expect(faults('a.ts', `// ${wide}`, `call('${wide}');`, `// https://${wide}`)).toEqual(['1 width']);
    expect(faults('a.ts', `// biome-ignore lint/a: ${wide}`)).toEqual([]);
  });

  it('reads documents without code blocks, and lets tables be wide', () => {
    const wide = 'x'.repeat(101);
    expect(faults('a.md', wide, '```', wide, hiding, '```', `| ${wide} |`, `| ${hiding} |`)).toEqual([
      '1 width',
      '7 word',
    ]);
  });

  it('finds dialect in guides and comments, and not in decision records, the changelog, texts and tests', () => {
    const text = ['A process of its own.', '`anew`', '| counted anew |'];
    expect(faults('docs/a.md', ...text)).toEqual(['1 dialect', '3 dialect']);
    expect(faults('docs/adr/0001-a.md', ...text)).toEqual([]);
    expect(faults('CHANGELOG.md', ...text)).toEqual([]);
    for (const path of ['src/a.ts', 'client/src/a.ts', 'web/a.ts']) {
      expect(faults(path, '// A process of its own.', "call('a process of its own');")).toEqual(['1 dialect']);
    }
    expect(faults('test/a.test.ts', '// A process of its own.')).toEqual([]);
    expect(faults('src/base/db/migrations/0001-a.ts', '// A process of its own.')).toEqual([]);
  });

  it('reads the descriptions of a contract and of a schema', () => {
    expect(
      faults('a.yaml', `  description: For ${hiding}.`, `  ${hiding}: x`, '  description: |', `    ${words(31)}.`),
    ).toEqual(['1 word', '4 sentence']);
    expect(faults('schema/a.graphql', `"""For ${hiding}."""`, `${hiding}: ID`, `"""`, `${words(31)}`, `"""`)).toEqual([
      '1 word',
      '4 sentence',
    ]);
  });

  it('lets a line off that gives a reason, and the line after it', () => {
    const bad = `// For ${hiding}.`;
    expect(faults('a.ts', `${bad} prose-ok: a quotation`)).toEqual([]);
    expect(faults('a.ts', '// prose-ok: a quotation', '', bad)).toEqual(['3 word']);
    expect(faults('a.ts', '// prose-ok: a quotation', bad)).toEqual([]);
    expect(faults('a.ts', '// prose-ok:', bad)).toEqual(['2 word']);
  });

  it('lists faults by file and line, explains itself, and refuses an unknown option', async () => {
    expect(await run('--help')).toEqual({ code: 0, output: expect.stringContaining('Usage: npm run prose') });
    expect(await run('--loud')).toEqual({ code: 2, output: expect.stringContaining("'--loud'") });
    expect(await run(tool)).toEqual({ code: 0, output: '' });
    expect((await run('--count', tool)).output).toMatch(/^together +0 +0 +0 +0 +0$/m);
  });
});
