import type { Executed, TonBlock, TonBlocks } from './blocks.ts';
import type { TonFaults } from './faults.ts';
import type { Hash64, Raw } from './names.ts';
import type { AccountRow } from './vm.ts';

/** What one server knows of its network. */
export class View {
  readonly chain: TonBlocks;
  readonly faults: TonFaults;

  constructor(chain: TonBlocks, faults: TonFaults) {
    this.chain = faults.chain ?? chain;
    this.faults = faults;
  }

  get head(): TonBlock {
    const { lag = 0, stuckAt } = this.faults;
    const { head, first } = this.chain;
    const seqno = Math.min(head.seqno - lag, stuckAt ?? head.seqno);
    return this.chain.at(Math.max(seqno, first.seqno)) ?? first;
  }

  get first(): TonBlock {
    return this.chain.at(this.faults.oldest ?? this.chain.first.seqno) ?? this.chain.first;
  }

  get blocks(): TonBlock[] {
    const [low, high] = [this.first.seqno, this.head.seqno];
    return this.chain.blocks.filter(({ seqno }) => seqno >= low && seqno <= high && !this.#isLost(seqno));
  }

  /** All transactions that it lists, in the order of their blocks. */
  get executed(): Executed[] {
    const last = this.head.seqno - (this.faults.behind ?? 0);
    return this.blocks.filter(({ seqno }) => seqno <= last).flatMap(({ executed }) => executed.filter(this.#has));
  }

  row(account: Raw): AccountRow {
    return this.chain.row(account, this.head.seqno);
  }

  forgets(hash: Hash64): boolean {
    return this.faults.forgets?.includes(hash) ?? false;
  }

  readonly #has = (one: Executed): boolean => {
    const { lacks } = this.faults;
    if (lacks === undefined) return true;
    return typeof lacks === 'function' ? !lacks(one) : !lacks.includes(one.hash);
  };

  #isLost(seqno: number): boolean {
    const [from, to] = this.faults.gap ?? [0, -1];
    return seqno >= from && seqno <= to;
  }
}
