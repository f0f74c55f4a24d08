import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { toUnits } from '../../src/base/money.ts';
import { type CrashPoint, crashPoints } from '../../src/settlement/turns/crash-point.ts';
import { findLitecoind } from '../support/chains/litecoind.ts';
import { RealChains } from '../support/chains/real-chains.ts';
import { type RoughChain, RoughEthereum, RoughLitecoin } from '../support/chains/rough-chains.ts';
import { type SignerEnd, SignerGate } from '../support/chains/signer-gate.ts';
import { SignerProcess } from '../support/chains/signer-process.ts';
import { createDatabase, query, type TestDatabase } from '../support/database/database.ts';
import { SettlingChild, type SettlingStart } from '../support/faults/settling-child.ts';
import { TestClock } from '../support/gateway/clock.ts';
import { Dice } from '../support/gateway/dice.ts';
import { startGateway, type TestGateway } from '../support/gateway/gateway.ts';

// The crash matrix on real nodes. A process settles an order between Ethereum and Litecoin. It or
// its signer is killed at each crash point in turn, and a chain is reorganised. Another process
// goes on. The balance of the recipient's address on its chain decides.

interface Scenario {
  readonly from: { readonly coin: string; readonly network: string; readonly chain: ChainName };
  readonly to: { readonly coin: string; readonly network: string; readonly chain: ChainName };
  readonly amount: string;
  /** What is sent, where it is not the amount: below the minimum. */
  readonly deposit: string | null;
  readonly ends: 'completed' | 'refunded';
}

type ChainName = 'ethereum' | 'litecoin';

const ether = { coin: 'ETH', network: 'ETH', chain: 'ethereum' } as const;
const token = { coin: 'USDT', network: 'ERC20', chain: 'ethereum' } as const;
const litecoin = { coin: 'LTC', network: 'LTC', chain: 'litecoin' } as const;
const scenarios = {
  'a payout of tokens': { from: litecoin, to: token, amount: '1', deposit: null, ends: 'completed' },
  'a payout on Litecoin': { from: ether, to: litecoin, amount: '0.05', deposit: null, ends: 'completed' },
  'a refund on Ethereum': { from: ether, to: litecoin, amount: '0.05', deposit: '0.002', ends: 'refunded' },
  'a refund on Litecoin': { from: litecoin, to: token, amount: '1', deposit: '0.05', ends: 'refunded' },
} as const satisfies Record<string, Scenario>;
type ScenarioName = keyof typeof scenarios;
const scenarioNames = Object.keys(scenarios) as ScenarioName[];
const crashPointNames = Object.keys(crashPoints) as CrashPoint[];
const signerEnds: readonly SignerEnd[] = ['before it signs', 'after it signed'];

/** Nothing is exchanged on the way to a refund. */
function passes(scenario: ScenarioName, at: CrashPoint | SignerEnd): boolean {
  return scenarios[scenario].ends === 'completed' || !at.startsWith('trade.');
}

/** What became of an order, and what is wrong with it. */
interface Cell {
  readonly scenario: ScenarioName;
  readonly at: CrashPoint | SignerEnd;
  isKilled: boolean;
  status: string;
  paid: bigint;
  readonly faults: string[];
}

interface Order {
  readonly id: string;
  readonly depositAddress: string;
  readonly amountTo: string;
  readonly recipient: string;
  readonly refund: string;
}

interface Currency {
  readonly coin: string;
  readonly network: string;
  readonly decimals: number;
  readonly fee: string;
  readonly contract: string | null;
}

/** More than a reorganisation is deep. */
const confirmations = 3;
const askTimeoutMs = 300_000;
const maxRounds = 150;
const dice = new Dice(31);

/**
 * The nodes, the signer and the database that all cells share, since they share the hot wallets.
 */
class Stage {
  readonly nodes: RealChains;
  readonly chains: Readonly<Record<ChainName, RoughChain>>;
  readonly gate: SignerGate;
  readonly clock = new TestClock();
  readonly #database: TestDatabase;
  readonly #settings: Readonly<Record<string, string>>;
  #gateway: TestGateway | null = null;
  #key = '';
  #currencies: readonly Currency[] = [];
  hot: Readonly<Record<ChainName, string>> = { ethereum: '', litecoin: '' };

  private constructor(
    parts: Pick<Stage, 'nodes' | 'chains' | 'gate'>,
    database: TestDatabase,
    settings: Readonly<Record<string, string>>,
  ) {
    this.nodes = parts.nodes;
    this.chains = parts.chains;
    this.gate = parts.gate;
    this.#database = database;
    this.#settings = settings;
  }

  static async open(): Promise<Stage> {
    const nodes = await RealChains.start({
      // Sweeps would pass crash points as well, and must not end the process there.
      ethereum: { finality: confirmations, sweep_from: {} },
      litecoin: { finality: confirmations, sweep_from: {} },
    });
    const chains = {
      ethereum: await RoughEthereum.open(nodes.anvil, nodes.token),
      litecoin: await RoughLitecoin.open(nodes.litecoind),
    };
    const dataDir = join(nodes.folder, 'data');
    await mkdir(dataDir);
    const signerPath = join(nodes.folder, 'signer.sock');
    const socketPath = join(nodes.folder, 'gate.sock');
    const settings = {
      ...nodes.environment,
      DATA_DIR: dataDir,
      SIGNER_SOCKET: socketPath,
      PRICE_MAX_AGE_SEC: '86400',
    };
    const gate = await SignerGate.open({
      socketPath,
      signerPath,
      start: async () => {
        const seed = Buffer.alloc(32, 7).toString('hex');
        const signer = new SignerProcess({ ...settings, SIGNER_SOCKET: signerPath, SIGNER_SEED: seed });
        await signer.ready();
        return signer;
      },
    });
    const stage = new Stage({ nodes, chains, gate }, await createDatabase('empty'), settings);
    await stage.#start();
    return stage;
  }

  /** A gateway that takes orders, and settles nothing. */
  async #start(): Promise<void> {
    const gateway = await startGateway({
      databaseUrl: this.#database.url,
      settings: this.#settings,
      outside: { clock: this.clock, background: false },
    });
    this.#gateway = gateway;
    await this.rows('update currency set min_confirmations = $1', [confirmations]);
    await gateway.app.catalogue.refresh();
    this.#currencies = await this.rows<Currency>(
      'select coin, network, decimals, trim_scale(network_fee)::text as fee, contract from currency',
    );
    this.#key = (await gateway.partner()).key;
    const hotWallet = async (chain: ChainName): Promise<string> =>
      (await gateway.app.settlement?.adapters.get(chain)?.hotWallet())?.address ?? '';
    this.hot = { ethereum: await hotWallet('ethereum'), litecoin: await hotWallet('litecoin') };
    await this.nodes.fund(this.hot);
    for (let block = 0; block < confirmations; block += 1) await this.mine('ethereum', 'litecoin');
  }

  get start(): SettlingStart {
    return { databaseUrl: this.#database.url, clock: this.clock.now().toISOString(), settings: this.#settings };
  }

  rows<Row extends object>(sql: string, values: unknown[] = []): Promise<Row[]> {
    return query<Row>(this.#database.url, sql, values);
  }

  async mine(...names: readonly ChainName[]): Promise<void> {
    for (const name of names) await this.chains[name].mine();
  }

  currency({ coin, network }: Pick<Currency, 'coin' | 'network'>): Currency {
    const found = this.#currencies.find((row) => row.coin === coin && row.network === network);
    if (!found) throw new Error(`there is no ${coin} on ${network}`);
    return found;
  }

  /** At a fixed rate, so that what is to be paid is known before anything is settled. */
  async order({ from, to, amount }: Scenario): Promise<Order> {
    const recipient = this.chains[to.chain].newAddress(dice);
    const refund = this.chains[from.chain].newAddress(dice);
    const body = {
      coin_from: from.coin,
      network_from: from.network,
      coin_to: to.coin,
      network_to: to.network,
      amount_from: Number(amount),
      rate_type: 'fixed',
      recipient_address: recipient,
      refund_address: refund,
    };
    const { status, text, json } = (await this.#gateway?.call('POST', '/partner/orders', { key: this.#key, body })) ?? {
      status: 0,
      text: 'there is no gateway',
    };
    if (status !== 201) throw new Error(text);
    const [row] = await this.rows<{ amount: string }>(
      'select trim_scale(amount_to_expected)::text as amount from exchange_order where id = $1',
      [json.id],
    );
    return { id: json.id, depositAddress: json.deposit_address, amountTo: row?.amount ?? '', recipient, refund };
  }

  /**
   * Lets as much time pass for leases as frees all chains from processes that are dead, or idle.
   */
  async endLeases(): Promise<void> {
    await this.rows(`update chain_state set lease_until = now() - interval '1 second' where lease_until is not null`);
    await this.rows('delete from worker');
  }

  async close(): Promise<void> {
    await this.#gateway?.stop();
    await this.#database.drop();
    await this.gate.close();
    await this.nodes.stop();
  }
}

/** A process that settles when it is told to, with its clock kept at the stage's. */
class Settler {
  readonly child: SettlingChild;
  readonly #stage: Stage;
  #nowMs: number;

  constructor(stage: Stage) {
    this.#stage = stage;
    this.#nowMs = stage.clock.now().getTime();
    this.child = new SettlingChild(stage.start);
    settlers.add(this);
  }

  /** Null when the process ends before it has obeyed. */
  async ask(command: string): Promise<ReturnType<SettlingChild['ask']>> {
    return this.child.ask(command, askTimeoutMs);
  }

  async tick(): Promise<boolean> {
    const behindMs = this.#stage.clock.now().getTime() - this.#nowMs;
    if (behindMs > 0) await this.ask(`advance ${behindMs}`);
    this.#nowMs += behindMs;
    return (await this.ask('tick')) !== null;
  }

  /** Settles an order, while time passes and blocks are made, until its end or the process's. */
  async settle({ id }: Order, { from }: Scenario, onRound: () => Promise<void> = async () => {}): Promise<void> {
    for (let round = 0; round < maxRounds; round += 1) {
      if (!(await this.tick())) return;
      const [row] = await this.#stage.rows<{ status: string; open: number }>(
        `select status, (select count(*)::int from payment where order_id = $1 and state not in ('confirmed', 'dead'))
           as open from exchange_order where id = $1`,
        [id],
      );
      if (row?.open === 0 && ['completed', 'refunded', 'failed', 'expired'].includes(row.status)) return;
      await onRound();
      const isAwaited = row?.status === 'waiting_deposit' || row?.status === 'confirming';
      await (isAwaited ? this.#stage.mine(from.chain) : this.#stage.mine('ethereum', 'litecoin'));
      this.#stage.clock.advance(1_000);
    }
  }

  async end(): Promise<void> {
    await this.child.end();
    settlers.delete(this);
  }
}

const settlers = new Set<Settler>();
const cells: Cell[] = [];
let stage: Stage | null = null;
let differences: readonly string[] = ['reconcile was not asked'];

/** Takes an order from its deposit to its end, through one death. */
async function run(on: Stage, cell: Cell, victim: Settler | null, survivor: Settler): Promise<void> {
  const scenario: Scenario = scenarios[cell.scenario];
  const { from, to } = scenario;
  const first = victim ?? survivor;
  await first.child.said('ready', askTimeoutMs);
  await on.endLeases();
  // All that was there before is no news any more.
  await first.tick();
  await first.tick();
  const order = await on.order(scenario);
  const said = survivor.child.lines.length;
  const nonce = await nonceOf(on);
  if (victim) await victim.ask(`fail ${JSON.stringify({ crashPoint: cell.at, passing: 1, signal: 'SIGKILL' })}`);
  else on.gate.killNext(cell.at as SignerEnd);
  const kills = on.gate.kills;
  const asset = on.currency(from);
  const deposit = scenario.deposit ?? scenario.amount;
  await on.chains[from.chain].pay(order.depositAddress, toUnits(deposit, asset.decimals), asset.contract);
  if (victim) {
    await victim.settle(order, scenario);
    cell.isKilled = victim.child.child.signalCode === 'SIGKILL' && victim.child.lines.at(-1)?.at === cell.at;
    await victim.end();
    await disturb(on, scenario);
    await on.endLeases();
    await survivor.settle(order, scenario);
  } else {
    let isDead = false;
    await survivor.settle(order, scenario, async () => {
      if (isDead || on.gate.kills === kills) return;
      isDead = true;
      await disturb(on, scenario);
      await on.gate.restart();
    });
    cell.isKilled = isDead;
  }
  if (!cell.isKilled) cell.faults.push('nothing was killed where it should');
  const lines = [...(victim?.child.lines ?? []), ...survivor.child.lines.slice(said)];
  const raws = new Set(lines.flatMap(({ signed, broadcast }) => [signed?.raw, broadcast?.raw]).filter(Boolean));
  if (raws.size !== 1) cell.faults.push(`${raws.size} different transactions were signed or sent`);
  await inspect(on, cell, order);
  const payer = scenario.ends === 'completed' ? to.chain : from.chain;
  const spent = (await nonceOf(on)) - nonce;
  if (spent !== (payer === 'ethereum' ? 1 : 0))
    cell.faults.push(`the hot wallet on Ethereum sent ${spent} transactions`);
}

/** Of the next transaction of the hot wallet on Ethereum. */
async function nonceOf({ nodes, hot }: Stage): Promise<number> {
  return Number(await nodes.anvil.rpc<string>('eth_getTransactionCount', hot.ethereum, 'latest'));
}

/**
 * Faults of the chains between two polls: the newest blocks are orphaned, and a node forgets our
 * transactions.
 */
async function disturb({ chains, hot }: Stage, { from, to }: Scenario): Promise<void> {
  const depth = dice.chance(0.5) ? 1 : 2;
  for (const name of new Set([from.chain, to.chain])) {
    if (dice.chance(0.3)) continue;
    await chains[name].reorganise({ depth, forgets: name === 'ethereum' && dice.chance(0.5) ? hot.ethereum : null });
  }
}

/** Checks on the chains that each recipient was paid once, and that no other address was paid. */
async function inspect(on: Stage, cell: Cell, { id, amountTo, recipient, refund }: Order): Promise<void> {
  const { from, to, ends, deposit, amount }: Scenario = scenarios[cell.scenario];
  const [row] = await on.rows<{ status: string; held: boolean }>(
    'select status, held_at is not null as held from exchange_order where id = $1',
    [id],
  );
  cell.status = row?.held ? `${row.status}, held` : (row?.status ?? 'gone');
  if (cell.status !== ends) cell.faults.push(`the order is ${cell.status}`);
  const source = on.currency(from);
  const given = toUnits(deposit ?? amount, source.decimals) - toUnits(source.fee, source.decimals);
  const dues = [
    { at: to, address: recipient, units: ends === 'completed' ? toUnits(amountTo, on.currency(to).decimals) : 0n },
    { at: from, address: refund, units: ends === 'refunded' ? given : 0n },
  ];
  for (const { at, address, units } of dues) {
    const balances = await on.chains[at.chain].balances([address], on.currency(at).contract);
    const has = balances.get(address) ?? -1n;
    cell.paid += has;
    if (has !== units) cell.faults.push(`${address} has ${has} of the smallest unit of ${at.coin} and not ${units}`);
  }
}

async function runAll(on: Stage): Promise<void> {
  const survivor = new Settler(on);
  await survivor.child.said('ready', askTimeoutMs);
  let next = new Settler(on);
  for (const cell of cells) {
    const isOfSigner = signerEnds.some((end) => end === cell.at);
    let victim: Settler | null = null;
    if (!isOfSigner) {
      victim = next;
      // Starts while this one works.
      next = new Settler(on);
    }
    try {
      await run(on, cell, victim, survivor);
    } catch (error) {
      cell.faults.push(error instanceof Error ? error.message : String(error));
      await victim?.end();
    }
  }
  await on.endLeases();
  await survivor.tick();
  differences = (await survivor.ask('reconcile'))?.differences ?? ['no answer'];
}

function table(): string {
  const lines = [
    ['killed at', 'order', 'killed', 'paid in smallest units', 'status'],
    ...cells.map(({ scenario, at, isKilled, paid, status, faults }) => [
      at,
      scenario,
      isKilled ? 'yes' : 'no',
      String(paid),
      faults.length > 0 ? `WRONG: ${status}: ${faults.join('; ')}` : status,
    ]),
  ];
  const widths = lines[0]?.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0))) ?? [];
  return lines.map((line) => line.map((text, column) => text.padEnd(widths[column] ?? 0)).join(' | ')).join('\n');
}

const describeWithNodes = findLitecoind() === null ? describe.skip : describe;

describeWithNodes('an order between real chains', () => {
  beforeAll(async () => {
    for (const at of [...crashPointNames, ...signerEnds]) {
      for (const scenario of scenarioNames) {
        if (passes(scenario, at)) cells.push({ scenario, at, isKilled: false, status: '', paid: 0n, faults: [] });
      }
    }
    stage = await Stage.open();
    await runAll(stage);
  }, 3_600_000);

  afterAll(async () => {
    for (const settler of settlers) await settler.end();
    await stage?.close();
    process.stdout.write(`\n${table()}\n\n`);
  }, 120_000);

  describe.each([...crashPointNames, ...signerEnds])('whose process, or signer, is killed at: %s', (at) => {
    const passing = scenarioNames.filter((scenario) => passes(scenario, at));
    it.each(passing)('ends, and %s is on its chain exactly once', (scenario) => {
      const own = cells.filter((cell) => cell.at === at && cell.scenario === scenario);
      expect(own.length).toBe(1);
      expect(own.filter(({ isKilled, faults }) => !isKilled || faults.length > 0)).toEqual([]);
    });
  });

  it('leaves a book that agrees with both chains', () => {
    expect(differences).toEqual([]);
  });
});
