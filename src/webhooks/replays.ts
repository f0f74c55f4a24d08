import type { EntityManager } from '@mikro-orm/postgresql';
import { PartnerQueues } from '../base/limits/partner-queues.ts';
import type { Repeatable } from '../orders/idempotency.ts';
import type { Effect, RepeatableRequests, RepeatedAnswer } from '../orders/repeatable-requests.ts';

/** Connections of a process for replays. */
export const replayPoolSize = 2;
/** How long a replay waits for others of its partner, and then for those of all. */
const turnMs = 20_000;

/**
 * The turns of replays, which take seconds. They have their own connections, so that no other
 * request waits for them. One replay of a partner works at a time, and four wait. All partners
 * together wait for the connections in one queue.
 */
export class Replays {
  readonly #requests: RepeatableRequests;
  readonly #ofPartner = new PartnerQueues({ working: 1, waiting: 4, waitMs: turnMs });
  readonly #ofAll = new PartnerQueues({ working: replayPoolSize, waiting: 100, waitMs: turnMs });

  /** @param requests over connections for replays alone. */
  constructor(requests: RepeatableRequests) {
    this.#requests = requests;
  }

  /**
   * Runs a replay in a transaction when its turn has come, as `RepeatableRequests` does.
   *
   * @throws AppError rate_limited when too many replays wait, or the turn does not come in time.
   */
  run(
    partnerId: string,
    repeatable: Repeatable | null,
    effect: (em: EntityManager) => Promise<Effect>,
  ): Promise<RepeatedAnswer> {
    return this.#ofPartner.work(partnerId, () =>
      this.#ofAll.work('all', () => this.#requests.run(partnerId, repeatable, effect)),
    );
  }
}
