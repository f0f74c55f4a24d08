import { unsound } from '../nodes/node-answer.ts';

/** Transfer(address,address,uint256), without '0x'. https://github.com/tronprotocol/tips/blob/master/tip-20.md */
export const transferTopic = 'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

/** The method transfer(address,uint256). */
const transferMethod = 'a9059cbb';

/** The zeros in front of an address of 20 bytes. */
const addressZeros = '0'.repeat(24);

/** The methods balanceOf(address) and decimals(). */
const balanceMethod = '70a08231';
const decimalsMethod = '313ce567';

/** A token transfer. The recipient has 42 digits, as in all messages. */
interface TokenTransfer {
  readonly to: string;
  readonly amount: bigint;
}

/**
 * The call that transfers an amount of a token, in hexadecimal digits. It has exactly one encoding.
 *
 * @throws RangeError when the amount has no place in 256 bits.
 */
export function transferCall({ to, amount }: TokenTransfer): string {
  if (amount < 0n || amount >= 1n << 256n) throw new RangeError('the amount has no place in 256 bits');
  return `${transferMethod}${addressZeros}${to.slice(2)}${amount.toString(16).padStart(64, '0')}`;
}

/** The call that asks for the balance of a holder, who has 42 digits. */
export function balanceCall(holder: string): string {
  return `${balanceMethod}${addressZeros}${holder.slice(2)}`;
}

export function decimalsCall(): string {
  return decimalsMethod;
}

/**
 * Reads a number that a contract returns.
 *
 * @throws ChainError when it returns anything else.
 */
export function readUint(returned: string, what: string): bigint {
  if (!/^[0-9a-f]{64}$/.test(returned)) throw unsound(`no ${what}`);
  return BigInt(`0x${returned}`);
}

/** Reads the transfer of a call; null for any other data, and for another encoding. */
export function readTransferCall(data: string): TokenTransfer | null {
  const [, digits, amount] = /^a9059cbb0{24}([0-9a-f]{40})([0-9a-f]{64})$/.exec(data) ?? [];
  return digits === undefined ? null : { to: `41${digits}`, amount: BigInt(`0x${amount}`) };
}

/**
 * Reads a Transfer log, from topics and data in lower case; null for any other log. NFTs have a
 * fourth topic, and a topic longer than an address holds no address.
 */
export function readTransferLog(
  topics: readonly string[],
  data: string,
): (TokenTransfer & { readonly from: string }) | null {
  const [topic, from = '', to = ''] = topics;
  const isTransfer = topic === transferTopic && topics.length === 3 && data.length === 64;
  if (!isTransfer || !from.startsWith(addressZeros) || !to.startsWith(addressZeros)) return null;
  return { from: `41${from.slice(24)}`, to: `41${to.slice(24)}`, amount: BigInt(`0x${data}`) };
}
