import { readEvmSection } from '../evm/evm-section.ts';
import { didYouMean, type FileSection, oneOf } from '../networks/file-section.ts';
import type { ChainCoin, ChainKind, NetworkConfig, NetworkOfKind } from '../networks/network-config.ts';
import { networkById, networkOfChain } from '../networks/networks.ts';
import { readUtxoSection } from '../utxo/utxo-section.ts';
import { chainKinds, families } from './families.ts';

type SectionReader<Network> = (section: FileSection, chain: string, coins: readonly ChainCoin[]) => Network;

/**
 * The reader of each kind's section. It is apart from the table of families, because only a process
 * with a file needs it.
 */
const readers: { readonly [Kind in ChainKind]: SectionReader<NetworkOfKind<Kind>> } = {
  evm: readEvmSection,
  utxo: readUtxoSection,
};

/**
 * Reads the network of a chain from the section that names it. Faults are recorded there.
 *
 * @param coins The coins of the catalogue on the chain.
 * @returns null for a chain that no adapter serves.
 */
export function readNetwork(parent: FileSection, chain: string, coins: readonly ChainCoin[]): NetworkConfig | null {
  const kind = chainKinds.find((each) => families[each].chains.includes(chain));
  const section = parent.section(chain);
  if (kind === undefined) {
    parent.fault(chain, noAdapter(chain));
    return null;
  }
  const given = section.required('kind', oneOf(kind, ...chainKinds.filter((each) => each !== kind)));
  if (given !== kind) section.fault('kind', `does not fit ${chain}`, kind);
  const network = readers[kind](section, chain, coins);
  section.end();
  return network;
}

function noAdapter(chain: string): string {
  const network = networkById(chain) ?? networkById(chain.toUpperCase());
  if (networkOfChain(chain)) {
    return `cannot be live: no adapter for ${chain} has been tested against a real node; leave it out, and it is off`;
  }
  if (network) return `is unknown: a chain is named here; did you mean ${network.chain}?`;
  return `is unknown${didYouMean(
    chain,
    chainKinds.flatMap((kind) => families[kind].chains),
  )}`;
}
