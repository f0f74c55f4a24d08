import { Big } from '../../../src/base/money.ts';
import {
  faults,
  gateway,
  networkFee,
  payments,
  status,
  waitInMempool,
  withFaultyGateway,
} from '../../support/gateway/faulty-gateway.ts';
import type { MadeOrder } from '../../support/gateway/settled-gateway.ts';

// Deposits below the order's minimum, which any stranger can send to any deposit address.

const minute = 60_000;
/** Below the minimum, and worth more than its refund's fee. */
const small = '0.0001';
/** Worth less than its refund's fee. */
const dust = '0.00002';

withFaultyGateway();

/** Sends a deposit in a separate block, and lets settlement run once. Returns the txid. */
async function mined(order: MadeOrder, amount?: string): Promise<string> {
  const txid = await gateway.deposit(order, amount === undefined ? {} : { amount });
  await gateway.mine('BTC');
  await gateway.tick();
  return txid;
}

async function pass(minutes: number): Promise<void> {
  gateway.clock.advance(minutes * minute);
  await gateway.tick();
}

async function problems({ id }: MadeOrder): Promise<(string | null)[]> {
  const rows = await gateway.query<{ problem: string | null }>(
    'select problem from deposit where order_id = $1 order by seen_at, id',
    [id],
  );
  return rows.map(({ problem }) => problem);
}

const refundOf = async (amount: string): Promise<string> =>
  new Big(amount).minus(await networkFee('BTC', 'BTC')).toFixed();

describe('a deposit below the minimum', () => {
  it('in a block ahead of the real deposit does not fail the order', async () => {
    const order = await gateway.order();
    const real = await gateway.deposit(order);
    await gateway.tick();
    expect(await gateway.show(order)).toMatchObject({
      status: 'confirming',
      deposit_txid: real,
      deposit_confirmations: 0,
    });
    await gateway.settlement.sandbox.drop('bitcoin', real);
    await mined(order, dust);
    await gateway.mine('BTC', 2);
    await gateway.tick();
    const again = await mined(order);
    await gateway.settle(order);
    expect(await gateway.show(order)).toMatchObject({ status: 'completed', deposit_txid: again });
    expect(await gateway.history(order)).not.toContain('below_minimum');
  });

  it('mined while the real deposit waits in the mempool does not take its place', async () => {
    const order = await gateway.order();
    const txid = await waitInMempool(order);
    for (const amount of [dust, small]) await mined(order, amount);
    await gateway.mine('BTC', 2);
    await gateway.tick();
    expect(await gateway.show(order)).toMatchObject({
      status: 'confirming',
      deposit_txid: txid,
      deposit_confirmations: 0,
    });
    faults.stuck = null;
    const real = await mined(order);
    await gateway.settle(order);
    expect(await gateway.show(order)).toMatchObject({ status: 'completed', deposit_txid: real });
  });

  it('does not end the waiting, sixty times over', async () => {
    const order = await gateway.order();
    for (let sent = 0; sent < 60; sent++) await gateway.deposit(order, { amount: dust });
    await gateway.tick();
    expect(await gateway.show(order)).toMatchObject({ status: 'waiting_deposit', deposit_txid: null });
    await gateway.mine('BTC', 3);
    await gateway.tick();
    expect(await gateway.show(order)).toMatchObject({
      status: 'waiting_deposit',
      deposit_txid: null,
      deposit_confirmations: null,
    });
    expect(await payments(order)).toEqual([]);
    const real = await mined(order);
    await gateway.settle(order);
    expect(await gateway.show(order)).toMatchObject({ status: 'completed', deposit_txid: real });
    expect(new Set(await problems(order))).toEqual(new Set(['below_fee', null]));
    expect(await payments(order)).toMatchObject([{ kind: 'payout', state: 'confirmed' }]);
  });

  it('is refunded by itself once another deposit is exchanged', async () => {
    const order = await gateway.order();
    await mined(order, small);
    await mined(order);
    expect(await payments(order)).toEqual([]);
    await gateway.settle(order);
    expect(await status(order)).toBe('completed');
    expect((await payments(order)).toSorted((a, b) => a.kind.localeCompare(b.kind))).toMatchObject([
      { kind: 'payout', state: 'confirmed' },
      { kind: 'refund', state: 'confirmed', amount: await refundOf(small) },
    ]);
  });
});

describe('an order that got less than the minimum only', () => {
  it('waits until its window ends, then sends the largest back and the others by themselves', async () => {
    const order = await gateway.order();
    for (const amount of [small, '0.0002', dust]) await mined(order, amount);
    await gateway.mine('BTC', 2);
    await gateway.tick();
    await pass(29);
    expect(await gateway.history(order)).toEqual(['created']);
    await pass(2);
    expect(await status(order)).toBe('refunding');
    await gateway.settle(order);
    expect(await gateway.history(order)).toEqual(['created', 'below_minimum', 'refund_confirmed']);
    const sent = (await payments(order)).map(({ kind, amount }) => `${kind} ${amount}`);
    expect(sent.toSorted()).toEqual(
      [`refund ${await refundOf(small)}`, `refund ${await refundOf('0.0002')}`].toSorted(),
    );
    expect(await problems(order)).toEqual([null, null, 'below_fee']);
  });

  it.each([
    ['that is not worth its fee', dust, {}, 'below_fee'],
    ['and has no refund address', small, { refund_address: undefined }, 'no_refund_address'],
  ])('%s expires, and never fails', async (_title, amount, changes, problem) => {
    const order = await gateway.order(changes);
    await mined(order, amount);
    await gateway.mine('BTC', 2);
    await pass(31);
    expect(await gateway.history(order)).toEqual(['created', 'window_passed']);
    expect(await problems(order)).toEqual([problem]);
    expect(await payments(order)).toEqual([]);
    // Nor does what a stranger sends afterwards.
    await mined(order, amount);
    await gateway.mine('BTC', 2);
    await gateway.tick();
    expect(await status(order)).toBe('expired');
  });

  it('waits for its confirmations after the window, but not for longer than the grace', async () => {
    const [soon, never] = [await gateway.order(), await gateway.order()];
    await waitInMempool(never, 10_000n);
    await pass(29);
    await mined(soon, small);
    await pass(2);
    expect(await status(soon)).toBe('waiting_deposit');
    expect(await status(never)).toBe('waiting_deposit');
    await gateway.mine('BTC', 2);
    await gateway.tick();
    expect(await status(soon)).toBe('refunding');
    await pass(10);
    expect(await gateway.show(never)).toMatchObject({ status: 'expired', deposit_txid: null });
    await gateway.settle(soon);
    expect(await status(soon)).toBe('refunded');
  });

  it('after it had expired is refunded when that is worth its fee', async () => {
    const order = await gateway.order();
    await pass(31);
    expect(await status(order)).toBe('expired');
    await mined(order, small);
    await gateway.settle(order);
    await gateway.mine('BTC', 2);
    await gateway.settle(order);
    expect(await gateway.history(order)).toEqual(['created', 'window_passed', 'late_deposit', 'refund_confirmed']);
  });

  it('because its real deposit was reorganised away waits again, and is decided at the end of its window', async () => {
    const order = await gateway.order();
    await mined(order, small);
    const real = await mined(order);
    await gateway.mine('BTC');
    await gateway.query('update deposit set confirmations_required = 10 where txid = $1', [real]);
    await gateway.tick();
    expect(await status(order)).toBe('confirming');
    await gateway.reorg('BTC', 2, false);
    await gateway.tick();
    expect(await gateway.show(order)).toMatchObject({ status: 'waiting_deposit', deposit_txid: null });
    expect(await payments(order)).toEqual([]);
    await pass(31);
    await gateway.settle(order);
    expect(await gateway.history(order)).toEqual([
      'created',
      'deposit_seen',
      'deposit_lost',
      'below_minimum',
      'refund_confirmed',
    ]);
  });

  it('because its real deposit was reorganised away after the window goes the same way', async () => {
    const order = await gateway.order();
    await mined(order, small);
    const real = await mined(order);
    await gateway.mine('BTC');
    await gateway.query('update deposit set confirmations_required = 10 where txid = $1', [real]);
    await pass(31);
    expect(await status(order)).toBe('confirming');
    await gateway.reorg('BTC', 2, false);
    await gateway.settle(order);
    expect(await gateway.history(order)).toEqual([
      'created',
      'deposit_seen',
      'deposit_lost',
      'below_minimum',
      'refund_confirmed',
    ]);
  });
});
