import type { ExchangeName } from '../exchange.ts';

/** The exchanges' own names of the gateway's networks, by the gateway's id. */
const names: Readonly<Record<string, Readonly<Record<ExchangeName, string>>>> = {
  BTC: { binance: 'BTC', kraken: 'Bitcoin' },
  LTC: { binance: 'LTC', kraken: 'Litecoin' },
  DOGE: { binance: 'DOGE', kraken: 'Dogecoin' },
  BCH: { binance: 'BCH', kraken: 'Bitcoin Cash' },
  DASH: { binance: 'DASH', kraken: 'Dash' },
  ZEC: { binance: 'ZEC', kraken: 'Zcash' },
  ETH: { binance: 'ETH', kraken: 'Ethereum' },
  ERC20: { binance: 'ETH', kraken: 'Ethereum' },
  ETC: { binance: 'ETC', kraken: 'Ethereum Classic' },
  BSC: { binance: 'BSC', kraken: 'BNB Smart Chain' },
  BEP20: { binance: 'BSC', kraken: 'BNB Smart Chain' },
  POLYGON: { binance: 'MATIC', kraken: 'Polygon' },
  ARBITRUM: { binance: 'ARBITRUM', kraken: 'Arbitrum One' },
  OPTIMISM: { binance: 'OPTIMISM', kraken: 'Optimism' },
  BASE: { binance: 'BASE', kraken: 'Base' },
  AVAXC: { binance: 'AVAXC', kraken: 'Avalanche C-Chain' },
  TRX: { binance: 'TRX', kraken: 'Tron' },
  TRC20: { binance: 'TRX', kraken: 'Tron' },
  XRP: { binance: 'XRP', kraken: 'Ripple XRP' },
  XLM: { binance: 'XLM', kraken: 'Stellar XLM' },
  TON: { binance: 'TON', kraken: 'Toncoin' },
  ATOM: { binance: 'ATOM', kraken: 'Cosmos' },
  SOL: { binance: 'SOL', kraken: 'Solana' },
  ADA: { binance: 'ADA', kraken: 'Cardano' },
  XMR: { binance: 'XMR', kraken: 'Monero' },
  DOT: { binance: 'DOT', kraken: 'Polkadot' },
  ALGO: { binance: 'ALGO', kraken: 'Algorand' },
  XTZ: { binance: 'XTZ', kraken: 'Tezos' },
};

/** An exchange's own name of a network of the gateway; null where the exchange does not have it. */
export function venueNetwork(exchange: ExchangeName, networkId: string): string | null {
  return names[networkId]?.[exchange] ?? null;
}
