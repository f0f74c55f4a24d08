import { evmTraits } from '../../../src/chains/evm/evm-traits.ts';
import type { NodeConfig } from '../../../src/chains/networks/network-config.ts';
import { ChainError } from '../../../src/chains/port/chain-adapter.ts';
import { describeWithAnvil, findAnvil, quantity, startAnvil } from '../../support/chains/anvil.ts';
import { describeChainAdapter } from '../../support/chains/chain-conformance.ts';
import type { Family } from '../../support/chains/conformance/bench.ts';
import { address, again, anvil, here, liar, open, withAnvil } from '../../support/chains/evm-adapter-setup.ts';
import { evmHarness } from '../../support/chains/evm-harness.ts';
import { Refusal } from '../../support/http/refusal.ts';

const family: Family = {
  traits: evmTraits,
  abilities: ['token', 'refusal', 'sweeps', 'replacement', 'final balances', 'large amounts'],
  counts: { tried: 36, skipped: 10 },
};
if (findAnvil() !== null) describeChainAdapter('the EVM', family, async () => evmHarness(await startAnvil()));

describeWithAnvil('EvmAdapter', () => {
  withAnvil();

  describe('its nodes', () => {
    const nowhere: NodeConfig = { url: 'http://127.0.0.1:9', user: null, password: null, headers: {} };

    it('are asked in turn when one is away, of another chain, or still catching up', async () => {
      const chain = await open({}, [nowhere, liar.node, anvil.node]);
      const head = await chain.adapter.head();
      for (const lies of [{ eth_chainId: '0x1' }, { eth_syncing: { currentBlock: '0x1' } }, { eth_chainId: 7 }]) {
        liar.lie = (method, result) => (lies as Record<string, unknown>)[method] ?? result;
        const adapter = again(chain, {});
        liar.calls.length = 0;
        expect(await adapter.head()).toEqual(head);
        expect(liar.calls).not.toContain('eth_getBlockByNumber');
        await expect(again(chain, { nodes: [liar.node] }).head()).rejects.toThrow(ChainError);
      }
    });

    it('report whether they can be used', async () => {
      const chain = await open({ internalTransfers: 'trace' }, [anvil.node, liar.node, nowhere]);
      liar.lie = (method, result) => {
        if (method === 'eth_chainId') return '0x1';
        if (method === 'eth_syncing') return { currentBlock: '0x1' };
        return method === 'eth_getBlockReceipts' ? new Refusal(-32601) : result;
      };
      const [good, bad, away] = await chain.adapter.check();
      const { height } = await chain.adapter.head();
      expect(good).toEqual({
        node: anvil.url,
        head: height,
        lagSec: expect.any(Number),
        isSyncing: false,
        problems: [],
      });
      expect(bad).toMatchObject({ head: height, isSyncing: true });
      expect(bad?.problems).toEqual([
        expect.stringContaining('chain 1'),
        expect.stringContaining('catching up'),
        expect.stringContaining('eth_getBlockReceipts'),
      ]);
      expect(away).toMatchObject({
        node: 'http://127.0.0.1:9',
        head: null,
        problems: [expect.stringContaining('does not answer')],
      });
    });

    it('are not taken for reorganised when they are behind', async () => {
      const chain = await open({}, [liar.node]);
      const cursor = await here(chain);
      await anvil.mine(3);
      const { cursor: next } = await chain.adapter.scan(cursor, 10);
      const behind = await anvil.rpc('eth_getBlockByNumber', quantity(next.window.at(-2)?.height ?? 0), false);
      liar.lie = (method, result, params) =>
        method === 'eth_getBlockByNumber' && params[0] === 'latest' ? behind : result;
      await expect(chain.adapter.scan(next, 10)).rejects.toMatchObject({ code: 'node_behind', retryable: true });
    });

    it('find nothing of a token where there is no contract', async () => {
      const chain = await open();
      expect(await chain.adapter.balances([{ address: address(), tag: null }], address())).toEqual([0n]);
    });

    it('may show no block that is still to come, and then tell of each transaction', async () => {
      const chain = await open({}, [liar.node]);
      const to = address();
      const txid = await anvil.send(to, 5n);
      expect(await chain.adapter.pending([txid])).toMatchObject({
        transfers: [{ address: to, amount: 5n }],
        left: new Set(),
      });
      for (const told of [null, new Refusal(-32601), new Refusal(-32000)]) {
        liar.lie = (method, result, params) =>
          method === 'eth_getBlockByNumber' && params[0] === 'pending' ? told : result;
        expect(await chain.adapter.pending([txid])).toEqual({ transfers: [], left: new Set() });
      }
      await anvil.mine();
      const latest = await anvil.rpc('eth_getBlockByNumber', 'latest', true);
      liar.lie = (method, result, params) =>
        method === 'eth_getBlockByNumber' && params[0] === 'pending' ? latest : result;
      expect(await chain.adapter.pending([txid])).toEqual({ transfers: [], left: new Set([txid]) });
    });

    it('keep a transaction in the mempool that pays too little for the next block', async () => {
      const chain = await open({}, [liar.node]);
      const txid = await anvil.send(address(), 5n);
      const none = { ...((await anvil.rpc('eth_getBlockByNumber', 'pending', true)) as object), transactions: [] };
      liar.lie = (method, result, params) =>
        method === 'eth_getBlockByNumber' && params[0] === 'pending' ? none : result;
      expect(await chain.adapter.pending([txid])).toEqual({ transfers: [], left: new Set() });
      await anvil.rpc('anvil_dropTransaction', txid);
      expect(await chain.adapter.pending([txid])).toEqual({ transfers: [], left: new Set([txid]) });
    });
  });
});
