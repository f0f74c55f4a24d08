import type { EntityManager } from '@mikro-orm/postgresql';
import { fromUnits } from '../../base/money.ts';
import type { ScannedBlock } from '../../chains/port/chain-adapter.ts';
import { bookAll, line, minus } from '../../ledger/ledger.ts';
import type { CurrencyCatalogue } from '../../market/currencies/currency-catalogue.ts';

/** What receiving took from the hot wallet in a block. */
export interface ReceiveCost {
  readonly blockHash: string;
  /** In the smallest unit of the chain's own coin. */
  readonly amount: bigint;
}

/** What receiving cost in blocks. Most cost nothing. */
export function receiveCostsOf(blocks: readonly ScannedBlock[]): ReceiveCost[] {
  return blocks.flatMap(({ ref, receiveCost }) =>
    receiveCost === undefined ? [] : [{ blockHash: ref.hash, amount: receiveCost }],
  );
}

/** Books what receiving cost, once for each block. Such blocks are final. */
export async function bookReceiveCosts(
  em: EntityManager,
  catalogue: Pick<CurrencyCatalogue, 'gasCoin'>,
  chain: string,
  costs: readonly ReceiveCost[],
  at: Date,
): Promise<void> {
  if (costs.length === 0) return;
  const gas = catalogue.gasCoin(chain);
  await bookAll(
    em,
    costs.map(({ blockHash, amount }) => {
      const cost = fromUnits(amount, gas.decimals);
      const lines = [line('network_cost', gas, cost), line('hot', gas, minus(cost))];
      return { kind: 'receive_cost', reference: `${chain}:${blockHash}`, orderId: null, at, lines } as const;
    }),
  );
}
