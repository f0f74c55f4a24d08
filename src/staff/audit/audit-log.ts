import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import { v7 as uuidv7 } from 'uuid';
import type { Clock } from '../../clock.ts';
import { AppError } from '../../errors.ts';
import { AuditEntry } from './audit-entry.entity.ts';

/** The actor and the request: a member of staff, an operator with a shell, or a partner's member. */
export type Actor = Request & ({ readonly staffId: string } | { readonly operator: string } | { readonly memberId: string });

interface Request {
  readonly requestId: string;
  readonly ip: string;
}

/** The result of an action and the object it acted on. Snapshots hold no secrets. */
export interface AuditedResult<Result> {
  readonly result: Result;
  readonly target: string;
  readonly before?: Record<string, unknown> | null;
  readonly after?: Record<string, unknown> | null;
}

const maxReason = 1000;

/** The log of staff actions. Each entry is written in the transaction of its action. */
export class AuditLog {
  readonly #orm: MikroORM;
  readonly #clock: Clock;

  constructor(orm: MikroORM, clock: Clock) {
    this.#orm = orm;
    this.#clock = clock;
  }

  /**
   * Runs an action and writes its audit entry in one transaction: both happen or neither.
   *
   * @throws AppError invalid_value without a reason of 1 to 1000 characters, and the errors of the
   *   action.
   */
  async act<Result>(
    actor: Actor,
    operation: string,
    reason: string,
    work: (em: EntityManager) => Promise<AuditedResult<Result>>,
  ): Promise<Result> {
    const why = reason.trim();
    if (why === '' || why.length > maxReason) {
      throw new AppError('invalid_value', `a reason of 1 to ${maxReason} characters is needed`);
    }
    return this.#orm.em.fork().transactional(async (em) => {
      const { result, target, before = null, after = null } = await work(em);
      await this.write(em, actor, operation, why, { target, before, after });
      return result;
    });
  }

  /** Writes the audit entry of an action within the caller's transaction. */
  async write(
    em: EntityManager,
    actor: Actor,
    operation: string,
    reason: string,
    { target, before = null, after = null }: Omit<AuditedResult<unknown>, 'result'>,
  ): Promise<void> {
    em.create(AuditEntry, {
      id: uuidv7(),
      at: this.#clock.now(),
      staffId: 'staffId' in actor ? actor.staffId : null,
      memberId: 'memberId' in actor ? actor.memberId : null,
      actor: 'operator' in actor ? `cli:${actor.operator}` : null,
      requestId: actor.requestId,
      ip: actor.ip,
      operation,
      target,
      reason,
      before,
      after,
    });
    await em.flush();
  }
}
