import { Big } from '../base/money.ts';

// What a deposit is to its order. Settlement acts by these rules and the details show them.

/** `uncertain`: the bounds of its time allow both. */
export type Timeliness = 'in_time' | 'late' | 'uncertain';

/** What an order agreed on with its user. */
interface AgreedDeposit {
  readonly coinFrom: string;
  readonly networkFrom: string;
  /** Plain decimal text. */
  readonly minAmount: string;
  readonly expiresAt: Date;
}

/** The coin and the amount of a deposit, in plain decimal text. */
interface DepositSum {
  readonly coin: string;
  readonly network: string;
  readonly amount: string;
}

/** When a deposit came. `arrivedAfter` and `minedAfter` are null without a lower bound. */
interface DepositTimes {
  readonly state: string;
  readonly arrivedAfter: Date | null;
  readonly minedAfter: Date | null;
}

/** What else decides whether a deposit is late. */
interface LateRules {
  /** How long after the window a deposit that came in time may still be mined. */
  readonly graceSec: number;
  /**
   * When the deposit's chain was last read to its head. A transaction in the mempool at that time
   * is mined later.
   */
  readonly readAt: Date | null;
}

/**
 * Whether a deposit surely came after its order's window. One that came in time still counts as
 * late when it is mined after the window's grace.
 */
function isLate(
  { expiresAt }: Pick<AgreedDeposit, 'expiresAt'>,
  { state, arrivedAfter, minedAfter }: DepositTimes,
  { graceSec, readAt }: LateRules,
): boolean {
  const graceEndsMs = expiresAt.getTime() + graceSec * 1_000;
  const minedMs = (state === 'mempool' ? readAt : minedAfter)?.getTime() ?? 0;
  return minedMs > graceEndsMs || (arrivedAfter !== null && arrivedAfter > expiresAt);
}

/** Decides whether a deposit came within its order's window, as far as its times tell. */
export function timelinessOf(
  order: Pick<AgreedDeposit, 'expiresAt'>,
  deposit: DepositTimes & { readonly arrivedBy: Date },
  rules: LateRules,
): Timeliness {
  if (isLate(order, deposit, rules)) return 'late';
  return deposit.arrivedBy > order.expiresAt ? 'uncertain' : 'in_time';
}

/** Whether a deposit is in the order's coin, on its network. */
export function isOrderCurrency(
  { coinFrom, networkFrom }: Pick<AgreedDeposit, 'coinFrom' | 'networkFrom'>,
  { coin, network }: Pick<DepositSum, 'coin' | 'network'>,
): boolean {
  return coin === coinFrom && network === networkFrom;
}

/** Whether a deposit is below the order's minimum. Any stranger can send one to any address. */
export function isBelowMinimum(
  { minAmount }: Pick<AgreedDeposit, 'minAmount'>,
  { amount }: Pick<DepositSum, 'amount'>,
): boolean {
  return new Big(amount).lt(minAmount);
}

export type DepositRole = 'main' | 'second' | 'small' | 'late' | 'wrong_asset';

/** What partners are shown as the role of a deposit. All deposits of a cancelled order are late. */
export function depositRole(
  order: AgreedDeposit & { readonly wasCancelled: boolean },
  deposit: DepositSum & DepositTimes & { readonly isMain: boolean },
  rules: LateRules,
): DepositRole {
  if (!isOrderCurrency(order, deposit)) return 'wrong_asset';
  if (order.wasCancelled || isLate(order, deposit, rules)) return 'late';
  if (deposit.isMain) return 'main';
  return isBelowMinimum(order, deposit) ? 'small' : 'second';
}
