import { type EntityManager, LockMode, type MikroORM } from '@mikro-orm/postgresql';
import { v7 as uuidv7 } from 'uuid';
import type { Clock } from '../../base/clock.ts';
import { sql } from '../../base/db/sql.ts';
import { Big, floorTo, formatDecimal, fromUnits, maxOf } from '../../base/money.ts';
import type { GasCoin } from '../../chains/networks/networks.ts';
import { type ChainAdapter, ChainError, type HotSpend } from '../../chains/port/chain-adapter.ts';
import { type Booking, bookAll } from '../../ledger/ledger.ts';
import type { CurrencyCatalogue } from '../../market/currencies/currency-catalogue.ts';
import { Deposit } from '../rows/deposit.entity.ts';
import { TreasuryTransfer } from '../rows/treasury-transfer.entity.ts';
import { VenueMovement } from '../rows/venue-movement.entity.ts';
import { isConfirmed } from '../rules/credit.ts';
import { creditFunding, fundingWaits, matchFunding } from '../rules/funding.ts';
import type { ScannedTo } from '../rules/settling.ts';
import { type ChainLease, LeaseLost } from '../turns/chain-lease.ts';
import type { ChainTask } from '../turns/chain-task.ts';
import type { OnTreasuryCrashPoint } from './crash-points.ts';
import { chainOfName } from './exchange-networks.ts';
import { type AwaitedTransfer, type Candidate, matchArrivals } from './matching.ts';
import { bookCredit, bookSource, settleTransfer } from './transfer-entries.ts';

export interface TransferTaskOptions {
  readonly orm: MikroORM;
  readonly clock: Clock;
  readonly catalogue: CurrencyCatalogue;
  readonly onCrashPoint: OnTreasuryCrashPoint;
}

/** Rows of a kind that one transaction takes. The next one takes the others. */
const batch = 200;
/** Transactions that a chain is asked about at once. */
const looksAtOnce = 50;
/** Transactions of one run. */
const mostRounds = 50;
/**
 * How long an arrival waits for an exchange that gives no list, or no txid of an open withdrawal.
 */
export const arrivalWaitMs = 1_800_000;
/** How long a deposit at the exchange may wait for its transaction to be found. */
export const unseenMs = 600_000;
/** Time between two questions to a chain about such transactions. */
const lookEveryMs = 15_000;
/**
 * A deposit of the exchange for which no transaction was found is asked about again for some days,
 * in case that a node was wrong.
 */
const againMs = 3_600_000;
const doubtMs = 3 * 86_400_000;
/** How long an ended transfer may still see an arrival. */
const lateMs = 30 * 86_400_000;

const none = new Big('0');

/** SQL: the forms in which a chain may write the txid that an exchange told. */
const txidForms = (txid: string): string =>
  `${txid}, lower(${txid}), '0x' || lower(${txid}), regexp_replace(lower(${txid}), '^0x', '')`;

/** What a transaction took from the hot wallet, and the movement that names it. */
interface Look {
  readonly txid: string;
  readonly spend: HotSpend | null;
  /** It is a payment of the gateway, which is booked as such. */
  readonly isPayment: boolean;
}

/**
 * Matches what an exchange lists with what its chain shows, and books both sides of each transfer
 * once. It runs for the holder of the chain's lease, so that no scan changes the same deposits.
 *
 * - A withdrawal to the hot wallet is matched with its arrival by txid, else by its amount. An
 *   arrival that belongs to none is capital, once a list that was read later does not show it. One
 *   that is found to belong to a withdrawal later is booked over.
 * - A deposit at the exchange that the hot wallet paid, by a transaction that is no payment of the
 *   gateway, is a transfer the other way.
 */
export class TransferTask implements ChainTask {
  readonly everySec = 5;
  readonly #options: TransferTaskOptions;
  /** When each chain was asked last about transactions of the hot wallet. */
  readonly #lookedMs = new Map<string, number>();
  #watched: { readonly atMs: number; readonly is: Promise<boolean> } | null = null;

  constructor(options: TransferTaskOptions) {
    this.#options = options;
  }

  async run(adapter: ChainAdapter, lease: ChainLease): Promise<void> {
    const { orm, onCrashPoint } = this.#options;
    if (!(await this.#isWatched()) || !(await this.#hasWork(orm.em.fork(), adapter.chain))) return;
    const looks = await this.#look(adapter);
    if (looks.length > 0) await onCrashPoint('transfer.looked');
    for (let round = 0; round < mostRounds; round++) {
      const hasMore = await orm.em
        .fork()
        .transactional((em) => this.#round(em, adapter, lease, round === 0 ? looks : []));
      await onCrashPoint('transfer.stored');
      if (!hasMore) return;
    }
  }

  /** Whether an account at an exchange is read, looked up once for all chains. */
  async #isWatched(): Promise<boolean> {
    const { orm, clock } = this.#options;
    const nowMs = clock.now().getTime();
    if (this.#watched === null || Math.abs(nowMs - this.#watched.atMs) >= this.everySec * 1_000) {
      this.#watched = { atMs: nowMs, is: fundingWaits(orm.em.fork()) };
    }
    return this.#watched.is;
  }

  /** One cheap statement for the many runs without anything to do. */
  async #hasWork(em: EntityManager, chain: string): Promise<boolean> {
    const [row] = await sql<{ has_work: boolean }>(
      em,
      `select (
         exists (select from deposit where chain = ? and purpose = 'funding' and state = 'mined')
         or exists (select from treasury_transfer where chain = ? and state not in ('done', 'returned'))
         or exists (select from venue_movement where kind = 'deposit' and part = 'open')
         or exists (select from treasury_transfer t join deposit d on d.chain = t.chain and d.coin = t.coin
                     where t.chain = ? and t.state = 'returned' and t.created_at > ? and t.arrived = 0 and t.booked_amount = 0
                       and d.purpose = 'funding' and d.transfer_id is null and d.seen_at > t.created_at)
       ) as has_work`,
      [chain, chain, chain, new Date(this.#options.clock.now().getTime() - lateMs)],
    );
    return row?.has_work === true;
  }

  /** Asks the chain about the transactions of deposits at the exchange that are not booked yet. */
  async #look(adapter: ChainAdapter): Promise<Look[]> {
    const { orm, clock, catalogue } = this.#options;
    const { chain } = adapter;
    const nowMs = clock.now().getTime();
    if (Math.abs(nowMs - (this.#lookedMs.get(chain) ?? Number.NEGATIVE_INFINITY)) < lookEveryMs) return [];
    this.#lookedMs.set(chain, nowMs);
    const coins = catalogue.assetsOf(chain).map(({ coin }) => coin);
    const rows = await sql<{ txid: string; network: string | null; is_payment: boolean }>(
      orm.em.fork(),
      `select m.txid, min(m.network) as network,
              exists (select from payment_attempt a where a.chain = ? and a.txid in (${txidForms('m.txid')})) as is_payment
         from venue_movement m
         left join treasury_transfer t on t.venue = m.venue and t.movement_kind = m.kind and t.reference = m.reference
        where m.kind = 'deposit' and m.txid is not null and m.coin in (select jsonb_array_elements_text(?::jsonb))
          and (m.part = 'open'
               or m.part = 'foreign' and m.looked_at < ? and m.seen_at > ?
               or m.part = 'transfer' and t.chain = ?
                  and (t.state not in ('done', 'returned') and t.problem is null or m.changed_at > t.updated_at))
        group by m.txid order by min(m.looked_at) nulls first, min(m.at), m.txid limit ${looksAtOnce}`,
      [chain, JSON.stringify(coins), new Date(nowMs - againMs), new Date(nowMs - doubtMs), chain],
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
    await sql(
      orm.em.fork(),
      `with looked as (
         select venue, kind, reference from venue_movement
          where kind = 'deposit' and txid in (select jsonb_array_elements_text(?::jsonb))
          order by kind, reference for update
       )
       update venue_movement m set looked_at = ? from looked l
        where m.venue = l.venue and m.kind = l.kind and m.reference = l.reference`,
      [JSON.stringify(looks.map(({ txid }) => txid)), clock.now()],
    );
    return looks;
  }

  async #round(em: EntityManager, adapter: ChainAdapter, lease: ChainLease, looks: readonly Look[]): Promise<boolean> {
    const { clock } = this.#options;
    const to = await scannedTo(em, lease);
    const now = clock.now();
    const bookings: Booking[] = [];
    // All of them first, in the order in which a reading of the account locks them.
    const named = await em.find(
      VenueMovement,
      { kind: 'deposit', txid: { $in: looks.map(({ txid }) => txid) }, part: { $in: ['open', 'foreign', 'transfer'] } },
      { lockMode: LockMode.PESSIMISTIC_WRITE, orderBy: { kind: 'asc', reference: 'asc' } },
    );
    const byTxid = Map.groupBy(
      named.toSorted((one, other) => one.at.getTime() - other.at.getTime()),
      ({ txid }) => txid,
    );
    for (const look of looks) await this.#takeLook(em, adapter, to, look, byTxid.get(look.txid) ?? [], bookings, now);
    const hasMore = await this.#arrivals(em, adapter, to, bookings, now);
    await em.flush();
    await bookAll(em, bookings);
    return hasMore;
  }

  /**
   * Takes what a transaction took from the hot wallet to the deposits at the exchange that name it.
   */
  async #takeLook(
    em: EntityManager,
    adapter: ChainAdapter,
    to: ScannedTo,
    { spend, isPayment }: Look,
    movements: readonly VenueMovement[],
    bookings: Booking[],
    now: Date,
  ): Promise<void> {
    const { catalogue } = this.#options;
    const { chain } = adapter;
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
      if (asset) transfers.set(movement, this.#created(em, movement, { ...asset, chain }, now));
      else if (isPayment || isForeign(adapter, to, movement, spend)) {
        movement.part = movement.state === 'returned' ? 'none' : 'foreign';
      }
    }
    if (spend === null) {
      // A reorg or the mempool dropped it.
      for (const transfer of transfers.values()) if (transfer.entries === 0) transfer.state = 'asked';
      return;
    }
    const gas = catalogue.gasCoin(chain);
    allot([...transfers.values()], [...transfers.keys()], spend, (coin) => assetOf(catalogue, chain, coin), gas);
    for (const [movement, transfer] of transfers) {
      transfer.state = spend.height === null ? 'asked' : 'sent';
      if (spend.final)
        bookings.push(...bookSource(transfer, { amount: new Big(transfer.amount), fee: none }, gas, now));
      await this.#credit(em, transfer, movement, bookings, now);
    }
  }

  #created(
    em: EntityManager,
    movement: VenueMovement,
    { coin, network, chain }: { readonly coin: string; readonly network: string; readonly chain: string },
    now: Date,
  ): TreasuryTransfer {
    movement.part = 'transfer';
    const transfer = newTransfer(movement, { coin, network, chain }, now);
    return em.create(TreasuryTransfer, transfer, { persist: true });
  }

  /**
   * Books what the exchange has credited of a transfer whose coins have left, and decides its
   * state.
   */
  async #credit(
    em: EntityManager,
    transfer: TreasuryTransfer,
    movement: VenueMovement,
    bookings: Booking[],
    now: Date,
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

  /** Matches and books arrivals at the hot wallet. Returns whether there are more. */
  async #arrivals(
    em: EntityManager,
    { chain }: ChainAdapter,
    to: ScannedTo,
    bookings: Booking[],
    now: Date,
  ): Promise<boolean> {
    const awaited = await this.#awaited(em, chain, now);
    const candidates = await this.#candidates(em, chain, awaited, now);
    for (const { transfer, deposit } of matchArrivals(awaited, candidates, now, await listedAt(em))) {
      deposit.transferId = transfer.id;
      if (deposit.state === 'credited') bookings.push(matchFunding(deposit, transfer, now));
    }
    // Those of transfers first: others may wait for a while, and strangers can make many.
    const matched = await ripeArrivals(em, chain, to, { transferId: { $ne: null } });
    const ripe = [...matched, ...(await ripeArrivals(em, chain, to, { transferId: null }))];
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
  async #awaited(em: EntityManager, chain: string, now: Date): Promise<AwaitedTransfer[]> {
    const { catalogue } = this.#options;
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
  async #candidates(
    em: EntityManager,
    chain: string,
    awaited: readonly AwaitedTransfer[],
    now: Date,
  ): Promise<Candidate[]> {
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
}

/** Arrivals at the hot wallet that have their confirmations and are not credited, locked. */
async function ripeArrivals(
  em: EntityManager,
  chain: string,
  to: ScannedTo,
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

/**
 * Whether no transaction of the hot wallet will be found for a deposit at the exchange. Its chain
 * was read to the head a while after the exchange showed it, and knows none. Strangers can make
 * such deposits, so none is asked about often for long.
 */
function isForeign(
  { chain }: ChainAdapter,
  { readAt }: ScannedTo,
  movement: VenueMovement,
  spend: HotSpend | null,
): boolean {
  if (spend !== null) return spend.final;
  const isRead = readAt !== null && readAt.getTime() - movement.seenAt.getTime() >= unseenMs;
  return isRead && chainOfName(movement.network) === chain;
}

/** A new transfer of a movement, with nothing booked. */
export function newTransfer(
  movement: VenueMovement,
  asset: Pick<TreasuryTransfer, 'coin' | 'network' | 'chain'>,
  now: Date,
): TreasuryTransfer {
  const { venue, kind: movementKind, reference, amount, txid } = movement;
  return {
    id: uuidv7(),
    venue,
    movementKind,
    reference,
    ...asset,
    state: movementKind === 'withdrawal' && txid === null ? 'asked' : 'sent',
    amount,
    gas: '0',
    bookedAmount: '0',
    bookedFee: '0',
    arrived: '0',
    writtenOff: '0',
    acceptedRest: '0',
    entries: 0,
    problem: null,
    createdAt: now,
    updatedAt: now,
  };
}

/** What a transfer still waits for at the hot wallet, as the chain can show it. */
function missingOf(transfer: TreasuryTransfer, movement: VenueMovement, seen: Big, decimals: number): Big {
  if (transfer.movementKind === 'deposit') {
    return movement.state === 'returned' ? maxOf(none, new Big(transfer.bookedAmount).minus(transfer.arrived)) : none;
  }
  const net = floorTo(new Big(movement.amount).minus(movement.fee), decimals);
  return maxOf(none, net.minus(seen));
}

/**
 * Divides what a transaction took from the hot wallet among the deposits of the exchange that name
 * it. Each has what arrived there; the first one has the rest, and the fee of the chain.
 */
function allot(
  transfers: readonly TreasuryTransfer[],
  movements: readonly VenueMovement[],
  spend: HotSpend,
  assetFor: (coin: string) => { readonly contract: string | null; readonly decimals: number } | null,
  gas: GasCoin | null,
): void {
  for (const [coin, its] of Map.groupBy(transfers, (one) => one.coin)) {
    const asset = assetFor(coin);
    const left = spend.amounts.find(({ contract }) => contract === asset?.contract)?.amount ?? 0n;
    let rest = new Big(asset ? fromUnits(left, asset.decimals) : '0');
    for (const transfer of its.slice(1)) {
      const movement = movements[transfers.indexOf(transfer)];
      const amount = new Big(movement?.amount ?? '0').plus(movement?.fee ?? '0');
      transfer.amount = formatDecimal(amount);
      rest = rest.minus(amount);
    }
    const [first] = its;
    if (first && rest.gt(none)) first.amount = formatDecimal(rest);
  }
  const [first] = transfers;
  if (first && gas) first.gas = fromUnits(spend.fee, gas.decimals);
}

function assetOf(catalogue: CurrencyCatalogue, chain: string, coin: string) {
  return catalogue.assetsOf(chain).find((one) => one.coin === coin) ?? null;
}

async function movementOf(em: EntityManager, transfer: TreasuryTransfer): Promise<VenueMovement> {
  const { venue, movementKind: kind, reference } = transfer;
  return em.findOneOrFail(VenueMovement, { venue, kind, reference });
}

async function transferOf(em: EntityManager, id: string): Promise<TreasuryTransfer> {
  return em.findOneOrFail(TreasuryTransfer, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
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

/**
 * Locks the state of a chain and reads how far it was scanned.
 *
 * @throws LeaseLost when another process holds the chain now.
 */
async function scannedTo(em: EntityManager, { chain, fence }: ChainLease): Promise<ScannedTo> {
  const [row] = await sql<{ height: number; final: number | null; read_at: string | null }>(
    em,
    `select height::int as height, final_height::int as final, read_at from chain_state
      where chain = ? and fence = ? for update`,
    [chain, fence],
  );
  if (!row) throw new LeaseLost(`another process holds ${chain}`);
  const { read_at: readAt, ...to } = row;
  return { ...to, isAtHead: false, readAt: readAt === null ? null : new Date(readAt) };
}
