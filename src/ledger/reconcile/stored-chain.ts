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
interface AttemptRow {
  readonly payment: string;
  readonly kind: 'payout' | 'refund' | 'sweep' | 'gas' | 'setup' | 'commission';
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
interface SpendRow {
  readonly coin: string;
  readonly network: string;
  readonly amount: string;
  /** In the chain's own coin. */
  readonly gas: string;
}

/** A transfer to one of our addresses that the ledger leaves out for good. */
interface LeftOutRow {
  readonly address: string;
  readonly contract: string | null;
  /** In the smallest unit. */
  readonly amount: string;
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
  readonly leftOut: readonly LeftOutRow[];
  balance(account: 'deposits' | 'hot', asset: ChainAsset): Big;
}

/** The orders and arrivals whose credit may be on its way. */
interface CreditsExpected {
  /** An order that became due after this moment has not been due for long. */
  readonly dueAfter: Date;
  /**
   * An arrival at the hot wallet that was mined after this moment may still wait for the list of an
   * exchange.
   */
  readonly listedAfter: Date;
}

/**
 * Reads the stored chain and the rows that concern the blocks ahead of the scanner. Call it in a
 * snapshot.
 */
export async function readStoredChain(
  em: EntityManager,
  chain: string,
  ahead: ScanAhead,
  assets: readonly ChainAsset[],
  expected: CreditsExpected,
): Promise<StoredChain> {
  const networks = allNetworks().filter((network) => network.chain === chain);
  const state = await readScannerState(em, chain);
  const addresses = await readAddresses(em, new Set(networks.map(({ keychain }) => keychain)));
  const parts = await readParts(em, chain, ahead);
  const deposits = await readDeposits(em, chain, ahead, expected);
  const spends = await readSpends(em, chain);
  const attempts = await readAttempts(em, chain);
  const held = await ledgerHoldings(
    em,
    networks.map(({ id }) => id),
  );
  const ownTxids = await readOwnTxids(em, chain, ahead);
  const leftOut = await readLeftOut(em, chain);
  const own = new Set(assets.flatMap(({ currencies }) => [...currencies]));
  return {
    version: state?.version,
    height: state?.height ?? 0,
    final: state?.finalHeight ?? null,
    addresses,
    deposits: deposits.filter((deposit) => own.has(assetName(deposit))),
    parts,
    attempts,
    spends,
    leftOut,
    ownTxids,
    balance: (account, { currencies }) =>
      held
        .filter((row) => row.account === account && currencies.has(assetName(row)))
        .reduce((total, { amount }) => total.plus(amount), new Big('0')),
  };
}

async function readAddresses(em: EntityManager, keychains: ReadonlySet<string>): Promise<Set<string>> {
  const names = JSON.stringify([...keychains]);
  const rows = await em.execute<{ address: string }[]>(
    `select address from deposit_address
      where leased_at is not null and keychain in (select jsonb_array_elements_text(?::jsonb))
     union
     select shared_address from deposit_account
      where shared_address is not null and keychain in (select jsonb_array_elements_text(?::jsonb))`,
    [names, names],
  );
  return new Set(rows.map(({ address }) => address));
}

/** Reads the found outputs of payments in several outputs. */
async function readParts(em: EntityManager, chain: string, ahead: ScanAhead): Promise<Map<string, string>> {
  const rows = await em.execute<{ key: string; deposit: string }[]>(
    `select p.key, d.key as deposit from deposit_part p join deposit d on d.id = p.deposit_id
      where p.chain = ? and p.key in (select jsonb_array_elements_text(?::jsonb))`,
    [chain, keysOf(ahead)],
  );
  return new Map(rows.map(({ key, deposit }) => [key, deposit]));
}

function readDeposits(
  em: EntityManager,
  chain: string,
  ahead: ScanAhead,
  { dueAfter, listedAfter }: CreditsExpected,
): Promise<DepositRow[]> {
  return em.execute<DepositRow[]>(
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
    [dueAfter, listedAfter, chain, keysOf(ahead), JSON.stringify([...ahead.orphaned])],
  );
}

function keysOf({ transfers }: ScanAhead): string {
  return JSON.stringify(transfers.map(({ key }) => key));
}

function readSpends(em: EntityManager, chain: string): Promise<SpendRow[]> {
  return em.execute<SpendRow[]>(
    `select coin, network, amount::text as amount, gas::text as gas from treasury_transfer
      where chain = ? and movement_kind = 'deposit' and state in ('sent', 'arrived') and booked_amount = 0`,
    [chain],
  );
}

function readAttempts(em: EntityManager, chain: string): Promise<AttemptRow[]> {
  return em.execute<AttemptRow[]>(
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
}

async function readOwnTxids(em: EntityManager, chain: string, { transfers }: ScanAhead): Promise<Set<string>> {
  const rows = await em.execute<{ txid: string }[]>(
    'select txid from payment_attempt where chain = ? and txid in (select jsonb_array_elements_text(?::jsonb))',
    [chain, JSON.stringify([...new Set(transfers.map(({ txid }) => txid))])],
  );
  return new Set(rows.map(({ txid }) => txid));
}

function readLeftOut(em: EntityManager, chain: string): Promise<LeftOutRow[]> {
  return em.execute<LeftOutRow[]>(
    `select distinct on (key) address, contract, amount from left_out_transfer l
      where chain = ? and (reason in ('too_large', 'too_fine', 'bad_text')
             or reason = 'not_stored'
                and not exists (select from deposit d where d.chain = l.chain and d.key = l.key)
                and not exists (select from deposit_part p where p.chain = l.chain and p.key = l.key))
      order by key`,
    [chain],
  );
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
