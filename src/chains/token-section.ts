import { checkAddress } from './addresses/address.ts';
import { BadValue, didYouMean, type FileSection, type Reader } from './networks/file-section.ts';
import type { ChainCoin } from './networks/network-config.ts';
import { networkOfChain } from './networks/networks.ts';

/**
 * Reads the contracts of the exchanged tokens, by coin, in the form that the database keeps.
 *
 * @param good The contract of a token on the chain, as an example.
 */
export function readTokens(
  section: FileSection,
  chain: string,
  coins: readonly ChainCoin[],
  good: string,
): ReadonlyMap<string, string> {
  const tokens = section.section('tokens');
  const known = coins.filter(({ isToken }) => isToken).map(({ coin }) => coin);
  const found = new Map<string, string>();
  for (const coin of tokens.names()) {
    const contract = tokens.required(coin, contractReader(chain, good));
    if (!known.includes(coin)) tokens.fault(coin, `is no token of the catalogue on ${chain}${didYouMean(coin, known)}`);
    else if ([...found.values()].includes(contract)) tokens.fault(coin, 'has the contract of another token');
    else found.set(coin, contract);
  }
  return found;
}

function contractReader(chain: string, good: string): Reader<string> {
  return {
    good,
    read(value) {
      if (typeof value === 'number') throw new BadValue('must be text: write it in quotes');
      const check = checkAddress(networkOfChain(chain)?.id ?? '', String(value), null);
      if (!check.ok) throw new BadValue(`is no contract: ${check.detail}`);
      return check.address;
    },
  };
}
