import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import { type SqlValue, sql } from '../base/db/sql.ts';

/** An output in a block that belongs to the gateway. */
export interface OwnOutput {
  /** The key of the transfer that made it: 'txid:0'. */
  readonly key: string;
  readonly address: string;
  readonly amount: bigint;
  readonly height: number;
  readonly blockHash: string;
  /** Index of the deposit address; null for the hot wallet. */
  readonly index: number | null;
  /** The transaction in a block that spends it, or null. */
  readonly spentBy: { readonly txid: string; readonly height: number; readonly blockHash: string } | null;
}

/** The gateway's outputs of a chain, as the scanner found them. */
export interface OwnOutputs {
  /** The hot wallet's outputs that no block spends, the oldest first. */
  hot(chain: string): Promise<readonly OwnOutput[]>;
  /**
   * The hot wallet's outputs that may be spent: all but foreign deposits that are not credited yet.
   * Their sender may still replace those, and a transaction that spends them could then never
   * confirm.
   */
  spendable(chain: string): Promise<readonly OwnOutput[]>;
  /**
   * Keys among `keys` whose output was made by a transaction of ours that can never confirm any
   * more.
   */
  lost(chain: string, keys: readonly string[]): Promise<readonly string[]>;
  /** The outputs with these keys, spent or not, in no particular order. */
  find(chain: string, keys: readonly string[]): Promise<readonly OwnOutput[]>;
  /** The outputs that a transaction in a block spends, in no particular order. */
  spentBy(chain: string, txid: string): Promise<readonly OwnOutput[]>;
}

interface OutputRow extends Omit<OwnOutput, 'amount' | 'spentBy'> {
  readonly amount: string;
  readonly spent_txid: string | null;
  readonly spent_height: number | null;
  readonly spent_hash: string | null;
}

const columns = `key, address, amount::text as amount, height::int as height, block_hash as "blockHash",
  index::int as index, spent_txid, spent_height::int as spent_height, spent_hash`;

/** The outputs that scans found and stored. */
export function ownOutputs(orm: MikroORM): OwnOutputs {
  const read = async (text: string, values: readonly SqlValue[]): Promise<OwnOutput[]> => {
    const rows = await sql<OutputRow>(orm.em.fork(), text, values);
    return rows.map(({ amount, spent_txid: txid, spent_height: height, spent_hash: blockHash, ...row }) => ({
      ...row,
      amount: BigInt(amount),
      spentBy: txid === null || height === null || blockHash === null ? null : { txid, height, blockHash },
    }));
  };
  const hot = `from own_output o where o.chain = ? and spent_txid is null and index is null`;
  return {
    hot: (chain) => read(`select ${columns} ${hot} order by height, key`, [chain]),
    spendable: (chain) =>
      read(
        `select ${columns} ${hot}
            and not exists (select 1 from deposit d where d.chain = o.chain and d.key = o.key and d.state <> 'credited')
          order by height, key`,
        [chain],
      ),
    lost: async (chain, keys) => {
      const rows = await sql<{ key: string }>(
        orm.em.fork(),
        `select k.key from jsonb_array_elements_text(?::jsonb) as k (key)
          where exists (select 1 from payment_attempt a
                         where a.chain = ? and a.txid = split_part(k.key, ':', 1)
                           and a.dead_why in ('replaced', 'conflict', 'expired'))`,
        [JSON.stringify(keys), chain],
      );
      return rows.map(({ key }) => key);
    },
    find: (chain, keys) =>
      read(
        `select ${columns} from own_output where chain = ? and key in (select jsonb_array_elements_text(?::jsonb))`,
        [chain, JSON.stringify(keys)],
      ),
    spentBy: (chain, txid) =>
      read(`select ${columns} from own_output where chain = ? and spent_txid = ?`, [chain, txid]),
  };
}

/** An output of ours, as a scan finds it. */
export type FoundOutput = Omit<OwnOutput, 'spentBy'>;

/** An output that a block spends, ours or not. */
export interface FoundSpend {
  readonly key: string;
  readonly txid: string;
  readonly height: number;
  readonly blockHash: string;
}

/**
 * Stores the outputs and spends of a scan, in the transaction that stores its cursor. Storing the
 * same again changes nothing.
 */
export async function recordOutputs(
  em: EntityManager,
  chain: string,
  found: readonly FoundOutput[],
  spends: readonly FoundSpend[],
): Promise<void> {
  if (found.length > 0) {
    await sql(
      em,
      `insert into own_output (chain, key, address, amount, index, height, block_hash)
       select ?, key, address, amount, index, height, block_hash
         from jsonb_to_recordset(?::jsonb)
              as o (key text, address text, amount numeric, index bigint, height bigint, block_hash text)
       on conflict (chain, key) do update set height = excluded.height, block_hash = excluded.block_hash`,
      [
        chain,
        JSON.stringify(
          found.map(({ key, address, amount, index, height, blockHash }) => {
            return { key, address, amount: amount.toString(), index, height, block_hash: blockHash };
          }),
        ),
      ],
    );
  }
  if (spends.length === 0) return;
  await sql(
    em,
    `update own_output o set spent_txid = s.txid, spent_height = s.height, spent_hash = s."blockHash"
       from jsonb_to_recordset(?::jsonb) as s (key text, txid text, height bigint, "blockHash" text)
      where o.chain = ? and o.key = s.key`,
    [JSON.stringify(spends), chain],
  );
}

/** Removes the outputs and spends of blocks that are no longer on the chain. */
export async function forgetOutputs(em: EntityManager, chain: string, blockHashes: readonly string[]): Promise<void> {
  if (blockHashes.length === 0) return;
  const gone = '(select jsonb_array_elements_text(?::jsonb))';
  const hashes = JSON.stringify(blockHashes);
  await sql(em, `delete from own_output where chain = ? and block_hash in ${gone}`, [chain, hashes]);
  await sql(
    em,
    `update own_output set spent_txid = null, spent_height = null, spent_hash = null
      where chain = ? and spent_hash in ${gone}`,
    [chain, hashes],
  );
}

/** Removes the outputs and spends of all blocks above a height, before these are read again. */
export async function forgetOutputsAbove(em: EntityManager, chain: string, height: number): Promise<void> {
  await sql(em, 'delete from own_output where chain = ? and height > ?', [chain, height]);
  await sql(
    em,
    `update own_output set spent_txid = null, spent_height = null, spent_hash = null
      where chain = ? and spent_height > ?`,
    [chain, height],
  );
}
