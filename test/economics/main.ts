// What users of every kind win from the house, and it from them. Usage: npm run economics -- --help
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { isSound, renderReport } from './report.ts';
import { type Outcome, type RunOptions, runStrategy } from './run.ts';
import { strategies } from './strategies.ts';

const help = `Usage: npm run economics -- [options]

Lets strategies loose on gateways of their own and prints what the house won and lost to each, from its ledger.
Ends with 1 when a strategy beats its bound, or the book differs from the chains. docs/economics.md explains the table.

  --strategy <names>    of them, separated by commas: ${Object.keys(strategies).join(', ')} (all)
  --orders <n>          orders of each strategy (100000); strategies that settle most of their orders make fewer
  --whole               every strategy makes all of --orders
  --volatility <list>   yearly, in percent, a run for each (60,100)
  --jumps <percent>     size of a jump, up or down (2)
  --jumps-per-day <n>   each of one coin (4)
  --days <n>            days of the market at most (30)
  --seed <n>            seed of the market and of every choice (1)
  --set <NAME=value>    a setting of the gateway; may be given more than once
  --processes <n>       runs at the same time (one for each core)
  --json                outcomes as JSON
`;

interface Job {
  readonly name: string;
  readonly options: Omit<RunOptions, 'onProgress'>;
}

/** A child process runs one job, which its parent sends it. */
async function serveJob(): Promise<void> {
  // A run ends with the process that asked for it.
  for (const event of ['disconnect', 'SIGTERM', 'SIGINT']) process.on(event, () => process.exit(1));
  const [job] = (await once(process, 'message')) as [Job];
  const strategy = strategies[job.name];
  if (!strategy) throw new Error(`there is no strategy ${job.name}`);
  const onProgress = (line: string): void => void process.stderr.write(`${line}\n`);
  const outcome = await runStrategy(strategy, { ...job.options, onProgress });
  process.send?.(outcome, () => process.exit(0));
}

async function runJob(job: Job): Promise<Outcome> {
  const child = fork(fileURLToPath(import.meta.url), ['--job'], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  child.send(job);
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`the run of ${job.name} ended with ${code}`);
  });
  const [outcome] = (await Promise.race([once(child, 'message'), ended])) as [Outcome];
  await ended.catch(() => {});
  return outcome;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      strategy: { type: 'string', default: Object.keys(strategies).join(',') },
      orders: { type: 'string', default: '100000' },
      whole: { type: 'boolean', default: false },
      volatility: { type: 'string', default: '60,100' },
      jumps: { type: 'string', default: '2' },
      'jumps-per-day': { type: 'string', default: '4' },
      days: { type: 'string', default: '30' },
      seed: { type: 'string', default: '1' },
      set: { type: 'string', multiple: true, default: [] },
      processes: { type: 'string', default: String(availableParallelism()) },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(help);
    return;
  }
  const names = values.strategy.split(',');
  const unknown = names.filter((name) => !(name in strategies));
  if (unknown.length > 0) refuse(`--strategy knows no ${unknown.join(', ')}`);
  const orders = numberOf('orders', values.orders);
  const seed = numberOf('seed', values.seed);
  const days = numberOf('days', values.days);
  const settings = Object.fromEntries(
    values.set.map((text) => {
      const [name = '', ...rest] = text.split('=');
      return [name, rest.join('=')];
    }),
  );
  const jobs = names.flatMap((name) =>
    values.volatility.split(',').map((volatility): Job => {
      const market = {
        volatility: numberOf('volatility', volatility) / 100,
        jump: numberOf('jumps', values.jumps) / 100,
        jumpsPerDay: numberOf('jumps-per-day', values['jumps-per-day']),
        correlation: 0.7,
      };
      const share = values.whole ? 1 : (strategies[name]?.share ?? 1);
      return { name, options: { market, seed, orders: Math.ceil(orders * share), days, settings } };
    }),
  );
  const outcomes: Outcome[] = [];
  const left = jobs.entries();
  const worker = async (): Promise<void> => {
    for (const [index, job] of left) {
      const percent = Math.round(job.options.market.volatility * 100);
      process.stderr.write(`${job.name} at ${percent} %: ${job.options.orders} orders\n`);
      const outcome = await runJob(job);
      process.stderr.write(renderReport([outcome]));
      outcomes[index] = outcome;
    }
  };
  await Promise.all(Array.from({ length: numberOf('processes', values.processes) }, worker));
  process.stdout.write(values.json ? `${JSON.stringify(outcomes)}\n` : renderReport(outcomes));
  if (!values.whole && !values.json) process.stdout.write(partsOf(names));
  process.exitCode = outcomes.every(isSound) ? 0 : 1;
}

/** Why some strategies make fewer orders than were asked for. */
function partsOf(names: readonly string[]): string {
  const lines = names.flatMap((name) => {
    const { share = 1, because = '' } = strategies[name] ?? {};
    return share < 1 ? [`${name} makes ${share * 100} % of --orders: ${because}.`] : [];
  });
  return lines.length === 0 ? '' : `\n${lines.join('\n')}\n`;
}

function numberOf(name: string, text: string): number {
  if (!/^\d{1,10}(\.\d{1,4})?$/.test(text)) refuse(`--${name} '${text}' is not a number`);
  return Number(text);
}

function refuse(fault: string): never {
  process.stderr.write(`${fault}; see --help\n`);
  process.exit(2);
}

if (process.argv.includes('--job')) await serveJob();
else await main();
