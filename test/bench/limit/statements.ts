import { isOwnAddress } from '../../../src/chains/addresses/own-address.ts';

/** The order as it is answered, numbers as text without trailing zeros. */
const orderColumns = `o.id, o.short_id, o.status, o.created_at, o.expires_at, o.coin_from, o.network_from, o.coin_to,
  o.network_to, trim_scale(o.amount_from_expected)::text, trim_scale(o.amount_to_expected)::text, o.rate_type,
  trim_scale(o.rate_quoted)::text, d.address, d.tag, o.recipient_address, o.deposit_txid, o.deposit_confirmations,
  o.deposit_confirmations_required, o.payout_txid`;

const findOrder = (column: string): string => `select ${orderColumns}
  from exchange_order o join deposit_address d on d.id = o.deposit_address_id
 where o.${column} = $1 and o.partner_id = $2`;

/**
 * One statement, and so one round trip and one commit. It reads key, partner and destinations
 * again. Then it writes the address, the order, its event and perhaps the stored answer.
 */
const create = (stored: string): string => `with admitted as materialized (
  select k.revoked_at is null and (k.expires_at is null or k.expires_at > $5) as live, p.status = 'active' as active,
         ${isOwnAddress('$14')} as own_recipient, ${isOwnAddress('$16')} as own_refund
    from api_key k join partner p on p.id = k.partner_id where k.key_id = $1
), address as (
  insert into deposit_address (id, keychain, index, address, tag, created_at, leased_at)
  select $3::uuid, $4, $18::bigint, $19, null, $5::timestamptz, $5
    from admitted where live and active and not own_recipient and not own_refund
  returning id
), created as (
  insert into exchange_order (id, short_id, partner_id, status, created_at, expires_at, updated_at, next_action_at,
    coin_from, network_from, coin_to, network_to, amount_from_expected, amount_to_expected, rate_type, rate_quoted,
    fee_rate, service_fee_quoted, network_fee_quoted, deposit_address_id, recipient_address, recipient_address_tag,
    refund_address, refund_address_tag, deposit_confirmations_required, event_seq, min_amount, max_amount)
  select $2::uuid, $20, $21::uuid, 'waiting_deposit', $5, $6::timestamptz, $5, $6,
    $7, $8, $9, $10, $11::numeric, $12::numeric, 'float', $13::numeric,
    $22::numeric, $23::numeric, $24::numeric, address.id, $14, $15,
    $16, $17, $25::integer, 1, $26::numeric, $27::numeric
    from address
  returning id
), event as (
  insert into order_event (order_id, seq, at, from_status, to_status, cause, actor, detail)
  select id, 1, $5, null, 'waiting_deposit', 'created', 'partner:' || $21::uuid, null from created
)${stored}
select live, active, own_recipient, own_refund from admitted`;

/** Named, so that each connection prepares them once. */
export const statements = {
  key: `select k.key_id, k.mac, k.pepper_version, k.scopes, k.allowed_cidrs, k.revoked_at, k.expires_at,
               p.id as partner_id, p.status, p.fee_rate_float::text
          from api_key k join partner p on p.id = k.partner_id where k.key_id = $1`,
  orderById: findOrder('id'),
  orderByShortId: findOrder('short_id'),
  create: create(''),
  createOnce: create(`, stored as (
  insert into idempotency_key (partner_id, key, fingerprint, order_id, status, body, created_at)
  select $21, $28, $29::bytea, id, 201, $30, $5 from created
)`),
  stored: 'select fingerprint, order_id, body from idempotency_key where partner_id = $1 and key = $2',
} as const;
