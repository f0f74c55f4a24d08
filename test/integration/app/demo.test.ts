import { spawn } from 'node:child_process';
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

let folder: string;

function run(command: string, ...args: string[]): Promise<{ code: number | null; output: string; errors: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, TMPDIR: folder } });
    let output = '';
    let errors = '';
    child.stdout.on('data', (data) => {
      output += data;
    });
    child.stderr.on('data', (data) => {
      errors += data;
    });
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, output, errors }));
  });
}

describe('npm run demo', () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'demo-test-'));
    // Root's PostgreSQL runs as another user, who must get through.
    await chmod(folder, 0o711);
  });

  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('shows an order from its creation to its payout, and leaves nothing behind', async () => {
    const { code, output, errors } = await run(process.execPath, 'tools/demo.js');
    expect({ code, errors }).toEqual({ code: 0, errors: '' });
    expect(output).toMatch(/waiting_deposit|confirming/);
    expect(output).toMatch(/^ *[\d.]+ s {2}completed:/m);
    expect(output).toMatch(/payout [0-9a-f]{64}$/m);
    expect((await readdir(folder)).filter((name) => name.startsWith('gateway-'))).toEqual([]);
  });

  it('shows an order in and out of Tron, on simulated nodes', async () => {
    const { code, output, errors } = await run(process.execPath, 'tools/run.js', 'demo', 'tron');
    expect({ code, errors }).toEqual({ code: 0, errors: '' });
    expect(output).toMatch(/s {2}completed$/m);
    expect(output).toMatch(/checks, 0 differences/);
  });

  it('explains itself', async () => {
    const { code, output } = await run(process.execPath, 'tools/demo.js', '--help');
    expect([code, output.startsWith('Usage: npm run demo')]).toEqual([0, true]);
  });
});
