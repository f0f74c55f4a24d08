// Orders of every kind and policy while workers are killed, chains reorganise, and partners cancel
// orders and answer questions. Then it checks that each order ended, that no recipient was paid
// twice, and that the ledger agrees with the chains.
// Usage: npm run torture -- orders --help

import { setTimeout as sleep } from 'node:timers/promises';
import { createOrm } from '../../src/app/orm.ts';
import { systemClock } from '../../src/base/clock.ts';
import { Big, floorTo, formatDecimal, toUnits } from '../../src/base/money.ts';
import { networkById } from '../../src/chains/networks/networks.ts';
import { busyBlocks } from '../../src/chains/sandbox/sandbox-adapters.ts';
import { SandboxChain } from '../../src/chains/sandbox/sandbox-chain.ts';
import { rulesByName, sandboxVariants } from '../../src/chains/sandbox/sandbox-rules.ts';
import type { Currency } from '../../src/market/currencies/currency.entity.ts';
import { CurrencyService } from '../../src/market/currencies/currency-service.ts';
import { newRecipient, paidOnChain, paidTwice, type Recipient } from '../support/chains/recipients.ts';
import { startRedis } from '../support/database/redis.ts';
import { readArguments } from '../support/faults/arguments.ts';
import { FeedFollowers } from '../support/faults/feed-followers.ts';
import { Torture, type TortureOrder, type Verdict } from '../support/faults/torture.ts';
import { Dice } from '../support/gateway/dice.ts';

const help = `Usage: npm run torture -- [orders] [options]

  --orders <n>         orders to create (1000)
  --workers <n>        worker processes (2)
  --seed <n>           seed of every choice; a random one unless given
  --kill-every-ms <n>  a worker is killed about so often; 0 for never (2500)
  --traits <name>      rules of the sandbox chains: ${Object.keys(sandboxVariants).join(', ')} (usual)
  --keep               keep the folder with the database and the workers' logs
`;

const {
  orders: orderCount,
  workers: workerCount,
  seed,
  keep,
  'kill-every-ms': killEveryMs,
  traits: rulesName,
} = readArguments(help, { orders: 1_000, workers: 2, 'kill-every-ms': 2_500 }, { traits: 'usual' });
const rules = rulesByName(rulesName);

const windowSec = 20;
const createEveryMs = 75;
const minCreateMs = 10_000;
const reorgEveryMs = 600;
const cancelEveryMs = 700;
const answerEveryMs = 150;
/** After the last deposit, before the workers are left in peace. */
const afterDepositsMs = 5_000;
/** Without exclusion, the signer waits two minutes after each attempt that died. */
const quietTimeoutMs = rules.exclusive ? 120_000 : 300_000;
/** The venue has none of it, so that exchanges into it run into their deadline. */
const soldOut = 'LINK';

/** What users do with their deposit. */
const behaviours = {
  exact: 46,
  partial: 8,
  'below minimum': 6,
  dust: 2,
  over: 6,
  'above maximum': 4,
  double: 7,
  'wrong tag': 5,
  'wrong coin': 3,
  'near expiry': 4,
  late: 6,
  replaced: 2,
  never: 7,
} as const;
type Behaviour = keyof typeof behaviours;

type Place = readonly [coin: string, network: string];

/** Coins that orders pay in: derived, shared and pooled addresses, 1 to 64 confirmations. */
const sources: readonly Place[] = [
  ['BTC', 'BTC'],
  ['LTC', 'LTC'],
  ['DOGE', 'DOGE'],
  ['ETH', 'ETH'],
  ['USDT', 'TRC20'],
  ['TRX', 'TRX'],
  ['USDT', 'BEP20'],
  ['BNB', 'BSC'],
  ['SOL', 'SOL'],
  ['USDC', 'SOL'],
  ['XRP', 'XRP'],
  ['XLM', 'XLM'],
  ['USDC', 'XLM'],
  ['TON', 'TON'],
  ['ATOM', 'ATOM'],
  ['AVAX', 'AVAXC'],
];
const destinations: readonly Place[] = [...sources, ['USDT', 'ERC20'], ['DAI', 'ERC20'], [soldOut, 'ERC20']];

interface Made extends TortureOrder {
  readonly behaviour: Behaviour;
  readonly recipient: Recipient;
}

/** A deposit that a user made. */
interface Sent {
  readonly order: Made;
  readonly chain: string;
  readonly txid: string;
}

const counts = { kills: 0, reorgs: 0, cancels: 0, answers: 0 };
// Two api processes share their limits.
const redis = await startRedis();
const torture = await Torture.open<Made>({
  name: 'torture',
  seed,
  keep,
  counts,
  settings: {
    DEPOSIT_WINDOW_SEC: String(windowSec),
    DEPOSIT_GRACE_SEC: String(windowSec),
    EXCHANGE_DEADLINE_SEC: '10',
    ACTION_DEADLINE_SEC: '6',
    SANDBOX_BLOCK_MS: '50',
    CHAIN_POLL_MS: '50',
    SANDBOX_RULES: rulesName,
    REDIS_URL: redis.url,
  },
});
const { made, workers } = torture;
torture.say(`seed ${seed}, ${orderCount} orders, ${workerCount} workers, in ${torture.folder}`);
await torture.prepare(() => {});

const orm = await createOrm({ url: torture.databaseUrl, poolSize: 10, statementTimeoutMs: 0 });
const sandbox = new SandboxChain({ orm, clock: systemClock, rules });
const currencies = await new CurrencyService(orm, systemClock).list();
await torture.rows(`update api_key set scopes = array_append(scopes, 'orders:manage')`);
await torture.rows('insert into sandbox_inventory (coin, amount) values ($1, 0)', [soldOut]);

// Reorganisations must not take what the hot wallet began with.
for (const chain of (await sandbox.heads()).keys()) await sandbox.mine(chain, 3);

function currencyOf([coin, network]: Place): Currency {
  const found = currencies.find((row) => row.coin === coin && row.network === network);
  if (!found) throw new Error(`there is no ${coin} on ${network}`);
  return found;
}

function chainOf(network: string): string {
  return networkById(network)?.chain ?? '';
}

await torture.start(workerCount);
const followers = new FeedFollowers(torture);

// --- orders and deposits

const sent: Sent[] = [];

/** Creates an order and plans its deposits. */
async function createOrder(dice: Dice): Promise<void> {
  const from = currencyOf(dice.pick(sources));
  const to = currencyOf(dice.pick(destinations.filter(([coin]) => coin !== from.coin)));
  const rateType = dice.chance(0.4) ? 'fixed' : 'float';
  const hasRefund = dice.chance(0.8);
  const refusesPayout = dice.chance(0.03);
  const refusesRefund = dice.chance(0.03);
  const recipient = newRecipient(to.network, dice);
  const refund = newRecipient(from.network, dice);
  const behaviour = dice.weighted(behaviours);
  const factor = dice.between(2, 6);
  const moments = [dice.between(0, 6_000), dice.between(500, 15_000), dice.next()] as const;
  const parts = dice.between(0.6, 0.95);
  const agreed = dice.chance(0.6) ? policyOf(dice) : {};

  const { min, max } = await torture.limitsOf(from, to, rateType);
  const amount = floorTo(min.times(factor.toFixed(3)), Math.min(6, from.decimals));
  if (refusesPayout && networkById(to.network)?.memo === null)
    await sandbox.refuse(chainOf(to.network), recipient.address);
  if (refusesRefund && networkById(from.network)?.memo === null)
    await sandbox.refuse(chainOf(from.network), refund.address);
  const body = {
    coin_from: from.coin,
    network_from: from.network,
    coin_to: to.coin,
    network_to: to.network,
    amount_from: Number(formatDecimal(amount)),
    rate_type: rateType,
    recipient_address: recipient.address,
    ...(recipient.tag === null ? {} : { recipient_address_tag: recipient.tag }),
    ...(hasRefund ? { refund_address: refund.address } : {}),
    ...(hasRefund && refund.tag !== null ? { refund_address_tag: refund.tag } : {}),
    ...agreed,
  };
  const reply = await torture.postOrder(body);
  const order: Made = { id: reply.id, behaviour, recipient };
  made.push(order);

  const expected = new Big(reply.amount_from_expected);
  const target = { from, to: reply.deposit_address, tag: reply.deposit_address_tag };
  const [early, later, place] = moments;
  const part = (share: string | number): Big => expected.times(String(share));
  const plan = (afterMs: number, value: Big, changes: Partial<Injection> = {}): void =>
    inject(order, { ...target, amount: value, afterMs, isDropped: false, ...changes });
  switch (behaviour) {
    case 'exact':
      return plan(early, expected);
    case 'partial':
      return plan(early, part(parts.toFixed(2)));
    case 'below minimum':
      return plan(early, min.times('0.5'));
    case 'dust':
      return plan(early, new Big(from.networkFee).times('0.5'));
    case 'over':
      return plan(early, part((1 + parts).toFixed(2)));
    case 'above maximum':
      return plan(early, (max ?? part(10)).times('1.5'));
    case 'double':
      plan(early, expected);
      return plan(early + later, part(place < 0.5 ? 1 : parts.toFixed(2)));
    case 'wrong tag':
      // An address without tags takes the transfer all the same.
      if (target.tag !== null) return plan(early, expected, { tag: place < 0.5 ? null : '4294967295' });
      return plan(early, expected, { tag: '7' });
    case 'wrong coin': {
      const other = currencies.filter(
        ({ network, coin }) => chainOf(network) === chainOf(from.network) && coin !== from.coin,
      );
      if (other.length === 0) return plan(early, expected);
      const currency = dice.pick(other);
      return plan(early, new Big(currency.minAmount), { from: currency });
    }
    case 'near expiry':
      return plan(windowSec * 1000 - 1500 + place * 2500, expected);
    case 'late':
      return plan(windowSec * 1000 + 1000 + place * 14_000, expected);
    case 'replaced':
      plan(early, expected, { isDropped: true });
      return place < 0.5 ? plan(early + later, expected) : undefined;
    case 'never':
      return;
  }
}

/** What a partner agrees on for the exceptions of an order. */
function policyOf(dice: Dice): object {
  const policy = {
    on_late: dice.pick(['refund', 'market', 'ask']),
    on_underpaid: dice.pick(['exchange', 'refund', 'ask']),
    on_overpaid: dice.pick(['refund_excess', 'refund_all', 'ask']),
  };
  // Any payout reaches it, until too little arrives for the fees.
  const least = { min_amount_to: 0.000001, policy: { ...policy, on_price_moved: dice.pick(['refund', 'ask']) } };
  return dice.chance(0.3) ? least : { policy };
}

interface Injection {
  readonly from: Currency;
  readonly to: string;
  readonly tag: string | null;
  readonly amount: Big;
  readonly afterMs: number;
  /** Forgotten by the chain before it is in a block, if that succeeds. */
  readonly isDropped: boolean;
}

function inject(order: Made, { from, to, tag, amount, afterMs, isDropped }: Injection): void {
  const { contract, decimals, network } = from;
  const chain = chainOf(network);
  torture.payLater(afterMs, async () => {
    const txid = await sandbox.pay(chain, {
      to,
      tag,
      contract,
      amount: toUnits(floorTo(amount, decimals), decimals),
      busyBlocks: busyBlocks(chain, currencies),
    });
    sent.push({ order, chain, txid });
    if (isDropped) await sandbox.drop(chain, txid);
  });
}

// --- what goes wrong meanwhile

async function killWorkers(): Promise<void> {
  if (killEveryMs === 0) return;
  const dice = new Dice(seed + 1);
  await torture.often(killEveryMs, dice, async () => {
    // Mostly one that works, so that there is something to interrupt; at times one that starts.
    const candidates = workers.filter(({ isReady, isRunning }) => isRunning && (isReady || dice.chance(0.15)));
    if (candidates.length === 0) return;
    const victim = dice.pick(candidates);
    await victim.end('SIGKILL');
    counts.kills += 1;
    victim.start();
  });
}

/**
 * Payments count as final in the second block, so that a chain either loses what was in its newest
 * block, for good, or goes back further and keeps everything. Where one confirmation is enough for
 * a deposit, nothing is lost.
 */
async function reorganise(): Promise<void> {
  if (!rules.reorgs) return;
  const dice = new Dice(seed + 2);
  const chains = [...new Set(destinations.map(([, network]) => chainOf(network)))];
  const careful = chains.filter((chain) =>
    currencies.every(({ network, minConfirmations }) => chainOf(network) !== chain || minConfirmations > 1),
  );
  const lossy = new Set(careful.filter((_, index) => index % 2 === 0));
  await torture.often(reorgEveryMs, dice, async () => {
    const chain = dice.pick(chains);
    const isLossy = lossy.has(chain);
    // What was final and waits again might expire.
    const depth = isLossy || rules.expiry !== null || dice.chance(0.5) ? 1 : 2;
    await sandbox.reorg(chain, depth, { keep: !(isLossy && dice.chance(0.1)) });
    counts.reorgs += 1;
  });
}

/** Cancels orders. Some of them get their deposit all the same. */
async function cancelOrders(): Promise<void> {
  const dice = new Dice(seed + 3);
  await torture.often(cancelEveryMs, dice, async () => {
    const waiting = await torture.rows<{ id: string }>(
      `select id from exchange_order where status = 'waiting_deposit' order by created_at desc limit 50`,
    );
    const order = waiting.length > 0 ? dice.pick(waiting) : null;
    if (order && (await torture.change(`${order.id}/cancel`, null)) === 200) counts.cancels += 1;
  });
}

/** Answers questions, most of them, near their deadline, until the gateway stops. */
async function answerQuestions(isOver: () => boolean): Promise<void> {
  const dice = new Dice(seed + 4);
  for (; !isOver(); await sleep(answerEveryMs)) {
    const open = await torture.rows<{ id: string; seq: number }>(
      'select order_id as id, seq from order_action where outcome is null order by asked_at limit 20',
    );
    if (open.length === 0 || dice.chance(0.2)) continue;
    const { id, seq } = dice.pick(open);
    const body = { action_id: `act_${seq}`, action: dice.pick(['exchange', 'exchange', 'refund']) };
    const replies = await Promise.all(
      (dice.chance(0.2) ? [body, body] : [body]).map((each) => torture.change(`${id}/actions`, each)),
    );
    const taken = replies.filter((status) => status === 200).length;
    if (taken > 1) torture.faults.push(`a question of order ${id} was answered ${taken} times`);
    counts.answers += taken;
  }
}

// --- what must hold at the end

/** Each line is an order, or a deposit of one, that came to no end. */
async function findLost(): Promise<string[]> {
  const lost: string[] = [];
  const stored = new Set((await torture.rows<{ id: string }>('select id from exchange_order')).map(({ id }) => id));
  for (const { id } of made) if (!stored.has(id)) lost.push(`order ${id} was answered with 201 and is not there`);
  if (stored.size !== made.length) lost.push(`${stored.size} orders are there, and ${made.length} were made`);
  const stuck = await torture.rows<{ id: string; status: string }>(
    `select id, status from exchange_order
      where held_at is null and status not in ('completed', 'refunded', 'expired', 'failed') order by id`,
  );
  for (const { id, status } of stuck) lost.push(`order ${id} stays ${status}`);
  const held = await torture.rows<{ id: string; hold_reason: string }>(
    `select o.id, o.hold_reason from exchange_order o join deposit d on d.id = o.deposit_id
      where o.held_at is not null and d.state = 'credited'`,
  );
  for (const { id, hold_reason } of held) lost.push(`order ${id} is held (${hold_reason}) and its deposit is there`);
  const payments = await torture.rows<{ id: string; state: string; problem: string | null }>(
    `select p.id, p.state, p.problem from payment p left join exchange_order o on o.id = p.order_id
      where p.state not in ('confirmed', 'dead') and (o.held_at is null or p.state in ('signed', 'sent'))
        and o.status is distinct from 'failed'`,
  );
  for (const { id, state, problem } of payments) lost.push(`payment ${id} stays ${state} (${problem})`);
  // From the chain: what users sent, and what became of it.
  const deposits = await torture.rows<{ txid: string; fault: string }>(
    `select t.txid, case when d.id is null then 'was never seen'
                         when d.state <> 'credited' then 'is in a block and stays ' || d.state
                         when d.problem = 'reversed' then 'is back and still counts as reversed'
                         when d.order_id is null and d.problem is null and d.amount >= c.min_amount
                              then 'has no order and is not reported'
                         when d.order_id is not null and main.state is null and d.problem is null
                              and o.status <> 'failed' and o.held_at is null then 'was credited and nothing followed'
                         when o.deposit_id = d.id and trade.amount_from < d.amount and excess.state is null
                              and d.problem is null and unclaimed.id is null then 'has a rest that is gone'
                    end as fault
       from jsonb_to_recordset($1::jsonb) as s (chain text, txid text)
       join sandbox_tx t on t.chain = s.chain and t.txid = s.txid and t.state = 'mined' and t.success
       left join deposit d on d.chain = t.chain and d.txid = t.txid
       left join currency c on c.coin = d.coin and c.network = d.network
       left join exchange_order o on o.id = d.order_id
       left join trade on trade.order_id = o.id and trade.state = 'filled'
       left join ledger_transaction unclaimed on unclaimed.kind = 'unclaimed' and unclaimed.reference = d.id::text
       left join lateral (select min(state) as state from payment where deposit_id = d.id and leg = 'main') main on true
       left join lateral (select min(state) as state from payment where deposit_id = d.id and leg = 'excess') excess on true`,
    [JSON.stringify(sent.map(({ chain, txid }) => ({ chain, txid })))],
  );
  const orderOf = new Map(sent.map(({ txid, order }) => [txid, order]));
  for (const { txid, fault } of deposits) {
    const order = orderOf.get(txid);
    if (fault) lost.push(`deposit ${txid} of order ${order?.id} (${order?.behaviour}) ${fault}`);
  }
  return lost;
}

/** Reads from the chains what the hot wallet paid, and to whom. */
async function findPaidWrongly(): Promise<Omit<Verdict, 'lost'>> {
  const wrong = await torture.rows<{ what: string }>(
    `with paid as (${paidOnChain})
     select 'transaction ' || txid || ' belongs to no payment' as what from paid where payment_id is null
     union all
     select 'payment ' || p.id || ' is ' || p.state || ' and succeeded ' || count(paid.txid) || ' times on its chain'
       from payment p left join paid on paid.payment_id = p.id
      where p.state in ('confirmed', 'dead') group by p.id having count(paid.txid) <> case p.state when 'confirmed' then 1 else 0 end
     union all
     select 'payment ' || p.id || ' went elsewhere, or with another amount'
       from paid join payment p on p.id = paid.payment_id
       join currency c on c.coin = p.coin and c.network = p.network
      where paid.recipient <> p.address or paid.tag is distinct from p.tag or paid.contract is distinct from p.contract
         or paid.amount <> p.amount * power(10::numeric, c.decimals)
     union all
     select 'order ' || o.id || ' is ' || o.status || ' without a ' || k.kind
       from exchange_order o join (values ('completed', 'payout'), ('refunded', 'refund')) as k (status, kind) using (status)
      where not exists (select 1 from paid join payment p on p.id = paid.payment_id
                         where p.order_id = o.id and p.kind = k.kind and p.deposit_id = o.deposit_id)
     union all
     select 'order ' || a.order_id || ' pays ' || p.amount || ' and its partner chose ' || a.amount_to
       from order_action a join payment p on p.order_id = a.order_id and p.kind = 'payout'
      where a.outcome = 'exchange' and p.amount <> a.amount_to
     union all
     select 'question ' || a.seq || ' of order ' || a.order_id || ' stays open'
       from order_action a join exchange_order o on o.id = a.order_id where a.outcome is null and o.held_at is null
     union all
     select coin || ' on ' || network || ' sums to ' || sum(amount)
       from ledger_line group by coin, network having sum(amount) <> 0
     union all
     select 'order ' || o.id || ' is ' || o.status || ' and still owed ' || sum(l.amount) || ' ' || l.coin || ' on ' || l.network
       from exchange_order o
       join ledger_transaction x on x.order_id = o.id
       join ledger_line l on l.transaction_id = x.id and l.account = 'client'
      where o.status in ('completed', 'refunded')
        and not exists (select 1 from deposit d where d.order_id = o.id and (d.problem is not null or d.state = 'orphaned'))
        and not exists (select 1 from payment p where p.order_id = o.id and p.state = 'dead')
      group by o.id, l.coin, l.network having sum(l.amount) <> 0`,
  );
  return {
    paidTwice: await paidTwice((sql, values) => torture.rows(sql, values), made),
    wrong: wrong.map(({ what }) => what),
  };
}

let isOver = false;
const answered = answerQuestions(() => isOver);
await torture.run({
  orders: orderCount,
  createEveryMs: Math.max(createEveryMs, minCreateMs / orderCount),
  createOrder: (_index, dice) => createOrder(dice),
  troubles: [
    killWorkers,
    reorganise,
    cancelOrders,
    () => (killEveryMs === 0 ? Promise.resolve() : followers.beKilled(2 * killEveryMs, new Dice(seed + 5))),
  ],
  afterDepositsMs,
  quietTimeoutMs,
  atRest: async () => void torture.faults.push(...(await followers.finish())),
});
isOver = true;
await answered;
const verdict = { lost: await findLost(), ...(await findPaidWrongly()) };
await torture.report({
  verdict,
  statuses: ['completed', 'refunded', 'expired', 'failed', 'held'],
  behaviours: Object.keys(behaviours),
  figures: { events: followers.events, pages: followers.counts.pages, reader_kills: followers.counts.kills },
});
await orm.close(true);
await redis.stop();
await torture.end();
