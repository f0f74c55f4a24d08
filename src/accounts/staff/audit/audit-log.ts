import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import { v7 as uuidv7 } from 'uuid';
import type { Clock } from '../../../base/clock.ts';
import { sql } from '../../../base/db/sql.ts';
import { errorFromFaults } from '../../../base/errors.ts';
import { AuditEntry } from './audit-entry.entity.ts';

/** The request and its actor: a member of staff, an operator with a shell, a partner's member. */
export type Actor = Request &
  ({ readonly staffId: string } | { readonly operator: string } | { readonly memberId: string });

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

/** An action on a partner's account, as the partner sees it. */
interface PartnerAuditEntry {
  readonly id: string;
  readonly at: Date;
  /** A member's name. Null for staff, as a member may have any name. */
  readonly actor: string | null;
  readonly operation: string;
  readonly target: string;
  /** Network of a member's client; empty for staff. */
  readonly ip: string;
  /** Null for staff. */
  readonly before: Record<string, unknown> | null;
  readonly after: Record<string, unknown> | null;
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
      const detail = `a reason of 1 to ${maxReason} characters is needed`;
      throw errorFromFaults([{ field: 'reason', kind: 'invalid_value', detail }]);
    }
    return this.#orm.em.fork().transactional(async (em) => {
      const { result, target, before = null, after = null } = await work(em);
      await this.write(em, actor, operation, why, { target, before, after });
      return result;
    });
  }

  /**
   * What was done with a partner's account, newest first. Members are named; staff are not.
   *
   * @param before the id of the entry before the page.
   */
  async ofPartner(
    partnerId: string,
    { limit, before }: { readonly limit: number; readonly before: string | null },
  ): Promise<PartnerAuditEntry[]> {
    const rows = await sql<Omit<PartnerAuditEntry, 'at'> & { at: string }>(
      this.#orm.em.fork(),
      `select a.id, a.at, m.name as actor, a.operation, a.target,
              case when m.id is null then '' else a.ip end as ip,
              case when m.id is not null then a.before end as before, case when m.id is not null then a.after end as after
         from audit_log a left join partner_member m on m.id = a.member_id
        where (m.partner_id = ?::uuid or a.target = 'partner:' || ?::text
               or a.target in (select 'member:' || p.id from partner_member p where p.partner_id = ?::uuid)
               or a.target in (select 'key:' || k.key_id from api_key k where k.partner_id = ?::uuid)
               or a.target in (select 'webhook:' || w.id from webhook_endpoint w where w.partner_id = ?::uuid))
          and a.id < coalesce(?::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
        order by a.id desc limit ?`,
      [partnerId, partnerId, partnerId, partnerId, partnerId, before, limit],
    );
    return rows.map((row) => ({ ...row, at: new Date(row.at) }));
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
