import { bytesToHex } from '@noble/hashes/utils.js';
import { loadMessageRelaxed } from '@ton/core';
import { unsound } from '../nodes/node-answer.ts';
import type { TonMessage, TonTransaction } from './ton-answer.ts';
import { operationOf, operations, readInternalTransfer } from './ton-jetton.ts';
import type { TonNode } from './ton-node.ts';
import { encodeOrder, type TonTx } from './ton-tx.ts';

/** What became of a payment, from the wallet's own transaction on. */
export interface Outcome {
  /** Whether what was to be paid arrived, or will: coins that left the wallet cannot fail. */
  readonly success: boolean;
  /** What it took from the wallet in addition to the amount, in nanotons. */
  readonly fee: bigint;
  /** The newest block that it is in; null while a part of it is in none yet. */
  readonly endHeight: number | null;
}

/** What the messages of one transaction came to, as far as they concern the wallet. */
interface Part {
  readonly success: boolean;
  /** What came back to the wallet, without what receiving it took. */
  readonly returned: bigint;
  /** Null while it is not over. */
  readonly endHeight: number | null;
}

const open: Part = { success: true, returned: 0n, endHeight: null };

/**
 * Follows a payment from the wallet's transaction to its recipient. A query id that is used, and a
 * transaction that succeeded, say nothing: only the messages that left count.
 */
export async function outcomeOf(
  node: TonNode,
  first: TonTransaction,
  { tx, wallet }: { readonly tx: TonTx; readonly wallet: string },
): Promise<Outcome> {
  const [message, ...others] = first.outMessages;
  if (others.length > 0) throw unsound('several messages of a payment that orders one');
  if (message === undefined) return { success: false, fee: first.totalFees, endHeight: first.height };
  refuseOther(message, tx, wallet);
  const trace = new Trace(node, wallet);
  const spent = first.totalFees + message.sentFee;
  if (tx.jetton === null) {
    const arrived = await trace.receiver(message);
    return { success: true, fee: spent, endHeight: endOf(first.height, arrived?.height ?? null) };
  }
  const { success, returned, endHeight } = await trace.ofTransfer(message, tx);
  return { success, fee: spent + message.value - returned, endHeight: endOf(first.height, endHeight) };
}

/** The contract sends exactly what was signed. Anything else is another payment, or a lie. */
function refuseOther({ destination, value, body }: TonMessage, tx: TonTx, wallet: string): void {
  const slice = encodeOrder(tx, wallet).refs[0]?.beginParse();
  const ordered = slice === undefined ? null : loadMessageRelaxed(slice).body;
  const hash = body === null ? null : bytesToHex(body.hash());
  const isSame =
    destination === (tx.jetton?.wallet ?? tx.to) &&
    value === (tx.jetton?.value ?? tx.amount) &&
    ordered !== null &&
    hash === bytesToHex(ordered.hash());
  if (!isSame) throw unsound('another message than the payment orders');
}

/** The later of two ends; null while one is open. */
function endOf(one: number | null, other: number | null): number | null {
  return one === null || other === null ? null : Math.max(one, other);
}

class Trace {
  readonly #node: TonNode;
  readonly #wallet: string;

  constructor(node: TonNode, wallet: string) {
    this.#node = node;
    this.#wallet = wallet;
  }

  /** The transaction that received a message; null while there is none. */
  async receiver({ hash, destination }: TonMessage): Promise<TonTransaction | null> {
    const found = (await this.#node.transactionsByMessage(hash)).filter(({ inMessage }) => inMessage?.hash === hash);
    if (found.length > 1) throw unsound('a message that was received twice');
    const [tx] = found;
    if (tx !== undefined && tx.account !== destination) throw unsound('a message that another account received');
    return tx ?? null;
  }

  /**
   * Follows an order to our jetton wallet. It takes the amount off and tells the recipient's wallet
   * to add it. Each of the two may fail, and what the messages carried then comes back.
   */
  async ofTransfer(message: TonMessage, tx: TonTx): Promise<Part> {
    const own = await this.receiver(message);
    if (own === null) return open;
    const told = own.outMessages.find(({ body }) => operationOf(body) === operations.internalTransfer);
    if (own.aborted || told === undefined) return { ...(await this.#returns(own)), success: false };
    const amount = told.body === null ? null : readInternalTransfer(told.body)?.amount;
    if (amount !== tx.amount) throw unsound('a transfer of another amount than the payment orders');
    const [left, other] = [await this.#returns(own), await this.receiver(told)];
    if (other === null) return open;
    const right = await this.#returns(other);
    return {
      success: !other.aborted,
      returned: left.returned + right.returned,
      endHeight: endOf(left.endHeight, right.endHeight),
    };
  }

  /**
   * What a transaction sends back: the rest of the coins to the wallet, and to our jetton wallet
   * what its recipient refused.
   */
  async #returns(tx: TonTransaction): Promise<Part> {
    let part: Part = { success: true, returned: 0n, endHeight: tx.height };
    for (const message of tx.outMessages) {
      const isRest = operationOf(message.body) === operations.excesses;
      const isBack = message.destination === this.#wallet && (isRest || message.bounced);
      if (!isBack && !message.bounced) continue;
      const received = await this.receiver(message);
      if (received === null) return open;
      const returned = isBack ? message.value - received.totalFees : 0n;
      part = { ...part, returned: part.returned + returned, endHeight: endOf(part.endHeight, received.height) };
    }
    return part;
  }
}
