import type { Promised, Reservation } from '../../../src/chains/port/chain-adapter.ts';

/** Reservations of payments that take nothing. */
export function holding(...reserved: Reservation[]): Map<Reservation, Promised> {
  return new Map(reserved.map((one) => [one, { contract: null, amount: 0n, fee: 0n }]));
}
