/**
 * SQL: what an order at an exchange moved on the account, as rows of `coin` and `amount`. The view
 * `venue_result` counts in the same way.
 *
 * @param order the alias of its row of `venue_order`, which has its figures: it is closed.
 */
export const orderMoves = (order: string): string => `(
  select ${order}.base as coin, case ${order}.side when 'buy' then ${order}.filled else -${order}.filled end as amount
  union all
  select ${order}.quote, case ${order}.side when 'buy' then -${order}.cost else ${order}.cost end
  union all
  select fee ->> 'coin', -(fee ->> 'amount')::numeric from jsonb_array_elements(${order}.fees) as fee
)`;
