import type { EntityManager } from '@mikro-orm/postgresql';
import { Big } from '../../base/money.ts';
import { allNetworks } from '../../chains/networks/networks.ts';
import type { Expiry } from '../../chains/port/chain-adapter.ts';
import { assetName, type ChainAsset } from './assets.ts';
import { readScannerState, type ScanAhead } from './scan-ahead.ts';

/** A deposit that waits for confirmations, or that a block above the cursor may change. */
export interface DepositRow {
  readonly key: string;
  readonly purpose: 'order' | 'funding';
  readonly coin: string | null;
  readonly network: string | null;
  readonly amount: string;
  readonly state: 'mempool' | 'mined' | 'credited' | 'orphaned';
  readonly height: number | null;
  readonly block_hash: string | null;
  readonly required: number;
  /**
   * It may wait for its credit. Its order was due when the scanner last stored its position, and
   * not for long. Or it is an arrival at the hot wallet, which an exchange may list.
   */
  readonly is_due: boolean;
}

/** An attempt of an unfinished payment whose fee is not booked. */
export interface AttemptRow {
  readonly payment: string;
  readonly kind: 'payout' | 'refund' | 'sweep' | 'gas' | 'setup';
  /** The fee that the transaction states, in the chain's own coin. */
  readonly fee: string;
  readonly coin: string;
  readonly network: string;
  readonly amount: string;
  readonly txid: string;
  readonly raw: string;
  readonly reserves: string[];
  readonly expires: Expiry | null;
}

/**
 * What a transaction that is no payment of the gateway took from the hot wallet for a transfer to
 * an exchange. It is mined, and booked once it is final.
 */
export interface SpendRow {
  readonly coin: string;
  readonly network: string;
  readonly amount: string;
  /** In the chain's own coin. */
  readonly gas: string;
}

/** The database's knowledge of a chain in one snapshot. */
export interface StoredChain {
  readonly version: string | undefined;
  readonly height: number;
  readonly final: number | null;
  readonly addresses: ReadonlySet<string>;
  readonly deposits: readonly DepositRow[];
  /** The outputs of payments in several outputs, by key, with the key of their deposit. */
  readonly parts: ReadonlyMap<string, string>;
  readonly attempts: readonly AttemptRow[];
  readonly spends: readonly SpendRow[];
  /** Our own transactions above the cursor. They bring no coins from outside. */
  readonly ownTxids: ReadonlySet<string>;
  /**
   * Transfers to our addresses that the ledger leaves out for good. Amounts are in the smallest
   * unit.
   */
  readonly leftOut: readonly { readonly address: string; readonly contract: string | null; readonly amount: string }[];
  balance(account: 'deposits' | 'hot', asset: ChainAsset): Big;
}

/**
 * Reads the stored chain and the rows that concern the blocks ahead of the scanner. Call it in a
 * snapshot.
 *
 * @param dueAfter An order that became due after this moment has not been due for long.
 * @param listedAfter An arrival at the hot wallet that was mined after this moment may still wait
 *   for the list of an exchange.
 */
export async function readStoredChain(
  em: EntityManager,
  chain: string,
  ahead: ScanAhead,
  assets: readonly ChainAsset[],
  dueAfter: Date,
  listedAfter: Date,
): Promise<StoredChain> {
  const networks = allNetworks().filter((network) => network.chain === chain);
  const keychains = JSON.stringify([...new Set(networks.map(({ keychain }) => keychain))]);
  const state = await readScannerState(em, chain);
  const addresses = await em.execute<{ address: string }[]>(
    `select address from deposit_address
      where leased_at is not null and keychain in (select jsonb_array_elements_text(?::jsonb))
     union
     select shared_address from deposit_account
      where shared_address is not null and keychain in (select jsonb_array_elements_text(?::jsonb))`,
    [keychains, keychains],
  );
  const keys = JSON.stringify(ahead.transfers.map(({ key }) => key));
  const parts = await em.execute<{ key: string; deposit: string }[]>(
    `select p.key, d.key as deposit from deposit_part p join deposit d on d.id = p.deposit_id
      where p.chain = ? and p.key in (select jsonb_array_elements_text(?::jsonb))`,
    [chain, keys],
  );
  const deposits = await em.execute<DepositRow[]>(
    `select d.key, d.purpose, d.coin, d.network, d.amount::text as amount, d.state, d.height::int as height, d.block_hash,
            d.confirmations_required as required,
            coalesce(o.next_action_at <= c.scanned_at and o.next_action_at > ?, false)
              or d.purpose = 'funding' and d.mined_at > ? and exists (select from venue_account where is_watched) as is_due
       from deposit d
       left join exchange_order o on o.id = d.order_id
       left join chain_state c on c.chain = d.chain
      where d.chain = ? and (d.state = 'mined'
         or d.key in (select jsonb_array_elements_text(?::jsonb))
         or d.block_hash in (select jsonb_array_elements_text(?::jsonb)))`,
    [dueAfter, listedAfter, chain, keys, JSON.stringify([...ahead.orphaned])],
  );
  const spends = await em.execute<SpendRow[]>(
    `select coin, network, amount::text as amount, gas::text as gas from treasury_transfer
      where chain = ? and movement_kind = 'deposit' and state in ('sent', 'arrived') and booked_amount = 0`,
    [chain],
  );
  const attempts = await em.execute<AttemptRow[]>(
    `select p.id as payment, p.kind, a.fee::text as fee, p.coin, p.network, p.amount::text as amount, a.txid, a.raw,
            to_jsonb(a.reserves) as reserves, case when a.expires_at is not null
                 then jsonb_build_object('timeMs', (extract(epoch from a.expires_at) * 1000)::bigint)
                 when a.expires_at_height is not null
                 then jsonb_build_object('height', a.expires_at_height) end as expires
       from payment p join payment_attempt a on a.payment_id = p.id
      where p.chain = ? and p.state not in ('confirmed', 'dead') and a.raw is not null
        and not exists (select 1 from ledger_transaction x
                         where x.kind = 'payment_fee' and x.reference = p.id || ':' || a.attempt)
      order by p.id, a.attempt`,
    [chain],
  );
  const held = await ledgerHoldings(
    em,
    networks.map(({ id }) => id),
  );
  const txids = await em.execute<{ txid: string }[]>(
    'select txid from payment_attempt where chain = ? and txid in (select jsonb_array_elements_text(?::jsonb))',
    [chain, JSON.stringify([...new Set(ahead.transfers.map(({ txid }) => txid))])],
  );
  const leftOut = await em.execute<{ address: string; contract: string | null; amount: string }[]>(
    `select distinct on (key) address, contract, amount from left_out_transfer l
      where chain = ? and (reason in ('too_large', 'too_fine', 'bad_text')
             or reason = 'not_stored'
                and not exists (select from deposit d where d.chain = l.chain and d.key = l.key)
                and not exists (select from deposit_part p where p.chain = l.chain and p.key = l.key))
      order by key`,
    [chain],
  );
  const own = new Set(assets.flatMap(({ currencies }) => [...currencies]));
  return {
    version: state?.version,
    height: state?.height ?? 0,
    final: state?.finalHeight ?? null,
    addresses: new Set(addresses.map(({ address }) => address)),
    deposits: deposits.filter((deposit) => own.has(assetName(deposit))),
    parts: new Map(parts.map(({ key, deposit }) => [key, deposit])),
    attempts,
    spends,
    leftOut,
    ownTxids: new Set(txids.map(({ txid }) => txid)),
    balance: (account, { currencies }) =>
      held
        .filter((row) => row.account === account && currencies.has(assetName(row)))
        .reduce((total, { amount }) => total.plus(amount), new Big('0')),
  };
}

interface HeldRow {
  readonly account: 'deposits' | 'hot';
  readonly coin: string;
  readonly network: string;
  readonly amount: string;
}

/** Reads the ledger's balances on chains: on all networks, or on the given ones. */
export function ledgerHoldings(em: EntityManager, networks?: readonly string[]): Promise<HeldRow[]> {
  return em.execute<HeldRow[]>(
    `select account, coin, network, sum(amount)::text as amount from ledger_line
      where account in ('deposits', 'hot') ${networks ? 'and network in (select jsonb_array_elements_text(?::jsonb))' : ''}
      group by account, coin, network having sum(amount) <> 0`,
    networks ? [JSON.stringify(networks)] : [],
  );
}
