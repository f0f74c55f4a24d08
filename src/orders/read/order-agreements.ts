import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from '../../base/db/sql.ts';
import { linesOfTransaction } from '../../ledger/ledger.ts';
import type { OrderPolicy } from '../order-terms.ts';

/** What a partner agreed on for one order beyond its pair, amount and addresses. */
interface OrderAgreement {
  readonly orderId: string;
  readonly externalId: string | null;
  readonly metadata: Readonly<Record<string, string>> | null;
  readonly policy: OrderPolicy | null;
  /** Decimal text, in units of coin_to. */
  readonly minAmountTo: string | null;
  readonly markupBps: number | null;
  /** 16 hexadecimal digits. Null for an order without a binding quote. */
  readonly quoteNonce: string | null;
  /** Decimal text. Null for a float quote, and without a quote. */
  readonly quoteAdverseBps: string | null;
  /** The decimals of coin_to. */
  readonly decimalsTo: number;
}

/** The markup that an order earned its partner, as it was booked. */
export interface MarkupAccrual {
  readonly orderId: string;
  readonly at: Date;
  /** Decimal text, in the coin's units. */
  readonly amount: string;
  readonly coin: string;
  readonly network: string;
}

/** Reads what was agreed for orders, in one statement. Plain orders are absent. */
export async function orderAgreements(em: EntityManager, orderIds: readonly string[]): Promise<OrderAgreement[]> {
  return sql<OrderAgreement>(
    em,
    `select t.order_id as "orderId", t.external_id as "externalId", t.metadata, t.policy,
            trim_scale(t.min_amount_to)::text as "minAmountTo", t.markup_bps as "markupBps",
            encode(t.quote_nonce, 'hex') as "quoteNonce", trim_scale(t.quote_adverse_bps)::text as "quoteAdverseBps",
            c.decimals as "decimalsTo"
       from order_terms t join exchange_order o on o.id = t.order_id
       join currency c on c.coin = o.coin_to and c.network = o.network_to
      where t.order_id in (select jsonb_array_elements_text(?::jsonb)::uuid)`,
    [JSON.stringify(orderIds)],
  );
}

/** Reads the booked markups of orders, in one statement. */
export async function markupAccruals(em: EntityManager, orderIds: readonly string[]): Promise<MarkupAccrual[]> {
  const rows = await sql<Omit<MarkupAccrual, 'at'> & { at: string }>(
    em,
    `select x.order_id as "orderId", x.at, trim_scale(l.amount)::text as amount, l.coin, l.network
       from ledger_transaction x join ${linesOfTransaction('x')} l on l.account = 'markup'
      where x.kind = 'markup' and x.order_id in (select jsonb_array_elements_text(?::jsonb)::uuid)`,
    [JSON.stringify(orderIds)],
  );
  return rows.map((row) => ({ ...row, at: new Date(row.at) }));
}
