import { networkOfChain } from '../../src/chains/networks/networks.ts';
import { query } from '../support/database/database.ts';
import type { RealCoin } from '../support/gateway/real-gateway.ts';

export interface WaitingOrders {
  readonly chain: string;
  readonly from: RealCoin;
  readonly to: RealCoin;
  /** The deposit address of each. */
  readonly addresses: readonly string[];
  /** Index of the first address, far above the addresses that the gateway gives out. */
  readonly first: number;
}

/** Stores orders that wait for a deposit. They are never settled unless a worker runs. */
export async function insertWaitingOrders(databaseUrl: string, orders: WaitingOrders): Promise<void> {
  const { chain, from, to, addresses, first } = orders;
  const [networkFrom, networkTo] = [from, to].map((coin) => (coin === 'USDT' ? 'ERC20' : coin));
  await query(
    databaseUrl,
    `with given as materialized (
       select gen_random_uuid() as id, gen_random_uuid() as address_id, address, n, now() as at
         from jsonb_array_elements_text($1::jsonb) with ordinality as a (address, n)
     ), leased as (
       insert into deposit_address (id, keychain, index, address, created_at, leased_at)
       select address_id, $2, $3::bigint + n, address, at, at from given
     ), made as (
       insert into exchange_order (id, short_id, partner_id, status, created_at, expires_at, updated_at, next_action_at,
         coin_from, network_from, coin_to, network_to, amount_from_expected, amount_to_expected, rate_type, rate_quoted,
         fee_rate, service_fee_quoted, network_fee_quoted, deposit_address_id, recipient_address,
         deposit_confirmations_required, event_seq, min_amount, max_amount)
       select id, 'EX-' || upper(lpad(to_hex($3::bigint + n), 6, '0')), (select id from partner limit 1), 'waiting_deposit', at,
              at + interval '1 year', at, at + interval '1 year', $4, $5, $6, $7, 1, 1, 'float', 1, 0.01, 0, 0,
              address_id, 'a recipient', 1000, 1, 1, 1 from given
     )
     insert into order_event (order_id, partner_id, seq, at, to_status, cause, actor)
     select id, (select id from partner limit 1), 1, at, 'waiting_deposit', 'created', 'system' from given`,
    [JSON.stringify(addresses), networkOfChain(chain)?.keychain, first, from, networkFrom, to, networkTo],
  );
}
