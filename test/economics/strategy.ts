import type { Config } from '../../src/config/settings.ts';
import { type Coin, coins } from './chains.ts';
import { type MarketModel, stepSec } from './market.ts';
import type { World } from './world.ts';

/** What the house may lose to a strategy, and which setting sees to it. */
export interface Bound {
  /** The least that the house's mean result may be, in US dollars a day and partner. */
  readonly usd: number;
  /** Whether the result must be above that, and not only at it. */
  readonly isEarning?: true;
  /** Settings that decide it. */
  readonly settings: string;
}

/** Users of one kind. They act in each step of the market. */
export interface Actor {
  act(): Promise<void>;
  /** Whether it creates no more orders, and has done all that it wants with those it made. */
  readonly isDone: boolean;
}

/** What a strategy found wrong that no balance shows, a line each. */
export type Faults = () => Promise<string[]>;

/** A way to use the gateway. */
export interface Strategy {
  readonly name: string;
  /** What it wants, in one line. */
  readonly wants: string;
  /** Part of the orders asked for that it makes, as most of its orders are settled in full. */
  readonly share: number;
  /** Why it makes fewer orders, where it does. */
  readonly because?: string;
  /** Where it has real nodes, which decide what its world looks like. */
  readonly needs?: 'anvil' | 'exchange';
  bound(config: Config, market: MarketModel): Bound;
  /** Settings of its gateway that differ from the defaults. `--set` overrides them. */
  readonly settings?: Readonly<Record<string, string>>;
  /**
   * How many partners make this many orders; the house's result is divided by them. One unless
   * given.
   */
  readonly partners?: (orders: number) => number;
  begin(world: World, orders: number): Promise<{ readonly actors: readonly Actor[]; readonly faults?: Faults }>;
}

/** Things to do at a moment. */
export class Diary {
  readonly #tasks = new Map<number, (() => Promise<void>)[]>();
  #last: number;

  constructor(nowMs: number) {
    this.#last = stepOf(nowMs);
  }

  get isEmpty(): boolean {
    return this.#tasks.size === 0;
  }

  at(ms: number, task: () => Promise<void>): void {
    const step = Math.max(stepOf(ms), this.#last + 1);
    this.#tasks.set(step, [...(this.#tasks.get(step) ?? []), task]);
  }

  /** Does all that is due by now. */
  async turn(nowMs: number): Promise<void> {
    for (const now = stepOf(nowMs); this.#last < now; ) {
      this.#last += 1;
      const due = this.#tasks.get(this.#last) ?? [];
      this.#tasks.delete(this.#last);
      for (const task of due) await task();
    }
  }
}

function stepOf(ms: number): number {
  return Math.ceil(ms / (stepSec * 1000));
}

/** Decides in which steps orders are made, this many a day at random moments, until all are. */
export class Arrivals {
  left: number;
  readonly #world: World;
  readonly #perStep: number;

  constructor(world: World, orders: number, perDay: number) {
    this.#world = world;
    this.left = orders;
    this.#perStep = (perDay * stepSec) / 86_400;
  }

  /** How many are made in this step. */
  next(): number {
    const whole = Math.floor(this.#perStep);
    const count = whole + (this.#world.dice.chance(this.#perStep - whole) ? 1 : 0);
    const taken = Math.min(count, this.left);
    this.left -= taken;
    return taken;
  }
}

/** Two different coins. */
export function anyPair({ dice }: World, froms: readonly Coin[] = coins): { from: Coin; to: Coin } {
  const from = dice.pick(froms);
  return { from, to: dice.pick(coins.filter((coin) => coin !== from)) };
}

/** What people exchange, in US dollars: mostly some hundreds, at times many thousands. */
export function usualAmount({ dice }: World): number {
  const normal = Math.sqrt(-2 * Math.log(1 - dice.next())) * Math.cos(2 * Math.PI * dice.next());
  return Math.min(Math.max(300 * Math.exp(1.2 * normal), 50), 20_000);
}
