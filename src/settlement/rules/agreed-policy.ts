import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from '../../base/db/sql.ts';
import { Big } from '../../base/money.ts';
import type { OrderPolicy } from '../../orders/order-terms.ts';

/** What a partner agreed on for the exceptions of an order. */
export interface AgreedPolicy {
  readonly policy: OrderPolicy;
  /** The smallest payout that the user accepts, in units of coin_to. Null without one. */
  readonly minAmountTo: Big | null;
  /** Whether the order's late deposit is exchanged, so that its quoted rate is over. */
  isLateAccepted: boolean;
}

/** What a partner agreed on for an order, as far as settlement needs it. */
interface AgreedTerms {
  /** Null without a policy and a smallest payout. */
  readonly agreed: AgreedPolicy | null;
  /** The partner's part of the fee rate in basis points. */
  readonly markupBps: number;
}

/** Reads what was agreed, by order id. Orders for which settlement needs none of it are absent. */
export async function readAgreedTerms(
  em: EntityManager,
  orderIds: readonly string[],
): Promise<ReadonlyMap<string, AgreedTerms>> {
  const rows = await sql<{
    id: string;
    policy: OrderPolicy | null;
    minAmountTo: string | null;
    isLateAccepted: boolean;
    markupBps: number;
  }>(
    em,
    `select t.order_id as id, t.policy, t.min_amount_to::text as "minAmountTo",
            exists (select from order_event e where e.order_id = t.order_id and e.cause = 'late_accepted')
              as "isLateAccepted", coalesce(t.markup_bps, 0) as "markupBps"
       from order_terms t
      where t.order_id in (select jsonb_array_elements_text(?::jsonb)::uuid)
        and (t.policy is not null or t.min_amount_to is not null or t.markup_bps > 0)`,
    [JSON.stringify(orderIds)],
  );
  return new Map(
    rows.map(({ id, policy, minAmountTo, isLateAccepted, markupBps }) => {
      const least = minAmountTo === null ? null : new Big(minAmountTo);
      const agreed = policy || least ? { policy: policy ?? {}, minAmountTo: least, isLateAccepted } : null;
      return [id, { agreed, markupBps }];
    }),
  );
}
