import { contractAddress } from '@ton/core';
import { ask, historyOf, type Json, refused, type ShownTransaction, send } from '../../support/chains/ton-calls.ts';
import { type Highload, highloadCell, highloadInit, keyOf } from '../../support/chains/ton-contracts.ts';
import type { TonFaults, TransactionFault } from '../../support/chains/ton-node/faults.ts';
import type { TonUser } from '../../support/chains/ton-node/users.ts';
import { startTon, startTonNode, type TonChain, type TonNode } from '../../support/chains/ton-node.ts';

const ton = 1_000_000_000n;

interface Info {
  readonly last: { readonly seqno: number; readonly root_hash: string };
}

describe('a server of the simulated TON that lies', () => {
  let chain: TonChain;
  let node: TonNode;
  let user: TonUser;
  let honest: readonly ShownTransaction[];
  let network = 0;

  beforeEach(async () => {
    network += 1;
    ({ chain, node } = await startTonNode({ name: `lies ${network}` }));
    user = chain.newUser();
    for (const amount of [1n, 2n, 3n]) {
      chain.pay(user.address, amount * ton, { comment: '4711' });
      await chain.block();
    }
    honest = await historyOf(node, user.raw);
    expect(honest).toHaveLength(3);
  });

  afterEach(() => chain.stop());

  const history = (faults: TonFaults): Promise<readonly ShownTransaction[]> => {
    node.faults = faults;
    return historyOf(node, user.raw);
  };
  const head = async (faults: TonFaults): Promise<Info['last']> => {
    node.faults = faults;
    return (await ask<Info>(node, 'masterchainInfo')).last;
  };

  it('is behind, stands still, or goes back', async () => {
    const newest = chain.head.seqno;
    expect((await head({ lag: 2 })).seqno).toBe(newest - 2);
    expect(await history({ lag: 2 })).toEqual(honest.slice(0, 1));
    expect((await head({ stuckAt: newest - 1 })).seqno).toBe(newest - 1);
    expect((await head({})).seqno).toBe(newest);
  });

  it('lists transactions later than its head says', async () => {
    expect((await head({ behind: 1 })).seqno).toBe(chain.head.seqno);
    expect(await history({ behind: 1 })).toEqual(honest.slice(0, 2));
  });

  it('is of another network, or tells another hash of the same block', async () => {
    const other = await startTon({ name: 'another' });
    expect((await head({ chain: other })).root_hash).toBe(other.head.rootHash);
    expect(await history({ chain: other })).toEqual([]);
    expect((await head({ fork: true })).root_hash).not.toBe(chain.head.rootHash);
    await other.stop();
  });

  it('lacks transactions and blocks', async () => {
    const [first, second, third] = honest;
    expect(await history({ lacks: [second?.hash ?? ''] })).toEqual([first, third]);
    expect(await history({ lacks: ({ seqno }) => seqno === first?.mc_block_seqno })).toEqual([second, third]);
    expect(await history({ oldest: second?.mc_block_seqno ?? 0 })).toEqual([second, third]);
    const lost = second?.mc_block_seqno ?? 0;
    node.faults = { gap: [lost, lost] };
    expect(await ask(node, `blocks?workchain=-1&seqno=${lost}`)).toEqual({ blocks: [] });
  });

  it('lists transactions twice, in another order, with a foreign one, or without end', async () => {
    const [first, second, third] = honest;
    expect(await history({ list: 'twice' })).toEqual([first, first, second, second, third, third]);
    expect(await history({ list: 'unsorted' })).toEqual([second, third, first]);
    const foreign = await history({ list: 'foreign' });
    expect(foreign.map(({ account }) => account === user.raw)).toEqual([true, true, true, false]);
    expect(await history({ list: 'endless' })).toHaveLength(1_000);
  });

  it.each<TransactionFault>([
    ...(['hash', 'prev', 'lt', 'account', 'seqno', 'future', 'value', 'source', 'destination'] as const),
    ...(['body', 'body_hash', 'message_hash', 'bounced', 'success', 'no_in_msg'] as const),
  ])('changes one member of a transaction: %s', async (transaction) => {
    const [changed] = await history({ transaction });
    const [true1] = honest;
    const names = Object.keys(true1 ?? {}) as (keyof ShownTransaction)[];
    const differing = names.filter((name) => JSON.stringify(changed?.[name]) !== JSON.stringify(true1?.[name]));
    expect(differing).toHaveLength(1);
  });

  it('does not find a message by its hash', async () => {
    const hash = honest[0]?.in_msg.hash ?? '';
    const path = `transactionsByMessage?direction=in&msg_hash=${encodeURIComponent(hash)}`;
    expect((await ask<{ transactions: Json[] }>(node, path)).transactions).toHaveLength(1);
    node.faults = { forgets: [hash] };
    expect((await ask<{ transactions: Json[] }>(node, path)).transactions).toEqual([]);
  });

  describe('about external messages', () => {
    const wallet: Highload = { key: keyOf('a wallet of lies') };
    const address = contractAddress(0, highloadInit(wallet));

    const signed = (queryId: number): Buffer => {
      const message = { to: user.address, value: ton };
      return highloadCell(wallet, { queryId, createdAt: chain.now - 5, message, deploys: true }).toBoc();
    };

    beforeEach(async () => {
      chain.pay(address, 10n * ton);
      await chain.block();
    });

    it('accepts one and loses it', async () => {
      node.faults = { send: { reaches: false } };
      await send(node, signed(0));
      await chain.settle();
      expect((await historyOf(node, user.raw)).length).toBe(3);
      node.faults = {};
      await send(node, signed(0));
      await chain.settle();
      expect((await historyOf(node, user.raw)).length).toBe(4);
    });

    it('refuses one and sends it on all the same', async () => {
      node.faults = { send: { status: 429, error: 'Ratelimit exceed', reaches: true } };
      expect(await refused(node, 'message', { boc: signed(0).toString('base64') })).toEqual([429, 'Ratelimit exceed']);
      await chain.settle();
      expect((await historyOf(node, user.raw)).length).toBe(4);
    });

    it('has no block take one that is held, or dropped', async () => {
      const [{ message_hash: held }, { message_hash_norm: dropped }] = [
        await send(node, signed(0)),
        await send(node, signed(1)),
      ];
      chain.hold(held);
      chain.drop(dropped);
      await chain.block(2);
      expect((await historyOf(node, user.raw)).length).toBe(3);
      chain.release(held);
      await chain.block();
      expect((await historyOf(node, user.raw)).length).toBe(4);
    });
  });

  it('fails as servers do', async () => {
    for (const [transport, status] of [
      [429, 429],
      [500, 500],
      [503, 503],
      ['html', 200],
      ['empty', 200],
    ] as const) {
      node.faults = { transport };
      const response = await fetch(`${node.url}/api/v3/masterchainInfo`);
      expect(response.status).toBe(status);
      await expect(response.json()).rejects.toThrow();
    }
    node.faults = { error: 504, methods: /transactions/ };
    expect(await refused(node, 'transactions')).toEqual([504, 'simulated: 504']);
    expect((await ask<Info>(node, 'masterchainInfo')).last.seqno).toBe(chain.head.seqno);
    node.faults = { apiKey: 'secret' };
    expect((await refused(node, 'transactions'))[0]).toBe(401);
    expect((await ask<Json>(node, 'transactions?api_key=secret')).transactions).toBeDefined();
  });

  it('writes numbers and texts that no index writes', async () => {
    expect((await history({ numbers: 'huge' }))[0]?.lt).toBe('9'.repeat(60));
    expect((await history({ numbers: 'negative' }))[0]?.lt).toBe(`-${honest[0]?.lt}`);
    expect((await history({ numbers: 'float' }))[0]?.lt).toBe(`${honest[0]?.lt}.5`);
    expect((await history({ numbers: 'text' }))[0]?.now).toBe(String(honest[0]?.now));
    expect((await history({ texts: 'odd' }))[0]?.in_msg.message_content.decoded?.comment).toContain('</script>');
    expect((await history({ texts: 'long' }))[0]?.in_msg.message_content.decoded?.comment).toHaveLength(1_000_000);
    node.faults = { rewrite: () => [] };
    expect(await ask<unknown>(node, 'masterchainInfo')).toEqual([]);
  });
});
