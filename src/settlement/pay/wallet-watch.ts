import type { MikroORM } from '@mikro-orm/postgresql';
import type { Clock } from '../../base/clock.ts';
import { sql } from '../../base/db/sql.ts';
import type { Log } from '../../base/log.ts';
import { Big, formatDecimal, fromUnits, minOf, storedMost } from '../../base/money.ts';
import { type LiveNetwork, levelOf, type WalletLevels } from '../../chains/networks/network-config.ts';
import { ownOutputs } from '../../chains/own-outputs.ts';
import type { ChainAdapter } from '../../chains/port/chain-adapter.ts';
import type { CurrencyCatalogue } from '../../market/currencies/currency-catalogue.ts';
import type { ChainLease } from '../turns/chain-lease.ts';
import type { ChainTask } from '../turns/chain-task.ts';

export interface WalletWatchOptions {
  readonly orm: MikroORM;
  readonly clock: Clock;
  readonly log: Log;
  readonly catalogue: CurrencyCatalogue;
  readonly networks: ReadonlyMap<string, Pick<LiveNetwork, 'levels' | 'limits'>>;
}

/**
 * Records the balances of the hot wallets, so that staff are warned before payments have to wait.
 */
export class WalletWatch implements ChainTask {
  readonly everySec = 60;
  readonly #options: WalletWatchOptions;

  constructor(options: WalletWatchOptions) {
    this.#options = options;
  }

  async run(adapter: ChainAdapter, _lease: ChainLease): Promise<void> {
    const { orm, clock, catalogue, networks } = this.#options;
    const { chain } = adapter;
    const network = networks.get(chain);
    if (!network) return;
    const now = clock.now();
    for (const asset of catalogue.assetsOf(chain)) {
      // Tokens of the catalogue that the settings do not name are skipped.
      if (asset.contract !== null && !network.limits.has(asset.coin)) continue;
      const units = await this.#balance(adapter, asset.contract);
      await this.#note(chain, asset, new Big(fromUnits(units, asset.decimals)), network.levels.get(asset.coin), now);
    }
    await sql(orm.em.fork(), 'delete from wallet_level where chain = ? and seen_at < ?', [chain, now]);
  }

  /**
   * On a UTXO chain it sums the outputs that the scanner stored: a node would read all outputs of
   * the chain for it.
   */
  async #balance(adapter: ChainAdapter, contract: string | null): Promise<bigint> {
    if (adapter.traits.ledger === 'outputs') {
      const outputs = await ownOutputs(this.#options.orm).hot(adapter.chain);
      return outputs.reduce((sum, { amount }) => sum + amount, 0n);
    }
    const { address } = await adapter.hotWallet();
    const [units = 0n] = await adapter.balances([{ address, tag: null }], contract);
    return units;
  }

  async #note(
    chain: string,
    { coin, network }: { coin: string; network: string },
    balance: Big,
    bounds: WalletLevels | undefined,
    now: Date,
  ): Promise<void> {
    const { orm, log } = this.#options;
    const level = levelOf(bounds, balance);
    const [row] = await sql<{ is_news: boolean }>(
      orm.em.fork(),
      `insert into wallet_level as w (chain, coin, network, balance, low, high, level, outside_since, seen_at)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?)
       on conflict (chain, coin, network) do update
          set balance = excluded.balance, low = excluded.low, high = excluded.high, level = excluded.level,
              seen_at = excluded.seen_at,
              outside_since = case when excluded.outside_since is not null
                                   then coalesce(w.outside_since, excluded.outside_since) end
       returning outside_since = seen_at as is_news`,
      [
        chain,
        coin,
        network,
        formatDecimal(minOf(balance, storedMost)),
        bounds?.low ?? null,
        bounds?.high ?? null,
        level,
        level === 'ok' ? null : now,
        now,
      ],
    );
    if (row?.is_news) {
      log.warn({ event: 'wallet_outside_its_levels', code: chain, coin }, 'a hot wallet holds too little or too much');
    }
  }
}
