import { Address, beginCell, type Cell, type Message } from '@ton/core';

/** An account as the index writes it: `0:` and 64 capitals. */
export type Raw = string;
/** A hash in base64. */
export type Hash64 = string;

export function rawOf(address: Address): Raw {
  return `${address.workChain}:${address.hash.toString('hex').toUpperCase()}`;
}

/** An account in any of its spellings. @throws Error for other text. */
export function addressOf(text: string): Address {
  return text.includes(':') ? Address.parseRaw(text.toLowerCase()) : Address.parse(text);
}

export function base64Of(hash: bigint | Uint8Array): Hash64 {
  const bytes = typeof hash === 'bigint' ? Buffer.from(hash.toString(16).padStart(64, '0'), 'hex') : hash;
  return Buffer.from(bytes).toString('base64');
}

export function hashOf(cell: Cell): Hash64 {
  return cell.hash().toString('base64');
}

/**
 * The hash by which an external message is known, however it was serialized: without source, import
 * fee and state, with its body in a separate cell (TEP-467).
 */
export function normalHash({ info, body }: Message): Hash64 {
  if (info.type !== 'external-in') throw new Error('no external message');
  const cell = beginCell().storeUint(0b10, 2).storeUint(0, 2).storeAddress(info.dest).storeCoins(0);
  return hashOf(cell.storeBit(false).storeBit(true).storeRef(body).endCell());
}
