/** How exchanges name networks, by the name of our chain. Compared without case. */
const names: Readonly<Record<string, readonly string[]>> = {
  bitcoin: ['BTC', 'Bitcoin'],
  litecoin: ['LTC', 'Litecoin'],
  dogecoin: ['DOGE', 'Dogecoin'],
  'bitcoin-cash': ['BCH', 'Bitcoin Cash'],
  dash: ['DASH', 'Dash'],
  zcash: ['ZEC', 'Zcash', 'Zcash (Transparent)'],
  ethereum: ['ETH', 'ERC20', 'Ether', 'Ether (Hex)', 'Ethereum'],
  'ethereum-classic': ['ETC', 'Ether Classic (Hex)', 'Ethereum Classic'],
  bsc: ['BSC', 'BEP20', 'BNB Smart Chain'],
  polygon: ['MATIC', 'POL', 'Polygon'],
  arbitrum: ['ARBITRUM', 'Arbitrum One'],
  optimism: ['OP', 'Optimism'],
  base: ['BASE'],
  avalanche: ['AVAXC', 'Avalanche C-Chain'],
  tron: ['TRX', 'TRC20', 'Tron'],
  ripple: ['XRP', 'Ripple XRP', 'XRP Ledger'],
  stellar: ['XLM', 'Stellar', 'Stellar XLM'],
  ton: ['TON', 'Toncoin'],
  cosmos: ['ATOM', 'Cosmos'],
  solana: ['SOL', 'Solana'],
  cardano: ['ADA', 'Cardano'],
  monero: ['XMR', 'Monero'],
  polkadot: ['DOT', 'Polkadot'],
  algorand: ['ALGO', 'Algorand'],
  tezos: ['XTZ', 'Tezos'],
};

const chains = new Map(
  Object.entries(names).flatMap(([chain, known]) => known.map((name) => [name.toLowerCase(), chain] as const)),
);

/**
 * The chain that an exchange means by the name of a network: 'TRX' of Binance, 'Tether USD (TRC20)'
 * or 'USDC - Arbitrum One (Unified)' of Kraken. Null for an unknown name.
 */
export function chainOfName(name: string | null): string | null {
  if (name === null) return null;
  const parts = [
    name,
    ...name.split(/\s+-\s+/),
    ...[...name.matchAll(/\(([^()]+)\)/g)].map(([, inner]) => inner ?? ''),
  ];
  for (const part of parts) {
    const chain = chains.get(
      part
        .replace(/\s*\(Unified\)$/i, '')
        .trim()
        .toLowerCase(),
    );
    if (chain !== undefined) return chain;
  }
  return null;
}
