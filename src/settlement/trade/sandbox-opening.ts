import type { MikroORM } from '@mikro-orm/postgresql';
import type { Clock } from '../../base/clock.ts';
import { sql } from '../../base/db/sql.ts';
import { Big, toUnits } from '../../base/money.ts';
import { foreignGasCoins, networkById } from '../../chains/networks/networks.ts';
import type { SandboxChain } from '../../chains/sandbox/sandbox-chain.ts';
import { book, line, minus } from '../../ledger/ledger.ts';
import type { Currency } from '../../market/currencies/currency.entity.ts';

/** The hot wallet begins with the value of this many maximum orders in each coin. */
const largestOrders = '10000';
/** Opening amount of a coin that only pays fees. */
const gasAmount = new Big('1000');

/**
 * Funds the sandbox's hot wallet in every currency of its chains that was not funded yet, and books
 * it. Coins and journal entry are written in one transaction, and only once, however many processes
 * start.
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
    (await sql<{ reference: string }>(em, `select reference from ledger_transaction where kind = 'opening'`)).map(
      ({ reference }) => reference,
    ),
  );
  const missing = assets
    .map((asset) => ({ ...asset, reference: `${asset.chain}:${asset.contract ?? ''}:1` }))
    .filter(({ reference }) => !funded.has(reference));
  if (missing.length === 0) return;
  // One transaction for all: separate commits would dominate the first start.
  await em.transactional(async (tx) => {
    for (const { chain, contract, amount, decimals, reference, ...asset } of missing) {
      const lines = [line('hot', asset, amount), line('opening', asset, minus(amount))];
      const isNew = await book(tx, { kind: 'opening', reference, orderId: null, at: clock.now(), lines });
      if (isNew) await sandbox.fund(chain, hotWallet, contract, toUnits(amount, decimals), tx);
    }
  });
}
