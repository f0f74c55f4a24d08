import type { ChainTraits } from './chain-adapter.ts';

/**
 * The account of the ledger that holds a chain's deposits: `hot` where the wallet that pays is also
 * the deposit address. A balance is then booked, and compared, once.
 */
export function accountOfDeposits({ paysFromDeposits }: Pick<ChainTraits, 'paysFromDeposits'>): 'deposits' | 'hot' {
  return paysFromDeposits ? 'hot' : 'deposits';
}
