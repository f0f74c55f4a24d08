import { decodeFunctionData, encodeFunctionData } from 'viem/utils';
import { unsound } from '../nodes/node-answer.ts';
import { asBytes, type EvmLog } from './evm-answer.ts';

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

/** The call that transfers an amount of a token to an address. It has exactly one encoding. */
export function transferCall(to: string, amount: bigint): Hex {
  return encodeFunctionData({ abi, functionName: 'transfer', args: [to.toLowerCase() as Hex, amount] });
}

/** A token transfer, as its sender orders it. The recipient is in lower case. */
export interface TokenTransfer {
  readonly contract: string;
  readonly to: string;
  readonly amount: bigint;
}

/**
 * Reads the transfer from a transaction to a contract; null when its data is no call of `transfer`.
 */
export function readTransferCall({ to, data }: { readonly to: string; readonly data: string }): TokenTransfer | null {
  if (!data.startsWith('0xa9059cbb') || data.length !== 138) return null;
  const { args = [] } = decodeFunctionData({ abi, data: data as Hex });
  const [recipient, amount] = args as readonly [string, bigint];
  return { contract: to.toLowerCase(), to: recipient.toLowerCase(), amount };
}

/** Reads a Transfer log of a contract, with addresses in lower case. Null for any other log. */
export function readTransferLog({ topics, data }: EvmLog): (Omit<TokenTransfer, 'contract'> & { from: string }) | null {
  const [topic, from = '', to = ''] = topics;
  // NFTs have a fourth topic, the token's id. A topic longer than an address holds no address.
  if (topic !== transferTopic || topics.length !== 3) return null;
  const amount = uintOf(data);
  if (amount === null || !from.startsWith(addressTopic) || !to.startsWith(addressTopic)) return null;
  return { from: `0x${from.slice(26)}`, to: `0x${to.slice(26)}`, amount };
}

/** The leading zeros of a topic that holds an address. */
const addressTopic = `0x${'0'.repeat(24)}`;

export function balanceCall(owner: string): Hex {
  return encodeFunctionData({ abi, functionName: 'balanceOf', args: [owner.toLowerCase() as Hex] });
}

export function decimalsCall(): Hex {
  return encodeFunctionData({ abi, functionName: 'decimals' });
}

/**
 * Reads one number that a contract returns.
 *
 * @throws ChainError `unsound_answer` when it is none.
 */
export function readUint(answer: unknown, what: string): bigint {
  const bytes = asBytes(answer, what);
  const uint = uintOf(bytes);
  if (uint === null) throw unsound(`${bytes.length / 2 - 1} bytes as ${what}, where a token returns 32`);
  return uint;
}

/** Null for bytes that are not exactly one number. */
export function uintOf(bytes: string): bigint | null {
  return bytes.length === 66 ? BigInt(bytes) : null;
}
