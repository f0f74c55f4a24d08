import { addressExample } from '../../../src/chains/addresses/address.ts';
import { type PaymentRequest, paymentUri } from '../../../src/chains/addresses/payment-uri.ts';
import { mainChainId, sandboxChainId } from '../../../src/chains/networks/caip.ts';
import { networkById } from '../../../src/chains/networks/networks.ts';
import { currencySeed } from '../../../src/market/currencies/seed.ts';

const evm = '0xAb5801a7D398351b8bE11C439e05C5B3259aeC9B';
const usdt = '0xdAC17F958D2ee523a2206206994597C13D831ec7';

/** The payment of each currency of the catalogue: the amount, and the URI that wallets know. */
const known: Readonly<Record<string, readonly [amount: string, uri: string]>> = {
  'BTC BTC': ['0.10000001', 'bitcoin:{address}?amount=0.10000001'],
  'LTC LTC': ['2', 'litecoin:{address}?amount=2'],
  'DOGE DOGE': ['1200000', 'dogecoin:{address}?amount=1200000'],
  'BCH BCH': ['0.05', '{address}?amount=0.05'],
  'DASH DASH': ['0.7', 'dash:{address}?amount=0.7'],
  'ZEC ZEC': ['0.5', 'zcash:{address}?amount=0.5'],
  'ETH ETH': ['2.014', 'ethereum:{address}@1?value=2014000000000000000'],
  'ETC ETC': ['0.9', 'ethereum:{address}@61?value=900000000000000000'],
  'BNB BSC': ['0.035', 'ethereum:{address}@56?value=35000000000000000'],
  'POL POLYGON': ['50', 'ethereum:{address}@137?value=50000000000000000000'],
  'AVAX AVAXC': ['0.000000000000000001', 'ethereum:{address}@43114?value=1'],
  'TRX TRX': ['150', '{address}'],
  'XRP XRP': ['40', '{address}'],
  'XLM XLM': [
    '120.1234567',
    'web+stellar:pay?destination={address}&amount=120.1234567&memo=799719294&memo_type=MEMO_ID',
  ],
  'TON TON': ['3.6', '{address}'],
  'ATOM ATOM': ['3', '{address}'],
  'SOL SOL': ['0.13', 'solana:{address}?amount=0.13'],
  'ADA ADA': ['45', '{address}'],
  'XMR XMR': ['0.12', '{address}'],
  'DOT DOT': ['3.2', '{address}'],
  'ALGO ALGO': ['130', '{address}'],
  'XTZ XTZ': ['25', '{address}'],
  'USDT ERC20': ['99.5', 'ethereum:{contract}@1/transfer?address={address}&uint256=99500000'],
  'USDT TRC20': ['20', '{address}'],
  'USDT BEP20': ['99.5', 'ethereum:{contract}@56/transfer?address={address}&uint256=99500000000000000000'],
  'USDT SOL': ['20.000001', 'solana:{address}?amount=20.000001&spl-token={contract}'],
  'USDT POLYGON': ['20', 'ethereum:{contract}@137/transfer?address={address}&uint256=20000000'],
  'USDT ARBITRUM': ['20', 'ethereum:{contract}@42161/transfer?address={address}&uint256=20000000'],
  'USDT OPTIMISM': ['20', 'ethereum:{contract}@10/transfer?address={address}&uint256=20000000'],
  'USDT AVAXC': ['20', 'ethereum:{contract}@43114/transfer?address={address}&uint256=20000000'],
  'USDT TON': ['20', '{address}'],
  'USDC ERC20': ['20', 'ethereum:{contract}@1/transfer?address={address}&uint256=20000000'],
  'USDC BEP20': ['20', 'ethereum:{contract}@56/transfer?address={address}&uint256=20000000000000000000'],
  'USDC SOL': ['20', 'solana:{address}?amount=20&spl-token={contract}'],
  'USDC POLYGON': ['20', 'ethereum:{contract}@137/transfer?address={address}&uint256=20000000'],
  'USDC ARBITRUM': ['20', 'ethereum:{contract}@42161/transfer?address={address}&uint256=20000000'],
  'USDC OPTIMISM': ['20', 'ethereum:{contract}@10/transfer?address={address}&uint256=20000000'],
  'USDC BASE': ['20', 'ethereum:{contract}@8453/transfer?address={address}&uint256=20000000'],
  'USDC AVAXC': ['20', 'ethereum:{contract}@43114/transfer?address={address}&uint256=20000000'],
  'USDC XLM': [
    '20',
    'web+stellar:pay?destination={address}&amount=20&asset_code=USDC&asset_issuer={contract}&memo=799719294&memo_type=MEMO_ID',
  ],
  'DAI ERC20': ['20', 'ethereum:{contract}@1/transfer?address={address}&uint256=20000000000000000000'],
  'LINK ERC20': ['1.4', 'ethereum:{contract}@1/transfer?address={address}&uint256=1400000000000000000'],
  'UNI ERC20': ['2.5', 'ethereum:{contract}@1/transfer?address={address}&uint256=2500000000000000000'],
  'SHIB ERC20': [
    '11000000000',
    'ethereum:{contract}@1/transfer?address={address}&uint256=11000000000000000000000000000',
  ],
  'PEPE ERC20': ['1800000', 'ethereum:{contract}@1/transfer?address={address}&uint256=1800000000000000000000000'],
  'AAVE ERC20': ['0.16', 'ethereum:{contract}@1/transfer?address={address}&uint256=160000000000000000'],
  'WBTC ERC20': ['0.0003', 'ethereum:{contract}@1/transfer?address={address}&uint256=30000'],
  'ARB ARBITRUM': ['28', 'ethereum:{contract}@42161/transfer?address={address}&uint256=28000000000000000000'],
  'OP OPTIMISM': ['12', 'ethereum:{contract}@10/transfer?address={address}&uint256=12000000000000000000'],
  'CAKE BEP20': ['9', 'ethereum:{contract}@56/transfer?address={address}&uint256=9000000000000000000'],
};

const ether: PaymentRequest = {
  coin: 'ETH',
  network: 'ETH',
  contract: null,
  decimals: 18,
  chainId: 'eip155:1',
  address: evm,
  tag: null,
  amount: '1.5',
};

describe('the URI of a payment', () => {
  it('is tested for each currency of the catalogue', () => {
    expect(Object.keys(known).sort()).toEqual(currencySeed.map(({ coin, network }) => `${coin} ${network}`).sort());
  });

  it.each(currencySeed.map((seed) => [`${seed.coin} ${seed.network}`, seed] as const))('%s', (name, seed) => {
    const { coin, network, contract, decimals } = seed;
    const [amount, uri] = known[name] ?? ['', ''];
    const address = addressExample(network);
    const { chain, memo } = networkById(network) ?? { chain: '', memo: null };
    const tag = memo ? '799719294' : null;
    const request = { coin, network, contract, decimals, address, tag, amount };
    const expected = uri.replace('{address}', address).replace('{contract}', contract ?? '');
    expect(paymentUri({ ...request, chainId: mainChainId(chain) })).toBe(expected);
    // A sandbox stands for the main network.
    expect(paymentUri({ ...request, chainId: sandboxChainId(chain) })).toBe(expected);
  });

  it('names the chain of a test network, so that no wallet pays with real ether', () => {
    expect(paymentUri({ ...ether, chainId: 'eip155:11155111' })).toBe(
      `ethereum:${evm}@11155111?value=1500000000000000000`,
    );
  });

  it('keeps every digit, also of amounts beyond what a JavaScript number holds', () => {
    expect(paymentUri({ ...ether, amount: '90071992547.409930000000000001' })).toBe(
      `ethereum:${evm}@1?value=90071992547409930000000000001`,
    );
  });

  it('sends a text as a text memo on Stellar, escaped', () => {
    const request = { ...ether, coin: 'XLM', network: 'XLM', decimals: 7, address: 'GA5Z', amount: '1', tag: 'ab & c' };
    expect(paymentUri({ ...request, chainId: 'stellar:pubnet' })).toBe(
      'web+stellar:pay?destination=GA5Z&amount=1&memo=ab%20%26%20c&memo_type=MEMO_TEXT',
    );
  });

  it('is refused for an amount that the coin cannot have, and for an unknown network', () => {
    const token = { ...ether, network: 'ERC20', coin: 'USDT', contract: usdt, decimals: 6 };
    expect(() => paymentUri({ ...token, amount: '0.0000001' })).toThrow('finer than 6 decimals');
    expect(() => paymentUri({ ...ether, network: 'NOWHERE' })).toThrow('there is no network NOWHERE');
  });
});
