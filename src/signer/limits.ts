import { join } from 'node:path';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { SignerError } from '../chains/signer.ts';
import type { Clock } from '../clock.ts';
import { type DataDirLock, takeDataDirLock } from '../db/data-dir-lock.ts';
import { type Spending, SpendingBook, type SpendingDay } from './spending.ts';

/** In the asset's smallest unit. */
export interface AssetLimits {
  readonly perPayment: bigint;
  /** Of a day in UTC. */
  readonly perDay: bigint;
}

/** What may leave the wallets of one chain. Fees are in the smallest unit of the chain's own coin. */
export interface ChainLimits {
  /** Of one transaction, a payment's or a sweep's. */
  readonly maxFee: bigint;
  /** Of a day in UTC, of payments and sweeps together: many fees that are small enough are a lot as well. */
  readonly feesPerDay: bigint;
  /** By contract, exactly as payments name it; the empty text is the chain's own coin. Others are not paid. */
  readonly assets: ReadonlyMap<string, AssetLimits>;
}

/** By chain. */
export type SigningLimits = ReadonlyMap<string, ChainLimits>;

/** What a signer tells of its limits, so that others can compare theirs. */
export interface TellsLimits {
  /** As `limitsDigest` of the limits that a live chain has; null where it is not signed for. */
  limitsDigest(chain: string): Promise<string | null>;
}

/** Names limits in 16 hex digits: equal limits have equal ones. */
export function limitsDigest({ maxFee, feesPerDay, assets }: ChainLimits): string {
  const rows = [...assets].map(([asset, { perPayment, perDay }]) => [asset, `${perPayment}`, `${perDay}`]);
  rows.sort(([a = ''], [b = '']) => (a < b ? -1 : 1));
  return bytesToHex(sha256(utf8ToBytes(JSON.stringify([`${maxFee}`, `${feesPerDay}`, rows])))).slice(0, 16);
}

/** What somebody wants to have signed. */
export interface LimitedSpending extends Spending {
  /** Of the whole transaction, where `fee` is only what it adds to one that was signed before. */
  readonly wholeFee: bigint;
  /** What the payment says, where `amount` is 0 for one that was counted before. Null for a sweep. */
  readonly payment: bigint | null;
}

export interface SignerLimitsOptions {
  /** Where the spending of each day is kept. */
  readonly dir: string;
  readonly limits: SigningLimits;
  readonly clock: Clock;
}

/**
 * Holds what is signed to limits, and remembers it, so that a restart forgets nothing. Two processes that each counted
 * their own would let out twice as much, so the directory belongs to one at a time.
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
    // The book makes the directory that the lock lies in.
    new SpendingBook(options.dir);
    const lock = await takeDataDirLock(
      join(options.dir, 'lock'),
      `another process signs for live chains with ${options.dir}; let one process sign (npm run signer) and give the others SIGNER_SOCKET`,
    );
    return new SignerLimits(options, lock);
  }

  /**
   * Counts a spending of today, for good. The same key is counted once.
   *
   * @throws SignerError `refused` when a limit does not allow it, and names the limit.
   */
  async claim(spending: LimitedSpending): Promise<void> {
    // One after the other, as two at once would each find room for itself.
    const turn = this.#last.then(() => this.#claim(spending));
    this.#last = turn.catch(() => {});
    return turn;
  }

  /** The limits of a chain; undefined where it has none. */
  of(chain: string): ChainLimits | undefined {
    return this.#limits.get(chain);
  }

  async close(): Promise<void> {
    await this.#last;
    await this.#lock.release();
  }

  async #claim(spending: LimitedSpending): Promise<void> {
    const { chain, asset, payment, wholeFee, key, amount, fee } = spending;
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
    // What was counted before, such as a replacement at a higher fee, goes out whatever the day has seen since.
    if (amount > 0n && own && spentOf(day, chain, asset, own) + amount > own.perDay) {
      throw refused(`the limit of the day (per_day) of ${what} is reached until 00:00 UTC`);
    }
    if (fee > 0n && day.fees(chain) + BigInt(day.damaged) * limits.maxFee + fee > limits.feesPerDay) {
      throw refused(`the limit of the day for fees (fees_per_day) of ${chain} is reached until 00:00 UTC`);
    }
    await this.#book.add(date, { key, chain, asset, amount, fee });
  }
}

/** A line that a crash damaged may have been a payment of any asset, as large as may be. */
function spentOf(day: SpendingDay, chain: string, asset: string, { perPayment }: AssetLimits): bigint {
  return day.amount(chain, asset) + BigInt(day.damaged) * perPayment;
}

function refused(why: string): SignerError {
  return new SignerError('refused', why);
}
