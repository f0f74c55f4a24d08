import type { MikroORM } from '@mikro-orm/postgresql';
import { foreignGasCoins, networkById } from '../chains/networks.ts';
import type { SandboxChain } from '../chains/sandbox/sandbox-chain.ts';
import type { Clock } from '../clock.ts';
import type { Currency } from '../currencies/currency.entity.ts';
import { book, line, minus } from '../ledger/ledger.ts';
import { Big, toUnits } from '../money.ts';

/** The hot wallet begins with so many of the largest orders in each coin. */
const largestOrders = '10000';
/** Of a coin that is only there to pay fees. */
const gasAmount = new Big('1000');

/**
 * Gives the sandbox's hot wallet what it pays from, in every currency of its chains that it has none of yet, and books
 * it. Coins and
 * booking come in one transaction, and once, however many processes start.
 */
export async function fundSandbox(
  { orm, clock, sandbox }: { orm: MikroORM; clock: Clock; sandbox: SandboxChain },
  currencies: readonly Currency[],
  chains: readonly string[],
  hotWallet: string,
): Promise<void> {
  const gas = Object.entries(foreignGasCoins).map(([chain, coin]) => ({
    ...coin,
    chain,
    contract: null,
    amount: gasAmount,
  }));
  const assets = [
    ...currencies.map((currency) => ({
      coin: currency.coin,
      network: currency.network,
      decimals: currency.decimals,
      chain: networkById(currency.network)?.chain ?? '',
      contract: currency.contract,
      amount: new Big(currency.maxAmount).times(largestOrders),
    })),
    ...gas,
  ].filter(({ chain }) => chains.includes(chain));
  const em = orm.em.fork();
  const funded = new Set(
    (await em.execute<{ reference: string }[]>(`select reference from ledger_transaction where kind = 'opening'`)).map(
      ({ reference }) => reference,
    ),
  );
  const missing = assets
    .map((asset) => ({ ...asset, reference: `${asset.chain}:${asset.contract ?? ''}:1` }))
    .filter(({ reference }) => !funded.has(reference));
  if (missing.length === 0) return;
  // All in one: a commit for each would be most of a first start.
  await em.transactional(async (tx) => {
    for (const { chain, contract, amount, decimals, reference, ...asset } of missing) {
      const lines = [line('hot', asset, amount), line('opening', asset, minus(amount))];
      const isNew = await book(tx, { kind: 'opening', reference, orderId: null, at: clock.now(), lines });
      if (isNew) await sandbox.fund(chain, hotWallet, contract, toUnits(amount, decimals), tx);
    }
  });
}
