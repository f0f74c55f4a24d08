import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readArguments } from '../support/faults/arguments.ts';

const help = `Usage: npm run fuzz -- --chains [options]

Blocks with hostile content, read by the real scanners from imitated nodes; whether each scan reaches the head, and
credits what the chain says and nothing else.

  --runs <n>         chains of each kind (20)
  --seed <n>         seed of the first; the others follow it; a random one unless given
`;

/** Runs the tests of hostile chains on this many seeds. Returns the exit code. */
export async function fuzzChains(): Promise<number> {
  process.argv.splice(process.argv.indexOf('--chains'), 1);
  const { runs, seed } = readArguments(help, { runs: 20 });
  const flags = ['--import', 'tsx'];
  const file = 'test/integration/chains/hostile-chains.test.ts';
  const jest = ['node_modules/jest/bin/jest.js', '--config', 'jest.config.js', file, '--forceExit'];
  const { NODE_ENV: _production, ...environment } = process.env;
  const child = spawn(process.execPath, [...flags, ...jest], {
    stdio: 'inherit',
    env: { ...environment, CHAIN_FUZZ_RUNS: String(runs), CHAIN_FUZZ_SEED: String(seed) },
  });
  const [code] = await once(child, 'exit');
  process.stdout.write(`fuzz: chains=${4 * runs} seed=${seed} ${code === 0 ? 'faults=0' : 'with faults'}\n`);
  return code === 0 ? 0 : 1;
}
