import { networkById } from './networks.ts';

/** The names of a chain and its coins outside this product. */
interface CaipFacts {
  /** CAIP-2 name of the main network, https://github.com/ChainAgnostic/namespaces */
  readonly main: string;
  /** Type of the chain's own coin, https://github.com/satoshilabs/slips/blob/master/slip-0044.md */
  readonly coinType: number;
  /** The end of a token's CAIP-19 name. Null for chains whose tokens are not exchanged. */
  readonly token: ((contract: string, coin: string) => string) | null;
}

type Token = CaipFacts['token'];

/** Tokens that their contract alone names. */
const byContract =
  (standard: string): Token =>
  (contract) =>
    `${standard}:${escaped(contract)}`;

const erc20 = byContract('erc20');

/** An issued asset of Stellar has a code and an issuer. */
const stellarAsset: Token = (issuer, coin) => `asset:${escaped(coin)}-${escaped(issuer)}`;

/** A reference of CAIP-19 is made of letters, digits, `-` and `.`; others are percent-encoded. */
function escaped(text: string): string {
  return text.replace(
    /[^-.a-zA-Z0-9]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  );
}

function row(main: string, coinType: number, token: Token = null): CaipFacts {
  return { main, coinType, token };
}

/**
 * The facts of each chain.
 * - Chains like Bitcoin are named by the first 32 digits of their genesis block. Bitcoin Cash is
 *   named by its first own block, because it shares Bitcoin's genesis.
 * - EVM chains have their own coin's type where SLIP-44 has one, and ether's otherwise.
 * - The balances of Polkadot are on its Asset Hub.
 */
const facts: Readonly<Record<string, CaipFacts>> = {
  bitcoin: row('bip122:000000000019d6689c085ae165831e93', 0),
  litecoin: row('bip122:12a765e31ffd4059bada1e25190f6e98', 2),
  dogecoin: row('bip122:1a91e3dace36e2be3bf030a65679fe82', 3),
  'bitcoin-cash': row('bip122:000000000000000000651ef99cb9fcbe', 145),
  dash: row('bip122:00000ffd590b1485b3caadc19b22e637', 5),
  zcash: row('bip122:00040fe8ec8471911baa1db1266ea15d', 133),
  ethereum: row('eip155:1', 60, erc20),
  'ethereum-classic': row('eip155:61', 61, erc20),
  bsc: row('eip155:56', 714, erc20),
  polygon: row('eip155:137', 966, erc20),
  arbitrum: row('eip155:42161', 60, erc20),
  optimism: row('eip155:10', 60, erc20),
  base: row('eip155:8453', 60, erc20),
  avalanche: row('eip155:43114', 9005, erc20),
  tron: row('tron:728126428', 195, byContract('trc20')),
  ripple: row('xrpl:0', 144),
  stellar: row('stellar:pubnet', 148, stellarAsset),
  ton: row('tvm:-239', 607, byContract('jetton')),
  cosmos: row('cosmos:cosmoshub-4', 118),
  solana: row('solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp', 501, byContract('token')),
  cardano: row('cip34:1-764824073', 1815),
  monero: row('monero:418015bb9ae982a1975da7d79277c270', 128),
  polkadot: row('polkadot:68d56f15f85d3136970ec16946040bc1', 354),
  algorand: row('algorand:wGHE2Pwdvd7S12BL5FaOP20EGYesN73k', 283),
  tezos: row('tezos:NetXdQprcVkpaWU', 1729),
};

/** A coin on one of the networks of the product. */
interface NetworkCoin {
  readonly coin: string;
  readonly network: string;
  /** Null for the network's own coin. */
  readonly contract: string | null;
}

/**
 * CAIP-2 name of the main network of a chain.
 *
 * @throws Error for a chain that the product does not know.
 */
export function mainChainId(chain: string): string {
  return factsOf(chain).main;
}

/**
 * CAIP-2 name of a sandbox chain. It has a separate namespace, so that a wallet cannot take its
 * coins for those of the main network.
 */
export function sandboxChainId(chain: string): string {
  return `sandbox:${chain}`;
}

/**
 * CAIP-19 name of a coin on the chain with this CAIP-2 name.
 *
 * @throws Error for an unknown network, or a token of a chain without tokens.
 */
export function assetId(chainId: string, { coin, network, contract }: NetworkCoin): string {
  const { coinType, token } = factsOf(networkById(network)?.chain ?? network);
  if (contract === null) return `${chainId}/slip44:${coinType}`;
  if (!token) throw new Error(`tokens on ${network} have no CAIP-19 name`);
  return `${chainId}/${token(contract, coin)}`;
}

function factsOf(chain: string): CaipFacts {
  const found = facts[chain];
  if (!found) throw new Error(`${chain} has no CAIP-2 name`);
  return found;
}
