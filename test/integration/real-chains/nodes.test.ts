import { reconcile } from '../../../src/ledger/reconcile.ts';
import { attention } from '../../../src/orders/read/attention.ts';
import { type Anvil, startAnvil } from '../../support/chains/anvil.ts';
import { type Litecoind, startLitecoind } from '../../support/chains/litecoind.ts';
import { NodeGate } from '../../support/chains/node-gate.ts';
import {
  type RealChain,
  type RealCoin,
  type RealGateway,
  startRealGateway,
  withRealChains,
} from '../../support/gateway/real-gateway.ts';

let gateway: RealGateway;
let other: Anvil;
let twin: Anvil;
let second: Litecoind;
/** Two of each chain, in the order in which they are asked. */
let gates: Record<RealChain, [NodeGate, NodeGate]>;

withRealChains(() => {
  beforeAll(async () => {
    [other, twin, second] = await Promise.all([
      startAnvil({ chainId: 1337 }),
      // Two that begin in the same second would begin with the same block.
      startAnvil({ arguments: ['--timestamp', '1700000000'] }),
      startLitecoind({ isEmpty: true }),
    ]);
    gateway = await startRealGateway({
      networks: async ({ anvil, litecoind }) => {
        await follow(litecoind);
        const gate = (node: ConstructorParameters<typeof NodeGate>[0]): Promise<NodeGate> => new NodeGate(node).start();
        gates = {
          ethereum: [await gate(anvil.node), await gate(anvil.node)],
          litecoin: [await gate(litecoind.config), await gate(second.config)],
        };
        return {
          ethereum: { nodes: gates.ethereum.map(({ node }) => node) },
          litecoin: { nodes: gates.litecoin.map(({ node }) => node) },
        };
      },
    });
  });
  afterAll(async () => {
    await gateway?.stop();
    for (const gate of Object.values(gates ?? {}).flat()) await gate.stop();
    for (const node of [other, twin, second]) await node?.stop();
  });
  afterEach(async () => {
    for (const gate of Object.values(gates).flat()) gate.open();
    await follow(gateway.chains.litecoind);
    await gateway.tick();
    const { adapters } = gateway.settlement;
    expect((await reconcile({ orm: gateway.app.orm, adapters })).differences).toBe(0);
    expect(await gateway.query('select chain, problem from chain_state where problem is not null')).toEqual([]);
  });

  /** Hands the blocks of a node to the second one, up to a height. */
  async function follow(leader: Litecoind, upTo?: number): Promise<void> {
    const end = upTo ?? (await leader.height());
    for (let height = (await second.height()) + 1; height <= end; height += 1) {
      const hash = await leader.rpc<string>('getblockhash', height);
      await second.rpc('submitblock', await leader.rpc<string>('getblock', hash, 0));
    }
    if ((await second.height()) < end) throw new Error('the second node does not follow');
  }

  async function exchanges(from: RealCoin, to: RealCoin, amount: number): Promise<void> {
    const order = await gateway.order(from, to, amount);
    await gateway.confirm(order);
    await gateway.settle(order);
    expect(await gateway.show(order)).toMatchObject({ status: 'completed' });
    expect(await gateway.balance(to, order.recipient)).toBe((await gateway.payments(order))[0]?.amount);
  }

  const failures = () =>
    gateway.query<{ chain: string; failure: string }>(
      'select chain, failure from chain_state where failing_since is not null order by chain',
    );

  describe.each([
    ['ethereum', 'ETH', 'LTC', 0.2],
    ['litecoin', 'LTC', 'ETH', 2],
  ] as const)('while no node of %s answers', (chain, from, to, amount) => {
    it('no order expires, the chain is in the attention list, and settlement resumes by itself', async () => {
      const order = await gateway.order(from, to, amount);
      const unpaid = await gateway.order(from, to, amount);
      const sending = await gateway.order(to, from, amount === 2 ? 0.2 : 2);
      for (const gate of gates[chain]) gate.shut();
      await gateway.confirm(sending);
      const txid = await gateway.pay(order);
      await gateway.mine(chain, 2);
      await gateway.wait(1);
      expect(await failures()).toEqual([{ chain, failure: 'unreachable' }]);
      await gateway.wait(1_800);
      for (const each of [order, unpaid]) {
        expect(await gateway.show(each)).toMatchObject({ status: 'waiting_deposit', deposit_txid: null });
      }
      const items = await attention(gateway.app.orm.em.fork(), 100, gateway.clock.now());
      expect(items).toContainEqual(
        expect.objectContaining({ kind: 'chain_problem', subjectId: chain, detail: 'unreachable' }),
      );
      expect(await gateway.payments(sending)).toMatchObject([{ kind: 'payout', state: 'ready' }]);

      for (const gate of gates[chain]) gate.open();
      await follow(gateway.chains.litecoind);
      await gateway.wait(5);
      expect(await failures()).toEqual([]);
      expect(await gateway.show(order)).toMatchObject({ deposit_txid: txid });
      expect(await gateway.show(unpaid)).toMatchObject({ status: 'expired' });
      await gateway.settle(order);
      await gateway.settle(sending);
      expect(await gateway.show(order)).toMatchObject({ status: 'completed' });
      expect(await gateway.show(sending)).toMatchObject({ status: 'completed' });
    });
  });

  it.each([0, 1] as const)('settlement works with one node of each chain, without node %i', async (away) => {
    // Number 1 of Litecoin has no blocks that it is not handed, so both gates lead to one node.
    gates.litecoin[1].open(gateway.chains.litecoind.config);
    gates.ethereum[away].shut();
    gates.litecoin[away].shut();
    await exchanges('ETH', 'LTC', 0.2);
    expect(await failures()).toEqual([]);
  });

  it.each([
    ['of another number', () => other],
    ['of the same number and another first block', () => twin],
  ] as const)('a node that returns with another chain %s is skipped', async (_name, node) => {
    gates.ethereum[0].shut();
    await gateway.mine('ethereum');
    await gateway.tick();
    await node().mine(200);
    gates.ethereum[0].open(node().node);
    gates.litecoin[1].open(gateway.chains.litecoind.config);
    await exchanges('LTC', 'USDT', 3);
    await exchanges('ETH', 'LTC', 0.2);
    gates.ethereum[1].shut();
    const order = await gateway.order('ETH', 'LTC', 0.2);
    await gateway.wait(1_801);
    expect(await failures()).toEqual([{ chain: 'ethereum', failure: expect.any(String) }]);
    expect(await gateway.show(order)).toMatchObject({ status: 'waiting_deposit' });
  });

  it('a node that is behind is skipped, and deposits that it lacks are not taken for lost', async () => {
    const { litecoind } = gateway.chains;
    await follow(litecoind);
    // The first address may still rest from an earlier failure. Then the other one answers.
    gates.litecoin[1].open(litecoind.config);
    const order = await gateway.order('LTC', 'ETH', 2);
    await gateway.confirm(order);
    expect(await gateway.show(order)).toMatchObject({ status: 'sending', deposit_confirmations: 2 });
    // Now the one comes first that lacks the deposit.
    gates.litecoin[0].open(second.config);
    await exchanges('LTC', 'USDT', 3);
    expect(await failures()).toEqual([]);

    gates.litecoin[1].shut();
    const waiting = await gateway.order('LTC', 'ETH', 2);
    await gateway.wait(1_801);
    expect(await failures()).toEqual([{ chain: 'litecoin', failure: expect.any(String) }]);
    expect(await gateway.show(waiting)).toMatchObject({ status: 'waiting_deposit' });
    expect(await gateway.query('select 1 from deposit where state = $1', ['orphaned'])).toEqual([]);

    await follow(litecoind);
    await gateway.wait(5);
    expect(await failures()).toEqual([]);
    expect(await gateway.show(waiting)).toMatchObject({ status: 'expired' });
    gates.litecoin[1].open();
    gates.litecoin[0].open();
    await gateway.settle(order);
    expect(await gateway.show(order)).toMatchObject({ status: 'completed' });
  });
});
