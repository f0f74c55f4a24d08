import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import type { Transfer } from './port/chain-adapter.ts';

/**
 * The key of a transfer that a contract made: 'txid:log2:<digest>'. The effect of a contract
 * depends on the block that executes it. So after a reorg the same place of the same transaction
 * may hold another transfer, which must have another key.
 */
export function effectKey(place: string, { txid, contract, address, amount }: Omit<Transfer, 'key'>): string {
  const digest = bytesToHex(sha256(utf8ToBytes(`${contract ?? ''} ${address} ${amount}`))).slice(0, 16);
  return `${txid}:${place}:${digest}`;
}
