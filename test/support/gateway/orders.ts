import { setTimeout as sleep } from 'node:timers/promises';
import { addressExample } from '../../../src/chains/addresses/address.ts';

/**
 * Pairs with an amount: chains with few confirmations to pay in, on several chains, and the most
 * different ones to be paid on.
 */
export const quickPairs = [
  ['BTC', 'BTC', 'USDT', 'TRC20', 0.01],
  ['LTC', 'LTC', 'ETH', 'ETH', 2],
  ['BTC', 'BTC', 'SOL', 'SOL', 0.005],
  ['LTC', 'LTC', 'BTC', 'BTC', 5],
  ['XRP', 'XRP', 'DOGE', 'DOGE', 500],
  ['XRP', 'XRP', 'LTC', 'LTC', 300],
] as const;

/** A body that creates an order, with changes. */
export function orderBody(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    coin_from: 'BTC',
    network_from: 'BTC',
    coin_to: 'USDT',
    network_to: 'TRC20',
    amount_from: 0.01,
    rate_type: 'float',
    recipient_address: addressExample('TRC20'),
    ...changes,
  };
}

/** A body without one member. */
export function orderBodyWithout(member: string): Record<string, unknown> {
  const { [member]: _left, ...rest } = orderBody();
  return rest;
}

/** Rows of one statement. */
export type Rows = <Row extends object>(sql: string, values?: unknown[]) => Promise<Row[]>;

/** Whether an order is at rest: only a new deposit can change it. */
export async function isAtRest(rows: Rows, orderId: string): Promise<boolean> {
  const [row] = await rows<{ status: string; open: number }>(
    `select status, (select count(*)::int from payment where order_id = $1 and state not in ('confirmed', 'dead'))
       as open from exchange_order where id = $1`,
    [orderId],
  );
  return row?.open === 0 && ['completed', 'refunded', 'failed', 'waiting_deposit', 'expired'].includes(row.status);
}

/** Facts in histories besides moves and questions: `extra-events.test.ts`. */
const besideMoves: readonly string[] = [
  'small_deposit',
  'deposit_added',
  'extra_refund_decided',
  'extra_refund_confirmed',
  'extra_refund_failed',
  'held',
  'released',
];

/** Causes of an order's moves and questions, in order. */
export async function causesOf(rows: Rows, orderId: string): Promise<string[]> {
  const moves = await rows<{ cause: string }>('select cause from order_event where order_id = $1 order by seq', [
    orderId,
  ]);
  return moves.map(({ cause }) => cause).filter((cause) => !besideMoves.includes(cause));
}

/**
 * Waits until the feed has all that was committed. It tells nothing of what was written since the
 * oldest transaction of the whole server began, and other tests have theirs on the same server.
 */
export async function feedCatchesUp(rows: Rows): Promise<void> {
  for (const deadline = Date.now() + 150_000; Date.now() < deadline; await sleep(20)) {
    const ahead = await rows('select 1 from order_event where xid >= pg_snapshot_xmin(pg_current_snapshot()) limit 1');
    if (ahead.length === 0) return;
  }
  throw new Error('a transaction on this server has been open for 150 s');
}
