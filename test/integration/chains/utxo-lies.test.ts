import { utxoParams } from '../../../src/chains/networks/utxo-params.ts';
import { maxPayloadBytes } from '../../../src/chains/port/signer.ts';
import { findLitecoind } from '../../support/chains/litecoind.ts';
import { UtxoHarness } from '../../support/chains/utxo-harness.ts';
import { type Falsify, UtxoProxy } from '../../support/chains/utxo-proxy.ts';
import { coin, intent, node, none, withLitecoind, withoutBytes } from '../../support/chains/utxo-setup.ts';
import { Refusal } from '../../support/http/refusal.ts';

// Skipped without the node; CI requires it.
const describeWithNode = findLitecoind() === null ? describe.skip : describe;

withLitecoind();

/** Writes the amount of each output of a block in another form. */
function withAmounts(written: string): Falsify {
  return (method, _params, result) => {
    if (method !== 'getblock') return undefined;
    const { tx, ...block } = result as { tx: { vout: object[] }[] };
    const value = JSON.rawJSON(written);
    return { ...block, tx: tx.map(({ vout, ...rest }) => ({ ...rest, vout: vout.map((out) => ({ ...out, value })) })) };
  };
}

describeWithNode('a node that lies', () => {
  let proxy: UtxoProxy;
  let wallet: UtxoHarness;

  beforeEach(async () => {
    proxy = new UtxoProxy(node.config);
    wallet = new UtxoHarness(node, { nodes: [await proxy.start()] });
    await wallet.fund([coin]);
  });
  afterEach(() => proxy.stop());

  it('is not believed when it gives another block than was asked for', async () => {
    const cursor = await wallet.adapter.start((await node.height()) - 3);
    const other = await node.rpc('getblock', await node.rpc('getblockhash', 5), 2);
    proxy.falsify = (method) => (method === 'getblock' ? other : undefined);
    await expect(wallet.adapter.scan(cursor, 5)).rejects.toMatchObject({ code: 'unsound_answer' });
  });

  it('is not believed when its blocks do not join', async () => {
    const cursor = await wallet.adapter.start((await node.height()) - 3);
    proxy.falsify = (method, _params, block) =>
      method === 'getblock' ? { ...(block as object), previousblockhash: 'ab'.repeat(32) } : undefined;
    await expect(wallet.adapter.scan(cursor, 5)).rejects.toMatchObject({ code: expect.any(String) });
  });

  it.each([
    ['1e-08', 1n],
    ['1E-8', 1n],
    ['1e+2', 10_000_000_000n],
    ['0.1e1', 100_000_000n],
    ['1.000000000', 100_000_000n],
  ])('may write an amount as %s, which is read exactly', async (written, amount) => {
    const txid = await node.pay(wallet.address(), coin);
    await node.mine(1);
    const height = await node.height();
    proxy.falsify = withAmounts(written);
    const { blocks } = await wallet.adapter.scan(await wallet.adapter.start(height - 1), 5);
    const transfers = blocks.flatMap((block) => block.transfers).filter((transfer) => transfer.txid === txid);
    expect(transfers.map((transfer) => transfer.amount)).toEqual(transfers.map(() => amount));
    expect(transfers.length).toBeGreaterThan(0);
  });

  it.each(['1e-9', '1.5e-8', '-1e-8', '1e31'])('is not believed when it writes an amount as %s', async (written) => {
    await node.pay(wallet.address(), coin);
    await node.mine(1);
    const height = await node.height();
    proxy.falsify = withAmounts(written);
    await expect(wallet.adapter.scan(await wallet.adapter.start(height - 1), 5)).rejects.toMatchObject({
      code: 'unsound_answer',
      message: expect.stringContaining('no amount of an output'),
    });
  });

  it('cannot make a payment spend what is worth another amount', async () => {
    proxy.falsify = (method, _params, output) =>
      method === 'gettxout' && output ? { ...(output as object), value: 0.5 } : undefined;
    await expect(wallet.adapter.prepare(intent(wallet.address(), 1_000_000n), none)).rejects.toMatchObject({
      code: 'hot_wallet_low',
    });
  });

  it('cannot make a payment final by a fact that it denies itself', async () => {
    const payment = intent(wallet.address(), 1_000_000n);
    const tx = await wallet.sign(payment, await wallet.adapter.prepare(payment, none));
    await wallet.conflict(tx);
    await node.mine(3);
    expect(await wallet.adapter.status(tx)).toEqual({ state: 'dead', why: 'conflict', final: true });
    proxy.falsify = (method, _params, header) =>
      method === 'getblockheader' ? { ...(header as object), confirmations: -1 } : undefined;
    expect(await wallet.adapter.status(tx)).toEqual({ state: 'unknown' });
  });

  it.each([
    ['is still catching up', { initialblockdownload: true }],
    ['lacks blocks', { headers: 100_000 }],
    ['has thrown away what is needed', { pruned: true, pruneheight: 100_000 }],
  ])('is not asked while it %s', async (_name, changes) => {
    proxy.falsify = (method, _params, info) =>
      method === 'getblockchaininfo' ? { ...(info as object), ...changes } : undefined;
    await expect(wallet.adapterWith({}).head()).rejects.toMatchObject({ code: 'unfit_node' });
    const [report] = await wallet.adapterWith({}).check();
    expect(report?.problems).toHaveLength(1);
    expect(report?.head).toBe(await node.height());
  });

  it('is not scanned while its newest block is old', async () => {
    const adapter = wallet.adapterWith({ stalledAfterSec: 3_600 });
    const cursor = await adapter.start(await node.height());
    expect(await adapter.scan(cursor, 1)).toMatchObject({ blocks: [] });
    proxy.falsify = (method, _params, header) =>
      method === 'getblockheader' ? { ...(header as object), time: Math.floor(Date.now() / 1_000) - 3_601 } : undefined;
    await expect(adapter.scan(cursor, 1)).rejects.toMatchObject({ code: 'chain_stalled' });
    expect((await adapter.check())[0]?.problems).toEqual([expect.stringContaining('newest block')]);
    expect(await wallet.adapter.scan(cursor, 1)).toMatchObject({ blocks: [] });
  });
});

// No Dogecoin node can be had here. Its scripts are those of Litecoin's old addresses, so that a
// Litecoin node tells whether its transactions are valid; the proxy refuses what Dogecoin Core 1.14
// does not know.
describeWithNode('Dogecoin by a node that knows no more than its own', () => {
  let proxy: UtxoProxy;
  let wallet: UtxoHarness;

  beforeEach(async () => {
    proxy = new UtxoProxy(node.config);
    proxy.falsify = async (method, params, result) => {
      if (method === 'getblockhash' && params[0] === 0) return utxoParams('dogecoin', 'regtest').genesis;
      if (method === 'scantxoutset') return new Refusal(-32601);
      if (method === 'getrawtransaction' && params.length > 2) return new Refusal(-1);
      if (method === 'estimatesmartfee') return { feerate: -1, blocks: 2 };
      if (method === 'getblock') return withoutBytes(result);
      // It finds transactions by their unspent outputs; what stands in for that here is the wallet
      // that made them.
      if (method === 'getrawtransaction' && params[1] === 0) {
        return (await node.rpc<{ hex: string }>('gettransaction', params[0])).hex;
      }
      return undefined;
    };
    wallet = new UtxoHarness(node, { chain: 'dogecoin', nodes: [await proxy.start()], feeFloor: 1_000_000n });
    await wallet.fund([50n * coin]);
  });
  afterEach(() => proxy.stop());

  it('pays, sweeps and follows both to their end', async () => {
    const payment = intent(wallet.address(), 3n * coin);
    const prepared = await wallet.adapter.prepare(payment, none);
    const tx = await wallet.sign(payment, prepared);
    expect(await wallet.adapter.broadcast(tx)).toEqual({ outcome: 'accepted', code: null });
    const txid = await node.pay(wallet.addressAt(2), 4n * coin);
    await node.mine(1);
    expect(await wallet.adapter.status(tx)).toMatchObject({ state: 'mined', fee: prepared.fee });
    const amounts = [{ contract: null, amount: 3n * coin }];
    expect(await wallet.adapter.spent(tx.txid)).toMatchObject({
      amounts,
      fee: prepared.fee,
      height: await node.height(),
    });

    const from = (await wallet.outputs.find('dogecoin', [`${txid}:0`, `${txid}:1`])).map(({ key }) => key);
    const sweep = intent(wallet.hotAddress, 4n * coin, { from });
    const sweeping = await wallet.adapter.prepare(sweep, none);
    const swept = await wallet.sign(sweep, sweeping);
    expect(await wallet.adapter.broadcast(swept)).toEqual({ outcome: 'accepted', code: null });
    await node.mine(3);
    expect(await wallet.adapter.status(swept)).toMatchObject({ state: 'mined', final: true });
    const [hot] = await wallet.adapter.balances([await wallet.adapter.hotWallet()], null);
    expect(hot).toBe(51n * coin - prepared.fee - sweeping.fee);
    expect(await node.balance(wallet.hotAddress)).toBe(hot);
    await expect(wallet.adapter.balances([{ address: payment.to, tag: null }], null)).rejects.toMatchObject({
      code: 'unsupported',
    });
  });

  it('spends outputs of large transactions up to what a signer takes', async () => {
    const heavy = async (): Promise<void> => {
      const unspent = await node.rpc<{ txid: string; vout: string; amount: string }[]>('listunspent');
      const [input] = unspent.filter(({ amount }) => Number(amount) > 11);
      if (!input) throw new Error('the node has no coins');
      const change = { [await node.newAddress()]: (Number(input.amount) - 11).toFixed(8) };
      const inputs = [{ txid: input.txid, vout: Number(input.vout) }];
      const outputs = [{ [wallet.hotAddress]: 10 }, change, { data: '00'.repeat(900_000) }];
      const unsigned = await node.rpc('createrawtransaction', inputs, outputs);
      await node.mineOnly((await node.rpc<{ hex: string }>('signrawtransactionwithwallet', unsigned)).hex);
    };
    for (let made = 0; made < 8; made += 1) await heavy();
    for (const amount of [8n * coin, 8n * coin]) await node.pay(wallet.hotAddress, amount);
    await node.mine(1);
    const payment = intent(wallet.address(), 119n * coin);
    const prepared = await wallet.adapter.prepare(payment, none);
    expect(prepared.reserves).toHaveLength(9);
    expect(prepared.payload.length).toBeLessThan(maxPayloadBytes);
    const tx = await wallet.sign(payment, prepared);
    expect(await node.rpc('sendrawtransaction', tx.raw)).toBe(tx.txid);
  });

  it('finds the rival of a payment in its block', async () => {
    const payment = intent(wallet.address(), 3n * coin);
    const tx = await wallet.sign(payment, await wallet.adapter.prepare(payment, none));
    const rival = { ...payment, to: wallet.address() };
    const other = await wallet.sign(rival, await wallet.adapter.prepare(rival, none));
    expect(other.reserves).toEqual(tx.reserves);
    await wallet.adapter.broadcast(other);
    await node.mine(1);
    expect(await wallet.adapter.status(tx)).toEqual({ state: 'dead', why: 'conflict', final: false });
    await node.mine(2);
    expect(await wallet.adapter.status(tx)).toEqual({ state: 'dead', why: 'conflict', final: true });
  });
});
