import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from '../../base/db/sql.ts';
import type { Broadcast } from '../port/chain-adapter.ts';
import { hasExpired, reservationOf, type SandboxPayload } from './sandbox-tx.ts';

/** A transaction that its sender has signed. */
export interface OpenedTx {
  readonly payload: SandboxPayload;
  readonly txid: string;
  /** Null when it was signed by hand, outside the gateway. */
  readonly raw: string | null;
}

interface Submission {
  /** The newest block. */
  readonly head: { readonly height: number; readonly timeMs: number };
  readonly state: 'mempool' | 'mined' | 'dropped' | null;
  /** A partner forced that it was lost. */
  readonly forced: boolean;
  readonly nextNonce: bigint;
  readonly native: bigint;
  readonly asset: bigint;
  readonly rivalTxid: string | null;
  readonly rivalFee: bigint;
}

/**
 * Divides transactions, so that no two of a part use up the same. Their order stays.
 */
export function withoutRivals(txs: readonly OpenedTx[]): readonly (readonly OpenedTx[])[] {
  const parts: OpenedTx[][] = [];
  let taken = new Set<string>();
  for (const tx of txs) {
    const place = reservationOf(tx.payload);
    if (parts.length === 0 || taken.has(place)) {
      parts.push([]);
      taken = new Set();
    }
    taken.add(place);
    parts.at(-1)?.push(tx);
  }
  return parts;
}

/**
 * The first nonce of an account that no transaction in a block or in the mempool has. The caller
 * holds the lock of the chain's row.
 */
export async function freeNonce(em: EntityManager, chain: string, address: string): Promise<number> {
  const [row] = await sql<{ nonce: number | null }>(
    em,
    // A transaction that was forced to be lost has passed its nonce.
    `with next as (
       select coalesce(max(nonce), 0) as nonce from sandbox_account where chain = ? and address = ?
     ), taken as (
       select t.nonce from sandbox_tx t, next
        where t.chain = ? and t.sender = ? and t.nonce >= next.nonce and (t.state = 'mempool' or t.forced)
     )
     select min(nonce)::int as nonce
       from (select nonce from next union all select nonce + 1 from taken) as free
      where nonce not in (select nonce from taken)`,
    [chain, address, chain, address],
  );
  return row?.nonce ?? 0;
}

/**
 * Accepts transactions into the mempool, or says why not, in their order. No two of them are of one
 * sender and nonce. The caller holds the lock of the chain's row. The chain then makes blocks until
 * `busyBlocks` more exist.
 */
export async function takeTxs(
  em: EntityManager,
  {
    chain,
    txs,
    busyBlocks,
    now,
  }: {
    readonly chain: string;
    readonly txs: readonly OpenedTx[];
    readonly busyBlocks: number;
    readonly now: Date;
  },
): Promise<readonly Broadcast[]> {
  const accepted: OpenedTx[] = [];
  const replaced: string[] = [];
  const facts = await submissions(em, chain, txs);
  const answers = txs.map((tx, index): Broadcast => {
    const found = facts[index];
    if (!found) throw new Error('a transaction has no facts');
    if (found.state === 'mempool' || found.state === 'mined') return { outcome: 'known', code: null };
    const fault = faultOf(tx.payload, found);
    if (fault !== null) return { outcome: 'rejected', code: fault };
    accepted.push(tx);
    if (found.rivalTxid !== null) replaced.push(found.rivalTxid);
    return { outcome: 'accepted', code: null };
  });
  if (accepted.length === 0) return answers;
  const rows = accepted.map(({ payload, txid, raw }, place) => ({
    ...{ place, txid, raw, ...payload },
    ...expiryColumns(payload),
  }));
  await sql(
    em,
    `with replaced as (
       update sandbox_tx set state = 'dropped' where chain = ? and txid in (select jsonb_array_elements_text(?::jsonb))
     ), taken as (
       insert into sandbox_tx
         (chain, txid, sender, nonce, recipient, tag, contract, amount, fee, raw, expires_at_height, expires_at,
          state, seen_at)
       select t.chain, t.txid, t."from", t.nonce, t."to", t.tag, t.contract, t.amount::numeric, t.fee::numeric, t.raw,
              t.expires_at_height, t.expires_at, 'mempool', ?
         from jsonb_to_recordset(?::jsonb) as t (place integer, chain text, txid text, "from" text, nonce bigint,
              "to" text, tag text, contract text, amount text, fee text, raw text, expires_at_height bigint,
              expires_at timestamptz)
        order by t.place
       on conflict (chain, txid) do update set state = 'mempool'
     )
     update sandbox_chain set busy_until = greatest(busy_until, height + ?) where chain = ?`,
    [chain, JSON.stringify(replaced), now, JSON.stringify(rows), busyBlocks, chain],
  );
  return answers;
}

function expiryColumns({ expiresAt }: SandboxPayload) {
  if (expiresAt === undefined) return {};
  return 'height' in expiresAt
    ? { expires_at_height: expiresAt.height }
    : { expires_at: new Date(expiresAt.timeMs).toISOString() };
}

/** The facts of the chain that decide about each transaction, in their order. */
async function submissions(em: EntityManager, chain: string, txs: readonly OpenedTx[]): Promise<Submission[]> {
  const asked = txs.map(({ payload: { from, nonce, contract }, txid }, place) => ({
    place,
    txid,
    from,
    nonce,
    contract: contract ?? '',
  }));
  const balance = (contract: string): string =>
    `(select amount::text from sandbox_balance where chain = ? and address = t."from" and contract = ${contract})`;
  const rows = await sql<Record<string, string | null>>(
    em,
    `select own.state, own.forced::text as forced, c.height::text as height,
            (extract(epoch from b.mined_at) * 1000)::text as time_ms,
            (select nonce::text from sandbox_account where chain = ? and address = t."from") as next_nonce,
            ${balance(`''`)} as native, ${balance('t.contract')} as asset, r.txid as rival_txid, r.fee::text as rival_fee
       from jsonb_to_recordset(?::jsonb) as t (place integer, txid text, "from" text, nonce bigint, contract text)
       join sandbox_chain c on c.chain = ?
       join sandbox_block b on b.chain = c.chain and b.height = c.height
       left join sandbox_tx own on own.chain = ? and own.txid = t.txid
       left join sandbox_tx r
         on r.chain = ? and r.sender = t."from" and r.nonce = t.nonce and r.state = 'mempool' and r.txid <> t.txid
      order by t.place`,
    [chain, chain, chain, JSON.stringify(asked), chain, chain, chain],
  );
  if (rows.length !== txs.length) throw new Error('two transactions wait with one nonce');
  return rows.map((row) => ({
    head: { height: Number(row.height), timeMs: Number(row.time_ms) },
    state: (row.state ?? null) as Submission['state'],
    forced: row.forced === 'true',
    nextNonce: BigInt(row.next_nonce ?? '0'),
    native: BigInt(row.native ?? '0'),
    asset: BigInt(row.asset ?? '0'),
    rivalTxid: row.rival_txid ?? null,
    rivalFee: BigInt(row.rival_fee ?? '0'),
  }));
}

/** Why a node refuses a transaction, or null. Other waiting transactions do not count. */
function faultOf(
  payload: SandboxPayload,
  { head, forced, nextNonce, native, asset, rivalTxid, rivalFee }: Submission,
): string | null {
  const amount = BigInt(payload.amount);
  const fee = BigInt(payload.fee);
  if (amount === 0n || payload.contract === '') return 'malformed';
  if (payload.nonce !== undefined && BigInt(payload.nonce) < nextNonce && !forced) return 'nonce_too_low';
  if (hasExpired(payload.expiresAt, head)) return 'expired';
  if (rivalTxid !== null && fee <= rivalFee) return 'underpriced';
  const fromNative = payload.contract === null ? fee + amount : fee;
  return native < fromNative || asset < amount ? 'insufficient_funds' : null;
}
