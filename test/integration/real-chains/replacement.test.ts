import { call } from '../../support/chains/anvil.ts';
import { UtxoProxy } from '../../support/chains/utxo-proxy.ts';
import {
  type AttemptRow,
  type RealGateway,
  type RealOrder,
  startRealGateway,
  withRealChains,
} from '../../support/gateway/real-gateway.ts';

const gwei = 10n ** 9n;
let gateway: RealGateway;
let proxy: UtxoProxy;

withRealChains(() => {
  beforeAll(async () => {
    gateway = await startRealGateway({
      networks: async ({ litecoind }) => {
        proxy = new UtxoProxy(litecoind.config);
        const { url, user, password } = await proxy.start();
        return { litecoin: { nodes: [{ url, user, password }] } };
      },
    });
  });
  afterAll(async () => {
    await gateway?.stop();
    await proxy?.stop();
  });
  afterEach(async () => {
    expect(await gateway.differences()).toEqual([]);
  });

  interface Doubled {
    readonly order: RealOrder;
    readonly paymentId: string;
    readonly older: AttemptRow;
    readonly newer: AttemptRow;
  }

  /** What miners of Litecoin ask for; null for what is usual. */
  function setFeeRate(coinsPerKilobyte: string | null): void {
    proxy.falsify = (method) =>
      method === 'estimatesmartfee' && coinsPerKilobyte !== null ? { feerate: coinsPerKilobyte, blocks: 2 } : undefined;
  }

  /** Mines an empty block: the transactions in the mempool offer too low a fee. */
  async function mineDear(to: 'ETH' | 'LTC'): Promise<void> {
    const { anvil, litecoind } = gateway.chains;
    if (to === 'LTC') return litecoind.mineOnly();
    await anvil.setBaseFee(15n * gwei);
    await anvil.mine();
    // What the next one would ask for, as blocks fill or not.
    await anvil.setBaseFee(15n * gwei);
  }

  /** A payout that waited too long, and has another transaction now. */
  async function doubled(to: 'ETH' | 'LTC'): Promise<Doubled> {
    const order = await gateway.order(to === 'LTC' ? 'ETH' : 'LTC', to, to === 'LTC' ? 0.5 : 5);
    await gateway.confirm(order);
    const [payout] = await gateway.payments(order);
    const paymentId = payout?.id ?? '';
    await mineDear(to);
    setFeeRate('0.005');
    await gateway.wait(20);
    expect(await gateway.attempts(paymentId)).toHaveLength(1);
    await gateway.wait(11);
    const [older, newer, ...others] = await gateway.attempts(paymentId);
    expect(others).toEqual([]);
    if (!older || !newer) throw new Error('the payment has no second transaction');
    expect([older.dead_why, newer.dead_why]).toEqual([null, null]);
    expect(Number(newer.fee)).toBeGreaterThan(Number(older.fee));
    expect(await gateway.show(order)).toMatchObject({ status: 'sending', payout_txid: null });
    expect(await gateway.differences()).toEqual([]);
    return { order, paymentId, older, newer };
  }

  async function rawOf({ txid }: AttemptRow): Promise<string> {
    const [row] = await gateway.query<{ raw: string }>('select raw from payment_attempt where txid = $1', [txid]);
    return row?.raw ?? '';
  }

  /**
   * Removes `depth` blocks and mines one with this transaction alone, without the node's mempool.
   */
  async function mineExactly(to: 'ETH' | 'LTC', attempt: AttemptRow, depth = 0): Promise<void> {
    const { anvil, litecoind } = gateway.chains;
    const raw = await rawOf(attempt);
    if (to === 'LTC') {
      if (depth > 0) await litecoind.reorg(depth, 0);
      await litecoind.mineOnly(raw);
      if (depth > 0) await litecoind.mineOnly();
      return;
    }
    if (depth > 0) await anvil.rpc('anvil_rollback', depth);
    await anvil.rpc('anvil_dropAllTransactions');
    await anvil.setBaseFee(gwei);
    await anvil.rpc('anvil_setCoinbase', anvil.accounts[depth]);
    await anvil.rpc('eth_sendRawTransaction', raw);
    await anvil.mine(depth > 0 ? depth + 1 : 1);
  }

  /** The end of a payout of which one transaction was mined. */
  async function endsWith({ order, paymentId }: Doubled, confirmed: AttemptRow): Promise<void> {
    setFeeRate(null);
    await gateway.settle(order);
    expect(await gateway.show(order)).toMatchObject({ status: 'completed', payout_txid: confirmed.txid });
    const [payout, ...others] = await gateway.payments(order);
    expect([payout?.state, others]).toEqual(['confirmed', []]);
    expect(await gateway.balance(order.to, order.recipient)).toBe(payout?.amount);
    for (const { txid, dead_why, mined_height } of await gateway.attempts(paymentId)) {
      const isIt = txid === confirmed.txid;
      expect([dead_why, typeof mined_height]).toEqual(isIt ? [null, 'number'] : ['replaced', 'object']);
    }
    const held = await gateway.query(
      'select 1 from payment_reservation where payment_id = $1 and released_at is null',
      [paymentId],
    );
    expect(held).toEqual([]);
  }

  describe.each(['ETH', 'LTC'] as const)('a payout in %s that stays too long in the mempool', (to) => {
    it('is paid by a transaction with a higher fee, once', async () => {
      const payout = await doubled(to);
      await mineExactly(to, payout.newer);
      await gateway.tick();
      expect(await gateway.show(payout.order)).toMatchObject({ payout_txid: payout.newer.txid });
      await endsWith(payout, payout.newer);
    });

    it('may still be paid by its first transaction', async () => {
      const payout = await doubled(to);
      await mineExactly(to, payout.older);
      await gateway.tick();
      expect(await gateway.show(payout.order)).toMatchObject({ payout_txid: payout.older.txid });
      expect(await gateway.differences()).toEqual([]);
      await endsWith(payout, payout.older);
    });

    it.each([
      ['newer', 'older'],
      ['older', 'newer'],
    ] as const)('is paid once when a reorganisation swaps the %s transaction for the %s one', async (first, second) => {
      const payout = await doubled(to);
      await mineExactly(to, payout[first]);
      await gateway.tick();
      expect(await gateway.show(payout.order)).toMatchObject({ payout_txid: payout[first].txid });
      await mineExactly(to, payout[second], 1);
      expect(await gateway.differences()).toEqual([]);
      await gateway.tick();
      expect(await gateway.show(payout.order)).toMatchObject({ payout_txid: payout[second].txid });
      await endsWith(payout, payout[second]);
    });

    it('gets a third transaction when the second one also stays too long in the mempool', async () => {
      const payout = await doubled(to);
      const { anvil } = gateway.chains;
      if (to === 'ETH') {
        await anvil.setBaseFee(35n * gwei);
        await anvil.mine();
        await anvil.setBaseFee(35n * gwei);
      } else setFeeRate('0.009');
      await gateway.wait(31);
      const [, , third, ...others] = await gateway.attempts(payout.paymentId);
      expect([typeof third?.txid, others]).toEqual(['string', []]);
      await mineExactly(to, payout.newer);
      await gateway.tick();
      await endsWith(payout, payout.newer);
    });
  });

  it('a payment that spends the change of a replaced transaction is paid once', async () => {
    const { litecoind } = gateway.chains;
    const payout = await doubled('LTC');
    await mineExactly('LTC', payout.older);
    await gateway.tick();
    // All other outputs are taken, so that the next one spends the change.
    const [change] = await gateway.query<{ key: string }>(
      `select key from own_output where chain = 'litecoin' and index is null and spent_txid is null and key like $1
        order by amount desc limit 1`,
      [`${payout.older.txid}:%`],
    );
    const hidden = `chain = 'litecoin' and index is null and key not like '${payout.older.txid}:%' and spent_txid is null`;
    await gateway.query(
      `update own_output set spent_txid = 'hidden', spent_height = height, spent_hash = block_hash where ${hidden}`,
    );
    const next = await gateway.order('ETH', 'LTC', 0.4);
    await gateway.confirm(next);
    await gateway.query(
      `update own_output set spent_txid = null, spent_height = null, spent_hash = null where spent_txid = 'hidden'`,
    );
    const [before] = await gateway.payments(next);
    const [first] = await gateway.attempts(before?.id ?? '');
    const [row] = await gateway.query<{ reserves: string[] }>('select reserves from payment_attempt where txid = $1', [
      first?.txid,
    ]);
    expect(change && row?.reserves.some((resource) => resource.includes(payout.older.txid ?? '-'))).toBe(true);
    expect(before).toMatchObject({ state: 'sent' });

    await mineExactly('LTC', payout.newer, 1);
    await litecoind.mine(3);
    await gateway.tick();
    setFeeRate(null);
    await gateway.settle(payout.order);
    expect(await gateway.show(payout.order)).toMatchObject({ status: 'completed', payout_txid: payout.newer.txid });
    await gateway.settle(next);
    expect(await gateway.show(next)).toMatchObject({ status: 'completed' });
    expect(await gateway.balance('LTC', next.recipient)).toBe(before?.amount);
  });

  it('a payment with a raised fee unblocks the payments with later nonces', async () => {
    const { anvil, token } = gateway.chains;
    const waiting = await doubled('ETH');
    const other = await gateway.order('LTC', 'USDT', 3);
    await gateway.confirm(other);
    expect(await gateway.payments(other)).toMatchObject([{ state: 'sent' }]);
    await anvil.send(token, 0n, { data: call('balanceOf', other.recipient) });
    await gateway.settle(other);
    await gateway.settle(waiting.order);
    expect(await gateway.show(other)).toMatchObject({ status: 'completed' });
    await endsWith(waiting, waiting.newer);
  });
});
