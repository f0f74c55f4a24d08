import { orderFacts, orderMoves } from '../../../../src/orders/order-status.ts';
import type { Rows } from '../orders.ts';
import type { World } from './world.ts';

/** Throws when a rule that must always hold is broken. */
export async function verify(world: World, after: string): Promise<void> {
  demandNone('outside', world.faults.violations);
  demandNone(after, [
    ...(await lostOrders(world)),
    ...(await badPayments(world)),
    ...(await badOrders(world.rows)),
    ...(await badDeadlines(world)),
    ...(await badHistories(world.rows)),
    ...(await world.faults.badBroadcasts()),
  ]);
}

/** Throws with the faults that were found, if any. */
export function demandNone(what: string, faults: readonly string[]): void {
  if (faults.length > 0) throw new Error(`${what}:\n  ${faults.join('\n  ')}`);
}

type Rule = readonly [name: string, sql: string, values?: unknown[]];

/** Each rule's statement selects the rows that break it. */
async function breaches(rows: Rows, rules: readonly Rule[]): Promise<string[]> {
  const faults: string[] = [];
  for (const [name, sql, values] of rules)
    for (const row of await rows(sql, values)) faults.push(`${name}: ${JSON.stringify(row)}`);
  return faults;
}

/** Orders that a partner has seen, and that the database has lost. */
async function lostOrders({ acknowledged, rows }: World): Promise<string[]> {
  const known = await rows<{ id: string }>('select id from exchange_order');
  const ids = new Set(known.map(({ id }) => id));
  return [...acknowledged].filter((id) => !ids.has(id)).map((id) => `the order ${id} is gone`);
}

function badPayments({ rows, hotWallet }: World): Promise<string[]> {
  return breaches(rows, [
    [
      'a deposit was paid on twice',
      `select deposit_id, leg, count(*) from payment where state <> 'dead' group by deposit_id, leg having count(*) > 1`,
    ],
    [
      'an order has two payouts',
      `select order_id, count(*) from payment where state <> 'dead' and kind = 'payout'
        group by order_id having count(*) > 1`,
    ],
    [
      'two attempts of one payment succeeded',
      `select a.payment_id, count(*) from payment_attempt a
         join sandbox_tx t on t.chain = a.chain and t.txid = a.txid and t.state = 'mined' and t.success
        group by a.payment_id having count(*) > 1`,
    ],
    [
      'a transfer from the hot wallet is no payment, or differs from its payment',
      `select t.chain, t.txid, t.amount, p.id as payment, p.state
         from sandbox_tx t
         left join payment_attempt a on a.chain = t.chain and a.txid = t.txid
         left join payment p on p.id = a.payment_id
         left join currency c on c.coin = p.coin and c.network = p.network
        where t.sender is not null and t.state <> 'dropped'
          and (t.sender <> $1 or p.id is null or a.raw <> t.raw or t.recipient <> p.address
               or t.tag is distinct from p.tag or t.contract is distinct from p.contract
               or t.amount <> p.amount * power(10::numeric, c.decimals)
               or (t.state = 'mined' and t.success and p.state in ('ready', 'prepared', 'dead')))`,
      [hotWallet],
    ],
    [
      'a confirmed payment is on no chain',
      `select p.id, t.state from payment p
         left join payment_attempt a on a.payment_id = p.id and a.dead_at is null
         left join sandbox_tx t on t.chain = a.chain and t.txid = a.txid
        where p.state = 'confirmed' and not coalesce(t.state in ('mined', 'mempool') and t.success is not false, false)`,
    ],
    [
      'the ledger does not sum to zero',
      `select coin, network, sum(amount) from ledger_line group by coin, network having sum(amount) <> 0`,
    ],
  ]);
}

function badOrders(rows: Rows): Promise<string[]> {
  return breaches(rows, [
    [
      'a deposit address has two orders',
      `select a.address, a.tag, count(*) from exchange_order o join deposit_address a on a.id = o.deposit_address_id
        group by a.address, a.tag having count(*) > 1`,
    ],
    [
      'a completed order shows another payout than its chain',
      `select o.short_id, o.payout_txid, o.amount_to_actual, t.amount
         from exchange_order o
         left join currency c on c.coin = o.coin_to and c.network = o.network_to
         left join payment p on p.order_id = o.id and p.kind = 'payout' and p.state = 'confirmed'
         left join payment_attempt a on a.payment_id = p.id and a.dead_at is null
         left join sandbox_tx t on t.chain = a.chain and t.txid = a.txid
        where o.status = 'completed'
          and (o.payout_txid is null or o.payout_txid is distinct from a.txid or t.amount is null
               or t.amount <> o.amount_to_actual * power(10::numeric, c.decimals))`,
    ],
    [
      'a fixed order was not paid the agreed amount',
      `select o.short_id, o.amount_to_actual, o.amount_to_expected from exchange_order o
         join deposit d on d.id = o.deposit_id
        where o.status = 'completed' and o.rate_type = 'fixed' and d.amount >= o.amount_from_expected
          and o.amount_to_actual <> o.amount_to_expected`,
    ],
    [
      'a deposit below the minimum is confirmed, exchanged or paid out',
      `select o.short_id, o.status, d.amount, o.min_amount from exchange_order o join deposit d on d.id = o.deposit_id
        where d.amount < o.min_amount and o.status not in ('refunding', 'refunded', 'failed')`,
    ],
    [
      'dust from a stranger failed an order',
      `select o.short_id from exchange_order o join deposit d on d.id = o.deposit_id
         join currency c on c.coin = o.coin_from and c.network = o.network_from
        where d.amount < o.min_amount and o.status in ('refunding', 'failed')
          and (d.amount <= c.network_fee or o.refund_address is null)`,
    ],
    [
      'a refunded order has no refund',
      `select short_id from exchange_order o where status = 'refunded' and not exists (
         select 1 from payment p where p.order_id = o.id and p.kind = 'refund' and p.leg = 'main'
            and p.deposit_id = o.deposit_id and p.state = 'confirmed')`,
    ],
  ]);
}

/** The sandbox chain stores when a transaction was sent, and when its block was made. */
function badDeadlines({ rows, gateway }: World): Promise<string[]> {
  return breaches(rows, [
    [
      'a deposit that was sent after the window, or mined after its grace, was exchanged',
      `select o.short_id, o.rate_type, o.expires_at, t.seen_at, b.mined_at
         from exchange_order o join deposit d on d.id = o.deposit_id
         join sandbox_tx t on t.chain = d.chain and t.txid = d.txid
         join sandbox_block b on b.chain = t.chain and b.height = t.height
        where o.status = 'completed' and d.credits = 1
          and (t.seen_at > o.expires_at or b.mined_at > o.expires_at + make_interval(secs => $1))`,
      [gateway.config.DEPOSIT_GRACE_SEC],
    ],
    [
      'a deposit of at least the minimum that was mined in time was refunded as late',
      `select o.short_id, o.rate_type, o.expires_at, b.mined_at
         from exchange_order o join deposit d on d.id = o.deposit_id
         join sandbox_tx t on t.chain = d.chain and t.txid = d.txid and t.state = 'mined'
         join sandbox_block b on b.chain = t.chain and b.height = t.height
        where d.amount >= o.min_amount and b.mined_at <= o.expires_at
          and exists (select 1 from order_event e where e.order_id = o.id and e.cause in ('late_deposit', 'rate_expired'))
          and not exists (select 1 from order_event e where e.order_id = o.id and e.cause = 'partner_cancelled')`,
    ],
  ]);
}

/** Orders whose events are no path of the state table. A fact leaves the status. */
export async function badHistories(rows: Rows): Promise<string[]> {
  const events = await rows<{
    order_id: string;
    seq: number;
    from_status: string | null;
    to_status: string;
    cause: string;
    status: string;
    event_seq: number;
  }>(
    `select e.order_id, e.seq, e.from_status, e.to_status, e.cause, o.status, o.event_seq
       from order_event e join exchange_order o on o.id = e.order_id order by e.order_id, e.seq`,
  );
  const faults: string[] = [];
  const moves: Readonly<Record<string, { from: string; to: string }>> = orderMoves;
  for (const [id, history] of Map.groupBy(events, ({ order_id }) => order_id)) {
    let at: string | null = null;
    for (const [index, { seq, from_status: from, to_status: to, cause }] of history.entries()) {
      const edge = moves[cause];
      const isFirst = index === 0 && cause === 'created' && from === null && to === 'waiting_deposit';
      const isMove = index > 0 && edge?.from === from && edge.to === to && from === at;
      const isFact = index > 0 && cause in orderFacts && from === at && to === at;
      if (seq !== index + 1 || !(isFirst || isMove || isFact))
        faults.push(`order ${id}: event ${seq} ${cause} ${from} ${to}`);
      at = to;
    }
    const [last] = history;
    if (last?.status !== at || last.event_seq !== history.length)
      faults.push(`order ${id} differs from its last event`);
  }
  return faults;
}
