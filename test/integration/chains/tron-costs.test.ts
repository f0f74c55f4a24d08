import { describeWithAnvil } from '../../support/chains/anvil.ts';
import { type TronHarness, tronHarness } from '../../support/chains/tron-harness.ts';

describeWithAnvil('usual costs on Tron', () => {
  let tron: TronHarness;
  beforeAll(async () => {
    tron = await tronHarness();
  });
  afterAll(() => tron.stop());

  it('of coins are those of a new account, and a sweep is free', async () => {
    const { newAccountFee, createAccountFee } = tron.chain.prices;
    const payout = newAccountFee + createAccountFee;
    expect(await tron.adapter.usualCosts(null)).toEqual({ payout, sweep: 0n });
  });

  it('of a token are what a payout to a new holder and a sweep then cost', async () => {
    const costs = await tron.adapter.usualCosts(tron.token);
    const intent = { id: '1', attempt: 1, from: null, contract: tron.token, to: tron.address(), tag: null, amount: 5n };
    const { fee } = await tron.adapter.prepare(intent, new Map());
    // The fee of a payment has a margin of a fifth of its energy.
    expect(costs?.payout).toBeLessThan(fee);
    expect(Number(costs?.payout) * 1.21).toBeGreaterThan(Number(fee));
    expect(costs?.sweep).toBeGreaterThan(0n);
  });

  it('follow the prices of the chain', async () => {
    const { prices } = tron.chain;
    const before = await tron.adapter.usualCosts(tron.token);
    Object.assign(prices, { energyFee: prices.energyFee * 10n });
    const after = await tron.adapter.usualCosts(tron.token);
    Object.assign(prices, { energyFee: prices.energyFee / 10n });
    expect(after?.payout).toBeGreaterThan((before?.payout ?? 0n) * 8n);
    expect(after?.sweep).toBeGreaterThan((before?.sweep ?? 0n) + 1_000_000n);
  });

  it("leave out the energy of the wallet's stake", async () => {
    const before = await tron.adapter.usualCosts(tron.token);
    await tron.chain.stake(tron.hot, { energy: 10_000_000n });
    const after = await tron.adapter.usualCosts(tron.token);
    expect(after?.payout).toBeLessThan(1_000_000n);
    expect(after?.sweep).toBe(before?.sweep);
  });

  it('are unknown for a token that the wallet does not hold', async () => {
    expect(await tron.adapter.usualCosts(await tron.chain.deployToken())).toBeNull();
  });
});
