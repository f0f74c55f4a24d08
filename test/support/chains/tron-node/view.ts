import { hexToBytes } from '@noble/hashes/utils.js';
import type { MinedTransaction, TronBlock, TronBlocks } from './blocks.ts';
import type { TronFaults } from './faults.ts';
import { infoJson } from './json.ts';
import { type TronLog, toEvm } from './vm.ts';

const transferTopic = 'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

/** The chain as one node shows it, at its head or at its final head. */
export class View {
  readonly chain: TronBlocks;
  readonly #faults: TronFaults;
  readonly #isSolid: boolean;

  constructor(chain: TronBlocks, faults: TronFaults, isSolid: boolean) {
    this.chain = chain;
    this.#faults = faults;
    this.#isSolid = isSolid;
  }

  get head(): TronBlock {
    const { lag = 0, stuckAt = Number.MAX_SAFE_INTEGER, solidShift = 0 } = this.#faults;
    const { head, solidNumber } = this.chain;
    const top = Math.min(head.header.number - lag, stuckAt);
    const number = this.#isSolid ? Math.min(solidNumber + solidShift, head.header.number) : top;
    const shown = Math.max(0, this.#isSolid && solidShift <= 0 ? Math.min(number, top) : number);
    return this.chain.blocks[shown] ?? this.chain.head;
  }

  /** By its number; null when the node does not have it. */
  block(number: number): TronBlock | null {
    if (number > this.head.header.number || number < (this.#faults.forgetsBelow ?? 0)) return null;
    return this.chain.blocks[number] ?? null;
  }

  blockById(id: string): TronBlock | null {
    const block = this.block(Number.parseInt(id.slice(0, 16), 16));
    return block?.id === id ? block : null;
  }

  /** A transaction with the block that holds it. */
  find(txid: string): { readonly mined: MinedTransaction; readonly block: TronBlock } | null {
    const found = this.chain.blockOf(txid);
    const block = found && this.block(found.header.number);
    const mined = block?.transactions.find(({ tx }) => tx.txid === txid);
    return block && mined ? { block, mined } : null;
  }

  info(mined: MinedTransaction, block: TronBlock): object {
    return infoJson(this.#seen(mined), block);
  }

  /** The results of a block. */
  infos(block: TronBlock): object[] {
    const listed = block.transactions.map((mined) => this.info(mined, block));
    const before = this.block(block.header.number - 1);
    const others = before ? before.transactions.map((mined) => this.info(mined, before)) : [];
    switch (this.#faults.infos) {
      case 'lack':
        return listed.slice(0, -1);
      case 'repeat':
        return [...listed, ...listed.slice(-1)];
      case 'foreign':
        return [...listed, ...(others.length > 0 ? others.slice(0, 1) : [{ id: 'f'.repeat(64), blockNumber: 1 }])];
      case 'other-block':
        return others;
      case 'misnumbered':
        return listed.map((one) => ({ ...one, blockNumber: block.header.number + 1 }));
      case 'none':
        return [];
      default:
        return listed;
    }
  }

  /** A result with the changes that the node makes to its logs. */
  #seen(mined: MinedTransaction): MinedTransaction {
    const { log = (one) => one, logsOfFailures = false } = this.#faults;
    const { tx, outcome } = mined;
    const shown = logsOfFailures && outcome.result !== 'SUCCESS' ? [pretended(mined)] : outcome.logs;
    return { tx, outcome: { ...outcome, logs: shown.flatMap((one) => log(one) ?? []) } };
  }
}

/** The log of the transfer that a call asked for. */
function pretended({ tx }: MinedTransaction): TronLog {
  const data = Buffer.from(tx.call.data).toString('hex');
  const sender = tx.call.owner.slice(2).padStart(64, '0');
  const topics = [transferTopic, sender, data.slice(8, 72)];
  return { address: toEvm(tx.call.to).slice(2), topics, data: data.slice(72, 136) };
}

/** Bytes of hexadecimal digits from outside. @throws Error as java-tron words it. */
export function bytesOf(digits: unknown): Uint8Array {
  const text = String(digits ?? '').replace(/^0x/, '');
  if (text.length % 2 === 1 || !/^[0-9a-f]*$/i.test(text)) {
    throw new Error('class org.bouncycastle.util.encoders.DecoderException : exception decoding Hex string');
  }
  return hexToBytes(text);
}
