import type { NetworkConfig } from './network-config.ts';

/**
 * How deep the blocks usually are that a chain with two thirds of its stake behind each epoch calls so: one epoch of 32
 * blocks and what is left of the next, and two. Chains with other blocks differ: the least that a deposit waits there.
 */
const usualDepth = { safe: 64, finalized: 96 } as const;

/**
 * After how many confirmations a network's blocks are final, or at least how many a deposit needs where the chain itself
 * says what is final and is asked besides.
 */
export function finalityDepth({ finality }: Pick<NetworkConfig, 'finality'>): number {
  return typeof finality === 'number' ? finality : usualDepth[finality];
}
