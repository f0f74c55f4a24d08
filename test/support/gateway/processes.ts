import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

/** A program under test that writes one JSON object a line. */
export class TalkingProcess {
  readonly messages: Record<string, unknown>[] = [];
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #ended: Promise<unknown>;
  #errors = '';

  constructor(command: readonly string[]) {
    const [program = '', ...args] = command;
    this.child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'], cwd: '/' });
    this.#ended = once(this.child, 'close');
    createInterface({ input: this.child.stdout }).on('line', (line) => this.messages.push(JSON.parse(line)));
    this.child.stderr.on('data', (data) => {
      this.#errors += data;
    });
    this.child.stdin.on('error', () => {});
  }

  /**
   * Waits for a message that has the member, and returns the member. A start takes long on a busy
   * machine.
   */
  async said(member: string, timeoutMs = 120_000): Promise<string> {
    for (const deadline = Date.now() + timeoutMs; Date.now() < deadline; await sleep(10)) {
      const found = this.messages.find((message) => member in message);
      if (found) return String(found[member]);
      if (this.child.exitCode !== null || this.child.signalCode !== null) await this.#ended;
      if (this.child.stdout.closed && !this.messages.some((message) => member in message)) break;
    }
    throw new Error(`the process did not say '${member}', but: ${JSON.stringify(this.messages)} ${this.#errors}`);
  }

  tell(line: string): void {
    this.child.stdin.write(`${line}\n`);
  }

  async end(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) this.child.kill(signal);
    await this.#ended;
  }
}

/**
 * The processes whose command line names the folder or that work below it, except ourselves. Linux
 * only.
 */
export async function processesOn(folder: string): Promise<{ pid: number; command: string }[]> {
  const found: { pid: number; command: string }[] = [];
  for (const name of await readdir('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    const text = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    const command = text.replaceAll('\0', ' ').trim();
    const cwd = await readlink(`/proc/${pid}/cwd`).catch(() => '');
    if (command.includes(folder) || cwd.startsWith(folder)) found.push({ pid, command });
  }
  return found;
}

/** Waits until no process uses the folder; returns the remaining ones at the timeout. */
export async function processesLeftOn(folder: string, timeoutMs = 60_000): Promise<string[]> {
  for (const deadline = Date.now() + timeoutMs; ; await sleep(20)) {
    const left = await processesOn(folder);
    if (left.length === 0 || Date.now() > deadline) return left.map(({ command }) => command);
  }
}
