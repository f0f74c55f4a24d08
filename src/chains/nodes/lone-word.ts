import { ChainError, type ScannedBlock, type Transfer } from '../port/chain-adapter.ts';
import { NodeFault } from './node-answer.ts';
import type { Nodes } from './nodes.ts';

/** How long an amount counts that one node told alone. */
const dayMs = 86_400_000;

/**
 * The deposits that rest on the word of one node. Their sum counts over a day, in all scans: a node
 * that lies could spread what it invents over many blocks.
 */
export class LoneWord {
  readonly #limits: ReadonlyMap<string, bigint>;
  /** Milliseconds of a clock that never goes back. */
  readonly #now: () => number;
  /** By contract, '' for the chain's own coin. */
  readonly #sums = new Map<string, bigint>();
  #since = Number.NEGATIVE_INFINITY;

  /** @param limits By contract, '' for the chain's own coin, in the smallest unit. */
  constructor(limits: ReadonlyMap<string, bigint>, now: () => number = () => performance.now()) {
    this.#limits = limits;
    this.#now = now;
  }

  /** Whether deposits of this asset are ever compared. */
  isLimited({ contract }: Pick<Transfer, 'contract'>): boolean {
    return this.#limits.has(contract ?? '');
  }

  /** The deposits of the assets whose sum of the day is above its limit with these deposits. */
  above(deposits: readonly Transfer[]): Transfer[] {
    this.#beginDay();
    const sums = new Map(this.#sums);
    for (const deposit of deposits) addTo(sums, deposit);
    return deposits.filter(({ contract }) => {
      const limit = this.#limits.get(contract ?? '');
      return limit !== undefined && (sums.get(contract ?? '') ?? 0n) > limit;
    });
  }

  /** Counts deposits that no second node confirmed. */
  add(deposits: readonly Transfer[]): void {
    for (const deposit of deposits) addTo(this.#sums, deposit);
  }

  #beginDay(): void {
    const now = this.#now();
    if (now - this.#since < dayMs) return;
    this.#since = now;
    this.#sums.clear();
  }
}

interface ComparedDepositsParts<Node extends { readonly name: string }> {
  readonly nodes: Nodes<Node>;
  /** As those of `LoneWord`. */
  readonly limits: ReadonlyMap<string, bigint>;
  /** Which of these addresses are ours. */
  readonly ownOf: (addresses: readonly string[]) => Promise<ReadonlySet<string>>;
  /** A block as a scan stores it; null while the node is behind. */
  readonly read: (node: Node, height: number) => Promise<ScannedBlock | null>;
}

/**
 * Compares deposits of ours with a second node, where there is one and the first one told much of
 * an asset alone today.
 */
export class ComparedDeposits<Node extends { readonly name: string }> {
  readonly #parts: ComparedDepositsParts<Node>;
  readonly #loneWord: LoneWord;

  constructor(parts: ComparedDepositsParts<Node>) {
    this.#parts = parts;
    this.#loneWord = new LoneWord(parts.limits);
  }

  /** Whether deposits of this asset are compared. */
  isCompared(asset: Pick<Transfer, 'contract'>): boolean {
    return this.#parts.nodes.operators > 1 && this.#loneWord.isLimited(asset);
  }

  /** @throws ChainError when the second node tells something else of these blocks, or is away. */
  async refuseUnlike(node: Node, blocks: readonly ScannedBlock[]): Promise<void> {
    const { nodes, ownOf, read } = this.#parts;
    const limited = blocks.flatMap(({ transfers }) => transfers).filter((one) => this.isCompared(one));
    if (limited.length === 0) return;
    const own = await ownOf([...new Set(limited.map(({ address }) => address))]);
    const deposits = limited.filter(({ address }) => own.has(address));
    const compared = new Set(this.#loneWord.above(deposits));
    for (const { ref, transfers } of blocks) {
      const ours = transfers.filter((one) => compared.has(one));
      if (ours.length === 0) continue;
      await nodes.askAnother(node, async (second) => {
        refuseUnlike(await read(second, ref.height), { ref, transfers: ours });
      });
    }
    this.#loneWord.add(deposits.filter((one) => !compared.has(one)));
  }
}

function addTo(sums: Map<string, bigint>, { contract, amount }: Transfer): void {
  sums.set(contract ?? '', (sums.get(contract ?? '') ?? 0n) + amount);
}

/**
 * Refuses transfers that a second node does not tell in the same way.
 *
 * @param second The block of the second node; null while that node is behind.
 * @throws ChainError when it lacks the block, has another one, or tells other transfers of it.
 */
export function refuseUnlike(
  second: ScannedBlock | null,
  { ref, transfers }: Pick<ScannedBlock, 'ref' | 'transfers'>,
): void {
  if (second === null) throw new NodeFault('node_behind', `has no block ${ref.height} yet`);
  const told = new Map(second.transfers.map((one) => [one.key, one]));
  const isSame = transfers.every(({ key, address, contract, amount, doubt }) => {
    const one = told.get(key);
    return (
      one !== undefined &&
      one.address === address &&
      one.contract === contract &&
      one.amount === amount &&
      one.doubt === doubt
    );
  });
  if (second.ref.hash === ref.hash && isSame) return;
  // The other node would be believed if it were asked next, and it may hide a deposit.
  const message = `two nodes tell different things of block ${ref.height}: take the one that is wrong out of nodes`;
  throw new ChainError('nodes_disagree', message, { isOfChain: true });
}
