import { givenRows, prepared } from '../base/db/prepared.ts';
import { isOwnAddress } from '../chains/addresses/own-address.ts';
import type { RateType } from '../market/rates/quote.ts';
import { ScopedStatement, type Sight } from './order-scope.ts';
import type { OrderStatus } from './order-status.ts';

/** The partner's view of an order. Amounts are plain decimal text, times are ISO 8601 in UTC. */
export interface OrderView {
  readonly id: string;
  readonly shortId: string;
  readonly status: OrderStatus;
  readonly createdAt: string;
  readonly expiresAt: string;
  readonly coinFrom: string;
  readonly networkFrom: string;
  readonly coinTo: string;
  readonly networkTo: string;
  readonly amountFromExpected: string;
  readonly amountToExpected: string;
  readonly rateType: RateType;
  readonly rateQuoted: string;
  readonly depositAddress: string;
  readonly depositAddressTag: string | null;
  readonly recipientAddress: string;
  readonly depositTxid: string | null;
  readonly depositConfirmations: number | null;
  readonly depositConfirmationsRequired: number;
  readonly payoutTxid: string | null;
}

/** A time as ISO 8601 in UTC with milliseconds. */
export const isoTime = (column: string): string =>
  `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** An amount as plain decimal text, without zeros at its end. */
export const decimal = (column: string): string => `trim_scale(${column})::text`;

/** An order that is looked up, by one of its names. */
export type OrderLookup = {
  readonly id: string | null;
  readonly shortId: string | null;
};

/** Columns of `OrderView`. `o` is exchange_order, `d` its deposit_address. */
const orderColumns = `o.id, o.short_id as "shortId", o.status, ${isoTime('o.created_at')} as "createdAt",
       ${isoTime('o.expires_at')} as "expiresAt", o.coin_from as "coinFrom", o.network_from as "networkFrom",
       o.coin_to as "coinTo", o.network_to as "networkTo",
       trim_scale(o.amount_from_expected)::text as "amountFromExpected",
       trim_scale(o.amount_to_expected)::text as "amountToExpected", o.rate_type as "rateType",
       trim_scale(o.rate_quoted)::text as "rateQuoted", d.address as "depositAddress", d.tag as "depositAddressTag",
       o.recipient_address as "recipientAddress", o.deposit_txid as "depositTxid",
       o.deposit_confirmations as "depositConfirmations",
       o.deposit_confirmations_required as "depositConfirmationsRequired", o.payout_txid as "payoutTxid"`;

/** The visible orders of the given names: `asked`, with `o` and `d` of each. */
const askedOrders = ({ ordersOfRow }: Sight): string => `asked
  join lateral (select * from ${ordersOfRow} e where e.id = asked.id
                union all select * from ${ordersOfRow} e where e.short_id = asked.short_id) o on true
  join deposit_address d on d.id = o.deposit_address_id`;

/**
 * Makes a statement that finds many orders, each by one of its names. An order that is unknown, or
 * that its scope does not see, has no row. `joins` and `columns` add to what `OrderView` has.
 */
export function orderLookupWith(name: string, columns = '', joins = ''): ScopedStatement {
  return new ScopedStatement(
    name,
    (sight) => `with ${givenRows({ ...sight.columns, id: 'uuid', shortId: 'text' })}
select asked.n::int, ${orderColumns}${columns}
  from ${askedOrders(sight)}${joins}`,
  );
}

export const orderLookup = orderLookupWith('order_lookup');

/** Checks whether the destinations of an already refused create belong to the gateway. */
export const ownDestinations = prepared(
  'own_destinations',
  `select ${isOwnAddress(':recipientForms')} as "ownRecipient", ${isOwnAddress(':refundForms')} as "ownRefund"`,
);

/** Stands for a deposit address until one is taken from the pool. No address contains this text. */
export const addressPlaceholder = '<deposit address>';

/** What a create found and made. Nothing is made when a check refuses. */
export interface CreateOutcome {
  /** The number of the create in its batch, from 1. */
  readonly n: number;
  readonly live: boolean;
  readonly active: boolean;
  readonly ownRecipient: boolean;
  readonly ownRefund: boolean;
  /** Whether another order has the short id. */
  readonly isShortIdTaken: boolean;
  /** An earlier request with the same idempotency key. Nothing was made then. */
  readonly earlierOrder: string | null;
  readonly earlierFingerprint: Buffer | null;
  readonly earlierBody: string | null;
  /** Orders that have the quote or the external id of this create. Nothing was made then. */
  readonly quoteOrder: string | null;
  readonly externalOrder: string | null;
  /** Whether the order fits the partner's fixed caps. Also false after another refusal. */
  readonly hasRoom: boolean;
  /** The order's deposit address. Null when nothing was made. */
  readonly address: string | null;
}

/** The columns of a create, with their types. */
const createColumns = {
  keyId: 'text',
  partner: 'uuid',
  now: 'timestamptz',
  expiresAt: 'timestamptz',
  id: 'uuid',
  shortId: 'text',
  coinFrom: 'text',
  networkFrom: 'text',
  coinTo: 'text',
  networkTo: 'text',
  amountFrom: 'numeric',
  amountTo: 'numeric',
  rate: 'numeric',
  feeRate: 'numeric',
  serviceFee: 'numeric',
  networkFee: 'numeric',
  minAmount: 'numeric',
  maxAmount: 'numeric',
  confirmations: 'integer',
  recipientForms: 'text',
  refundForms: 'text',
  recipient: 'text',
  recipientTag: 'text',
  refund: 'text',
  refundTag: 'text',
  rateType: 'text',
  // Of a fixed-rate order, for its caps. Null for a float order.
  usd: 'numeric',
  slot: 'timestamptz',
  hourUsd: 'numeric',
  dayUsd: 'numeric',
  allUsd: 'numeric',
  hourAgo: 'timestamptz',
  dayAgo: 'timestamptz',
  // The deposit address. Without `address` it comes from the pool that the signer fills.
  keychain: 'text',
  addressId: 'uuid',
  index: 'bigint',
  address: 'text',
  tag: 'text',
  nestedForm: 'text',
  taprootForm: 'text',
  // With an idempotency key.
  repeatKey: 'text',
  fingerprint: 'bytea',
  body: 'text',
  // With order terms.
  externalId: 'text',
  quoteNonce: 'bytea',
  markupBps: 'integer',
  minAmountTo: 'numeric',
  policy: 'jsonb',
  metadata: 'jsonb',
  quoteAdverseBps: 'numeric',
  quoteUsd: 'numeric',
  // With an order page.
  pageNonce: 'bytea',
  pageKeyVersion: 'integer',
  pageTokenHash: 'bytea',
} as const;

/** Finds the orders that have a quote or an external id of a partner. */
export const termsOrders = prepared(
  'order_terms_orders',
  `select (select order_id from order_terms where partner_id = :partner::uuid and quote_nonce = :quoteNonce::bytea)
            as "quoteOrder",
          (select order_id from order_terms where partner_id = :partner::uuid and external_id = :externalId::text)
            as "externalOrder"`,
);

/** The constraint that a batch breaks beyond the cap on fixed-rate orders of all partners. */
export const capOfAll = 'fixed_turnover_all_room';

/**
 * Counts fixed-rate orders against the hourly and daily caps of their partner, and then against the
 * hourly cap of all partners. Float orders have no slot and are admitted. The fixed-rate orders of
 * one partner in one batch are admitted together or not at all; refused ones are then tried alone.
 * A batch beyond the cap of all partners breaks a constraint, which undoes it. A create waits here
 * for concurrent ones and then sees their count. Thus any number of processes keep the caps
 * together. Only at the turn of a slot may a create miss an uncommitted one.
 */
const admission = `wanted as materialized (
  select partner, slot, sum(usd) as usd, min(hour_usd) as hour_usd, min(day_usd) as day_usd,
         min(hour_ago) as hour_ago, min(day_ago) as day_ago
    from accepted where slot is not null group by partner, slot
), spent as materialized (
  select w.partner, w.slot, w.usd,
         least(w.hour_usd - coalesce(sum(t.usd) filter (where t.slot > w.hour_ago), 0),
               w.day_usd - coalesce(sum(t.usd), 0)) as room
    from wanted w
    left join fixed_turnover t on t.partner_id = w.partner and t.slot > w.day_ago and t.slot <> w.slot
   group by w.partner, w.slot, w.usd, w.hour_usd, w.day_usd
), counted as (
  insert into fixed_turnover as t (partner_id, slot, usd)
  select partner, slot, usd from spent where usd <= room order by partner, slot
  on conflict (partner_id, slot) do update set usd = t.usd + excluded.usd
   where t.usd + excluded.usd <= (select room from spent s where s.partner = t.partner_id and s.slot = t.slot)
  returning partner_id, slot
), admitted as materialized (
  select a.* from accepted a left join counted c on c.partner_id = a.partner and c.slot = a.slot
   where a.slot is null or c.slot is not null
), counted_all as (
  insert into fixed_turnover_all as t (slot, usd, room)
  select a.slot, sum(a.usd), min(a.all_usd) - coalesce((
           select sum(o.usd) from fixed_turnover_all o where o.slot > min(a.hour_ago) and o.slot <> a.slot), 0)
    from admitted a where a.slot is not null group by a.slot order by a.slot
  on conflict (slot) do update set usd = t.usd + excluded.usd, room = excluded.room
)`;

/**
 * Not an `exists`: PostgreSQL may answer that from a table of all short ids, which it would build
 * again for each statement. A plan for few orders is kept until its connection ends.
 */
const isShortIdTaken = '(select e.id from exchange_order e where e.short_id = asked.short_id) is not null';

/**
 * Gives each admitted order its deposit address: the one that was derived for it, or the next of
 * the pool. A create for which the pool has none left makes nothing.
 */
const placement = `inserted as (
  insert into deposit_address (id, keychain, index, address, tag, nested_form, taproot_form, created_at, leased_at)
  select address_id, keychain, index, address, tag, nested_form, taproot_form, now, now
    from admitted where address is not null
), ranked as materialized (
  select n, keychain, now, row_number() over (partition by keychain order by n) as rank
    from admitted where address is null
), free as materialized (
  select k.keychain, f.id, f.rank
    from (select keychain, count(*) as wanted from ranked group by keychain order by keychain) k
   cross join lateral (
     select locked.id, row_number() over () as rank
       from (select id from deposit_address d where d.keychain = k.keychain and d.leased_at is null
              order by d.index limit k.wanted for update skip locked) locked) f
), taken as (
  update deposit_address d set leased_at = r.now
    from ranked r join free f on f.keychain = r.keychain and f.rank = r.rank
   where d.id = f.id
  returning r.n, d.id, d.address
), placed as materialized (
  select a.*, coalesce(taken.id, a.address_id) as place, coalesce(a.address, taken.address) as place_address
    from admitted a left join taken using (n) where a.address is not null or taken.n is not null
)`;

/**
 * Creates orders, their first events, their deposit addresses, and what some of them have besides:
 * the answer to their idempotency key, their terms, the link of their page. The statement is its
 * own transaction.
 *
 * It also reads each key, partner and destination. It looks for an order that has the same
 * idempotency key, quote or external id. Where one of them refuses, nothing is made for that row.
 * Thus a revocation holds from its commit on, and no payout goes to an address of the gateway.
 *
 * Answers and terms are stored in one order, so that two batches that share keys or quotes never
 * wait for each other.
 */
export const orderCreate = prepared(
  'order_create',
  `
with ${givenRows(createColumns)}, judged as materialized (
  select asked.*, k.revoked_at is null and (k.expires_at is null or k.expires_at > asked.now) as live,
         p.status = 'active' as active, ${isOwnAddress('asked.recipient_forms')} as "ownRecipient",
         ${isOwnAddress('asked.refund_forms')} as "ownRefund",
         ${isShortIdTaken} as "isShortIdTaken",
         i.order_id as "earlierOrder", i.fingerprint as "earlierFingerprint", i.body as "earlierBody",
         q.order_id as "quoteOrder", x.order_id as "externalOrder"
    from asked join api_key k on k.key_id = asked.key_id join partner p on p.id = k.partner_id
    left join idempotency_key i on i.partner_id = p.id and i.key = asked.repeat_key
    left join order_terms q on q.partner_id = p.id and q.quote_nonce = asked.quote_nonce
    left join order_terms x on x.partner_id = p.id and x.external_id = asked.external_id
), accepted as materialized (
  select * from judged where live and active and not "ownRecipient" and not "ownRefund" and not "isShortIdTaken"
     and "earlierFingerprint" is null and "quoteOrder" is null and "externalOrder" is null
), ${admission}, ${placement}, made as (
  insert into exchange_order (
    id, short_id, partner_id, status, created_at, expires_at, updated_at, next_action_at,
    coin_from, network_from, coin_to, network_to, amount_from_expected, amount_to_expected,
    rate_type, rate_quoted, fee_rate, service_fee_quoted, network_fee_quoted, min_amount, max_amount,
    deposit_address_id, recipient_address, recipient_address_tag, refund_address, refund_address_tag,
    deposit_confirmations_required, event_seq)
  select id, short_id, partner, 'waiting_deposit', now, expires_at, now, expires_at,
         coin_from, network_from, coin_to, network_to, amount_from, amount_to,
         rate_type, rate, fee_rate, service_fee, network_fee, min_amount, max_amount,
         place, recipient, recipient_tag, refund, refund_tag, confirmations, 1
    from placed
), event as (
  insert into order_event (order_id, partner_id, seq, at, to_status, cause, actor)
  select id, partner, 1, now, 'waiting_deposit', 'created', 'partner:' || partner from placed
), answer as (
  insert into idempotency_key (partner_id, key, fingerprint, order_id, status, body, created_at)
  select partner, repeat_key, fingerprint, id, 201, replace(body, '${addressPlaceholder}', place_address), now
    from placed where repeat_key is not null order by partner, repeat_key
), terms as (
  insert into order_terms (order_id, partner_id, external_id, quote_nonce, markup_bps, min_amount_to, policy, metadata,
                           quote_adverse_bps, quote_usd)
  select id, partner, external_id, quote_nonce, markup_bps, min_amount_to, policy, metadata, quote_adverse_bps,
         quote_usd
    from placed
   where num_nonnulls(external_id, quote_nonce, markup_bps, min_amount_to, policy, metadata) > 0
   order by partner, quote_nonce, external_id
), page as (
  insert into order_page (order_id, nonce, key_version, token_hash, changed_at)
  select id, page_nonce, page_key_version, page_token_hash, now from placed where page_nonce is not null
)
select j.n::int, j.live, j.active, j."ownRecipient", j."ownRefund", j."isShortIdTaken",
       j."earlierOrder", j."earlierFingerprint", j."earlierBody", j."quoteOrder", j."externalOrder",
       a.n is not null as "hasRoom", placed.place_address as address
  from judged j left join admitted a using (n) left join placed using (n)`,
);
