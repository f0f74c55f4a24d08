import { sandboxChainId } from '../networks/caip.ts';
import { allNetworks, networkById } from '../networks/networks.ts';
import { isOfValue } from './chain-identity.ts';
import { familyOf, type NetworkConfig } from './families.ts';
import type { NetworkFile } from './network-file.ts';

/**
 * live: a real network. sandbox: the built-in chains. off: the chain is not scanned, and its
 * currencies are not offered.
 */
type ChainState = 'live' | 'sandbox' | 'off';

/** The facts of a currency that decide whether its network can carry it. */
interface Asset {
  readonly coin: string;
  readonly network: string;
  readonly contract: string | null;
}

/** The state of each chain: live, sandbox or off. */
export class LiveNetworks {
  /** The settings of live chains, by chain. */
  readonly live: ReadonlyMap<string, NetworkConfig>;
  readonly #others: NetworkFile['others'];

  /** @param file Null without a file: all chains are the sandbox's. */
  constructor(file: NetworkFile | null) {
    this.live = new Map((file?.networks ?? []).map((network) => [network.chain, network]));
    this.#others = file?.others ?? 'sandbox';
  }

  state(chain: string): ChainState {
    return this.live.has(chain) ? 'live' : this.#others;
  }

  /** The chains in a state, in the order of the table of networks. */
  chains(state: ChainState): string[] {
    return [...new Set(allNetworks().map(({ chain }) => chain))].filter((chain) => this.state(chain) === state);
  }

  /** Whether coins on the live networks have value. A file never mixes networks of both kinds. */
  get areOfValue(): boolean {
    return [...this.live.values()].some(isOfValue);
  }

  /** CAIP-2 name of a chain in its present state. */
  chainIdOf(chain: string): string {
    const config = this.live.get(chain);
    return config ? familyOf(config).chainIdOf(config) : sandboxChainId(chain);
  }

  /** Confirmations below which no deposit counts; 0 when the currency alone decides. */
  leastConfirmations(networkId: string): number {
    const config = this.live.get(networkById(networkId)?.chain ?? '');
    return config ? familyOf(config).finalityDepth(config) : 0;
  }

  /**
   * The largest amount that the signer signs for one payment, as decimal text in the coin's units;
   * null without a limit.
   */
  paymentLimit(coin: string, networkId: string): string | null {
    const config = this.live.get(networkById(networkId)?.chain ?? '');
    return config?.limits.get(coin)?.perPayment ?? null;
  }

  /**
   * Whether orders can be made in a currency: its chain is scanned, and a token is one that the
   * settings name.
   */
  offers({ coin, network, contract }: Asset): boolean {
    const chain = networkById(network)?.chain ?? '';
    const config = this.live.get(chain);
    if (!config) return this.state(chain) === 'sandbox';
    return contract === null || config.tokens.has(coin);
  }
}
