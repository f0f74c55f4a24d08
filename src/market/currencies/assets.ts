import type { LiveNetworks } from '../../chains/families/live-networks.ts';
import { assetId, mainChainId } from '../../chains/networks/caip.ts';
import { type MemoRule, networkById } from '../../chains/networks/networks.ts';
import type { Currency } from './currency.entity.ts';

/** The rule of a network for the text next to an address. */
interface TagRule {
  /** What the network calls it: memo, destination tag, comment. */
  readonly name: MemoRule['name'];
  /** Its form, as a part of a sentence. */
  readonly format: string;
  /** Whether exchanges usually give one with their deposit addresses. */
  readonly isUsual: boolean;
}

/** What identifies a currency outside this product. */
interface Asset {
  /** CAIP-19 name. */
  readonly id: string;
  /** CAIP-2 name of its chain. */
  readonly chainId: string;
  /** On a sandbox, the CAIP-19 name of the main network's asset. Null elsewhere. */
  readonly standsFor: string | null;
  /** Null when transactions on the network carry no tag. */
  readonly tag: TagRule | null;
}

/** Names the assets of the catalogue, as they are on the chains of this installation. */
export class Assets {
  readonly #networks: LiveNetworks;
  /** The names of the rows that were last asked for. */
  #named: { readonly rows: readonly Currency[]; readonly byName: ReadonlyMap<string, Currency> } | undefined;

  constructor(networks: LiveNetworks) {
    this.#networks = networks;
  }

  /** Finds the currency of a CAIP-19 name among rows, active or not. Null without one. */
  find(name: string, rows: readonly Currency[]): Currency | null {
    if (this.#named?.rows !== rows) {
      this.#named = { rows, byName: new Map(rows.map((row) => [comparable(this.of(row).id), row])) };
    }
    return this.#named.byName.get(comparable(name)) ?? null;
  }

  /** @throws Error for a currency on a network that the product does not know. */
  of(currency: Pick<Currency, 'coin' | 'network' | 'contract'>): Asset {
    const network = networkById(currency.network);
    if (!network) throw new Error(`there is no network ${currency.network}`);
    const { chain, memo } = network;
    const chainId = this.#networks.chainIdOf(chain);
    const isLive = this.#networks.state(chain) === 'live';
    return {
      id: assetId(chainId, currency),
      chainId,
      standsFor: isLive ? null : assetId(mainChainId(chain), currency),
      tag: memo && { name: memo.name, format: memo.looks, isUsual: memo.exchangesNeedIt },
    };
  }
}

/** Contracts of EVM tokens are numbers, whose digits have no case. */
function comparable(name: string): string {
  return name.includes('/erc20:') ? name.toLowerCase() : name;
}
