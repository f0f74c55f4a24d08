import type { ImitatedMovement } from '../../../src/exchanges/sandbox/exchange-state.ts';

const txid = 'ab'.repeat(32);

/** A deposit of 1.5 BTC, or a withdrawal of them, which has ended; with changes. */
export function movement(changes: Partial<ImitatedMovement> = {}): ImitatedMovement {
  const isDeposit = changes.kind !== 'withdrawal';
  return {
    kind: 'deposit',
    reference: 'R-1',
    coin: 'BTC',
    network: 'Bitcoin',
    txid,
    isInternal: false,
    address: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq',
    tag: null,
    amount: '1.5',
    fee: isDeposit ? '0' : '0.0002',
    state: 'done',
    told: null,
    // Whole seconds: Kraken and Binance tell no more of a withdrawal.
    atMs: Math.floor(Date.now() / 1000) * 1000 - 3_600_000,
    ...changes,
  };
}
