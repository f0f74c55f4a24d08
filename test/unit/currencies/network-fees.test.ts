import { Big, fromUnits } from '../../../src/base/money.ts';
import { networkById } from '../../../src/chains/networks/networks.ts';
import { usualCosts } from '../../../src/chains/tron/tron-costs.ts';
import { TronNode } from '../../../src/chains/tron/tron-node.ts';
import { currencySeed } from '../../../src/market/currencies/seed.ts';
import { sandboxPrices } from '../../../src/market/rates/sources/sandbox-prices.ts';
import { coverProblem } from '../../../src/surfaces/cli/fee-cover.ts';
import { TronWire } from '../../support/chains/tron-wire.ts';

/** An address of the main network, as hot wallet. */
const hotWallet = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';
/** The prices that the main network has in 2026, in sun. */
const parameters = {
  getEnergyFee: 100,
  getTransactionFee: 1_000,
  getCreateNewAccountFeeInSystemContract: 1_000_000,
  getCreateAccountFee: 100_000,
  getMaxFeeLimit: 15_000_000_000,
};
/** Energy of a transfer of USDT, to an address that holds some and to one that does not. */
const [toHolder, toNewHolder] = [64_285, 130_285];

/** A node of the main network, whose hot wallet has no stake. */
const mainNetwork = new TronNode(
  new TronWire((path, body) => {
    if (path === 'wallet/getchainparameters') {
      return { chainParameter: Object.entries(parameters).map(([key, value]) => ({ key, value })) };
    }
    if (path === 'wallet/getaccountresource') return { freeNetLimit: 600 };
    const { data, owner_address } = body as { data: string; owner_address: string };
    const isToHolder = data.includes(owner_address.slice(2));
    return {
      result: { result: true },
      energy_used: isToHolder ? toHolder : toNewHolder,
      constant_result: ['01'.padStart(64, '0')],
    };
  }),
);

const price = (coin: string): Big => new Big(sandboxPrices[coin] ?? Number.NaN);

const rows = currencySeed.filter(({ network }) => networkById(network)?.chain === 'tron');

describe.each(rows.map((row) => [`${row.coin} on ${row.network}`, row] as const))('the seeded fee of %s', (_, row) => {
  it('covers a payout and a sweep at the seeded price', async () => {
    const costs = await usualCosts(mainNetwork, { hotWallet, contract: row.contract });
    expect(costs).not.toBeNull();
    const problem = coverProblem({
      coin: row.coin,
      network: row.network,
      networkFee: row.networkFee,
      price: price(row.coin),
      gasCoin: 'TRX',
      gasPrice: price('TRX'),
      payout: fromUnits(costs?.payout ?? 0n, 6),
      sweep: fromUnits(costs?.sweep ?? 0n, 6),
    });
    expect(problem).toBeNull();
  });
});

it('the seed has the coins of Tron whose fees are compared', () => {
  expect(rows.map(({ coin, network }) => `${coin}/${network}`)).toEqual(['TRX/TRX', 'USDT/TRC20']);
});
