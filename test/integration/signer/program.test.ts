import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import {
  client,
  closing,
  dir,
  entropy,
  intent,
  listenAt,
  local,
  secretBytes,
  serve,
  socketPath,
  txOf,
  withSocketSigner,
} from '../../support/chains/signer-socket.ts';

withSocketSigner();

describe('the program signer', () => {
  interface Program {
    readonly child: ChildProcess;
    readonly output: () => string;
    readonly ended: Promise<number | null>;
  }

  /** The source itself, as the build may be older. */
  function run(...args: string[]): Program {
    const child = spawn(process.execPath, [resolve('src/signer-main.ts'), ...args], {
      env: { ...process.env, DATA_DIR: dir, SIGNER_SOCKET: socketPath, NODE_NO_WARNINGS: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += data));
    const ended = once(child, 'close').then(() => child.exitCode);
    closing.push(() => child.kill('SIGKILL') && ended);
    return { child, output: () => output, ended };
  }

  async function isReady({ child, output, ended }: Program): Promise<string> {
    while (!output().includes('signer ready')) {
      if (child.exitCode !== null) throw new Error(`it ended instead: ${output()}`);
      await Promise.race([once(child.stdout ?? child, 'data'), ended]);
    }
    return output().trim();
  }

  it('serves its seed, survives SIGKILL through its journal, and drains on SIGTERM', async () => {
    await writeFile(join(dir, 'signer-seed'), `${Buffer.from(entropy).toString('hex')}\n`);
    await writeFile(join(dir, 'signer-secret'), `${Buffer.from(secretBytes).toString('hex')}\n`);
    const first = run();
    expect(await isReady(first)).toBe(`signer ready socket=${socketPath} fingerprint=${await local.fingerprint()}`);
    const signed = await client.sign('bitcoin', intent, txOf());
    await expect(serve()).rejects.toThrow('another signer serves');

    first.child.kill('SIGKILL');
    await first.ended;
    expect((await stat(socketPath)).isSocket()).toBe(true);
    await expect(client.sign('bitcoin', intent, txOf())).rejects.toMatchObject({ code: 'unavailable' });

    const second = run();
    await isReady(second);
    expect(await client.sign('bitcoin', intent, txOf())).toEqual(signed);
    await expect(client.sign('bitcoin', intent, txOf(1))).rejects.toMatchObject({ code: 'refused' });
    second.child.kill('SIGTERM');
    expect(await second.ended).toBe(0);
    await expect(stat(socketPath)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('says where the seed should be, and makes none', async () => {
    const program = run();
    expect(await program.ended).toBe(1);
    expect(program.output()).toMatch(
      /^cannot start: there is no signer seed at .*signer-seed; make one with npm run signer -- init/,
    );
    await expect(stat(join(dir, 'signer-seed'))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('says that the folder of its socket is missing, and how to choose another', async () => {
    await writeFile(join(dir, 'signer-seed'), `${Buffer.from(entropy).toString('hex')}\n`);
    listenAt(join(dir, 'nowhere', 'signer.sock'));
    const program = run();
    expect(await program.ended).toBe(1);
    expect(program.output()).toMatch(
      /^cannot start: there is no folder \S+nowhere, where SIGNER_SOCKET has .*; a good value: \/run\/gateway\/signer.sock\n$/,
    );
  });

  it('explains itself', async () => {
    const program = run('--help');
    expect(await program.ended).toBe(0);
    expect(program.output()).toContain('Usage: npm run signer');
  });
});
