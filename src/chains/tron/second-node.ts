import { NodeFault } from '../nodes/node-answer.ts';
import { ChainError, type ScannedBlock, type Transfer } from '../port/chain-adapter.ts';

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
