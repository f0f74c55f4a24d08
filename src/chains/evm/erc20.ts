import { encodeFunctionData } from 'viem/utils';
import { unsound } from '../node-answer.ts';
import { asBytes } from './evm-answer.ts';

/** Transfer(address,address,uint256). https://eips.ethereum.org/EIPS/eip-20 */
export const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

const abi = [
  {
    type: 'function',
    name: 'transfer',
    stateMutability: 'nonpayable',
    inputs: [
      { name: 'to', type: 'address' },
      { name: 'value', type: 'uint256' },
    ],
    outputs: [{ type: 'bool' }],
  },
  {
    type: 'function',
    name: 'balanceOf',
    stateMutability: 'view',
    inputs: [{ name: 'owner', type: 'address' }],
    outputs: [{ type: 'uint256' }],
  },
  { type: 'function', name: 'decimals', stateMutability: 'view', inputs: [], outputs: [{ type: 'uint8' }] },
] as const;

type Hex = `0x${string}`;

/** The call that sends so much of a token to an address. There is one form of it. */
export function transferCall(to: string, amount: bigint): Hex {
  return encodeFunctionData({ abi, functionName: 'transfer', args: [to.toLowerCase() as Hex, amount] });
}

export function balanceCall(owner: string): Hex {
  return encodeFunctionData({ abi, functionName: 'balanceOf', args: [owner.toLowerCase() as Hex] });
}

export function decimalsCall(): Hex {
  return encodeFunctionData({ abi, functionName: 'decimals' });
}

/**
 * One number, as a contract returns it.
 *
 * @throws ChainError `unsound_answer` when it is none.
 */
export function readUint(answer: unknown, what: string): bigint {
  const bytes = asBytes(answer, what);
  const uint = uintOf(bytes);
  if (uint === null) throw unsound(`${bytes.length / 2 - 1} bytes as ${what}, and a token returns 32`);
  return uint;
}

/** Null for bytes that are no one number. */
export function uintOf(bytes: string): bigint | null {
  return bytes.length === 66 ? BigInt(bytes) : null;
}
