import { familyOf, type NetworkConfig } from '../../../src/chains/families/families.ts';
import { LiveNetworks } from '../../../src/chains/families/live-networks.ts';
import { assetId, mainChainId, sandboxChainId } from '../../../src/chains/networks/caip.ts';
import { allNetworks, networkById } from '../../../src/chains/networks/networks.ts';
import { Assets } from '../../../src/market/currencies/assets.ts';
import { currencySeed } from '../../../src/market/currencies/seed.ts';

/** https://standards.chainagnostic.org/CAIPs/caip-2 and caip-19 */
const chainId = /^[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}$/;
const asset = /^[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}\/[-a-z0-9]{3,8}:[-.%a-zA-Z0-9]{1,128}$/;

const chains = [...new Set(allNetworks().map(({ chain }) => chain))];
const main = (network: string) => mainChainId(networkById(network)?.chain ?? '');

function live(config: object): NetworkConfig {
  return config as NetworkConfig;
}

describe('the CAIP names', () => {
  it.each(chains)('of %s have the form of the standard, on the main network and on the sandbox', (chain) => {
    expect(mainChainId(chain)).toMatch(chainId);
    expect(sandboxChainId(chain)).toMatch(chainId);
  });

  it('are different for each chain and each currency of a fresh installation', () => {
    expect(new Set(chains.map(mainChainId)).size).toBe(chains.length);
    const names = currencySeed.map((row) => assetId(main(row.network), row));
    for (const name of names) expect(name).toMatch(asset);
    expect(new Set(names).size).toBe(currencySeed.length);
  });

  it.each([
    ['BTC', 'BTC', 'bip122:000000000019d6689c085ae165831e93/slip44:0'],
    ['ETH', 'ETH', 'eip155:1/slip44:60'],
    ['BNB', 'BSC', 'eip155:56/slip44:714'],
    ['USDT', 'TRC20', 'tron:728126428/trc20:TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'],
    ['USDC', 'SOL', 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp/token:EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'],
    ['USDC', 'XLM', 'stellar:pubnet/asset:USDC-GA5ZSEJYB37JRC5AVCIA5MOP4RHTM335X2KGX3IHOJAPP5RE34K4KZVN'],
    // An underscore is no character of a reference.
    ['USDT', 'TON', 'tvm:-239/jetton:EQCxE6mUtQJKFnGfaROTKOt1lZbDiiX1kCixRv7Nw2Id%5FsDs'],
  ])('of %s on %s are those of the namespaces', (coin, network, expected) => {
    const row = currencySeed.find((one) => one.coin === coin && one.network === network);
    if (!row) throw new Error('no such row');
    expect(assetId(main(network), row)).toBe(expected);
  });

  it('are unknown for an unknown chain, and for a token of a chain without tokens', () => {
    expect(() => mainChainId('nope')).toThrow('nope has no CAIP-2 name');
    expect(() => assetId('xrpl:0', { coin: 'USD', network: 'XRP', contract: 'r' })).toThrow('tokens on XRP');
  });
});

describe('a live network', () => {
  const ethereum = (id: number) => live({ kind: 'evm', chain: 'ethereum', chainId: id });
  const bitcoin = (net: string) => live({ kind: 'utxo', chain: 'bitcoin', net });
  const dogecoin = live({ kind: 'utxo', chain: 'dogecoin', net: 'main' });
  const litecoin = live({ kind: 'utxo', chain: 'litecoin', net: 'main' });

  it('has the name of the table when it is the main network', () => {
    for (const config of [ethereum(1), bitcoin('main'), dogecoin, litecoin]) {
      expect(familyOf(config).chainIdOf(config)).toBe(mainChainId(config.chain));
    }
  });

  it('has a separate name when it is a test network', () => {
    expect(familyOf(ethereum(11_155_111)).chainIdOf(ethereum(11_155_111))).toBe('eip155:11155111');
    expect(familyOf(bitcoin('test')).chainIdOf(bitcoin('test'))).toBe('bip122:000000000933ea01ad0ee984209779ba');
  });

  it('names its assets, and those of other chains keep the names of the sandbox', () => {
    const assets = new Assets(new LiveNetworks({ networks: [ethereum(1)], others: 'sandbox' } as never));
    expect(assets.of({ coin: 'ETH', network: 'ETH', contract: null })).toEqual({
      id: 'eip155:1/slip44:60',
      chainId: 'eip155:1',
      standsFor: null,
      tag: null,
    });
    expect(assets.of({ coin: 'XRP', network: 'XRP', contract: null })).toMatchObject({
      id: 'sandbox:ripple/slip44:144',
      standsFor: 'xrpl:0/slip44:144',
      tag: { name: 'destination tag', isUsual: true },
    });
  });
});
