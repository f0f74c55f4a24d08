import { call, describeWithAnvil, quantity } from '../../support/chains/anvil.ts';
import {
  address,
  again,
  anvil,
  gwei,
  here,
  intent,
  liar,
  open,
  transfersOf,
  withAnvil,
} from '../../support/chains/evm-adapter-setup.ts';
import { ether, payFrom } from '../../support/chains/evm-harness.ts';
import { Refusal } from '../../support/http/refusal.ts';

describeWithAnvil('EvmAdapter', () => {
  withAnvil();

  describe('finding deposits', () => {
    it('credits nothing of a transaction that the chain undid', async () => {
      const chain = await open();
      const refuser = await anvil.deploy('Refuser');
      const cursor = await here(chain);
      const txid = await anvil.send(refuser, 5n, { gas: 100_000 });
      await anvil.mine();
      expect(await anvil.rpc('eth_getTransactionReceipt', txid)).toMatchObject({ status: '0x0' });
      expect(transfersOf(await chain.adapter.scan(cursor, 10))).toEqual([]);
    });

    it('is not disturbed by a transaction that makes a contract and gives it coins', async () => {
      const chain = await open();
      const cursor = await here(chain);
      const tx = { from: anvil.accounts[0], data: '0x6001600c60003960016000f300', value: '0x5', gas: '0x30000' };
      const txid = await anvil.rpc<string>('eth_sendTransaction', tx);
      const to = address();
      await anvil.send(to, 7n);
      await anvil.mine();
      expect(await anvil.rpc('eth_getTransactionReceipt', txid)).toMatchObject({ status: '0x1' });
      expect(transfersOf(await chain.adapter.scan(cursor, 10))).toMatchObject([{ address: to, amount: 7n }]);
    });

    it('tells the transfers of one transaction apart by their log index', async () => {
      const chain = await open();
      const cursor = await here(chain);
      const [a, b] = [address(), address()];
      const txid = await anvil.send(chain.token, 0n, { data: call('transferTwice', a, b, 5n) });
      await anvil.mine();
      const common = { txid, tag: null, contract: chain.token };
      expect(transfersOf(await chain.adapter.scan(cursor, 10))).toEqual([
        { ...common, key: expect.stringContaining(`${txid}:log1:`), address: a, amount: 5n },
        { ...common, key: expect.stringContaining(`${txid}:log3:`), address: b, amount: 6n },
      ]);
    });

    it('keeps the keys of a transaction that a reorganisation moves behind others', async () => {
      const chain = await open();
      const cursor = await here(chain);
      await anvil.send(chain.token, 0n, { data: call('transferTwice', address(), address(), 5n) });
      await anvil.mine();
      const before = await chain.adapter.scan(cursor, 10);
      await anvil.reorg(1);
      const first = await anvil.rpc<string>('eth_sendTransaction', {
        from: anvil.accounts[1],
        to: chain.token,
        data: call('mint', address(), 1n),
        gas: quantity(100_000),
        maxPriorityFeePerGas: quantity(90n * gwei),
        maxFeePerGas: quantity(190n * gwei),
      });
      await anvil.mine();
      const block = await anvil.rpc<{ transactions: string[] }>('eth_getBlockByNumber', 'latest', false);
      expect(block.transactions[0]).toBe(first);
      const after = await chain.adapter.scan(before.cursor, 10);
      expect(transfersOf(after).slice(1)).toEqual(transfersOf(before));
      expect(transfersOf(before)).toHaveLength(2);
    });

    it('ignores contracts that are not in the settings, and tokens that are no coin', async () => {
      const chain = await open();
      const [faker, picture] = [await anvil.deploy('Liar'), await anvil.deploy('Picture')];
      const adapter = again(chain, {
        tokens: new Map([
          ['USDT', chain.token],
          ['PIC', picture],
        ]),
      });
      const cursor = await here(chain);
      const to = address();
      await anvil.send(faker, 0n, { data: call('claim', to, ether) });
      await anvil.send(picture, 0n, { data: call('mint', to, 7n) });
      await anvil.send(chain.token, 0n, { data: call('transfer', to, 0n) });
      await anvil.mine();
      const block = await anvil.rpc<{ transactions: string[] }>('eth_getBlockByNumber', 'latest', false);
      expect(block.transactions).toHaveLength(3);
      expect(transfersOf(await adapter.scan(cursor, 10))).toEqual([]);
    });

    it('credits what arrives of a token that keeps a part, and nothing of one that says no', async () => {
      const chain = await open();
      const [feeToken, falseToken] = [
        await anvil.deployToken(18, 'FeeToken'),
        await anvil.deployToken(18, 'FalseToken'),
      ];
      const adapter = again(chain, {
        tokens: new Map([
          ['FEE', feeToken],
          ['NO', falseToken],
        ]),
      });
      const cursor = await here(chain);
      const to = address();
      await anvil.sendToken(feeToken, to, 1_000n);
      await anvil.sendToken(falseToken, to, 1_000n);
      await anvil.mine();
      const found = transfersOf(await adapter.scan(cursor, 10)).filter((transfer) => transfer.address === to);
      expect(found).toMatchObject([{ contract: feeToken, amount: 900n }]);
      expect(await adapter.balances([{ address: to, tag: null }], feeToken)).toEqual([900n]);
      expect(await adapter.balances([{ address: to, tag: null }], falseToken)).toEqual([0n]);
    });

    it('finds the same on a node that does not serve the receipts of a block at once', async () => {
      const chain = await open({}, [liar.node]);
      const cursor = await here(chain);
      const refuser = await anvil.deploy('Refuser');
      for (const to of [address(), address(), refuser]) await anvil.send(to, 5n, { gas: 100_000 });
      await anvil.send(chain.token, 0n, { data: call('transferTwice', address(), address(), 5n) });
      await anvil.mine(2);
      const truth = await chain.adapter.scan(cursor, 10);
      expect(transfersOf(truth)).toHaveLength(4);
      for (const code of [-32601, -32602, -32000]) {
        liar.lie = (method, result) => (method === 'eth_getBlockReceipts' ? new Refusal(code) : result);
        expect(await again(chain, {}).scan(cursor, 10)).toEqual(truth);
      }
    });

    it('reads many blocks ahead and each only once', async () => {
      const chain = await open({ reorgWindow: 64 }, [liar.node]);
      const cursor = await here(chain);
      for (let block = 0; block < 30; block += 1) {
        await anvil.send(address(), 5n);
        await anvil.mine();
      }
      liar.calls.length = 0;
      const result = await chain.adapter.scan(cursor, 25);
      expect(result.blocks).toHaveLength(25);
      expect(transfersOf(result)).toHaveLength(25);
      const count = (wanted: string) => liar.calls.filter((method) => method === wanted).length;
      expect([count('eth_getBlockByNumber'), count('eth_getBlockReceipts')]).toEqual([2 + 25, 25]);
      expect(liar.calls).toHaveLength(2 + 25 + 25);
    });

    it('makes one request to a chain without new blocks', async () => {
      const chain = await open({}, [liar.node]);
      const cursor = await here(chain);
      liar.calls.length = 0;
      expect(await chain.adapter.scan(cursor, 10)).toEqual({
        orphaned: [],
        blocks: [],
        cursor,
        head: cursor.window[0]?.height,
      });
      expect(liar.calls).toEqual(['eth_getBlockByNumber']);
    });

    it('follows a chain that changes while a block is read', async () => {
      const chain = await open({}, [liar.node]);
      const cursor = await here(chain);
      const to = address();
      await anvil.send(to, 5n);
      await anvil.mine();
      let reorganised = 0;
      liar.lie = async (method, result, params) => {
        if (method === 'eth_getBlockByNumber' && params[1] === true && reorganised === 0) {
          reorganised += 1;
          await anvil.reorg(1);
        }
        return result;
      };
      const { blocks } = await chain.adapter.scan(cursor, 10);
      expect(reorganised).toBe(1);
      expect(blocks).toEqual([{ ref: await chain.adapter.head(), transfers: [] }]);
    });

    it('keeps the blocks that it read when the node fails at a later one', async () => {
      const chain = await open({}, [liar.node]);
      const cursor = await here(chain);
      for (let block = 0; block < 4; block += 1) {
        await anvil.send(address(), 5n);
        await anvil.mine();
      }
      const third = (cursor.window[0]?.height ?? 0) + 3;
      liar.lie = (method, result, params) =>
        method === 'eth_getBlockByNumber' && params[0] === quantity(third) && params[1] === true
          ? new Refusal(-32000, 'overloaded')
          : result;
      const first = await chain.adapter.scan(cursor, 10);
      expect([first.blocks.length, first.head]).toEqual([2, third + 1]);
      await expect(chain.adapter.scan(first.cursor, 10)).rejects.toMatchObject({ code: 'node_refused' });
      liar.lie = (_method, result) => result;
      expect((await chain.adapter.scan(first.cursor, 10)).blocks).toHaveLength(2);
    });

    it('believes no node that has lost the receipts of a block that is on its chain', async () => {
      const chain = await open({}, [liar.node]);
      const cursor = await here(chain);
      await anvil.send(address(), 5n);
      await anvil.mine();
      liar.lie = (method, result) => (method === 'eth_getBlockReceipts' ? null : result);
      await expect(chain.adapter.scan(cursor, 10)).rejects.toMatchObject({ code: 'unsound_answer' });
    });
  });

  describe('coins that contracts send on', () => {
    let forwarder: string;
    beforeAll(async () => {
      forwarder = await anvil.deploy('Forwarder');
    });

    it('are found by tracing, each with a separate key, and not what was undone', async () => {
      const chain = await open({ internalTransfers: 'trace' });
      const cursor = await here(chain);
      const [a, b, c, d] = [address(), address(), address(), address()];
      const one = await anvil.send(forwarder, 11n, { data: call('forward', a) });
      const each = await anvil.send(forwarder, 20n, { data: call('forwardEach', [a, b], 10n) });
      await anvil.send(forwarder, 30n, { data: call('forwardAndRepent', c), gas: 200_000 });
      await anvil.send(forwarder, 40n, { data: call('forwardAndFail', c), gas: 200_000 });
      const heir = await anvil.send(forwarder, 50n, { data: call('bequeath', d), gas: 300_000 });
      const kept = await anvil.send(forwarder, 60n, { data: call('keep'), gas: 300_000 });
      await anvil.mine();
      const found = transfersOf(await chain.adapter.scan(cursor, 10));
      const inner = (txid: string) => found.filter(({ key }) => key.startsWith(`${txid}:trace`));
      expect(inner(one)).toEqual([
        {
          key: expect.stringContaining(`${one}:trace0:`),
          txid: one,
          address: a,
          tag: null,
          contract: null,
          amount: 11n,
        },
      ]);
      expect(inner(each).map(({ key, address, amount }) => [key, address, amount])).toEqual([
        [expect.stringContaining(`${each}:trace0:`), a, 10n],
        [expect.stringContaining(`${each}:trace1:`), b, 10n],
      ]);
      expect(inner(heir).at(-1)).toMatchObject({ address: d, amount: 50n });
      expect(inner(kept)).toHaveLength(1);
      expect(await anvil.balance(inner(kept)[0]?.address ?? '')).toBe(60n);
      expect(found.filter(({ address }) => address === c)).toEqual([]);
      for (const to of [a, b, c, d]) {
        const sum = found.filter(({ address }) => address === to).reduce((total, { amount }) => total + amount, 0n);
        expect(sum).toBe(await anvil.balance(to));
      }
      expect(chain.adapter.missesInternalTransfers).toBe(false);
    });

    it('are not seen without tracing, and are seen in the balances of a final block', async () => {
      const chain = await open({ internalTransfers: 'balances', finality: 3 });
      const cursor = await here(chain);
      const to = address();
      await anvil.send(forwarder, 11n, { data: call('forward', to) });
      await anvil.mine();
      expect(transfersOf(await chain.adapter.scan(cursor, 10)).filter(({ address }) => address === to)).toEqual([]);
      expect(chain.adapter.missesInternalTransfers).toBe(true);
      await anvil.mine();
      expect((await chain.adapter.finalBalances([to], null)).amounts).toEqual([0n]);
      await anvil.mine();
      const { block, amounts } = await chain.adapter.finalBalances([address(), to], null);
      expect(amounts).toEqual([0n, 11n]);
      expect(block.height).toBe((await chain.adapter.head()).height - 2);
      expect((await chain.adapter.start(block.height)).window).toEqual([block]);
      await anvil.sendToken(chain.token, to, 9n);
      await anvil.mine(3);
      expect((await chain.adapter.finalBalances([to], chain.token)).amounts).toEqual([9n]);
    });

    it('are a problem of a node that traces nothing', async () => {
      const chain = await open({ internalTransfers: 'trace' }, [liar.node]);
      await anvil.send(address(), 1n);
      await anvil.mine();
      expect((await chain.adapter.check())[0]?.problems).toEqual([]);
      liar.lie = (method, result) => (method === 'debug_traceBlockByHash' ? new Refusal(-32601) : result);
      const { height } = await chain.adapter.head();
      await expect(chain.adapter.scan(await chain.adapter.start(height - 1), 1)).rejects.toMatchObject({
        code: 'node_refused',
      });
      expect((await chain.adapter.check())[0]?.problems).toEqual([expect.stringContaining('debug_traceBlockByHash')]);
    });
  });

  describe('what the chain itself calls final', () => {
    it.each(['safe', 'finalized'] as const)('is asked of it: %s', async (finality) => {
      const chain = await open({ finality });
      const payment = intent();
      const tx = await payFrom(chain, payment);
      await anvil.mine();
      const { height } = await chain.adapter.head();
      const finalHeight = async () =>
        Number((await anvil.rpc<{ number: string }>('eth_getBlockByNumber', finality, false)).number);
      for (let turn = 0; turn < 12; turn += 1) {
        const isFinal = (await finalHeight()) >= height;
        expect(await chain.adapter.status(tx)).toMatchObject({ state: 'mined', height, final: isFinal });
        const { block, amounts } = await chain.adapter.finalBalances([payment.to], null);
        expect([block.height, amounts]).toEqual([await finalHeight(), [isFinal ? ether : 0n]]);
        await anvil.mine();
      }
      expect(await chain.adapter.status(tx)).toMatchObject({ final: true });
      const cursor = await chain.adapter.start(height);
      expect(await chain.adapter.scan(cursor, 100)).toMatchObject({ final: await finalHeight() });
      const atHead = await chain.adapter.start((await chain.adapter.head()).height);
      expect(await chain.adapter.scan(atHead, 100)).toMatchObject({ final: await finalHeight() });
      expect(await again(chain, { finality: 3 }).scan(cursor, 100)).not.toHaveProperty('final');
      expect(chain.adapter.finalityDepth).toBe(finality === 'safe' ? 64 : 96);
    });
  });

  describe('a chain whose newest block is old', () => {
    const old = (method: string, result: unknown, params: readonly unknown[]): unknown =>
      method === 'eth_getBlockByNumber' && params[0] === 'latest'
        ? { ...(result as object), timestamp: quantity(Math.floor(Date.now() / 1_000) - 3_601) }
        : result;

    it('is not scanned: not even what did not change counts as seen', async () => {
      const chain = await open({ stalledAfterSec: 3_600 }, [liar.node]);
      await anvil.mine();
      const cursor = await here(chain);
      expect(await chain.adapter.scan(cursor, 1)).toMatchObject({ blocks: [] });
      liar.lie = old;
      await expect(chain.adapter.scan(cursor, 1)).rejects.toMatchObject({ code: 'chain_stalled', retryable: true });
      expect((await chain.adapter.check())[0]?.problems).toEqual([expect.stringContaining('newest block')]);
      liar.lie = (_method, result) => result;
      expect(await chain.adapter.scan(cursor, 1)).toMatchObject({ blocks: [] });
    });

    it('is read from the next node', async () => {
      const chain = await open({ stalledAfterSec: 3_600 }, [liar.node, anvil.node]);
      await anvil.mine();
      const cursor = await here(chain);
      liar.lie = old;
      const to = address();
      await anvil.send(to, 5n);
      await anvil.mine();
      expect(transfersOf(await chain.adapter.scan(cursor, 10))).toMatchObject([{ address: to }]);
    });

    it('may be one of your own', async () => {
      const chain = await open({ stalledAfterSec: 0 }, [liar.node]);
      await anvil.mine();
      liar.lie = old;
      expect(await chain.adapter.scan(await here(chain), 1)).toMatchObject({ blocks: [] });
      expect((await chain.adapter.check())[0]?.problems).toEqual([]);
    });
  });

  it('a node that knows no final block has a problem, and no scan believes it', async () => {
    const chain = await open({ finality: 'finalized' }, [liar.node]);
    expect((await chain.adapter.check())[0]?.problems).toEqual([]);
    liar.lie = (method, result, params) =>
      method === 'eth_getBlockByNumber' && params[0] === 'finalized' ? null : result;
    expect((await chain.adapter.check())[0]?.problems).toEqual([expect.stringContaining('finality')]);
    await expect(chain.adapter.scan(await chain.adapter.start(0), 1)).rejects.toMatchObject({
      code: 'unsound_answer',
    });
  });

  it('a node that keeps no balances as old as its final block has a problem, where they are compared or swept', async () => {
    const chain = await open({ finality: 3, internalTransfers: 'balances' }, [liar.node]);
    await anvil.mine(3);
    expect((await chain.adapter.check())[0]?.problems).toEqual([]);
    const { height } = await chain.adapter.head();
    liar.lie = (method, result, params) =>
      method === 'eth_getBalance' && Number(params[1]) < height - 1 ? new Refusal(-32000, 'missing trie node') : result;
    expect((await chain.adapter.check())[0]?.problems).toEqual([expect.stringContaining('archive node')]);
    await expect(chain.adapter.finalBalances([address()], null)).rejects.toMatchObject({
      message: `the node at ${new URL(liar.node.url).origin} refuses eth_getBalance: missing trie node`,
    });
    const sweeping = again(chain, { internalTransfers: 'none', sweepFrom: new Map([['ETH', '1']]) });
    expect((await sweeping.check())[0]?.problems).toEqual([expect.stringContaining('archive node')]);
    expect((await again(chain, { internalTransfers: 'trace' }).check())[0]?.problems).toEqual([]);
  });

  it('a node that makes no sense is named', async () => {
    const chain = await open({}, [liar.node]);
    liar.lie = (method, result) => (method === 'eth_getBalance' ? 'much' : result);
    await expect(chain.adapter.balances([{ address: address(), tag: null }], null)).rejects.toMatchObject({
      code: 'unsound_answer',
      message: `the node at ${new URL(liar.node.url).origin} answered no number as balance`,
    });
  });
});
