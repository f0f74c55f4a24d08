import type { Big } from '../../base/money.ts';
import type { Deposit } from '../rows/deposit.entity.ts';
import type { TreasuryTransfer } from '../rows/treasury-transfer.entity.ts';
import type { VenueMovement } from '../rows/venue-movement.entity.ts';

/** A transfer, and what it still waits for at the hot wallet; 0 for nothing. */
export interface AwaitedTransfer {
  readonly transfer: TreasuryTransfer;
  readonly movement: VenueMovement;
  readonly missing: Big;
}

/** An arrival that belongs to no transfer. */
export type Candidate = Deposit;

interface Match {
  readonly transfer: TreasuryTransfer;
  readonly deposit: Deposit;
}

/** An ended transfer takes an arrival by its amount for this long. */
const afterEndMs = 86_400_000;

/**
 * Matches arrivals with transfers, each at most once: first by transaction and amount, then by
 * transaction where less arrived, then by amount. A transfer with coins in transit comes before one
 * without. Where only amounts decide, a transfer without a txid comes before one with another txid.
 * One that has ended comes last: it takes what no later list explains.
 *
 * @param listedAt when the reading of the newest list began; null without one.
 */
export function matchArrivals(
  awaited: readonly AwaitedTransfer[],
  candidates: readonly Candidate[],
  now: Date,
  listedAt: Date | null,
): Match[] {
  const missing = awaited.filter((one) => one.missing.gt('0'));
  const open = new Set([...missing.filter((one) => !isSettled(one)), ...missing.filter(isSettled)]);
  const left = new Set(candidates);
  const matches: Match[] = [];
  const pair = (fits: (one: AwaitedTransfer, deposit: Candidate) => boolean): void => {
    for (const one of open) {
      const deposit = [...left].find((candidate) => isOfAsset(one, candidate) && fits(one, candidate));
      if (!deposit) continue;
      open.delete(one);
      left.delete(deposit);
      matches.push({ transfer: one.transfer, deposit });
    }
  };
  pair((one, deposit) => isOfTx(one, deposit) && one.missing.eq(deposit.amount));
  pair((one, deposit) => isOfTx(one, deposit) && one.missing.gt(deposit.amount));
  const hasAmount = (one: AwaitedTransfer, deposit: Candidate): boolean =>
    one.transfer.movementKind === 'deposit' ? one.missing.gte(deposit.amount) : one.missing.eq(deposit.amount);
  pair((one, deposit) => !hasEnded(one) && one.movement.txid === null && hasAmount(one, deposit));
  pair((one, deposit) => !hasEnded(one) && hasAmount(one, deposit));
  pair((one, deposit) => {
    const sinceMs = now.getTime() - one.movement.changedAt.getTime();
    const isListed = listedAt !== null && listedAt > (deposit.minedAt ?? deposit.seenAt);
    const mayArrive = hasEnded(one) && one.movement.txid === null && sinceMs < afterEndMs;
    return mayArrive && isListed && hasAmount(one, deposit);
  });
  return matches;
}

/** Nothing of it is in transit: it was given back, or members called the rest a cost. */
function isSettled({ transfer: { state } }: AwaitedTransfer): boolean {
  return state === 'returned' || state === 'done';
}

/** A returned withdrawal has ended. A returned deposit is on its way back. */
function hasEnded({ transfer, movement }: AwaitedTransfer): boolean {
  return movement.state === 'returned' && transfer.movementKind === 'withdrawal';
}

function isOfAsset({ transfer }: AwaitedTransfer, { coin, network }: Candidate): boolean {
  return coin === transfer.coin && network === transfer.network;
}

/** Exchanges write a txid in either case, and with or without '0x'. */
function isOfTx({ movement }: AwaitedTransfer, { txid }: Candidate): boolean {
  return movement.txid !== null && plain(movement.txid) === plain(txid);
}

function plain(txid: string): string {
  return txid.toLowerCase().replace(/^0x/, '');
}
