import { toChecksumAddress } from '../../../src/chains/addresses/evm.ts';
import { attention } from '../../../src/orders/read/attention.ts';
import { call } from '../../support/chains/anvil.ts';
import { EvmLiar } from '../../support/chains/evm-liar.ts';
import {
  type RealGateway,
  type RealOrder,
  startRealGateway,
  withRealChains,
} from '../../support/gateway/real-gateway.ts';

// Users choose where their coins go, also to their own contracts.

const attackers = 60;
let gateway: RealGateway;
let liar: EvmLiar;
let refuser: string;

withRealChains(() => {
  beforeAll(async () => {
    gateway = await startRealGateway({
      networks: async ({ anvil }) => {
        liar = await new EvmLiar(anvil.url).start();
        return { ethereum: { nodes: [{ url: liar.node.url }] } };
      },
    });
    refuser = toChecksumAddress((await gateway.chains.anvil.deploy('Refuser')).slice(2));
  });
  afterAll(async () => {
    await gateway?.stop();
    await liar?.stop();
  });
  afterEach(async () => {
    expect(await gateway.differences()).toEqual([]);
  });

  /** Orders to one recipient with a deposit that is about to count. */
  async function paidOrders(count: number, recipient: string | null): Promise<RealOrder[]> {
    const orders: RealOrder[] = [];
    const changes = recipient === null ? {} : { recipient_address: recipient };
    for (let made = 0; made < count; made += 1) {
      const order = await gateway.order('LTC', 'ETH', 0.5, changes);
      await gateway.pay(order);
      orders.push(order);
    }
    await gateway.mine('litecoin', 2);
    return orders;
  }

  const asked = (method: string): number => liar.calls.filter((one) => one === method).length;
  const tries = async (): Promise<number[]> => {
    const rows = await gateway.query<{ tries: number }>(`select tries from payment where problem = 'would_fail'`);
    return rows.map((row) => row.tries);
  };

  describe('with 60 payouts to a contract that refuses coins', () => {
    beforeAll(async () => {
      await paidOrders(attackers, refuser);
      await gateway.tick();
    });

    it('an honest payout is sent before any refused payout is tried again', async () => {
      const [honest] = await paidOrders(1, null);
      if (!honest) throw new Error('no order was made');
      await gateway.query('update exchange_order set held_at = now(), hold_reason = $2 where id = $1', [
        honest.id,
        'until all are due',
      ]);
      await gateway.tick();
      await gateway.query('update exchange_order set held_at = null, hold_reason = null where id = $1', [honest.id]);
      await gateway.settlement.settler.settle([honest.id]);
      gateway.clock.advance(3_600_000);
      liar.calls.length = 0;
      await gateway.tick();
      const sent = liar.calls.indexOf('eth_sendRawTransaction');
      expect(sent).toBeGreaterThan(0);
      expect(liar.calls.slice(0, sent).filter((method) => method === 'eth_estimateGas')).toHaveLength(1);
      expect(asked('eth_estimateGas')).toBe(1 + attackers);
      await gateway.settle(honest);
      expect(await gateway.show(honest)).toMatchObject({ status: 'completed' });
    });

    it('refused payouts are retried at growing intervals', async () => {
      await gateway.query(`update payment set tries = 1 where problem = 'would_fail'`);
      liar.calls.length = 0;
      const rounds = 40;
      for (let round = 0; round < rounds; round += 1) await gateway.wait(30);
      // 30 s after 2, 4, 8, 16, then after 32 (at 60 s), 64, 128, 256 and 512 s.
      const most = 9;
      expect(asked('eth_estimateGas')).toBeLessThanOrEqual(most * attackers);
      expect(Math.max(...(await tries()))).toBeLessThanOrEqual(1 + most);
      expect(Math.min(...(await tries()))).toBeGreaterThan(5);
    });

    it('every refused payout is in the attention list at once', async () => {
      const items = await attention(gateway.app.orm.em.fork(), 1_000, gateway.clock.now());
      const told = items.filter(({ kind, detail }) => kind === 'payment_problem' && detail === 'would_fail');
      expect(told).toHaveLength(attackers);
    });

    it('after a day refused payouts are abandoned without a signature, and their orders fail', async () => {
      const states = (): Promise<object[]> =>
        gateway.query(
          `select distinct o.status, p.state, p.problem, p.attempt from payment p
             join exchange_order o on o.id = p.order_id where p.address = $1`,
          [refuser],
        );
      expect(await states()).toEqual([{ status: 'sending', state: 'ready', problem: 'would_fail', attempt: 0 }]);
      await gateway.wait(86_400);
      expect(await states()).toEqual([{ status: 'failed', state: 'dead', problem: 'would_fail', attempt: 0 }]);
    });
  });

  it('a refused payout is sent once its recipient accepts coins again', async () => {
    const { anvil } = gateway.chains;
    const to = toChecksumAddress((await anvil.deploy('Burner')).slice(2));
    await anvil.send(to, 0n, { data: call('setAppetite', 500_000n) });
    await anvil.mine();
    const [order] = await paidOrders(1, to);
    if (!order) throw new Error('no order was made');
    await gateway.tick();
    const problem = async (): Promise<object[]> =>
      gateway.query('select state, problem, tries from payment where order_id = $1', [order.id]);
    expect(await problem()).toEqual([{ state: 'ready', problem: 'gas_above_maximum', tries: 1 }]);
    await anvil.send(to, 0n, { data: call('setAppetite', 0n) });
    await anvil.mine();
    await gateway.wait(3);
    expect(await problem()).toEqual([{ state: 'sent', problem: null, tries: 0 }]);
    await gateway.settle(order);
    expect(await gateway.show(order)).toMatchObject({ status: 'completed' });
  });
});
