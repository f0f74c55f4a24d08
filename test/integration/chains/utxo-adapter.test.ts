import { JsonRpcNode } from '../../../src/chains/nodes/json-rpc.ts';
import type { PaymentIntent, PreparedTx, SignedTx } from '../../../src/chains/port/chain-adapter.ts';
import { UtxoAdapter } from '../../../src/chains/utxo/utxo-adapter.ts';
import { UtxoNode } from '../../../src/chains/utxo/utxo-node.ts';
import { utxoTraits } from '../../../src/chains/utxo/utxo-traits.ts';
import { WaitingTransfers } from '../../../src/chains/utxo/waiting-transfers.ts';
import { describeChainAdapter } from '../../support/chains/chain-conformance.ts';
import type { Family } from '../../support/chains/conformance/bench.ts';
import { findLitecoind, startLitecoind, withoutLitecoind } from '../../support/chains/litecoind.ts';
import { UtxoHarness } from '../../support/chains/utxo-harness.ts';
import { coin, intent, keysOf, node, none, withLitecoind } from '../../support/chains/utxo-setup.ts';
import { holding } from '../../support/gateway/holding.ts';

if (findLitecoind() === null) {
  it.skip(`${withoutLitecoind}: the adapter was not tried on a node`, () => {}); // CI requires it
} else {
  withLitecoind();

  const family: Family = { traits: utxoTraits, abilities: [], counts: { tried: 27, skipped: 19 } };
  describeChainAdapter('Litecoin', family, async () => {
    const harness = new UtxoHarness(node);
    await harness.fund([2n * coin, coin, coin, coin / 2n]);
    return harness;
  });

  describe('a wallet on Litecoin', () => {
    let wallet: UtxoHarness;

    beforeEach(() => {
      wallet = new UtxoHarness(node);
    });

    async function paid(payment: PaymentIntent, prepared?: PreparedTx): Promise<SignedTx> {
      const tx = await wallet.sign(payment, prepared ?? (await wallet.adapter.prepare(payment, none)));
      expect(await wallet.adapter.broadcast(tx)).toEqual({ outcome: 'accepted', code: null });
      return tx;
    }

    it('learns which outputs a block spends, and by which transaction', async () => {
      await wallet.fund([coin]);
      const cursor = await wallet.adapter.start(await node.height());
      const tx = await paid(intent(wallet.address(), 1_000_000n));
      await node.mine(1);
      const { blocks } = await wallet.adapter.scan(cursor, 10);
      expect(blocks[0]?.spends).toEqual(keysOf(tx).map((key) => ({ key, txid: tx.txid })));
    });

    it('finds new coins to be no transfer, and data neither', async () => {
      await wallet.fund([coin]);
      const cursor = await wallet.adapter.start(await node.height());
      const to = wallet.address();
      await node.rpc('generatetoaddress', 1, to);
      const unsigned = await node.rpc<string>('createrawtransaction', [], [{ data: 'c0ffee' }, { [to]: '1.5' }]);
      const { hex } = await node.rpc<{ hex: string }>('fundrawtransaction', unsigned);
      const signed = await node.rpc<{ hex: string }>('signrawtransactionwithwallet', hex);
      const txid = await node.rpc<string>('sendrawtransaction', signed.hex);
      await node.mine(1);
      const { blocks } = await wallet.adapter.scan(cursor, 10);
      const found = blocks.flatMap(({ transfers }) => transfers).filter((transfer) => transfer.address === to);
      expect(found).toMatchObject([{ txid, amount: 150_000_000n }]);
      expect(blocks.flatMap(({ transfers }) => transfers).filter((transfer) => transfer.txid === txid)).toHaveLength(2);
    });

    it('reads many small blocks of a long way behind, each once', async () => {
      const from = await node.height();
      const cursor = await wallet.adapter.start(from);
      await node.mine(45);
      const { blocks } = await wallet.adapter.scan(cursor, 40);
      expect(blocks.map(({ ref }) => ref.height)).toEqual(Array.from({ length: 40 }, (_, index) => from + 1 + index));
    });

    it('has a dozen outputs after its first payment, so that a dozen more can go out before the next block', async () => {
      await wallet.fund([10n * coin]);
      await paid(intent(wallet.address(), coin));
      await node.mine(1);
      const held = holding();
      for (let count = 0; count < 12; count += 1) {
        const payment = intent(wallet.address(), 1_000_000n);
        const prepared = await wallet.adapter.prepare(payment, held);
        for (const [key, one] of holding(...prepared.reserves)) held.set(key, one);
        await paid(payment, prepared);
      }
      expect(held.size).toBe(12);
      await expect(wallet.adapter.prepare(intent(wallet.address(), 1_000_000n), held)).rejects.toMatchObject({
        code: 'hot_wallet_low',
        retryable: true,
      });
      await node.mine(1);
      expect(await wallet.outputs.hot()).toHaveLength(12);
    });

    it('sweeps deposits to the hot wallet, the fee out of them', async () => {
      await wallet.fund([coin]);
      const [first, second] = [wallet.addressAt(3), wallet.addressAt(4)];
      const cursor = await wallet.adapter.start(await node.height());
      await node.pay(first, 30_000_000n);
      await node.pay(second, 20_000_000n);
      await node.mine(1);
      const { blocks } = await wallet.adapter.scan(cursor, 10);
      const from = blocks
        .flatMap(({ transfers }) => transfers)
        .filter(({ address }) => address === first || address === second)
        .map(({ key }) => key);
      expect(from).toHaveLength(2);

      const sweep = intent(wallet.hotAddress, 50_000_000n, { from });
      await expect(wallet.adapter.prepare({ ...sweep, amount: 49_999_999n }, none)).rejects.toMatchObject({
        code: 'wrong_amount',
      });
      const stranger = { ...sweep, to: wallet.address() };
      await expect(wallet.adapter.prepare(stranger, none)).rejects.toMatchObject({ code: 'wrong_recipient' });
      const held = holding(`outpoint:${from[0]}`);
      await expect(wallet.adapter.prepare(sweep, held)).rejects.toMatchObject({ code: 'held', retryable: true });
      const unheard = { ...sweep, from: [...from, `${'0'.repeat(64)}:0`] };
      await expect(wallet.adapter.prepare(unheard, none)).rejects.toMatchObject({ code: 'unknown_output' });

      const prepared = await wallet.adapter.prepare(sweep, none);
      expect([...keysOf(prepared)].sort()).toEqual([...from].sort());
      const cost = await wallet.adapter.sweepCost(sweep);
      const one = await wallet.adapter.sweepCost({ ...sweep, from: from.slice(1) });
      // Rounded up, each of the two.
      expect(cost.fee - one.fee - cost.perSource).toBeLessThanOrEqual(1n);
      expect([cost.fee <= prepared.fee, cost.lacking]).toEqual([true, 0n]);
      const tx = await paid(sweep, prepared);
      await node.mine(3);
      expect(await wallet.adapter.status(tx)).toMatchObject({ state: 'mined', final: true, fee: prepared.fee });
      const balances = await wallet.adapter.balances(
        [first, second, wallet.hotAddress].map((address) => ({ address, tag: null })),
        null,
      );
      expect(balances).toEqual([0n, 0n, coin + 50_000_000n - prepared.fee]);
      await expect(wallet.adapter.prepare(sweep, none)).rejects.toMatchObject({ code: 'stale_outputs' });
    });

    it('does not sweep outputs worth less than their fee', async () => {
      await wallet.fund([coin]);
      const txid = await node.pay(wallet.addressAt(1), 3_000n);
      await node.mine(1);
      const keys = ['0', '1'].map((vout) => `${txid}:${vout}`);
      const known = await wallet.outputs.find('litecoin', keys);
      const from = known.map(({ key }) => key);
      expect(from).toHaveLength(1);
      await expect(wallet.adapter.prepare(intent(wallet.hotAddress, 3_000n, { from }), none)).rejects.toMatchObject({
        code: 'below_fee',
        retryable: false,
      });
    });

    it('replaces a payment that waits by one with a higher fee, and by none without need', async () => {
      // Above the node's estimate, which follows the fees that earlier tests paid.
      wallet = new UtxoHarness(node, { feeFloor: 100_000n });
      await wallet.fund([coin]);
      const payment = intent(wallet.address(), 1_000_000n);
      const prepared = await wallet.adapter.prepare(payment, none);
      const old = await paid(payment, prepared);
      expect(await wallet.adapter.replace(payment, prepared)).toBeNull();

      const dear = wallet.adapterWith({ feeFloor: 500_000n });
      const replacement = await dear.replace(payment, prepared);
      if (!replacement) throw new Error('there is no replacement');
      expect(replacement.reserves).toEqual(prepared.reserves);
      expect(replacement.fee).toBeGreaterThan(4n * prepared.fee);
      expect(
        await wallet.adapterWith({ feeFloor: 500_000n, replaceable: false }).replace(payment, prepared),
      ).toBeNull();
      expect(
        await wallet.adapterWith({ feeFloor: 500_000n, feeCeiling: 100_500n }).replace(payment, prepared),
      ).toBeNull();

      const attempt = { ...payment, attempt: 2 };
      const tx = await paid(attempt, replacement);
      expect(await wallet.adapter.status(old)).toEqual({ state: 'unknown' });
      expect((await wallet.adapter.broadcast(old)).outcome).toBe('rejected');
      await node.mine(3);
      expect(await wallet.adapter.status(tx)).toMatchObject({ state: 'mined', final: true, fee: replacement.fee });
      expect(await wallet.adapter.status(old)).toEqual({ state: 'dead', why: 'conflict', final: true });
      expect(await node.balance(payment.to)).toBe(payment.amount);
    });

    it('pays more for a replacement than for what it replaces by what nodes ask for, at the least', async () => {
      // Above the node's estimate, which follows the fees that earlier tests paid.
      wallet = new UtxoHarness(node, { feeFloor: 100_000n });
      await wallet.fund([coin]);
      const payment = intent(wallet.address(), 1_000_000n);
      const prepared = await wallet.adapter.prepare(payment, none);
      await paid(payment, prepared);
      // A little more than before, which is less than the node takes for a replacement.
      const replacement = await wallet.adapterWith({ feeFloor: 100_001n }).replace(payment, prepared);
      if (!replacement) throw new Error('there is no replacement');
      await paid({ ...payment, attempt: 2 }, replacement);
    });

    it('replaces a sweep at the cost of what arrives, and never when nothing would', async () => {
      await wallet.fund([coin]);
      const deposit = wallet.addressAt(1);
      const txid = await node.pay(deposit, 1_000_000n);
      await node.mine(1);
      const from = (await wallet.outputs.find('litecoin', [`${txid}:0`, `${txid}:1`])).map(({ key }) => key);
      const sweep = intent(wallet.hotAddress, 1_000_000n, { from });
      const prepared = await wallet.adapter.prepare(sweep, none);
      await paid(sweep, prepared);
      const greedy = wallet.adapterWith({ feeFloor: 20_000_000n, feeCeiling: 50_000_000n });
      expect(await greedy.replace(sweep, prepared)).toBeNull();
      const replacement = await wallet.adapterWith({ feeFloor: 50_000n }).replace(sweep, prepared);
      if (!replacement) throw new Error('there is no replacement');
      await paid({ ...sweep, attempt: 2 }, replacement);
    });

    it('finds a payment when all of its outputs are spent, on a node without an index', async () => {
      await wallet.fund([coin]);
      const to = await node.newAddress();
      const tx = await paid(intent(to, 90_000_000n));
      await node.mine(1);
      const change = (await wallet.outputs.hot()).map(({ key }) => key);
      const total = (await wallet.outputs.hot()).reduce((sum, { amount }) => sum + amount, 0n);
      await paid(intent(wallet.hotAddress, total, { from: change }));
      const vout = [...Array(20).keys()];
      const unspent: unknown[] = [];
      // One after the other: a node refuses more than 16 questions at once.
      for (const n of vout) unspent.push(await node.rpc('gettxout', tx.txid, n));
      const place = unspent.findIndex((output) => output !== null);
      const raw = await node.rpc<string>('createrawtransaction', [{ txid: tx.txid, vout: place }], {
        [wallet.address()]: '0.899',
      });
      const { hex } = await node.rpc<{ hex: string }>('signrawtransactionwithwallet', raw);
      await node.rpc('sendrawtransaction', hex);
      await node.mine(1);
      for (const n of vout) expect(await node.rpc('gettxout', tx.txid, n)).toBeNull();
      await expect(node.rpc('getrawtransaction', tx.txid, true)).rejects.toMatchObject({ code: -5 });

      expect(await wallet.adapter.status(tx)).toMatchObject({ state: 'mined', confirmations: 2, final: false });
      expect((await wallet.adapter.broadcast(tx)).outcome).toBe('rejected');
      await node.mine(1);
      expect(await wallet.adapter.status(tx)).toMatchObject({ state: 'mined', confirmations: 3, final: true });
      await node.reorg(3);
      expect(await wallet.adapter.status(tx)).toEqual({ state: 'mempool' });
    });

    it('takes other outputs when the table of outputs is behind', async () => {
      await wallet.fund([coin, coin, coin]);
      const first = await paid(intent(wallet.address(), 50_000_000n));
      wallet.outputs.isStale = true;
      // It is in the mempool, and its outputs are not marked as reserved.
      const second = await wallet.adapter.prepare(intent(wallet.address(), 50_000_000n), none);
      expect(second.reserves).not.toEqual(first.reserves);
      await node.mine(1);
      const third = await wallet.adapter.prepare(intent(wallet.address(), 50_000_000n), none);
      expect(third.reserves).toEqual(second.reserves);
    });

    it('pays what is just not dust, and refuses what is', async () => {
      await wallet.fund([coin]);
      await expect(wallet.adapter.prepare(intent(wallet.address(), 2_939n), none)).rejects.toMatchObject({
        code: 'below_dust',
        retryable: false,
      });
      await paid(intent(wallet.address(), 2_940n));
    });

    it('knows neither tokens nor tags nor addresses of other chains', async () => {
      await wallet.fund([coin]);
      const to = wallet.address();
      const refused = async (payment: PaymentIntent): Promise<unknown> => {
        return wallet.adapter.prepare(payment, none).catch((error: { code: string }) => error.code);
      };
      expect(await refused(intent(to, coin / 2n, { contract: '0x' }))).toBe('no_tokens');
      expect(await refused(intent(to, coin / 2n, { tag: '7' }))).toBe('no_tags');
      expect(await refused(intent('bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', coin / 2n))).toBe('wrong_recipient');
      await expect(wallet.adapter.balances([], '0x')).rejects.toMatchObject({ code: 'no_tokens' });
      expect(await wallet.adapter.balances([{ address: wallet.hotAddress, tag: '7' }], null)).toEqual([0n]);
    });

    it('waits when nodes ask for a higher fee than the ceiling', async () => {
      await wallet.fund([coin]);
      const poor = wallet.adapterWith({ feeFloor: 1n, feeCeiling: 999n });
      await expect(poor.prepare(intent(wallet.address(), 1_000_000n), none)).rejects.toMatchObject({
        code: 'fee_above_maximum',
        retryable: true,
      });
      const [report] = await poor.check();
      expect(report?.problems).toEqual([expect.stringContaining('feeCeiling')]);
    });

    it('loses a deposit that was spent another way in a reorganisation', async () => {
      const deposit = wallet.addressAt(1);
      const cursor = await wallet.adapter.start(await node.height());
      const txid = await node.pay(deposit, coin);
      await node.mine(2);
      const before = await wallet.adapter.scan(cursor, 10);
      const isHere = ({ address }: { address: string }) => address === deposit;
      expect(before.blocks.flatMap(({ transfers }) => transfers).filter(isHere)).toHaveLength(1);
      await node.doubleSpend(txid, 2);
      await node.mine(1);
      const after = await wallet.adapter.scan(before.cursor, 10);
      expect(after.orphaned).toHaveLength(2);
      expect(after.blocks.flatMap(({ transfers }) => transfers).filter(isHere)).toEqual([]);
      const { transfers, left } = await wallet.adapter.pending([txid]);
      expect(transfers.filter(isHere)).toEqual([]);
      expect([...left]).toEqual([txid]);
    });

    it('shows nothing that waits where that is not wanted', async () => {
      const txid = await node.pay(wallet.address(), coin);
      const blind = await wallet.adapterWith({ mempool: false }).pending([txid]);
      expect(blind).toEqual({ transfers: [], left: new Set() });
      const { transfers, left } = await wallet.adapter.pending([txid]);
      expect(transfers.map((transfer) => transfer.txid)).toContain(txid);
      expect(left).toEqual(new Set());
    });

    it('reads the mempool in parts, and reports no unread transaction as gone', async () => {
      const txids: string[] = [];
      for (let i = 0; i < 3; i += 1) txids.push(await node.pay(wallet.address(), coin));
      const rpc = new JsonRpcNode(node.config, { numbersAsText: true });
      const waiting = new WaitingTransfers({ perCall: 1, remembered: 2 });
      for (const told of [1, 2, 2]) {
        const { transfers, left } = await waiting.read(new UtxoNode(rpc, rpc), [...txids, 'f'.repeat(64)]);
        expect(new Set(transfers.map(({ txid }) => txid)).size).toBe(told);
        expect(left).toEqual(new Set(['f'.repeat(64)]));
      }
      await node.mine(1);
    });

    it('uses the next node when one is away, and none of another chain', async () => {
      const away = { ...node.config, url: 'http://127.0.0.1:1/' };
      const both = wallet.adapterWith({ nodes: [away, node.config] });
      expect((await both.head()).height).toBe(await node.height());
      const reports = await both.check();
      expect(reports).toEqual([
        { node: 'http://127.0.0.1:1', head: null, lagSec: null, isSyncing: false, problems: [expect.any(String)] },
        {
          node: new URL(node.config.url).origin,
          head: await node.height(),
          lagSec: expect.any(Number),
          isSyncing: false,
          problems: [],
        },
      ]);
      const other = new UtxoAdapter({
        network: { ...wallet.network, chain: 'bitcoin' },
        hotWallet: 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080',
        outputs: wallet.outputs,
      });
      await expect(other.head()).rejects.toMatchObject({ code: 'unfit_node' });
      const stranger = wallet.adapterWith({ nodes: [{ ...node.config, password: 'wrong' }] });
      await expect(stranger.head()).rejects.toMatchObject({ code: 'unauthorised' });
    });
  });

  it('finds a payment by its txid where a node has an index', async () => {
    const indexed = await startLitecoind({ hasIndex: true });
    try {
      const wallet = new UtxoHarness(indexed);
      await wallet.fund([coin]);
      const payment = intent(wallet.address(), 1_000_000n);
      const tx = await wallet.sign(payment, await wallet.adapter.prepare(payment, none));
      expect(await wallet.adapter.status(tx)).toEqual({ state: 'unknown' });
      await wallet.adapter.broadcast(tx);
      await indexed.mine(3);
      expect(await wallet.adapter.status(tx)).toMatchObject({ state: 'mined', final: true });
    } finally {
      await indexed.stop();
    }
  });
}
