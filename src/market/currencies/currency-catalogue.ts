import type { MikroORM } from '@mikro-orm/postgresql';
import { sql } from '../../base/db/sql.ts';
import type { ErrorKind } from '../../base/errors.ts';
import { every, type Repeated, repeat, warning } from '../../base/jobs/repeat.ts';
import type { Log } from '../../base/log.ts';
import { checkAddress } from '../../chains/addresses/address.ts';
import { foreignGasCoins, type GasCoin, networkById } from '../../chains/networks/networks.ts';
import { Currency } from './currency.entity.ts';

/** How long a change of a currency may take to reach every process. */
const refreshMs = 5_000;

/** A fault in the name of a currency. The member of the request that named it is not known here. */
interface CurrencyFault {
  readonly part: 'coin' | 'network';
  readonly kind: ErrorKind;
  readonly detail: string;
}

type ResolvedCurrency = { readonly ok: true; readonly currency: Currency } | ({ readonly ok: false } & CurrencyFault);

interface NetworkRules {
  /** Whether the network of a currency can carry it. */
  offers(currency: Currency): boolean;
  /** Confirmations below which no deposit on the network counts. */
  leastConfirmations(networkId: string): number;
}

const noRules: NetworkRules = { offers: () => true, leastConfirmations: () => 0 };

/**
 * All currencies in memory, refreshed every few seconds, so that quotes and lists cost no I/O.
 * `rows` is a new array after a change and the same array otherwise. A currency whose network is
 * off is inactive here. The row's confirmations are raised to the finality of its network.
 */
export class CurrencyCatalogue {
  readonly #orm: MikroORM;
  readonly #log: Log;
  readonly #rules: NetworkRules;
  #rows: readonly Currency[] = [];
  /** The fingerprint of the stored rows; null when there are none. */
  #fingerprint: string | null = null;
  #byCoin = new Map<string, Currency[]>();
  #byAsset = new Map<string, Currency>();
  /** By chain and contract, in the form in which an address is stored. */
  #byContract = new Map<string, Currency>();
  #refreshing: Repeated | undefined;

  constructor(orm: MikroORM, log: Log, rules: NetworkRules = noRules) {
    this.#orm = orm;
    this.#log = log;
    this.#rules = rules;
  }

  /** Loads the catalogue and refreshes it until `stop`. Rejects when the first load fails. */
  async start(): Promise<void> {
    await this.refresh();
    this.#refreshing = repeat({
      task: () => this.refresh(),
      rhythm: every(refreshMs),
      onFailure: warning(this.#log, 'catalogue_refresh_failed', 'currencies not refreshed'),
    });
  }

  /** Begins no further refresh. A refresh under way may still end. */
  stop(): void {
    void this.#refreshing?.stop();
  }

  async refresh(): Promise<void> {
    const em = this.#orm.em.fork();
    // PostgreSQL first tells whether a row has changed. The process reads the rows, which delays
    // the requests of partners, only then.
    const [{ fingerprint } = { fingerprint: null }] = await sql<{ fingerprint: string | null }>(
      em,
      `select md5(string_agg(c::text, ',' order by id)) as fingerprint from currency c`,
    );
    if (fingerprint === this.#fingerprint) return;
    const stored = await em.find(Currency, {}, { orderBy: { coin: 'asc', network: 'asc' } });
    const rows = stored.map((row): Currency => {
      const copy = plain(row);
      copy.isActive &&= this.#rules.offers(row);
      copy.minConfirmations = Math.max(row.minConfirmations, this.#rules.leastConfirmations(row.network));
      return copy;
    });
    this.#fingerprint = fingerprint;
    this.#rows = rows;
    this.#byCoin = Map.groupBy(rows, (row) => row.coin);
    this.#byAsset = new Map(rows.map((row) => [assetKey(networkById(row.network)?.chain ?? '', row.contract), row]));
    this.#byContract = new Map(
      rows.flatMap((row): [string, Currency][] => {
        const { network, contract } = row;
        if (contract === null) return [];
        const check = checkAddress(network, contract, null);
        return [[assetKey(networkById(network)?.chain ?? '', check.ok ? check.address : contract), row]];
      }),
    );
  }

  /** Every currency, ordered by coin, then network. */
  get rows(): readonly Currency[] {
    return this.#rows;
  }

  /** Whether any currency is on the network, active or not. */
  hasNetwork(network: string): boolean {
    return this.#rows.some((row) => row.network === network);
  }

  /** The tickers of all currencies. */
  coins(): readonly string[] {
    return [...this.#byCoin.keys()];
  }

  /** The currency of a coin on a network, active or not. */
  find(coin: string, network: string): Currency | undefined {
    return this.#byCoin.get(coin)?.find((row) => row.network === network);
  }

  /** The currency of an asset, active or not. A null contract means the chain's own coin. */
  asset(chain: string, contract: string | null): Currency | undefined {
    return this.#byAsset.get(assetKey(chain, contract));
  }

  /**
   * The currency whose contract or mint has an address, on any network of the same chain, active or
   * not.
   *
   * @param address in its stored form.
   */
  contractAt(network: string, address: string): Currency | undefined {
    return this.#byContract.get(assetKey(networkById(network)?.chain ?? '', address));
  }

  /** Every asset of a chain that the gateway may hold: its currencies, and the coin of its fees. */
  assetsOf(chain: string): readonly Pick<Currency, 'coin' | 'network' | 'decimals' | 'contract'>[] {
    const assets = new Map(
      this.#rows.filter(({ network }) => networkById(network)?.chain === chain).map((row) => [row.contract, row]),
    );
    const gas = { ...this.gasCoin(chain), contract: null };
    return assets.has(null) ? [...assets.values()] : [gas, ...assets.values()];
  }

  /**
   * The coin in which a chain takes its fees.
   *
   * @throws Error for a chain that the product does not know.
   */
  gasCoin(chain: string): GasCoin {
    const coin = this.asset(chain, null) ?? foreignGasCoins[chain];
    if (!coin) throw new Error(`the coin of the fees on ${chain} is not known`);
    return coin;
  }

  /**
   * Finds the active currency of a coin and an optional network. A coin on one active network needs
   * no network. Decided in docs/adr/0007-network-may-be-left-out.md.
   */
  resolve(coin: string, network: string | undefined): ResolvedCurrency {
    const rows = this.#byCoin.get(coin);
    if (!rows) {
      const capital = coin.toUpperCase();
      const hint = this.#byCoin.has(capital) ? `; did you mean ${capital}?` : '; GET /currencies lists all coins';
      return { ok: false, part: 'coin', kind: 'unknown_coin', detail: `there is no such coin${hint}` };
    }
    const active = rows.filter((row) => row.isActive);
    if (network !== undefined) {
      const row = rows.find((candidate) => candidate.network === network);
      if (!row) {
        const networks = active.map((candidate) => candidate.network).join(', ') || 'none at present';
        return { ok: false, part: 'network', kind: 'unknown_network', detail: `${coin} is on: ${networks}` };
      }
      if (!row.isActive) {
        return { ok: false, part: 'network', kind: 'currency_inactive', detail: `${coin} on ${network} is not active` };
      }
      return { ok: true, currency: row };
    }
    const [only, second] = active;
    if (!only) return { ok: false, part: 'coin', kind: 'currency_inactive', detail: `${coin} is not active` };
    if (second) {
      const networks = active.map((candidate) => candidate.network).join(', ');
      return {
        ok: false,
        part: 'network',
        kind: 'network_required',
        detail: `${coin} is on several networks; name one of: ${networks}`,
      };
    }
    return { ok: true, currency: only };
  }
}

/**
 * Copies a row into a plain object, which is quicker to read than the mapper's entity and is never
 * written back.
 */
function plain(row: Currency): Currency {
  return {
    id: row.id,
    coin: row.coin,
    network: row.network,
    name: row.name,
    isActive: row.isActive,
    isDepositEnabled: row.isDepositEnabled,
    isWithdrawEnabled: row.isWithdrawEnabled,
    minAmount: row.minAmount,
    maxAmount: row.maxAmount,
    minConfirmations: row.minConfirmations,
    decimals: row.decimals,
    isMemo: row.isMemo,
    networkFee: row.networkFee,
    contract: row.contract,
    explorerTxUrl: row.explorerTxUrl,
    explorerAddressUrl: row.explorerAddressUrl,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  };
}

function assetKey(chain: string, contract: string | null): string {
  return `${chain} ${contract ?? ''}`;
}
