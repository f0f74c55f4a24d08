import { randomBytes } from 'node:crypto';
import { addressExample } from '../../../src/chains/address.ts';
import { ChainError, ReorgTooDeep } from '../../../src/chains/chain-adapter.ts';
import { SignerError } from '../../../src/chains/signer.ts';
import { Big } from '../../../src/money.ts';
import { attention } from '../../../src/reports/attention.ts';
import { Faults } from '../../support/faults.ts';
import { type MadeOrder, type SettledGateway, startSettledGateway } from '../../support/settled-gateway.ts';

const faults = new Faults();
let gateway: SettledGateway;
let first: string;
let second: string;

beforeAll(async () => {
  gateway = await startSettledGateway({ surroundings: faults.surroundings() });
  first = (await gateway.staff.create('first@example.com', 'operator')).member.id;
  second = (await gateway.staff.create('second@example.com', 'operator')).member.id;
});
afterAll(async () => {
  try {
    // One order here loses its deposit for good after it was paid out.
    expect((await gateway.differences()).filter(({ check }) => check !== 'debits')).toEqual([]);
  } finally {
    await gateway?.stop();
  }
});
afterEach(async () => {
  faults.broadcast = null;
  faults.status = null;
  faults.stuck = null;
  faults.pending = null;
  faults.scan = null;
  faults.feeFactor = 1n;
  faults.signerAway = false;
  faults.signing = null;
  faults.venue = null;
  const unbalanced = await gateway.query(
    'select coin, sum(amount) from ledger_line group by coin having sum(amount) <> 0',
  );
  expect(unbalanced).toEqual([]);
});

/** As when another process takes the chain over. */
function changeHands(chain = 'bitcoin'): Promise<object[]> {
  return gateway.query(
    'update chain_state set fence = fence + 1, lease_owner = null, lease_until = null where chain = $1',
    [chain],
  );
}

interface PaymentRow {
  readonly id: string;
  readonly kind: string;
  readonly leg: string;
  readonly state: string;
  readonly amount: string;
  readonly address: string;
  readonly problem: string | null;
}

function payments({ id }: MadeOrder): Promise<PaymentRow[]> {
  return gateway.query<PaymentRow>(
    `select id, kind, leg, state, trim_scale(amount)::text as amount, address, problem
       from payment where order_id = $1 order by number`,
    [id],
  );
}

/** What the order's user is still owed, by coin. */
async function owed({ id }: MadeOrder): Promise<Record<string, string>> {
  const rows = await gateway.query<{ coin: string; owed: string }>(
    `select coin, trim_scale(-sum(amount))::text as owed from ledger_line l join ledger_transaction t on t.id = l.transaction_id
      where t.order_id = $1 and account = 'client' group by coin having sum(amount) <> 0`,
    [id],
  );
  return Object.fromEntries(rows.map(({ coin, owed }) => [coin, owed]));
}

async function status(order: MadeOrder): Promise<string> {
  return (await gateway.show(order)).status;
}

async function networkFee(coin: string, network: string): Promise<Big> {
  return new Big(gateway.app.catalogue.find(coin, network)?.networkFee ?? '0');
}

/** A confirmed deposit of the order, and what follows at once. */
async function confirm(order: MadeOrder, changes: Parameters<SettledGateway['deposit']>[1] = {}): Promise<string> {
  const txid = await gateway.deposit(order, changes);
  await gateway.mine(order.networkFrom, 2);
  await gateway.tick();
  return txid;
}

/** A deposit of the order that is seen and that no block takes. */
async function waitInMempool({ depositAddress: address, depositTag: tag }: MadeOrder): Promise<void> {
  const txid = randomBytes(32).toString('hex');
  const transfer = { key: `${txid}:0`, txid, address, tag, contract: null, amount: 1_000_000n };
  faults.stuck = { chain: 'bitcoin', transfer };
  await gateway.tick();
}

async function staffRefund(order: MadeOrder, address: string): Promise<void> {
  const recipient = { address, tag: null };
  const { staffActions } = gateway.settlement;
  const asked = { action: 'refund', staffId: first, orderId: order.id, recipient, reason: 'the user asked' } as const;
  const proposal = await staffActions.propose(asked);
  expect(await status(order)).toBe('failed');
  await expect(staffActions.approve(proposal.id, first)).rejects.toMatchObject({ kind: 'second_member_needed' });
  await staffActions.approve(proposal.id, second);
}

describe('what arrives', () => {
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

  it('in time counts, even when nobody was there to see it until the window had passed', async () => {
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

  it('a deposit with a tag that is nobody’s is kept for staff', async () => {
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

describe('a chain that changes its mind', () => {
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

  it('is failing no longer when another process could read it', async () => {
    await gateway.query(
      `update chain_state set failure = 'unreachable', failing_since = now() where chain = 'bitcoin'`,
    );
    await gateway.tick();
    expect(await gateway.query('select chain from chain_state where failing_since is not null')).toEqual([]);
  });
});

describe('what waits for a block', () => {
  it('is not gone because a node did not tell of it again', async () => {
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

  it('is gone when the node says so twice', async () => {
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

  it('may be untold, and the blocks are read all the same', async () => {
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

  it('costs nothing while it is of strangers only', async () => {
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
  it('goes on with nothing taken back when it is the old chain for whoever takes it over', async () => {
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
    // Whoever takes it over looks once whether the chain is back.
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

  it('that can never be made is given up, and the deposit goes back instead', async () => {
    const refusing = addressExample('TRC20');
    await gateway.settlement.sandbox.refuse('tron', refusing);
    const order = await gateway.order({ amount_from: 0.01, rate_type: 'fixed' });
    await confirm(order, { amount: '0.015' });
    await gateway.settle(order);
    expect(await status(order)).toBe('failed');
    await gateway.settlement.sandbox.accept('tron', refusing);
    await staffRefund(order, addressExample('BTC'));
    await gateway.settle(order);
    expect(await status(order)).toBe('refunded');
    const fee = await networkFee('BTC', 'BTC');
    expect(await payments(order)).toMatchObject([
      { kind: 'payout', state: 'dead' },
      { kind: 'refund', leg: 'excess', state: 'confirmed', amount: new Big('0.005').minus(fee).toFixed() },
      { kind: 'refund', leg: 'main', state: 'confirmed', amount: new Big('0.01').minus(fee).toFixed() },
    ]);
    expect(await owed(order)).toEqual({});
  });

  it('that nobody refunds fails the order, and staff send it to an address', async () => {
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

  it('that nobody can find for long fails the order; found later, staff finish it without a second one', async () => {
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

  it('cannot do what makes no sense', async () => {
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
