import { Big, formatDecimal } from '../../../src/base/money.ts';
import { addressExample } from '../../../src/chains/addresses/address.ts';
import { attention } from '../../../src/orders/read/attention.ts';
import { Faults } from '../../support/faults/faults.ts';
import {
  endWindow,
  type MadeOrder,
  type SettledGateway,
  startSettledGateway,
} from '../../support/gateway/settled-gateway.ts';

const faults = new Faults();
let gateway: SettledGateway;
let first: string;
let second: string;

beforeAll(async () => {
  gateway = await startSettledGateway({ outside: faults.outside() });
  first = (await gateway.staff.create('first@example.com', 'operator')).member.id;
  second = (await gateway.staff.create('second@example.com', 'operator')).member.id;
  await gateway.mine('BTC', 20);
  await gateway.tick();
});
afterAll(() => gateway?.stop());
afterEach(() => {
  faults.feeFactor = 1n;
  faults.venue = null;
});

interface PaymentRow {
  readonly kind: string;
  readonly leg: string;
  readonly state: string;
  readonly amount: string;
}

function payments({ id }: MadeOrder): Promise<PaymentRow[]> {
  return gateway.query<PaymentRow>(
    'select kind, leg, state, trim_scale(amount)::text as amount from payment where order_id = $1 order by number',
    [id],
  );
}

/** The order's deposits as they were seen, each with its problem. */
async function problems({ id }: MadeOrder): Promise<(string | null)[]> {
  const rows = await gateway.query<{ problem: string | null }>(
    'select problem from deposit where order_id = $1 order by seen_at, id',
    [id],
  );
  return rows.map(({ problem }) => problem);
}

/** What the order's user is owed, by coin; below zero where the account is in debit. */
async function owed({ id }: MadeOrder): Promise<Record<string, string>> {
  const rows = await gateway.query<{ coin: string; owed: string }>(
    `select coin, trim_scale(-sum(amount))::text as owed
       from ledger_line l join ledger_transaction t on t.id = l.transaction_id
      where t.order_id = $1 and account = 'client' group by coin having sum(amount) <> 0`,
    [id],
  );
  return Object.fromEntries(rows.map((row) => [row.coin, row.owed]));
}

async function confirm(order: MadeOrder, changes: Parameters<SettledGateway['deposit']>[1] = {}): Promise<string> {
  const txid = await gateway.deposit(order, changes);
  await gateway.mine(order.networkFrom, order.networkFrom === 'BTC' ? 2 : 25);
  await gateway.tick();
  return txid;
}

/** A reorganisation that drops one transaction and mines the others again. */
async function lose(txid: string, chain = 'bitcoin'): Promise<void> {
  const { sandbox } = gateway.settlement;
  const [row] = await gateway.query<{ depth: number }>(
    `select (c.height - t.height + 1)::int as depth from sandbox_tx t join sandbox_chain c on c.chain = t.chain
      where t.chain = $1 and t.txid = $2`,
    [chain, txid],
  );
  await sandbox.reorg(chain, row?.depth ?? 0);
  await sandbox.drop(chain, txid);
  await sandbox.mine(chain, chain === 'bitcoin' ? 8 : 25);
  await gateway.tick();
}

/** The transaction that was dropped is mined after all. */
async function bringBack(txid: string, network = 'BTC'): Promise<void> {
  await gateway.query(`update sandbox_tx set state = 'mempool' where txid = $1`, [txid]);
  await gateway.mine(network, network === 'BTC' ? 3 : 25);
  await gateway.tick();
}

async function settleMore(order: MadeOrder): Promise<void> {
  for (let round = 0; round < 8; round++) {
    await gateway.tick();
    for (const network of new Set([order.networkFrom, order.networkTo])) await gateway.mine(network);
    gateway.clock.advance(6_000);
  }
}

async function btcFee(): Promise<string> {
  return gateway.app.catalogue.find('BTC', 'BTC')?.networkFee ?? '0';
}

/** An order that was paid out for a deposit that is then gone. */
async function inDebit(): Promise<{ order: MadeOrder; gone: string }> {
  const order = await gateway.order({ amount_from: 0.01 });
  const gone = await confirm(order);
  await gateway.settle(order);
  expect((await gateway.show(order)).status).toBe('completed');
  await lose(gone);
  expect(await owed(order)).toEqual({ BTC: '-0.01' });
  return { order, gone };
}

async function attentionOf(order: MadeOrder): Promise<{ kind: string; detail: string }[]> {
  const items = await attention(gateway.app.orm.em.fork(), 1_000, gateway.clock.now());
  return items.filter(({ orderId }) => orderId === order.id).map(({ kind, detail }) => ({ kind, detail }));
}

describe('a deposit that is reorganised away after the payout', () => {
  it('is a difference and an item of attention until it returns', async () => {
    const { order, gone } = await inDebit();
    expect(await attentionOf(order)).toContainEqual({ kind: 'client_debit', detail: '0.01 BTC on BTC' });
    expect(await gateway.differences()).toMatchObject([{ check: 'debits', difference: '-0.01' }]);
    await bringBack(gone);
    expect(await owed(order)).toEqual({});
    expect(await attentionOf(order)).toEqual([]);
    expect(await gateway.differences()).toEqual([]);
  });

  it('and is paid again by another transaction is not refunded', async () => {
    const { order } = await inDebit();
    await confirm(order);
    await settleMore(order);
    expect(await payments(order)).toMatchObject([{ kind: 'payout', state: 'confirmed' }]);
    expect(await problems(order)).toEqual([null, 'netted']);
    expect(await owed(order)).toEqual({});
    expect(await gateway.differences()).toEqual([]);
  });

  it('and is paid again with more gets only the excess refunded', async () => {
    const { order } = await inDebit();
    await confirm(order, { amount: '0.015' });
    await settleMore(order);
    const refunded = formatDecimal(new Big('0.005').minus(await btcFee()));
    expect(await payments(order)).toMatchObject([
      { kind: 'payout', state: 'confirmed' },
      { kind: 'refund', state: 'confirmed', amount: refunded },
    ]);
    expect(await problems(order)).toEqual([null, 'netted']);
    expect(await owed(order)).toEqual({});
    expect(await gateway.differences()).toEqual([]);
  });

  it('and is paid again in part stays in debit, and the part is not refunded', async () => {
    const { order, gone } = await inDebit();
    await confirm(order, { amount: '0.004' });
    await settleMore(order);
    expect(await owed(order)).toEqual({ BTC: '-0.006' });
    expect((await payments(order)).map(({ kind }) => kind)).toEqual(['payout']);
    await bringBack(gone);
    await settleMore(order);
    const refunded = formatDecimal(new Big('0.004').minus(await btcFee()));
    expect((await payments(order)).slice(1)).toMatchObject([{ kind: 'refund', state: 'confirmed', amount: refunded }]);
    expect(await owed(order)).toEqual({});
    expect(await problems(order)).toEqual([null, null]);
    expect(await gateway.differences()).toEqual([]);
  });

  it('and returns after another was partly refunded gets the rest of the other one refunded', async () => {
    const { order, gone } = await inDebit();
    await confirm(order, { amount: '0.015' });
    await settleMore(order);
    await bringBack(gone);
    await settleMore(order);
    const fee = await btcFee();
    expect((await payments(order)).slice(1)).toMatchObject([
      { kind: 'refund', leg: 'main', state: 'confirmed', amount: formatDecimal(new Big('0.005').minus(fee)) },
      { kind: 'refund', leg: 'excess', state: 'confirmed', amount: formatDecimal(new Big('0.01').minus(fee)) },
    ]);
    expect(await owed(order)).toEqual({});
    expect(await problems(order)).toEqual([null, null]);
    expect(await gateway.differences()).toEqual([]);
  });

  it('stops the refund of another deposit that was ready before', async () => {
    const order = await gateway.order({ amount_from: 0.01 });
    const gone = await confirm(order);
    await gateway.settle(order);
    faults.feeFactor = 1_000n;
    await confirm(order, { amount: '0.004' });
    expect((await payments(order))[1]).toMatchObject({ kind: 'refund', state: 'ready' });
    await lose(gone);
    faults.feeFactor = 1n;
    gateway.clock.advance(60_000);
    await settleMore(order);
    expect((await payments(order))[1]).toMatchObject({ kind: 'refund', state: 'ready' });
    expect(await owed(order)).toEqual({ BTC: '-0.006' });
    await bringBack(gone);
    await settleMore(order);
    expect((await payments(order))[1]).toMatchObject({ kind: 'refund', state: 'confirmed' });
    expect(await owed(order)).toEqual({});
  });

  it('stops the payout of what other deposits brought as well', async () => {
    const order = await gateway.order({
      coin_from: 'USDT',
      network_from: 'TRC20',
      coin_to: 'BTC',
      network_to: 'BTC',
      amount_from: 500,
      recipient_address: addressExample('BTC'),
    });
    const other = await confirm(order, { coin: 'TRX', network: 'TRX', amount: '200' });
    await settleMore(order);
    expect(await payments(order)).toMatchObject([{ kind: 'refund', state: 'confirmed' }]);
    await lose(other, 'tron');
    expect(await owed(order)).toEqual({ TRX: '-200' });
    await confirm(order);
    await settleMore(order);
    expect((await gateway.show(order)).status).toBe('exchanging');
    expect(await payments(order)).toHaveLength(1);
    await bringBack(other, 'TRC20');
    await settleMore(order);
    expect((await gateway.show(order)).status).toBe('completed');
    expect(await owed(order)).toEqual({});
  });
});

describe('a deposit that is reorganised away after its refund', () => {
  it('and is paid again is not refunded a second time', async () => {
    const order = await gateway.order({ amount_from: 0.01 });
    const gone = await confirm(order, { amount: '0.0002' });
    await endWindow(gateway, order);
    await settleMore(order);
    expect((await gateway.show(order)).status).toBe('refunded');
    await lose(gone);
    await settleMore(order);
    expect(await owed(order)).toEqual({ BTC: '-0.0002' });
    await confirm(order, { amount: '0.0002' });
    await settleMore(order);
    expect(await payments(order)).toMatchObject([{ kind: 'refund', state: 'confirmed' }]);
    expect(await problems(order)).toEqual([null, 'netted']);
    expect(await owed(order)).toEqual({});
    expect(await gateway.differences()).toEqual([]);
  });
});

describe('staff', () => {
  it('cannot refund a deposit of an order in debit, nor what another deposit fills', async () => {
    const { order } = await inDebit();
    await confirm(order, { amount: '0.004' });
    const rows = await gateway.query<{ id: string }>(
      'select id from deposit where order_id = $1 order by seen_at desc limit 1',
      [order.id],
    );
    const recipient = { address: addressExample('BTC'), tag: null };
    const asked = {
      action: 'refund',
      staffId: first,
      depositId: rows[0]?.id ?? '',
      recipient,
      reason: 'asked',
    } as const;
    await expect(gateway.settlement.staffActions.propose(asked)).rejects.toMatchObject({ kind: 'action_not_possible' });
    await confirm(order, { amount: '0.006' });
    await expect(gateway.settlement.staffActions.propose(asked)).rejects.toMatchObject({ kind: 'action_not_possible' });
    expect((await payments(order)).map(({ kind }) => kind)).toEqual(['payout']);
  });

  it('release an order whose deposit was replaced by another one, and its payout goes out once', async () => {
    const order = await gateway.order({ amount_from: 0.01 });
    faults.feeFactor = 1_000n;
    const gone = await confirm(order);
    await gateway.tick();
    expect(await payments(order)).toMatchObject([{ kind: 'payout', state: 'ready' }]);
    await lose(gone);
    faults.feeFactor = 1n;
    gateway.clock.advance(400_000);
    const { staffActions } = gateway.settlement;
    const release = async () => {
      const asked = { action: 'release', staffId: first, orderId: order.id, reason: 'go on' } as const;
      await staffActions.approve((await staffActions.propose(asked)).id, second);
    };
    await release();
    await settleMore(order);
    expect(await payments(order)).toMatchObject([{ kind: 'payout', state: 'ready' }]);
    await confirm(order);
    await settleMore(order);
    expect(await payments(order)).toMatchObject([{ kind: 'payout', state: 'confirmed' }]);
    expect((await gateway.show(order)).status).toBe('completed');
    expect(await owed(order)).toEqual({});
    expect(await gateway.differences()).toEqual([]);
  });
});

describe('an exchange', () => {
  it('never takes more than the order is owed', async () => {
    const order = await gateway.order({ amount_from: 0.01 });
    faults.venue = async () => ({ outcome: 'rejected', code: 'no_inventory' });
    await confirm(order);
    const extra = await confirm(order, { amount: '0.004' });
    await settleMore(order);
    expect(await payments(order)).toMatchObject([{ kind: 'refund', state: 'confirmed' }]);
    await lose(extra);
    faults.venue = null;
    expect(await owed(order)).toEqual({ BTC: '0.006' });
    gateway.clock.advance(1_000_000);
    await settleMore(order);
    const refunded = formatDecimal(new Big('0.006').minus(await btcFee()));
    expect((await payments(order)).slice(1)).toMatchObject([{ kind: 'refund', state: 'confirmed', amount: refunded }]);
    expect(await owed(order)).toEqual({});
    expect(await gateway.differences()).toEqual([]);
  });

  it('that the venue filled while the deposit was lost is paid out only when the deposit is back', async () => {
    const order = await gateway.order({ amount_from: 0.01 });
    faults.venue = async (trade) => {
      await trade();
      throw new Error('the answer is lost');
    };
    const gone = await confirm(order);
    await lose(gone);
    faults.venue = null;
    gateway.clock.advance(1_000_000);
    const { staffActions } = gateway.settlement;
    const asked = { action: 'release', staffId: first, orderId: order.id, reason: 'go on' } as const;
    await staffActions.approve((await staffActions.propose(asked)).id, second);
    await settleMore(order);
    expect(await gateway.show(order)).toMatchObject({ status: 'sending' });
    expect(await payments(order)).toEqual([]);
    await bringBack(gone);
    await settleMore(order);
    expect(await payments(order)).toMatchObject([{ kind: 'payout', state: 'confirmed' }]);
    expect(await owed(order)).toEqual({});
    expect(await gateway.differences()).toEqual([]);
  });
});
