import { randomBytes } from 'node:crypto';
import { Big, fromUnits, toUnits } from '../../../src/base/money.ts';
import { CrowdedChain, outputsTo } from '../../support/chains/crowded-chain.ts';
import {
  endWindow,
  type MadeOrder,
  type SettledGateway,
  startSettledGateway,
} from '../../support/gateway/settled-gateway.ts';

// A transaction that pays an order in several outputs is one payment.

const crowded = new CrowdedChain();
let gateway: SettledGateway;

beforeAll(async () => {
  gateway = await startSettledGateway({ outside: { chain: (adapter) => crowded.wrap(adapter) } });
});
afterAll(() => gateway.stop());
afterEach(async () => {
  crowded.waiting.clear();
  expect(await gateway.query('select coin from ledger_line group by coin having sum(amount) <> 0')).toEqual([]);
});

interface Row {
  readonly key: string;
  readonly amount: string;
  readonly state: string;
  readonly problem: string | null;
}

function deposits({ id }: MadeOrder): Promise<Row[]> {
  return gateway.query<Row>(
    `select key, trim_scale(amount)::text as amount, state, problem from deposit where order_id = $1 order by key`,
    [id],
  );
}

function refunds({ id }: MadeOrder): Promise<{ amount: string; fee: string; leg: string }[]> {
  return gateway.query(
    `select trim_scale(amount)::text as amount, trim_scale(fee_charged)::text as fee, leg from payment
      where order_id = $1 and kind = 'refund' order by number`,
    [id],
  );
}

const newTxid = (): string => randomBytes(32).toString('hex');
const satoshi = (amount: string): bigint => toUnits(amount, 8);

/** The outputs of one transaction to the order, in the coin's units. */
function outputs({ depositAddress: address }: MadeOrder, amounts: readonly string[], txid = newTxid()) {
  return outputsTo(
    txid,
    amounts.map((amount) => ({ address, amount: satoshi(amount) })),
  );
}

/** Puts one transaction into a block, and lets settlement run. Returns its txid. */
async function pay(order: MadeOrder, amounts: readonly string[], txid = newTxid()): Promise<string> {
  crowded.add('bitcoin', outputs(order, amounts, txid));
  await gateway.mine('BTC');
  await gateway.tick();
  return txid;
}

describe('a transaction that pays an order in two outputs', () => {
  it('is one deposit of the sum, which is exchanged whole', async () => {
    const order = await gateway.order();
    const txid = await pay(order, ['0.006', '0.004']);
    await gateway.settle(order);
    expect(await gateway.show(order)).toMatchObject({ status: 'completed', deposit_txid: txid });
    const [exchanged] = await gateway.query(
      'select trim_scale(amount_from_actual)::text as amount from exchange_order where id = $1',
      [order.id],
    );
    expect(exchanged).toEqual({ amount: '0.01' });
    expect(await deposits(order)).toEqual([{ key: `${txid}:0`, amount: '0.01', state: 'credited', problem: null }]);
    expect(await refunds(order)).toEqual([]);
  });

  it('reaches the minimum with two halves below it', async () => {
    const order = await gateway.order();
    const [row] = await gateway.query<{ min: string }>(
      'select trim_scale(min_amount)::text as min from exchange_order where id = $1',
      [order.id],
    );
    const half = new Big(row?.min ?? '0').times('0.6').round(8, 1).toFixed();
    await pay(order, [half, half]);
    await gateway.settle(order);
    expect((await gateway.show(order)).status).toBe('completed');
  });

  it('is refunded by one payment less one fee', async () => {
    const order = await gateway.order();
    await endWindow(gateway, order);
    await gateway.tick();
    gateway.clock.advance(1);
    await pay(order, ['0.006', '0.004']);
    await gateway.mine('BTC', 2);
    await gateway.settle(order);
    expect((await gateway.show(order)).status).toBe('refunded');
    const fee = new Big(gateway.app.catalogue.find('BTC', 'BTC')?.networkFee ?? '0');
    expect(await refunds(order)).toEqual([
      { amount: new Big('0.01').minus(fee).toFixed(), fee: fee.toFixed(), leg: 'main' },
    ]);
  });

  it('is one hint in the mempool, and the same deposit in its block', async () => {
    const order = await gateway.order();
    const txid = newTxid();
    crowded.waiting.set('bitcoin', outputs(order, ['0.006', '0.004'], txid));
    await gateway.tick();
    expect(await gateway.show(order)).toMatchObject({ status: 'confirming', deposit_txid: txid });
    expect(await deposits(order)).toMatchObject([{ amount: '0.01', state: 'mempool' }]);
    crowded.waiting.clear();
    await pay(order, ['0.006', '0.004'], txid);
    await gateway.settle(order);
    expect((await gateway.show(order)).status).toBe('completed');
    expect(await deposits(order)).toHaveLength(1);
  });

  it('is taken away whole by a reorganisation, and returns whole', async () => {
    const order = await gateway.order();
    const txid = await pay(order, ['0.006', '0.004']);
    await gateway.reorg('BTC', 1, false);
    await gateway.tick();
    expect(await gateway.show(order)).toMatchObject({ status: 'waiting_deposit', deposit_txid: null });
    expect(await deposits(order)).toMatchObject([{ amount: '0.01', state: 'orphaned' }]);
    await pay(order, ['0.006', '0.004'], txid);
    await gateway.settle(order);
    expect((await gateway.show(order)).status).toBe('completed');
    expect(await deposits(order)).toHaveLength(1);
  });

  it('pays two orders with one deposit each', async () => {
    const [one, other] = [await gateway.order(), await gateway.order()];
    const txid = newTxid();
    const amount = satoshi('0.01');
    crowded.add(
      'bitcoin',
      outputsTo(txid, [
        { address: one.depositAddress, amount },
        { address: other.depositAddress, amount },
      ]),
    );
    await gateway.mine('BTC');
    await gateway.settle(one);
    await gateway.settle(other);
    for (const order of [one, other]) {
      expect(await gateway.show(order)).toMatchObject({ status: 'completed', deposit_txid: txid });
      expect(await deposits(order)).toHaveLength(1);
    }
  });

  it('is two deposits where the outputs are of two assets', async () => {
    const order = await gateway.order({
      coin_from: 'ETH',
      network_from: 'ETH',
      amount_from: 1,
      refund_address: undefined,
    });
    const usdt = gateway.app.catalogue.find('USDT', 'ERC20');
    const address = order.depositAddress;
    crowded.add(
      'ethereum',
      outputsTo(newTxid(), [
        { address, amount: 10n ** 18n },
        { address, contract: usdt?.contract ?? null, amount: 50_000_000n },
      ]),
    );
    await gateway.mine('ETH');
    await gateway.tick();
    expect((await deposits(order)).map(({ amount }) => amount)).toEqual(['1', '50']);
  });

  it('is one deposit in the details that the partner reads', async () => {
    const order = await gateway.order();
    const txid = await pay(order, ['0.002', '0.003', '0.005']);
    await gateway.settle(order);
    const { json } = await gateway.call('GET', `/partner/orders/${order.id}/details`, { key: gateway.key });
    expect(json.deposits).toMatchObject([{ txid, output_index: 0, role: 'main' }]);
    expect(String(json.deposits[0].amount)).toBe('0.01');
  });
});

it('names the outputs of a payment for a sweep', async () => {
  const order = await gateway.order();
  const txid = await pay(order, ['0.002', '0.003', '0.005']);
  const parts = await gateway.query<{ key: string; amount: string }>(
    `select p.key, trim_scale(p.amount)::text as amount from deposit_part p join deposit d on d.id = p.deposit_id
      where d.order_id = $1 order by p.key`,
    [order.id],
  );
  expect(parts).toEqual([
    { key: `${txid}:0`, amount: fromUnits(satoshi('0.002'), 8) },
    { key: `${txid}:1`, amount: '0.003' },
    { key: `${txid}:2`, amount: '0.005' },
  ]);
});
