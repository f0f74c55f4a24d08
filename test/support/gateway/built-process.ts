import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { programEnvironment } from './program-environment.ts';

export interface BuiltProcessOptions {
  /** Under dist, such as 'main.js', or an absolute path. */
  readonly script: string;
  /** Options of Node itself. */
  readonly nodeOptions?: readonly string[];
  /** Of its log in the folder. */
  readonly name: string;
  readonly folder: string;
  /** Settings, and constants with other values. */
  readonly settings: Readonly<Record<string, string>>;
  /** What it prints when it is ready. */
  readonly ready: RegExp;
  /** Whether it has a separate process group, as a service has. */
  readonly isGroupLeader?: boolean;
  /** Called with what it prints. */
  readonly onOutput?: (text: string) => void;
}

const startTimeoutMs = 120_000;

/** Where Node keeps compiled programs. One that starts again needs a quarter less time. */
const compileCache = join(tmpdir(), 'gateway-tests-compiled');

let isBuilt = false;

/**
 * The path of a program below dist, such as 'main.js', which is brought up to date first, once in a
 * process. From dist a program starts in half the time that its sources take.
 */
export function builtScript(name: string): string {
  if (!isBuilt) execFileSync(process.execPath, ['tools/build.js'], { stdio: ['ignore', 'ignore', 'inherit'] });
  isBuilt = true;
  return resolve('dist', name);
}

/**
 * Runs a command of the command line to its end, on the database of a test.
 *
 * @param settings Other settings than those of the database and the folder of tests.
 */
export function commandLine(
  databaseUrl: string,
  args: readonly string[],
  settings: Readonly<Record<string, string>> = {},
): Promise<{ code: number; output: string; errors: string }> {
  const { PATH = '', HOME = '', TEST_DATA_DIR: DATA_DIR = '' } = process.env;
  const env = { PATH, HOME, DATA_DIR, DATABASE_URL: databaseUrl, NODE_COMPILE_CACHE: compileCache, ...settings };
  const program = [builtScript('surfaces/cli/main.js'), ...args];
  return new Promise((done) => {
    execFile(process.execPath, program, { env }, (error, output, errors) =>
      done({ code: error === null ? 0 : Number(error.code ?? 1), output, errors }),
    );
  });
}

function environment(settings: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const { PATH = '', HOME = '' } = process.env;
  return programEnvironment({ PATH, HOME, NODE_ENV: 'production', NODE_COMPILE_CACHE: compileCache, ...settings });
}

/**
 * A program of ours from dist, as an operator runs it, with its log in a folder. It ends with this
 * process.
 */
export class BuiltProcess {
  readonly #options: BuiltProcessOptions;
  #child: ChildProcess;
  #ended: Promise<unknown> = Promise.resolve();
  #output = '';
  #isReady = false;

  constructor(options: BuiltProcessOptions) {
    this.#options = options;
    this.#child = this.#spawn();
  }

  /** Starts it again, once it has ended. */
  start(): void {
    if (this.isRunning) throw new Error(`${this.#options.name} is running`);
    this.#child = this.#spawn();
  }

  #spawn(): ChildProcess {
    const {
      script,
      nodeOptions = [],
      name,
      folder,
      settings,
      ready,
      isGroupLeader = false,
      onOutput = () => {},
    } = this.#options;
    const child = spawn(process.execPath, ['--enable-source-maps', ...nodeOptions, resolve('dist', script)], {
      cwd: folder,
      env: environment(settings),
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: isGroupLeader,
    });
    this.#output = '';
    this.#isReady = false;
    const kill = (): void => void child.kill('SIGKILL');
    process.once('exit', kill);
    const log = createWriteStream(join(folder, `${name}.log`), { flags: 'a' });
    const hear = (data: Buffer): void => {
      log.write(data);
      if (!this.#isReady) this.#output += data;
      this.#isReady ||= ready.test(this.#output);
      onOutput(String(data));
    };
    child.stdout?.on('data', hear);
    child.stderr?.on('data', hear);
    this.#ended = once(child, 'close').then(() => {
      process.off('exit', kill);
      log.end();
    });
    return child;
  }

  get pid(): number {
    if (this.#child.pid === undefined) throw new Error(`${this.#options.name} did not start`);
    return this.#child.pid;
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Whether it is at work: it runs, and has said that it is ready. */
  get isReady(): boolean {
    return this.isRunning && this.#isReady;
  }

  /** By itself, and not by a signal; null for one that runs or was ended. */
  get exitCode(): number | null {
    return this.#child.exitCode;
  }

  /** Waits until it is ready. Returns what it printed until then. */
  async ready(): Promise<string> {
    for (const deadline = Date.now() + startTimeoutMs; Date.now() < deadline && this.isRunning; await sleep(25)) {
      if (this.#isReady) return this.#output;
    }
    throw new Error(`${this.#options.name} did not start:\n${this.#output}`);
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  /** To it and to every process that it started. */
  signalGroup(name: NodeJS.Signals): void {
    process.kill(-this.pid, name);
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    if (this.isRunning) this.#child.kill(signal);
    await this.#ended;
  }
}

/** Runs a program of ours from dist to its end. */
export function runBuilt(
  script: string,
  args: readonly string[],
  { folder, settings }: Pick<BuiltProcessOptions, 'folder' | 'settings'>,
): Promise<{ code: number; output: string; errors: string }> {
  const options = { cwd: folder, env: environment(settings), maxBuffer: 64 * 1024 * 1024 };
  return new Promise((done) => {
    execFile(process.execPath, [resolve('dist', script), ...args], options, (error, output, errors) =>
      done({ code: error === null ? 0 : Number(error.code ?? 1), output, errors }),
    );
  });
}
