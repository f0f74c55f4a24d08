// Runs the benchmarks, tortures, demos and rehearsals: builds first, sets NODE_ENV, passes options
// on.
// Usage: npm run bench -- --help, and the same for each other group
import { spawn } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';
import { buildOrExit } from './build.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const jest = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', 'node_modules/jest/bin/jest.js'];
const allFaultTests = ['--testPathIgnorePatterns', '/node_modules/', '--testTimeout', '300000', 'test/fault'];

/**
 * The programs of each group by name, each with one line for --help. A group is a script of
 * package.json.
 * `build` says that the program runs dist, `env` is what it gets as NODE_ENV unless that is
 * 'production', and `args` come before those of the caller. A group with its own single program
 * name takes no name.
 */
export const groups = {
  bench: {
    about: 'performance measurements; docs/performance.md explains the figures',
    whenUnnamed: 'rest',
    programs: {
      rest: {
        file: 'test/bench/rest.ts',
        build: true,
        about: 'each REST endpoint, compared with a server written by hand',
      },
      arithmetic: { file: 'test/bench/arithmetic.ts', about: 'quotes, address checks, derivation, keys and ids' },
      partner: {
        file: 'test/bench/partner.ts',
        build: true,
        about: 'quotes, checks, lists and details of a large partner',
      },
      processes: { file: 'test/bench/processes.ts', build: true, about: 'one api process and two behind one port' },
      growth: { file: 'test/bench/growth.ts', build: true, about: 'a database that grows to ten million orders' },
      partitions: { file: 'test/bench/partitions.ts', about: 'orders in one table and in partitions by month' },
      scan: { file: 'test/bench/scan.ts', about: 'reading blocks of real chains while many orders wait' },
      hostile: { file: 'test/bench/hostile.ts', about: 'honest payouts next to recipients that refuse coins' },
      payout: { file: 'test/bench/payout.ts', about: 'from a final deposit on Tron to the broadcast of its payout' },
      settle: { file: 'test/bench/settle.ts', about: 'orders that one worker settles in a second' },
      dust: {
        file: 'test/bench/dust.ts',
        about: 'many small deposits in one block, and orders of others at the same time',
      },
      webhooks: { file: 'test/bench/webhooks.ts', env: null, about: 'dispatch and sending of webhooks' },
      replays: {
        file: 'test/bench/replays.ts',
        env: null,
        about: 'what replays and reads of one partner take from others',
      },
      start: { file: 'test/bench/start.ts', build: true, about: 'time until ready, and memory, for each way to start' },
      // The pages that it opens are built and served by a process of this one.
      pages: { file: 'test/bench/pages.ts', env: null, about: 'pages for people in Chromium: paint, content, size' },
      staff: { file: 'test/bench/staff.ts', about: "queries of the staff's dashboards at many orders" },
      'seed-orders': { file: 'test/bench/seed-orders.ts', about: 'fills a database with orders to measure on' },
    },
  },
  torture: {
    about: 'provoked faults; docs/faults.md explains the tables',
    whenUnnamed: 'orders',
    programs: {
      orders: {
        file: 'test/fault/thousand-orders.ts',
        build: true,
        about: '1,000 orders while workers are killed and chains reorganise',
      },
      creates: {
        file: 'test/fault/creates.ts',
        build: true,
        about: '100,000 creates while api processes and sessions of PostgreSQL are killed',
      },
      chains: { file: 'test/fault/real-chains.ts', build: true, about: '100 orders each way between real nodes' },
      faults: { file: 'test/fault/faults.ts', build: true, about: 'dependencies are killed, hung, slowed and filled' },
      crashes: {
        node: jest,
        args: allFaultTests,
        env: null,
        build: true,
        about: 'tests: a kill at every crash point, lost leases, cut connections; takes options of Jest',
      },
    },
  },
  demo: {
    about: 'one order from its creation to its payout, and pictures of all pages',
    whenUnnamed: 'sandbox',
    programs: {
      sandbox: { node: ['tools/demo.js'], env: null, build: true, about: 'BTC to USDT on the sandbox chains' },
      evm: { file: 'test/demo/real-chains.ts', args: ['evm'], env: null, build: true, about: 'ETH to LTC, real nodes' },
      utxo: {
        file: 'test/demo/real-chains.ts',
        args: ['utxo'],
        env: null,
        build: true,
        about: 'LTC to USDT, real nodes',
      },
      tron: {
        file: 'test/demo/real-chains.ts',
        args: ['tron'],
        env: null,
        build: true,
        about: 'USDT to TRX, simulated Tron nodes',
      },
      xrp: {
        file: 'test/demo/real-chains.ts',
        args: ['xrp'],
        env: null,
        build: true,
        about: 'LTC to XRP, simulated servers of the XRP Ledger',
      },
      stellar: {
        file: 'test/demo/real-chains.ts',
        args: ['stellar'],
        env: null,
        build: true,
        about: 'USDC to XLM, simulated servers of Stellar',
      },
      solana: {
        file: 'test/demo/real-chains.ts',
        args: ['solana'],
        env: null,
        build: true,
        about: 'USDC to SOL, simulated servers of Solana over its virtual machine',
      },
      ton: {
        file: 'test/demo/real-chains.ts',
        args: ['ton'],
        env: null,
        build: true,
        about: 'USDT to TON, simulated indexes of TON over its virtual machine',
      },
      monero: {
        file: 'test/demo/real-chains.ts',
        args: ['monero'],
        env: null,
        build: true,
        about: 'LTC to XMR, a real node and its wallets',
      },
      pictures: {
        node: ['tools/pictures.js'],
        env: null,
        build: true,
        about: 'renews docs/pictures by the browser tests',
      },
    },
  },
  rehearse: {
    about: 'procedures of operators, and nets under changes; docs/testing.md explains them',
    programs: {
      restore: { file: 'test/deploy/restore.ts', build: true, about: 'the database is lost under load and restored' },
      upgrade: {
        file: 'test/deploy/upgrade.ts',
        build: true,
        about: 'the version before and this one on one database',
      },
      replay: {
        file: 'test/nets/replay.ts',
        env: null,
        about: 'a seeded day of orders, kills and reorganisations, compared with its record',
      },
      quotes: { file: 'test/nets/quotes.ts', about: 'a million random quotes, as they were before to the last digit' },
      mutants: {
        file: 'test/nets/mutants.ts',
        env: null,
        about: 'faults put into a copy, which the tests must notice',
      },
    },
  },
  fuzz: { programs: { fuzz: { file: 'test/fuzz/main.ts', build: true } } },
  soak: { programs: { soak: { file: 'test/fault/soak.ts', build: true } } },
  economics: { programs: { economics: { file: 'test/economics/main.ts' } } },
};

/** The --help text of a group. */
function helpOf(name, { about, whenUnnamed, programs }) {
  const width = Math.max(...Object.keys(programs).map((program) => program.length));
  const lines = Object.entries(programs).map(
    ([program, { about }]) =>
      `  ${program.padEnd(width)}  ${about}${program === whenUnnamed ? ' (when no name is given)' : ''}`,
  );
  const first = Object.keys(programs)[0];
  return `Usage: npm run ${name} -- ${whenUnnamed ? '[<name>]' : '<name>'} [options]

${about[0].toUpperCase()}${about.slice(1)}.

${lines.join('\n')}

Options of one of them: npm run ${name} -- ${whenUnnamed ?? first} --help
`;
}

/**
 * Chooses the program of a command line, with its arguments. Otherwise returns the text to print:
 * help, or an error.
 */
export function choose(groupName, words) {
  const group = groups[groupName];
  if (!group)
    return { error: `there is no group '${groupName ?? ''}'; known are: ${Object.keys(groups).join(', ')}\n` };
  const names = Object.keys(group.programs);
  if (names.length === 1) return { program: group.programs[names[0]], args: words };
  const [word, ...others] = words;
  if (word === '--help' || word === '-h') return { help: helpOf(groupName, group) };
  if (word !== undefined && Object.hasOwn(group.programs, word)) return { program: group.programs[word], args: others };
  const isUnnamed = word === undefined || word.startsWith('-');
  if (isUnnamed && group.whenUnnamed) return { program: group.programs[group.whenUnnamed], args: words };
  const fault = isUnnamed ? `${groupName} needs a name` : `${groupName} has no '${word}'`;
  return { error: `${fault}\n\n${helpOf(groupName, group)}` };
}

/**
 * Runs a program to its end, and ends with its exit code. Signals reach the program, which cleans
 * up.
 */
function run(program, own) {
  const { file, node = ['--import', 'tsx', file], args = [], env = 'production', build = false } = program;
  if (build) buildOrExit();
  const whole = ['--import', './tools/closed-output.js', ...node, ...args, ...own];
  const environment = env === null ? process.env : { ...process.env, NODE_ENV: env };
  const child = spawn(process.execPath, whole, { cwd: root, stdio: 'inherit', env: environment });
  // A terminal sends SIGINT to the program itself.
  process.on('SIGINT', () => {});
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.once('error', (error) => {
    console.error(error.message);
    process.exit(1);
  });
  child.once('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
}

function main() {
  const [groupName, ...words] = process.argv.slice(2);
  const { help, error, program, args } = choose(groupName, words);
  if (help) process.stdout.write(help);
  if (error) {
    process.stderr.write(error);
    process.exitCode = 2;
  }
  if (program) run(program, args);
}

if (realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  if (Number.parseInt(process.versions.node, 10) < 24) {
    console.error(`Node 24 is needed, and this is ${process.version}; npm brings its own`);
    process.exit(1);
  }
  await import('./closed-output.js');
  main();
}
