import type { Cell } from '@ton/core';
import type { Transfer } from '../port/chain-adapter.ts';
import type { TonTransaction } from './ton-answer.ts';
import { operationOf, operations, readInternalTransfer } from './ton-jetton.ts';

/** Our accounts. */
export interface TonAccounts {
  readonly wallet: string;
  /** The contracts of listed jettons, by the wallet's own contract for each. */
  readonly jettons: ReadonlyMap<string, string>;
}

/** What a transaction brought, and what receiving it took from the wallet. */
export interface Received {
  readonly transfers: readonly Transfer[];
  /** Nanotons. */
  readonly cost: bigint;
}

const nothing: Received = { transfers: [], cost: 0n };

/**
 * What a transaction of one of our accounts brought to the wallet.
 *
 * - Coins: the value of a message that is no return of a payment of ours. It stays also when the
 *   contract did not run, unless the message asked to bounce: then the chain sent it back. The tag
 *   is its comment.
 * - Jettons: the amount that our own jetton wallet was told to add, when it did so. Who tells the
 *   wallet about a transfer may be anyone, and counts for nothing.
 *
 * Keys: 'txid:0'. The txid is the hash of the transaction.
 *
 * @param isReturn Whether the message brought back what a payment of ours did not use.
 */
export function receivedBy(tx: TonTransaction, accounts: TonAccounts, isReturn: boolean): Received {
  const { inMessage, hash, totalFees } = tx;
  if (inMessage === null || inMessage.source === null) return nothing;
  const found = { key: `${hash}:0`, txid: hash, address: accounts.wallet };
  if (tx.account === accounts.wallet) {
    // The payment's own fee holds what its returns bring and cost.
    if (isReturn) return nothing;
    const { value, body } = inMessage;
    // The sender pays for the way back, so that only the rent of the wallet is missing.
    const sent = tx.outMessages.reduce((sum, one) => sum + one.value + one.sentFee, 0n);
    if (tx.outMessages.some(({ bounced }) => bounced)) return { transfers: [], cost: totalFees + sent - value };
    const transfers = value === 0n ? [] : [{ ...found, tag: tagOf(body), contract: null, amount: value }];
    return { transfers, cost: totalFees };
  }
  const contract = accounts.jettons.get(tx.account);
  if (contract === undefined || tx.aborted || inMessage.bounced || inMessage.body === null) return nothing;
  const told = readInternalTransfer(inMessage.body);
  if (told === null || told.amount === 0n) return nothing;
  return { transfers: [{ ...found, tag: tagOf(told.payload), contract, amount: told.amount }], cost: 0n };
}

/** Whether a message may bring back what a payment did not use. Its sender decides. */
export function mayReturn({ inMessage }: TonTransaction): boolean {
  return inMessage !== null && operationOf(inMessage.body) === operations.excesses;
}

/** What text of senders may hold to be shown as it is. */
const plain = /^[^\p{C}\p{Z}](?:[^\p{C}\p{Zl}\p{Zp}]*[^\p{C}\p{Z}])?$/u;
/**
 * Longer comments are cut. No tag of ours is as long, and the digits of so many bytes are short
 * enough to be stored.
 */
const mostBytes = 96;

/** The comment of a body; null for a body without one, such as an encrypted comment. */
export function tagOf(body: Cell | null): string | null {
  if (operationOf(body) !== 0 || body === null) return null;
  const bytes = textBytes(body);
  if (bytes === null) return null;
  if (bytes.length === 0) return null;
  const text = bytes.toString('utf8');
  const isPlain = plain.test(text) && Buffer.from(text).equals(bytes);
  return isPlain ? text : `text:${bytes.toString('hex')}`;
}

/** The bytes after the operation, over the cells that follow; null when they are no whole bytes. */
function textBytes(body: Cell): Buffer | null {
  const parts: Buffer[] = [];
  let size = 0;
  let cell: Cell | undefined = body;
  // 32 bits of operation, in the first cell only.
  for (let skipped = 32; cell !== undefined && size < mostBytes; skipped = 0) {
    if (cell.isExotic) return null;
    const slice = cell.beginParse().skip(skipped);
    if (slice.remainingBits % 8 !== 0) return null;
    const part = slice.loadBuffer(slice.remainingBits / 8);
    parts.push(part);
    size += part.length;
    cell = cell.refs[0];
    // Cells without a byte would make the chain long for nothing.
    if (part.length === 0 && parts.length > 1) break;
  }
  return Buffer.concat(parts).subarray(0, mostBytes);
}
