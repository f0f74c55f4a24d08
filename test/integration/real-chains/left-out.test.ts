import { Command } from 'commander';
import { attention } from '../../../src/orders/read/attention.ts';
import { chainCommands } from '../../../src/surfaces/cli/chain-commands.ts';
import { type RealGateway, startRealGateway, withRealChains } from '../../support/gateway/real-gateway.ts';

let gateway: RealGateway;

withRealChains(() => {
  beforeAll(async () => {
    gateway = await startRealGateway();
  });
  afterAll(() => gateway?.stop());

  const items = async (): Promise<string[]> => {
    const found = await attention(gateway.app.orm.em.fork(), 100, gateway.clock.now());
    return found.filter(({ kind }) => kind === 'transfer_left_out').map(({ detail }) => detail);
  };

  describe('a token transfer that the database cannot hold', () => {
    it('is skipped with an alert, and a deposit of the same block is exchanged', async () => {
      const { anvil, token } = gateway.chains;
      const flooded = await gateway.order('USDT', 'LTC', 100);
      const honest = await gateway.order('USDT', 'LTC', 100);
      const nearby = await gateway.order('ETH', 'LTC', 0.2);
      const txid = await anvil.sendToken(token, flooded.depositAddress, 10n ** 27n);
      await anvil.sendToken(token, gateway.hot.ethereum, 10n ** 27n);
      await gateway.pay(flooded);
      await gateway.pay(honest);
      await gateway.pay(nearby);
      await gateway.mine('ethereum', 2);
      await gateway.tick();
      for (const order of [flooded, honest, nearby]) await gateway.settle(order);
      for (const order of [flooded, honest, nearby]) {
        expect(await gateway.show(order)).toMatchObject({ status: 'completed' });
        expect(await gateway.payments(order)).toMatchObject([{ kind: 'payout', state: 'confirmed' }]);
      }
      expect(await items()).toContainEqual(`too_large: ethereum ${txid}`);
      expect(await items()).toHaveLength(2);
      // What else is the same address is not swept, and all else goes on.
      for (let round = 0; round < 4; round += 1) {
        await gateway.mine('ethereum', 4);
        await gateway.wait(61);
      }
      await gateway.settleAll();
      expect(await gateway.balance('USDT', honest.depositAddress)).toBe('0');
      expect(await gateway.query('select problem, failure from chain_state where chain = $1', ['ethereum'])).toEqual([
        { problem: null, failure: null },
      ]);
      expect(await gateway.differences()).toEqual([]);
    });

    it('is acknowledged by a command, and stays listed when the chain is read again', async () => {
      const rows = await gateway.query<{ id: string; amount: string }>('select id, amount from left_out_transfer');
      expect(rows.map(({ amount }) => amount)).toEqual([`1${'0'.repeat(27)}`, `1${'0'.repeat(27)}`]);
      const program = new Command();
      chainCommands(program);
      expect(program.commands[0]?.commands.map((one) => one.name())).toContain('left-out');
      await gateway.query('update left_out_transfer set acknowledged_at = now() where id = $1', [rows[0]?.id]);
      expect(await items()).toHaveLength(1);
      await gateway.query(
        `update chain_state set rescan_from = height - 30, fence = fence + 1, lease_owner = null, lease_until = null
          where chain = 'ethereum'`,
      );
      for (let round = 0; round < 3; round += 1) await gateway.wait(31);
      expect(await gateway.query('select 1 from left_out_transfer')).toHaveLength(2);
      expect(await items()).toHaveLength(1);
      expect(await gateway.differences()).toEqual([]);
    });
  });
});
