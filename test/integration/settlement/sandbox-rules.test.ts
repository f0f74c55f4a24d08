import { sandboxVariants } from '../../../src/chains/sandbox/sandbox-rules.ts';
import { type SettledGateway, startSettledGateway } from '../../support/gateway/settled-gateway.ts';

// Orders from end to end on sandbox chains of each kind.

describe.each(Object.keys(sandboxVariants))('on chains of the rules %s', (SANDBOX_RULES) => {
  let gateway: SettledGateway;

  beforeAll(async () => {
    gateway = await startSettledGateway({ settings: { SANDBOX_RULES } });
  });
  afterAll(() => gateway?.stop());

  it('an order is paid once, and no problem is noted meanwhile', async () => {
    const order = await gateway.order();
    await gateway.deposit(order);
    await gateway.mine('BTC', 3);
    for (let turn = 0; turn < 5; turn += 1) {
      // The second turn reads what the first one stored, while a payment waits for its block.
      await gateway.tick();
      gateway.clock.advance(1_000);
      await gateway.tick();
      const problems = await gateway.query('select problem from payment where problem is not null');
      expect(problems).toEqual([]);
      gateway.clock.advance(1_000);
      await gateway.mine('TRC20');
    }
    await gateway.tick();
    expect(await gateway.show(order)).toMatchObject({ status: 'completed' });
    const paid = await gateway.query(
      `select from sandbox_tx t join payment_attempt a on a.chain = t.chain and a.txid = t.txid
        where t.state = 'mined' and t.success`,
    );
    expect(paid).toHaveLength(1);
    expect(await gateway.differences()).toEqual([]);
  });
});
