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
  ])('together with another one that is %s, is covered: %s', async (state, covered) => {
    expect(await isPaymentCovered({ state, amount: '0.4' })).toBe(covered);
  });

  it('is covered when both take exactly what is owed', async () => {
    expect(await isPaymentCovered({ state: 'sent', amount: '0.3' })).toBe(true);
  });

  it('is not covered when another one begins with it', async () => {
    expect(await isPaymentCovered({ state: 'ready', amount: '0.4' }, 'q.id = 2')).toBe(false);
  });
});

describe('an account with thousands of lines', () => {
  let filled: TestDatabase;
  beforeAll(async () => {
    filled = await createDatabase();
    await query(
      filled.url,
      `with booked as (
         insert into ledger_transaction (id, kind, reference, at)
         select gen_random_uuid(), 'opening', 'of the test ' || n, now() from generate_series(1, 5000) as n returning id)
       insert into ledger_line (transaction_id, line, account, coin, network, amount)
       select id, line, case line when 1 then 'client' else 'deposits' end, 'BTC', 'BTC', case line when 1 then -1 else 1 end
         from booked cross join generate_series(1, 2) as line`,
    );
    // Statistics of a time when the account had no lines, and orders had few.
    for (const [table, column, statistics] of [
      [
        'ledger_line',
        'account',
        `'n_distinct', 2::real, 'most_common_vals', '{deposits,hot}', 'most_common_freqs', '{0.9,0.0999}'::real[]`,
      ],
      ['ledger_transaction', 'order_id', `'n_distinct', '-0.001'::real`],
    ]) {
      await query(filled.url, `alter table ${table} set (autovacuum_enabled = false)`);
      await query(
        filled.url,
        `select pg_restore_attribute_stats('schemaname', 'public', 'relname', '${table}', 'attname', '${column}',
                                           'inherited', false, 'null_frac', 0::real, 'avg_width', 8, ${statistics})`,
      );
    }
  });
  afterAll(() => filled?.drop());

  async function planOf(sql: string): Promise<string> {
    const plan = await query<{ 'QUERY PLAN': string }>(filled.url, `explain ${sql}`);
    return plan.map((row) => row['QUERY PLAN']).join('\n');
  }

  it('is read by the transactions of the order, though old statistics say that it is small', async () => {
    // The statistics mislead a plain join, or this would not test anything.
    expect(
      await planOf(
        `select p.id from payment p where exists (select from ledger_transaction x
           join ledger_line l on l.transaction_id = x.id and l.account = 'client' where x.order_id = p.order_id offset 0)`,
      ),
    ).toContain('ledger_line_account');
    const plan = await planOf(`select p.id from payment p where ${isCovered()}`);
    expect(plan).toMatch(/Scan (using|on) ledger_line_pkey/);
    expect(plan).not.toContain('ledger_line_account');
  });
});
