import { spawn } from 'node:child_process';
import { createDatabase, query, type TestDatabase } from '../../support/database/database.ts';
import { builtScript } from '../../support/gateway/built-process.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database?.drop());

/** Runs a program whose output is closed before the program writes, as `head` does it. */
function withoutReader(...args: string[]): Promise<{ code: number | null; errors: string }> {
  return new Promise((resolve, reject) => {
    const { PATH = '', HOME = '', TEST_DATA_DIR: DATA_DIR = '' } = process.env;
    const child = spawn(process.execPath, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH, HOME, DATA_DIR, DATABASE_URL: database.url },
    });
    child.stdout.destroy();
    let errors = '';
    child.stderr.on('data', (data) => {
      errors += data;
    });
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, errors }));
  });
}

const cli = [builtScript('surfaces/cli/main.js')];

const tool = 'tools/run.js';

describe('a command whose reader ended', () => {
  it('ends quietly, with the exit code that it has anyway', async () => {
    expect(await withoutReader(...cli, 'currency', 'list')).toEqual({ code: 0, errors: '' });
    expect(await withoutReader(...cli, 'ledger', 'reconcile')).toEqual({ code: 0, errors: '' });
  });

  it('finishes its work', async () => {
    expect(await withoutReader(...cli, 'partner', 'create', '--name', 'Reader')).toEqual({ code: 0, errors: '' });
    expect(await query(database.url, "select name from partner where name = 'Reader'")).toEqual([{ name: 'Reader' }]);
  });

  it.each([
    ['a list of benchmarks', ['bench', '--help']],
    ['a benchmark', ['bench', 'arithmetic', '--turns', '1']],
    ['the simulator', ['economics', '--help']],
    ['a demo', ['demo', '--help']],
  ])('ends quietly where it is %s', async (_, args) => {
    expect(await withoutReader(tool, ...args)).toEqual({ code: 0, errors: '' });
  });
});
