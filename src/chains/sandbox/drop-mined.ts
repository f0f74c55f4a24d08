import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from '../../base/db/sql.ts';
import { appendBlock, heightBelow, readWaiting, undoAbove } from './sandbox-blocks.ts';
import { outputRows } from './sandbox-outputs.ts';

interface DropMined {
  readonly chain: string;
  /** Of the newest block. */
  readonly height: number;
  readonly txid: string;
  /** Newest blocks that may be replaced at most. */
  readonly mostDepth: number;
  /** Whether a partner forces it, for its order alone. */
  readonly isForced: boolean;
}

/**
 * Replaces the blocks from a transaction's own on by blocks without it. All other transactions keep
 * their heights. The caller holds the lock of the chain's row. Returns whether it was taken out.
 */
export async function dropMined(
  em: EntityManager,
  { chain, height, txid, mostDepth, isForced }: DropMined,
  now: Date,
): Promise<boolean> {
  const [found] = await sql<{ state: string; height: number | null }>(
    em,
    'select state, height::int as height from sandbox_tx where chain = ? and txid = ?',
    [chain, txid],
  );
  const drop = (): Promise<unknown> =>
    sql(
      em,
      `update sandbox_tx set state = 'dropped', forced = ?
        where chain = ? and txid in (select jsonb_array_elements_text(?::jsonb))`,
      [isForced, chain, outputRows(txid)],
    );
  if (found?.state === 'mempool') {
    await drop();
    return true;
  }
  if (found?.state !== 'mined' || found.height === null || height - found.height >= mostDepth) return false;
  const below = await heightBelow(em, chain, found.height);
  const mined = await sql<{ txid: string; height: number }>(
    em,
    "select txid, height::int as height from sandbox_tx where chain = ? and state = 'mined' and height > ?",
    [chain, below],
  );
  const heights = new Map(mined.map((row) => [row.txid, row.height]));
  const places = await sql<{ height: number }>(
    em,
    'select height::int as height from sandbox_block where chain = ? and height > ? order by height',
    [chain, below],
  );
  await undoAbove(em, chain, below, 'mempool');
  await drop();
  await sql(em, 'delete from sandbox_block where chain = ? and height > ?', [chain, below]);
  await sql(em, 'update sandbox_chain set height = ? where chain = ?', [below, chain]);
  for (const [index, { height: at }] of places.entries()) {
    const block = { chain, below: places[index - 1]?.height ?? below, height: at, now };
    const waiting = await readWaiting(em, block);
    await appendBlock(
      em,
      block,
      waiting.filter((tx) => !tx.waits || heights.get(tx.txid) === at),
    );
  }
  // One more block than before, so that the new branch is the longer one.
  await sql(em, 'update sandbox_chain set busy_until = greatest(busy_until, height + 1) where chain = ?', [chain]);
  return true;
}
