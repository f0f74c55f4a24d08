import { feeOf, type OwnForm, virtualSize } from './utxo-script.ts';

/** An output that may be spent. */
export interface Coin {
  readonly key: string;
  readonly amount: bigint;
}

/** How the hot wallet's own outputs are made. */
export interface ChangeRules {
  readonly form: OwnForm;
  /** The script of the hot wallet's address. */
  readonly script: Uint8Array;
  /** The least that an output to it may be worth. */
  readonly dust: bigint;
  /** The least that each of several such outputs may be worth. */
  readonly leastPiece: bigint;
  /** How many outputs the hot wallet should have, so that payments need not wait for one another's change. */
  readonly wanted: number;
  /** How many it has. */
  readonly has: number;
  /** In the smallest unit for 1,000 virtual bytes. */
  readonly rate: bigint;
}

export interface Selection<C extends Coin> {
  readonly inputs: readonly C[];
  /** What goes back to the hot wallet, in equal parts but for a remainder; empty when too little is left over. */
  readonly change: readonly bigint[];
  /** Exactly what the inputs are worth above the amount and the change. */
  readonly fee: bigint;
}

/** More inputs than these make a transaction that is slow to sign and that some nodes do not relay. */
const maxInputs = 300;

/**
 * Coins that pay for an amount and its fee: the smallest one that suffices alone, or else as few as can be, the largest
 * first and the last one as small as it may be. The same coins in whatever order give the same selection. Null when
 * they do not suffice.
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
 * What is left of the inputs above the amount and the fee, as outputs to the hot wallet: several while the wallet has
 * too few, none when it would be dust, which then goes to the fee. Null when the inputs do not suffice.
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

/** So many parts as fill the wallet's set once the inputs are spent, and at least one. */
function piecesWanted(inputs: number, { wanted, has }: ChangeRules): number {
  return Math.max(1, wanted - Math.max(0, has - inputs));
}

/** Parts that add up to the total; the first one takes what does not divide. */
export function splitEvenly(total: bigint, parts: number): bigint[] {
  const part = total / BigInt(parts);
  return Array.from({ length: parts }, (_, index) => (index === 0 ? total - part * BigInt(parts - 1) : part));
}

function byWorth(a: Coin, b: Coin): number {
  if (a.amount !== b.amount) return a.amount < b.amount ? -1 : 1;
  return a.key < b.key ? -1 : 1;
}
