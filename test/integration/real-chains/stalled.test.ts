import { attention } from '../../../src/orders/read/attention.ts';
import { quantity } from '../../support/chains/anvil.ts';
import { EvmLiar } from '../../support/chains/evm-liar.ts';
import { type RealGateway, startRealGateway, withRealChains } from '../../support/gateway/real-gateway.ts';

withRealChains(() => {
  describe('a chain without new blocks', () => {
    let gateway: RealGateway;
    let liar: EvmLiar;
    beforeAll(async () => {
      gateway = await startRealGateway({
        networks: async ({ anvil }) => {
          liar = await new EvmLiar(anvil.url).start();
          return { ethereum: { nodes: [{ url: liar.node.url }], stalled_after_sec: 3600 } };
        },
      });
    });
    afterAll(async () => {
      await gateway?.stop();
      await liar?.stop();
    });

    it('counts as failing: it is in the attention list, and no order expires until it goes on', async () => {
      const order = await gateway.order('ETH', 'LTC', 0.2);
      liar.lie = (method, result, params) =>
        method === 'eth_getBlockByNumber' && params[0] === 'latest'
          ? { ...(result as object), timestamp: quantity(Math.floor(Date.now() / 1_000) - 3_601) }
          : result;
      await gateway.wait(1);
      await gateway.wait(1_801);
      expect(await gateway.show(order)).toMatchObject({ status: 'waiting_deposit' });
      expect(await attention(gateway.app.orm.em.fork(), 100, gateway.clock.now())).toContainEqual(
        expect.objectContaining({ kind: 'chain_problem', subjectId: 'ethereum', detail: 'chain_stalled' }),
      );
      liar.lie = (_method, result) => result;
      await gateway.wait(5);
      expect(await gateway.show(order)).toMatchObject({ status: 'expired' });
      expect(await gateway.query('select 1 from chain_state where failing_since is not null')).toEqual([]);
    });
  });
});
