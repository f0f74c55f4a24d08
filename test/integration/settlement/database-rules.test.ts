import { randomUUID } from 'node:crypto';
import { orderMoves } from '../../../src/orders/order-status.ts';
import { type MadeOrder, type SettledGateway, startSettledGateway } from '../../support/gateway/settled-gateway.ts';

/** Writes that the database refuses from every role. */
describe('the database', () => {
  let gateway: SettledGateway;
  let settled: MadeOrder;
  let waiting: MadeOrder;
  let payment: { id: string; deposit_id: string };

  beforeAll(async () => {
    gateway = await startSettledGateway();
    waiting = await gateway.order();
    settled = await gateway.order();
    await gateway.deposit(settled);
    await gateway.settle(settled);
    const [row] = await gateway.query<{ id: string; deposit_id: string }>(
      'select id, deposit_id from payment where order_id = $1',
      [settled.id],
    );
    if (!row) throw new Error('no payment');
    payment = row;
  });
  afterAll(() => gateway?.stop());

  async function refused(sql: string, values: unknown[] = []): Promise<void> {
    await expect(gateway.query(sql, values)).rejects.toMatchObject({ code: expect.stringMatching(/^\w{5}$/) });
  }

  it('has the edges of the table and no others', async () => {
    const rows = await gateway.query<{ edge: string }>(
      `select from_status || ' ' || to_status as edge from order_status_edge`,
    );
    const edges = new Set(Object.values(orderMoves).map(({ from, to }) => `${from} ${to}`));
    expect(rows.map(({ edge }) => edge).sort()).toEqual([...edges].sort());
  });

  it('refuses a status that no edge leads to', async () => {
    await refused(`update exchange_order set status = 'completed' where id = $1`, [waiting.id]);
    await refused(`update exchange_order set status = 'sending' where id = $1`, [settled.id]);
  });

  it('refuses a move without its event', async () => {
    await refused(`update exchange_order set status = 'expired' where id = $1`, [waiting.id]);
  });

  it('refuses an event that does not follow the history', async () => {
    const event = (
      values: string,
    ) => `insert into order_event (order_id, partner_id, seq, at, from_status, to_status, cause, actor)
      select id, partner_id, ${values}, 'x', 'y' from exchange_order where id = $1`;
    await refused(event(`3, now(), 'waiting_deposit', 'expired'`), [waiting.id]);
    await refused(event(`2, now(), 'sending', 'completed'`), [waiting.id]);
    await refused(event(`1, now(), null, 'waiting_deposit'`), [waiting.id]);
  });

  it('stores a new order only with its first event', async () => {
    const copy = (id: string, status: string, seq: number, to: string) =>
      gateway.query(
        `with source as (select * from exchange_order where id = $1), address as (
           insert into deposit_address (id, keychain, index, address, created_at, leased_at)
           select $2::uuid, 'bitcoin', (random() * 1e15)::bigint, 'copy ' || $2::text, now(), now()
         ), event as (
           insert into order_event (order_id, partner_id, seq, at, to_status, cause, actor)
           select $2::uuid, partner_id, $4::int, now(), $5, 'created', 'x' from source where $4::int > 0
         )
         insert into exchange_order
         select (jsonb_populate_record(null::exchange_order, to_jsonb(s) || jsonb_build_object('id', $2,
                  'deposit_address_id', $2, 'status', $3::text, 'short_id', 'COPY-' || upper(left($2::text, 6))))).*
           from source s`,
        [waiting.id, id, status, seq, to],
      );
    await copy(randomUUID(), 'waiting_deposit', 1, 'waiting_deposit');
    for (const [status, seq, to] of [
      ['waiting_deposit', 0, ''],
      ['waiting_deposit', 1, 'confirming'],
      ['waiting_deposit', 2, 'waiting_deposit'],
      ['completed', 1, 'completed'],
    ] as const) {
      await expect(copy(randomUUID(), status, seq, to)).rejects.toMatchObject({ code: '23001' });
    }
  });

  it('refuses to change or delete history rows', async () => {
    for (const table of [
      'order_event',
      'ledger_line',
      'ledger_transaction',
      'payment',
      'payment_attempt',
      'exchange_order',
    ]) {
      await refused(`delete from ${table}`);
      await refused(`truncate ${table} cascade`);
    }
    await refused('update ledger_line set amount = amount * 2');
    await refused(`update order_event set actor = 'changed'`);
  });

  it('refuses to send a payment elsewhere, to change its amount, or to wake it from its end', async () => {
    await refused(`update payment set address = 'elsewhere' where id = $1`, [payment.id]);
    await refused('update payment set amount = amount + 1 where id = $1', [payment.id]);
    await refused(`update payment set state = 'ready', ended_at = null, next_action_at = now() where id = $1`, [
      payment.id,
    ]);
    await refused(`update payment_attempt set raw = 'other' where payment_id = $1`, [payment.id]);
    await refused('update payment_attempt set expires_at_height = 5 where payment_id = $1', [payment.id]);
    await refused('update payment_attempt set expires_at = now() where payment_id = $1', [payment.id]);
  });

  it('lets a dead attempt live again only in a block, and keeps when it died', async () => {
    const update = (members: string): string => `update payment_attempt set ${members} where payment_id = $1`;
    const [row] = await gateway.query<{ height: number }>(
      'select mined_height as height from payment_attempt where payment_id = $1',
      [payment.id],
    );
    await gateway.query(update(`dead_at = now(), dead_why = 'expired', mined_height = null`), [payment.id]);
    await refused(update('dead_at = null, dead_why = null'), [payment.id]);
    await refused(update(`dead_at = now() + interval '1 day'`), [payment.id]);
    await gateway.query(update(`dead_at = null, dead_why = null, mined_height = ${row?.height}`), [payment.id]);
  });

  it('refuses a second live payment of a leg, be it a payout or a refund', async () => {
    await refused(
      `insert into payment (id, kind, order_id, deposit_id, leg, chain, coin, network, address, amount, fee_charged,
                            state, next_action_at, created_at)
       values (gen_random_uuid(), 'refund', $1, $2, 'main', 'bitcoin', 'BTC', 'BTC', 'x', 1, 0, 'ready', now(), now())`,
      [settled.id, payment.deposit_id],
    );
  });

  it('refuses a ledger transaction that does not sum to zero in each asset', async () => {
    const sql = (lines: string): string =>
      `with t as (insert into ledger_transaction (id, kind, reference, at)
                  values (gen_random_uuid(), 'opening', gen_random_uuid()::text, now()) returning id)
       insert into ledger_line (transaction_id, line, account, coin, network, amount)
       select t.id, l.line, l.account, l.coin, l.coin, l.amount from t, (values ${lines}) as l (line, account, coin, amount)`;
    await refused(sql(`(1, 'hot', 'BTC', 1)`));
    await refused(sql(`(1, 'hot', 'BTC', 1), (2, 'opening', 'ETH', -1)`));
    await gateway.query(sql(`(1, 'hot', 'BTC', 1), (2, 'opening', 'BTC', -1)`));
  });

  it('refuses to book the same thing twice', async () => {
    await refused(
      `insert into ledger_transaction (id, kind, reference, at) values (gen_random_uuid(), 'payment', $1, now())`,
      [payment.id],
    );
  });

  it('refuses that a member of staff approves an own proposal', async () => {
    const { member } = await gateway.staff.create('alone@example.com', 'operator');
    await refused(
      `insert into staff_action (id, action, order_id, reason, state, proposed_by, proposed_at, decided_by, decided_at)
       values (gen_random_uuid(), 'retry_payout', $1, 'x', 'done', $2, now(), $2, now())`,
      [waiting.id, member.id],
    );
  });
});
