import { lastingComparisons, linesOfTransaction, slowTransferMs } from '../../ledger/ledger.ts';
import { adversePartners, dayMs } from '../fixed-results.ts';

export const attentionKinds = [
  'held_order',
  'failed_order',
  'overdue_order',
  'action_overdue',
  'client_debit',
  'deposit_problem',
  'small_deposits',
  'payment_unknown',
  'payment_problem',
  'payout_hold',
  'payout_limit',
  'trade_stuck',
  'venue_position',
  'proposal_open',
  'staff_change_open',
  'chain_problem',
  'adverse_partner',
  'adverse_quotes',
  'transfer_left_out',
  'sweep_refused',
  'wallet_level',
  'venue_unopened',
  'venue_foreign',
  'venue_difference',
  'transfer_short',
  'transfer_slow',
  'transfer_unknown',
  'commission_not_closed',
] as const;
export type AttentionKind = (typeof attentionKinds)[number];

/** An order that was due this long ago is overdue. */
export const overdueMs = 600_000;
/** A node that fails for a shorter time usually recovers by itself. */
const failingMs = 60_000;
/** By then the venue was asked for the final outcome. */
const undecidedMs = 300_000;
/** A transaction that is not mined by then pays too low a fee, or waits behind a nonce gap. */
const waitingMs = 3_600_000;
/** Commission is paid within 24 hours after its month. Halfway staff look why it was not sent. */
const commissionMs = dayMs / 2;
/** A month of partners is closed once the books were compared after it, which is once an hour. */
const unclosedMonthMs = 3_600_000 + 300_000;
/** How long staff see that small deposits without an order came on a day. */
const smallDepositsMs = 2 * dayMs;
/** How long a payment that was paid twice is shown. The reconciliation differs for longer. */
const paidTwiceMs = 30 * dayMs;
/** By then a sweep was tried several times. Fees that were too high for a while have fallen. */
const refusedMs = 600_000;
/** A position is retried every few seconds. One this old lacks a price or a market. */
const unclosedMs = 600_000;

/** A kind of trouble, in SQL. Each kind reads its oldest rows from its own index. */
interface Trouble {
  readonly kind: string;
  /** SQL: id of the order concerned. Null when the kind concerns no order. */
  readonly order: string | null;
  readonly subject: string;
  readonly since: string;
  readonly detail: string;
  readonly rows: string;
  /** Age in milliseconds of the moment that `rows` binds. */
  readonly agoMs?: number;
  readonly sorting: string;
}

/**
 * SQL: the amount that the account of an `exchange_order` lacks, by asset, once all unfinished
 * payments are confirmed.
 */
const lacking = `
  select sum(amount) as amount, coin, network
    from (select l.amount, l.coin, l.network
            from ledger_transaction x join ${linesOfTransaction('x')} l on l.account = 'client'
           where x.order_id = exchange_order.id
          union all
          select p.amount + p.fee_charged, p.coin, p.network
            from payment p where p.order_id = exchange_order.id and p.state not in ('confirmed', 'dead')) as taken
   group by coin, network having sum(amount) > 0`;

/** SQL: whose commission a `payment` is, to add to a detail. Empty for other kinds. */
const commissionOf = `
  case payment.kind when 'commission' then coalesce(
    (select ', commission of ' || p.name || ' for ' || to_char(m.month, 'YYYY-MM')
       from commission_statement m join partner p on p.id = m.partner_id where m.payment_id = payment.id), '')
       else '' end`;

/** SQL: what lets a `payment` begin that exceeds a share of the limits by itself. */
const raise = `
  case when payment.problem = 'above_share' then ': worth ' || payment.value_usd || ' US dollars, raise '
    || case payment.kind when 'commission' then 'PAYOUT_SHARE_COMMISSION or commission_per_day'
                         when 'refund' then 'PAYOUT_SHARE_REFUNDS' else 'PAYOUT_SHARE_PARTNER' end else '' end`;

/** SQL: the id of a `venue_movement`. */
const movement = `venue || ':' || kind || ':' || reference`;

/** SQL: what a `treasury_transfer` moves, and where it goes. */
const transfer = `trim_scale(amount) || ' ' || coin
  || case movement_kind when 'withdrawal' then ' from ' || venue || ' to ' || chain
                        else ' from ' || chain || ' to ' || venue end || ', ' || reference`;

/** Each kind of trouble, with the rows that have it. */
export const troubles: readonly Trouble[] = [
  {
    kind: `'held_order'`,
    order: 'id',
    subject: 'id::text',
    since: 'held_at',
    detail: 'hold_reason',
    rows: 'exchange_order where held_at is not null',
    sorting: 'held_at, exchange_order.id',
  },
  {
    kind: `'failed_order'`,
    order: 'id',
    subject: 'id::text',
    since: 'updated_at',
    detail: `(select e.cause from order_event e
               where e.order_id = exchange_order.id and e.from_status is distinct from e.to_status
               order by e.seq desc limit 1)`,
    rows: `exchange_order where status = 'failed'`,
    sorting: 'updated_at, exchange_order.id',
  },
  {
    kind: `'overdue_order'`,
    order: 'id',
    subject: 'id::text',
    since: 'next_action_at',
    detail: 'status',
    rows: 'exchange_order where next_action_at < ? and held_at is null and failing_since is null',
    agoMs: overdueMs,
    sorting: 'next_action_at, exchange_order.id',
  },
  {
    kind: `'overdue_order'`,
    order: 'id',
    subject: 'id::text',
    since: 'failing_since',
    detail: `'cannot be settled: ' || status`,
    // It is tried again and again. Its next time is always ahead.
    rows: 'exchange_order where failing_since < ?',
    agoMs: failingMs,
    sorting: 'failing_since, exchange_order.id',
  },
  {
    kind: `'action_overdue'`,
    order: 'order_id',
    subject: 'order_id::text',
    since: 'deadline',
    detail: 'reason',
    // The partner did not answer in time. A hold keeps the order from its refund.
    rows: 'order_action where outcome is null and deadline < ?',
    agoMs: overdueMs,
    sorting: 'deadline, order_id',
  },
  {
    kind: `'client_debit'`,
    order: 'id',
    subject: 'id::text',
    since: `(select max(x.at) from ledger_transaction x
              where x.order_id = exchange_order.id and x.kind = 'deposit_reversal')`,
    detail: `(select string_agg(trim_scale(amount) || ' ' || coin || ' on ' || network, ', ' order by coin, network)
                from (${lacking}) as lacking)`,
    // An account goes into debit only when a credited deposit is lost. Not by a partner's request.
    rows: `exchange_order
    where id in (select order_id from deposit where credits > 0 and state <> 'credited' and order_id is not null)
      and not exists (select from deposit d join sandbox_tx t on t.chain = d.chain and t.txid = d.txid and t.forced
                       where d.order_id = exchange_order.id)
      and exists (${lacking})`,
    sorting: '4, exchange_order.id',
  },
  {
    kind: `'deposit_problem'`,
    order: 'order_id',
    subject: 'id::text',
    since: 'seen_at',
    detail: 'problem',
    rows: 'deposit where problem is not null',
    sorting: 'seen_at, deposit.id',
  },
  {
    kind: `'small_deposits'`,
    order: null,
    subject: `chain || ':' || day`,
    since: 'first_at',
    detail: `deposits || ' on ' || chain || ' without an order, each below the minimum'`,
    // Nothing has to be done for them, so that an item ends by itself.
    rows: 'small_deposit_day where first_at > ?',
    agoMs: smallDepositsMs,
    sorting: 'first_at, chain',
  },
  {
    kind: `case problem when 'unknown' then 'payment_unknown' else 'payment_problem' end`,
    order: 'order_id',
    subject: 'id::text',
    since: 'coalesce(problem_since, created_at)',
    detail: `problem || ${commissionOf} || ${raise}`,
    // Thousands of payments may wait for room in a limit. They count below, as one item for each
    // limit.
    rows: `payment where problem is not null and ended_at is null and problem not in ('payout_limit', 'payout_limit_asset')`,
    sorting: 'problem_since, payment.id',
  },
  {
    kind: `'payment_problem'`,
    order: 'order_id',
    subject: 'id::text',
    since: 'ended_at',
    detail: `problem || ${commissionOf}`,
    // Two transactions of one payment moved its amount.
    rows: `payment where problem = 'paid_twice' and ended_at > ?`,
    agoMs: paidTwiceMs,
    sorting: 'ended_at, payment.id',
  },
  {
    kind: `'payment_problem'`,
    order: 'order_id',
    subject: 'id::text',
    since: 'sent_at',
    detail: `'not_in_a_block' || ${commissionOf}`,
    rows: `payment where state = 'sent' and sent_at < ? and problem is null
      and not exists (select from payment_attempt a
                       where a.payment_id = payment.id and a.dead_at is null and a.mined_height is not null)`,
    agoMs: waitingMs,
    sorting: 'sent_at, payment.id',
  },
  {
    kind: `'payment_problem'`,
    order: null,
    subject: 'payment.id::text',
    since: 'payment.created_at',
    detail: `coalesce(payment.problem, case when not m.approved_inactive
      and (select status from partner where id = m.partner_id) = 'inactive' then 'partner_inactive' else 'not_sent' end)
      || ${commissionOf}`,
    // Those with another problem, or in no block, are listed above.
    rows: `commission_statement m join payment on payment.id = m.payment_id
    where m.state = 'payable' and payment.created_at < ? and payment.sent_at is null and payment.ended_at is null
      and (payment.problem is null or payment.problem in ('payout_limit', 'payout_limit_asset'))`,
    agoMs: commissionMs,
    sorting: 'payment.created_at, payment.id',
  },
  {
    kind: `'commission_not_closed'`,
    order: null,
    subject: 'month',
    since: 'ended',
    detail: `partners || ' partners: the books were not compared since, differ, or a closing failed'`,
    rows: `(select to_char(month, 'YYYY-MM') as month, (month + interval '1 month') at time zone 'UTC' as ended,
                   count(*) as partners
              from commission_statement where state = 'open' group by commission_statement.month) as unclosed
    where ended < ?`,
    agoMs: unclosedMonthMs,
    sorting: 'ended, month',
  },
  {
    kind: `'payout_hold'`,
    order: null,
    subject: 'id::text',
    since: 'opened_at',
    detail: `cause || ', ' || coalesce(coin || ' on ' || network, 'all assets') || ': ' || payout_hold.detail`,
    rows: 'payout_hold where closed_at is null',
    sorting: 'opened_at, payout_hold.id',
  },
  {
    kind: `'payout_limit'`,
    order: null,
    subject: 'asset',
    since: 'waits_since',
    detail: `'payments that wait for room in the limit of ' || asset || ': ' || payments`,
    rows: `(select case problem when 'payout_limit' then 'all assets' else coin || ' on ' || network end as asset,
                   min(problem_since) as waits_since, count(*) as payments
              from payment where state = 'ready' and problem in ('payout_limit', 'payout_limit_asset')
             group by 1) as full_limit`,
    sorting: 'waits_since, asset',
  },
  {
    kind: `'trade_stuck'`,
    order: 'o.id',
    subject: 'o.id::text',
    since: 'o.exchange_deadline',
    detail: 'coalesce(t.problem, t.state)',
    rows: `exchange_order o join trade t on t.order_id = o.id and t.state = 'intended'
    where o.status = 'exchanging' and o.exchange_deadline < ?`,
    agoMs: undecidedMs,
    sorting: 'o.exchange_deadline, o.id',
  },
  {
    kind: `'venue_position'`,
    order: 'o.id',
    subject: 'v.order_id::text',
    since: 'v.since',
    detail: `case when v.amount < 0 then 'to buy: ' else 'to sell: ' end || trim_scale(abs(v.amount)) || ' ' || v.coin || ' on ' || v.venue`,
    // A position whose trade also waits for its answer is listed once, as 'trade_stuck'.
    rows: `venue_position v left join exchange_order o on o.id = v.order_id
    where v.since < ?
      and not exists (select from trade t where t.order_id = v.order_id and t.state = 'intended')`,
    agoMs: unclosedMs,
    sorting: 'v.since, v.order_id',
  },
  {
    kind: `'proposal_open'`,
    order: 'order_id',
    subject: 'id::text',
    since: 'proposed_at',
    detail: 'action',
    rows: `staff_action where state = 'proposed'`,
    sorting: 'proposed_at, staff_action.id',
  },
  {
    kind: `'staff_change_open'`,
    order: null,
    subject: 'id::text',
    since: 'proposed_at',
    detail: 'change',
    rows: `staff_change where state = 'proposed'`,
    sorting: 'proposed_at, staff_change.id',
  },
  {
    kind: `'chain_problem'`,
    order: null,
    subject: 'chain',
    since: `coalesce(failing_since, scanned_at, now())`,
    detail: 'coalesce(problem, failure)',
    rows: 'chain_state where (problem is not null or failing_since < ?)',
    agoMs: failingMs,
    sorting: '4, chain',
  },
  {
    kind: `'adverse_partner'`,
    order: null,
    subject: 'partner_id::text',
    since: 'adverse.since',
    detail: `case when is_spent then 'lost ' || round(month_usd, 2) || ' USD by fixed orders in 30 days'
                  else 'lost ' || round(loss_usd, 2) || ' USD by ' || orders || ' fixed orders in 24 hours' end`,
    rows: `(${adversePartners}) as adverse join partner p on p.id = adverse.partner_id and not p.keeps_fixed_caps`,
    agoMs: dayMs,
    sorting: 'adverse.since, partner_id',
  },
  {
    kind: `'adverse_quotes'`,
    order: null,
    subject: 'id::text',
    since: 'quote_cut_since',
    detail: `'used quotes exceed the market by ' || quote_adverse_bps || ' basis points'`,
    rows: 'partner where quote_cut_since is not null',
    sorting: 'quote_cut_since, partner.id',
  },
  {
    kind: `'transfer_left_out'`,
    order: null,
    subject: 'id::text',
    since: 'seen_at',
    detail: `reason || ': ' || chain || ' ' || txid`,
    rows: 'left_out_transfer where acknowledged_at is null',
    sorting: 'seen_at, id',
  },
  {
    kind: `'sweep_refused'`,
    order: null,
    subject: `coin || ' on ' || network`,
    since: 'refused_since',
    // A token may block many addresses, and high fees refuse all of them: one item for each asset.
    detail: `problems || ': ' || coin || ' on ' || network || ' stays on ' || first_ones
             || case when sources > 3 then ' and ' || (sources - 3) || ' more' else '' end`,
    rows: `(select coin, network, min(since) as refused_since, count(*) as sources,
                   string_agg(distinct problem, ', ') as problems,
                   array_to_string((array_agg(source order by since, source))[1:3], ', ') as first_ones
              from sweep_refusal where since < ? group by coin, network) as refused`,
    agoMs: refusedMs,
    sorting: 'refused_since, coin, network',
  },
  {
    kind: `'wallet_level'`,
    order: null,
    subject: 'chain',
    since: 'outside_since',
    detail: `level || ': ' || coin || ' on ' || network`,
    rows: 'wallet_level where outside_since is not null',
    sorting: 'outside_since, chain',
  },
  {
    kind: `'venue_unopened'`,
    order: null,
    subject: 'venue',
    since: 'watched_from',
    detail: `'the balances at ' || venue || ' are not in the books, so they are not compared'`,
    rows: 'venue_account where is_watched and listed_at is not null and opened_at is null',
    sorting: 'watched_from, venue',
  },
  {
    kind: `'venue_foreign'`,
    order: null,
    subject: movement,
    since: 'seen_at',
    detail: `kind || ' of ' || trim_scale(amount) || ' ' || coin || ' at ' || venue || coalesce(', address ' || address, '')`,
    // A deposit counts once it is credited. Until then it may be returned.
    rows: `venue_movement where part = 'foreign' and not (kind = 'deposit' and state in ('pending', 'unknown'))`,
    sorting: 'seen_at, venue_movement.kind, reference',
  },
  {
    kind: `'venue_difference'`,
    order: null,
    subject: `b.venue || ':' || b.coin`,
    since: 'b.differing_since',
    detail: `b.venue || case when b.compared_total - b.in_flight < b.booked then ' has less than the books: '
                                                                       else ' has more than the books: ' end
             || trim_scale(abs(b.compared_total - b.in_flight - b.booked)) || ' ' || b.coin`,
    rows: `venue_account v join venue_balance b on b.venue = v.venue and b.differing >= ${lastingComparisons}
    where v.is_watched and v.opened_at is not null`,
    sorting: 'b.differing_since, b.venue, b.coin',
  },
  {
    kind: `'transfer_short'`,
    order: null,
    subject: 'id::text',
    since: 'updated_at',
    detail: `problem || ': ' || ${transfer}`,
    rows: 'treasury_transfer where problem is not null',
    sorting: 'updated_at, treasury_transfer.id',
  },
  {
    kind: `'transfer_slow'`,
    order: null,
    subject: 'id::text',
    since: 'created_at',
    detail: `state || ': ' || ${transfer}`,
    // One with a problem is listed once, as 'transfer_short'.
    rows: `treasury_transfer where state not in ('done', 'returned') and created_at < ? and problem is null`,
    agoMs: slowTransferMs,
    sorting: 'created_at, treasury_transfer.id',
  },
  {
    kind: `'transfer_unknown'`,
    order: null,
    subject: movement,
    since: 'changed_at',
    detail: `kind || ' of ' || trim_scale(amount) || ' ' || coin || ' at ' || venue || ', state: ' || told`,
    // A withdrawal that is none of ours is listed once, as 'venue_foreign'.
    rows: `venue_movement where state = 'unknown' and not (kind = 'withdrawal' and part = 'foreign')`,
    sorting: 'changed_at, venue_movement.kind, reference',
  },
];

/** The moment that the rows of a trouble bind, if they bind one. */
export function bound({ agoMs }: Trouble, now: Date): Date[] {
  return agoMs === undefined ? [] : [new Date(now.getTime() - agoMs)];
}
