import type { OwnOutput, OwnOutputs } from '../../../src/chains/own-outputs.ts';
import type { ChainAdapter, Cursor, ScannedBlock } from '../../../src/chains/port/chain-adapter.ts';

/** Our own outputs, found by a scan at each request. */
export class ScannedOutputs implements OwnOutputs {
  readonly #addresses = new Map<string, number | null>();
  readonly #outputs = new Map<string, OwnOutput>();
  readonly #scanner: ChainAdapter;
  #cursor: Cursor | null = null;
  /** Answers as if nothing had happened since. */
  isStale = false;

  /** @param scanner Follows the chain; its own outputs are never asked for. */
  constructor(scanner: ChainAdapter) {
    this.#scanner = scanner;
  }

  /** @param index Of a deposit address; null for the hot wallet. */
  watch(address: string, index: number | null): void {
    this.#addresses.set(address, index);
  }

  /** Earlier blocks are not scanned. */
  async startHere(): Promise<void> {
    this.#cursor = await this.#scanner.start((await this.#scanner.head()).height);
  }

  async hot(): Promise<readonly OwnOutput[]> {
    await this.#catchUp();
    return [...this.#outputs.values()]
      .filter(({ index, spentBy }) => index === null && spentBy === null)
      .sort((a, b) => a.height - b.height);
  }

  spendable(): Promise<readonly OwnOutput[]> {
    return this.hot();
  }

  /** No payments are kept here. */
  async lost(): Promise<readonly string[]> {
    return [];
  }

  async find(_chain: string, keys: readonly string[]): Promise<readonly OwnOutput[]> {
    await this.#catchUp();
    return keys.flatMap((key) => this.#outputs.get(key) ?? []);
  }

  async spentBy(_chain: string, txid: string): Promise<readonly OwnOutput[]> {
    await this.#catchUp();
    return [...this.#outputs.values()].filter(({ spentBy }) => spentBy?.txid === txid);
  }

  async #catchUp(): Promise<void> {
    if (!this.#cursor) throw new Error('nothing has been scanned yet');
    if (this.isStale) return;
    for (;;) {
      const { cursor, orphaned, blocks } = await this.#scanner.scan(this.#cursor, 50);
      this.#cursor = cursor;
      this.#forget(new Set(orphaned.map(({ hash }) => hash)));
      for (const block of blocks) this.#take(block);
      if (blocks.length === 0) return;
    }
  }

  #forget(orphaned: ReadonlySet<string>): void {
    for (const [key, output] of this.#outputs) {
      if (orphaned.has(output.blockHash)) this.#outputs.delete(key);
      else if (output.spentBy && orphaned.has(output.spentBy.blockHash)) {
        this.#outputs.set(key, { ...output, spentBy: null });
      }
    }
  }

  #take({ ref: { height, hash }, transfers, spends = [] }: ScannedBlock): void {
    for (const { key, address, amount } of transfers) {
      const index = this.#addresses.get(address);
      if (index === undefined) continue;
      this.#outputs.set(key, { key, address, amount, height, blockHash: hash, index, spentBy: null });
    }
    for (const { key, txid } of spends) {
      const output = this.#outputs.get(key);
      if (output) this.#outputs.set(key, { ...output, spentBy: { txid, height, blockHash: hash } });
    }
  }
}
