import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { v7 as uuidv7 } from 'uuid';
import { Big, fromUnits } from '../../base/money.ts';
import type { ChainAdapter, Transfer } from '../../chains/port/chain-adapter.ts';
import { accountOfDeposits } from '../../chains/port/deposit-account.ts';
import { type Booking, bookAll, line, minus } from '../../ledger/ledger.ts';
import type { Order } from '../../orders/order.entity.ts';
import { holdOrder } from '../../orders/order-moves.ts';
import { Deposit, type DepositProblem } from '../rows/deposit.entity.ts';
import { TreasuryTransfer } from '../rows/treasury-transfer.entity.ts';
import { earlierBounds, timeBounds } from '../rules/arrival-times.ts';
import { depositGone, depositReference, isConfirmed, markCredited } from '../rules/credit.ts';
import { creditFunding, fundingWaits, reverseFunding } from '../rules/funding.ts';
import type { ScannedTo } from '../rules/settling.ts';
import type { Arrival } from './arrivals.ts';
import { isFoundByBalance } from './deposit-parts.ts';
import { type ArrivalRules, isSmallArrival } from './small-deposits.ts';

// The changes that a scan makes to deposits. The caller holds the locks of the deposits' orders.

/**
 * Reverses the deposits of orphaned blocks. A credited deposit is booked back, and an order that
 * used it is held.
 */
export async function orphanDeposits(
  em: EntityManager,
  { traits }: Pick<ChainAdapter, 'traits'>,
  deposits: readonly Deposit[],
  orders: ReadonlyMap<string, Order>,
  hashes: ReadonlySet<string>,
  now: Date,
): Promise<void> {
  const account = accountOfDeposits(traits);
  const bookings: Booking[] = [];
  for (const deposit of deposits) {
    if (deposit.blockHash === null || !hashes.has(deposit.blockHash)) continue;
    if (deposit.state === 'credited') {
      if (deposit.purpose === 'funding') {
        bookings.push(reverseFunding(deposit, await transferOf(em, deposit), now));
      } else {
        const owed = deposit.orderId === null ? 'suspense' : 'client';
        const reference = depositReference(deposit);
        const lines = [line(account, deposit, minus(deposit.amount)), line(owed, deposit, deposit.amount)];
        bookings.push({ kind: 'deposit_reversal', reference, orderId: deposit.orderId, at: now, lines });
        holdWithoutDeposit(em, orders.get(deposit.orderId ?? ''), deposit, now);
      }
    }
    // Another arrival may take its place in a transfer. Mined again, it is matched again.
    deposit.transferId = null;
    deposit.state = 'orphaned';
    deposit.height = null;
    deposit.blockHash = null;
    deposit.minedAfter = null;
  }
  await bookAll(em, bookings);
}

/** Deposits of a chain by their keys. */
export type KnownDeposits = Map<string, Deposit>;

/**
 * Stores an arrival: updates the known deposit, or creates one and adds it to `known`. Returns
 * null, and stores nothing, when a known transfer differs from its deposit.
 */
export function storeArrival(
  em: EntityManager,
  known: KnownDeposits,
  arrival: Arrival,
  look: ArrivalRules,
): Deposit | null {
  const { chain, now } = look;
  const { transfer, block, asset, target, confirmationsRequired } = arrival;
  const { orderId, purpose } = target;
  const stored = known.get(transfer.key);
  if (stored && !isSame(stored, transfer, asset.decimals)) return null;
  if (stored && block === null) {
    if (stored.state === 'orphaned') stored.state = 'mempool';
    return stored;
  }
  const found = timeBounds(block, look);
  const place = {
    state: block === null ? ('mempool' as const) : ('mined' as const),
    height: block?.height ?? null,
    blockHash: block?.hash ?? null,
    minedAfter: block === null ? null : found.after,
  };
  if (stored) {
    // A credited deposit stays credited: a repeated scan of its block changes nothing.
    if (stored.state !== 'credited') {
      const { after, by } = earlierBounds({ after: stored.arrivedAfter, by: stored.arrivedBy }, found);
      Object.assign(stored, place, { minedAt: stored.minedAt ?? now, arrivedAfter: after, arrivedBy: by });
    }
    if (isFoundByBalance(transfer)) stored.comparedHeight = block?.height ?? null;
    return stored;
  }
  const deposit = em.create(Deposit, {
    id: uuidv7(),
    chain,
    key: transfer.key,
    orderId,
    purpose,
    transferId: null,
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
    problem: orderId === null && purpose === 'order' ? problemOfUnassigned(arrival, look) : null,
    comparedHeight: isFoundByBalance(transfer) ? (block?.height ?? null) : null,
    isReported: false,
  });
  em.persist(deposit);
  known.set(deposit.key, deposit);
  return deposit;
}

/** Why staff decide about a deposit that belongs to no order. Null for one that is too small. */
function problemOfUnassigned(arrival: Arrival, { catalogue }: ArrivalRules): DepositProblem | null {
  if (isSmallArrival(arrival, catalogue)) return null;
  return arrival.transfer.doubt === 'unusual_kind' ? 'unusual_kind' : 'unknown_tag';
}

/**
 * Marks deposits as orphaned when their transaction is in neither the mempool nor a block any more.
 */
export function dropDeposits(deposits: readonly Deposit[], chain: string, gone: ReadonlySet<string>): void {
  for (const deposit of deposits) {
    if (deposit.chain === chain && deposit.state === 'mempool' && gone.has(deposit.txid)) deposit.state = 'orphaned';
  }
}

/**
 * Credits deposits without an order. No order's step would do it. While an account at an exchange
 * is watched, arrivals at hot wallets are left to `TransferTask`.
 */
export async function creditUnassignedDeposits(
  em: EntityManager,
  { chain, traits }: Pick<ChainAdapter, 'chain' | 'traits'>,
  deposits: readonly Deposit[],
  to: ScannedTo,
  now: Date,
): Promise<void> {
  const account = accountOfDeposits(traits);
  const ripe = deposits.filter(
    (deposit) => deposit.orderId === null && deposit.chain === chain && isConfirmed(deposit, to),
  );
  const waits = ripe.some(({ purpose }) => purpose === 'funding') && (await fundingWaits(em));
  const bookings: Booking[] = [];
  for (const deposit of ripe) {
    if (deposit.purpose === 'funding') {
      if (!waits) bookings.push(creditFunding(deposit, await transferOf(em, deposit), now));
      continue;
    }
    markCredited(deposit, now);
    const lines = [line(account, deposit, deposit.amount), line('suspense', deposit, minus(deposit.amount))];
    bookings.push({ kind: 'deposit', reference: depositReference(deposit), orderId: null, at: now, lines });
  }
  await bookAll(em, bookings);
}

/** The transfer from an exchange that a deposit is the arrival of, locked. */
async function transferOf(em: EntityManager, { transferId }: Deposit): Promise<TreasuryTransfer | null> {
  if (transferId === null) return null;
  return em.findOne(TreasuryTransfer, { id: transferId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
}

/**
 * Whether a transfer equals its deposit. A key that stood for two transfers would credit one for
 * the other.
 */
function isSame(deposit: Deposit, { address, contract, amount }: Transfer, decimals: number): boolean {
  const isOfAsset = deposit.address === address && deposit.contract === contract;
  return isOfAsset && new Big(deposit.amount).eq(fromUnits(amount, decimals));
}

/**
 * Holds an order whose used deposit was orphaned. It must not pay out before staff have checked it
 * or the deposit returns.
 */
function holdWithoutDeposit(em: EntityManager, order: Order | undefined, deposit: Deposit, now: Date): void {
  if (order?.depositId !== deposit.id || order.heldAt !== null) return;
  if (order.status !== 'exchanging' && order.status !== 'sending' && order.status !== 'refunding') return;
  holdOrder(em, order, depositGone, { at: now });
}
