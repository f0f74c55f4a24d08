import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import type { Clock } from '../base/clock.ts';
import { sqlState } from '../base/db/database.ts';
import { sql } from '../base/db/sql.ts';
import { earlierAnswer, inFlight, keyReused, lockNotAvailable, type Repeatable } from './idempotency.ts';
import { IdempotencyKey } from './idempotency-key.entity.ts';

/** What a request has done. */
export interface Effect {
  /** The answer, as it is stored. It holds no secret. */
  readonly stored: string;
  readonly status: 200 | 201;
  /** The order that was changed. Null for a request about anything else. */
  readonly orderId: string | null;
}

/** The stored answer to a request, and whether it is that of an earlier one. */
export interface RepeatedAnswer {
  readonly stored: string;
  readonly isReplayed: boolean;
}

/** Deadlocks and serialization failures are retried at once. */
const maxTries = 3;

/**
 * Requests that have their effect once for each idempotency key. A create of an order stores its
 * key itself, in the same table: it is one statement over many orders.
 */
export class RepeatableRequests {
  readonly #orm: MikroORM;
  readonly #clock: Clock;

  constructor(orm: MikroORM, clock: Clock) {
    this.#orm = orm;
    this.#clock = clock;
  }

  /**
   * Runs `effect` in a transaction, as `once` does.
   *
   * @throws AppError as `once` does.
   */
  run(
    partnerId: string,
    repeatable: Repeatable | null,
    effect: (em: EntityManager) => Promise<Effect>,
  ): Promise<RepeatedAnswer> {
    return this.transaction((em) => this.once(em, partnerId, repeatable, () => effect(em)));
  }

  /** Runs `work` in a transaction, and again after a deadlock. */
  async transaction<Result>(work: (em: EntityManager) => Promise<Result>): Promise<Result> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#orm.em.fork().transactional(work);
      } catch (error) {
        const state = sqlState(error);
        if (attempt >= maxTries || (state !== '40P01' && state !== '40001')) throw error;
      }
    }
  }

  /**
   * Runs `effect` inside the transaction of `em` and stores its answer there. A repetition has no
   * effect and gets the stored answer. The key is taken before the effect: of two requests at once
   * the second waits for the first.
   *
   * @param repeatable null for a request without a key.
   * @throws AppError idempotency_key_reused, idempotency_in_flight, or what `effect` throws. Then
   *   nothing is stored.
   */
  async once(
    em: EntityManager,
    partnerId: string,
    repeatable: Repeatable | null,
    effect: () => Promise<Effect>,
  ): Promise<RepeatedAnswer> {
    if (!repeatable) return { stored: (await effect()).stored, isReplayed: false };
    if (!(await this.#take(em, partnerId, repeatable))) {
      const earlier = await earlierAnswer(em, partnerId, repeatable);
      if (!earlier) throw keyReused();
      return { stored: earlier.body, isReplayed: true };
    }
    const { stored, status, orderId } = await effect();
    await em.nativeUpdate(IdempotencyKey, { partnerId, key: repeatable.key }, { body: stored, status, orderId });
    return { stored, isReplayed: false };
  }

  /** Takes a key. False when another request had it first, which has ended by then. */
  async #take(em: EntityManager, partnerId: string, { key, fingerprint }: Repeatable): Promise<boolean> {
    try {
      // Waits for another request that has taken the key and is under way.
      const taken = await sql(
        em,
        `insert into idempotency_key (partner_id, key, fingerprint, order_id, status, body, created_at)
         values (?, ?, ?, null, 200, '', ?) on conflict do nothing returning 1`,
        [partnerId, key, fingerprint, this.#clock.now()],
      );
      return taken.length > 0;
    } catch (error) {
      if (sqlState(error) === lockNotAvailable) throw inFlight(error);
      throw error;
    }
  }
}
