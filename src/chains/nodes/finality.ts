import type { NetworkConfig } from '../networks/network-config.ts';

/**
 * The usual depth of safe and finalized blocks on a chain with epochs of 32 blocks, each confirmed
 * by two thirds of the stake. A safe block lies below one whole epoch and a part of the next, a
 * finalized block below two epochs and a part. Other chains differ. There the depth is the least
 * number of confirmations that a deposit waits for.
 */
const usualDepth = { safe: 64, finalized: 96 } as const;

/**
 * The number of confirmations that make a network's blocks final. Where the chain itself tells
 * finality, it is asked too, and this is the least number of confirmations of a deposit.
 */
export function finalityDepth({ finality }: Pick<NetworkConfig, 'finality'>): number {
  return typeof finality === 'number' ? finality : usualDepth[finality];
}
