import { execFile, execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

interface Program {
  readonly file?: string;
  readonly node?: readonly string[];
}

interface Group {
  readonly programs: Readonly<Record<string, Program>>;
}

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };
interface Choice {
  readonly program?: Program;
  readonly args?: readonly string[];
  readonly help?: string;
  readonly error?: string;
}

const { groups, choose } = (await import(pathToFileURL('tools/run.js').href)) as {
  groups: Record<string, Group>;
  choose(group: string, words: readonly string[]): Choice;
};

/** Files that name commands; the changelog tells of earlier ones. */
const files = execFileSync('git', ['ls-files', '--', '.', ':!package-lock.json', ':!CHANGELOG.md'], {
  encoding: 'utf8',
})
  .split('\n')
  .filter((path) => /(?:\.(?:md|ts|js|json|ya?ml|sql|graphql|sh)|Dockerfile|run|\.example)$/.test(path))
  .filter((path) => existsSync(path));
const commands = files.flatMap((path) =>
  [...readFileSync(path, 'utf8').matchAll(/npm run (?:-s )?([a-z][\w:-]*)(?: -- ([a-z][\w-]*))?/g)].map(
    ([command, script = '', word]) => ({ where: `${path}: ${command}`, script, word }),
  ),
);

function run(...args: string[]): Promise<{ code: number; output: string; errors: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, ['tools/run.js', ...args], (error, output, errors) =>
      resolve({ code: Number(error?.code ?? 0), output, errors }),
    );
  });
}

describe('the scripts of package.json', () => {
  it('are at most twenty', () => {
    expect(Object.keys(scripts).length).toBeLessThanOrEqual(20);
  });

  it('exist where a document names one, with the name of a program', () => {
    expect(commands.length).toBeGreaterThan(100);
    const isThere = ({ script, word }: (typeof commands)[number]): boolean => {
      const programs = Object.keys(groups[script]?.programs ?? {});
      return script in scripts && (word === undefined || programs.length < 2 || programs.includes(word));
    };
    expect(commands.filter((command) => !isThere(command)).map(({ where }) => where)).toEqual([]);
  });

  it('have a line for each group of tools/run.js, whose programs exist', () => {
    for (const [name, { programs }] of Object.entries(groups)) {
      expect(scripts[name]).toBe(`node tools/run.js ${name}`);
      const missing = Object.values(programs).filter(({ file, node = [] }) => !existsSync(file ?? node.at(-1) ?? ''));
      expect(missing).toEqual([]);
    }
  });
});

describe('tools/run.js', () => {
  const several = Object.entries(groups).filter(([, { programs }]) => Object.keys(programs).length > 1);

  it.each(several)('lists the programs of %s, also for an unknown name', (group, { programs }) => {
    const { help } = choose(group, ['--help']);
    for (const name of Object.keys(programs)) expect(help).toMatch(new RegExp(`^  ${name} +\\S`, 'm'));
    expect(choose(group, ['nothing'])).toEqual({ error: `${group} has no 'nothing'\n\n${help}` });
  });

  it('answers an unknown name with the list and 2', async () => {
    const errors = `bench has no 'nothing'\n\n${choose('bench', ['--help']).help}`;
    expect(await run('bench', 'nothing')).toEqual({ code: 2, output: '', errors });
  });

  it('runs the REST benchmark by default', () => {
    const rest = groups.bench?.programs.rest;
    expect(choose('bench', [])).toEqual({ program: rest, args: [] });
    expect(choose('bench', ['--seconds', '1'])).toEqual({ program: rest, args: ['--seconds', '1'] });
  });

  it('passes options on, to a named program and to the default one', async () => {
    const errors = "--turns 'x' is not a whole number from 1; see --help\n";
    expect(await run('bench', 'arithmetic', '--turns', 'x')).toMatchObject({ code: 2, errors });
    const { economics } = groups.economics?.programs ?? {};
    expect(choose('economics', ['--help'])).toEqual({ program: economics, args: ['--help'] });
  });
});
