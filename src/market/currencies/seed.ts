import { networkById } from '../../chains/networks/networks.ts';

/** A currency of a fresh installation. Amounts are decimal strings in the coin's units. */
export interface CurrencySeed {
  readonly coin: string;
  readonly network: string;
  readonly name: string;
  /** Decimals of the chain, or of the contract for a token. */
  readonly decimals: number;
  readonly minAmount: string;
  readonly maxAmount: string;
  readonly minConfirmations: number;
  readonly isMemo: boolean;
  /** The cost of a payout, in the coin's units. */
  readonly networkFee: string;
  /** URL with `{tx}` in place of a transaction's hash. */
  readonly explorerTxUrl: string | null;
  /** URL with `{address}` in place of an address. */
  readonly explorerAddressUrl: string | null;
  /** Contract, mint or issuer of a token on the main network; null for the network's own coin. */
  readonly contract: string | null;
}

/** Facts that all coins of a network share. */
interface NetworkFacts {
  readonly minConfirmations: number;
  readonly explorerTxUrl: string | null;
  readonly explorerAddressUrl: string | null;
}

function facts(minConfirmations: number, explorerTxUrl: string, explorerAddressUrl: string | null): NetworkFacts {
  return { minConfirmations, explorerTxUrl, explorerAddressUrl };
}

/**
 * Facts of a network whose explorer has the paths of Etherscan, as its sister sites and Blockscout
 * do.
 */
function etherscan(minConfirmations: number, host: string): NetworkFacts {
  return facts(minConfirmations, `https://${host}/tx/{tx}`, `https://${host}/address/{address}`);
}

function blockchair(minConfirmations: number, chain: string): NetworkFacts {
  const site = `https://blockchair.com/${chain}`;
  return facts(minConfirmations, `${site}/transaction/{tx}`, `${site}/address/{address}`);
}

const ethereum = etherscan(64, 'etherscan.io');
const bsc = etherscan(15, 'bscscan.com');
const tron = facts(20, 'https://tronscan.org/#/transaction/{tx}', 'https://tronscan.org/#/address/{address}');

const networkFacts: Readonly<Record<string, NetworkFacts>> = {
  BTC: etherscan(2, 'mempool.space'),
  LTC: etherscan(6, 'litecoinspace.org'),
  DOGE: blockchair(40, 'dogecoin'),
  BCH: blockchair(15, 'bitcoin-cash'),
  DASH: blockchair(6, 'dash'),
  ZEC: blockchair(24, 'zcash'),
  // Two epochs, after which a block is final.
  ETH: ethereum,
  ERC20: ethereum,
  // Deep, because reorgs of thousands of blocks hit the chain in 2020.
  ETC: etherscan(5000, 'etc.blockscout.com'),
  BSC: bsc,
  BEP20: bsc,
  POLYGON: etherscan(128, 'polygonscan.com'),
  ARBITRUM: etherscan(120, 'arbiscan.io'),
  OPTIMISM: etherscan(60, 'optimistic.etherscan.io'),
  BASE: etherscan(60, 'basescan.org'),
  AVAXC: etherscan(12, 'snowtrace.io'),
  // 19 super representatives make a block irreversible.
  TRX: tron,
  TRC20: tron,
  // A validated ledger is final, as is a closed ledger on Stellar and a committed block on Cosmos
  // Hub.
  XRP: facts(1, 'https://xrpscan.com/tx/{tx}', 'https://xrpscan.com/account/{address}'),
  XLM: facts(
    1,
    'https://stellar.expert/explorer/public/tx/{tx}',
    'https://stellar.expert/explorer/public/account/{address}',
  ),
  ATOM: facts(1, 'https://www.mintscan.io/cosmos/tx/{tx}', 'https://www.mintscan.io/cosmos/address/{address}'),
  TON: facts(10, 'https://tonviewer.com/transaction/{tx}', 'https://tonviewer.com/{address}'),
  // 31 votes on top root a block.
  SOL: facts(32, 'https://solscan.io/tx/{tx}', 'https://solscan.io/account/{address}'),
  ADA: facts(15, 'https://cardanoscan.io/transaction/{tx}', 'https://cardanoscan.io/address/{address}'),
  // Addresses are not public on the chain, so that no explorer shows them.
  XMR: facts(20, 'https://xmrchain.net/tx/{tx}', null),
  // Balances are on Asset Hub since 4 November 2025.
  DOT: facts(
    25,
    'https://assethub-polkadot.subscan.io/extrinsic/{tx}',
    'https://assethub-polkadot.subscan.io/account/{address}',
  ),
  ALGO: facts(10, 'https://explorer.perawallet.app/tx/{tx}/', 'https://explorer.perawallet.app/address/{address}/'),
  XTZ: facts(6, 'https://tzkt.io/{tx}', 'https://tzkt.io/{address}'),
};

/** Facts that a coin has on all its networks. */
interface Coin {
  readonly coin: string;
  readonly name: string;
  readonly minAmount: string;
  readonly maxAmount: string;
}

/** Facts of a coin that differ from network to network. */
interface Place {
  readonly network: string;
  readonly decimals: number;
  readonly networkFee: string;
  readonly contract: string | null;
}

function row(coin: Coin, place: Place): CurrencySeed {
  const common = networkFacts[place.network];
  const network = networkById(place.network);
  if (!common || !network) throw new Error(`${coin.coin} is on ${place.network}, which is not a network`);
  return { ...coin, ...place, ...common, isMemo: network.memo !== null };
}

function native(coin: Coin, network: string, decimals: number, networkFee: string): CurrencySeed {
  return row(coin, { network, decimals, networkFee, contract: null });
}

/** The rows of a token. Each place is: network, decimals, network fee, contract. */
function token(coin: Coin, ...places: readonly (readonly [string, number, string, string])[]): CurrencySeed[] {
  return places.map(([network, decimals, networkFee, contract]) =>
    row(coin, { network, decimals, networkFee, contract }),
  );
}

/** The currencies that a fresh installation starts with. */
export const currencySeed: readonly CurrencySeed[] = [
  native({ coin: 'BTC', name: 'Bitcoin', minAmount: '0.0003', maxAmount: '3' }, 'BTC', 8, '0.00005'),
  native({ coin: 'LTC', name: 'Litecoin', minAmount: '0.24', maxAmount: '2400' }, 'LTC', 8, '0.001'),
  native({ coin: 'DOGE', name: 'Dogecoin', minAmount: '120', maxAmount: '1200000' }, 'DOGE', 8, '2'),
  native({ coin: 'BCH', name: 'Bitcoin Cash', minAmount: '0.05', maxAmount: '480' }, 'BCH', 8, '0.0005'),
  native({ coin: 'DASH', name: 'Dash', minAmount: '0.7', maxAmount: '7000' }, 'DASH', 8, '0.002'),
  native({ coin: 'ZEC', name: 'Zcash', minAmount: '0.5', maxAmount: '5000' }, 'ZEC', 8, '0.005'),
  native({ coin: 'ETH', name: 'Ether', minAmount: '0.0065', maxAmount: '65' }, 'ETH', 18, '0.0005'),
  native({ coin: 'ETC', name: 'Ethereum Classic', minAmount: '0.9', maxAmount: '9000' }, 'ETC', 18, '0.01'),
  native({ coin: 'BNB', name: 'BNB', minAmount: '0.035', maxAmount: '340' }, 'BSC', 18, '0.0002'),
  native({ coin: 'POL', name: 'POL', minAmount: '50', maxAmount: '480000' }, 'POLYGON', 18, '0.1'),
  native({ coin: 'AVAX', name: 'Avalanche', minAmount: '0.75', maxAmount: '7500' }, 'AVAXC', 18, '0.005'),
  native({ coin: 'TRX', name: 'TRON', minAmount: '150', maxAmount: '1500000' }, 'TRX', 6, '1.5'),
  native({ coin: 'XRP', name: 'XRP', minAmount: '40', maxAmount: '380000' }, 'XRP', 6, '0.2'),
  native({ coin: 'XLM', name: 'Stellar Lumens', minAmount: '180', maxAmount: '1800000' }, 'XLM', 7, '0.1'),
  native({ coin: 'TON', name: 'Toncoin', minAmount: '3.6', maxAmount: '36000' }, 'TON', 9, '0.02'),
  native({ coin: 'ATOM', name: 'Cosmos Hub', minAmount: '3', maxAmount: '30000' }, 'ATOM', 6, '0.01'),
  native({ coin: 'SOL', name: 'Solana', minAmount: '0.13', maxAmount: '1300' }, 'SOL', 9, '0.001'),
  native({ coin: 'ADA', name: 'Cardano', minAmount: '45', maxAmount: '450000' }, 'ADA', 6, '0.8'),
  native({ coin: 'XMR', name: 'Monero', minAmount: '0.12', maxAmount: '1200' }, 'XMR', 12, '0.0002'),
  native({ coin: 'DOT', name: 'Polkadot', minAmount: '3.2', maxAmount: '32000' }, 'DOT', 10, '0.05'),
  native({ coin: 'ALGO', name: 'Algorand', minAmount: '130', maxAmount: '1300000' }, 'ALGO', 6, '0.1'),
  native({ coin: 'XTZ', name: 'Tezos', minAmount: '25', maxAmount: '250000' }, 'XTZ', 6, '0.1'),
  ...token(
    { coin: 'USDT', name: 'Tether USD', minAmount: '20', maxAmount: '200000' },
    ['ERC20', 6, '2', '0xdAC17F958D2ee523a2206206994597C13D831ec7'],
    ['TRC20', 6, '3', 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'],
    ['BEP20', 18, '0.1', '0x55d398326f99059fF775485246999027B3197955'],
    ['SOL', 6, '0.5', 'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB'],
    ['POLYGON', 6, '0.1', '0xc2132D05D31c914a87C6611C10748AEb04B58e8F'],
    ['ARBITRUM', 6, '0.15', '0xFd086bC7CD5C481DCC9C85ebE478A1C0b69FCbb9'],
    ['OPTIMISM', 6, '0.15', '0x94b008aA00579c1307B0EF2c499aD98a8ce58e58'],
    ['AVAXC', 6, '0.15', '0x9702230A8Ea53601f5cD2dc00fDBc13d4dF4A8c7'],
    ['TON', 6, '0.3', 'EQCxE6mUtQJKFnGfaROTKOt1lZbDiiX1kCixRv7Nw2Id_sDs'],
  ),
  ...token(
    { coin: 'USDC', name: 'USD Coin', minAmount: '20', maxAmount: '200000' },
    ['ERC20', 6, '2', '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48'],
    ['BEP20', 18, '0.1', '0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d'],
    ['SOL', 6, '0.5', 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'],
    ['POLYGON', 6, '0.1', '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359'],
    ['ARBITRUM', 6, '0.15', '0xaf88d065e77c8cC2239327C5EDb3A432268e5831'],
    ['OPTIMISM', 6, '0.15', '0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85'],
    ['BASE', 6, '0.15', '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'],
    ['AVAXC', 6, '0.15', '0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E'],
    ['XLM', 7, '0.1', 'GA5ZSEJYB37JRC5AVCIA5MOP4RHTM335X2KGX3IHOJAPP5RE34K4KZVN'],
  ),
  ...token({ coin: 'DAI', name: 'Dai', minAmount: '20', maxAmount: '200000' }, [
    'ERC20',
    18,
    '2',
    '0x6B175474E89094C44Da98b954EedeAC495271d0F',
  ]),
  ...token({ coin: 'LINK', name: 'Chainlink', minAmount: '1.4', maxAmount: '14000' }, [
    'ERC20',
    18,
    '0.15',
    '0x514910771AF9Ca656af840dff83E8264EcF986CA',
  ]),
  ...token({ coin: 'UNI', name: 'Uniswap', minAmount: '2.5', maxAmount: '26000' }, [
    'ERC20',
    18,
    '0.25',
    '0x1f9840a85d5aF5bf1D1762F925BDADdC4201F984',
  ]),
  ...token({ coin: 'SHIB', name: 'Shiba Inu', minAmount: '1100000', maxAmount: '11000000000' }, [
    'ERC20',
    18,
    '110000',
    '0x95aD61b0a150d79219dCF64E1E6Cc01f0B64C4cE',
  ]),
  ...token({ coin: 'PEPE', name: 'Pepe', minAmount: '1800000', maxAmount: '18000000000' }, [
    'ERC20',
    18,
    '180000',
    '0x6982508145454Ce325dDbE47a25d4ec3d2311933',
  ]),
  ...token({ coin: 'AAVE', name: 'Aave', minAmount: '0.16', maxAmount: '1600' }, [
    'ERC20',
    18,
    '0.016',
    '0x7Fc66500c84A76Ad7e9c93437bFc5Ac33E2DDaE9',
  ]),
  ...token({ coin: 'WBTC', name: 'Wrapped Bitcoin', minAmount: '0.0003', maxAmount: '3' }, [
    'ERC20',
    8,
    '0.00003',
    '0x2260FAC5E5542a773Aa44fBCfeDf7C193bc2C599',
  ]),
  ...token({ coin: 'ARB', name: 'Arbitrum', minAmount: '28', maxAmount: '280000' }, [
    'ARBITRUM',
    18,
    '0.2',
    '0x912CE59144191C1204E64559FE8253a0e49E6548',
  ]),
  ...token({ coin: 'OP', name: 'Optimism', minAmount: '12', maxAmount: '120000' }, [
    'OPTIMISM',
    18,
    '0.1',
    '0x4200000000000000000000000000000000000042',
  ]),
  ...token({ coin: 'CAKE', name: 'PancakeSwap', minAmount: '9', maxAmount: '90000' }, [
    'BEP20',
    18,
    '0.05',
    '0x0E09FaBB73Bd3Ade0a17ECC321fD13a19e81cE82',
  ]),
];
