import { isOwnAddress } from '../chains/addresses/own-address.ts';
import { type Prepared, prepared } from '../db/prepared.ts';
import type { RateType } from '../rates/quote.ts';
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

const isoTime = (column: string): string => `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

const orderView = `
select o.id, o.short_id as "shortId", o.status, ${isoTime('o.created_at')} as "createdAt",
       ${isoTime('o.expires_at')} as "expiresAt", o.coin_from as "coinFrom", o.network_from as "networkFrom",
       o.coin_to as "coinTo", o.network_to as "networkTo",
       trim_scale(o.amount_from_expected)::text as "amountFromExpected",
       trim_scale(o.amount_to_expected)::text as "amountToExpected", o.rate_type as "rateType",
       trim_scale(o.rate_quoted)::text as "rateQuoted", d.address as "depositAddress", d.tag as "depositAddressTag",
       o.recipient_address as "recipientAddress", o.deposit_txid as "depositTxid",
       o.deposit_confirmations as "depositConfirmations",
       o.deposit_confirmations_required as "depositConfirmationsRequired", o.payout_txid as "payoutTxid"
  from exchange_order o join deposit_address d on d.id = o.deposit_address_id
 where o.partner_id = :partner`;

export const orderById = prepared('order_by_id', `${orderView} and o.id = :id`);
export const orderByShortId = prepared('order_by_short_id', `${orderView} and o.short_id = :id`);

/** Checks whether the destinations of an already refused create belong to the gateway. */
export const ownDestinations = prepared(
  'own_destinations',
  `select ${isOwnAddress(':recipientForms')} as "ownRecipient", ${isOwnAddress(':refundForms')} as "ownRefund"`,
);

/** Stands for a deposit address until one is taken from the pool. No address contains this text. */
export const addressPlaceholder = '<deposit address>';

/** What a create found and made. Nothing is made when a check refuses. */
export interface CreateOutcome {
  readonly live: boolean;
  readonly active: boolean;
  readonly ownRecipient: boolean;
  readonly ownRefund: boolean;
  /** An earlier create with the same idempotency key. Nothing was made then. */
  readonly earlierOrder?: string | null;
  readonly earlierFingerprint?: Buffer | null;
  readonly earlierBody?: string | null;
  /** Whether the order fits the partner's fixed caps. True for float orders. */
  readonly hasRoom: boolean;
  /** The order's deposit address. Null when nothing was made. */
  readonly address: string | null;
}

/**
 * The parts of a create with an idempotency key: it looks for an earlier answer, and stores its
 * own.
 */
const repeatable = {
  columns: `, i.order_id as "earlierOrder", i.fingerprint as "earlierFingerprint", i.body as "earlierBody"`,
  join: 'left join idempotency_key i on i.partner_id = p.id and i.key = :repeatKey',
  isFirst: 'and "earlierOrder" is null',
  answer: `, answer as (
  insert into idempotency_key (partner_id, key, fingerprint, order_id, status, body, created_at)
  select :partner::uuid, :repeatKey, :fingerprint::bytea, made.id, 201,
         replace(:body, '${addressPlaceholder}', address.address), :now::timestamptz
    from made, address
)`,
};

const plain: typeof repeatable = { columns: '', join: '', isFirst: '', answer: '' };

/** The admission check of a rate type, which runs once the request is accepted. */
interface Admission {
  readonly hasRoom: string;
  readonly ctes: string;
}

const floatAdmission: Admission = { hasRoom: 'true', ctes: ', admitted as (select from accepted)' };

/**
 * Counts a fixed-rate order against its partner's hourly and daily caps, or admits nothing. A
 * create waits here for a concurrent one of the same partner and then sees its count. Thus any
 * number of processes keep the caps together. Only at the turn of a slot may a create miss an
 * uncommitted one.
 */
const fixedAdmission: Admission = {
  hasRoom: 'exists (select from counted)',
  ctes: `, spent as (
  select least(:hourUsd::numeric - coalesce(sum(usd) filter (where slot > :hourAgo::timestamptz), 0),
               :dayUsd::numeric - coalesce(sum(usd), 0)) as room
    from fixed_turnover
   where partner_id = :partner::uuid and slot > :dayAgo::timestamptz and slot <> :slot::timestamptz
), counted as (
  insert into fixed_turnover as t (partner_id, slot, usd)
  select :partner::uuid, :slot::timestamptz, :usd::numeric from accepted, spent where :usd::numeric <= spent.room
  on conflict (partner_id, slot) do update set usd = t.usd + excluded.usd
   where t.usd + excluded.usd <= (select room from spent)
  returning partner_id
), admitted as (select from counted)`,
};

/** Takes an address that was derived for this order. */
const newAddress = `
  insert into deposit_address (id, keychain, index, address, tag, nested_form, taproot_form, created_at, leased_at)
  select :addressId::uuid, :keychain, :index::bigint, :address, :tag, :nestedForm, :taprootForm, :now::timestamptz,
         :now::timestamptz
    from admitted`;

/**
 * Takes the next address of the pool that the signer fills. Makes nothing when the pool is empty.
 */
const pooledAddress = `
  update deposit_address set leased_at = :now::timestamptz
   where id = (select id from deposit_address
                where keychain = :keychain and leased_at is null and exists (select from admitted)
                order by index limit 1 for update skip locked)`;

/**
 * Builds the statement that creates an order, its first event, its deposit address and the stored
 * answer. The statement is its own transaction. It also reads the key, the partner and the
 * destinations; when one of them refuses, nothing is made. Thus a revocation holds from its commit
 * on, and no payout goes to an address of the gateway.
 */
function createOrder(
  name: string,
  address: string,
  { columns, join, isFirst, answer }: typeof repeatable,
  { hasRoom, ctes }: Admission,
) {
  return prepared(
    name,
    `
with asked as (
  select k.revoked_at is null and (k.expires_at is null or k.expires_at > :now::timestamptz) as live,
         p.status = 'active' as active, ${isOwnAddress(':recipientForms')} as "ownRecipient",
         ${isOwnAddress(':refundForms')} as "ownRefund"${columns}
    from api_key k join partner p on p.id = k.partner_id ${join}
   where k.key_id = :keyId
), accepted as (
  select from asked where live and active and not "ownRecipient" and not "ownRefund" ${isFirst}
)${ctes}, address as (${address}
  returning id, address
), made as (
  insert into exchange_order (
    id, short_id, partner_id, status, created_at, expires_at, updated_at, next_action_at,
    coin_from, network_from, coin_to, network_to, amount_from_expected, amount_to_expected,
    rate_type, rate_quoted, fee_rate, service_fee_quoted, network_fee_quoted, min_amount, max_amount,
    deposit_address_id, recipient_address, recipient_address_tag, refund_address, refund_address_tag,
    deposit_confirmations_required, event_seq)
  select :id::uuid, :shortId, :partner::uuid, 'waiting_deposit', :now::timestamptz, :expiresAt::timestamptz,
         :now::timestamptz, :expiresAt::timestamptz,
         :coinFrom, :networkFrom, :coinTo, :networkTo, :amountFrom::numeric, :amountTo::numeric,
         :rateType, :rate::numeric, :feeRate::numeric, :serviceFee::numeric, :networkFee::numeric,
         :minAmount::numeric, :maxAmount::numeric,
         address.id, :recipient, :recipientTag, :refund, :refundTag, :confirmations::integer, 1
    from address
  returning id
), event as (
  insert into order_event (order_id, seq, at, to_status, cause, actor)
  select id, 1, :now::timestamptz, 'waiting_deposit', 'created', :actor from made
)${answer}
select asked.*, ${hasRoom} as "hasRoom", address.address from asked left join address on true`,
  );
}

/**
 * Picks the statement: pooled or derived address, with or without idempotency key, and the rate
 * type.
 */
export function createStatement(isPooled: boolean, isRepeatable: boolean, rateType: RateType): Prepared {
  const [float, fixed] = isPooled
    ? isRepeatable
      ? repeatablePooled
      : plainPooled
    : isRepeatable
      ? repeatableNew
      : plainNew;
  return rateType === 'fixed' ? fixed : float;
}

const ofBothTypes = (name: string, address: string, repetition: typeof repeatable): readonly [Prepared, Prepared] => [
  createOrder(name, address, repetition, floatAdmission),
  createOrder(`${name}_fixed`, address, repetition, fixedAdmission),
];

const plainNew = ofBothTypes('order_create', newAddress, plain);
const plainPooled = ofBothTypes('order_create_pooled', pooledAddress, plain);
const repeatableNew = ofBothTypes('order_create_repeatable', newAddress, repeatable);
const repeatablePooled = ofBothTypes('order_create_pooled_repeatable', pooledAddress, repeatable);
