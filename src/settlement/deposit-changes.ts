import type { EntityManager } from '@mikro-orm/postgresql';
import { v7 as uuidv7 } from 'uuid';
import type { BlockRef, Transfer } from '../chains/chain-adapter.ts';
import { book, line, minus } from '../ledger/ledger.ts';
import { Big, fromUnits } from '../money.ts';
import type { Order } from '../orders/order.entity.ts';
import { boundsOf, type ChainLook, earlierOf } from './arrival-times.ts';
import type { Arrival } from './arrivals.ts';
import { Deposit } from './deposit.entity.ts';
import { isOfBalance } from './deposit-parts.ts';
import type { ScannedTo } from './settling.ts';
import { depositGone, depositReference, isRipe, markCredited } from './steps/credit.ts';

// What a scan changes in deposits. Whoever calls these has locked the orders of the deposits.

/** Takes back what orphaned blocks held. What was credited is booked back, and an order that used it is held. */
export async function orphanDeposits(
  em: EntityManager,
  deposits: readonly Deposit[],
  orders: readonly Order[],
  orphaned: readonly BlockRef[],
  now: Date,
): Promise<void> {
  const hashes = new Set(orphaned.map(({ hash }) => hash));
  for (const deposit of deposits) {
    if (deposit.blockHash === null || !hashes.has(deposit.blockHash)) continue;
    if (deposit.state === 'credited') {
      const isFunding = deposit.purpose === 'funding';
      const owed = deposit.orderId === null ? 'suspense' : 'client';
      await book(em, {
        kind: isFunding ? 'funding_reversal' : 'deposit_reversal',
        reference: depositReference(deposit),
        orderId: deposit.orderId,
        at: now,
        lines: isFunding
          ? [line('hot', deposit, minus(deposit.amount)), line('opening', deposit, deposit.amount)]
          : [line('deposits', deposit, minus(deposit.amount)), line(owed, deposit, deposit.amount)],
      });
      holdOrder(
        orders.find(({ id }) => id === deposit.orderId),
        deposit,
        now,
      );
    }
    deposit.state = 'orphaned';
    deposit.height = null;
    deposit.blockHash = null;
    deposit.minedAfter = null;
  }
}

/**
 * Stores what arrived, as what became of a known deposit or as a new one, which joins `deposits`. False, with nothing
 * stored, for a known transfer that is not what it was before.
 */
export function storeArrival(
  em: EntityManager,
  deposits: Deposit[],
  chain: string,
  arrival: Arrival,
  look: ChainLook,
): boolean {
  const { now } = look;
  const { transfer, block, asset, target, confirmationsRequired } = arrival;
  const { orderId, purpose } = target;
  const known = deposits.find((deposit) => deposit.chain === chain && deposit.key === transfer.key);
  if (known && !isSame(known, transfer, asset.decimals)) return false;
  if (known && block === null) {
    if (known.state === 'orphaned') known.state = 'mempool';
    return true;
  }
  const found = boundsOf(block, look);
  const place = {
    state: block === null ? ('mempool' as const) : ('mined' as const),
    height: block?.height ?? null,
    blockHash: block?.hash ?? null,
    minedAfter: block === null ? null : found.after,
  };
  if (known) {
    // A credited deposit stays credited: a scan that repeats a block finds nothing new in it.
    if (known.state !== 'credited') {
      const { after, by } = earlierOf({ after: known.arrivedAfter, by: known.arrivedBy }, found);
      Object.assign(known, place, { minedAt: known.minedAt ?? now, arrivedAfter: after, arrivedBy: by });
    }
    if (isOfBalance(transfer)) known.comparedHeight = block?.height ?? null;
    return true;
  }
  const deposit = em.create(Deposit, {
    id: uuidv7(),
    chain,
    key: transfer.key,
    orderId,
    purpose,
    sweptBy: null,
    txid: transfer.txid,
    address: transfer.address,
    tag: transfer.tag,
    contract: transfer.contract,
    coin: asset.coin,
    network: asset.network,
    amount: fromUnits(transfer.amount, asset.decimals),
    ...place,
    confirmationsRequired,
    seenAt: now,
    minedAt: block === null ? null : now,
    arrivedAfter: found.after,
    arrivedBy: found.by,
    creditedAt: null,
    credits: 0,
    problem: orderId === null && purpose === 'order' ? 'unknown_tag' : null,
    comparedHeight: isOfBalance(transfer) ? (block?.height ?? null) : null,
  });
  em.persist(deposit);
  deposits.push(deposit);
  return true;
}

/** Lets go of deposits whose transaction is in neither the mempool nor a block any more. */
export function dropDeposits(deposits: readonly Deposit[], chain: string, gone: ReadonlySet<string>): void {
  for (const deposit of deposits) {
    if (deposit.chain === chain && deposit.state === 'mempool' && gone.has(deposit.txid)) deposit.state = 'orphaned';
  }
}

/** Deposits that are nobody's are credited here, since no order will do it. */
export async function creditStrangers(
  em: EntityManager,
  deposits: readonly Deposit[],
  chain: string,
  to: ScannedTo,
  now: Date,
): Promise<void> {
  for (const deposit of deposits) {
    if (deposit.orderId !== null || deposit.chain !== chain || !isRipe(deposit, to)) continue;
    markCredited(deposit, now);
    const isFunding = deposit.purpose === 'funding';
    await book(em, {
      kind: isFunding ? 'funding' : 'deposit',
      reference: depositReference(deposit),
      orderId: null,
      at: now,
      lines: [
        line(isFunding ? 'hot' : 'deposits', deposit, deposit.amount),
        line(isFunding ? 'opening' : 'suspense', deposit, minus(deposit.amount)),
      ],
    });
  }
}

/** Whether a transfer moved what a deposit says. A key that stood for two movements would credit one for the other. */
function isSame(deposit: Deposit, { address, contract, amount }: Transfer, decimals: number): boolean {
  const isOfAsset = deposit.address === address && deposit.contract === contract;
  return isOfAsset && new Big(deposit.amount).eq(fromUnits(amount, decimals));
}

/** The order's own deposit is gone after it was used: it must not pay out before somebody looked, or it comes back. */
function holdOrder(order: Order | undefined, deposit: Deposit, now: Date): void {
  if (order?.depositId !== deposit.id || order.heldAt !== null) return;
  if (order.status !== 'exchanging' && order.status !== 'sending' && order.status !== 'refunding') return;
  order.heldAt = now;
  order.holdReason = depositGone;
  order.updatedAt = now;
}
