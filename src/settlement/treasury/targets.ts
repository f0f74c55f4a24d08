import { checkAddress } from '../../chains/addresses/address.ts';
import { keyForms } from '../../chains/addresses/key-forms.ts';
import type { ChainAdapter, Holding } from '../../chains/port/chain-adapter.ts';
import type { CurrencyCatalogue } from '../../market/currencies/currency-catalogue.ts';

/** A hot wallet that a withdrawal of a coin can go to. */
interface Target {
  readonly chain: string;
  readonly coin: string;
  readonly network: string;
}

/** The hot wallets that coins can be withdrawn to. */
export class Targets {
  readonly #wallets: readonly { readonly chain: string; readonly wallet: Holding }[];
  readonly #catalogue: CurrencyCatalogue;

  constructor(wallets: readonly { readonly chain: string; readonly wallet: Holding }[], catalogue: CurrencyCatalogue) {
    this.#wallets = wallets;
    this.#catalogue = catalogue;
  }

  /** The ones that an address names, for a coin. Chains of one family share addresses. */
  of(coin: string, address: string, tag: string | null): Target[] {
    return this.#wallets.flatMap(({ chain, wallet }) => {
      const asset = this.#catalogue.assetsOf(chain).find((one) => one.coin === coin);
      if (!asset) return [];
      const { network } = asset;
      const check = checkAddress(network, address, tag);
      const own = new Set(keyForms(network, wallet.address).split(' '));
      // An address of another kind of chain has no other forms here.
      const forms = check.ok ? keyForms(network, check.address).split(' ') : [address];
      const isSame = forms.some((form) => own.has(form));
      const isTagged = wallet.tag === null || wallet.tag === tag;
      return isSame && isTagged ? [{ chain, coin, network }] : [];
    });
  }
}

/** Reads the hot wallets of all chains. */
export async function hotWallets({
  adapters,
  catalogue,
}: {
  readonly adapters: ReadonlyMap<string, Pick<ChainAdapter, 'chain' | 'hotWallet'>>;
  readonly catalogue: CurrencyCatalogue;
}): Promise<Targets> {
  const wallets: { chain: string; wallet: Holding }[] = [];
  for (const [chain, adapter] of adapters) wallets.push({ chain, wallet: await adapter.hotWallet() });
  return new Targets(wallets, catalogue);
}
