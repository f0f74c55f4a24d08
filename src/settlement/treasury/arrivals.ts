import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { sql } from '../../base/db/sql.ts';
import { Big, floorTo, formatDecimal, maxOf } from '../../base/money.ts';
import { Deposit } from '../rows/deposit.entity.ts';
import { TreasuryTransfer } from '../rows/treasury-transfer.entity.ts';
import type { VenueMovement } from '../rows/venue-movement.entity.ts';
import { isConfirmed } from '../rules/credit.ts';
import { creditFunding, matchFunding } from '../rules/funding.ts';
import { type AwaitedTransfer, type Candidate, matchArrivals } from './matching.ts';
import { settleTransfer } from './transfer-entries.ts';
import { assetOf, lateMs, movementOf, type Round, txidForms, unseenMs } from './transfers.ts';

/** Rows of a kind that one transaction takes. The next one takes the others. */
const batch = 200;
/**
 * How long an arrival waits for an exchange that gives no list, or no txid of an open withdrawal.
 */
const arrivalWaitMs = 1_800_000;

const none = new Big('0');

/** Matches and books arrivals at the hot wallet. Returns whether there are more. */
export async function bookArrivals(round: Round): Promise<boolean> {
  const { em, now, bookings } = round;
  const awaited = await awaitedTransfers(round);
  const candidates = await candidatesFor(round, awaited);
  for (const { transfer, deposit } of matchArrivals(awaited, candidates, now, await listedAt(em))) {
    deposit.transferId = transfer.id;
    if (deposit.state === 'credited') bookings.push(matchFunding(deposit, transfer, now));
  }
  // Those of transfers first: others may wait for a while, and strangers can make many.
  const matched = await ripeArrivals(round, { transferId: { $ne: null } });
  const ripe = [...matched, ...(await ripeArrivals(round, { transferId: null }))];
  const open = new Map(awaited.map((one) => [one.transfer.id, one]));
  let credited = 0;
  for (const deposit of ripe) {
    const transfer = deposit.transferId === null ? null : await transferOf(em, deposit.transferId);
    if (transfer === null && !(await isCapital(em, deposit, now))) continue;
    bookings.push(creditFunding(deposit, transfer, now));
    if (transfer && !open.has(transfer.id))
      open.set(transfer.id, { transfer, movement: await movementOf(em, transfer), missing: none });
    credited++;
  }
  // The matches of this run count.
  await em.flush();
  for (const { transfer, movement } of open.values()) {
    const isSeen = (await em.count(Deposit, { transferId: transfer.id, state: 'mined' })) > 0;
    bookings.push(...settleTransfer(transfer, movement, isSeen, now));
  }
  return credited >= batch;
}

/** The transfers to the hot wallet that miss an arrival, oldest first. */
async function awaitedTransfers({ em, adapter, catalogue, now }: Round): Promise<AwaitedTransfer[]> {
  const { chain } = adapter;
  const transfers = await em.find(
    TreasuryTransfer,
    {
      chain,
      $or: [
        { state: { $nin: ['done', 'returned'] } },
        { state: 'returned', createdAt: { $gt: new Date(now.getTime() - lateMs) } },
      ],
    },
    { lockMode: LockMode.PESSIMISTIC_WRITE, orderBy: { createdAt: 'asc', id: 'asc' }, limit: batch },
  );
  const awaited: AwaitedTransfer[] = [];
  for (const transfer of transfers) {
    const movement = await movementOf(em, transfer);
    const linked = await em.find(Deposit, { transferId: transfer.id, state: { $in: ['mined', 'credited'] } });
    const seen = linked.reduce((sum, { amount }) => sum.plus(amount), none);
    const asset = assetOf(catalogue, chain, transfer.coin);
    awaited.push({ transfer, movement, missing: missingOf(transfer, movement, seen, asset?.decimals ?? 18) });
  }
  return awaited;
}

/**
 * Arrivals that may belong to these transfers: those of their transactions, and of their amounts.
 */
async function candidatesFor({ em, adapter, now }: Round, awaited: readonly AwaitedTransfer[]): Promise<Candidate[]> {
  const { chain } = adapter;
  const missing = awaited.filter((one) => one.missing.gt(none));
  if (missing.length === 0) return [];
  const rows = await sql<{ id: string }>(
    em,
    `with wanted as (
       select * from jsonb_to_recordset(?::jsonb)
                as w (coin text, network text, txid text, most numeric, least numeric, since timestamptz)
     )
     select d.id from wanted w cross join lateral (
       (select id from deposit where chain = ? and purpose = 'funding' and transfer_id is null
           and state in ('mined', 'credited') and txid in (${txidForms('w.txid')})
         order by id limit ${batch})
       union
       (select id from deposit where chain = ? and coin = w.coin and network = w.network and amount between w.least and w.most
           and purpose = 'funding' and transfer_id is null and state in ('mined', 'credited') and seen_at >= w.since
         order by id limit ${batch})
     ) as d`,
    [
      JSON.stringify(
        missing.map(({ transfer, movement, missing: most }) => ({
          coin: transfer.coin,
          network: transfer.network,
          txid: movement.txid,
          most: formatDecimal(most),
          // An exchange that refuses a deposit sends it back, less a fee.
          least: formatDecimal(transfer.movementKind === 'deposit' ? most.times('0.9') : most),
          since: new Date(Math.max(movement.at.getTime() - unseenMs, now.getTime() - lateMs)),
        })),
      ),
      chain,
      chain,
    ],
  );
  if (rows.length === 0) return [];
  return em.find(
    Deposit,
    { id: { $in: rows.map(({ id }) => id) } },
    { lockMode: LockMode.PESSIMISTIC_WRITE, orderBy: { seenAt: 'asc', id: 'asc' } },
  );
}

/**
 * Whether a confirmed arrival that belongs to no transfer is capital: a list that was read after it
 * was mined does not show it. It waits longer while a withdrawal of its coin has no txid, and not
 * for ever when the exchange gives no list.
 */
async function isCapital(em: EntityManager, { coin, minedAt, seenAt }: Deposit, now: Date): Promise<boolean> {
  const since = minedAt ?? seenAt;
  if (now.getTime() - since.getTime() >= arrivalWaitMs) return true;
  const [row] = await sql<{ is_listed: boolean }>(
    em,
    `select not exists (select from venue_account where is_watched and (listed_at is null or listed_at <= ?))
        and not exists (select from venue_movement
                         where kind = 'withdrawal' and coin = ? and txid is null and state in ('pending', 'unknown')
                           and part in ('open', 'transfer')
                           and venue in (select venue from venue_account where is_watched)) as is_listed`,
    [since, coin],
  );
  return row?.is_listed === true;
}

/** When the reading of the newest list of the watched account began; null before one. */
async function listedAt(em: EntityManager): Promise<Date | null> {
  const [row] = await sql<{ at: string | null }>(em, 'select min(listed_at) as at from venue_account where is_watched');
  return row?.at ? new Date(row.at) : null;
}

/** Arrivals at the hot wallet that have their confirmations and are not credited, locked. */
async function ripeArrivals(
  { em, adapter: { chain }, to }: Round,
  which: { readonly transferId: null | { readonly $ne: null } },
): Promise<Deposit[]> {
  const height = { $lte: Math.min(to.height, to.final ?? to.height) };
  const mined = await em.find(
    Deposit,
    { chain, purpose: 'funding', state: 'mined', height, ...which },
    { lockMode: LockMode.PESSIMISTIC_WRITE, orderBy: { height: 'asc', id: 'asc' }, limit: batch },
  );
  return mined.filter((deposit) => isConfirmed(deposit, to));
}

/** What a transfer still waits for at the hot wallet, as the chain can show it. */
function missingOf(transfer: TreasuryTransfer, movement: VenueMovement, seen: Big, decimals: number): Big {
  if (transfer.movementKind === 'deposit') {
    return movement.state === 'returned' ? maxOf(none, new Big(transfer.bookedAmount).minus(transfer.arrived)) : none;
  }
  const net = floorTo(new Big(movement.amount).minus(movement.fee), decimals);
  return maxOf(none, net.minus(seen));
}

async function transferOf(em: EntityManager, id: string): Promise<TreasuryTransfer> {
  return em.findOneOrFail(TreasuryTransfer, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
}
