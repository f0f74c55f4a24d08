import { randomUUID } from 'node:crypto';
import { toChecksumAddress } from '../../../src/chains/addresses/evm.ts';
import {
  ChainError,
  type Cursor,
  type Held,
  type PaymentIntent,
  type PreparedTx,
  type ScanResult,
  type Transfer,
} from '../../../src/chains/chain-adapter.ts';
import { EvmAdapter } from '../../../src/chains/evm/evm-adapter.ts';
import { decodePayload } from '../../../src/chains/evm/evm-tx.ts';
import type { EvmNetwork, NodeConfig } from '../../../src/chains/network-config.ts';
import {
  type Anvil,
  call,
  describeWithAnvil,
  findAnvil,
  quantity,
  randomAddress,
  startAnvil,
} from '../../support/anvil.ts';
import { describeChainAdapter } from '../../support/chain-conformance.ts';
import { type EvmHarness, ether, evmHarness, payFrom } from '../../support/evm-harness.ts';
import { EvmLiar } from '../../support/evm-liar.ts';
import { holding } from '../../support/holding.ts';
import { Refusal } from '../../support/refusal.ts';

const gwei = 10n ** 9n;

if (findAnvil() !== null) describeChainAdapter('the EVM', async () => evmHarness(await startAnvil()));

describeWithAnvil('EvmAdapter', () => {
  let anvil: Anvil;
  let liar: EvmLiar;
  beforeAll(async () => {
    anvil = await startAnvil();
    liar = await new EvmLiar(anvil.url).start();
  });
  afterAll(async () => {
    await liar?.stop();
    await anvil?.stop();
  });
  beforeEach(async () => {
    liar.lie = (_method, result) => result;
    liar.calls.length = 0;
    await anvil.mine();
  });

  const open = (changes: Partial<EvmNetwork> = {}, nodes?: readonly NodeConfig[]): Promise<EvmHarness> =>
    evmHarness(anvil, changes, nodes);
  /** Another adapter for the same chain and wallet. */
  const again = ({ network, hot, wallet }: EvmHarness, changes: Partial<EvmNetwork>): EvmAdapter =>
    new EvmAdapter({ network: { ...network, ...changes }, hotWallet: hot, addresses: wallet });
  const here = async ({ adapter }: EvmHarness): Promise<Cursor> => adapter.start((await adapter.head()).height);
  const address = (): string => toChecksumAddress(randomAddress().slice(2));
  const intent = (changes: Partial<PaymentIntent> = {}): PaymentIntent => ({
    id: randomUUID(),
    attempt: 1,
    from: null,
    contract: null,
    to: address(),
    tag: null,
    amount: ether,
    ...changes,
  });

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

    it('tells the transfers of one transaction apart by the place of their logs in it', async () => {
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

    it('takes no word of contracts that are not in the settings, and no token that is no coin', async () => {
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

    it('asks one thing of a chain where nothing is new', async () => {
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

    it('are found by tracing, each with a key of its own, and not what was undone', async () => {
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

  describe('sweeping', () => {
    const sweep = ({ hot }: EvmHarness, from: string, changes: Partial<PaymentIntent> = {}): PaymentIntent =>
      intent({ from: [from], to: hot, ...changes });

    it('leaves exactly nothing of the own coin behind', async () => {
      const chain = await open();
      const from = await chain.wallet.deposit(7);
      await anvil.send(from, ether);
      await anvil.mine();
      const before = await anvil.balance(chain.hot);
      const { fee: most, lacking } = await chain.adapter.sweepCost(sweep(chain, from));
      const tx = await payFrom(chain, sweep(chain, from));
      expect(tx.reserves).toEqual([`nonce:${from}:0`]);
      await anvil.mine(3);
      const status = await chain.adapter.status(tx);
      expect(status).toMatchObject({ state: 'mined', success: true, final: true });
      const fee = status.state === 'mined' ? status.fee : -1n;
      expect([most, lacking]).toEqual([fee, 0n]);
      expect(await anvil.balance(from)).toBe(0n);
      expect(await anvil.balance(chain.hot)).toBe(before + ether - fee);
      expect((await chain.adapter.finalBalances([from], null)).amounts).toEqual([0n]);
    });

    it('brings tokens once the address was given what the fee takes', async () => {
      const chain = await open();
      const from = await chain.wallet.deposit(8);
      await anvil.sendToken(chain.token, from, 500n);
      await anvil.mine();
      const wanted = sweep(chain, from, { contract: chain.token, amount: 500n });
      await expect(chain.adapter.prepare(wanted, new Map())).rejects.toMatchObject({ code: 'no_gas', isOfChain: true });
      const { lacking: missing } = await chain.adapter.sweepCost(wanted);
      await payFrom(chain, intent({ to: from, amount: missing }));
      await anvil.mine();
      expect(await chain.adapter.sweepCost(wanted)).toMatchObject({ lacking: 0n });
      const before = await anvil.balance(chain.hot, chain.token);
      const tx = await payFrom(chain, wanted);
      await anvil.mine();
      expect(await chain.adapter.status(tx)).toMatchObject({ state: 'mined', success: true });
      expect(await anvil.balance(from, chain.token)).toBe(0n);
      expect(await anvil.balance(chain.hot, chain.token)).toBe(before + 500n);
    });

    it('makes do with the gas that it was given when the market has risen a little since', async () => {
      const chain = await open();
      const from = await chain.wallet.deposit(9);
      await anvil.sendToken(chain.token, from, 500n);
      await anvil.mine();
      const wanted = sweep(chain, from, { contract: chain.token, amount: 500n });
      await anvil.fund(from, (await chain.adapter.sweepCost(wanted)).lacking);
      const { baseFeePerGas } = await anvil.rpc<{ baseFeePerGas: string }>('eth_getBlockByNumber', 'latest', false);
      await anvil.setBaseFee((BigInt(baseFeePerGas) * 115n) / 100n);
      await anvil.mine();
      const tx = await payFrom(chain, wanted);
      await anvil.mine();
      expect(await chain.adapter.status(tx)).toMatchObject({ state: 'mined', success: true });
    });

    it('refuses what would bring nothing, what is not ours and what goes elsewhere', async () => {
      const chain = await open();
      const from = await chain.wallet.deposit(10);
      await anvil.send(from, 1_000n);
      await anvil.mine();
      const prepare = (changes: Partial<PaymentIntent>) =>
        chain.adapter.prepare(sweep(chain, from, { amount: 1_000n, ...changes }), new Map());
      await expect(prepare({})).rejects.toMatchObject({ code: 'below_fee', retryable: false });
      await expect(prepare({ amount: 1_001n })).rejects.toMatchObject({ code: 'insufficient_funds' });
      await expect(prepare({ from: [address()] })).rejects.toMatchObject({ code: 'unknown_address', retryable: false });
      await expect(prepare({ from: [] })).rejects.toMatchObject({ code: 'bad_sweep' });
      await expect(prepare({ from: [from, from] })).rejects.toMatchObject({ code: 'bad_sweep' });
      await expect(prepare({ to: address() })).rejects.toMatchObject({ code: 'bad_sweep' });
      await expect(prepare({ tag: '7' })).rejects.toMatchObject({ code: 'no_tags' });
    });
  });

  describe('replacing', () => {
    it('takes the place of a payment that waits, and only one of the two is paid', async () => {
      const chain = await open();
      const payment = intent();
      const old = await chain.adapter.prepare(payment, new Map());
      const oldTx = await chain.sign(payment, old);
      await chain.adapter.broadcast(oldTx);
      expect(await chain.adapter.replace(payment, old, new Map())).toBeNull();

      await raiseMarket(anvil, 40n * gwei);
      const next = await chain.adapter.replace(payment, old, new Map());
      if (!next) throw new Error('nothing to replace it with');
      expect(await chain.adapter.replace(payment, old, new Map())).toEqual(next);
      const [a, b] = [decodePayload(old.payload).tx, decodePayload(next.payload).tx];
      expect({ ...b, maxFeePerGas: 0n, maxPriorityFeePerGas: 0n }).toEqual({
        ...a,
        maxFeePerGas: 0n,
        maxPriorityFeePerGas: 0n,
      });
      expect(b.maxFeePerGas * 8n).toBeGreaterThanOrEqual(a.maxFeePerGas * 9n);
      expect(b.maxPriorityFeePerGas * 8n).toBeGreaterThanOrEqual(a.maxPriorityFeePerGas * 9n);
      expect(next.reserves).toEqual(old.reserves);
      const tx = await chain.sign(payment, next);
      expect(await chain.adapter.broadcast(tx)).toEqual({ outcome: 'accepted', code: null });
      await anvil.mine(3);
      expect(await chain.adapter.status(tx)).toMatchObject({ state: 'mined', success: true, final: true });
      expect(await chain.adapter.status(oldTx)).toEqual({ state: 'dead', why: 'conflict', final: true });
      expect(await anvil.balance(payment.to)).toBe(payment.amount);
    });

    it('goes no higher than the settings allow', async () => {
      const chain = await open();
      const payment = intent();
      const old = await chain.adapter.prepare(payment, new Map());
      const { maxFeePerGas } = decodePayload(old.payload).tx;
      await raiseMarket(anvil, 40n * gwei);
      const bounded = again(chain, { maxFeePerGas: (maxFeePerGas * 9n) / 8n });
      expect(await bounded.replace(payment, old, new Map())).toBeNull();
      expect(await chain.adapter.replace(payment, old, new Map())).not.toBeNull();
    });

    it('asks no more of an address whose tokens are swept than it was given for gas', async () => {
      const chain = await open();
      const from = await chain.wallet.deposit(12);
      await anvil.sendToken(chain.token, from, 500n);
      await anvil.mine();
      await raiseMarket(anvil, gwei);
      const payment = intent({ from: [from], to: chain.hot, contract: chain.token, amount: 500n });
      const { lacking: given } = await chain.adapter.sweepCost(payment);
      await anvil.fund(from, given);
      const old = await chain.adapter.prepare(payment, new Map());
      await raiseMarket(anvil, 40n * gwei);
      expect(await chain.adapter.replace(payment, old, new Map())).toBeNull();

      const { gas, maxFeePerGas } = decodePayload(old.payload).tx;
      // Enough for the market, and not for what a payment offers where it has plenty.
      const most = 45n * gwei;
      await anvil.fund(from, gas * most + 1n);
      const next = await chain.adapter.replace(payment, old, new Map());
      if (!next) throw new Error('nothing to replace it with');
      expect(decodePayload(next.payload).tx.maxFeePerGas).toBe(most);
      expect(most).toBeGreaterThan(maxFeePerGas);
      const tx = await chain.sign(payment, next);
      expect(await chain.adapter.broadcast(tx)).toEqual({ outcome: 'accepted', code: null });
      await anvil.mine();
      expect(await chain.adapter.status(tx)).toMatchObject({ state: 'mined', success: true });
    });

    it('asks no more of the wallet that pays than it has', async () => {
      const chain = await open();
      await raiseMarket(anvil, gwei);
      const payment = intent();
      const old = await chain.adapter.prepare(payment, new Map());
      await raiseMarket(anvil, 40n * gwei);
      await anvil.fund(chain.hot, payment.amount + old.fee);
      expect(await chain.adapter.replace(payment, old, new Map())).toBeNull();
      await anvil.fund(chain.hot, 100n * ether);
      const most = { contract: null, amount: 100n * ether - payment.amount - old.fee, fee: 0n };
      const own = [old.reserves[0] ?? '', { contract: null, amount: payment.amount, fee: old.fee }] as const;
      const held: Held = new Map([own, [`nonce:${chain.hot}:1`, most]]);
      expect(await chain.adapter.replace(payment, old, held)).toBeNull();
      expect(await chain.adapter.replace(payment, old, new Map([own]))).not.toBeNull();
      expect(await chain.adapter.replace(payment, old, new Map())).not.toBeNull();
    });

    it('leaves nothing behind of a sweep either', async () => {
      const chain = await open();
      const from = await chain.wallet.deposit(11);
      await anvil.send(from, ether);
      await anvil.mine();
      const payment = intent({ from: [from], to: chain.hot });
      const old = await chain.adapter.prepare(payment, new Map());
      await raiseMarket(anvil, 60n * gwei);
      const next = await chain.adapter.replace(payment, old, new Map());
      if (!next) throw new Error('nothing to replace it with');
      await chain.adapter.broadcast(await chain.sign(payment, next));
      await anvil.mine();
      expect(await anvil.balance(from)).toBe(0n);
    });
  });

  describe('preparing', () => {
    const prepare = ({ adapter }: EvmHarness, changes: Partial<PaymentIntent> = {}): Promise<PreparedTx> =>
      adapter.prepare(intent(changes), new Map());

    it('takes the first nonce that nothing holds', async () => {
      const chain = await open();
      const of = (n: number) => `nonce:${chain.hot}:${n}`;
      const reserves = async (...held: number[]) =>
        (await chain.adapter.prepare(intent(), holding(...held.map(of)))).reserves;
      expect(await reserves()).toEqual([of(0)]);
      expect(await reserves(0, 1, 3)).toEqual([of(2)]);
      expect(await reserves(1)).toEqual([of(0)]);
    });

    it('states a fee that the payment never goes above, and waits while gas is dearer than allowed', async () => {
      const chain = await open();
      const { fee, payload } = await prepare(chain);
      const { gas, maxFeePerGas } = decodePayload(payload).tx;
      expect([gas, fee]).toEqual([21_000n, gas * maxFeePerGas]);
      await raiseMarket(anvil, 600n * gwei);
      await expect(prepare(chain)).rejects.toMatchObject({
        code: 'fee_above_maximum',
        retryable: true,
        isOfChain: true,
      });
      expect((await chain.adapter.check())[0]?.problems).toEqual([expect.stringContaining('maxFeePerGas')]);
      await raiseMarket(anvil, 10n * gwei);
      await prepare(chain);
    });

    it('leaves room for what a contract does with coins', async () => {
      const chain = await open();
      const forwarder = toChecksumAddress((await anvil.deploy('Forwarder')).slice(2));
      const payment = intent({ to: forwarder });
      const prepared = await chain.adapter.prepare(payment, new Map());
      expect(decodePayload(prepared.payload).tx.gas).toBeGreaterThan(21_000n);
      const tx = await chain.sign(payment, prepared);
      await chain.adapter.broadcast(tx);
      await anvil.mine();
      expect(await chain.adapter.status(tx)).toMatchObject({ state: 'mined', success: true });
    });

    it('says why not', async () => {
      const chain = await open();
      const refuser = toChecksumAddress((await anvil.deploy('Refuser')).slice(2));
      await expect(prepare(chain, { to: refuser })).rejects.toMatchObject({ code: 'would_fail', isOfChain: true });
      await expect(prepare(chain, { amount: 10n ** 30n })).rejects.toMatchObject({ code: 'insufficient_funds' });
      const all = await anvil.balance(chain.hot);
      await expect(prepare(chain, { amount: all })).rejects.toMatchObject({ code: 'insufficient_funds' });
      const tokens = { contract: chain.token, amount: 10n ** 30n };
      await expect(prepare(chain, tokens)).rejects.toMatchObject({ code: 'insufficient_funds' });
      await anvil.fund(chain.hot, 5n);
      await expect(prepare(chain, { contract: chain.token, amount: 5n })).rejects.toMatchObject({ code: 'no_gas' });
    });

    it('promises nothing twice, and takes back nothing that a block has', async () => {
      const chain = await open();
      const { adapter, token, hot } = chain;
      await anvil.fund(hot, 10n * ether);
      const has = await anvil.balance(hot, token);
      const takes = (n: number, contract: string | null, amount: bigint, fee = 0n): Held =>
        new Map([[`nonce:${hot}:${n}`, { contract, amount, fee }]]);
      const outcome = (held: Held, changes: Partial<PaymentIntent>): Promise<string> =>
        adapter.prepare(intent(changes), held).then(
          () => 'prepared',
          ({ code }: ChainError) => code,
        );
      const coins = { amount: 8n * ether };
      const tokens = { contract: token, amount: (has * 8n) / 10n };
      for (const payment of [coins, tokens]) {
        const { contract, amount } = { contract: null, ...payment };
        expect(await outcome(takes(0, contract, amount), payment)).toBe('insufficient_funds');
        expect(await outcome(takes(0, contract, amount / 10n), payment)).toBe('prepared');
        expect(await outcome(takes(0, address(), amount), payment)).toBe('prepared');
      }
      expect(await outcome(takes(0, null, coins.amount), tokens)).toBe('prepared');
      expect(await outcome(takes(0, token, 0n, 2n * ether), coins)).toBe('insufficient_funds');
      expect(await outcome(takes(0, null, 0n, 10n * ether), tokens)).toBe('no_gas');

      await payFrom(chain, intent({ amount: ether }));
      await anvil.mine();
      expect(await outcome(takes(0, null, ether), coins)).toBe('prepared');
      expect(await outcome(takes(1, null, ether), coins)).toBe('insufficient_funds');
    });

    it('counts what a rollup takes for its place on the first layer', async () => {
      const rollup = await startAnvil({ chainId: 10 });
      const proxy = await new EvmLiar(rollup.url).start();
      try {
        const l1Fee = 5_000_000_000_000n;
        const chain = await evmHarness(rollup, { chain: 'optimism', chainId: 10 }, [proxy.node]);
        const code = `0x7f${l1Fee.toString(16).padStart(64, '0')}60005260206000f3`;
        await rollup.rpc('anvil_setCode', '0x420000000000000000000000000000000000000F', code);
        const { fee, payload } = await prepare(chain);
        const { gas, maxFeePerGas } = decodePayload(payload).tx;
        expect(fee).toBe(gas * maxFeePerGas + 2n * l1Fee);
        const from = await chain.wallet.deposit(1);
        await rollup.send(from, ether);
        await rollup.mine();
        const tx = await payFrom(chain, intent({ from: [from], to: chain.hot }));
        await rollup.mine();
        expect(await rollup.balance(from)).toBe(2n * l1Fee);
        const plain = await chain.adapter.status(tx);
        proxy.lie = (method, result) =>
          method === 'eth_getTransactionReceipt' ? { ...(result as object), l1Fee: quantity(l1Fee) } : result;
        const dearer = await chain.adapter.status(tx);
        if (plain.state !== 'mined' || dearer.state !== 'mined') throw new Error('not mined');
        expect(dearer.fee).toBe(plain.fee + l1Fee);
      } finally {
        await proxy.stop();
        await rollup.stop();
      }
    });
  });

  describe('telling what became of a payment', () => {
    it('never calls a payment dead that a node without an index does not find', async () => {
      const chain = await open({}, [liar.node]);
      const tx = await payFrom(chain, intent());
      await anvil.mine(10);
      const silent = ['eth_getTransactionReceipt', 'eth_getTransactionByHash'];
      liar.lie = (method, result) => (silent.includes(method) ? null : result);
      await expect(chain.adapter.status(tx)).rejects.toMatchObject({ code: 'no_index' });
      liar.lie = (_method, result) => result;
      expect(await chain.adapter.status(tx)).toMatchObject({ state: 'mined', final: true });
    });

    it('calls a death final only when it sees what took the place, however long ago', async () => {
      const chain = await open({}, [liar.node]);
      const payment = intent();
      const tx = await chain.sign(payment, await chain.adapter.prepare(payment, new Map()));
      await chain.conflict(tx);
      await anvil.mine(45);
      expect(await chain.adapter.status(tx)).toEqual({ state: 'dead', why: 'conflict', final: true });
    });

    describe('on a node that keeps few states', () => {
      const hasNoIndex = new Set(['eth_getTransactionReceipt', 'eth_getTransactionByHash']);
      /** It keeps the states of the newest 20 blocks, and finds the transactions that the test says. */
      const keepFewStates = async (chain: EvmHarness, finds: (txid: unknown) => boolean = () => true) => {
        const { height } = await chain.adapter.head();
        liar.lie = (method, result, params) => {
          if (hasNoIndex.has(method)) return finds(params[0]) ? result : null;
          const isOld = method === 'eth_getTransactionCount' && Number(params[1]) < height - 20;
          return isOld ? new Refusal(-32000, 'missing trie node') : result;
        };
      };
      const firstTx = async (): Promise<string> => {
        for (let height = 1; ; height += 1) {
          const block = await anvil.rpc<{ transactions: string[] }>('eth_getBlockByNumber', quantity(height), false);
          if (block.transactions[0] !== undefined) return block.transactions[0];
        }
      };

      it('calls a death final when it finds all transactions but that one', async () => {
        const chain = await open({}, [liar.node]);
        const payment = intent();
        const tx = await chain.sign(payment, await chain.adapter.prepare(payment, new Map()));
        await chain.conflict(tx);
        await anvil.mine(45);
        await anvil.send(address(), 1n);
        await anvil.mine(3);
        const dead = { state: 'dead', why: 'conflict' };
        await keepFewStates(chain);
        expect(await chain.adapter.status(tx)).toEqual({ ...dead, final: true });
        const first = await firstTx();
        await keepFewStates(chain, (txid) => txid !== first);
        expect(await chain.adapter.status(tx)).toEqual({ ...dead, final: false });
        await keepFewStates(chain, (txid) => txid === first);
        expect(await chain.adapter.status(tx)).toEqual({ ...dead, final: false });
      });

      it('never calls a payment dead for good that it does not find, with no index or a part of one', async () => {
        const chain = await open({}, [liar.node]);
        const tx = await payFrom(chain, intent());
        await anvil.mine(45);
        await anvil.send(address(), 1n);
        await anvil.mine(3);
        const first = await firstTx();
        for (const finds of [() => false, (txid: unknown) => txid === first]) {
          await keepFewStates(chain, finds);
          expect(await chain.adapter.status(tx)).toMatchObject({ final: false });
        }
        await keepFewStates(chain);
        expect(await chain.adapter.status(tx)).toMatchObject({ state: 'mined', final: true });
      });

      it('calls no death final whose nonce is not used in a final block', async () => {
        const chain = await open({ finality: 10 }, [liar.node]);
        const payment = intent();
        await anvil.mine(30);
        const tx = await chain.sign(payment, await chain.adapter.prepare(payment, new Map()));
        await chain.conflict(tx);
        await anvil.mine(9);
        await keepFewStates(chain);
        expect(await chain.adapter.status(tx)).toEqual({ state: 'dead', why: 'conflict', final: false });
      });
    });

    it('looks again at what comes into a block between two questions', async () => {
      const chain = await open({}, [liar.node]);
      const tx = await payFrom(chain, intent());
      await anvil.mine(5);
      let receipts = 0;
      liar.lie = (method, result) => {
        receipts += method === 'eth_getTransactionReceipt' ? 1 : 0;
        if (method === 'eth_getTransactionReceipt' && receipts === 1) return null;
        return method === 'eth_getTransactionByHash' && receipts === 1 ? null : result;
      };
      expect(await chain.adapter.status(tx)).toMatchObject({ state: 'mined' });
      liar.lie = (method, result) =>
        method === 'eth_getTransactionReceipt' ? { ...(result as object), blockHash: `0x${'9'.repeat(64)}` } : result;
      await expect(chain.adapter.status(tx)).rejects.toMatchObject({ code: 'unsettled_answer' });
    });

    it('never fails to broadcast, and takes no word of a node for where the bytes are', async () => {
      const chain = await open({}, [liar.node]);
      const payment = intent();
      const tx = await chain.sign(payment, await chain.adapter.prepare(payment, new Map()));
      const refuse = (message: string) => {
        liar.lie = (method, result) => (method === 'eth_sendRawTransaction' ? new Refusal(-32000, message) : result);
      };
      const never = await again(chain, { nodes: [{ ...anvil.node, url: 'http://127.0.0.1:9' }] }).broadcast(tx);
      expect(never).toEqual({ outcome: 'uncertain', code: 'unreachable' });
      // The node took it before it refused it, which is what an answer after a lost one looks like.
      refuse('nonce too low');
      expect(await chain.adapter.broadcast(tx)).toEqual({ outcome: 'known', code: null });
      const other = await chain.sign(payment, await chain.adapter.prepare(payment, holding(tx.reserves[0] ?? '')));
      liar.lie = (method, result) => {
        if (method === 'eth_sendRawTransaction') return new Refusal(-32000, 'transaction underpriced');
        return method === 'eth_getTransactionByHash' ? null : result;
      };
      expect(await chain.adapter.broadcast(other)).toEqual({ outcome: 'rejected', code: 'underpriced' });
    });
  });

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

    it('tell of themselves', async () => {
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

    it('still have what pays too little for the next block', async () => {
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

/** Makes the next block ask for a base fee, by a block that has it. */
async function raiseMarket(anvil: Anvil, wei: bigint): Promise<void> {
  await anvil.setBaseFee(wei);
  await anvil.mine();
}

function transfersOf({ blocks }: ScanResult): Transfer[] {
  return blocks.flatMap(({ transfers }) => transfers);
}
