import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import type { Members } from '../../../accounts/members/members.ts';
import type { OwnKeys } from '../../../accounts/members/own-keys.ts';
import type { Passkeys } from '../../../accounts/members/passkeys.ts';
import {
  type CabinetOperation,
  type MemberOperation,
  operationRows,
  type SharedOperation,
} from '../../../accounts/members/rights.ts';
import type { MemberSessions } from '../../../accounts/members/sessions.ts';
import type { PartnerService } from '../../../accounts/partners/partner-service.ts';
import type { Actor, AuditedResult, AuditLog } from '../../../accounts/staff/audit/audit-log.ts';
import { addressPrefix } from '../../../base/limits/client-address.ts';
import type { OrderService } from '../../../orders/order-service.ts';
import type { ListCursors } from '../../../orders/read/list-cursor.ts';
import type { OrderReads } from '../../../orders/read/order-reads.ts';
import type { CommissionAddresses } from '../../../settlement/commission/commission-addresses.ts';
import { type Call, memberOf } from '../api/call.ts';
import { repeatable, replayedHeader } from '../api/idempotency-header.ts';
import type { CommissionParts } from '../partner/commission.ts';
import type { Acting } from '../partner/handler.ts';
import type { WebhookParts } from '../partner/webhooks.ts';
import { CabinetTurns } from './cabinet-turns.ts';
import type { Overview } from './overview.ts';
import type { OwnLimits } from './own-limits.ts';

export interface CabinetServices extends WebhookParts, CommissionParts {
  /** Scheme and host at which browsers reach the cabinet. */
  readonly origin: string;
  readonly orm: MikroORM;
  readonly audit: AuditLog;
  readonly members: Members;
  readonly passkeys: Passkeys;
  readonly sessions: MemberSessions;
  readonly partners: PartnerService;
  readonly keys: OwnKeys;
  readonly overview: Overview;
  readonly limits: OwnLimits;
  readonly commissionAddresses: CommissionAddresses;
  readonly orders: OrderReads;
  readonly orderService: OrderService;
  readonly cursors: ListCursors;
  /** The cap on open orders of partners without their own. */
  readonly maxOpenOrders: number;
  /** Whether the chains are real ones, with coins of value. */
  readonly areOfValue: boolean;
}

/** What a request with an Idempotency-Key is answered. */
export interface AnsweredOnce<Result, Body> {
  readonly body: Body;
  /** Null in a repetition, which made nothing. */
  readonly made: Result | null;
  readonly headers: Readonly<Record<string, string>>;
}

/** The services of the cabinet's handlers, and what all handlers do alike. */
export interface CabinetParts extends CabinetServices {
  readonly turns: CabinetTurns;
  actor(memberId: string, call: Call): Actor;
  /**
   * Runs a change and writes its audit entry in one transaction: both happen or neither. The member
   * must still have the right, and the partner be active, when the turn of the change has come.
   */
  act<Result>(
    request: { readonly call: Call },
    operation: CabinetOperation,
    work: (em: EntityManager) => Promise<AuditedResult<Result>>,
  ): Promise<Result>;
  /**
   * Runs a change as `act` does, once for each Idempotency-Key. A repetition changes nothing,
   * writes no audit entry, and gets the answer of the first request.
   *
   * @param answerOf the answer. It is stored, so that it holds no secret.
   */
  actOnce<Result, Body>(
    request: { readonly call: Call },
    operation: CabinetOperation,
    work: (em: EntityManager) => Promise<AuditedResult<Result>>,
    answerOf: (result: Result) => Body,
  ): Promise<AnsweredOnce<Result, Body>>;
  /** How handlers of the partner contract work for members. */
  readonly acting: Acting;
}

export function cabinetParts(services: CabinetServices): CabinetParts {
  const actor = (memberId: string, { id, client }: Call): Actor => ({
    memberId,
    requestId: id,
    ip: addressPrefix(client.address),
  });
  const turns = new CabinetTurns();
  const audit = (em: EntityManager, call: Call, id: MemberOperation, about: Omit<AuditedResult<unknown>, 'result'>) => {
    const by = actor(memberOf({ call }).memberId, call);
    return services.audit.write(em, by, operationRows[id].auditedAs ?? id, 'in the cabinet', about);
  };
  const actIn = async <Result>(
    em: EntityManager,
    call: Call,
    operation: MemberOperation,
    change: () => Promise<AuditedResult<Result>>,
  ): Promise<Result> => {
    const member = memberOf({ call });
    await services.members.takeTurn(em, member, operationRows[operation]);
    const { result, ...about } = await change();
    await audit(em, call, operation, about);
    return result;
  };
  return {
    ...services,
    turns,
    actor,
    act: ({ call }, operation, work) =>
      services.requests.transaction((em) => actIn(em, call, operation, () => work(em))),
    actOnce: async <Result, Body>(
      { call }: { readonly call: Call },
      operation: CabinetOperation,
      work: (em: EntityManager) => Promise<AuditedResult<Result>>,
      answerOf: (result: Result) => Body,
    ) => {
      let made: Result | null = null;
      const key = repeatable(call, `${call.method} ${call.path}`);
      const { stored, isReplayed } = await services.requests.run(memberOf({ call }).partner.id, key, async (em) => {
        const result = await actIn(em, call, operation, () => work(em));
        made = result;
        return { stored: JSON.stringify(answerOf(result)), status: 200, orderId: null };
      });
      return { body: JSON.parse(stored), made: isReplayed ? null : made, headers: replayedHeader(isReplayed) };
    },
    acting: {
      part: (call, work) => turns.part(memberOf({ call }), work),
      download: (call, parts) => turns.download(memberOf({ call }), parts),
      act: (em, call, id, change) => actIn(em, call, id as SharedOperation, change),
      audit: (em, call, id, about) => audit(em, call, id as SharedOperation, about),
    },
  };
}
