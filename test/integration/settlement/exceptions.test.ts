import { Big } from '../../../src/base/money.ts';
import { addressExample } from '../../../src/chains/addresses/address.ts';
import { SignerError } from '../../../src/chains/port/signer.ts';
import { attention } from '../../../src/orders/read/attention.ts';
import {
  confirm,
  faults,
  first,
  gateway,
  networkFee,
  owed,
  payments,
  second,
  staffRefund,
  status,
  withFaultyGateway,
} from '../../support/gateway/faulty-gateway.ts';

withFaultyGateway();

describe('the liquidity venue', () => {
  it('rejects until the deadline, and the deposit goes back', async () => {
    faults.venue = async () => ({ outcome: 'rejected', code: 'slippage' });
    const order = await gateway.order();
    await confirm(order);
    expect(await status(order)).toBe('exchanging');
    gateway.clock.advance(16 * 60_000);
    await gateway.tick();
    expect(await status(order)).toBe('refunding');
    await gateway.settle(order);
    expect(await status(order)).toBe('refunded');
    expect(await owed(order)).toEqual({});
  });

  it('gives no answer after it filled, and is asked again for the same fill', async () => {
    faults.venue = async (trade) => {
      await trade();
      throw new Error('timeout');
    };
    const order = await gateway.order();
    await confirm(order);
    expect(await status(order)).toBe('exchanging');
    faults.venue = null;
    gateway.clock.advance(20_000);
    await gateway.settle(order);
    expect(await status(order)).toBe('completed');
    const fills = await gateway.query('select client_id from sandbox_fill where client_id = $1', [order.id]);
    expect(fills).toHaveLength(1);
  });

  it('filled, stayed silent past the deadline, and the fill is found and paid out', async () => {
    faults.venue = async (trade) => {
      await trade();
      throw new Error('timeout');
    };
    const order = await gateway.order();
    await confirm(order);
    gateway.clock.advance(20 * 60_000);
    await gateway.settle(order);
    expect(await status(order)).toBe('completed');
  });
});

describe('a payment', () => {
  it('that the chain executes and that moves nothing fails the order, and staff retry it', async () => {
    const refusing = addressExample('TRC20');
    await gateway.settlement.sandbox.refuse('tron', refusing);
    const order = await gateway.order();
    await confirm(order);
    await gateway.settle(order);
    expect(await status(order)).toBe('failed');
    expect(await payments(order)).toMatchObject([{ kind: 'payout', state: 'dead', problem: 'failed_on_chain' }]);
    await gateway.settlement.sandbox.accept('tron', refusing);
    const { staffActions } = gateway.settlement;
    const asked = { action: 'retry_payout', staffId: first, orderId: order.id, reason: 'wallet mended' } as const;
    const proposal = await staffActions.propose(asked);
    await staffActions.approve(proposal.id, second);
    await expect(staffActions.approve(proposal.id, second)).rejects.toMatchObject({ kind: 'action_not_possible' });
    await gateway.settle(order);
    expect(await status(order)).toBe('completed');
    expect((await payments(order)).map(({ state }) => state).sort()).toEqual(['confirmed', 'dead']);
    expect(await owed(order)).toEqual({});
  });

  it('of a second deposit that fails is shown to staff, who send it elsewhere', async () => {
    const refusing = addressExample('BTC');
    const order = await gateway.order();
    await confirm(order);
    await gateway.settle(order);
    await gateway.settlement.sandbox.refuse('bitcoin', refusing);
    await confirm(order, { amount: '0.007' });
    await gateway.settle(order);
    const [extra] = await gateway.query<{ id: string; problem: string }>(
      `select id, problem from deposit where order_id = $1 and problem is not null`,
      [order.id],
    );
    expect(extra?.problem).toBe('refund_failed');
    await gateway.settlement.sandbox.accept('bitcoin', refusing);
    const { staffActions } = gateway.settlement;
    const recipient = { address: refusing, tag: null };
    const depositId = extra?.id ?? '';
    const proposal = await staffActions.propose({
      action: 'refund',
      staffId: first,
      depositId,
      recipient,
      reason: 'again',
    });
    await staffActions.approve(proposal.id, second);
    await gateway.settle(order);
    expect(await owed(order)).toEqual({});
  });

  /** An overpaid order whose payout is refused for good, and whose deposit staff send back. */
  async function refundedAfterRefusal(
    changes: Record<string, unknown> = {},
  ): Promise<Awaited<ReturnType<typeof gateway.order>>> {
    const refusing = addressExample('TRC20');
    await gateway.settlement.sandbox.refuse('tron', refusing);
    const order = await gateway.order({ amount_from: 0.01, rate_type: 'fixed', ...changes });
    await confirm(order, { amount: '0.015' });
    await gateway.settle(order);
    expect(await status(order)).toBe('failed');
    await gateway.settlement.sandbox.accept('tron', refusing);
    await staffRefund(order, addressExample('BTC'));
    await gateway.settle(order);
    expect(await status(order)).toBe('refunded');
    return order;
  }

  it('that can never be made is given up, and the deposit goes back instead', async () => {
    const order = await refundedAfterRefusal();
    const fee = await networkFee('BTC', 'BTC');
    expect(await payments(order)).toMatchObject([
      { kind: 'payout', state: 'dead' },
      { kind: 'refund', leg: 'excess', state: 'confirmed', amount: new Big('0.005').minus(fee).toFixed() },
      { kind: 'refund', leg: 'main', state: 'confirmed', amount: new Big('0.01').minus(fee).toFixed() },
    ]);
    expect(await owed(order)).toEqual({});
  });

  it('of which a part waits for a refund address goes back in both parts, the second once there is one', async () => {
    const order = await refundedAfterRefusal({ refund_address: undefined });
    const set = await gateway.call('PUT', `/partner/orders/${order.id}/refund-address`, {
      key: gateway.key,
      body: { refund_address: addressExample('BTC') },
    });
    expect(set.status).toBe(200);
    await gateway.tick();
    await gateway.mine('BTC', 3);
    await gateway.settle(order);
    const fee = await networkFee('BTC', 'BTC');
    expect(await payments(order)).toMatchObject([
      { kind: 'payout', state: 'dead' },
      { kind: 'refund', leg: 'main', state: 'confirmed', amount: new Big('0.01').minus(fee).toFixed() },
      { kind: 'refund', leg: 'excess', state: 'confirmed', amount: new Big('0.005').minus(fee).toFixed() },
    ]);
    expect(await owed(order)).toEqual({});
  });

  it('without a refund address fails the order, and staff send it to an address', async () => {
    const order = await gateway.order({ refund_address: undefined });
    gateway.clock.advance(31 * 60_000);
    await gateway.tick();
    await confirm(order);
    expect(await gateway.history(order)).toEqual(['created', 'window_passed', 'late_deposit', 'no_refund_address']);
    await staffRefund(order, addressExample('BTC'));
    await gateway.settle(order);
    expect(await status(order)).toBe('refunded');
    expect(await owed(order)).toEqual({});
  });

  it('is sent again with the same bytes when the node forgot it', async () => {
    const order = await gateway.order();
    await confirm(order);
    const [attempt] = await gateway.query<{ txid: string }>(
      `select a.txid from payment_attempt a join payment p on p.id = a.payment_id where p.order_id = $1`,
      [order.id],
    );
    const txid = attempt?.txid ?? '';
    await gateway.settlement.sandbox.drop('tron', txid);
    gateway.clock.advance(6_000);
    await gateway.settle(order);
    expect(await gateway.show(order)).toMatchObject({ status: 'completed', payout_txid: txid });
    expect(faults.sent.get(txid)?.size).toBe(1);
  });

  it('that went out although the node threw is not made twice', async () => {
    faults.broadcast = async (send) => {
      await send();
      throw new Error('socket hang up');
    };
    const order = await gateway.order();
    await confirm(order);
    await gateway.settle(order);
    expect(await status(order)).toBe('completed');
    const paid = await gateway.query(
      `select 1 from sandbox_tx where recipient = $1 and success and txid in
         (select txid from payment_attempt a join payment p on p.id = a.payment_id where p.order_id = $2)`,
      [addressExample('TRC20'), order.id],
    );
    expect(paid).toHaveLength(1);
  });

  it('that no node finds for long fails the order; found later, staff finish it without a second one', async () => {
    faults.broadcast = async () => {};
    const order = await gateway.order();
    await confirm(order);
    gateway.clock.advance(6_000);
    await gateway.tick();
    gateway.clock.advance(11 * 60_000);
    await gateway.tick();
    expect(await status(order)).toBe('failed');
    await expect(staffRefund(order, addressExample('BTC'))).rejects.toMatchObject({ kind: 'action_not_possible' });
    faults.broadcast = null;
    gateway.clock.advance(60_000);
    await gateway.tick();
    for (let i = 0; i < 4; i++) {
      await gateway.mine('TRC20');
      await gateway.tick();
    }
    const { staffActions } = gateway.settlement;
    const asked = { action: 'retry_payout', staffId: first, orderId: order.id, reason: 'it was found' } as const;
    await staffActions.approve((await staffActions.propose(asked)).id, second);
    await gateway.settle(order);
    expect(await status(order)).toBe('completed');
    expect(await payments(order)).toHaveLength(1);
    expect(await owed(order)).toEqual({});
  });

  it('waits while its fee is too high', async () => {
    faults.feeFactor = 10n ** 9n;
    const order = await gateway.order();
    await confirm(order);
    expect(await payments(order)).toMatchObject([{ state: 'ready', problem: 'fee_too_high' }]);
    faults.feeFactor = 1n;
    gateway.clock.advance(60_000);
    await gateway.settle(order);
    expect(await status(order)).toBe('completed');
  });

  // The fee is 0.001 TRX. Ten times 3 USDT are 230 TRX, and ten times the fee of TRX are 15.
  it("takes a token's transaction at ten times the token's fee, and not above", async () => {
    faults.feeFactor = 300_000n;
    const order = await gateway.order();
    await confirm(order);
    expect(await payments(order)).toMatchObject([{ state: 'ready', problem: 'fee_too_high' }]);
    faults.feeFactor = 60_000n;
    gateway.clock.advance(60_000);
    await gateway.tick();
    // The bytes state the usual fee, so that only the signer is left to refuse it.
    expect(await payments(order)).toMatchObject([{ state: 'ready', problem: 'signer_refused' }]);
    faults.feeFactor = 1n;
    gateway.clock.advance(600_000);
    await gateway.settle(order);
    expect(await status(order)).toBe('completed');
  });

  it('waits while the signer is away, and nothing of it is lost', async () => {
    faults.signerAway = true;
    const order = await gateway.order();
    await confirm(order);
    expect(await payments(order)).toMatchObject([{ state: 'prepared', problem: 'signer_unavailable' }]);
    faults.signerAway = false;
    gateway.clock.advance(60_000);
    await gateway.settle(order);
    expect(await status(order)).toBe('completed');
  });

  it('behind a gap of nonces goes out once the gap is filled', async () => {
    const orders = [await gateway.order(), await gateway.order()] as const;
    faults.broadcast = async () => {};
    await confirm(orders[0]);
    faults.broadcast = null;
    await confirm(orders[1]);
    await gateway.mine('TRC20', 3);
    expect(await status(orders[1])).toBe('sending');
    const anHourLater = new Date(gateway.clock.now().getTime() + 3_601_000);
    expect(await attention(gateway.app.orm.em.fork(), 100, anHourLater)).toContainEqual(
      expect.objectContaining({ kind: 'payment_problem', orderId: orders[1].id, detail: 'not_in_a_block' }),
    );
    gateway.clock.advance(6_000);
    for (const order of orders) await gateway.settle(order);
    expect(await status(orders[0])).toBe('completed');
    expect(await status(orders[1])).toBe('completed');
  });

  it('is undone by a reorganisation and confirms again', async () => {
    const order = await gateway.order();
    await confirm(order);
    await gateway.mine('TRC20');
    await gateway.tick();
    const { payout_txid: txid } = await gateway.show(order);
    expect(txid).not.toBeNull();
    await gateway.reorg('TRC20', 1, false);
    await gateway.tick();
    gateway.clock.advance(6_000);
    await gateway.settle(order);
    expect(await gateway.show(order)).toMatchObject({ status: 'completed', payout_txid: txid });
  });
});

describe('staff', () => {
  it('hold a payout that waits for the signer, and it is revoked until they release it', async () => {
    const order = await gateway.order();
    const { staffActions } = gateway.settlement;
    faults.signerAway = true;
    await confirm(order);
    expect(await payments(order)).toMatchObject([{ state: 'prepared' }]);
    await staffActions.propose({ action: 'hold', staffId: first, orderId: order.id, reason: 'stop' });
    gateway.clock.advance(60_000);
    await gateway.tick();
    expect(await payments(order)).toMatchObject([{ state: 'prepared', problem: 'signer_unavailable' }]);
    faults.signerAway = false;
    gateway.clock.advance(60_000);
    await gateway.tick();
    expect(await payments(order)).toMatchObject([{ state: 'ready', problem: null }]);
    const asked = { action: 'release', staffId: first, orderId: order.id, reason: 'go on' } as const;
    await staffActions.approve((await staffActions.propose(asked)).id, second);
    await gateway.settle(order);
    expect(await status(order)).toBe('completed');
  });

  it('release a payout whose worker died as it revoked it, and it goes out at once', async () => {
    const order = await gateway.order();
    const { staffActions } = gateway.settlement;
    faults.signerAway = true;
    await confirm(order);
    await staffActions.propose({ action: 'hold', staffId: first, orderId: order.id, reason: 'stop' });
    faults.signerAway = false;
    // As a worker leaves it that dies before it hears the answer.
    faults.revoking = async (revoke) => {
      expect(await revoke()).toBeNull();
      throw new SignerError('unavailable', 'no answer');
    };
    gateway.clock.advance(60_000);
    await gateway.tick();
    expect(await payments(order)).toMatchObject([{ state: 'prepared' }]);
    faults.revoking = null;
    const asked = { action: 'release', staffId: first, orderId: order.id, reason: 'go on' } as const;
    await staffActions.approve((await staffActions.propose(asked)).id, second);
    gateway.clock.advance(3_000);
    await gateway.tick();
    expect(await payments(order)).toMatchObject([{ state: 'ready', problem: null }]);
    gateway.clock.advance(3_000);
    await gateway.tick();
    expect(await payments(order)).toMatchObject([{ state: 'sent' }]);
    await gateway.settle(order);
    expect(await status(order)).toBe('completed');
  });

  it('hold a payout too late once the signer has signed it, and it goes out once', async () => {
    const order = await gateway.order();
    const { staffActions } = gateway.settlement;
    // As a worker leaves it that dies before it hears the answer.
    faults.signing = async (sign) => {
      await sign();
      throw new SignerError('unavailable', 'no answer');
    };
    await confirm(order);
    expect(await payments(order)).toMatchObject([{ state: 'prepared' }]);
    await staffActions.propose({ action: 'hold', staffId: first, orderId: order.id, reason: 'stop' });
    const stop = { action: 'mark_failed', staffId: first, orderId: order.id, reason: 'stop' } as const;
    await expect(staffActions.propose(stop)).rejects.toThrow('may have signed it');
    faults.signing = null;
    gateway.clock.advance(60_000);
    await gateway.tick();
    expect(await payments(order)).toMatchObject([{ state: 'sent', problem: null }]);
    const asked = { action: 'release', staffId: first, orderId: order.id, reason: 'go on' } as const;
    await staffActions.approve((await staffActions.propose(asked)).id, second);
    await gateway.settle(order);
    expect(await status(order)).toBe('completed');
    expect(await payments(order)).toHaveLength(1);
  });

  it('hold an order, and a second member releases it', async () => {
    const order = await gateway.order();
    const { staffActions } = gateway.settlement;
    await staffActions.propose({ action: 'hold', staffId: first, orderId: order.id, reason: 'looks odd' });
    await confirm(order);
    await gateway.mine('BTC', 3);
    await gateway.tick();
    expect(await status(order)).toBe('confirming');
    const asked = { action: 'release', staffId: first, orderId: order.id, reason: 'fine' } as const;
    const proposal = await staffActions.propose(asked);
    await staffActions.approve(proposal.id, second);
    await gateway.settle(order);
    expect(await status(order)).toBe('completed');
  });

  it('mark a payout as failed that was never signed, and refund is refused after the exchange', async () => {
    faults.signing = () => Promise.reject(new SignerError('refused', 'above a limit'));
    const order = await gateway.order();
    await confirm(order);
    const { staffActions } = gateway.settlement;
    await staffActions.propose({ action: 'mark_failed', staffId: first, orderId: order.id, reason: 'stop' });
    expect(await status(order)).toBe('failed');
    faults.signing = null;
    const asked = { action: 'retry_payout', staffId: first, orderId: order.id, reason: 'go' } as const;
    await staffActions.approve((await staffActions.propose(asked)).id, second);
    await gateway.settle(order);
    expect(await status(order)).toBe('completed');
    expect((await payments(order)).map(({ state }) => state)).toEqual(['dead', 'confirmed']);
  });

  it('mark a payout as failed, and the refund of a second deposit still goes out', async () => {
    faults.signing = () => Promise.reject(new SignerError('refused', 'above a limit'));
    const order = await gateway.order();
    await gateway.deposit(order);
    await confirm(order, { amount: '0.007' });
    const { staffActions } = gateway.settlement;
    await staffActions.propose({ action: 'mark_failed', staffId: first, orderId: order.id, reason: 'stop' });
    expect((await payments(order)).map(({ kind, state }) => [kind, state]).sort()).toEqual([
      ['payout', 'dead'],
      ['refund', 'ready'],
    ]);
    faults.signing = null;
    gateway.clock.advance(3_600_000);
    await gateway.settle(order);
    expect((await payments(order)).find(({ kind }) => kind === 'refund')?.state).toBe('confirmed');
  });

  it('mark a payout as failed after a second deposit was refunded', async () => {
    faults.venue = async () => ({ outcome: 'rejected', code: 'slippage' });
    const order = await gateway.order();
    await gateway.deposit(order);
    await confirm(order, { amount: '0.007' });
    await gateway.mine('BTC', 3);
    await gateway.tick();
    faults.signing = () => Promise.reject(new SignerError('refused', 'above a limit'));
    faults.venue = null;
    gateway.clock.advance(20_000);
    await gateway.tick();
    const states = async () => (await payments(order)).map(({ kind, state }) => [kind, state]);
    expect(await states()).toEqual([
      ['refund', 'confirmed'],
      ['payout', 'ready'],
    ]);
    const { staffActions } = gateway.settlement;
    await staffActions.propose({ action: 'mark_failed', staffId: first, orderId: order.id, reason: 'stop' });
    expect([await status(order), ...(await states())]).toEqual(['failed', ['refund', 'confirmed'], ['payout', 'dead']]);
  });

  it('cannot take an action that the state of the order forbids', async () => {
    const order = await gateway.order();
    const { staffActions } = gateway.settlement;
    const by = { staffId: first, orderId: order.id, reason: 'why not' };
    for (const action of ['retry_payout', 'mark_failed', 'release'] as const) {
      await expect(staffActions.propose({ action, ...by })).rejects.toMatchObject({ kind: 'action_not_possible' });
    }
    await expect(staffActions.propose({ action: 'hold', ...by, reason: '  ' })).rejects.toMatchObject({
      kind: 'invalid_value',
    });
    const rows = await gateway.query('select 1 from staff_action where order_id = $1', [order.id]);
    expect(rows).toEqual([]);
  });
});
