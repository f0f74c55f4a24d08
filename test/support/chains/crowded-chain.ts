import type { ChainAdapter, ScanResult, Transfer } from '../../../src/chains/port/chain-adapter.ts';
import { withWaiting } from '../faults/faults.ts';

/**
 * Adds transfers to the blocks that an adapter reads, so that a test needs no transaction for each.
 * They belong to the first new block that is read afterwards, and are told again with that block.
 */
export class CrowdedChain {
  readonly #next = new Map<string, readonly Transfer[]>();
  readonly #ofBlock = new Map<string, readonly Transfer[]>();
  /** Transfers that wait in the mempool of a chain, until they are taken out. */
  readonly waiting = new Map<string, readonly Transfer[]>();

  /** Puts transfers into the next block of a chain. */
  add(chain: string, transfers: readonly Transfer[]): void {
    this.#next.set(chain, [...(this.#next.get(chain) ?? []), ...transfers]);
  }

  /** The wrapper for `OutsideWorld.chain`. */
  wrap(adapter: ChainAdapter): ChainAdapter {
    const crowd = (result: ScanResult): ScanResult => this.#crowd(adapter.chain, result);
    const waiting = (): readonly Transfer[] => this.waiting.get(adapter.chain) ?? [];
    return new Proxy(adapter, {
      get(target, name) {
        if (name === 'scan') {
          return async (...args: Parameters<ChainAdapter['scan']>) => crowd(await target.scan(...args));
        }
        if (name === 'pending') {
          return async (known: readonly string[]) => withWaiting(await target.pending?.(known), waiting());
        }
        const value = Reflect.get(target, name, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  }

  #crowd(chain: string, result: ScanResult): ScanResult {
    const blocks = result.blocks.map((block) => {
      const { hash } = block.ref;
      const next = this.#next.get(chain);
      if (next !== undefined && !this.#ofBlock.has(hash)) {
        this.#next.delete(chain);
        this.#ofBlock.set(hash, next);
      }
      const more = this.#ofBlock.get(hash) ?? [];
      return more.length === 0 ? block : { ...block, transfers: [...block.transfers, ...more] };
    });
    return { ...result, blocks };
  }
}

interface Target {
  readonly address: string;
  readonly tag?: string | null;
  readonly contract?: string | null;
}

/** Transfers in a transaction each. */
export function transfersTo(target: Target, amounts: readonly bigint[], name: string): Transfer[] {
  return amounts.flatMap((amount, index) => outputsTo(`${name}${index}`, [{ ...target, amount }]));
}

/** The outputs of one transaction. */
export function outputsTo(txid: string, outputs: readonly (Target & { readonly amount: bigint })[]): Transfer[] {
  return outputs.map(({ address, tag = null, contract = null, amount }, index) => {
    return { key: `${txid}:${index}`, txid, address, tag, contract, amount };
  });
}
