import { assetId, mainChainId } from '../chains/networks/caip.ts';
import type { LiveNetworks } from '../chains/networks/live-networks.ts';
import { type MemoRule, networkById } from '../chains/networks/networks.ts';
import type { Currency } from './currency.entity.ts';

/** The rule of a network for the text beside an address. */
export interface TagRule {
  /** What the network calls it: memo, destination tag, comment. */
  readonly name: MemoRule['name'];
  /** Its form, as a part of a sentence. */
  readonly format: string;
  /** Whether exchanges usually give one with their deposit addresses. */
  readonly isUsual: boolean;
}

/** What identifies a currency outside this product. */
export interface Asset {
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

  constructor(networks: LiveNetworks) {
    this.#networks = networks;
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
