import { addressExample } from '../../../src/chains/addresses/address.ts';
import { commandLine } from '../../support/gateway/built-process.ts';
import { type SettledGateway, startSettledGateway } from '../../support/gateway/settled-gateway.ts';

let gateway: SettledGateway;
beforeAll(async () => {
  gateway = await startSettledGateway();
});
afterAll(() => gateway?.stop());

/** The command line, on the gateway's database. */
const cli = (...args: string[]) => commandLine(gateway.databaseUrl, args);

// biome-ignore lint/suspicious/noExplicitAny: what a command prints is read member by member
async function json(...args: string[]): Promise<any> {
  const { code, output, errors } = await cli(...args, '--json');
  expect({ code, errors }).toEqual({ code: 0, errors: '' });
  return JSON.parse(output);
}

describe('the commands of the sandbox', () => {
  it('pay an order, make blocks, undo them, and settle it', async () => {
    const order = await gateway.order();
    const paid = await json('sandbox', 'deposit', '--order', order.id);
    expect(paid).toMatchObject({
      order: order.id,
      chain: 'bitcoin',
      amount: order.amountFrom,
      address: order.depositAddress,
    });
    expect(await json('sandbox', 'mine', '--blocks', '2')).toMatchObject({ blocks: 2, chains: ['bitcoin'] });
    await gateway.tick();
    expect((await gateway.show(order)).status).toBe('sending');
    expect(await json('sandbox', 'reorg', '--depth', '1', '--network', 'BTC')).toEqual({
      depth: 1,
      chains: ['bitcoin'],
    });
    await gateway.settle(order);
    expect((await gateway.show(order)).status).toBe('completed');
    expect((await json('ledger', 'reconcile')).differences).toBe(0);
    const { balances } = await json('ledger', 'balances');
    expect(balances).toContainEqual({
      account: 'deposits',
      coin: 'BTC',
      network: 'BTC',
      balance: expect.stringMatching(/^0\.010*$/),
    });
  });

  it('take a short id, an amount, and a tag', async () => {
    const order = await gateway.order({
      coin_from: 'XRP',
      network_from: 'XRP',
      amount_from: 500,
      refund_address: undefined,
    });
    const { short_id } = await gateway.show(order);
    const paid = await json(
      'sandbox',
      'deposit',
      '--order',
      short_id.toLowerCase(),
      '--amount',
      '400.5',
      '--tag',
      '77',
    );
    expect(paid).toMatchObject({ amount: '400.5', tag: '77', chain: 'ripple' });
  });

  it('fix a price, a limit of the venue, and an address that refuses', async () => {
    expect(await json('sandbox', 'price', '--coin', 'BTC', '--price', '65000.5')).toEqual({
      coin: 'BTC',
      price: '65000.5',
    });
    expect(await json('sandbox', 'inventory', '--coin', 'USDT', '--amount', '0')).toEqual({
      coin: 'USDT',
      amount: '0',
    });
    const address = addressExample('TRC20');
    const refused = await json('sandbox', 'refuse', '--network', 'TRC20', '--address', address);
    expect(refused).toEqual({ chain: 'tron', address, refused: true });
    const rows = await gateway.query(
      `select (select trim_scale(price)::text from sandbox_price where coin = 'BTC') as price,
              (select amount::int from sandbox_inventory where coin = 'USDT') as amount,
              (select address from sandbox_refusing where chain = 'tron') as address`,
    );
    expect(rows).toEqual([{ price: '65000.5', amount: 0, address }]);
  });

  it('refuse a price that the gateway would ignore', async () => {
    const prices = (coin: string, ...texts: string[]) =>
      Promise.all(texts.map((text) => cli('sandbox', 'price', '--coin', coin, '--price', text)));
    // A gateway whose prices are of now, as a running one has them.
    await gateway.query(
      `insert into price_window (starts_at, fixed, reference, overrides)
       values (now(), '{}', '{"LTC": "85"}', '{}') on conflict do nothing`,
    );
    const refused = [
      ...(await prices('LTC', '0', '-1', '1e30', '1e15', '0.01')),
      ...(await prices('NOPE', '5')),
      ...(await prices('LTC', 'much')),
    ];
    expect(refused.map(({ code, output, errors }) => [code, output, errors.split('\n')[0]])).toEqual([
      [1, '', "'0' is not a price; a good value: 64000.5, or auto"],
      [1, '', "'-1' is not a price; a good value: 64000.5, or auto"],
      [1, '', "'1e30' is not a price; a good value: 64000.5, or auto"],
      [1, '', expect.stringMatching(/^1000000000000000 is too large: .* factor of 3; the price is 85, so go there/)],
      [1, '', expect.stringMatching(/^0.01 is too small: /)],
      [1, '', 'there is no coin NOPE'],
      [1, '', "'much' is not a price; a good value: 64000.5, or auto"],
    ]);
    expect(await gateway.query(`select 1 from sandbox_price where coin = 'LTC'`)).toEqual([]);
  });

  it('explain how to correct a wrong argument', async () => {
    const wrong = await Promise.all([
      cli('sandbox', 'deposit', '--order', 'XP-000000'),
      cli('sandbox', 'deposit', '--order', (await gateway.order()).id, '--amount', '0.000000001'),
      cli('sandbox', 'mine', '--blocks', '0'),
      cli('sandbox', 'mine', '--blocks', '100000'),
      cli('chain', 'rescan', '--chain', 'bitcoin', '--from', '99999999999'),
      cli('sandbox', 'reorg', '--depth', '1', '--network', 'NOPE'),
      cli('sandbox', 'price', '--coin', 'BTC', '--price', '-1'),
      cli('chain', 'rescan', '--chain', 'nope', '--from', '1'),
    ]);
    expect(wrong.map(({ code, output }) => [code, output])).toEqual(wrong.map(() => [1, '']));
    expect(wrong.map(({ errors }) => errors.split('\n')[0])).toEqual([
      'there is no order XP-000000',
      "'0.000000001' is not an amount of BTC with at most 8 decimals",
      expect.stringContaining('must be a whole number from 1 to 99999'),
      expect.stringContaining('is too large: the largest value is 99999'),
      expect.stringContaining('is too large: the largest value is 999999999'),
      expect.stringContaining('there is no network NOPE; known are BTC'),
      "'-1' is not a price; a good value: 64000.5, or auto",
      'there is no chain nope; see chain list',
    ]);
  });
});

describe('the commands of the chains', () => {
  it('show them, and read one again', async () => {
    const bitcoin = async () => {
      const { chains } = await json('chain', 'list');
      return chains.find(({ chain }: { chain: string }) => chain === 'bitcoin');
    };
    const { height, ...rest } = await bitcoin();
    expect(rest).toMatchObject({ behind: 0, problem: null, since: null });
    await gateway.query(
      `update chain_state set failure = 'unreachable', failing_since = '2026-01-31T12:00:00Z' where chain = 'bitcoin'`,
    );
    expect(await bitcoin()).toMatchObject({ problem: 'unreachable', since: '2026-01-31T12:00:00Z' });

    const above = await cli('chain', 'rescan', '--chain', 'bitcoin', '--from', String(height + 1));
    expect([above.code, above.errors]).toEqual([
      1,
      `bitcoin begins at block 0 and was read up to ${height}; a rescan is from one of these\n`,
    ]);
    const rescan = (from: number) => json('chain', 'rescan', '--chain', 'bitcoin', '--from', String(from));
    expect(await rescan(0)).toEqual({ chain: 'bitcoin', rescan_from: 0, confirmed_payments: [] });
    // No worker has taken the first up yet, and it goes deeper.
    expect(await rescan(1)).toMatchObject({ chain: 'bitcoin', rescan_from: 0 });
    await gateway.tick();
    await gateway.tick();
    const [deposit] = await gateway.query(`select state, credits from deposit where chain = 'bitcoin'`);
    expect(deposit).toEqual({ state: 'credited', credits: 2 });
    const [paid] = await gateway.query<{ chain: string; txid: string; height: number }>(
      `select p.chain, a.txid, a.mined_height::int as height
         from payment p join payment_attempt a on a.payment_id = p.id and a.txid = (select max(payout_txid) from exchange_order)`,
    );
    if (!paid) throw new Error('nothing was paid out');
    const again = await json('chain', 'rescan', '--chain', paid.chain, '--from', String(paid.height - 1));
    expect(again).toMatchObject({ confirmed_payments: [paid.txid] });
  });
});
