import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from '../../base/db/sql.ts';
import { outputOf, outputRow } from './sandbox-outputs.ts';

/** An output to an address that someone watches. */
export interface PaidOutput {
  readonly chain: string;
  /** 'txid:0' */
  readonly key: string;
  readonly txid: string;
  readonly address: string;
  readonly tag: string | null;
  readonly contract: string | null;
  readonly amount: bigint;
  /** Grows in the order in which transactions come, over all chains. */
  readonly seq: number;
}

/** Where an output is now. */
export interface OutputState {
  /** False while it moves nothing: its transaction was dropped, or failed. */
  readonly isThere: boolean;
  /** Blocks from its own to the newest one; 0 while it waits for a block. */
  readonly depth: number;
}

/** The outputs to these addresses that came after another one, in their order. */
export async function paidTo(
  em: EntityManager,
  watched: readonly { readonly chain: string; readonly address: string }[],
  after: number,
): Promise<PaidOutput[]> {
  const rows = await sql<Omit<PaidOutput, 'key' | 'amount'> & { amount: string }>(
    em,
    `select t.chain, t.txid, t.recipient as address, t.tag, t.contract, t.amount::text as amount, t.seq::float8 as seq
       from jsonb_to_recordset(?::jsonb) as w (chain text, address text)
       join sandbox_tx t on t.chain = w.chain and t.recipient = w.address
      where t.seq > ?
      order by t.seq`,
    [JSON.stringify(watched), after],
  );
  return rows.map((row) => ({ ...row, ...outputOf(row.txid), amount: BigInt(row.amount) }));
}

/** Where outputs are now, by their keys. */
export async function outputStates(
  em: EntityManager,
  outputs: readonly { readonly chain: string; readonly key: string }[],
): Promise<Map<string, OutputState>> {
  if (outputs.length === 0) return new Map();
  const asked = outputs.map(({ chain, key }) => {
    const [txid = '', place = '0'] = key.split(':');
    return { chain, key, row: outputRow(txid, Number.parseInt(place, 10)) };
  });
  const rows = await sql<{ key: string; is_there: boolean; depth: number }>(
    em,
    `select a.key, t.state = 'mempool' or (t.state = 'mined' and t.success) as is_there,
            coalesce(c.height - t.height + 1, 0)::int as depth
       from jsonb_to_recordset(?::jsonb) as a (chain text, key text, row text)
       join sandbox_chain c on c.chain = a.chain
       join sandbox_tx t on t.chain = a.chain and t.txid = a.row`,
    [JSON.stringify(asked)],
  );
  return new Map(rows.map(({ key, is_there: isThere, depth }) => [key, { isThere, depth }]));
}
