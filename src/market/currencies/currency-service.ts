import { type EntityManager, LockMode, type MikroORM } from '@mikro-orm/postgresql';
import { v7 as uuidv7 } from 'uuid';
import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { formatDecimal, fractionDigits, isStorable, parseDecimal } from '../../base/money.ts';
import { Currency } from './currency.entity.ts';
import { currencySeed } from './seed.ts';

/**
 * What may be changed of a currency. An absent member stays as it is. Amounts are decimal strings
 * in the coin's units.
 */
export interface CurrencyChanges {
  readonly isActive?: boolean;
  readonly isDepositEnabled?: boolean;
  readonly isWithdrawEnabled?: boolean;
  readonly minAmount?: string;
  readonly maxAmount?: string;
  readonly networkFee?: string;
  readonly minConfirmations?: number;
}

/** The limits of networks on one payment. */
interface PaymentLimits {
  /**
   * The largest amount that the signer signs for one payment, as decimal text in the coin's units;
   * null without a limit.
   */
  paymentLimit(coin: string, network: string): string | null;
}

const noLimits: PaymentLimits = { paymentLimit: () => null };

/** The catalogue of currencies, as staff change it. */
export class CurrencyService {
  readonly #orm: MikroORM;
  readonly #clock: Clock;
  readonly #limits: PaymentLimits;

  constructor(orm: MikroORM, clock: Clock, limits: PaymentLimits = noLimits) {
    this.#orm = orm;
    this.#clock = clock;
    this.#limits = limits;
  }

  /**
   * Adds the missing currencies of the seed and leaves existing ones as they are. Returns how many
   * were added.
   */
  async seed(em: EntityManager = this.#orm.em.fork()): Promise<number> {
    const now = this.#clock.now();
    const known = new Set((await em.find(Currency, {})).map((row) => `${row.coin}/${row.network}`));
    const missing = currencySeed.filter((row) => !known.has(`${row.coin}/${row.network}`));
    const rows = missing.map((row) => ({
      ...row,
      id: uuidv7(),
      isActive: true,
      isDepositEnabled: true,
      isWithdrawEnabled: true,
      createdAt: now,
      updatedAt: now,
    }));
    if (rows.length > 0)
      await em.upsertMany(Currency, rows, { onConflictFields: ['coin', 'network'], onConflictAction: 'ignore' });
    return rows.length;
  }

  async list(em: EntityManager = this.#orm.em.fork()): Promise<Currency[]> {
    return em.find(Currency, {}, { orderBy: { coin: 'asc', network: 'asc' } });
  }

  /** Loads all currencies and locks their rows until the caller's transaction ends. */
  async lockAll(em: EntityManager): Promise<Currency[]> {
    const options = { orderBy: { coin: 'asc', network: 'asc' }, lockMode: LockMode.PESSIMISTIC_WRITE } as const;
    return em.find(Currency, {}, options);
  }

  /**
   * Changes a currency in the caller's transaction.
   *
   * @throws AppError currency_not_found, invalid_value
   */
  async change(
    coin: string,
    network: string,
    changes: CurrencyChanges,
    em: EntityManager = this.#orm.em.fork(),
  ): Promise<Currency> {
    return em.transactional(async (tx) => {
      const row = await tx.findOne(Currency, { coin, network });
      if (!row) throw new AppError('currency_not_found', `there is no currency ${coin} on ${network}`);
      if (changes.isActive !== undefined) row.isActive = changes.isActive;
      if (changes.isDepositEnabled !== undefined) row.isDepositEnabled = changes.isDepositEnabled;
      if (changes.isWithdrawEnabled !== undefined) row.isWithdrawEnabled = changes.isWithdrawEnabled;
      if (changes.minAmount !== undefined) row.minAmount = checkedAmount(changes.minAmount, row, false);
      if (changes.maxAmount !== undefined) row.maxAmount = checkedAmount(changes.maxAmount, row, false);
      if (changes.networkFee !== undefined) row.networkFee = checkedAmount(changes.networkFee, row, true);
      if (changes.minConfirmations !== undefined) {
        if (
          !Number.isInteger(changes.minConfirmations) ||
          changes.minConfirmations < 1 ||
          changes.minConfirmations > 100_000
        ) {
          throw new AppError('invalid_value', 'confirmations are a whole number from 1 to 100000');
        }
        row.minConfirmations = changes.minConfirmations;
      }
      if (changes.maxAmount !== undefined) this.#refuseUnpayable(row);
      const min = parseDecimal(formatDecimal(row.minAmount));
      if (!min || min.gt(formatDecimal(row.maxAmount))) {
        throw new AppError('invalid_value', `the minimum of ${coin} on ${network} would be above its maximum`);
      }
      row.updatedAt = this.#clock.now();
      return row;
    });
  }

  /** Refuses a maximum above what the signer signs, because such an order could not be paid out. */
  #refuseUnpayable({ coin, network, maxAmount }: Currency): void {
    const limit = this.#limits.paymentLimit(coin, network);
    if (limit === null || !parseDecimal(formatDecimal(maxAmount))?.gt(limit)) return;
    throw new AppError(
      'invalid_value',
      `a maximum of ${formatDecimal(maxAmount)} ${coin} on ${network} is above what the signer signs for one payment, ${limit} (limits.${coin}.per_payment of NETWORKS_FILE); set it to ${limit} or less, or raise that limit first`,
    );
  }
}

function checkedAmount(text: string, { coin, decimals }: Currency, zeroAllowed: boolean): string {
  const amount = parseDecimal(text);
  if (
    !amount ||
    amount.lt('0') ||
    (!zeroAllowed && amount.eq('0')) ||
    fractionDigits(amount) > decimals ||
    !isStorable(amount)
  ) {
    throw new AppError('invalid_value', `'${text}' is not an amount of ${coin} with at most ${decimals} decimals`);
  }
  return formatDecimal(amount);
}
