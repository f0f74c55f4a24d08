import type { Dice } from './dice.ts';
import type { MadeOrder } from './settled-gateway.ts';

/** Something that happens to an order; what it answers may be a reply of the REST API. */
export type RaceStep = (order: MadeOrder) => Promise<unknown>;

/** Waits for an action of staff. One that the order's state does not allow is no error. */
export async function quietly(action: Promise<unknown>): Promise<void> {
  await action.catch((error) => {
    if (!['action_not_possible', 'already_exists'].includes(error.kind)) throw error;
  });
}

/** Takes several steps at the same time, each of them and its order by chance. */
export async function raceSteps(
  dice: Dice,
  { steps, orders, count }: { steps: readonly RaceStep[]; orders: readonly MadeOrder[]; count: number },
): Promise<void> {
  const chosen = Array.from({ length: count }, () => [dice.pick(steps), dice.pick(orders)] as const);
  const done = await Promise.all(chosen.map(([step, order]) => step(order)));
  for (const reply of done) {
    const { status } = (reply ?? {}) as { status?: number };
    // An order that stays locked for too long is answered with 503, and is unchanged.
    if (status !== undefined) expect([200, 409, 503]).toContain(status);
  }
}
