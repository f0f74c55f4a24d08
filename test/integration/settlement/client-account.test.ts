import type { PaymentState } from '../../../src/settlement/rows/payment.entity.ts';
import { isCovered } from '../../../src/settlement/rules/client-account.ts';
import { createDatabase, query, type TestDatabase } from '../../support/database/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase('empty');
});
afterAll(() => database?.drop());

/**
 * Whether a payment of 0.5 with a fee of 0.1 is covered, on an account that is owed 1. The rows
 * stand in for the tables of the same names.
 */
async function isPaymentCovered(other: { state: PaymentState; amount: string }, beginning?: string): Promise<boolean> {
  const [row] = await query<{ covered: boolean }>(
    database.url,
    `with ledger_transaction (id, order_id) as (values (1, 1)),
          ledger_line (transaction_id, account, coin, network, amount) as (
            values (1, 'client', 'BTC', 'BTC', -1.0), (1, 'deposits', 'BTC', 'BTC', 1.0)),
          payment (id, order_id, coin, network, amount, fee_charged, state) as (
            values (1, 1, 'BTC', 'BTC', 0.5, 0.1, 'ready'), (2, 1, 'BTC', 'BTC', $1::numeric, 0.1, $2))
     select ${isCovered(beginning)} as covered from payment p where p.id = 1`,
    [other.amount, other.state],
  );
  return row?.covered ?? false;
}

describe('a payment that takes more than half of what its order is owed', () => {
  it.each<[PaymentState, boolean]>([
    ['prepared', false],
    ['signed', false],
    ['sent', false],
    // It has not begun.
    ['ready', true],
    // It is in the ledger.
    ['confirmed', true],
    ['dead', true],
  ])('beside another one that is %s, is covered: %s', async (state, covered) => {
    expect(await isPaymentCovered({ state, amount: '0.4' })).toBe(covered);
  });

  it('is covered when both take exactly what is owed', async () => {
    expect(await isPaymentCovered({ state: 'sent', amount: '0.3' })).toBe(true);
  });

  it('is not covered when another one begins with it', async () => {
    expect(await isPaymentCovered({ state: 'ready', amount: '0.4' }, 'q.id = 2')).toBe(false);
  });
});
