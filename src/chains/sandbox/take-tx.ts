import type { EntityManager } from '@mikro-orm/postgresql';
import type { Broadcast } from '../chain-adapter.ts';
import type { SandboxPayload } from './sandbox-tx.ts';

interface Submission {
  readonly state: 'mempool' | 'mined' | 'dropped' | null;
  readonly nextNonce: bigint;
  readonly native: bigint;
  readonly asset: bigint;
  readonly rivalTxid: string | null;
  readonly rivalFee: bigint;
}

/**
 * Accepts a transaction with a valid signature into the mempool, or says why not. The caller holds
 * the lock of the chain's row. The chain then makes blocks until `busyBlocks` more exist.
 */
export async function takeTx(
  em: EntityManager,
  { payload, txid }: { readonly payload: SandboxPayload; readonly txid: string },
  raw: string,
  busyBlocks: number,
  now: Date,
): Promise<Broadcast> {
  const facts = await submission(em, payload, txid);
  if (facts.state === 'mempool' || facts.state === 'mined') return { outcome: 'known', code: null };
  const fault = faultOf(payload, facts);
  if (fault !== null) return rejected(fault);
  await em.execute(
    `with replaced as (
       update sandbox_tx set state = 'dropped' where chain = ? and txid = ?
     ), taken as (
       insert into sandbox_tx
         (chain, txid, sender, nonce, recipient, tag, contract, amount, fee, raw, state, seen_at)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'mempool', ?)
       on conflict (chain, txid) do update set state = 'mempool'
     )
     update sandbox_chain set busy_until = greatest(busy_until, height + ?) where chain = ?`,
    [
      payload.chain,
      facts.rivalTxid,
      payload.chain,
      txid,
      payload.from,
      payload.nonce,
      payload.to,
      payload.tag,
      payload.contract,
      payload.amount,
      payload.fee,
      raw,
      now,
      busyBlocks,
      payload.chain,
    ],
  );
  return { outcome: 'accepted', code: null };
}

/** The facts of the chain that decide about a transaction. */
async function submission(em: EntityManager, payload: SandboxPayload, txid: string): Promise<Submission> {
  const { chain, from, nonce, contract } = payload;
  const balance = `(select amount::text from sandbox_balance where chain = ? and address = ? and contract = ?)`;
  const rows = await em.execute<Record<string, string | null>[]>(
    `select (select state from sandbox_tx where chain = ? and txid = ?) as state,
            (select nonce::text from sandbox_account where chain = ? and address = ?) as next_nonce,
            ${balance} as native, ${balance} as asset, r.txid as rival_txid, r.fee::text as rival_fee
       from (select 1) one
       left join sandbox_tx r
         on r.chain = ? and r.sender = ? and r.nonce = ? and r.state = 'mempool' and r.txid <> ?`,
    [chain, txid, chain, from, chain, from, '', chain, from, contract ?? '', chain, from, nonce, txid],
  );
  const row = rows[0] ?? {};
  return {
    state: (row.state ?? null) as Submission['state'],
    nextNonce: BigInt(row.next_nonce ?? '0'),
    native: BigInt(row.native ?? '0'),
    asset: BigInt(row.asset ?? '0'),
    rivalTxid: row.rival_txid ?? null,
    rivalFee: BigInt(row.rival_fee ?? '0'),
  };
}

/** Why a node refuses a transaction, or null. Other waiting transactions do not count. */
function faultOf(
  payload: SandboxPayload,
  { nextNonce, native, asset, rivalTxid, rivalFee }: Submission,
): string | null {
  const amount = BigInt(payload.amount);
  const fee = BigInt(payload.fee);
  if (amount === 0n || payload.contract === '') return 'malformed';
  if (BigInt(payload.nonce) < nextNonce) return 'nonce_too_low';
  if (rivalTxid !== null && fee <= rivalFee) return 'underpriced';
  const fromNative = payload.contract === null ? fee + amount : fee;
  return native < fromNative || asset < amount ? 'insufficient_funds' : null;
}

function rejected(code: string): Broadcast {
  return { outcome: 'rejected', code };
}
