import { ChainError } from '../../../src/chains/port/chain-adapter.ts';
import { findLitecoind, startLitecoind, withoutLitecoind } from '../../support/chains/litecoind.ts';
import { UtxoHarness } from '../../support/chains/utxo-harness.ts';
import { UtxoProxy } from '../../support/chains/utxo-proxy.ts';
import { coin, intent, node, none, withLitecoind } from '../../support/chains/utxo-setup.ts';

// What a person sends who holds the seed of the hot wallet, by a node without an index.

if (findLitecoind() === null) {
  it.skip(`${withoutLitecoind}: nothing was sent on a node`, () => {}); // CI requires it
} else {
  withLitecoind();

  describe('what a transaction took from a hot wallet on Litecoin', () => {
    let wallet: UtxoHarness;
    beforeEach(async () => {
      wallet = new UtxoHarness(node);
      await wallet.fund([coin, coin]);
    });

    const hotKeys = async (): Promise<string[]> => (await wallet.outputs.hot()).map(({ key }) => key);
    const send = (raw: string): Promise<string> => node.rpc<string>('sendrawtransaction', raw);
    /** Sends from all outputs of the hot wallet. */
    const spend = async (...outputs: readonly object[]): Promise<string> =>
      send(await wallet.byHand(await hotKeys(), outputs));
    /** An output of the node's wallet that is worth more than three coins. */
    async function foreign(): Promise<{ key: string; amount: bigint }> {
      const txid = await node.pay(await node.newAddress(), 3n * coin);
      await node.mine(1);
      const unspent = await node.rpc<{ txid: string; vout: string; amount: string }[]>('listunspent');
      const found = unspent.find((one) => one.txid === txid && Number(one.amount) === 3);
      if (!found) throw new Error('the node has not paid itself');
      return { key: `${txid}:${found.vout}`, amount: 3n * coin };
    }

    it('is what goes to others, without the change, and the fee', async () => {
      const data = { data: 'c0ffee' };
      const txid = await spend(
        { [wallet.address()]: '0.5' },
        { [wallet.hotAddress]: '1.2' },
        { [wallet.address()]: '0.299' },
        data,
      );
      const told = { amounts: [{ contract: null, amount: 79_900_000n }], fee: 100_000n };
      expect(await wallet.adapter.spent(txid)).toEqual({ ...told, height: null, final: false });
      await node.mine(1);
      await expect(node.rpc('getrawtransaction', txid, true)).rejects.toMatchObject({ code: -5 });
      const height = await node.height();
      expect(await wallet.adapter.spent(txid)).toEqual({ ...told, height, final: false });
      await node.mine(2);
      expect(await wallet.adapter.spent(txid)).toEqual({ ...told, height, final: true });
      await node.reorg(3);
      expect(await wallet.adapter.spent(txid)).toEqual({ ...told, height: null, final: false });
      await node.mine(1);
      expect(await wallet.adapter.spent(txid)).toEqual({ ...told, height: height + 3, final: false });
      expect((await wallet.adapter.balances([await wallet.adapter.hotWallet()], null))[0]).toBe(120_000_000n);
    });

    it('is only the fee when all goes back', async () => {
      const txid = await spend({ [wallet.hotAddress]: '1.9985' });
      await node.mine(1);
      expect(await wallet.adapter.spent(txid)).toMatchObject({ amounts: [], fee: 150_000n });
    });

    it('is all that left it, and no fee, with inputs of others', async () => {
      const { key, amount } = await foreign();
      const inputs = [...(await hotKeys()), key];
      const raw = await wallet.byHand(inputs, [
        { [wallet.address()]: '4' },
        { [wallet.hotAddress]: '0.25' },
        { [await node.newAddress()]: '0.749' },
      ]);
      const txid = await send(raw);
      const told = { amounts: [{ contract: null, amount: 175_000_000n }], fee: 0n };
      expect(await wallet.adapter.spent(txid)).toMatchObject({ ...told, height: null });
      await node.mine(1);
      expect(await wallet.adapter.spent(txid)).toMatchObject({ ...told, height: await node.height() });
      expect(amount).toBe(3n * coin);
    });

    it('is nothing when others put in more than left it', async () => {
      const { key } = await foreign();
      const raw = await wallet.byHand([...(await hotKeys()), key], [{ [wallet.hotAddress]: '4.999' }]);
      const txid = await send(raw);
      expect(await wallet.adapter.spent(txid)).toBeNull();
      await node.mine(1);
      expect(await wallet.adapter.spent(txid)).toBeNull();
    });

    it('is nothing for a sweep of deposits, and the price of gathering its own outputs', async () => {
      const deposit = wallet.addressAt(3);
      await node.pay(deposit, coin);
      await node.mine(1);
      const cursor = await wallet.adapter.start((await node.height()) - 1);
      const { blocks } = await wallet.adapter.scan(cursor, 1);
      const found = blocks.flatMap(({ transfers }) => transfers).find(({ address }) => address === deposit);
      for (const [from, isHot] of [
        [[found?.key ?? ''], false],
        [await hotKeys(), true],
      ] as const) {
        const sweep = intent(wallet.hotAddress, isHot ? 2n * coin : coin, { from });
        const prepared = await wallet.adapter.prepare(sweep, none);
        const tx = await wallet.sign(sweep, prepared);
        await wallet.adapter.broadcast(tx);
        await node.mine(1);
        const told = await wallet.adapter.spent(tx.txid);
        if (isHot) expect(told).toMatchObject({ amounts: [], fee: prepared.fee });
        else expect(told).toBeNull();
      }
    });

    it('is told of a block once a scan has read it', async () => {
      const txid = await spend({ [wallet.address()]: '1.999' });
      wallet.outputs.isStale = true;
      expect(await wallet.adapter.spent(txid)).toMatchObject({ fee: 100_000n, height: null });
      await node.mine(1);
      expect(await wallet.adapter.spent(txid)).toBeNull();
      wallet.outputs.isStale = false;
      expect(await wallet.adapter.spent(txid)).toMatchObject({ fee: 100_000n, height: await node.height() });
      // A reorganisation that no scan has seen yet.
      wallet.outputs.isStale = true;
      await node.reorg(1);
      expect(await wallet.adapter.spent(txid)).toMatchObject({ height: null, final: false });
      await node.restart();
      expect(await wallet.adapter.spent(txid)).toBeNull();
    });

    it('is asked of the next node when one is away, and no node means no answer', async () => {
      const txid = await spend({ [wallet.address()]: '1.999' });
      await node.mine(1);
      const away = { ...node.config, url: 'http://127.0.0.1:1/' };
      expect(await wallet.adapterWith({ nodes: [away, node.config] }).spent(txid)).toMatchObject({ fee: 100_000n });
      await expect(wallet.adapterWith({ nodes: [away] }).spent(txid)).rejects.toThrow(ChainError);
    });

    it('is not believed of a node that contradicts the scan or tells of another transaction', async () => {
      const txid = await spend({ [wallet.address()]: '1.5' }, { [wallet.hotAddress]: '0.499' });
      await node.mine(1);
      const proxy = new UtxoProxy(node.config);
      const lied = wallet.adapterWith({ nodes: [await proxy.start()] });
      try {
        expect(await lied.spent(txid)).toMatchObject({ fee: 100_000n });
        const tx = await node.rpc<{ vout: { value: string }[] }>(
          'getrawtransaction',
          txid,
          1,
          await node.rpc('getbestblockhash'),
        );
        for (const lie of [
          { ...tx, txid: 'a'.repeat(64) },
          { ...tx, vout: [...tx.vout, ...tx.vout] },
          { ...tx, vout: undefined },
          { ...tx, vin: 7 },
        ]) {
          proxy.falsify = (method, params) => (method === 'getrawtransaction' && params.length > 2 ? lie : undefined);
          await expect(lied.spent(txid)).rejects.toMatchObject({ code: 'unsound_answer' });
        }
      } finally {
        await proxy.stop();
      }
    });
  });

  it('is not taken from the index of a node before a scan has read the block', async () => {
    const indexed = await startLitecoind({ hasIndex: true });
    try {
      const wallet = new UtxoHarness(indexed);
      await wallet.fund([coin]);
      const keys = (await wallet.outputs.hot()).map(({ key }) => key);
      const raw = await wallet.byHand(keys, [{ [wallet.address()]: '0.999' }]);
      const txid = await indexed.rpc<string>('sendrawtransaction', raw);
      wallet.outputs.isStale = true;
      await indexed.mine(1);
      expect(await indexed.rpc('getrawtransaction', txid, true)).toMatchObject({ txid });
      expect(await wallet.adapter.spent(txid)).toBeNull();
      wallet.outputs.isStale = false;
      expect(await wallet.adapter.spent(txid)).toMatchObject({ fee: 100_000n, height: await indexed.height() });
    } finally {
      await indexed.stop();
    }
  });
}
