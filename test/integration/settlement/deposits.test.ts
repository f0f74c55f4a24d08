import { Big } from '../../../src/base/money.ts';
import { addressExample } from '../../../src/chains/addresses/address.ts';
import {
  confirm,
  first,
  gateway,
  networkFee,
  owed,
  payments,
  second,
  status,
  withFaultyGateway,
} from '../../support/gateway/faulty-gateway.ts';

withFaultyGateway();

describe('deposits', () => {
  it('less than expected is exchanged at the rate of the confirmation when the terms float', async () => {
    const order = await gateway.order({ amount_from: 0.01 });
    await confirm(order, { amount: '0.005' });
    await gateway.settle(order);
    expect(await status(order)).toBe('completed');
    const [payout] = await payments(order);
    expect(new Big(payout?.amount ?? '0').times('2').lt(order.amountTo)).toBe(true);
    expect(await owed(order)).toEqual({});
  });

  it('less than expected keeps the quoted price when the terms are fixed', async () => {
    const order = await gateway.order({ amount_from: 0.01, rate_type: 'fixed' });
    const [quoted] = await gateway.query<{ fee: string; network: string }>(
      'select service_fee_quoted::text as fee, network_fee_quoted::text as network from exchange_order where id = $1',
      [order.id],
    );
    const gross = new Big(order.amountTo)
      .plus(quoted?.fee ?? '0')
      .plus(quoted?.network ?? '0')
      .div('2');
    await confirm(order, { amount: '0.005' });
    await gateway.settle(order);
    const [payout] = await payments(order);
    const expected = gross.times('0.99').minus(quoted?.network ?? '0');
    expect(
      expected
        .minus(payout?.amount ?? '0')
        .abs()
        .lt('0.000002'),
    ).toBe(true);
    expect(await status(order)).toBe('completed');
  });

  it('exactly what was expected gives exactly what was quoted when the terms are fixed', async () => {
    const order = await gateway.order({ amount_from: 0.0123, rate_type: 'fixed' });
    await confirm(order);
    await gateway.settle(order);
    expect(await payments(order)).toMatchObject([{ kind: 'payout', state: 'confirmed', amount: order.amountTo }]);
  });

  it('less than the minimum goes back once the window is over, less the fee of its network', async () => {
    const order = await gateway.order();
    await confirm(order, { amount: '0.0001' });
    expect(await status(order)).toBe('waiting_deposit');
    gateway.clock.advance(31 * 60_000);
    await gateway.tick();
    expect(await status(order)).toBe('refunding');
    await gateway.settle(order);
    const amount = new Big('0.0001').minus(await networkFee('BTC', 'BTC')).toFixed();
    const address = addressExample('BTC');
    expect(await payments(order)).toMatchObject([{ kind: 'refund', leg: 'main', state: 'confirmed', amount, address }]);
    expect(await status(order)).toBe('refunded');
    expect(await owed(order)).toEqual({});
  });

  it('more than a fixed order expects is exchanged up to that, and the rest goes back', async () => {
    const order = await gateway.order({ amount_from: 0.01, rate_type: 'fixed' });
    await confirm(order, { amount: '0.015' });
    await gateway.settle(order);
    const excess = new Big('0.005').minus(await networkFee('BTC', 'BTC')).toFixed();
    expect(await payments(order)).toMatchObject([
      { kind: 'payout', leg: 'main', state: 'confirmed', amount: order.amountTo },
      { kind: 'refund', leg: 'excess', state: 'confirmed', amount: excess },
    ]);
    expect(await status(order)).toBe('completed');
    expect(await owed(order)).toEqual({});
  });

  it('an excess that is not worth its fee is kept as unclaimed', async () => {
    const order = await gateway.order({ amount_from: 0.01, rate_type: 'fixed' });
    await confirm(order, { amount: '0.01001' });
    await gateway.settle(order);
    expect(await payments(order)).toHaveLength(1);
    expect(await owed(order)).toEqual({});
  });

  it('more than the maximum is exchanged up to that, and the rest goes back, when the terms float', async () => {
    const order = await gateway.order({ amount_from: 1 });
    const [row] = await gateway.query<{ max: string }>(
      'select max_amount::text as max from exchange_order where id = $1',
      [order.id],
    );
    await confirm(order, { amount: new Big(row?.max ?? '0').plus('0.5').toFixed() });
    await gateway.settle(order);
    const excess = new Big('0.5').minus(await networkFee('BTC', 'BTC')).toFixed();
    expect(await payments(order)).toMatchObject([
      { kind: 'payout', state: 'confirmed' },
      { kind: 'refund', leg: 'excess', amount: excess },
    ]);
    expect(await owed(order)).toEqual({});
  });

  it('a second deposit is refunded by itself', async () => {
    const order = await gateway.order();
    await confirm(order);
    await gateway.settle(order);
    await confirm(order, { amount: '0.007' });
    await gateway.settle(order);
    const amount = new Big('0.007').minus(await networkFee('BTC', 'BTC')).toFixed();
    expect(await payments(order)).toMatchObject([
      { kind: 'payout' },
      { kind: 'refund', leg: 'main', state: 'confirmed', amount },
    ]);
    expect(await status(order)).toBe('completed');
    expect(await owed(order)).toEqual({});
  });

  it('two deposits in one block are one exchange and one refund', async () => {
    const order = await gateway.order();
    await gateway.deposit(order, { amount: '0.01' });
    await confirm(order, { amount: '0.02' });
    await gateway.settle(order);
    expect((await payments(order)).map(({ kind }) => kind).sort()).toEqual(['payout', 'refund']);
    expect(await owed(order)).toEqual({});
  });

  it('a second deposit without a refund address waits for staff, who send it to an address', async () => {
    const order = await gateway.order({ refund_address: undefined });
    await confirm(order);
    await gateway.settle(order);
    await confirm(order, { amount: '0.007' });
    const [extra] = await gateway.query<{ id: string; problem: string }>(
      'select id, problem from deposit where order_id = $1 and problem is not null',
      [order.id],
    );
    expect(extra?.problem).toBe('no_refund_address');
    const { staffActions } = gateway.settlement;
    const recipient = { address: addressExample('BTC'), tag: null };
    const proposal = await staffActions.propose({
      action: 'refund',
      staffId: first,
      depositId: extra?.id ?? '',
      recipient,
      reason: 'asked by mail',
    });
    await staffActions.approve(proposal.id, second);
    await gateway.settle(order);
    expect(await owed(order)).toEqual({});
  });

  it('in time counts, even when the scanner sees it after the window', async () => {
    const order = await gateway.order();
    await gateway.deposit(order);
    await gateway.mine('BTC');
    gateway.clock.advance(31 * 60_000);
    await gateway.settle(order);
    expect(await status(order)).toBe('completed');
  });

  it('a deposit after expiry is refunded', async () => {
    const order = await gateway.order();
    gateway.clock.advance(31 * 60_000);
    await gateway.tick();
    expect(await status(order)).toBe('expired');
    const txid = await gateway.deposit(order);
    await gateway.mine('BTC');
    await gateway.tick();
    expect(await gateway.show(order)).toMatchObject({
      status: 'expired',
      deposit_txid: txid,
      deposit_confirmations: 1,
    });
    await gateway.settle(order);
    await gateway.mine('BTC');
    await gateway.settle(order);
    expect(await gateway.history(order)).toEqual(['created', 'window_passed', 'late_deposit', 'refund_confirmed']);
  });

  it('a deposit with an unknown tag is kept for staff', async () => {
    const order = await gateway.order({
      coin_from: 'XRP',
      network_from: 'XRP',
      amount_from: 500,
      refund_address: undefined,
    });
    await gateway.deposit(order, { tag: '4294967295' });
    await gateway.mine('XRP', 2);
    await gateway.tick();
    expect(await status(order)).toBe('waiting_deposit');
    const [stranger] = await gateway.query<{ id: string; state: string; problem: string }>(
      'select id, state, problem from deposit where order_id is null',
    );
    expect(stranger).toMatchObject({ state: 'credited', problem: 'unknown_tag' });
    const { staffActions } = gateway.settlement;
    const recipient = { address: addressExample('XRP'), tag: '7' };
    const asked = {
      action: 'refund',
      staffId: first,
      depositId: stranger?.id ?? '',
      recipient,
      evidence: 'a message signed by the sender',
      reason: 'proven',
    } as const;
    const proposal = await staffActions.propose(asked);
    await staffActions.approve(proposal.id, second);
    await gateway.settle(order);
    for (let i = 0; i < 4; i++) {
      await gateway.mine('XRP');
      await gateway.tick();
    }
    const [payment] = await gateway.query('select state, tag from payment where deposit_id = $1', [stranger?.id]);
    expect(payment).toEqual({ state: 'confirmed', tag: '7' });
    expect(
      await gateway.query(`select sum(amount) from ledger_line where account = 'suspense' having sum(amount) <> 0`),
    ).toEqual([]);
  });

  it('another coin at the right address is refunded, and the order goes on waiting', async () => {
    const refundAddress = addressExample('ETH');
    const order = await gateway.order({
      coin_from: 'ETH',
      network_from: 'ETH',
      amount_from: 1,
      refund_address: refundAddress,
    });
    await gateway.deposit(order, { coin: 'USDT', network: 'ERC20', amount: '500' });
    await gateway.mine('ETH', 70);
    await gateway.tick();
    expect(await status(order)).toBe('waiting_deposit');
    await gateway.mine('ETH', 2);
    await gateway.tick();
    expect(await payments(order)).toMatchObject([{ kind: 'refund', address: refundAddress }]);
    await gateway.settle(order);
    for (let i = 0; i < 3; i++) {
      await gateway.mine('ETH');
      await gateway.tick();
    }
    expect(await owed(order)).toEqual({});
  });

  it('coins of another chain at the same address need the confirmations of that chain', async () => {
    const order = await gateway.order({
      coin_from: 'BNB',
      network_from: 'BSC',
      amount_from: 1,
      refund_address: addressExample('BSC'),
    });
    await gateway.deposit(order, { coin: 'ETH', network: 'ETH', amount: '1' });
    await gateway.mine('ETH');
    await gateway.tick();
    const [found] = await gateway.query('select confirmations_required from deposit where address = $1', [
      order.depositAddress,
    ]);
    // 15 are enough on BSC.
    expect(found).toEqual({ confirmations_required: 64 });
  });
});
