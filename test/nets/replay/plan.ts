import { newRecipient, type Recipient } from '../../support/chains/recipients.ts';
import { Dice } from '../../support/gateway/dice.ts';
import type { CrashPoint } from './product.ts';

// What happens in a day, drawn from the seed alone. Each order, each step and each question has its
// own dice, so that a change of one draws nothing else differently.

/** Length of a step of the day. */
export const stepSec = 1_200;
/** Rounds of a step: in each but the first, chains with work get a block. */
export const roundSec = 30;
export const roundsOfStep = 5;
/** After a kill, work of the dead process comes up to a round later. */
export const roundsAfterKill = 8;
/** Steps at the end of the day that bring no new order. */
export const restSteps = 8;
/** How long users may pay, in steps. */
export const windowSteps = 2;

/** What users do with their deposit. */
export const behaviours = {
  exact: 40,
  partial: 8,
  'below minimum': 5,
  dust: 2,
  over: 6,
  'above maximum': 3,
  split: 4,
  double: 6,
  'wrong tag': 4,
  'wrong coin': 3,
  'last moment': 3,
  late: 7,
  replaced: 3,
  never: 6,
} as const;
export type Behaviour = keyof typeof behaviours;

export interface Place {
  readonly coin: string;
  readonly network: string;
}

const place = (coin: string, network: string): Place => ({ coin, network });

/** The venue has none of it, so that exchanges into it run into their deadline. */
export const soldOut = place('LINK', 'ERC20');

/** Derived and shared addresses: a pool could be empty for a moment on a busy machine. */
const sources: readonly Place[] = [
  place('BTC', 'BTC'),
  place('LTC', 'LTC'),
  place('DOGE', 'DOGE'),
  place('ETH', 'ETH'),
  place('USDT', 'TRC20'),
  place('TRX', 'TRX'),
  place('USDT', 'BEP20'),
  place('BNB', 'BSC'),
  place('XRP', 'XRP'),
  place('XLM', 'XLM'),
  place('USDC', 'XLM'),
  place('ATOM', 'ATOM'),
  place('AVAX', 'AVAXC'),
];
const destinations: readonly Place[] = [
  ...sources,
  place('SOL', 'SOL'),
  place('USDC', 'SOL'),
  place('TON', 'TON'),
  place('USDT', 'ERC20'),
  place('DAI', 'ERC20'),
];
/** Sources and destinations of one step, so that orders of a chain come together. */
const placesOfStep = 4;

/** What staff do with an order: a hold, and one or two verdicts on proposals to release it. */
export interface PlannedHold {
  readonly step: number;
  readonly verdicts: readonly { readonly step: number; readonly verdict: 'approve' | 'reject' }[];
}

export interface PlannedOrder {
  /** Counted over all towns. */
  readonly index: number;
  readonly step: number;
  readonly partner: number;
  readonly from: Place;
  readonly to: Place;
  readonly rateType: 'fixed' | 'float';
  readonly recipient: Recipient;
  readonly refund: Recipient;
  readonly hasRefund: boolean;
  readonly refusesPayout: boolean;
  readonly refusesRefund: boolean;
  readonly behaviour: Behaviour;
  /** The announced amount, in minimums of the pair. */
  readonly factor: string;
  /** A share of the announced amount, where the behaviour needs one. */
  readonly share: string;
  /** Two delays of payments, in steps, and a coin flip. */
  readonly delays: readonly [number, number];
  readonly flip: boolean;
  /** What its partner agrees on for the exceptions, but for a payout below the smallest one. */
  readonly policy: object | null;
  /** The smallest payout that the user accepts, as a share of the one announced. */
  readonly leastShare: string | null;
  /** What is agreed on for a payout below that. */
  readonly onPriceMoved: string;
  /** When the partner cancels it. */
  readonly cancelStep: number | null;
  readonly hold: PlannedHold | null;
}

/** Dice that follow from the seed and a few names. */
export function diceOf(seed: number, ...names: readonly (string | number)[]): Dice {
  let state = seed >>> 0;
  for (const sign of names.join('|')) {
    state = Math.imul(state ^ (sign.codePointAt(0) ?? 0), 0x01000193) >>> 0;
    state = (state ^ (state >>> 15)) >>> 0;
  }
  return new Dice(state);
}

/** Draws an order. */
export function planOrder(seed: number, index: number, town: number, step: number, partners: number): PlannedOrder {
  const ofStep = diceOf(seed, 'places', town, step);
  const from = Array.from({ length: placesOfStep }, () => ofStep.pick(sources));
  const to = Array.from({ length: placesOfStep }, () => ofStep.pick(destinations));
  const dice = diceOf(seed, 'order', index);
  const source = dice.pick(from);
  const others = [...to, place('USDT', 'TRC20'), place('LTC', 'LTC')].filter(({ coin }) => coin !== source.coin);
  const destination = dice.chance(0.01) ? soldOut : dice.pick(others.slice(0, Math.max(1, others.length - 2)));
  const behaviour = dice.weighted(behaviours);
  return {
    index,
    step,
    partner: Math.floor(dice.between(0, partners)),
    from: source,
    to: destination,
    rateType: dice.chance(0.4) ? 'fixed' : 'float',
    recipient: newRecipient(destination.network, dice),
    refund: newRecipient(source.network, dice),
    hasRefund: dice.chance(0.85),
    refusesPayout: dice.chance(0.03),
    refusesRefund: dice.chance(0.03),
    behaviour,
    factor: dice.between(2, 6).toFixed(3),
    share: dice.between(0.6, 0.95).toFixed(2),
    delays: [dice.chance(0.7) ? 0 : 1, 1 + Math.floor(dice.between(0, 3))],
    flip: dice.chance(0.5),
    policy: dice.chance(0.5) ? policyOf(dice) : null,
    leastShare: dice.chance(0.15) ? dice.pick(['0.99999', '0.9998', '0.97']) : null,
    onPriceMoved: dice.pick(['refund', 'ask']),
    cancelStep: dice.chance(0.04) ? step + (dice.chance(0.5) ? 0 : 1) : null,
    hold: dice.chance(0.04) ? planHold(dice, step) : null,
  };
}

function policyOf(dice: Dice): object {
  return {
    on_late: dice.pick(['refund', 'market', 'ask']),
    on_underpaid: dice.pick(['exchange', 'refund', 'ask']),
    on_overpaid: dice.pick(['refund_excess', 'refund_all', 'ask']),
  };
}

function planHold(dice: Dice, created: number): PlannedHold {
  const step = created + Math.floor(dice.between(0, 3));
  const first = step + 1 + Math.floor(dice.between(0, 3));
  const verdict = dice.chance(0.6) ? 'approve' : 'reject';
  const isReleasedLater = verdict === 'reject' && dice.chance(0.5);
  const later = { step: first + 1 + Math.floor(dice.between(0, 2)), verdict: 'approve' } as const;
  return { step, verdicts: [{ step: first, verdict }, ...(isReleasedLater ? [later] : [])] };
}

/** Steps from one kill to the next. The two in the middle have reorganisations. */
const killEvery = 4;
const crashPoints: readonly CrashPoint[] = [
  'deposit.scanned',
  'trade.intended',
  'payment.signature',
  'order.settled',
  'payment.broadcast',
  'trade.answered',
  'payment.confirmed',
  'deposit.recorded',
  'payment.built',
  'trade.recorded',
  'payment.signed',
  'payment.observed',
  'payment.prepared',
  'payment.sent',
];

/** Where the settling process is killed in a step. Null in most steps. */
export function killIn(town: number, step: number): { crashPoint: CrashPoint; passing: number } | null {
  if (step % killEvery !== killEvery - 1) return null;
  const turn = Math.floor(step / killEvery) + town * 7;
  const crashPoint = crashPoints[turn % crashPoints.length] ?? 'order.settled';
  return { crashPoint, passing: 1 + (Math.floor(turn / crashPoints.length) % 2) };
}

/** A reorganisation of the newest blocks of a chain. */
export interface PlannedReorg {
  readonly network: string;
  readonly depth: number;
  /** Whether the transactions wait for a block again. Otherwise the chain forgets them. */
  readonly keep: boolean;
  readonly round: number;
}

/**
 * The reorganisations of a step. Payments count as final in the second block. So a chain that
 * forgets transactions only ever loses its newest block, and every other one keeps them all.
 *
 * @param forgets Whether the chain of a network forgets transactions.
 */
export function reorgsIn(
  seed: number,
  town: number,
  step: number,
  forgets: (network: string) => boolean,
): PlannedReorg[] {
  const sinceKill = step % killEvery;
  if (sinceKill < 1 || sinceKill > 2) return [];
  const dice = diceOf(seed, 'reorg', town, step);
  const ofStep = diceOf(seed, 'places', town, step);
  const networks = Array.from({ length: placesOfStep }, () => ofStep.pick(sources).network);
  const to = Array.from({ length: placesOfStep }, () => ofStep.pick(destinations).network);
  return Array.from({ length: 1 + Math.floor(dice.between(0, 3)) }, () => {
    const network = dice.pick(dice.chance(0.7) ? networks : to);
    const depth = 1 + Math.floor(dice.between(0, 3));
    const isLost = dice.chance(0.5);
    return {
      network,
      depth: forgets(network) ? 1 : depth,
      keep: !(forgets(network) && isLost),
      round: 1 + Math.floor(dice.between(0, roundsOfStep - 1)),
    };
  });
}
