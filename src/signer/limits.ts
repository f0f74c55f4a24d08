import { join } from 'node:path';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import type { Clock } from '../base/clock.ts';
import { type DataDirLock, takeDataDirLock } from '../base/db/embedded/data-dir-lock.ts';
import { commissionPart } from '../chains/networks/network-config.ts';
import { SignerError } from '../chains/port/signer.ts';
import type { MovingLimits } from '../chains/port/transaction-signer.ts';
import { type Spending, SpendingBook, type SpendingDay } from './spending.ts';

/** Limits of one asset, in its smallest unit. */
interface AssetLimits {
  readonly perPayment: bigint;
  /** Limit of a day in UTC. */
  readonly perDay: bigint;
  /** Limit of commission in a day in UTC, which counts in `perDay` as well. 0 for none. */
  readonly commissionPerDay: bigint;
}

/**
 * Limits on what leaves the wallets of one chain. Fees are in the smallest unit of the chain's own
 * coin.
 */
export interface ChainLimits {
  /** Limit of one transaction of a payment or a sweep. */
  readonly maxFee: bigint;
  /** Limit of a day in UTC, for payments and sweeps together, because many small fees add up. */
  readonly feesPerDay: bigint;
  /**
   * By contract, exactly as payments name it; the empty text is the chain's own coin. Other assets
   * are not paid.
   */
  readonly assets: ReadonlyMap<string, AssetLimits>;
}

/** By chain. */
export type SigningLimits = ReadonlyMap<string, ChainLimits>;

/** Tells a digest of a signer's limits, so that gateways can compare it with theirs. */
export interface TellsLimits {
  /** The `limitsDigest` of a live chain's limits; null for a chain that is not signed for. */
  limitsDigest(chain: string): Promise<string | null>;
}

/** A digest of limits in 16 hex digits; equal limits have equal digests. */
export function limitsDigest({ maxFee, feesPerDay, assets }: ChainLimits): string {
  const rows = [...assets].map(([asset, { perPayment, perDay, commissionPerDay }]) => [
    ...[asset, `${perPayment}`, `${perDay}`],
    // The usual part is left out, so that the digest is that of versions without it.
    ...(commissionPerDay === perDay / commissionPart ? [] : [`${commissionPerDay}`]),
  ]);
  rows.sort(([a = ''], [b = '']) => (a < b ? -1 : 1));
  return bytesToHex(sha256(utf8ToBytes(JSON.stringify([`${maxFee}`, `${feesPerDay}`, rows])))).slice(0, 16);
}

/** The spending of a requested signature. */
interface LimitedSpending extends Spending {
  /** Fee of the whole transaction; `fee` is only what it adds to a transaction signed before. */
  readonly wholeFee: bigint;
  /**
   * The amount of the payment; `amount` is 0 for a payment that was counted before. Null for a
   * sweep and for a set-up.
   */
  readonly payment: bigint | null;
  /** Whether the payment is commission, which has a limit of the day as a part of all payments. */
  readonly isCommission: boolean;
  /** Set-ups have separate limits, so that they never stop payments. Null for other kinds. */
  readonly setup: SetupSpending | null;
}

/** What a set-up brings to further accounts of the wallet, and what all of a day may bring. */
interface SetupSpending {
  readonly moved: bigint;
  readonly limits: MovingLimits;
}

/** The fees of set-ups of a day, in transactions at the highest fee. */
const setupsOfDay = 20n;
/** Part of the name under which the fees and the amounts of a chain's set-ups are counted. */
const setups = 'set-ups';
/** Part of the name under which the commission of a chain is counted once more. */
const commission = 'commission';

interface SignerLimitsOptions {
  /** The folder of the daily spending files. */
  readonly dir: string;
  readonly limits: SigningLimits;
  readonly clock: Clock;
}

/**
 * Checks signatures against limits and counts them durably, so that a restart forgets nothing. Two
 * processes with separate counts would let out twice as much, so the directory belongs to one
 * process at a time.
 */
export class SignerLimits {
  readonly #book: SpendingBook;
  readonly #limits: SigningLimits;
  readonly #clock: Clock;
  readonly #lock: DataDirLock;
  #last: Promise<unknown> = Promise.resolve();

  private constructor({ dir, limits, clock }: SignerLimitsOptions, lock: DataDirLock) {
    this.#book = new SpendingBook(dir);
    this.#limits = limits;
    this.#clock = clock;
    this.#lock = lock;
  }

  /** @throws Error while another process signs with the same directory. */
  static async open(options: SignerLimitsOptions): Promise<SignerLimits> {
    // The book creates the directory in which the lock lies.
    new SpendingBook(options.dir);
    const lock = await takeDataDirLock(
      join(options.dir, 'lock'),
      `another process signs for live chains with ${options.dir}; let one process sign (npm run signer) and give the others SIGNER_SOCKET`,
    );
    return new SignerLimits(options, lock);
  }

  /**
   * Counts a spending of today durably. The same key is counted once.
   *
   * @throws SignerError `refused` when a limit does not allow it, and names the limit.
   */
  async claim(spending: LimitedSpending): Promise<void> {
    // One after another, because two claims at once would each find room for themselves.
    const turn = this.#last.then(() => this.#claim(spending));
    this.#last = turn.catch(() => {});
    return turn;
  }

  /** The limits of a chain; undefined when it has none. */
  of(chain: string): ChainLimits | undefined {
    return this.#limits.get(chain);
  }

  async close(): Promise<void> {
    await this.#last;
    await this.#lock.release();
  }

  async #claim(spending: LimitedSpending): Promise<void> {
    const { chain, asset, payment, wholeFee, key, amount, fee, setup, isCommission } = spending;
    const limits = this.#limits.get(chain);
    if (!limits) throw refused(`${chain} has no limits: name them in the file of networks and restart the signer`);
    const what = asset === '' ? `the own coin of ${chain}` : `token ${asset} of ${chain}`;
    const own = limits.assets.get(asset);
    if (payment !== null && !own) {
      throw refused(`${what} has no limits: name its coin under limits of ${chain} in the file of networks`);
    }
    if (payment !== null && own && payment > own.perPayment) {
      throw refused(`the payment is above the limit of one payment (per_payment) of ${what}`);
    }
    if (wholeFee > limits.maxFee) throw refused(`the fee is above the limit of one fee (max_fee) of ${chain}`);

    const date = this.#clock.now().toISOString().slice(0, 10);
    const day = await this.#book.day(date);
    if (day.has(key)) return;
    // A payment that was counted before, such as a replacement at a higher fee, is not checked
    // against the day again.
    if (amount > 0n && own && spentOf(day, chain, asset, own) + amount > own.perDay) {
      throw refused(`the limit of the day (per_day) of ${what} is reached until 00:00 UTC`);
    }
    if (isCommission && amount > 0n && own) refuseCommission(spending, own, day, what);
    const bucket = setup === null ? chain : `${chain} ${setups}`;
    if (setup !== null) refuseMoving(setup, day, bucket, chain);
    const most = setup === null ? limits.feesPerDay : limits.maxFee * setupsOfDay;
    if (fee > 0n && day.fees(bucket) + BigInt(day.damaged) * limits.maxFee + fee > most) {
      const what = setup !== null ? `${setupsOfDay} times max_fee, for set-ups of the wallet` : 'fees_per_day';
      throw refused(`the limit of the day for fees (${what}) of ${chain} is reached until 00:00 UTC`);
    }
    const counted = { key, chain: bucket, asset, amount: setup?.moved ?? amount, fee };
    await this.#book.add(date, isCommission ? { ...counted, also: commissionOf(chain) } : counted);
  }
}

/** The name under which the commission of a chain is counted once more. */
function commissionOf(chain: string): string {
  return `${chain} ${commission}`;
}

/** Commission has a part of the day, so that what is called commission cannot use up all of it. */
function refuseCommission(
  { chain, asset, amount }: LimitedSpending,
  { perPayment, commissionPerDay }: AssetLimits,
  day: SpendingDay,
  what: string,
): void {
  if (commissionPerDay === 0n) throw refused(`no commission of ${what} is signed (commission_per_day is 0)`);
  // A damaged line may have been commission, of at most what commission may send.
  const largest = perPayment < commissionPerDay ? perPayment : commissionPerDay;
  if (spentOf(day, commissionOf(chain), asset, { perPayment: largest }) + amount <= commissionPerDay) return;
  throw refused(`the limit of the day of commission (commission_per_day) of ${what} leaves no room until 00:00 UTC`);
}

/** The coins stay ours. But many set-ups would leave a wallet that pays no one. */
function refuseMoving({ moved, limits }: SetupSpending, day: SpendingDay, bucket: string, chain: string): void {
  if (moved === 0n || spentOf(day, bucket, '', { perPayment: limits.once }) + moved <= limits.perDay) return;
  throw refused(`what set-ups of ${chain} may move to further accounts of the wallet is reached until 00:00 UTC`);
}

/**
 * The spending of a day. A damaged line may have been a payment of any asset, so each counts as the
 * largest one.
 */
function spentOf(
  day: SpendingDay,
  chain: string,
  asset: string,
  { perPayment }: Pick<AssetLimits, 'perPayment'>,
): bigint {
  return day.amount(chain, asset) + BigInt(day.damaged) * perPayment;
}

function refused(why: string): SignerError {
  return new SignerError('refused', why);
}
