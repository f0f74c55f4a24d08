import { randomUUID } from 'node:crypto';
import type { MoneroAdapter } from '../../../src/chains/monero/monero-adapter.ts';
import type { PaymentIntent, SignedTx } from '../../../src/chains/port/chain-adapter.ts';
import { MoneroHarness } from '../../support/chains/monero-harness.ts';
import { MoneroProxy } from '../../support/chains/monero-proxy.ts';
import { hasMonerod, type Monerod, startMonerod, withoutMonerod, xmr } from '../../support/chains/monerod.ts';
import { holding } from '../../support/gateway/holding.ts';

if (!hasMonerod()) {
  it.skip(`${withoutMonerod}: no lies were tried`, () => {}); // CI requires it
} else {
  describe('where Monero programs lie', () => {
    let node: Monerod;
    let wallet: MoneroHarness;
    let daemon: MoneroProxy;
    let viewer: MoneroProxy;
    let adapter: MoneroAdapter;

    beforeAll(async () => {
      node = await startMonerod();
      wallet = new MoneroHarness(node, 1);
      await wallet.fund();
      daemon = await new MoneroProxy(node.config).start();
      viewer = await new MoneroProxy(node.view.config).start();
      adapter = wallet.another({ nodes: [daemon.config], wallet: viewer.config });
    }, 600_000);
    afterAll(async () => {
      await daemon?.stop();
      await viewer?.stop();
      await node?.stop();
    });
    afterEach(() => {
      daemon.lie = null;
      viewer.lie = null;
    });

    const paid = async (): Promise<{ payment: PaymentIntent; tx: SignedTx }> => {
      await wallet.fund(2);
      const to = node.address();
      const more = { attempt: 1, from: null, contract: null, tag: null };
      const payment = { id: randomUUID(), to, amount: xmr / 10n, ...more };
      const tx = await wallet.sign(payment, await adapter.prepare(payment, holding()));
      expect((await adapter.broadcast(tx)).outcome).toBe('accepted');
      await node.mine(1);
      return { payment, tx };
    };

    it('a wallet that invents a deposit, or moves one to another block, credits nothing', async () => {
      const cursor = await adapter.start(await node.height());
      const address = wallet.ownAddress();
      const txid = await node.pay([[address, xmr]]);
      await node.mine(4);
      const height = (await node.height()) - 3;
      const lies = [
        (text: string) => text.replaceAll(txid, 'ab'.repeat(32)),
        (text: string) => text.replaceAll(`"height": ${height}`, `"height": ${height + 1}`),
      ];
      for (const change of lies) {
        viewer.lie = (call, text) => (call === 'get_transfers' ? change(text) : text);
        await expect(adapter.scan(cursor, 10)).rejects.toMatchObject({ code: 'wallet_behind', retryable: true });
      }
      viewer.lie = (call, text) =>
        call === 'get_transfers' ? text.replaceAll('1000000000000', '9000000000000') : text;
      const { blocks } = await adapter.scan(cursor, 10);
      expect(blocks.flatMap(({ transfers }) => transfers)).toMatchObject([{ address, doubt: 'unusual_kind' }]);
      viewer.lie = null;
      const honest = await adapter.scan(cursor, 10);
      expect(honest.blocks.flatMap(({ transfers }) => transfers)).toEqual([
        { key: `${txid}:1`, txid, address, tag: null, contract: null, amount: xmr },
      ]);
    });

    it('a deposit that the wallet shows late is found in the block that was read before', async () => {
      const cursor = await adapter.start(await node.height());
      const address = wallet.ownAddress();
      await node.pay([[address, xmr]]);
      await node.mine(3);
      viewer.lie = (call, text) => (call === 'get_transfers' ? '{"id":"0","jsonrpc":"2.0","result":{}}' : text);
      // The answer names another question, and is refused.
      await expect(adapter.scan(cursor, 10)).rejects.toMatchObject({ code: 'unsound_answer' });
      viewer.lie = (call, text) =>
        call === 'get_transfers' ? text.replace(/"result": \{[\s\S]*\}/, '"result": {}}') : text;
      const first = await adapter.scan(cursor, 10);
      expect(first.blocks.flatMap(({ transfers }) => transfers)).toEqual([]);
      viewer.lie = null;
      const second = await adapter.scan(first.cursor, 10);
      expect(second.orphaned).toHaveLength(3);
      expect(second.blocks.map(({ ref }) => ref.hash)).toEqual(first.blocks.map(({ ref }) => ref.hash));
      expect(second.blocks.flatMap(({ transfers }) => transfers)).toMatchObject([{ address, amount: xmr }]);
      expect((await adapter.scan(second.cursor, 10)).orphaned).toEqual([]);
    });

    it('a daemon that hides a mined payment makes it dead for no one', async () => {
      const { tx } = await paid();
      daemon.lie = (call, text) =>
        call === 'get_transactions' ? '{"status":"OK","missed_tx":[],"untrusted":false}' : text;
      await expect(adapter.status(tx)).rejects.toMatchObject({ code: 'unsound_answer' });
      daemon.lie = (call, text) => {
        if (call === 'get_transactions') return '{"status":"OK","untrusted":false}';
        return call === 'is_key_image_spent' ? '{"status":"OK","spent_status":[0]}' : text;
      };
      expect(await adapter.status(tx)).toEqual({ state: 'unknown' });
      daemon.lie = null;
      expect(await adapter.status(tx)).toMatchObject({ state: 'mined', success: true });
    });

    it('a daemon that names a rival which spends something else kills no payment', async () => {
      const { tx: other } = await paid();
      await wallet.fund(2);
      const to = node.address();
      const payment = { id: randomUUID(), to, amount: xmr / 10n, attempt: 1, from: null, contract: null, tag: null };
      const tx = await wallet.sign(payment, await adapter.prepare(payment, holding()));
      daemon.lie = (call, text) => (call === 'is_key_image_spent' ? '{"status":"OK","spent_status":[1]}' : text);
      expect(await adapter.status(tx)).toEqual({ state: 'dead', why: 'conflict', final: false });
      await node.mine(5);
      expect(await adapter.status(tx)).toEqual({ state: 'dead', why: 'conflict', final: false });
      expect(await adapter.status(other)).toMatchObject({ state: 'mined', final: true });
    });

    it.each([
      ['no JSON', () => 'nonsense'],
      ['an empty object', () => '{}'],
      ['a height that is no number', (text: string) => text.replaceAll(/"height": \d+/g, '"height": "high"')],
      ['a hash that is too short', (text: string) => text.replaceAll(/"hash": "../g, '"hash": "')],
      ['a number beyond 2^53', (text: string) => text.replaceAll(/"height": \d+/g, '"height": 99999999999999999999')],
      ['a negative number', (text: string) => text.replaceAll(/"(amount|height|timestamp)": /g, '"$1": -')],
      ['another network', (text: string) => text.replaceAll('fakechain', 'mainnet')],
    ] as const)('%s of a daemon or a wallet is a fault, and the next honest answer is read', async (_name, change) => {
      const fresh = wallet.another({ nodes: [daemon.config], wallet: viewer.config });
      const cursor = await fresh.start((await node.height()) - 2);
      daemon.lie = (_call, text) => change(text);
      const another = wallet.another({ nodes: [daemon.config], wallet: viewer.config });
      await expect(another.scan(cursor, 10)).rejects.toMatchObject({ name: 'ChainError', retryable: true });
      daemon.lie = null;
      if (_name !== 'another network' && !_name.startsWith('a hash')) {
        viewer.lie = (_call, text) => change(text);
        await expect(fresh.scan(cursor, 10)).rejects.toMatchObject({ name: 'ChainError', retryable: true });
        viewer.lie = null;
      }
      expect((await fresh.scan(cursor, 10)).blocks).toHaveLength(2);
    });
  });
}
