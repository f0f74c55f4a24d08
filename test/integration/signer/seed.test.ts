import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { phraseOfSeed } from '../../../src/signer/phrase.ts';
import { SignerKeys } from '../../../src/signer/signer-keys.ts';

const entropy = Buffer.alloc(32, 7);
const fingerprint = new SignerKeys(entropy).fingerprint();
const passphrase = 'a passphrase of some words';
const program = resolve('src/signer-main.ts');

let dir: string;
let running: ChildProcess[];

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'signer-seed-'));
  running = [];
});

afterEach(async () => {
  for (const child of running) if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
  await rm(dir, { recursive: true, force: true });
});

const seedFile = () => join(dir, 'signer-seed');
const seedText = () => readFile(seedFile(), 'utf8');
const plain = `${entropy.toString('hex')}\n`;

function environment(settings: Record<string, string>): Record<string, string> {
  return { PATH: process.env.PATH ?? '', DATA_DIR: dir, NODE_NO_WARNINGS: '1', LOG_LEVEL: 'silent', ...settings };
}

interface Run {
  readonly child: ChildProcess;
  readonly output: () => string;
  readonly ended: Promise<number | null>;
}

function start(command: readonly string[], settings: Record<string, string> = {}): Run {
  const [file = '', ...args] = command;
  const child = spawn(file, args, { env: environment(settings), stdio: 'pipe' });
  running.push(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (data) => (output += data));
  child.stdin?.on('error', () => {});
  return { child, output: () => output, ended: once(child, 'close').then(() => child.exitCode) };
}

async function run(args: readonly string[], settings: Record<string, string> = {}, input = '') {
  const { child, output, ended } = start([process.execPath, program, ...args], settings);
  child.stdin?.end(input);
  return { code: await ended, output: output() };
}

/**
 * Starts the signer, and gives the fingerprint of its ready line, or what it said when it ended.
 */
async function served(settings: Record<string, string>): Promise<string> {
  return ready(start([process.execPath, program], settings));
}

async function ready({ child, output, ended }: Run): Promise<string> {
  let over = false;
  void ended.then(() => {
    over = true;
  });
  while (!over && !output().includes('fingerprint=')) await sleep(20);
  child.kill('SIGTERM');
  await ended;
  return /fingerprint=([0-9a-f]{16})/.exec(output())?.[1] ?? output();
}

describe('a sealed seed of the signer', () => {
  it('is made by init, which shows no words to what is no terminal, and overwrites nothing', async () => {
    const made = await run(['init'], { SIGNER_PASSPHRASE: passphrase });
    expect(made).toMatchObject({
      code: 0,
      output: expect.stringMatching(/^made the sealed seed .* fingerprint=[0-9a-f]{16}\nno terminal/),
    });
    expect((await stat(seedFile())).mode & 0o777).toBe(0o600);
    const text = await seedText();
    expect(JSON.parse(text)).toMatchObject({ version: 1 });
    expect(await served({ SIGNER_PASSPHRASE: passphrase })).toBe(/fingerprint=(\w+)/.exec(made.output)?.[1]);

    for (const command of ['init', 'restore']) {
      const again = await run([command], { SIGNER_PASSPHRASE: passphrase }, phraseOfSeed(entropy));
      expect(again).toMatchObject({ code: 1, output: expect.stringContaining('is not overwritten') });
    }
    expect(await seedText()).toBe(text);
    expect(await readdir(dir)).toEqual(expect.not.arrayContaining([expect.stringContaining('draft')]));
  });

  it('comes from 24 words on standard input', async () => {
    const restored = await run(['restore'], { SIGNER_PASSPHRASE: passphrase }, `${phraseOfSeed(entropy)}\n`);
    expect(restored).toMatchObject({ code: 0, output: expect.stringContaining(`fingerprint=${fingerprint}`) });
    expect(await served({ SIGNER_PASSPHRASE: passphrase })).toBe(fingerprint);
  });

  it('refuses wrong words and a short passphrase', async () => {
    const words = await run(['restore'], { SIGNER_PASSPHRASE: passphrase }, 'abandon '.repeat(24));
    expect(words).toMatchObject({ code: 1, output: expect.stringContaining('one is wrong') });
    const short = await run(['init'], { SIGNER_PASSPHRASE: 'short' });
    expect(short).toMatchObject({ code: 1, output: expect.stringContaining('at least 12 bytes') });
    expect(await readdir(dir)).toEqual([]);
  });

  it('is what seal makes of a plain one, in its place', async () => {
    await writeFile(seedFile(), plain, { mode: 0o600 });
    expect(await served({})).toBe(fingerprint);
    expect(await run(['seal'], { SIGNER_PASSPHRASE: passphrase })).toMatchObject({ code: 0 });
    const text = await seedText();
    expect(text).not.toContain(plain.trim());
    expect((await stat(seedFile())).mode & 0o777).toBe(0o600);
    expect(await served({ SIGNER_PASSPHRASE: passphrase })).toBe(fingerprint);
    const again = await run(['seal'], { SIGNER_PASSPHRASE: passphrase });
    expect(again).toMatchObject({ code: 1, output: expect.stringContaining('is sealed already') });
    expect(await seedText()).toBe(text);
  });

  it('leaves a plain one as it is when it cannot be sealed', async () => {
    await writeFile(seedFile(), plain, { mode: 0o600 });
    expect(await run(['seal'], { SIGNER_PASSPHRASE: 'short' })).toMatchObject({ code: 1 });
    expect(await run(['seal'])).toMatchObject({ code: 1, output: expect.stringContaining('SIGNER_PASSPHRASE_FILE') });
    expect(await readdir(dir)).toEqual(['signer-seed']);
    expect(await seedText()).toBe(plain);
  });

  it('opens with a passphrase from a file or from a pipe, and says that another is wrong', async () => {
    await writeFile(seedFile(), plain);
    await writeFile(join(dir, 'passphrase'), `${passphrase}\n`);
    const fromFile = { SIGNER_PASSPHRASE_FILE: join(dir, 'passphrase') };
    expect(await run(['seal'], fromFile)).toMatchObject({ code: 0 });
    expect(await served(fromFile)).toBe(fingerprint);

    const pipe = join(dir, 'pipe');
    expect(spawnSync('mkfifo', [pipe]).status).toBe(0);
    const [fromPipe] = await Promise.all([
      served({ SIGNER_PASSPHRASE_FILE: pipe }),
      writeFile(pipe, `${passphrase}\r\n`),
    ]);
    expect(fromPipe).toBe(fingerprint);

    const wrong = await run([], { SIGNER_PASSPHRASE: `${passphrase}!` });
    expect(wrong).toEqual({
      code: 1,
      output: 'cannot start: the passphrase is wrong: it does not open the sealed seed\n',
    });
    expect((await run([])).output).toContain('set SIGNER_PASSPHRASE_FILE to a file that holds it');
  });

  it('may be in the environment instead, and then in no file', async () => {
    const SIGNER_SEED = entropy.toString('hex');
    expect(await served({ SIGNER_SEED })).toBe(fingerprint);
    expect(await readdir(dir)).not.toContain('signer-seed');
    await writeFile(seedFile(), plain);
    const both = await run([], { SIGNER_SEED });
    expect(both).toMatchObject({ code: 1, output: expect.stringContaining('remove one of them') });
    expect(both.output).not.toContain(SIGNER_SEED);
  });

  it('explains each command, and knows no others', async () => {
    for (const command of ['init', 'restore', 'seal', 'phrase']) {
      expect(await run([command, '--help'])).toMatchObject({
        code: 0,
        output: expect.stringContaining(`Usage: npm run signer -- ${command}\n`),
      });
    }
    expect(await run(['start'])).toMatchObject({ code: 1, output: expect.stringContaining("'start' is no command") });
    expect(await run(['phrase'])).toMatchObject({ code: 1, output: expect.stringContaining('at a terminal only') });
    expect(await readdir(dir)).toEqual([]);
  });
});

// `script` of util-linux gives a program a separate terminal.
const hasScript = spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux') ?? false;
if (!hasScript)
  process.stderr.write('\nThere is no script of util-linux here: the signer is not tried at a terminal.\n\n');
const atTerminal = hasScript ? describe : describe.skip;

atTerminal('the signer at a terminal', () => {
  function type(args: readonly string[]): Run {
    const command = [process.execPath, program, ...args].join(' ');
    return start(['script', '--quiet', '--return', '--flush', '--command', command, '/dev/null']);
  }

  /** Types a line once it is asked for. */
  async function answer({ child, output }: Run, question: string, line: string): Promise<void> {
    while (!output().includes(question)) {
      if (child.exitCode !== null) throw new Error(`not asked '${question}', but: ${output()}`);
      await sleep(20);
    }
    child.stdin?.write(line);
  }

  it('asks for a new passphrase twice, shows the words once, and shows no passphrase', async () => {
    const init = type(['init']);
    await answer(init, 'new passphrase', `${passphrase}äx\x7f\x7f\r`);
    await answer(init, 'the same again', `${passphrase}\r`);
    expect(await init.ended).toBe(0);
    expect(init.output()).toContain('any reader of them can take every coin');
    expect(init.output()).not.toContain(passphrase);
    const words = [...init.output().matchAll(/^ {2}( ?\d+ .*)$/gm)].flatMap(([, row = '']) =>
      row
        .trim()
        .split(/\s*\d+ |\s+/)
        .filter((word) => word !== ''),
    );
    const made = /fingerprint=(\w+)/.exec(init.output())?.[1];

    const phrase = type(['phrase']);
    await answer(phrase, 'passphrase of the signer seed', `${passphrase}\r`);
    expect(await phrase.ended).toBe(0);
    expect(words).toHaveLength(24);
    for (const word of words) expect(phrase.output()).toContain(word);

    await rm(seedFile());
    const restored = await run(['restore'], { SIGNER_PASSPHRASE: passphrase }, words.join(' '));
    expect(restored.output).toContain(`fingerprint=${made}`);
  });

  it('reads the words and the passphrase without echo', async () => {
    const restore = type(['restore']);
    await answer(restore, 'the 24 words', `${phraseOfSeed(entropy)}\r`);
    await answer(restore, 'new passphrase', `${passphrase}\r`);
    await answer(restore, 'the same again', `${passphrase}\r`);
    expect(await restore.ended).toBe(0);
    expect(restore.output()).toContain(`fingerprint=${fingerprint}`);
    expect(restore.output()).not.toContain(phraseOfSeed(entropy).slice(0, 20));
  });

  it('makes nothing of two different passphrases, or of Ctrl-C', async () => {
    const init = type(['init']);
    await answer(init, 'new passphrase', `${passphrase}\r`);
    await answer(init, 'the same again', `${passphrase}!\r`);
    expect(await init.ended).toBe(1);
    expect(init.output()).toContain('the two are not the same');
    const other = type(['init']);
    await answer(other, 'new passphrase', 'half\x03');
    expect(await other.ended).toBe(1);
    expect(await readdir(dir)).toEqual([]);
  });
});
