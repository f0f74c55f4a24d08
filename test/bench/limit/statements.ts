import { isOwnAddress } from '../../../src/chains/addresses/own-address.ts';

/** The order as it is answered, numbers as text without trailing zeros. */
const orderColumns = `o.id, o.short_id, o.status, o.created_at, o.expires_at, o.coin_from, o.network_from, o.coin_to,
  o.network_to, trim_scale(o.amount_from_expected)::text, trim_scale(o.amount_to_expected)::text, o.rate_type,
  trim_scale(o.rate_quoted)::text, d.address, d.tag, o.recipient_address, o.deposit_txid, o.deposit_confirmations,
  o.deposit_confirmations_required, o.payout_txid`;

/** A table of arrays. Its size is hidden from the planner, so that one plan serves each batch. */
const given = (columns: readonly (readonly [name: string, type: string])[]): string => `given as materialized (
  select ${columns.map(([name, type], index) => `$${index + 1}::${type}[] as ${name}`).join(', ')}
), asked as materialized (
  select r.* from given, unnest(${columns.map(([name]) => `given.${name}`).join(', ')})
    with ordinality as r (${columns.map(([name]) => name).join(', ')}, n)
)`;

const findOrder = (column: 'id' | 'short_id', type: string): string => `with ${given([
  ['wanted', type],
  ['partner', 'uuid'],
])}
select asked.n::int, ${orderColumns}
  from asked join exchange_order o on o.${column} = asked.wanted and o.partner_id = asked.partner
  join deposit_address d on d.id = o.deposit_address_id`;

const createColumns = [
  ['key_id', 'text'],
  ['id', 'uuid'],
  ['address_id', 'uuid'],
  ['keychain', 'text'],
  ['created', 'timestamptz'],
  ['expires', 'timestamptz'],
  ['coin_from', 'text'],
  ['network_from', 'text'],
  ['coin_to', 'text'],
  ['network_to', 'text'],
  ['amount_from', 'numeric'],
  ['amount_to', 'numeric'],
  ['rate', 'numeric'],
  ['recipient', 'text'],
  ['recipient_tag', 'text'],
  ['refund', 'text'],
  ['refund_tag', 'text'],
  ['index', 'bigint'],
  ['address', 'text'],
  ['short_id', 'text'],
  ['partner', 'uuid'],
  ['fee_rate', 'numeric'],
  ['service_fee', 'numeric'],
  ['network_fee', 'numeric'],
  ['confirmations', 'integer'],
  ['min_amount', 'numeric'],
  ['max_amount', 'numeric'],
] as const;

const onceColumns = [
  ['repeat_key', 'text'],
  ['fingerprint', 'bytea'],
  ['body', 'text'],
] as const;

/**
 * One statement for many creates, and so one round trip and one commit. It reads keys, partners and
 * destinations again. Then it writes addresses, orders, their events and perhaps the stored
 * answers.
 */
const create = (more: readonly (readonly [string, string])[], stored: string): string => `with ${given([
  ...createColumns,
  ...more,
])}, judged as materialized (
  select asked.n, k.revoked_at is null and (k.expires_at is null or k.expires_at > asked.created) as live,
         p.status = 'active' as active,
         ${isOwnAddress('asked.recipient')} as own_recipient, ${isOwnAddress('asked.refund')} as own_refund
    from asked join api_key k on k.key_id = asked.key_id join partner p on p.id = k.partner_id
), admitted as materialized (
  select asked.* from asked join judged j using (n)
   where j.live and j.active and not j.own_recipient and not j.own_refund
), addresses as (
  insert into deposit_address (id, keychain, index, address, tag, created_at, leased_at)
  select address_id, keychain, index, address, null, created, created from admitted
), orders as (
  insert into exchange_order (id, short_id, partner_id, status, created_at, expires_at, updated_at, next_action_at,
    coin_from, network_from, coin_to, network_to, amount_from_expected, amount_to_expected, rate_type, rate_quoted,
    fee_rate, service_fee_quoted, network_fee_quoted, deposit_address_id, recipient_address, recipient_address_tag,
    refund_address, refund_address_tag, deposit_confirmations_required, event_seq, min_amount, max_amount)
  select id, short_id, partner, 'waiting_deposit', created, expires, created, expires,
    coin_from, network_from, coin_to, network_to, amount_from, amount_to, 'float', rate,
    fee_rate, service_fee, network_fee, address_id, recipient, recipient_tag,
    refund, refund_tag, confirmations, 1, min_amount, max_amount
    from admitted
), events as (
  insert into order_event (order_id, partner_id, seq, at, from_status, to_status, cause, actor, detail)
  select id, partner, 1, created, null, 'waiting_deposit', 'created', 'partner:' || partner, null from admitted
)${stored}
select n::int, live, active, own_recipient, own_refund from judged`;

/** Named, so that each connection prepares them once. */
export const statements = {
  key: `select k.key_id, k.mac, k.pepper_version, k.scopes, k.allowed_cidrs, k.revoked_at, k.expires_at,
               p.id as partner_id, p.status, p.fee_rate_float::text
          from api_key k join partner p on p.id = k.partner_id where k.key_id = $1`,
  orderById: findOrder('id', 'uuid'),
  orderByShortId: findOrder('short_id', 'text'),
  create: create([], ''),
  createOnce: create(
    onceColumns,
    `, stored as (
  insert into idempotency_key (partner_id, key, fingerprint, order_id, status, body, created_at)
  select partner, repeat_key, fingerprint, id, 201, body, created from admitted order by partner, repeat_key
)`,
  ),
  stored: 'select fingerprint, order_id, body from idempotency_key where partner_id = $1 and key = $2',
} as const;
