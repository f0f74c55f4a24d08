import { fromUnits } from '../../../src/base/money.ts';
import { utxoParams } from '../../../src/chains/networks/utxo-params.ts';
import { call, randomAddress } from '../../support/chains/anvil.ts';
import { evmByHand, utxoByHand } from '../../support/chains/by-hand.ts';
import { ListedBooks } from '../../support/exchanges/watched-account.ts';
import { type RealGateway, startRealGateway, withRealChains } from '../../support/gateway/real-gateway.ts';

const litecoin = 10n ** 8n;

/** Every output of the hot wallet: sends `amount` to someone, and the rest but the fee back. */
async function sendLitecoin(gateway: RealGateway, amount: bigint, fee: bigint): Promise<string> {
  const { chains, hot, signer } = gateway;
  const node = chains.litecoind;
  const { unspents } = await node.rpc<{ unspents: { txid: string; vout: string }[] }>('scantxoutset', 'start', [
    `addr(${hot.litecoin})`,
  ]);
  const change = (await node.balance(hot.litecoin)) - amount - fee;
  const from = { params: utxoParams('litecoin', 'regtest'), keys: signer.keys, chain: 'litecoin' };
  const raw = await utxoByHand(
    node,
    from,
    unspents.map(({ txid, vout }) => `${txid}:${vout}`),
    [{ [await node.newAddress()]: fromUnits(amount, 8) }, { [hot.litecoin]: fromUnits(change, 8) }],
  );
  return node.rpc<string>('sendrawtransaction', raw);
}

async function sendToken(gateway: RealGateway, amount: bigint): Promise<string> {
  const { chains, hot, signer } = gateway;
  const from = { hot: hot.ethereum, keys: signer.keys, chain: 'ethereum' };
  const data = call('transfer', randomAddress(), amount);
  return (await evmByHand(chains.anvil, from, { to: chains.token, data })).txid;
}

/** Rows of deposits that a transaction made. */
function deposits(gateway: RealGateway, txid: string): Promise<object[]> {
  return gateway.query('select state from deposit where txid = $1', [txid]);
}

/** A payout is made from what a transaction gave back to the hot wallet. */
async function expectSpends(gateway: RealGateway, txid: string): Promise<void> {
  const order = await gateway.order('ETH', 'LTC', 0.25);
  await gateway.confirm(order);
  await gateway.settle(order);
  const { status, payout_txid: payout } = await gateway.show(order);
  expect(status).toBe('completed');
  const spent = await gateway.query<{ spent_txid: string }>(
    'select spent_txid from own_output where index is null and key like $1',
    [`${txid}:%`],
  );
  expect(spent).toEqual([{ spent_txid: payout }]);
}

withRealChains(() => {
  describe('coins that people move by hand, while an account at an exchange is watched', () => {
    let gateway: RealGateway;
    let books: ListedBooks<RealGateway>;
    let opening: Record<string, string>;
    beforeAll(async () => {
      gateway = await startRealGateway();
      // The first coins of the hot wallets are final before anything is watched.
      await gateway.mine('ethereum', 5);
      await gateway.mine('litecoin', 5);
      await gateway.wait(30);
      books = new ListedBooks(gateway);
      books.account.add('LTC', '100');
      books.account.add('USDT', '50000');
      await books.restart();
      await books.open();
    });
    afterAll(() => gateway?.stop());
    beforeEach(async () => {
      opening = await books.sums('opening');
    });
    afterEach(async () => {
      await agrees();
      expect(await books.sums('transit')).toEqual({});
      expect(await books.sums('opening')).toEqual(opening);
      for (const coin of ['LTC', 'USDT'] as const) {
        expect(await books.booked(`venue:${books.venue}`, coin)).toBe(books.account.balances.get(coin)?.toFixed());
      }
    });

    async function agrees(): Promise<void> {
      expect(await books.differences()).toEqual([]);
    }

    async function state(reference: string): Promise<string | undefined> {
      return (await books.transfers()).find((one) => one.reference === reference)?.state;
    }

    it('leave the Litecoin hot wallet once, and their change is no capital', async () => {
      const txid = await sendLitecoin(gateway, 40n * litecoin, 100_000n);
      await gateway.tick();
      await agrees();
      const reference = books.credit('LTC', 'Litecoin', '40', { txid, state: 'pending', told: 'Pending' });
      await books.turn();
      expect(await state(reference)).toBe('asked');
      await agrees();
      await gateway.mine('litecoin');
      await books.turn();
      expect(await state(reference)).toBe('sent');
      expect(await deposits(gateway, txid)).toEqual([]);
      await agrees();
      await gateway.chains.litecoind.reorg(1, 2);
      await books.turn();
      expect(await state(reference)).toBe('asked');
      await agrees();
      await gateway.mine('litecoin');
      await books.turn();
      await agrees();
      expect(await books.booked('transit', 'LTC')).toBe('0');
      await gateway.mine('litecoin', 3);
      await books.turn();
      expect(await books.booked('transit', 'LTC')).toBe('40');
      expect(await books.booked('network_cost', 'LTC')).toBe('0.001');
      await agrees();
      books.account.change(reference, { state: 'done', told: 'Success' });
      books.account.add('LTC', '40');
      await books.turn(2);
      expect(await state(reference)).toBe('done');
      expect(await deposits(gateway, txid)).toEqual([]);
      await expectSpends(gateway, txid);
    });

    it('of a token leave the hot wallet of the EVM once, with a fee in ether', async () => {
      const txid = await sendToken(gateway, 100_000_000n);
      const reference = books.credit('USDT', 'Tether USD (ERC20)', '100', { txid, state: 'pending', told: 'Pending' });
      await books.turn();
      await agrees();
      await gateway.mine('ethereum');
      await books.turn();
      expect(await state(reference)).toBe('sent');
      await agrees();
      await gateway.chains.anvil.reorg(1, 2);
      await books.turn();
      expect(await state(reference)).toBe('asked');
      await agrees();
      await gateway.mine('ethereum', 5);
      await books.turn();
      expect(await books.booked('transit', 'USDT')).toBe('100');
      const { gasUsed, effectiveGasPrice } = await gateway.chains.anvil.rpc<{
        gasUsed: string;
        effectiveGasPrice: string;
      }>('eth_getTransactionReceipt', txid);
      const costs = await gateway.query<{ coin: string; amount: string }>(
        `select l.coin, trim_scale(l.amount)::text as amount
           from ledger_transaction x join ledger_line l on l.transaction_id = x.id
          where x.kind = 'transfer_out' and l.account = 'network_cost' and l.network = 'ETH'`,
      );
      const fee = fromUnits(BigInt(gasUsed) * BigInt(effectiveGasPrice), 18);
      expect(costs).toEqual([{ coin: 'ETH', amount: fee }]);
      await agrees();
      books.account.change(reference, { state: 'done', told: 'Success' });
      books.account.add('USDT', '100');
      await books.turn(2);
      expect(await state(reference)).toBe('done');
      // The nonce that the person took stops no payout.
      const order = await gateway.order('LTC', 'USDT', 2);
      await gateway.confirm(order);
      await gateway.settle(order);
      expect(await gateway.show(order)).toMatchObject({ status: 'completed' });
    });

    it.each([
      ['LTC', 'LTC', 'litecoin', '3'],
      ['USDT', 'ERC20', 'ethereum', '250'],
    ] as const)('arrive from the exchange once: %s on %s', async (coin, network, chain, amount) => {
      const { litecoind, anvil, token } = gateway.chains;
      const reference = await books.withdraw(coin, network, { gross: `${amount}.5`, fee: '0.5' });
      await books.turn();
      expect(await state(reference)).toBe('asked');
      const txid =
        coin === 'LTC'
          ? await litecoind.pay(gateway.hot.litecoin, BigInt(amount) * litecoin)
          : await anvil.sendToken(token, gateway.hot.ethereum, BigInt(amount) * 1_000_000n);
      books.account.change(reference, { txid, state: 'done', told: 'Success' });
      await gateway.mine(chain);
      await books.turn();
      expect(await state(reference)).toBe('arrived');
      await agrees();
      await (chain === 'litecoin' ? litecoind : anvil).reorg(1, 2);
      await books.turn();
      expect(await state(reference)).toBe('sent');
      await agrees();
      await gateway.mine(chain, 5);
      await books.turn(2);
      expect(await state(reference)).toBe('done');
      expect(await deposits(gateway, txid)).toEqual([{ state: 'credited' }]);
    });
  });

  it('coins sent by hand are all that differs while no exchange is watched', async () => {
    const gateway = await startRealGateway();
    try {
      const opening = await gateway.booked('opening', 'LTC');
      const txid = await sendLitecoin(gateway, 40n * litecoin, 100_000n);
      await gateway.tick();
      for (const blocks of [1, 4]) {
        await gateway.mine('litecoin', blocks);
        await gateway.wait(30);
        const differences = await gateway.differences();
        expect(differences).toMatchObject([{ check: 'hot', difference: '-40.001' }]);
      }
      expect(await deposits(gateway, txid)).toEqual([]);
      expect(await gateway.booked('opening', 'LTC')).toBe(opening);
      await expectSpends(gateway, txid);
      expect(await gateway.differences()).toMatchObject([{ check: 'hot', difference: '-40.001' }]);
    } finally {
      await gateway.stop();
    }
  });
});
