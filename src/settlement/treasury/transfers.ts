import type { EntityManager } from '@mikro-orm/postgresql';
import { v7 as uuidv7 } from 'uuid';
import type { ChainAdapter } from '../../chains/port/chain-adapter.ts';
import type { Booking } from '../../ledger/ledger.ts';
import type { CurrencyCatalogue } from '../../market/currencies/currency-catalogue.ts';
import type { TreasuryTransfer } from '../rows/treasury-transfer.entity.ts';
import { VenueMovement } from '../rows/venue-movement.entity.ts';
import type { ScannedTo } from '../rules/settling.ts';

/** One transaction that matches and books transfers of a chain. */
export interface Round {
  readonly em: EntityManager;
  readonly adapter: ChainAdapter;
  readonly catalogue: CurrencyCatalogue;
  /** How far the chain was scanned. */
  readonly to: ScannedTo;
  readonly now: Date;
  /** Entries to book at the end of the transaction. */
  readonly bookings: Booking[];
}

/** How long a deposit at the exchange may wait for its transaction to be found. */
export const unseenMs = 600_000;
/** How long a deposit is asked about again for which no transaction was found. */
export const doubtMs = 3 * 86_400_000;
/** How long an ended transfer may still see an arrival. */
export const lateMs = 30 * 86_400_000;

/** SQL: the forms in which a chain may write the txid that an exchange told. */
export const txidForms = (txid: string): string =>
  `${txid}, lower(${txid}), '0x' || lower(${txid}), regexp_replace(lower(${txid}), '^0x', '')`;

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

export function assetOf(catalogue: CurrencyCatalogue, chain: string, coin: string) {
  return catalogue.assetsOf(chain).find((one) => one.coin === coin) ?? null;
}

export async function movementOf(em: EntityManager, transfer: TreasuryTransfer): Promise<VenueMovement> {
  const { venue, movementKind: kind, reference } = transfer;
  return em.findOneOrFail(VenueMovement, { venue, kind, reference });
}
