import { feeOf, type OwnForm, virtualSize } from './utxo-script.ts';

/** An output that may be spent. */
export interface Coin {
  readonly key: string;
  readonly amount: bigint;
}

/** Rules for the outputs to the hot wallet itself. */
export interface ChangeRules {
  readonly form: OwnForm;
  /** The script of the hot wallet's address. */
  readonly script: Uint8Array;
  /** The dust limit of an output to the hot wallet. */
  readonly dust: bigint;
  /** The smallest value of each output, when there are several. */
  readonly leastPiece: bigint;
  /**
   * Number of outputs that the hot wallet should have, so that payments need not wait for one
   * another's change.
   */
  readonly wanted: number;
  /** Number of outputs that it has. */
  readonly has: number;
  /** In the smallest unit for 1,000 virtual bytes. */
  readonly rate: bigint;
}

interface Selection<C extends Coin> {
  readonly inputs: readonly C[];
  /**
   * The outputs back to the hot wallet, in equal parts but for a remainder; empty when the change
   * is too small.
   */
  readonly change: readonly bigint[];
  /** Exactly the value of the inputs above the amount and the change. */
  readonly fee: bigint;
}

/** A transaction with more inputs is slow to sign, and some nodes do not relay it. */
const maxInputs = 300;

/**
 * Selects coins for an amount and its fee. It takes the smallest coin that suffices alone.
 * Otherwise it takes as few as possible, the largest first, and the last one as small as possible.
 * The order of `coins` does not matter. Null when they do not suffice.
 */
export function selectCoins<C extends Coin>(
  coins: readonly C[],
  amount: bigint,
  recipient: Uint8Array,
  rules: ChangeRules,
): Selection<C> | null {
  const ascending = [...coins].sort(byWorth);
  const settle = (inputs: readonly C[]) => settleChange(inputs, amount, [recipient], rules);
  for (const coin of ascending) {
    const alone = coin.amount > amount ? settle([coin]) : null;
    if (alone) return alone;
  }
  const chosen: C[] = [];
  for (const coin of ascending.toReversed().slice(0, maxInputs)) {
    if (settle([...chosen, coin])) {
      for (const last of ascending) {
        const selection = chosen.includes(last) ? null : settle([...chosen, last]);
        if (selection) return selection;
      }
    }
    chosen.push(coin);
  }
  return null;
}

/**
 * Computes the change: the inputs without the amount and the fee, as outputs to the hot wallet. It
 * makes several outputs while the wallet has too few. It makes none below the dust limit; that
 * change then goes to the fee. Null when the inputs do not suffice.
 */
export function settleChange<C extends Coin>(
  inputs: readonly C[],
  amount: bigint,
  recipients: readonly Uint8Array[],
  rules: ChangeRules,
): Selection<C> | null {
  const total = inputs.reduce((sum, coin) => sum + coin.amount, 0n);
  const left = (pieces: number): bigint => {
    const scripts = [...recipients, ...Array<Uint8Array>(pieces).fill(rules.script)];
    return total - amount - feeOf(rules.rate, virtualSize(rules.form, inputs.length, scripts));
  };
  for (let pieces = piecesWanted(inputs.length, rules); pieces >= 1; pieces -= 1) {
    const rest = left(pieces);
    if (rest >= (pieces === 1 ? rules.dust : rules.leastPiece * BigInt(pieces))) {
      const change = splitEvenly(rest, pieces);
      return { inputs, change, fee: total - amount - rest };
    }
  }
  return recipients.length > 0 && left(0) >= 0n ? { inputs, change: [], fee: total - amount } : null;
}

/** The number of parts that fills the wallet's set once the inputs are spent, and at least one. */
function piecesWanted(inputs: number, { wanted, has }: ChangeRules): number {
  return Math.max(1, wanted - Math.max(0, has - inputs));
}

/** Parts that add up to the total; the first one takes the remainder. */
export function splitEvenly(total: bigint, parts: number): bigint[] {
  const part = total / BigInt(parts);
  return Array.from({ length: parts }, (_, index) => (index === 0 ? total - part * BigInt(parts - 1) : part));
}

function byWorth(a: Coin, b: Coin): number {
  if (a.amount !== b.amount) return a.amount < b.amount ? -1 : 1;
  return a.key < b.key ? -1 : 1;
}
