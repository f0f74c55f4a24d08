import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from '../../base/db/sql.ts';

/** The height and time of a block. */
export interface BlockPoint {
  readonly height: number;
  /** In milliseconds since 1970. */
  readonly timeMs: number;
}

/** The state of a transaction, and of another one that used its nonce. */
export interface SandboxTxFacts {
  /** The newest block. */
  readonly head: BlockPoint;
  /** The newest block with the confirmations asked for; null without one. */
  readonly final: BlockPoint | null;
  readonly tx: {
    readonly state: 'mempool' | 'mined' | 'dropped';
    readonly height: number | null;
    readonly success: boolean | null;
    readonly fee: bigint;
  } | null;
  /** Height of the block that mined the other one. */
  readonly rivalHeight: number | null;
}

/** A transaction that is asked about, with its sender and the nonce that it uses. */
export interface AskedTx {
  readonly txid: string;
  readonly from: string;
  readonly nonce?: number | undefined;
}

/**
 * The facts of each transaction in turn, by one statement. None for an unknown chain.
 *
 * @param depth Confirmations of a final block.
 */
export async function txFacts(
  em: EntityManager,
  chain: string,
  txs: readonly AskedTx[],
  depth: number,
): Promise<readonly SandboxTxFacts[]> {
  const rows = await sql<{
    head: number;
    head_ms: number;
    final_height: number | null;
    final_ms: number | null;
    state: 'mempool' | 'mined' | 'dropped' | null;
    height: number | null;
    success: boolean | null;
    fee: string | null;
    rival_height: number | null;
  }>(
    em,
    `select c.height::int as head, ${ms('b')} as head_ms, f.height::int as final_height, ${ms('f')} as final_ms,
            t.state, t.height::int as height, t.success, t.fee::text as fee, r.height::int as rival_height
       from sandbox_chain c
       join sandbox_block b on b.chain = c.chain and b.height = c.height
       left join lateral (select height, mined_at from sandbox_block
                           where chain = c.chain and height <= c.height - ? + 1
                           order by height desc limit 1) f on true
      cross join jsonb_to_recordset(?::jsonb) as asked (place integer, txid text, "from" text, nonce bigint)
       left join sandbox_tx t on t.chain = c.chain and t.txid = asked.txid
       left join sandbox_tx r
         on r.chain = c.chain and r.sender = asked."from" and r.nonce = asked.nonce and r.state = 'mined'
        and r.txid <> asked.txid
      where c.chain = ?
      order by asked.place`,
    [depth, JSON.stringify(txs.map(({ txid, from, nonce }, place) => ({ place, txid, from, nonce }))), chain],
  );
  if (rows.length > 0 && rows.length !== txs.length) throw new Error('two transactions have used one nonce');
  return rows.map(
    ({ head, head_ms, final_height, final_ms, state, height, success, fee, rival_height: rivalHeight }) => ({
      head: { height: head, timeMs: head_ms },
      final: final_height === null || final_ms === null ? null : { height: final_height, timeMs: final_ms },
      tx: state === null ? null : { state, height, success, fee: BigInt(fee ?? '0') },
      rivalHeight,
    }),
  );
}

/** SQL: the time of a block, in milliseconds since 1970. */
function ms(block: string): string {
  return `(extract(epoch from ${block}.mined_at) * 1000)::float8`;
}

/** What a transaction moves, and its state. */
export interface MovedTx extends NonNullable<SandboxTxFacts['tx']> {
  readonly head: number;
  /** Null for coins from outside. */
  readonly sender: string | null;
  readonly recipient: string;
  readonly contract: string | null;
  readonly amount: bigint;
}

/** What a transaction moves. Null for one that was never seen; undefined for an unknown chain. */
export async function movedBy(em: EntityManager, chain: string, txid: string): Promise<MovedTx | null | undefined> {
  const [row] = await sql<
    { [Name in keyof MovedTx]: MovedTx[Name] extends bigint ? string : MovedTx[Name] } & { txid: string | null }
  >(
    em,
    `select c.height::int as head, t.txid, t.state, t.height::int as height, t.success, t.fee::text as fee,
            t.sender, t.recipient, t.contract, t.amount::text as amount
       from sandbox_chain c left join sandbox_tx t on t.chain = c.chain and t.txid = ?
      where c.chain = ?`,
    [txid, chain],
  );
  if (row === undefined) return undefined;
  const { txid: found, fee, amount, ...facts } = row;
  return found === null ? null : { ...facts, fee: BigInt(fee), amount: BigInt(amount) };
}
