import type { EntityManager } from '@mikro-orm/postgresql';
import type { OrderPolicy } from '../order-terms.ts';

/** What a partner agreed on for one order beyond its pair, amount and addresses. */
export interface OrderAgreement {
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
  return em.execute<OrderAgreement[]>(
    `select order_id as "orderId", external_id as "externalId", metadata, policy,
            trim_scale(min_amount_to)::text as "minAmountTo", markup_bps as "markupBps",
            encode(quote_nonce, 'hex') as "quoteNonce", trim_scale(quote_adverse_bps)::text as "quoteAdverseBps"
       from order_terms where order_id in (select jsonb_array_elements_text(?::jsonb)::uuid)`,
    [JSON.stringify(orderIds)],
  );
}

/** Reads the booked markups of orders, in one statement. */
export async function markupAccruals(em: EntityManager, orderIds: readonly string[]): Promise<MarkupAccrual[]> {
  const rows = await em.execute<(Omit<MarkupAccrual, 'at'> & { at: string })[]>(
    `select x.order_id as "orderId", x.at, trim_scale(-l.amount)::text as amount, l.coin, l.network
       from ledger_transaction x join ledger_line l on l.transaction_id = x.id and l.account like 'partner:%'
      where x.kind = 'markup' and x.order_id in (select jsonb_array_elements_text(?::jsonb)::uuid)`,
    [JSON.stringify(orderIds)],
  );
  return rows.map((row) => ({ ...row, at: new Date(row.at) }));
}
