// Orders between an Ethereum, a Litecoin and simulated others while workers and the signer are
// killed and the chains reorganise; then what the chains say of every recipient. Usage:
// npm run torture -- chains --help
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../src/base/clock.ts';
import { Big, floorTo, formatDecimal, toUnits } from '../../src/base/money.ts';
import { blockhashLife } from '../../src/chains/solana/solana-status.ts';
import { textOf } from '../../src/chains/ton/ton-highload.ts';
import { findLitecoind } from '../support/chains/litecoind.ts';
import { hasMonerod, withoutMonerod } from '../support/chains/monerod.ts';
import { RealChains } from '../support/chains/real-chains.ts';
import {
  type RoughChain,
  RoughEthereum,
  RoughLitecoin,
  RoughSolana,
  RoughStellar,
  RoughTon,
  RoughTron,
  RoughXrp,
} from '../support/chains/rough-chains.ts';
import { RoughMonero } from '../support/chains/rough-monero.ts';
import { readArguments, shown } from '../support/faults/arguments.ts';
import { type Place, Torture, type TortureOrder, type Verdict } from '../support/faults/torture.ts';
import { Dice } from '../support/gateway/dice.ts';

const help = `Usage: npm run torture -- chains [options]

  --orders <n>         orders each way: half of all orders, in turn between two of the chains (100)
  --chain <name>       only orders from or to this chain, and reorganisations of it, as monero; all unless given
  --seed <n>           seed of every choice; a random one unless given
  --kill-every-ms <n>  a worker is killed about so often, and the signer every third time; 0 for never (4000)
  --slow-every-ms <n>  the signer stops for most of a blockhash's life about so often; 0 for never (60000)
  --keep               keep the folder with the database and the logs

Starts anvil, litecoind, two nodes each of a simulated Tron, XRP Ledger, Stellar, Solana and TON, PostgreSQL, a
signer, two workers and an api process from dist. Needs litecoind (Debian: apt-get install litecoind). A monerod with its wallets takes
part where it is installed (Debian: apt-get install monero). The last line holds the figures. Exit code: 0 when nothing was lost, paid twice or paid wrongly.
`;

const {
  orders: ordersEachWay,
  chain: onlyChain,
  seed,
  keep,
  'kill-every-ms': killEveryMs,
  'slow-every-ms': slowEveryMs,
} = readArguments(help, { orders: 100, 'kill-every-ms': 4_000, 'slow-every-ms': 60_000 }, { chain: '' });
const orderCount = 2 * ordersEachWay;
if (findLitecoind() === null) throw new Error('litecoind is needed; on Debian: apt-get install litecoind');

const windowSec = 30;
const createEveryMs = 150;
const blockMs = {
  ...{ ethereum: 500, litecoin: 700, tron: 600, ripple: 1_100, stellar: 1_200 },
  ...{ solana: 250, ton: 800, monero: 1_000 },
} as const;
const reorgEveryMs = 2_500;
const feeJumpEveryMs = 15_000;
const silenceEveryMs = 12_000;
/** After the last deposit, before everything is left in peace. */
const afterDepositsMs = 10_000;
const quietTimeoutMs = 600_000;
/**
 * A depth of 2 at most never takes back a deposit that was credited, or a payment that is final.
 */
const confirmations = 3;
const maxReorg = 2;

/** What users do with their deposit. */
const behaviours = {
  exact: 44,
  partial: 9,
  'below minimum': 8,
  dust: 2,
  over: 7,
  double: 9,
  'wrong coin': 4,
  late: 8,
  'double spent': 5,
  never: 4,
} as const;
type Behaviour = keyof typeof behaviours;

type ChainName = keyof typeof blockMs;

/**
 * What orders are made of, as the gateway lists it. Amounts are decimal text in the coin's units.
 */
interface Asset extends Place {
  readonly chain: ChainName;
  readonly decimals: number;
  readonly minAmount: string;
  readonly networkFee: string;
  readonly contract: string | null;
}

interface Made extends TortureOrder {
  readonly behaviour: Behaviour;
  readonly from: Asset;
  readonly to: Asset;
  readonly rateType: 'fixed' | 'float';
  readonly recipient: string;
  readonly refund: string | null;
  readonly depositAddress: string;
  /** Null where each order has a separate address. */
  readonly depositTag: string | null;
  readonly amountFrom: string;
  readonly amountTo: string;
}

/** A deposit that a user made. */
interface Sent {
  readonly order: Made;
  readonly asset: Asset;
  readonly amount: string;
  readonly txid: string;
  /** Whether it is gone for good in a reorganisation, if one comes in time. */
  isToVanish: boolean;
}

const withMonero = hasMonerod();
const nodes = await RealChains.start(
  {
    ethereum: { finality: confirmations, replace_after_sec: 10, sweep_from: { ETH: '0.002', USDT: '5' } },
    litecoin: { finality: confirmations, replace_after_sec: 10 },
    tron: { expire_after_sec: 300, fees_per_day: '1000000' },
  },
  {
    ...{ tron: systemClock, xrp: systemClock, stellar: systemClock, solana: systemClock, ton: systemClock },
    monero: withMonero,
  },
);
// Each order has a recipient and an address for refunds.
const roughMonero = withMonero ? await RoughMonero.open(nodes.monero, 2 * orderCount) : null;
const chains: Readonly<Partial<Record<ChainName, RoughChain>>> = {
  ethereum: await RoughEthereum.open(nodes.anvil, nodes.token),
  litecoin: await RoughLitecoin.open(nodes.litecoind),
  tron: new RoughTron(nodes.tron.chain),
  ripple: new RoughXrp(nodes.xrp),
  stellar: new RoughStellar(nodes.stellar),
  solana: new RoughSolana(nodes.solana),
  ton: new RoughTon(nodes.ton),
  ...(roughMonero && { monero: roughMonero }),
};
const chainNames = Object.keys(chains) as ChainName[];
/** Chains that the orders are about. */
const aimedAt = chainNames.filter((name) => onlyChain === '' || name === onlyChain);
if (aimedAt.length === 0) throw new Error(`--chain is none of ${chainNames.join(', ')}`);

function chainOf(name: ChainName): RoughChain {
  const chain = chains[name];
  if (!chain) throw new Error(`there is no ${name}`);
  return chain;
}

type Fault = 429 | 503 | 'half';
/** Chains of two nodes each, with how one of them is silenced and all are healed. */
const twins = [nodes.tron, nodes.xrp, nodes.stellar, nodes.solana, nodes.ton].map((chain) => ({
  silence: (index: number, transport: Fault) => {
    const node = chain.nodes[index];
    if (node) node.faults = { transport };
  },
  heal: () => chain.heal(),
}));
const counts = { kills: 0, signer_kills: 0, signer_stops: 0, reorgs: 0 };
const torture = await Torture.open<Made>({
  name: 'chains',
  seed,
  keep,
  counts,
  settings: {
    ...nodes.environment,
    DEPOSIT_WINDOW_SEC: String(windowSec),
    DEPOSIT_GRACE_SEC: String(windowSec),
    CHAIN_POLL_MS: '100',
  },
});
const { made, workers } = torture;
torture.say(`seed ${seed}, ${orderCount} orders, in ${torture.folder}`);
if (!withMonero) torture.say(`goes on without Monero: ${withoutMonerod}`);

const signer = torture.launch('signer', 'signer-main.js', /^signer ready /m, {
  SIGNER_SEED: Buffer.from(new Dice(seed).bytes(32)).toString('hex'),
});
await signer.ready();
const hot = await torture.prepare(async ({ settlement }) => {
  const walletOf = async (chain: ChainName): Promise<string> =>
    (await settlement?.adapters.get(chain)?.hotWallet())?.address ?? '';
  const tagOf = async (chain: ChainName): Promise<string> =>
    (await settlement?.adapters.get(chain)?.hotWallet())?.tag ?? '';
  return {
    ethereum: await walletOf('ethereum'),
    litecoin: await walletOf('litecoin'),
    tron: await walletOf('tron'),
    ripple: await walletOf('ripple'),
    stellar: await walletOf('stellar'),
    solana: await walletOf('solana'),
    ton: await walletOf('ton'),
    monero: await walletOf('monero'),
    tags: { ripple: await tagOf('ripple'), stellar: await tagOf('stellar'), ton: await tagOf('ton') },
  };
});

async function assetOf(coin: string, network: string, chain: ChainName): Promise<Asset> {
  const [row] = await torture.rows<Omit<Asset, 'chain'>>(
    `select coin, network, decimals, trim_scale(min_amount)::text as "minAmount",
            trim_scale(network_fee)::text as "networkFee", contract
       from currency where coin = $1 and network = $2`,
    [coin, network],
  );
  if (!row) throw new Error(`there is no ${coin} on ${network}`);
  return { ...row, chain };
}

await torture.rows('update currency set min_confirmations = $1', [confirmations]);
// A private chain of Monero asks for higher fees than the public one.
await torture.rows(`update currency set network_fee = 0.002 where coin = 'XMR'`);
const ether = await assetOf('ETH', 'ETH', 'ethereum');
const token = await assetOf('USDT', 'ERC20', 'ethereum');
const litecoin = await assetOf('LTC', 'LTC', 'litecoin');
const tronCoin = await assetOf('TRX', 'TRX', 'tron');
// The gateway knows the contract by the file of networks.
const tronToken = { ...(await assetOf('USDT', 'TRC20', 'tron')), contract: nodes.tron.token };
const xrp = await assetOf('XRP', 'XRP', 'ripple');
const lumens = await assetOf('XLM', 'XLM', 'stellar');
const toncoin = await assetOf('TON', 'TON', 'ton');
const jetton = { ...(await assetOf('USDT', 'TON', 'ton')), contract: textOf(nodes.ton.jetton.master) };
const monero = withMonero ? await assetOf('XMR', 'XMR', 'monero') : null;
const sol = await assetOf('SOL', 'SOL', 'solana');
const solanaTokens = await Promise.all(
  (
    [
      ['USDC', nodes.solana.usdc],
      ['USDT', nodes.solana.usdt],
    ] as const
  ).map(async ([coin, { address }]) => ({
    ...(await assetOf(coin, 'SOL', 'solana')),
    contract: address,
  })),
);
const assets: readonly Asset[] = [
  ether,
  token,
  litecoin,
  tronCoin,
  tronToken,
  xrp,
  lumens,
  toncoin,
  jetton,
  sol,
  ...solanaTokens,
  ...(monero ? [monero] : []),
];
/** What orders exchange, in turn. No pair has one coin on both sides. */
const allRoutes: readonly (readonly [from: readonly Asset[], to: readonly Asset[]])[] = [
  [[ether, token], [litecoin]],
  [[litecoin], [tronCoin, tronToken]],
  [[tronCoin, tronToken], [ether]],
  [[litecoin], [ether, token]],
  [[tronCoin, tronToken], [litecoin]],
  [[ether], [tronCoin, tronToken]],
  [[xrp], [litecoin]],
  [[litecoin], [xrp, lumens]],
  [[lumens], [ether]],
  [
    [ether, token],
    [xrp, lumens],
  ],
  [[sol, ...solanaTokens], [litecoin]],
  [[litecoin], [sol, ...solanaTokens]],
  [[lumens], [sol]],
  [[toncoin, jetton], [litecoin]],
  [[litecoin], [toncoin, jetton]],
  [[toncoin], [sol]],
  ...(monero
    ? [
        [[monero], [litecoin]] as const,
        [[litecoin], [monero]] as const,
        [[monero], [toncoin, jetton]] as const,
        [[ether, token], [monero]] as const,
      ]
    : []),
];
const routes = allRoutes.filter((route) => route.flat().some(({ chain }) => aimedAt.includes(chain)));

await nodes.fund(hot);
nodes.xrp.fund(hot.ripple, hot.tags.ripple);
nodes.stellar.open(hot.stellar, hot.tags.stellar);
nodes.solana.fund(hot.solana);
nodes.ton.fund(hot.ton, hot.tags.ton);
if (withMonero) for (let time = 0; time < 3; time += 1) await nodes.monero.fund(hot.monero);
// This many payments can be made between two blocks.
for (let output = 0; output < 15; output += 1) await nodes.litecoind.pay(hot.litecoin, 20n * 10n ** 8n);
// As many as lock what came to a wallet of Monero.
for (let block = 0; block < 10; block += 1) await nodes.mine();
await torture.start(2);

// --- orders and deposits

const sent: Sent[] = [];

async function createOrder(index: number, dice: Dice): Promise<void> {
  const [sources, targets] = routes[index % routes.length] ?? [[ether], [litecoin]];
  const [from, to] = [dice.pick(sources), dice.pick(targets)];
  const rateType = dice.chance(0.4) ? 'fixed' : 'float';
  const behaviour = dice.weighted(behaviours);
  const recipient = chainOf(to.chain).newAddress(dice);
  const refund = dice.chance(0.93) ? chainOf(from.chain).newAddress(dice) : null;
  const factor = dice.between(1.5, 4).toFixed(3);
  const part = dice.between(0.7, 0.95).toFixed(2);
  const [early, later, place] = [dice.between(0, 8_000), dice.between(500, 12_000), dice.next()];

  const { min } = await torture.limitsOf(from, to, rateType);
  const amount = floorTo(min.times(factor), Math.min(6, from.decimals));
  const reply = await torture.postOrder({
    coin_from: from.coin,
    network_from: from.network,
    coin_to: to.coin,
    network_to: to.network,
    amount_from: Number(formatDecimal(amount)),
    rate_type: rateType,
    recipient_address: recipient,
    ...(refund === null ? {} : { refund_address: refund }),
  });
  const order: Made = {
    id: reply.id,
    behaviour,
    from,
    to,
    rateType,
    recipient,
    refund,
    depositAddress: reply.deposit_address,
    depositTag: reply.deposit_address_tag ?? null,
    amountFrom: reply.amount_from_expected,
    amountTo: reply.amount_to_expected,
  };
  made.push(order);
  const expected = new Big(order.amountFrom);
  const plan = (afterMs: number, value: Big, changes: { asset?: Asset; isToVanish?: boolean } = {}): void =>
    payLater(order, afterMs, value, { asset: from, isToVanish: false, ...changes });
  switch (behaviour) {
    case 'exact':
      return plan(early, expected);
    case 'partial':
      return plan(early, expected.times(part));
    case 'below minimum':
      return plan(early, min.times('0.5'));
    case 'dust':
      return plan(early, new Big(from.networkFee).times('0.5'));
    case 'over':
      return plan(early, expected.times('1.5'));
    case 'double':
      plan(early, expected);
      return plan(early + later, expected.times(place < 0.5 ? '1' : part));
    case 'wrong coin': {
      const asset = assets.find((other) => other.chain === from.chain && other !== from);
      // A chain with one coin here has no wrong one.
      return asset ? plan(early, new Big(asset.minAmount).times('1.2'), { asset }) : plan(early, expected);
    }
    case 'late':
      return plan(windowSec * 1000 + 1_000 + place * 10_000, expected);
    case 'double spent':
      plan(early, expected, { isToVanish: true });
      return place < 0.5 ? plan(early + later, expected) : undefined;
    case 'never':
      return;
  }
}

function payLater(
  order: Made,
  afterMs: number,
  value: Big,
  { asset, isToVanish }: { asset: Asset; isToVanish: boolean },
): void {
  const amount = formatDecimal(floorTo(value, asset.decimals));
  torture.payLater(afterMs, async () => {
    const units = toUnits(amount, asset.decimals);
    const txid = await chainOf(asset.chain).pay(order.depositAddress, units, asset.contract, order.depositTag);
    sent.push({ order, asset, amount, txid, isToVanish });
  });
}

// --- what goes wrong meanwhile

let vanished = 0;
let isMining = true;
let isSignerStopped = false;

async function killProcesses(): Promise<void> {
  if (killEveryMs === 0) return;
  const dice = new Dice(seed + 1);
  let turn = 0;
  await torture.often(killEveryMs, dice, async () => {
    turn += 1;
    if (turn % 3 === 0 && !isSignerStopped) {
      await signer.end('SIGKILL');
      counts.signer_kills += 1;
      // Some time without a signer.
      await sleep(dice.between(0, 1_500));
      signer.start();
      return;
    }
    // Mostly when both work, so that there is something to interrupt however slow the machine is;
    // at times one that starts.
    while (!torture.isPeaceful && !workers.every(({ isReady }) => isReady) && !dice.chance(0.02)) await sleep(100);
    const victim = dice.pick(workers);
    await victim.end('SIGKILL');
    counts.kills += 1;
    victim.start();
  });
}

/**
 * The signer answers nothing for most of the life of a blockhash, so that what was prepared before
 * it is too old after it.
 */
async function stopSigner(): Promise<void> {
  if (slowEveryMs === 0) return;
  const dice = new Dice(seed + 6);
  await torture.often(slowEveryMs, dice, async () => {
    isSignerStopped = true;
    signer.signal('SIGSTOP');
    counts.signer_stops += 1;
    await sleep(blockMs.solana * blockhashLife * dice.between(0.6, 1));
    signer.signal('SIGCONT');
    isSignerStopped = false;
  });
}

async function reorganise(): Promise<void> {
  const dice = new Dice(seed + 2);
  await torture.often(reorgEveryMs, dice, async () => {
    const name = dice.pick(aimedAt);
    const depth = dice.chance(0.5) ? 1 : maxReorg;
    // What the hot wallet sent may be gone from the node, so that it must be sent again.
    const forgets = name !== 'litecoin' && dice.chance(0.4) ? hot[name] : null;
    await chainOf(name).reorganise({ depth, forgets });
    counts.reorgs += 1;
  });
}

/** Takes deposits back for good that were made a moment ago, seen or not. */
async function spendTwice(): Promise<void> {
  const dice = new Dice(seed + 3);
  while (!torture.isPeaceful || sent.some(({ isToVanish }) => isToVanish)) {
    await sleep(100);
    const victim = sent.find(({ isToVanish }) => isToVanish);
    if (!victim) continue;
    await sleep(dice.between(0, 1_200));
    victim.isToVanish = false;
    if (await chainOf(victim.asset.chain).reorganise({ depth: maxReorg, doubleSpends: victim.txid })) vanished += 1;
    counts.reorgs += 1;
  }
}

/** Gas becomes so dear for a moment that what waits is not taken unless it is replaced. */
async function raiseFees(): Promise<void> {
  const dice = new Dice(seed + 4);
  await torture.often(feeJumpEveryMs, dice, () =>
    nodes.anvil.setBaseFee(BigInt(Math.floor(dice.between(4, 12))) * 10n ** 9n),
  );
}

/** One of two nodes of a chain gives no answer for a while. Nothing is final there meanwhile. */
async function silenceNodes(): Promise<void> {
  const dice = new Dice(seed + 5);
  await torture.often(silenceEveryMs, dice, async () => {
    const one = dice.pick(twins);
    one.silence(dice.chance(0.5) ? 0 : 1, dice.pick([429, 503, 'half'] as const));
    await sleep(dice.between(500, 4_000));
    one.heal();
  });
  for (const one of twins) one.heal();
}

async function mine(name: ChainName): Promise<void> {
  while (isMining) {
    await chainOf(name).mine();
    await sleep(blockMs[name]);
  }
}

// --- the judge: what the chains hold

interface Stored {
  readonly id: string;
  readonly status: string;
  readonly isHeld: boolean;
  readonly depositTxid: string | null;
  readonly exchanged: string | null;
  readonly bought: string | null;
}

/** What an address must have of an asset, and what for. */
interface Due {
  readonly order: Made;
  readonly what: string;
  readonly asset: Asset;
  readonly address: string;
  readonly units: bigint;
}

/** Deposits that are on their chain. */
const arrived: Sent[] = [];

/**
 * What users are owed, from what the chains hold of their deposits and, of exchanges, from what the
 * orders tell.
 */
async function judge(): Promise<Verdict> {
  const verdict: Verdict = { lost: [], paidTwice: [], wrong: [] };
  const stored = new Map(
    (
      await torture.rows<Stored>(
        `select id, status, held_at is not null as "isHeld", deposit_txid as "depositTxid",
                trim_scale(amount_from_actual)::text as exchanged, trim_scale(amount_to_actual)::text as bought
           from exchange_order`,
      )
    ).map((row) => [row.id, row]),
  );
  if (stored.size !== made.length) verdict.wrong.push(`${stored.size} orders are there, and ${made.length} were made`);
  for (const deposit of sent) {
    if (await chainOf(deposit.asset.chain).isMined(deposit.txid)) arrived.push(deposit);
  }
  const dues: Due[] = [];
  for (const order of made) {
    const row = stored.get(order.id);
    if (row)
      dues.push(
        ...duesOf(
          order,
          row,
          arrived.filter((deposit) => deposit.order === order),
          verdict,
        ),
      );
    else verdict.lost.push(`order ${order.id} was answered with 201 and is not there`);
  }
  for (const asset of assets) {
    const own = dues.filter((due) => due.asset === asset);
    const addresses = own.map(({ address }) => address);
    const balances = await chainOf(asset.chain).balances(addresses, asset.contract);
    for (const due of own) compare(due, balances.get(due.address) ?? -1n, verdict);
  }
  return verdict;
}

function duesOf(order: Made, row: Stored, arrived: readonly Sent[], verdict: Verdict): Due[] {
  const { from, to, refund } = order;
  const name = `order ${order.id} (${order.behaviour}, ${order.rateType}, ${from.coin} to ${to.coin}, ${row.status})`;
  if (row.isHeld) verdict.lost.push(`${name} is held`);
  if (!['completed', 'refunded', 'expired', 'failed'].includes(row.status)) verdict.lost.push(`${name} has not ended`);
  const isCompleted = row.status === 'completed';
  const main = arrived.find(({ txid, asset }) => txid === row.depositTxid && asset === from);
  if (isCompleted && !main) verdict.wrong.push(`${name} exchanged a deposit that is not on its chain`);
  const isExact = isCompleted && order.rateType === 'fixed' && main?.amount === order.amountFrom;
  if (isExact && !new Big(row.bought ?? '0').eq(order.amountTo)) {
    verdict.wrong.push(`${name} was promised ${order.amountTo} and gets ${row.bought}`);
  }
  const refundable = (amount: Big, asset: Asset): Big => {
    const rest = amount.minus(asset.networkFee);
    return rest.gt('0') ? rest : new Big('0');
  };
  const sumOf = (asset: Asset): Big =>
    arrived
      .filter((deposit) => deposit.asset === asset)
      .map((deposit) => {
        const isExchanged = isCompleted && deposit === main;
        const back = new Big(deposit.amount).minus(isExchanged ? (row.exchanged ?? '0') : '0');
        return back.lt('0') ? new Big('0') : refundable(back, asset);
      })
      .reduce((sum, amount) => sum.plus(amount), new Big('0'));
  if (row.status === 'failed' && refund !== null && !sumOf(from).eq('0')) verdict.lost.push(`${name} failed`);
  const own = assets.filter(({ chain }) => chain === from.chain);
  return [
    ...assets
      .filter(({ chain }) => chain === to.chain)
      .map((asset) => {
        const bought = asset === to && isCompleted ? (row.bought ?? '0') : '0';
        return { order, what: `${name}, payout`, asset, address: order.recipient, units: unitsOf(bought, asset) };
      }),
    ...own.flatMap((asset) => {
      const units = unitsOf(formatDecimal(sumOf(asset)), asset);
      return refund === null ? [] : [{ order, what: `${name}, refund`, asset, address: refund, units }];
    }),
  ];
}

function unitsOf(amount: string, asset: Asset): bigint {
  return toUnits(amount, asset.decimals);
}

function compare({ what, asset, address, units }: Due, has: bigint, { lost, paidTwice, wrong }: Verdict): void {
  if (has === units) return;
  const line = `${what}: ${address} has ${has} of the smallest unit of ${asset.coin} and must have ${units}`;
  if (has === 0n) lost.push(line);
  else if (has > units) paidTwice.push(line);
  else wrong.push(line);
}

/** How many deposits of each chain are there, of how many. */
function arrivals(): Record<string, string> {
  const of = (deposits: readonly Sent[], name: ChainName): number =>
    deposits.filter(({ asset }) => asset.chain === name).length;
  return Object.fromEntries(chainNames.map((name) => [name, `${of(arrived, name)} of ${of(sent, name)}`]));
}

/**
 * What cannot be read from balances: payments that have not ended, and how many of which kind did.
 */
async function paymentsMade(): Promise<Record<string, number>> {
  const made = await torture.rows<{ name: string; count: number }>(
    `select kind || case state when 'confirmed' then '' else ' ' || state end as name, count(*)::int as count
       from payment group by 1
     union all
     select 'attempt ' || dead_why, count(*)::int from payment_attempt where dead_at is not null group by 1 order by 1`,
  );
  return Object.fromEntries(made.map(({ name, count }) => [name, count]));
}

/** How much of a blockhash's life was over when servers of Solana took our payments, in blocks. */
function agesOfSolana(): number[] {
  const { agesWhenTaken } = nodes.solana.chain;
  return [...agesWhenTaken.values()].sort((one, other) => one - other);
}

/** Of each worker at rest, in MiB: now, and the most since it was started. */
const memory: string[] = [];
/** The same of Monero's programs by name. */
const moneroMemory: Record<string, string> = {};
async function readMemory(): Promise<void> {
  for (const { pid } of workers) memory.push(await memoryOf(pid));
  const pids = withMonero ? nodes.monero.pids : {};
  for (const [name, pid] of Object.entries(pids)) moneroMemory[name] = await memoryOf(pid);
}

async function memoryOf(pid: number | undefined): Promise<string> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const of = (name: string): number =>
    Math.round(Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1]) / 1_024);
  return `${of('VmRSS')} (at most ${of('VmHWM')})`;
}

/** Payments by the chain that they were made on. */
async function paymentsByChain(): Promise<Record<string, number>> {
  const made = await torture.rows<{ chain: string; count: number }>(
    `select chain, count(*)::int as count from payment where state = 'confirmed' group by 1 order by 1`,
  );
  return Object.fromEntries(made.map(({ chain, count }) => [chain, count]));
}

const mining = chainNames.map(mine);
await torture.run({
  orders: orderCount,
  createEveryMs,
  createOrder,
  troubles: [killProcesses, stopSigner, reorganise, spendTwice, raiseFees, silenceNodes],
  afterDepositsMs,
  quietTimeoutMs,
  atRest: readMemory,
});
isMining = false;
await Promise.all(mining);

const verdict = await judge();
const kinds = await paymentsMade();
const byChain = await paymentsByChain();
const ages = agesOfSolana();
const [delays] = await torture.rows<{ tooOld: number; latestSec: number }>(
  `select count(*) filter (where a.raw is null)::int as "tooOld",
          coalesce(max(extract(epoch from a.sent_at - a.prepared_at)), 0)::float as "latestSec"
     from payment_attempt a join payment p on p.id = a.payment_id
    where p.chain = 'solana'`,
);
const lateAges = ages.filter((age) => age >= (blockhashLife * 2) / 3);
await torture.report({
  verdict,
  statuses: ['completed', 'refunded', 'expired', 'failed'],
  behaviours: Object.keys(behaviours),
  notes: [
    `payments: ${shown(kinds)}; deposits ${sent.length}, spent twice ${vanished}`,
    `payments on each chain: ${shown(byChain)}`,
    `deposits on their chain: ${shown(arrivals())}`,
    `MiB of each worker: ${memory.join(', ')}`,
    ...(roughMonero
      ? [`Monero: the node forgot ${roughMonero.forgotten} payments of the gateway; MiB of ${shown(moneroMemory)}`]
      : []),
    `Solana: ${ages.length} transactions sent, at blocks ${ages[Math.floor(ages.length / 2)]} (median) and ${ages.at(-1)} (latest) of the ${blockhashLife} of their blockhash, ${delays?.latestSec.toFixed(1)} s after they were prepared at most; ${delays?.tooOld} were never signed`,
  ],
  figures: { sweeps: kinds.sweep ?? 0, sent_in_last_third: lateAges.length },
});
await nodes.stop();
await torture.end();
