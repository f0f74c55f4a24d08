import type { Rows } from './orders.ts';

/** Makes sure that a partner has an open month at a moment. Returns the month: '2026-11'. */
export async function openMonth(query: Rows, partnerId: string, at: Date): Promise<string> {
  const month = at.toISOString().slice(0, 7);
  await query(
    `insert into commission_statement (partner_id, month, coin, network) values ($1, $2, 'USDC', 'ERC20')
     on conflict do nothing`,
    [partnerId, `${month}-01`],
  );
  return month;
}
