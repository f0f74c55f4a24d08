import type { ChainFamily } from '../chain-family.ts';
import { evmFamily } from '../evm/evm-family.ts';
import type { ChainKind, NetworkConfig, NetworkOfKind } from '../networks/network-config.ts';
import { utxoFamily } from '../utxo/utxo-family.ts';

/**
 * The table of families. A new kind of chain compiles only when it has its row here, and its reader
 * of the file's section in `network-section`. No other file asks for the kind.
 */
export const families: { readonly [Kind in ChainKind]: ChainFamily<NetworkOfKind<Kind>> } = {
  evm: evmFamily,
  utxo: utxoFamily,
};

export const chainKinds = Object.keys(families) as readonly ChainKind[];

export function familyOf<Network extends NetworkConfig>(network: Network): ChainFamily<Network> {
  // The compiler does not infer that a network's kind leads to the row of that network.
  return families[network.kind] as unknown as ChainFamily<Network>;
}

/** Decides, for all families, the form in which the process reads and writes addresses. */
export function useAddressForms(networks: readonly NetworkConfig[]): void {
  for (const kind of chainKinds) {
    const family = families[kind] as ChainFamily;
    family.useAddressForms(networks.filter((network) => network.kind === kind));
  }
}
