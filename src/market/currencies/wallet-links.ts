import { Big, fractionDigits } from '../../base/money.ts';
import { paymentUri } from '../../chains/addresses/payment-uri.ts';
import type { LiveNetworks } from '../../chains/families/live-networks.ts';
import { networkById } from '../../chains/networks/networks.ts';
import type { Assets } from './assets.ts';
import type { CurrencyCatalogue } from './currency-catalogue.ts';
import { explorerUrl } from './explorer-url.ts';

/** A payment that an order waits for. The amount is plain decimal text. */
interface ExpectedPayment {
  readonly coinFrom: string;
  readonly networkFrom: string;
  readonly amountFromExpected: string;
  readonly depositAddress: string;
  readonly depositAddressTag: string | null;
}

/** What lies outside this product about a payment: wallets that make it, explorers that show it. */
export class WalletLinks {
  readonly #catalogue: CurrencyCatalogue;
  readonly #assets: Assets;
  readonly #networks: LiveNetworks;

  constructor(catalogue: CurrencyCatalogue, assets: Assets, networks: LiveNetworks) {
    this.#catalogue = catalogue;
    this.#assets = assets;
    this.#networks = networks;
  }

  /** Whether payments on a network move real money. */
  isOfValue(network: string): boolean {
    const chain = networkById(network)?.chain ?? '';
    return this.#networks.areOfValue && this.#networks.state(chain) === 'live';
  }

  /**
   * The URI that opens a wallet with the payment. Null for a currency that was removed, and for an
   * amount that is finer than the currency's decimals since they changed.
   */
  paymentUri(payment: ExpectedPayment): string | null {
    const currency = this.#catalogue.find(payment.coinFrom, payment.networkFrom);
    if (!currency || fractionDigits(new Big(payment.amountFromExpected)) > currency.decimals) return null;
    const { coin, network, contract, decimals } = currency;
    return paymentUri({
      coin,
      network,
      contract,
      decimals,
      chainId: this.#assets.of(currency).chainId,
      address: payment.depositAddress,
      tag: payment.depositAddressTag,
      amount: payment.amountFromExpected,
    });
  }

  /** The page of a block explorer. Null where there is none, and where coins have no value. */
  explorerUrl(coin: string, network: string, kind: 'transaction' | 'address', value: string): string | null {
    const currency = this.#catalogue.find(coin, network);
    return currency && this.isOfValue(network) ? explorerUrl(currency, kind, value) : null;
  }
}
