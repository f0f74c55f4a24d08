import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from '../../base/db/sql.ts';
import { type BlockRef, ChainError, type Holding, type ScannedBlock, type Transfer } from '../port/chain-adapter.ts';
import { outputOf } from './sandbox-outputs.ts';

/** Blocks of a chain, as one statement saw them. */
export interface SandboxRange {
  readonly head: number;
  /** By height. */
  readonly blocks: ReadonlyMap<number, ScannedBlock>;
}

/** The newest block of every chain. */
export async function readHeads(em: EntityManager): Promise<Map<string, BlockRef>> {
  const rows = await sql<BlockRow & { chain: string }>(
    em,
    `select c.chain, b.height::int as height, b.hash, b.parent, ${timeMs} as time_ms
       from sandbox_chain c join sandbox_block b on b.chain = c.chain and b.height = c.height`,
    [],
  );
  return new Map(rows.map(({ chain, ...row }) => [chain, refOf(row)]));
}

/** The hash of the newest block of each chain without waiting transactions. */
export async function readQuietHeads(em: EntityManager): Promise<Map<string, string>> {
  const rows = await sql<{ chain: string; hash: string }>(
    em,
    `select c.chain, b.hash from sandbox_chain c join sandbox_block b on b.chain = c.chain and b.height = c.height
      where not exists (select 1 from sandbox_tx t where t.chain = c.chain and t.state = 'mempool')`,
    [],
  );
  return new Map(rows.map(({ chain, hash }) => [chain, hash]));
}

/** The newest block. */
export async function readHead(em: EntityManager, chain: string): Promise<BlockRef> {
  const [row] = await sql<BlockRow>(
    em,
    `select b.height::int as height, b.hash, b.parent, ${timeMs} as time_ms
       from sandbox_chain c join sandbox_block b on b.chain = c.chain and b.height = c.height
      where c.chain = ?`,
    [chain],
  );
  if (row === undefined) throw unknownChain(chain);
  return refOf(row);
}

/** The blocks from one height to another, with their transfers, in one statement. */
export async function readRange(em: EntityManager, chain: string, from: number, to: number): Promise<SandboxRange> {
  const rows = await sql<RangeRow>(
    em,
    `select c.height::int as head, b.height::int as height, b.hash, b.parent, ${timeMs} as time_ms,
            t.txid, t.recipient, t.tag, t.contract, t.amount::text as amount, t.unusual
       from sandbox_chain c
       left join sandbox_block b on b.chain = c.chain and b.height between ? and ?
       left join sandbox_tx t
         on t.chain = b.chain and t.height = b.height and t.state = 'mined' and t.success and not t.minted
      where c.chain = ?
      order by b.height, t.seq`,
    [from, to, chain],
  );
  const [first] = rows;
  if (first === undefined) throw unknownChain(chain);
  const blocks = new Map<number, ScannedBlock & { transfers: Transfer[] }>();
  for (const { height, hash, parent, time_ms, ...tx } of rows) {
    if (height === null || hash === null || parent === null || time_ms === null) continue;
    const block = blocks.get(height) ?? { ref: refOf({ height, hash, parent, time_ms }), transfers: [] };
    blocks.set(height, block);
    if (tx.txid !== null) block.transfers.push(transferOf(tx));
  }
  return { head: first.head, blocks };
}

/** The waiting transactions, oldest first. */
export async function readMempool(em: EntityManager, chain: string): Promise<Transfer[]> {
  const rows = await sql<TransferRow>(
    em,
    `select txid, recipient, tag, contract, amount::text as amount, unusual
       from sandbox_tx where chain = ? and state = 'mempool' and not minted order by seq`,
    [chain],
  );
  return rows.map(transferOf);
}

/**
 * The mined balances of the holdings, in their order and in one statement. A payment of an
 * account is subtracted from the whole address and from none of its tags.
 */
export async function readBalances(
  em: EntityManager,
  chain: string,
  holdings: readonly Holding[],
  contract: string | null,
): Promise<bigint[]> {
  if (holdings.length === 0) return [];
  const rows = await sql<{ amount: string }>(
    em,
    `select (case when a.address is not null
                  then coalesce((select b.amount from sandbox_balance b
                                  where b.chain = a.chain and b.address = a.address and b.contract = ?), 0)
                  else (select coalesce(sum(t.amount), 0) from sandbox_tx t
                         where t.chain = ? and t.recipient = h.address and t.state = 'mined' and t.success
                           and t.contract is not distinct from ? and (h.tag is null or t.tag = h.tag))
             end)::text as amount
       from jsonb_to_recordset(?::jsonb) as h (place integer, address text, tag text)
       left join sandbox_account a on a.chain = ? and a.address = h.address and h.tag is null
      order by h.place`,
    [
      contract ?? '',
      chain,
      contract,
      JSON.stringify(holdings.map(({ address, tag }, place) => ({ place, address, tag }))),
      chain,
    ],
  );
  return rows.map(({ amount }) => BigInt(amount));
}

interface TransferRow {
  readonly txid: string | null;
  readonly recipient: string | null;
  readonly tag: string | null;
  readonly contract: string | null;
  readonly amount: string | null;
  readonly unusual: boolean | null;
}

export interface BlockRow {
  readonly height: number;
  readonly hash: string;
  readonly parent: string;
  readonly time_ms: number;
}

type RangeRow = TransferRow & { readonly head: number } & { readonly [Name in keyof BlockRow]: BlockRow[Name] | null };

/** The SQL of a block's time, in milliseconds since 1970. */
export const timeMs = '(extract(epoch from b.mined_at) * 1000)::float8';

function refOf({ height, hash, parent, time_ms: ms }: BlockRow): BlockRef {
  return { height, hash, parent, timeMs: ms };
}

function transferOf({ txid, recipient, tag, contract, amount, unusual }: TransferRow): Transfer {
  return {
    ...outputOf(txid ?? ''),
    address: recipient ?? '',
    tag,
    contract,
    amount: BigInt(amount ?? '0'),
    ...(unusual === true ? { doubt: 'unusual_kind' as const } : {}),
  };
}

/** The error of a chain that was not opened. */
export function unknownChain(chain: string): ChainError {
  return new ChainError('unknown_chain', `there is no sandbox chain ${chain}`, { retryable: false });
}
