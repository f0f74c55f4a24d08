import { forgetUtxoNets } from '../../../src/chains/networks/utxo-nets.ts';

/**
 * Takes back what a file decided for its process. A gateway decides it once at its start, and a
 * worker of the test runner starts gateways of many files.
 */
export function forgetProcessState(): void {
  forgetUtxoNets();
}
