import { attention } from '../../../src/orders/read/attention.ts';
import { type RealGateway, startRealGateway, withRealChains } from '../../support/gateway/real-gateway.ts';

// The token that plays USDT behaves as configured, by its first variable.
const mood = 1;
let gateway: RealGateway;

withRealChains(() => {
  beforeAll(async () => {
    gateway = await startRealGateway({ token: 'MoodyToken' });
    // What it keeps goes to itself; the first time would take more gas than the transaction has.
    await gateway.chains.anvil.mint(gateway.chains.token, gateway.chains.token, 1n);
  });
  afterAll(() => gateway?.stop());
  afterEach(() => setMood(0n));

  const setMood = (value: bigint): Promise<void> => {
    const { anvil, token } = gateway.chains;
    return anvil.setStored(token, mood, value);
  };

  it('a payout that its token refuses before the broadcast waits, and is in the attention list', async () => {
    const order = await gateway.order('LTC', 'USDT', 1);
    await setMood(1n);
    await gateway.confirm(order);
    const [payout] = await gateway.payments(order);
    expect(payout).toMatchObject({ state: 'ready', problem: 'would_fail' });
    expect(await gateway.attempts(payout?.id ?? '')).toEqual([]);
    await setMood(0n);
    await gateway.wait(600);
    await gateway.settle(order);
    expect(await gateway.show(order)).toMatchObject({ status: 'completed' });
    expect(await gateway.balance('USDT', order.recipient)).toBe(payout?.amount);
    expect(await gateway.differences()).toEqual([]);
  });

  it('a payout whose transfer returned false is not booked as paid: the order fails, and the fee is a cost', async () => {
    const order = await gateway.order('LTC', 'USDT', 1);
    await gateway.confirm(order);
    const costs = await gateway.booked('network_cost', 'ETH');
    await setMood(1n);
    await gateway.settle(order);
    expect(await gateway.show(order)).toMatchObject({ status: 'failed', payout_txid: null });
    const [payout] = await gateway.payments(order);
    expect(payout).toMatchObject({ state: 'dead', problem: 'not_transferred' });
    expect(await gateway.attempts(payout?.id ?? '')).toMatchObject([{ dead_why: 'failed' }]);
    expect(await gateway.balance('USDT', order.recipient)).toBe('0');
    expect(await gateway.booked('network_cost', 'ETH')).not.toBe(costs);
    expect(await gateway.differences()).toEqual([]);
  });

  it('a deposit that its token does not let go stays, is in the attention list, and is swept later', async () => {
    const order = await gateway.order('USDT', 'LTC', 100);
    await gateway.confirm(order);
    await setMood(1n);
    await gateway.settle(order);
    const rounds = async (count: number, sec: number): Promise<void> => {
      for (let round = 0; round < count; round += 1) {
        await gateway.mine('ethereum', 4);
        await gateway.tick();
        await gateway.wait(sec);
        await gateway.settleAll();
      }
    };
    const refused = () =>
      gateway.query<{ problem: string; tries: number }>(
        'select problem, tries from sweep_refusal where source = $1 and contract is not null',
        [order.depositAddress],
      );
    const items = async (): Promise<string[]> => {
      const found = await attention(gateway.app.orm.em.fork(), 100, gateway.clock.now());
      return found.filter(({ kind }) => kind === 'sweep_refused').map(({ detail }) => detail);
    };
    await rounds(4, 300);
    const [row] = await refused();
    expect(row?.problem).toBe('would_fail');
    expect(row?.tries).toBeLessThan(6);
    expect(await items()).toEqual([`would_fail: USDT on ERC20 stays on ${order.depositAddress}`]);
    expect(await gateway.balance('USDT', order.depositAddress)).toBe('100');
    expect(await gateway.differences()).toEqual([]);
    await setMood(0n);
    await rounds(1, 3_600);
    await rounds(3, 31);
    expect(await gateway.balance('USDT', order.depositAddress)).toBe('0');
    expect([await refused(), await items()]).toEqual([[], []]);
    expect(await gateway.differences()).toEqual([]);
  });

  it('a payout that arrived in part is not booked as paid, and reconciliation shows the loss', async () => {
    const order = await gateway.order('LTC', 'USDT', 1);
    await gateway.confirm(order);
    await setMood(2n);
    await gateway.settle(order);
    expect(await gateway.show(order)).toMatchObject({ status: 'failed' });
    expect(await gateway.payments(order)).toMatchObject([{ state: 'dead', problem: 'short_transfer' }]);
    expect(await gateway.differences()).toMatchObject([{ check: 'hot', subject: 'USDT on ERC20' }]);
  });
});
