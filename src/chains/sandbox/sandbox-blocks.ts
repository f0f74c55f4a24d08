import { randomBytes } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from '../../base/db/sql.ts';
import { fillBlock, SandboxAccounts, type WaitingTx } from './fill-block.ts';
import { isForcedToFail } from './forced-payments.ts';

// Applies blocks to the rows of a chain. The caller holds the lock of the chain's row.

/** The most transactions in one block. */
const blockSize = 2_000;

/** A block that is to be made on top of the newest one. */
export interface NewBlock {
  readonly chain: string;
  /** Height of the newest block. */
  readonly below: number;
  readonly height: number;
  readonly now: Date;
}

/** Makes a block of the waiting transactions. */
export async function makeBlock(em: EntityManager, block: NewBlock): Promise<void> {
  await appendBlock(em, block, await readWaiting(em, block));
}

/**
 * Writes a block in one statement, with the transactions it takes and their effects. Transactions
 * that expired before it are dropped.
 */
export async function appendBlock(
  em: EntityManager,
  { chain, below, height, now }: NewBlock,
  waiting: readonly WaitingTx[],
): Promise<void> {
  const accounts = await readAccounts(em, chain, waiting);
  const taken = fillBlock(waiting, accounts);
  await sql(
    em,
    `with block as (
       insert into sandbox_block (chain, height, hash, parent, mined_at)
       select b.chain, h.height, ${blockHash('b.chain', 'h.height', 'b.hash')}, b.hash, ?
         from sandbox_block b cross join (select ?::bigint as height) h where b.chain = ? and b.height = ?
     ), gone as (
       update sandbox_tx t set state = 'dropped'
         from sandbox_block b
        where t.chain = ? and t.state = 'mempool' and b.chain = t.chain and b.height = ? and not ${isAlive('t', 'b')}
     ), taken as (
       update sandbox_tx t set state = 'mined', height = ?, success = m.success
         from jsonb_to_recordset(?::jsonb) as m (txid text, success boolean)
        where t.chain = ? and t.txid = m.txid
     ), nonces as (
       update sandbox_account a set nonce = n.nonce
         from jsonb_to_recordset(?::jsonb) as n (address text, nonce bigint)
        where a.chain = ? and a.address = n.address
     ), balances as (
       insert into sandbox_balance (chain, address, contract, amount)
       select ?, b.address, b.contract, b.amount
         from jsonb_to_recordset(?::jsonb) as b (address text, contract text, amount numeric(78,0))
       on conflict (chain, address, contract) do update set amount = excluded.amount
     )
     update sandbox_chain
        -- While something waits, the blocks that were promised after it are still to come.
        set height = ?, mined_at = ?, busy_until = case when exists (
              select 1 from sandbox_tx where chain = ? and state = 'mempool' offset ?
            ) then greatest(busy_until, height) + 1 else busy_until end
      where chain = ?`,
    [
      salt(),
      now,
      height,
      chain,
      below,
      chain,
      below,
      height,
      JSON.stringify(taken),
      chain,
      JSON.stringify(accounts.changedNonces()),
      chain,
      chain,
      JSON.stringify(accounts.changedBalances()),
      height,
      now,
      chain,
      taken.length,
      chain,
    ],
  );
}

/** Height of the block that is `blocks` below another one, or of the chain's first block. */
export async function heightBelow(em: EntityManager, chain: string, height: number, blocks = 1): Promise<number> {
  const [row] = await sql<{ height: number }>(
    em,
    `select height::int as height from sandbox_block where chain = ? and height <= ?
      order by height desc limit 1 offset ?`,
    [chain, height, blocks],
  );
  return row?.height ?? 0;
}

/** Undoes the blocks above a height, as if they had never been. */
export async function undoAbove(
  em: EntityManager,
  chain: string,
  height: number,
  state: 'mempool' | 'dropped',
): Promise<void> {
  await sql(
    em,
    `with gone as materialized (
       select * from sandbox_tx where chain = ? and state = 'mined' and height > ?
     ), nonces as (
       update sandbox_account a set nonce = least(a.nonce, s.first)
         from (select sender, min(nonce) as first from gone where not forced group by sender) s
        where a.chain = ? and a.address = s.sender
     ), moved as (
       select sender as address, '' as contract, fee as amount from gone where sender is not null
       union all
       select sender, coalesce(contract, ''), amount from gone where sender is not null and success
       union all
       select recipient, coalesce(contract, ''), -amount from gone where success
     ), balances as (
       update sandbox_balance b set amount = b.amount + m.amount
         from (select address, contract, sum(amount) as amount from moved group by address, contract) m
        where b.chain = ? and b.address = m.address and b.contract = m.contract
     )
     update sandbox_tx t set state = ?, height = null, success = null
       from gone where t.chain = gone.chain and t.txid = gone.txid`,
    [chain, height, chain, chain, state],
  );
}

/** Makes an address an account, with all that it has received so far. */
export async function openAccount(em: EntityManager, chain: string, address: string): Promise<void> {
  const opened = await sql(
    em,
    'insert into sandbox_account (chain, address) values (?, ?) on conflict do nothing returning address',
    [chain, address],
  );
  if (opened.length === 0) return;
  await sql(
    em,
    `insert into sandbox_balance (chain, address, contract, amount)
     select chain, recipient, coalesce(contract, ''), sum(amount) from sandbox_tx
      where chain = ? and recipient = ? and state = 'mined' and success
      group by chain, recipient, contract`,
    [chain, address],
  );
}

/** SQL: whether a transaction `t` can still be in a block above the block `b`. */
const isAlive = (t: string, b: string): string =>
  `(coalesce(${t}.expires_at_height > ${b}.height, true) and coalesce(${t}.expires_at > ${b}.mined_at, true))`;

/**
 * Transactions that can go in a block, in order. Leaves out transactions that expired before it,
 * and transactions behind a gap in their account's nonces. A lost transaction that a partner forced
 * is no gap: it is listed, and does not wait.
 */
export async function readWaiting(em: EntityManager, { chain, below, height }: NewBlock): Promise<WaitingTx[]> {
  const rows = await sql<{
    txid: string;
    sender: string | null;
    nonce: string | null;
    recipient: string;
    contract: string | null;
    amount: string;
    fee: string;
    refused: boolean;
    forced: boolean;
    waits: boolean;
  }>(
    em,
    // Without a gap, a transaction's place in the account's queue is its nonce minus the account's
    // nonce.
    `select * from (
       select t.seq, t.txid, t.sender, t.nonce::text as nonce, t.recipient, t.contract, t.amount::text as amount,
              t.fee::text as fee, r.address is not null or ${isForcedToFail('t')} as refused, t.forced,
              t.state = 'mempool' as waits
         from (select w.*, a.nonce as next,
                      case when w.nonce is null then 1
                           else row_number() over (partition by w.sender, w.nonce < a.nonce order by w.nonce) end as place
                 from sandbox_tx w
                 join sandbox_block b on b.chain = w.chain and b.height = ?
                 left join sandbox_account a on a.chain = w.chain and a.address = w.sender
                where w.chain = ? and (w.state = 'mempool' or (w.forced and w.nonce >= a.nonce))
                  and ${isAlive('w', 'b')} and coalesce(w.expires_at_height >= ?, true)) t
         left join sandbox_refusing r on r.chain = t.chain and r.address = t.recipient
        where t.nonce is null or t.nonce < t.next + t.place
        order by t.place, t.seq
        limit ?
     ) ready order by seq`,
    [below, chain, height, blockSize],
  );
  return rows.map(({ txid, sender, nonce, recipient, contract, amount, fee, refused, forced, waits }) => ({
    txid,
    account: sender === null ? null : { address: sender, nonce: nonce === null ? null : BigInt(nonce) },
    recipient,
    contract,
    amount: BigInt(amount),
    fee: BigInt(fee),
    refused,
    forced,
    waits,
  }));
}

/** The accounts among senders and recipients, with all their balances. */
async function readAccounts(em: EntityManager, chain: string, waiting: readonly WaitingTx[]): Promise<SandboxAccounts> {
  const accounts = new SandboxAccounts();
  if (waiting.length === 0) return accounts;
  const addresses = new Set(
    waiting.flatMap((tx) => [tx.recipient, ...(tx.account === null ? [] : [tx.account.address])]),
  );
  const rows = await sql<{ address: string; nonce: string; contract: string | null; amount: string | null }>(
    em,
    `select a.address, a.nonce::text as nonce, b.contract, b.amount::text as amount
       from sandbox_account a
       left join sandbox_balance b on b.chain = a.chain and b.address = a.address
      where a.chain = ? and a.address in (select jsonb_array_elements_text(?::jsonb))`,
    [chain, JSON.stringify([...addresses])],
  );
  for (const { address, nonce, contract, amount } of rows) {
    accounts.open(address, BigInt(nonce));
    if (contract !== null && amount !== null) accounts.hold(address, contract, BigInt(amount));
  }
  return accounts;
}

/**
 * The SQL of a block's hash. Its salt, in place of '?', makes a branch differ from the one it
 * replaces.
 */
export function blockHash(chain: string, height: string, parent: string): string {
  return `encode(sha256(convert_to(concat_ws('|', ${chain}, ${height}, ${parent}, ?::text), 'utf8')), 'hex')`;
}

/** Random bytes, as hexadecimal digits. */
export function salt(bytes = 16): string {
  return randomBytes(bytes).toString('hex');
}
