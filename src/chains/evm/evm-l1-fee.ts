import { encodeFunctionData } from 'viem/utils';
import type { CallRequest } from './evm-node.ts';

/**
 * Rollups of the OP stack, which charge a fee for each transaction's data on the first layer,
 * besides its gas.
 */
const chains: ReadonlySet<string> = new Set(['optimism', 'base']);

/**
 * The same address on every chain of the stack.
 * https://specs.optimism.io/protocol/predeploys.html#gaspriceoracle
 */
const oracle = '0x420000000000000000000000000000000000000f';

const abi = [
  {
    type: 'function',
    name: 'getL1Fee',
    stateMutability: 'view',
    inputs: [{ name: 'data', type: 'bytes' }],
    outputs: [{ type: 'uint256' }],
  },
] as const;

export function hasL1Fee(chain: string): boolean {
  return chains.has(chain);
}

/**
 * The call that tells the first layer's fee of an unsigned transaction, in wei at present prices.
 */
export function l1FeeCall(serialized: `0x${string}`): CallRequest {
  return { to: oracle, data: encodeFunctionData({ abi, functionName: 'getL1Fee', args: [serialized] }) };
}
