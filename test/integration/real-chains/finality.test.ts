import { type RealGateway, startRealGateway, withRealChains } from '../../support/gateway/real-gateway.ts';

withRealChains(() => {
  describe('on a chain whose nodes state the finalized block', () => {
    const finality = 'finalized';
    let gateway: RealGateway;
    beforeAll(async () => {
      gateway = await startRealGateway({ networks: () => ({ ethereum: { finality } }) });
      // The wallet's coins come to be final.
      await gateway.mine('ethereum', 16);
      await gateway.tick();
    });
    afterAll(() => gateway?.stop());

    const finalHeight = async (): Promise<number> => {
      const block = await gateway.chains.anvil.rpc<{ number: string }>('eth_getBlockByNumber', finality, false);
      return Number(block.number);
    };

    it('a deposit counts once its block is finalized, with any number of confirmations', async () => {
      const order = await gateway.order('ETH', 'LTC', 0.2);
      await gateway.pay(order);
      await gateway.mine('ethereum');
      const height = await gateway.chains.anvil.height();
      let waits = 0;
      for (; (await finalHeight()) < height; waits += 1) {
        await gateway.tick();
        const confirmations = (await gateway.chains.anvil.height()) - height + 1;
        expect(await gateway.show(order)).toMatchObject({
          status: 'confirming',
          deposit_confirmations: confirmations,
        });
        await gateway.mine('ethereum');
      }
      expect(waits).toBeGreaterThan(2);
      await gateway.tick();
      expect(await gateway.show(order)).toMatchObject({ status: 'sending' });
      await gateway.settle(order);
      expect(await gateway.show(order)).toMatchObject({ status: 'completed' });
      expect(await gateway.differences()).toEqual([]);
    });
  });
});
