import type { MikroORM } from '@mikro-orm/postgresql';
import { createOrm } from '../../../src/app/orm.ts';
import { Big } from '../../../src/base/money.ts';
import { chainCoins } from '../../../src/market/currencies/chain-coins.ts';
import { SharedPriceWindows } from '../../../src/market/rates/price-windows.ts';
import { sandboxPrices } from '../../../src/market/rates/sources/sandbox-prices.ts';
import { coverProblem, feeCoverProblem } from '../../../src/surfaces/cli/fee-cover.ts';
import { describeWithAnvil } from '../../support/chains/anvil.ts';
import { type TronHarness, tronHarness } from '../../support/chains/tron-harness.ts';
import { createDatabase, query, type TestDatabase } from '../../support/database/database.ts';

const usdt = {
  coin: 'USDT',
  network: 'TRC20',
  price: new Big('1'),
  gasCoin: 'TRX',
  gasPrice: new Big(sandboxPrices.TRX ?? ''),
  payout: '13.4',
  sweep: '7.7',
};

describe('a network fee', () => {
  it('that is below the costs is told with a good one', () => {
    expect(coverProblem({ ...usdt, networkFee: '1.5' })).toBe(
      'the network fee of 1.5 USDT is below the cost of a payout and a sweep, 13.4 + 7.7 TRX or 2.75 USDT: ' +
        'raise it with currency set --coin USDT --network TRC20 --network-fee 3.03',
    );
  });

  it('that equals the costs covers them', () => {
    const gasPrice = new Big('0.1');
    expect(coverProblem({ ...usdt, gasPrice, networkFee: '2.11' })).toBeNull();
    expect(coverProblem({ ...usdt, gasPrice, networkFee: '2.109999' })).toContain('raise it');
  });
});

describeWithAnvil('the network fees of a gateway on Tron', () => {
  let tron: TronHarness;
  let database: TestDatabase;
  let orm: MikroORM;
  const problemOf = (coin: string, contract: string | null): Promise<string | null> => {
    const found = chainCoins('tron').find((each) => each.coin === coin);
    if (!found) throw new Error(`there is no ${coin}`);
    return feeCoverProblem(orm, tron.adapter, { coin: found, contract });
  };

  beforeAll(async () => {
    [tron, database] = await Promise.all([tronHarness(), createDatabase()]);
    orm = await createOrm({ url: database.url, poolSize: 2 });
  });
  afterAll(async () => {
    await orm.close(true);
    await Promise.all([tron.stop(), database.drop()]);
  });

  it('are not judged before the gateway had a price', async () => {
    await query(database.url, 'delete from price_window');
    expect(await problemOf('USDT', tron.token)).toBeNull();
  });

  it('are compared at the prices of the gateway', async () => {
    const prices = { reference: sandboxPrices, overrides: {}, depth: {} };
    const windows = new SharedPriceWindows(orm);
    await windows.decide(new Date(Date.now() - 60_000), () => ({ ...prices, fixed: sandboxPrices }));
    expect(await problemOf('TRX', null)).toBeNull();
    await query(database.url, `update currency set network_fee = 3 where coin = 'USDT' and network = 'TRC20'`);
    expect(await problemOf('USDT', tron.token)).toBeNull();
    await query(database.url, `update currency set network_fee = 0.1 where coin = 'USDT' and network = 'TRC20'`);
    expect(await problemOf('USDT', tron.token)).toMatch(
      /^the network fee of 0\.1 USDT is below .* raise it with currency set --coin USDT --network TRC20 --network-fee \d/,
    );
    const dear = { ...sandboxPrices, TRX: '130.4' };
    await query(database.url, `update currency set network_fee = 3 where coin = 'USDT' and network = 'TRC20'`);
    await windows.decide(new Date(Date.now() - 30_000), () => ({ ...prices, fixed: dear }));
    expect(await problemOf('USDT', tron.token)).toContain('raise it');
  });
});
