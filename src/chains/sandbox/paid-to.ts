import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from '../../base/db/sql.ts';
import { outputOf } from './sandbox-outputs.ts';

/** Where someone looks for coins: an address, in the mempool and in the blocks above a height. */
export interface WatchedAddress {
  readonly chain: string;
  readonly address: string;
  readonly above: number;
}

/** An output to a watched address. */
export interface PaidOutput {
  readonly chain: string;
  /** 'txid:0' */
  readonly key: string;
  readonly txid: string;
  readonly address: string;
  readonly tag: string | null;
  readonly contract: string | null;
  readonly amount: bigint;
  /** Null while it waits for a block. */
  readonly height: number | null;
  /** The newest block of the chain. */
  readonly head: number;
}

/** The outputs that pay to these addresses, in the order in which they came. */
export async function paidTo(em: EntityManager, watched: readonly WatchedAddress[]): Promise<PaidOutput[]> {
  const rows = await sql<Omit<PaidOutput, 'key' | 'amount'> & { amount: string }>(
    em,
    `select t.chain, t.txid, t.recipient as address, t.tag, t.contract, t.amount::text as amount,
            t.height::int as height, c.height::int as head
       from jsonb_to_recordset(?::jsonb) as w (chain text, address text, above bigint)
       join sandbox_chain c on c.chain = w.chain
       join sandbox_tx t on t.chain = w.chain and t.recipient = w.address
      where t.state = 'mempool' or t.state = 'mined' and t.success and t.height > w.above
      order by t.seq`,
    [JSON.stringify(watched)],
  );
  return rows.map((row) => ({ ...row, ...outputOf(row.txid), amount: BigInt(row.amount) }));
}
