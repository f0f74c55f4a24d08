import { LiveNetworks } from '../../../src/chains/families/live-networks.ts';
import { readNetworks } from '../../../src/chains/families/network-file.ts';
import { Assets } from '../../../src/market/currencies/assets.ts';
import { chainCoins } from '../../../src/market/currencies/chain-coins.ts';
import type { CurrencyCatalogue } from '../../../src/market/currencies/currency-catalogue.ts';
import { currencySeed } from '../../../src/market/currencies/seed.ts';
import { WalletLinks } from '../../../src/market/currencies/wallet-links.ts';

const catalogue = {
  find: (coin: string, network: string) =>
    currencySeed.find((seed) => seed.coin === coin && seed.network === network && coin !== 'DAI'),
} as unknown as CurrencyCatalogue;

/** Ethereum on a chain id, and all other chains in the sandbox or off. */
function linksOn(chainId: number | null): WalletLinks {
  const text = `networks:
  ethereum:
    kind: evm
    chain_id: ${chainId}
    nodes: [{ url: https://node.example/ }]
    start_height: 7
    max_fee_per_gas_gwei: "100"
    limits: { ETH: { per_payment: "1", per_day: "10" } }
`;
  const networks = new LiveNetworks(chainId === null ? null : readNetworks(text, 'x', chainCoins));
  return new WalletLinks(catalogue, new Assets(networks), networks);
}

const ether = {
  coinFrom: 'ETH',
  networkFrom: 'ETH',
  amountFromExpected: '1.5',
  depositAddress: '0xAb5801a7D398351b8bE11C439e05C5B3259aeC9B',
  depositAddressTag: null,
};
const explorer = (links: WalletLinks) => links.explorerUrl('ETH', 'ETH', 'transaction', '0xfeed');

describe('what lies outside about a payment', () => {
  it('is the wallet and the explorer of the main network, where coins have value', () => {
    const links = linksOn(1);
    expect(links.isOfValue('ETH')).toBe(true);
    expect(links.paymentUri(ether)).toMatch(/^ethereum:0x\w+@1\?value=1500000000000000000$/);
    expect(explorer(links)).toBe('https://etherscan.io/tx/0xfeed');
  });

  it('has the chain of a test network, and no explorer there', () => {
    const links = linksOn(11_155_111);
    expect(links.isOfValue('ETH')).toBe(false);
    expect(links.paymentUri(ether)).toContain('@11155111?');
    expect(explorer(links)).toBeNull();
  });

  it('has the form of the main network in a sandbox, and no explorer', () => {
    const links = linksOn(null);
    expect(links.isOfValue('ETH')).toBe(false);
    expect(links.paymentUri(ether)).toContain('@1?');
    expect(explorer(links)).toBeNull();
  });

  it('is nothing for a currency that was removed', () => {
    const links = linksOn(1);
    expect(links.paymentUri({ ...ether, coinFrom: 'DAI', networkFrom: 'ERC20' })).toBeNull();
    expect(links.explorerUrl('DAI', 'ERC20', 'address', '0x1')).toBeNull();
  });

  it('is no wallet for an amount that is finer than the coin has become', () => {
    expect(linksOn(1).paymentUri({ ...ether, amountFromExpected: '1.0000000000000000001' })).toBeNull();
  });
});
