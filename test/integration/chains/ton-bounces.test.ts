import { addressOf } from '../../../src/chains/ton/ton-highload.ts';
import { fundingTag, ton, tonHarness } from '../../support/chains/ton-harness.ts';

describe('coins that bounce on TON', () => {
  it('are no deposit: a wallet without contract sends a bounceable payment back', async () => {
    const { adapter, chain, hot, stop } = await tonHarness();
    const cursor = await adapter.start((await adapter.head()).height);
    const before = chain.balance(addressOf(hot));
    const user = chain.user();
    await chain.settle();
    user.pay(addressOf(hot), 10n * ton, { comment: fundingTag, bounce: true });
    await chain.settle();
    user.pay(addressOf(hot), 7n * ton, { comment: fundingTag, bounce: false });
    await chain.settle();

    const { blocks } = await adapter.scan(cursor, 10);
    expect(blocks.flatMap(({ transfers }) => transfers).map(({ amount }) => amount)).toEqual([7n * ton]);
    const costs = blocks.reduce((sum, { receiveCost = 0n }) => sum + receiveCost, 0n);
    expect(chain.balance(addressOf(hot)) - before).toBe(7n * ton - costs);
    expect(user.balance).toBeGreaterThan(92n * ton);
    await stop();
  });
});
