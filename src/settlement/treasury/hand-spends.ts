import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { sql } from '../../base/db/sql.ts';
import { Big, formatDecimal, fromUnits } from '../../base/money.ts';
import { type ChainAdapter, ChainError, type HotSpend } from '../../chains/port/chain-adapter.ts';
import type { CurrencyCatalogue } from '../../market/currencies/currency-catalogue.ts';
import { Deposit } from '../rows/deposit.entity.ts';
import { TreasuryTransfer } from '../rows/treasury-transfer.entity.ts';
import { VenueMovement } from '../rows/venue-movement.entity.ts';
import { chainOfName } from './exchange-networks.ts';
import { bookCredit, bookSource, settleTransfer } from './transfer-entries.ts';
import { assetOf, doubtMs, newTransfer, type Round, txidForms, unseenMs } from './transfers.ts';

/** Transactions that a chain is asked about at once. */
const looksAtOnce = 50;
/**
 * A deposit of the exchange for which no transaction was found is asked about again for some days,
 * in case that a node was wrong.
 */
const againMs = 3_600_000;

const none = new Big('0');

/** What a transaction took from the hot wallet, and the movement that names it. */
export interface Look {
  readonly txid: string;
  readonly spend: HotSpend | null;
  /** It is a payment of the gateway, which is booked as such. */
  readonly isPayment: boolean;
}

/** Asks the chain about the transactions of deposits at the exchange that are not booked yet. */
export async function lookForSpends(
  em: EntityManager,
  adapter: ChainAdapter,
  catalogue: CurrencyCatalogue,
  now: Date,
): Promise<Look[]> {
  const { chain } = adapter;
  const again = new Date(now.getTime() - againMs);
  const doubted = new Date(now.getTime() - doubtMs);
  const coins = catalogue.assetsOf(chain).map(({ coin }) => coin);
  const rows = await sql<{ txid: string; network: string | null; is_payment: boolean }>(
    em,
    `select m.txid, min(m.network) as network,
            exists (select from payment_attempt a where a.chain = ? and a.txid in (${txidForms('m.txid')})) as is_payment
       from venue_movement m
       left join treasury_transfer t on t.venue = m.venue and t.movement_kind = m.kind and t.reference = m.reference
      where m.kind = 'deposit' and m.txid is not null and m.coin in (select jsonb_array_elements_text(?::jsonb))
        and (m.part = 'open'
             or m.part = 'foreign' and m.looked_at < ? and m.seen_at > ?
             or m.part = 'transfer' and t.chain = ?
                and (t.state not in ('done', 'returned') and t.problem is null or m.changed_at > t.updated_at
                     or t.state = 'returned' and t.entries = 0 and m.looked_at < ? and m.seen_at > ?))
      group by m.txid order by min(m.looked_at) nulls first, min(m.at), m.txid limit ${looksAtOnce}`,
    [chain, JSON.stringify(coins), again, doubted, chain, again, doubted],
  );
  const looks: Look[] = [];
  for (const { txid, network, is_payment: isPayment } of rows) {
    const named = chainOfName(network);
    if (named !== null && named !== chain) continue;
    try {
      looks.push({ txid, spend: isPayment ? null : ((await adapter.spent?.(txid)) ?? null), isPayment });
    } catch (error) {
      // The others are asked about all the same, and this one again.
      if (!(error instanceof ChainError)) throw error;
    }
  }
  return looks;
}

/** Notes that the chain was asked about these transactions. */
export async function noteLooks(em: EntityManager, looks: readonly Look[], now: Date): Promise<void> {
  await sql(
    em,
    `with looked as (
       select venue, kind, reference from venue_movement
        where kind = 'deposit' and txid in (select jsonb_array_elements_text(?::jsonb))
        order by kind, reference for update
     )
     update venue_movement m set looked_at = ? from looked l
      where m.venue = l.venue and m.kind = l.kind and m.reference = l.reference`,
    [JSON.stringify(looks.map(({ txid }) => txid)), now],
  );
}

/** Turns what transactions took from the hot wallet into transfers to the exchange. */
export async function takeLooks(round: Round, looks: readonly Look[]): Promise<void> {
  // All of them first, in the order in which a reading of the account locks them.
  const named = await round.em.find(
    VenueMovement,
    { kind: 'deposit', txid: { $in: looks.map(({ txid }) => txid) }, part: { $in: ['open', 'foreign', 'transfer'] } },
    { lockMode: LockMode.PESSIMISTIC_WRITE, orderBy: { kind: 'asc', reference: 'asc' } },
  );
  const byTxid = Map.groupBy(
    named.toSorted((one, other) => one.at.getTime() - other.at.getTime()),
    ({ txid }) => txid,
  );
  for (const look of looks) await takeLook(round, look, byTxid.get(look.txid) ?? []);
}

async function takeLook(round: Round, look: Look, movements: readonly VenueMovement[]): Promise<void> {
  const { catalogue, adapter, now, bookings } = round;
  const { chain } = adapter;
  const { spend } = look;
  const transfers = await transfersOf(round, look, movements);
  if (spend === null) {
    // A reorg or the mempool dropped it. What the exchange refused as well has ended.
    for (const [{ state }, transfer] of transfers) {
      if (transfer.entries === 0) transfer.state = state === 'returned' ? 'returned' : 'asked';
    }
    return;
  }
  const gas = catalogue.gasCoin(chain);
  allot(round, transfers, spend);
  for (const [movement, transfer] of transfers) {
    transfer.state = spend.height === null ? 'asked' : 'sent';
    if (spend.final) bookings.push(...bookSource(transfer, { amount: new Big(transfer.amount), fee: none }, gas, now));
    await credit(round, transfer, movement);
  }
}

/** The transfers of movements, also the new ones. A movement without one is judged. */
async function transfersOf(
  { em, adapter: { chain }, catalogue, to, now }: Round,
  { spend, isPayment }: Look,
  movements: readonly VenueMovement[],
): Promise<Map<VenueMovement, TreasuryTransfer>> {
  const transfers = new Map<VenueMovement, TreasuryTransfer>();
  for (const movement of movements) {
    if (movement.part === 'transfer') {
      const { venue, kind: movementKind, reference } = movement;
      const stored = await em.findOne(
        TreasuryTransfer,
        { venue, movementKind, reference },
        { lockMode: LockMode.PESSIMISTIC_WRITE },
      );
      if (stored?.chain === chain) transfers.set(movement, stored);
      continue;
    }
    const asset = spend?.amounts
      .map(({ contract }) => catalogue.asset(chain, contract))
      .find((one) => one?.coin === movement.coin);
    if (asset) {
      movement.part = 'transfer';
      const { coin, network } = asset;
      const transfer = newTransfer(movement, { coin, network, chain }, now);
      transfers.set(movement, em.create(TreasuryTransfer, transfer, { persist: true }));
    } else if (isPayment || isForeign(chain, to.readAt, movement, spend)) {
      movement.part = movement.state === 'returned' ? 'none' : 'foreign';
    }
  }
  return transfers;
}

/**
 * Divides what a transaction took from the hot wallet among the deposits of the exchange that name
 * it. Each has what arrived there; the first one has the rest, and the fee of the chain.
 */
function allot(
  { adapter: { chain }, catalogue }: Round,
  transfers: ReadonlyMap<VenueMovement, TreasuryTransfer>,
  spend: HotSpend,
): void {
  for (const [coin, its] of Map.groupBy(transfers, ([{ coin }]) => coin)) {
    const asset = assetOf(catalogue, chain, coin);
    const left = spend.amounts.find(({ contract }) => contract === asset?.contract)?.amount ?? 0n;
    let rest = new Big(asset ? fromUnits(left, asset.decimals) : '0');
    for (const [movement, transfer] of its.slice(1)) {
      const amount = new Big(movement.amount).plus(movement.fee);
      transfer.amount = formatDecimal(amount);
      rest = rest.minus(amount);
    }
    const [first] = its;
    if (first && rest.gt(none)) first[1].amount = formatDecimal(rest);
  }
  const [first] = transfers.values();
  const gas = catalogue.gasCoin(chain);
  if (first && gas) first.gas = fromUnits(spend.fee, gas.decimals);
}

/**
 * Books what the exchange has credited of a transfer whose coins have left, and decides its state.
 */
async function credit(
  { em, bookings, now }: Round,
  transfer: TreasuryTransfer,
  movement: VenueMovement,
): Promise<void> {
  const linked = await em.find(Deposit, { transferId: transfer.id });
  const returned = linked
    .filter(({ state }) => state === 'credited')
    .reduce((sum, { amount }) => sum.plus(amount), none);
  if (movement.changedAt > transfer.updatedAt) transfer.updatedAt = now;
  if (new Big(transfer.bookedAmount).gt(none)) {
    const isCredited = movement.state === 'done' || movement.state === 'locked';
    if (isCredited) bookings.push(...bookCredit(transfer, new Big(movement.amount), returned, now));
    else if (movement.state === 'returned') bookings.push(...bookCredit(transfer, none, returned, now));
    bookings.push(...settleTransfer(transfer, movement, false, now));
  }
}

/**
 * Whether no transaction of the hot wallet will be found for a deposit at the exchange. Its chain
 * was read to the head a while after the exchange showed it, and knows none. Strangers can make
 * such deposits, so none is asked about often for long.
 *
 * @param readAt when the chain was read to its head.
 */
function isForeign(chain: string, readAt: Date | null, movement: VenueMovement, spend: HotSpend | null): boolean {
  if (spend !== null) return spend.final;
  const isRead = readAt !== null && readAt.getTime() - movement.seenAt.getTime() >= unseenMs;
  return isRead && chainOfName(movement.network) === chain;
}
