import type { Hooks } from './hooks.ts';
import { roundSec, stepSec } from './plan.ts';
import { dayStart, type MadeOrder, type Town } from './town.ts';

// What a day left behind, as text: for each order its row, events, ledger lines, payments, deposits
// and webhook bodies, and then what belongs to no order.
//
// What two runs on one commit may differ in is made equal here, and nothing else is:
//
// - Ids and transaction ids are random. They become names: `order`, `deposit 1` by the number of
//   the user's transaction, `payment 1` by the number of the payment within its order, `tx 1.1` for
//   an attempt. The tag that a deposit must have is `of the order`. An id that nothing names
//   becomes `(id)`.
// - Nonces and reservations depend on the order of payments of other orders, which share a chain.
//   They are left out, and so are block hashes, heights and raw transactions.
// - Deposit addresses come from keys that each database draws for itself. They are left out.
// - Times are the test clock's, which moves by rounds. They become `step 12 +30 s`. In a step with
//   a kill only the step counts: how far concurrent work had come when the process died differs.
//   Another process does what is missing, up to two rounds later.
// - Ledger transactions of one moment have no order. They are sorted by kind and reference. Lines
//   within a transaction keep their numbers.
// - Of a delivery the stored answers count. An attempt whose answer the database could not take in
//   time is made again.

/** The parts of a transcript that have a digest each. */
export const categories = ['orders', 'events', 'ledger', 'payments', 'deposits', 'webhooks'] as const;
export type Category = (typeof categories)[number];

/** The lines of one order by category. */
export type OrderLines = Readonly<Record<Category, readonly string[]>>;

export interface Transcript {
  /** By the number of the order. */
  readonly orders: ReadonlyMap<number, OrderLines>;
  /** Ledger and payments of no order, by town. */
  readonly others: readonly string[];
}

type Row = Readonly<Record<string, string | number | null>>;

/** SQL of a time in milliseconds since 1970. */
const ms = (column: string): string => `(extract(epoch from ${column}) * 1000)::float8`;
/** SQL of an amount, with the digits that it has. */
const amount = (column: string): string => `trim_scale(${column})::text`;

const orderRows = `
  select o.id, o.short_id, o.status, o.hold_reason, o.coin_from, o.network_from, o.coin_to, o.network_to, o.rate_type,
         ${ms('o.created_at')} as created_at, ${ms('o.expires_at')} as expires_at,
         ${amount('o.amount_from_expected')} as amount_from_expected, ${amount('o.amount_to_expected')} as amount_to_expected,
         ${amount('o.rate_quoted')} as rate_quoted, ${amount('o.fee_rate')} as fee_rate,
         ${amount('o.service_fee_quoted')} as service_fee_quoted, ${amount('o.network_fee_quoted')} as network_fee_quoted,
         ${amount('o.min_amount')} as min_amount, ${amount('o.max_amount')} as max_amount,
         ${amount('o.amount_from_actual')} as amount_from_actual, ${amount('o.amount_to_actual')} as amount_to_actual,
         o.recipient_address, o.recipient_address_tag, o.refund_address, o.refund_address_tag,
         o.deposit_confirmations_required, o.deposit_id, o.deposit_txid, o.payout_txid, o.event_seq,
         t.external_id, t.markup_bps, ${amount('t.min_amount_to')} as min_amount_to, t.policy::text as policy
    from exchange_order o left join order_terms t on t.order_id = o.id`;
const eventRows = `
  select order_id, seq, ${ms('at')} as at, from_status, to_status, cause, actor, detail
    from order_event order by order_id, seq`;
const actionRows = `
  select order_id, seq, reason, deposit_id, ${amount('amount')} as amount, ${amount('amount_from')} as amount_from, outcome,
         actor, ${amount('amount_to')} as amount_to, ${amount('service_fee')} as service_fee,
         ${amount('network_fee')} as network_fee from order_action order by order_id, seq`;
const depositRows = `
  select id, order_id, txid, tag, coin, network, contract, ${amount('amount')} as amount, state, confirmations_required,
         credits, problem, purpose, ${ms('seen_at')} as seen_at from deposit`;
const paymentRows = `
  select id, order_id, deposit_id, kind, leg, chain, coin, network, contract, address, tag, ${amount('amount')} as amount,
         ${amount('fee_charged')} as fee_charged, state, attempt, problem, tries, value_usd::text as value_usd
    from payment order by number`;
const attemptRows = `
  select payment_id, attempt, chain, ${amount('fee')} as fee, txid, dead_why,
         signed_at is not null as is_signed, sent_at is not null as is_sent, mined_height is not null as is_mined
    from payment_attempt order by payment_id, attempt`;
const tradeRows = `
  select order_id, venue, state, ${amount('amount_from')} as amount_from, ${amount('amount_to')} as amount_to,
         ${amount('service_fee')} as service_fee, ${amount('network_fee')} as network_fee,
         ${amount('min_bought')} as min_bought, ${amount('bought')} as bought, problem from trade`;
const ledgerRows = `
  select x.order_id, x.id, x.kind, x.reference, l.line, l.account, l.coin, l.network, ${amount('l.amount')} as amount
    from ledger_transaction x join ledger_line l on l.transaction_id = x.id order by x.id, l.line`;

/** Deliveries of events with the answers of their attempts, by the name of their receiver. */
const deliveryRows = `
  select d.order_id, split_part(split_part(w.url, '//', 2), '.', 1) || ' ' || d.seq as key, d.type, d.state,
         (select string_agg(coalesce(e ->> 'error', 'answer') || ' ' || coalesce(e ->> 'status', ''), ', ' order by n)
            from jsonb_array_elements(d.log) with ordinality as log (e, n)) as answers
    from webhook_delivery d join webhook_endpoint w on w.id = d.endpoint_id
   where d.order_id is not null order by d.order_id, w.url, d.seq`;

const anyId = /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|\b[0-9a-f]{64}\b/g;

/** Gives the ids of one order their names. */
class Names {
  readonly #names = new Map<string, string>();

  set(id: string | number | null | undefined, name: string): void {
    if (typeof id === 'string') this.#names.set(id, name);
  }

  /** The text with a name in place of each id. */
  in(text: string): string {
    return text.replace(anyId, (id) => this.#names.get(id) ?? '(id)');
  }
}

/** A row as `name=value` of each column that has a value. */
function shown(row: Row, leftOut: readonly string[], names: Names): string {
  const members = Object.entries(row)
    .filter(([name, value]) => value !== null && !leftOut.includes(name))
    .map(([name, value]) => `${name}=${value}`);
  return names.in(members.join(' '));
}

function byOrder(rows: readonly Row[]): Map<string, Row[]> {
  return Map.groupBy(rows, ({ order_id: id }) => String(id));
}

/** Reads the transcript of a town whose day is over. */
export async function readTown(town: Town, number: number, hooks: Hooks): Promise<Transcript> {
  const read = (sql: string): Promise<Row[]> => town.rows<Row>(sql);
  const rows = new Map((await read(orderRows)).map((row) => [String(row.id), row]));
  const events = byOrder(await read(eventRows));
  const actions = byOrder(await read(actionRows));
  const deposits = byOrder(await read(depositRows));
  const payments = byOrder(await read(paymentRows));
  const attempts = Map.groupBy(await read(attemptRows), ({ payment_id: id }) => String(id));
  const trades = byOrder(await read(tradeRows));
  const ledger = byOrder(await read(ledgerRows));
  const deliveries = byOrder(await read(deliveryRows));
  const time = (value: string | number | null | undefined): string => timeName(Number(value), town.killSteps);

  /** The payments of an order, with the names of their rows. */
  const nameRows = (made: MadeOrder | null, own: readonly Row[], paid: readonly Row[], names: Names): void => {
    for (const [index, txid] of (made?.txids ?? []).entries()) names.set(txid, `user tx ${index + 1}`);
    for (const { id, txid } of own) {
      const place = made?.txids.indexOf(String(txid)) ?? -1;
      names.set(id, place < 0 ? '(deposit)' : `deposit ${place + 1}`);
    }
    for (const [index, { id }] of paid.entries()) {
      names.set(id, `payment ${index + 1}`);
      for (const { attempt, txid } of attempts.get(String(id)) ?? []) names.set(txid, `tx ${index + 1}.${attempt}`);
    }
  };
  const paymentLines = (paid: readonly Row[], names: Names): string[] =>
    paid.flatMap((row) => [
      `${names.in(String(row.id))}: ${shown(row, ['id', 'order_id'], names)}`,
      ...(attempts.get(String(row.id)) ?? []).map((attempt) => `  ${shown(attempt, ['payment_id'], names)}`),
    ]);
  const ledgerLines = (lines: readonly Row[], names: Names): string[] => {
    const booked = [...Map.groupBy(lines, ({ id }) => String(id)).values()].map((its) => {
      const [{ kind, reference } = {} as Row] = its;
      const head = `${kind} ${names.in(String(reference))}`;
      return [
        head,
        ...its.map(({ line, account, coin, network, amount: sum }) => {
          return `  ${line} ${names.in(String(account))} ${coin} ${network} ${sum}`;
        }),
      ].join('\n');
    });
    return booked.sort();
  };

  const orders = new Map<number, OrderLines>();
  for (const [index, made] of town.made) {
    const row = rows.get(made.id);
    if (!row) continue;
    const names = new Names();
    names.set(made.id, 'order');
    const own = deposits.get(made.id) ?? [];
    const paid = payments.get(made.id) ?? [];
    nameRows(made, own, paid, names);
    const { behaviour } = made.plan;
    const times = `created ${time(row.created_at)}, expires ${time(row.expires_at)}`;
    const bodies = hooks.of(made.id);
    orders.set(index, {
      orders: [
        `${behaviour}, ${times}: ${shown(row, ['id', 'short_id', 'created_at', 'expires_at'], names)}`,
        ...(actions.get(made.id) ?? []).map((action) => `question ${shown(action, ['order_id'], names)}`),
        ...made.acts.map((act) => names.in(act)),
      ],
      events: (events.get(made.id) ?? []).map(
        (event) => `${event.seq} ${time(event.at)} ${shown(event, ['order_id', 'seq', 'at'], names)}`,
      ),
      ledger: ledgerLines(ledger.get(made.id) ?? [], names),
      payments: [
        ...(trades.get(made.id) ?? []).map((trade) => `trade ${shown(trade, ['order_id'], names)}`),
        ...paymentLines(paid, names),
      ],
      deposits: own
        .map((deposit) => {
          const seen = `seen ${time(deposit.seen_at)}`;
          // The tag of the order is drawn by its database, as its address is.
          const tag = deposit.tag === made.depositTag && deposit.tag !== null ? 'of the order' : deposit.tag;
          const row = { ...deposit, tag: tag ?? null };
          return `${names.in(String(deposit.id))} ${seen}: ${shown(row, ['id', 'order_id', 'seen_at'], names)}`;
        })
        .sort(),
      webhooks: (deliveries.get(made.id) ?? []).map((delivery) => {
        const body = bodyLine(bodies.get(String(delivery.key)) ?? 'no body', row, names, time);
        return `${shown(delivery, ['order_id'], names)} ${body}`;
      }),
    });
  }
  const names = new Names();
  const unclaimed = [...(deposits.get('null') ?? [])];
  const ofNone = payments.get('null') ?? [];
  const others = [
    ...ledgerLines(ledger.get('null') ?? [], names),
    ...unclaimed.map((row) => `deposit ${shown(row, ['id', 'txid', 'seen_at'], names)}`),
    ...paymentLines(ofNone, names),
  ].sort();
  return { orders, others: others.map((line) => `town ${number}: ${line}`) };
}

/** A body as its receiver got it, without ids and times that differ from run to run. */
function bodyLine(body: string, { id, short_id: shortId }: Row, names: Names, time: (value: number) => string): string {
  return names
    .in(body)
    .replaceAll(String(id).replaceAll('-', ''), 'order')
    .replaceAll(String(shortId), 'XP-ORDER')
    .replace(/"timestamp":"([^"]+)"/, (_all, at: string) => `"timestamp":"${time(Date.parse(at))}"`);
}

/** A time of the test clock. Of a step with a kill only the number. */
function timeName(at: number, killSteps: ReadonlySet<number>): string {
  const seconds = (at - dayStart) / 1_000;
  const step = Math.floor(seconds / stepSec);
  const rest = seconds - step * stepSec;
  if (rest % roundSec !== 0) return `step ${step} +${rest} s`;
  return killSteps.has(step) ? `step ${step}` : `step ${step} +${rest} s`;
}
