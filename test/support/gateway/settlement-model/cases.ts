import { networkById } from '../../../../src/chains/networks/networks.ts';

/** The pairs of the model. All their chains are among the networks below. */
export const pairs = {
  'BTC-USDT': { coin_from: 'BTC', network_from: 'BTC', coin_to: 'USDT', network_to: 'TRC20', amount_from: 0.01 },
  'XRP-BTC': { coin_from: 'XRP', network_from: 'XRP', coin_to: 'BTC', network_to: 'BTC', amount_from: 2000 },
  'ETH-SOL': { coin_from: 'ETH', network_from: 'ETH', coin_to: 'SOL', network_to: 'SOL', amount_from: 1 },
} as const;
export type PairName = keyof typeof pairs;
/** All networks of the pairs. */
export const networks = ['BTC', 'TRC20', 'XRP', 'ETH', 'SOL'] as const;

export function chainOf(network: string): string {
  return networkById(network)?.chain ?? '';
}

/** One of an order's two chains. */
export class Place {
  readonly index: number;
  readonly at: 'from' | 'to';

  constructor(index: number, at: 'from' | 'to') {
    this.index = index;
    this.at = at;
  }

  toString(): string {
    return `#${this.index}.${this.at}`;
  }
}

/** What a user sends to the deposit address. `stuck` waits in the mempool until `unstick`. */
export const depositKinds = [
  'exact',
  'partial',
  'below_minimum',
  'dust',
  'over',
  'above_maximum',
  'wrong_tag',
  'no_tag',
  'wrong_coin',
  'stuck',
] as const;
export type DepositKind = (typeof depositKinds)[number];

/** Factors by which the model multiplies a price of the table. No two differ by more than two. */
export const priceLevels = ['1', '1.01', '0.99', '1.4', '0.7'] as const;
