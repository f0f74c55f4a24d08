import { addressExample } from '../../../src/chains/addresses/address.ts';
import { ChainError, ReorgTooDeep } from '../../../src/chains/port/chain-adapter.ts';
import {
  changeHands,
  confirm,
  faults,
  first,
  gateway,
  owed,
  payments,
  second,
  status,
  waitInMempool,
  withFaultyGateway,
} from '../../support/gateway/faulty-gateway.ts';

withFaultyGateway({ losesDeposits: true });

describe('a chain with a reorg', () => {
  it('lets an order wait again, and takes the deposit when it comes back', async () => {
    const order = await gateway.order();
    await gateway.deposit(order);
    await gateway.mine('BTC');
    await gateway.tick();
    expect(await status(order)).toBe('confirming');
    await gateway.reorg('BTC', 1, false);
    await gateway.tick();
    expect(await gateway.show(order)).toMatchObject({
      status: 'waiting_deposit',
      deposit_txid: null,
      deposit_confirmations: null,
    });
    await confirm(order);
    await gateway.settle(order);
    expect(await gateway.history(order)).toEqual([
      'created',
      'deposit_seen',
      'deposit_lost',
      'deposit_seen',
      'deposit_confirmed',
      'liquidity_bought',
      'payout_confirmed',
    ]);
  });

  it('keeps an order confirming whose deposit is back in the mempool', async () => {
    const order = await gateway.order();
    const txid = await gateway.deposit(order);
    await gateway.mine('BTC');
    await gateway.tick();
    await gateway.reorg('BTC', 1);
    await gateway.tick();
    expect(await gateway.show(order)).toMatchObject({
      status: 'confirming',
      deposit_txid: txid,
      deposit_confirmations: 0,
    });
    await gateway.settle(order);
    expect(await status(order)).toBe('completed');
  });

  it('expires an order whose deposit is gone after the window', async () => {
    const order = await gateway.order();
    await gateway.deposit(order);
    await gateway.mine('BTC');
    await gateway.tick();
    gateway.clock.advance(40 * 60_000);
    await gateway.reorg('BTC', 1, false);
    await gateway.tick();
    expect(await gateway.history(order)).toEqual(['created', 'deposit_seen', 'deposit_lost_late']);
  });

  it('does not hold an order open for a transaction that stays out of the blocks', async () => {
    const order = await gateway.order({ rate_type: 'fixed' });
    await gateway.deposit(order);
    await gateway.tick();
    expect(await status(order)).toBe('confirming');
    gateway.clock.advance(61 * 60_000);
    await gateway.tick();
    expect(await status(order)).toBe('expired');
    await gateway.mine('BTC', 2);
    await gateway.tick();
    expect(await status(order)).toBe('refunding');
    await gateway.settle(order);
    expect(await status(order)).toBe('refunded');
  });

  it('exchanges the deposit that is mined when an earlier one stays out of the blocks', async () => {
    const order = await gateway.order();
    await waitInMempool(order);
    expect(await status(order)).toBe('confirming');
    const txid = await confirm(order, { amount: '0.02' });
    expect(await gateway.show(order)).toMatchObject({ status: 'sending', deposit_txid: txid });
    gateway.clock.advance(61 * 60_000);
    await gateway.settle(order);
    expect(await payments(order)).toMatchObject([{ kind: 'payout', state: 'confirmed' }]);
    expect(await owed(order)).toEqual({});
  });

  it('never exchanges a deposit that is on its way back', async () => {
    const order = await gateway.order();
    const first = await gateway.deposit(order);
    await gateway.mine('BTC');
    await gateway.tick();
    await gateway.query('update deposit set confirmations_required = 10 where order_id = $1', [order.id]);
    await confirm(order, { amount: '0.007' });
    expect(await payments(order)).toMatchObject([{ kind: 'refund', leg: 'main' }]);
    await gateway.query("update deposit set state = 'orphaned', height = null where txid = $1", [first]);
    await gateway.settlement.settler.settle([order.id]);
    expect(await status(order)).toBe('waiting_deposit');
    await gateway.query("update deposit set state = 'mined', height = 1 where txid = $1", [first]);
    await gateway.settle(order);
    expect(await gateway.show(order)).toMatchObject({ status: 'completed', deposit_txid: first });
    expect((await payments(order)).map(({ kind }) => kind)).toEqual(['refund', 'payout']);
    expect(await owed(order)).toEqual({});
  });

  it('keeps what staff must decide about a deposit that was gone for a while', async () => {
    const order = await gateway.order({ amount_from: 0.01, rate_type: 'fixed', refund_address: undefined });
    await confirm(order, { amount: '0.02' });
    await gateway.reorg('BTC', 2);
    await gateway.tick();
    await gateway.mine('BTC', 2);
    await gateway.settle(order);
    expect(await gateway.query('select state, problem from deposit where order_id = $1', [order.id])).toEqual([
      { state: 'credited', problem: 'no_refund_address' },
    ]);
    await gateway.settlement.staffActions
      .propose({
        action: 'refund',
        staffId: first,
        orderId: order.id,
        recipient: { address: addressExample('BTC'), tag: null },
        reason: 'the rest',
      })
      .then(({ id }) => gateway.settlement.staffActions.approve(id, second));
    await gateway.settle(order);
    expect(await owed(order)).toEqual({});
  });

  it('holds the payout of an order whose credited deposit is gone, until it comes back', async () => {
    faults.signerAway = true;
    const order = await gateway.order();
    await confirm(order);
    expect(await status(order)).toBe('sending');
    await gateway.reorg('BTC', 2);
    await gateway.tick();
    faults.signerAway = false;
    gateway.clock.advance(60_000);
    await gateway.mine('TRC20');
    await gateway.tick();
    const [held] = await gateway.query('select hold_reason from exchange_order where id = $1', [order.id]);
    expect(held).toEqual({ hold_reason: 'deposit_reorganised' });
    expect((await payments(order))[0]?.state).toMatch(/ready|prepared/);
    await gateway.mine('BTC', 2);
    await gateway.settle(order);
    expect(await status(order)).toBe('completed');
    expect(await owed(order)).toEqual({});
  });
});

describe('blocks that an interrupted scan named', () => {
  it('stay as they are where a version that names none read them to their end', async () => {
    const order = await gateway.order();
    await confirm(order);
    await gateway.settle(order);
    await gateway.query(
      `update chain_state set unsettled_blocks = (select jsonb_agg(block_hash) from deposit where order_id = $1)
        where chain = 'bitcoin'`,
      [order.id],
    );
    await changeHands();
    await gateway.mine('BTC');
    await gateway.tick();
    const [deposit] = await gateway.query('select state, credits from deposit where order_id = $1', [order.id]);
    expect(deposit).toEqual({ state: 'credited', credits: 1 });
    const [left] = await gateway.query(`select unsettled_blocks as left from chain_state where chain = 'bitcoin'`);
    expect(left).toEqual({ left: [] });
  });
});

describe('a rescan', () => {
  it.each([
    20, 230,
  ])('of %d blocks takes a deposit for lost only when it reached the head without it', async (depth) => {
    const [order, gone] = [await gateway.order(), await gateway.order()];
    await gateway.mine('BTC', depth);
    await gateway.deposit(order);
    const lost = await gateway.deposit(gone);
    await gateway.mine('BTC');
    await gateway.tick();
    for (const one of [order, gone]) expect(await status(one)).toBe('confirming');
    gateway.clock.advance(31 * 60_000);
    await gateway.reorg('BTC', 1);
    await gateway.settlement.sandbox.drop('bitcoin', lost);
    await gateway.mine('BTC');
    await gateway.query(
      `update chain_state set rescan_from = height - $1, fence = fence + 1, lease_owner = null, lease_until = null
        where chain = 'bitcoin'`,
      [depth],
    );
    await gateway.tick();
    expect(await gateway.history(gone)).toEqual(['created', 'deposit_seen', 'deposit_lost_late']);
    await gateway.settle(order);
    expect(await status(order)).toBe('completed');
    expect(await gateway.history(order)).not.toContain('deposit_lost_late');
  });
});

describe('a chain that cannot be read', () => {
  it('lets its orders wait until it was read to its head', async () => {
    const [order, unpaid] = [await gateway.order(), await gateway.order()];
    await gateway.tick();
    await gateway.deposit(order);
    await gateway.mine('BTC');
    faults.scan = async () => {
      throw new ChainError('unreachable', 'no route to host');
    };
    gateway.clock.advance(31 * 60_000);
    await gateway.tick();
    const failing = () => gateway.query(`select failure from chain_state where chain = 'bitcoin'`);
    expect(await failing()).toEqual([{ failure: 'unreachable' }]);
    gateway.clock.advance(31 * 60_000);
    await gateway.tick();
    for (const one of [order, unpaid]) expect(await status(one)).toBe('waiting_deposit');
    faults.scan = null;
    await gateway.settle(order);
    expect(await status(order)).toBe('completed');
    expect(await status(unpaid)).toBe('expired');
    expect(await failing()).toEqual([{ failure: null }]);
  });

  it('does not expire orders by a time of reading that is still to come', async () => {
    const order = await gateway.order();
    faults.scan = async () => {
      throw new ChainError('unreachable', 'no route to host');
    };
    gateway.clock.advance(31 * 60_000);
    const future = new Date(gateway.clock.now().getTime() + 3_600_000);
    await gateway.query(`update chain_state set read_at = $1 where chain = 'bitcoin'`, [future]);
    await gateway.tick();
    expect(await status(order)).toBe('waiting_deposit');
    faults.scan = null;
    await gateway.tick();
    await gateway.tick();
    expect(await status(order)).toBe('expired');
  });

  it('does not decide deposits below the minimum by a time of reading that is still to come', async () => {
    const order = await gateway.order();
    await confirm(order, { amount: '0.0001' });
    faults.scan = async () => {
      throw new ChainError('unreachable', 'no route to host');
    };
    gateway.clock.advance(31 * 60_000);
    const future = new Date(gateway.clock.now().getTime() + 3_600_000);
    await gateway.query(`update chain_state set read_at = $1 where chain = 'bitcoin'`, [future]);
    await gateway.tick();
    expect(await status(order)).toBe('waiting_deposit');
    faults.scan = null;
    await gateway.tick();
    gateway.clock.advance(6_000);
    await gateway.settle(order);
    expect(await status(order)).toBe('refunded');
  });

  it('is failing no longer when another process could read it', async () => {
    await gateway.query(
      `update chain_state set failure = 'unreachable', failing_since = now() where chain = 'bitcoin'`,
    );
    await gateway.tick();
    expect(await gateway.query('select chain from chain_state where failing_since is not null')).toEqual([]);
  });
});

describe('a mempool transaction', () => {
  it('is not gone when one poll of the node omits it', async () => {
    const order = await gateway.order();
    await gateway.deposit(order);
    await gateway.tick();
    expect(await status(order)).toBe('confirming');
    await changeHands();
    faults.pending = () => ({ transfers: [], left: new Set() });
    for (let look = 0; look < 3; look += 1) await gateway.tick();
    gateway.clock.advance(31 * 60_000);
    await gateway.tick();
    expect(await status(order)).toBe('confirming');
    faults.pending = null;
    await gateway.settle(order);
    expect(await status(order)).toBe('completed');
  });

  it('that a block holds by the time the blocks are read counts once', async () => {
    const { sandbox, adapters } = gateway.settlement;
    const order = await gateway.order();
    const to = (await adapters.get('bitcoin')?.hotWallet())?.address ?? '';
    const toHot = { to, tag: null, contract: null, busyBlocks: 0 };
    const txids = [
      await gateway.deposit(order),
      await sandbox.pay('bitcoin', { ...toHot, amount: 300_000_000n }),
      await sandbox.pay('bitcoin', { ...toHot, amount: 1n }),
    ];
    faults.scan = async (chain) => {
      if (chain === 'bitcoin') await gateway.mine('BTC');
    };
    await gateway.tick();
    faults.scan = null;
    await gateway.settle(order);
    const rows = await gateway.query<{ amount: string }>(
      `select trim_scale(amount)::text as amount from deposit where txid = any($1) order by amount`,
      [txids],
    );
    expect(rows).toEqual([{ amount: '0.00000001' }, { amount: order.amountFrom }, { amount: '3' }]);
    expect(await gateway.differences()).toEqual([]);
  });

  it('is gone when two polls of the node say so', async () => {
    const order = await gateway.order();
    const txid = await gateway.deposit(order);
    await gateway.tick();
    await gateway.settlement.sandbox.drop('bitcoin', txid);
    await changeHands();
    await gateway.tick();
    expect(await status(order)).toBe('confirming');
    await gateway.tick();
    expect(await status(order)).toBe('waiting_deposit');
  });

  it('is skipped while its poll fails, and the blocks are read all the same', async () => {
    faults.pending = () => {
      throw new ChainError('busy', 'the node is busy');
    };
    const order = await gateway.order();
    await gateway.deposit(order);
    await gateway.mine('BTC');
    await gateway.tick();
    expect(await gateway.show(order)).toMatchObject({ status: 'confirming', deposit_confirmations: 1 });
    await gateway.settle(order);
    expect(await status(order)).toBe('completed');
  });

  it('changes no row when it pays only foreign addresses', async () => {
    await gateway.tick();
    const version = () => gateway.query(`select version from chain_state where chain = 'bitcoin'`);
    const before = await version();
    for (const digit of ['a', 'b']) {
      const txid = digit.repeat(64);
      const transfer = {
        key: `${txid}:0`,
        txid,
        address: addressExample('BTC'),
        tag: null,
        contract: null,
        amount: 1n,
      };
      faults.stuck = { chain: 'bitcoin', transfer };
      await gateway.tick();
      await gateway.tick();
    }
    expect(await version()).toEqual(before);
  });
});

describe('a chain that was reorganised too deep', () => {
  it('goes on without reversals when the next worker sees the old chain again', async () => {
    const order = await gateway.order();
    await confirm(order);
    await gateway.settle(order);
    faults.scan = async (chain) => {
      if (chain === 'bitcoin') throw new ReorgTooDeep(chain, 100);
    };
    await gateway.tick();
    faults.scan = null;
    const problem = () => gateway.query(`select problem from chain_state where chain = 'bitcoin'`);
    await gateway.tick();
    expect(await problem()).toEqual([{ problem: 'reorg_too_deep' }]);
    await changeHands();
    await gateway.tick();
    expect(await problem()).toEqual([{ problem: null }]);
    const deposits = await gateway.query('select state, credits from deposit where order_id = $1', [order.id]);
    expect(deposits).toEqual([{ state: 'credited', credits: 1 }]);
  });

  it('pays nothing until it is read on', async () => {
    const order = await gateway.order();
    faults.scan = async (chain) => {
      if (chain === 'tron') throw new ReorgTooDeep(chain, 100);
    };
    await confirm(order);
    await gateway.settle(order);
    expect(await status(order)).toBe('sending');
    expect(await payments(order)).toMatchObject([{ state: 'ready' }]);
    faults.scan = null;
    await changeHands('tron');
    await gateway.settle(order);
    expect(await status(order)).toBe('completed');
  });

  it('is not read on until a rescan, which takes back what is gone and credits what is there', async () => {
    const [order, gone] = [await gateway.order(), await gateway.order()];
    await gateway.mine('BTC', 3);
    await confirm(order);
    await confirm(gone);
    for (const one of [order, gone]) await gateway.settle(one);
    await gateway.mine('BTC', 100);
    await gateway.tick();
    await gateway.reorg('BTC', 120);
    const [lost] = await gateway.query<{ txid: string }>('select txid from deposit where order_id = $1', [gone.id]);
    await gateway.settlement.sandbox.drop('bitcoin', lost?.txid ?? '');
    await gateway.tick();
    const state = 'select problem, height::int as height from chain_state where chain = $1';
    const [stopped] = await gateway.query<{ problem: string | null; height: number }>(state, ['bitcoin']);
    expect(stopped?.problem).toBe('reorg_too_deep');
    await changeHands();
    await gateway.tick();
    // The worker that takes over looks once whether the chain is back.
    expect(await gateway.query(state, ['bitcoin'])).toEqual([stopped]);
    await gateway.query(
      `update chain_state set rescan_from = greatest(0, height - 130), fence = fence + 1, lease_owner = null,
              lease_until = null
        where chain = 'bitcoin'`,
    );
    await gateway.tick();
    await gateway.mine('BTC', 3);
    await gateway.tick();
    const deposits = await gateway.query(
      'select order_id, state, credits, problem from deposit where order_id in ($1, $2) order by order_id = $2',
      [order.id, gone.id],
    );
    expect(deposits).toEqual([
      { order_id: order.id, state: 'credited', credits: 2, problem: null },
      { order_id: gone.id, state: 'orphaned', credits: 1, problem: null },
    ]);
    expect(await owed(gone)).toEqual({ BTC: '-0.01' });
  });
});
