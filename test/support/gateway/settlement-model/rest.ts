import { reconcile } from '../../../../src/ledger/reconcile.ts';
import { networks } from './cases.ts';
import { demandNone, verify } from './invariants.ts';
import { actAsStaff } from './staff.ts';
import type { World } from './world.ts';

const restingStatuses = ['completed', 'expired', 'refunded', 'failed', 'waiting_deposit'];

/**
 * Ends all faults and waits until the gateway rests. Then staff finish the orders that wait for
 * them. Throws when anything stays unfinished without a reason.
 */
export async function heal(world: World): Promise<void> {
  world.faults.clear();
  for (const network of networks) await world.setRefusing(network, false);
  // A large jump back is accepted only once the price before it is stale.
  await world.advance(3700);
  await untilQuiet(world);
  await verify(world, 'heal');
  await verifyRest(world);
  const staffed = await world.rows<{ id: string }>(
    `select id from exchange_order where hold_reason = 'staff' order by id`,
  );
  for (const { id } of staffed) await actAsStaff(world, 'release', id);
  await untilQuiet(world);
  const failed = await world.rows<{ id: string }>(`select id from exchange_order where status = 'failed' order by id`);
  for (const { id } of failed) {
    const isRetried = await actAsStaff(world, 'retry_payout', id);
    if (!isRetried) await actAsStaff(world, 'refund', id);
  }
  await untilQuiet(world);
  await verify(world, 'staff finish');
  await verifyRest(world);
  await verifyFinished(world);
}

async function untilQuiet(world: World): Promise<void> {
  for (let round = 0; round < 60; round++) {
    for (const network of networks) await world.gateway.mine(network, 2);
    await world.advance(round < 5 ? 6 : 60);
    await world.gateway.tick();
    if ((await restless(world)).length === 0) return;
  }
}

/** Orders, payments and deposits that are unfinished although nothing blocks them. */
async function restless(world: World): Promise<string[]> {
  const rows = await world.rows<{ what: string }>(
    `select 'order ' || o.short_id || ' is ' || o.status || ', deposit ' || coalesce(d.state, 'none') as what
       from exchange_order o left join deposit d on d.id = o.deposit_id
      where not o.status = any($1) and o.held_at is null and (d.state is null or d.state <> 'orphaned')
     union all
     select p.kind || ' of ' || coalesce(o.short_id, 'no order') || ' is ' || p.state || ', problem '
            || coalesce(p.problem, 'none')
       from payment p join deposit d on d.id = p.deposit_id left join exchange_order o on o.id = p.order_id
      where p.state not in ('confirmed', 'dead') and o.held_at is null
        and not (p.state in ('ready', 'prepared') and d.state = 'orphaned')
     union all
     select 'a deposit of ' || coalesce(o.short_id, 'no order') || ' is ' || d.state
       from deposit d left join exchange_order o on o.id = d.order_id where d.state in ('mempool', 'mined')
     union all
     select 'order ' || o.short_id || ' is expired, its deposit is credited'
       from exchange_order o join deposit d on d.id = o.deposit_id
      where o.status = 'expired' and d.state = 'credited' and o.held_at is null
     union all
     select 'an extra deposit of ' || o.short_id || ' is credited, and nothing happens to it'
       from deposit d join exchange_order o on o.id = d.order_id
      where d.state = 'credited' and d.problem is null and d.id is distinct from o.deposit_id
        and not (o.held_at is not null and o.status in ('waiting_deposit', 'confirming'))
        and not exists (select 1 from payment p where p.deposit_id = d.id and p.state <> 'dead')
     union all
     select 'transaction on ' || chain || ' waits for a block' from sandbox_tx where state = 'mempool'`,
    [restingStatuses],
  );
  return rows.map(({ what }) => what);
}

async function verifyRest(world: World): Promise<void> {
  demandNone('at rest', await restless(world));
  await verifyOutflow(world);
  await verifyFees(world);
  await verifyLedger(world);
  await verifyShown(world);
}

/** The hot wallet sent exactly the amounts of the confirmed payments. */
async function verifyOutflow(world: World): Promise<void> {
  const outflow = await world.rows<{ what: string }>(
    `with gone as (
       select chain, coalesce(contract, '') as contract, amount, 0::numeric as paid
         from sandbox_tx where sender = $1 and state = 'mined' and success
       union all
       select p.chain, coalesce(p.contract, ''), 0, p.amount * power(10::numeric, c.decimals)
         from payment p join currency c on c.coin = p.coin and c.network = p.network where p.state = 'confirmed'
     )
     select chain || ' ' || contract || ': ' || sum(amount) || ' left, ' || sum(paid) || ' was paid' as what
       from gone group by chain, contract having sum(amount) <> sum(paid)`,
    [world.hotWallet],
  );
  demandNone(
    'outflow',
    outflow.map(({ what }) => what),
  );
}

/** The ledger has exactly the fees that the chains took. */
async function verifyFees(world: World): Promise<void> {
  const fees = await world.rows<{ what: string }>(
    `with fee as (
       select chain, fee as taken, 0::numeric as booked from sandbox_tx where sender = $1 and state = 'mined'
       union all
       select case l.network when 'BTC' then 'bitcoin' when 'TRX' then 'tron' when 'XRP' then 'ripple'
                             when 'ETH' then 'ethereum' when 'SOL' then 'solana' else l.network end,
              0, l.amount * power(10::numeric, c.decimals)
         from ledger_line l join currency c on c.coin = l.coin and c.network = l.network
        where l.account = 'network_cost'
     )
     select chain || ': ' || sum(taken) || ' taken, ' || sum(booked) || ' booked' as what
       from fee group by chain having sum(taken) <> sum(booked)`,
    [world.hotWallet],
  );
  demandNone(
    'fees',
    fees.map(({ what }) => what),
  );
}

/** A partner is shown the status of the order row. */
async function verifyShown(world: World): Promise<void> {
  for (const order of world.orders) {
    const shown = await world.gateway.show(order);
    const [row] = await world.rows<{ status: string }>('select status from exchange_order where id = $1', [order.id]);
    if (shown?.status !== row?.status) throw new Error(`${order.id} is shown as ${JSON.stringify(shown)}`);
  }
}

/**
 * A failed order that staff could neither pay out nor refund has a reason that staff cannot change.
 */
async function verifyFinished(world: World): Promise<void> {
  const rows = await world.rows<{ what: string }>(
    `select o.short_id || ' stays failed: deposit ' || d.state || ' ' || d.amount || ', payments '
            || coalesce((select string_agg(p.kind || ' ' || p.state, ', ') from payment p where p.order_id = o.id), 'none')
              as what
       from exchange_order o join deposit d on d.id = o.deposit_id
       join currency c on c.coin = o.coin_from and c.network = o.network_from
      where o.status = 'failed' and d.state = 'credited' and d.amount > c.network_fee`,
  );
  demandNone(
    'finished',
    rows.map(({ what }) => what),
  );
}

/** The ledger agrees with the chains, the venue and the rows. */
export async function verifyLedger(world: World): Promise<void> {
  const { orm } = world.gateway.app;
  const { rows } = await reconcile({ orm, adapters: world.faults.withoutFaults(world.gateway.settlement.adapters) });
  // A payment whose deposit was orphaned is a loss, and shows as a debit.
  const lost = await world.rows<{ short_id: string }>(
    `select o.short_id from exchange_order o join deposit d on d.order_id = o.id
      where d.state = 'orphaned' and d.credits > 0`,
  );
  const isLoss = (subject: string): boolean => lost.some(({ short_id: id }) => subject.startsWith(`${id},`));
  const differing = rows.filter(
    ({ check, subject, difference }) => difference !== '0' && !(check === 'debits' && isLoss(subject)),
  );
  demandNone(
    'reconcile',
    differing.map((row) => JSON.stringify(row)),
  );
}
