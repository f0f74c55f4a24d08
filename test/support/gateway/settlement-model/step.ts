import type fc from 'fast-check';
import { verify } from './invariants.ts';
import type { World } from './world.ts';

/** The part of the state that decides which commands are worth running. */
export interface Model {
  orders: number;
}

/** One command of a run. All invariants are checked after it. */
export class Step implements fc.AsyncCommand<Model, World> {
  readonly #name: string;
  readonly #args: readonly unknown[];
  readonly #needsOrder: boolean;
  readonly #action: (world: World) => Promise<unknown> | unknown;

  constructor(
    name: string,
    args: readonly unknown[],
    action: (world: World) => Promise<unknown> | unknown,
    needsOrder = true,
  ) {
    this.#name = name;
    this.#args = args;
    this.#action = action;
    this.#needsOrder = needsOrder;
  }

  check({ orders }: Readonly<Model>): boolean {
    return orders > 0 || !this.#needsOrder;
  }

  async run(model: Model, world: World): Promise<void> {
    await this.#action(world);
    model.orders = world.orders.length;
    await verify(world, this.toString());
  }

  toString(): string {
    return `${this.#name}(${this.#args.join(', ')})`;
  }
}
