/** The codec that reads a network's addresses. */
export type AddressFamily =
  | 'bitcoin'
  | 'litecoin'
  | 'dogecoin'
  | 'bitcoin-cash'
  | 'dash'
  | 'zcash'
  | 'evm'
  | 'tron'
  | 'ripple'
  | 'stellar'
  | 'ton'
  | 'cosmos'
  | 'solana'
  | 'cardano'
  | 'monero'
  | 'polkadot'
  | 'algorand'
  | 'tezos';

/**
 * The source of deposit addresses.
 * - `derived`: an address for each order, derived from an account's public key.
 * - `shared`: one address, with a separate tag for each order.
 * - `pool`: keys without public derivation, so that the signer makes addresses ahead of time.
 */
export type DepositMode = 'derived' | 'shared' | 'pool';

/** The name of the text next to an address on a network, and its form. */
export interface MemoRule {
  readonly name: 'destination tag' | 'memo' | 'comment';
  readonly looks: string;
  /**
   * Whether exchanges usually give one with their deposit addresses. Payments to a user's own
   * wallet need none, so that a missing memo is no mistake by itself.
   */
  readonly exchangesNeedIt: boolean;
  accepts(tag: string): boolean;
}

/**
 * A network as partners name it. Two networks may be one chain: ETH is for ether, ERC20 for tokens.
 */
export interface Network {
  readonly id: string;
  readonly title: string;
  readonly chain: string;
  readonly family: AddressFamily;
  readonly deposit: DepositMode;
  /** Networks with the same keychain share keys and address form. */
  readonly keychain: string;
  /** BIP44 or BIP84 path of the account, https://github.com/satoshilabs/slips/blob/master/slip-0044.md */
  readonly accountPath: string;
  /** Null when transactions carry no memo. */
  readonly memo: MemoRule | null;
  /** Seconds by which the timestamp of a block may be wrong. */
  readonly blockToleranceSec: number;
}

/**
 * Visible ASCII. A space at an end would change the memo, and the recipient would not find the
 * payment.
 */
const printable = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/;
/**
 * Visible text of any language: no control, format, private or unpaired characters, and no line
 * separators.
 */
const visible = /^[^\p{C}\p{Z}]([^\p{C}\p{Zl}\p{Zp}]*[^\p{C}\p{Z}])?$/u;

const destinationTag: MemoRule = {
  name: 'destination tag',
  looks: 'a whole number from 0 to 4294967295',
  exchangesNeedIt: true,
  accepts: (tag) => /^(0|[1-9]\d{0,9})$/.test(tag) && BigInt(tag) <= 0xffffffffn,
};

/**
 * A number is sent as a memo id, other text as a text memo of at most 28 bytes.
 * https://developers.stellar.org/docs/learn/encyclopedia/transactions-specialized/memos
 */
const stellarMemo: MemoRule = {
  name: 'memo',
  looks: 'a whole number up to 18446744073709551615, or text of at most 28 bytes without spaces at its ends',
  exchangesNeedIt: true,
  accepts: (tag) =>
    /^\d+$/.test(tag)
      ? /^(0|[1-9]\d{0,19})$/.test(tag) && BigInt(tag) <= 0xffffffffffffffffn
      : tag.length <= 28 && visible.test(tag) && new TextEncoder().encode(tag).length <= 28,
};

const textMemo = (name: 'memo' | 'comment', length: number): MemoRule => ({
  name,
  looks: `text of at most ${length} visible ASCII characters without spaces at its ends`,
  exchangesNeedIt: true,
  accepts: (tag) => tag.length <= length && printable.test(tag),
});

/**
 * Miners of Bitcoin and similar coins set timestamps that are minutes wrong. On all other chains,
 * the protocol or the other validators hold the time of a block to within seconds.
 */
const minersClockSec = 600;
const validatorsClockSec = 15;
const minersFamilies: ReadonlySet<AddressFamily> = new Set([
  'bitcoin',
  'litecoin',
  'dogecoin',
  'bitcoin-cash',
  'dash',
  'zcash',
  'monero',
]);

function row(
  id: string,
  title: string,
  chain: string,
  family: AddressFamily,
  deposit: DepositMode,
  accountPath: string,
  memo: MemoRule | null = null,
  keychain: string = family,
): Network {
  const blockToleranceSec = minersFamilies.has(family) ? minersClockSec : validatorsClockSec;
  return { id, title, chain, family, deposit, keychain, accountPath, memo, blockToleranceSec };
}

const evmPath = "m/44'/60'/0'";

const networks: readonly Network[] = [
  row('BTC', 'Bitcoin', 'bitcoin', 'bitcoin', 'derived', "m/84'/0'/0'"),
  row('LTC', 'Litecoin', 'litecoin', 'litecoin', 'derived', "m/84'/2'/0'"),
  row('DOGE', 'Dogecoin', 'dogecoin', 'dogecoin', 'derived', "m/44'/3'/0'"),
  row('BCH', 'Bitcoin Cash', 'bitcoin-cash', 'bitcoin-cash', 'derived', "m/44'/145'/0'"),
  row('DASH', 'Dash', 'dash', 'dash', 'derived', "m/44'/5'/0'"),
  row('ZEC', 'Zcash', 'zcash', 'zcash', 'derived', "m/44'/133'/0'"),
  row('ETH', 'Ethereum', 'ethereum', 'evm', 'derived', evmPath),
  row('ERC20', 'Ethereum (ERC-20)', 'ethereum', 'evm', 'derived', evmPath),
  row('ETC', 'Ethereum Classic', 'ethereum-classic', 'evm', 'derived', evmPath),
  row('BSC', 'BNB Smart Chain', 'bsc', 'evm', 'derived', evmPath),
  row('BEP20', 'BNB Smart Chain (BEP-20)', 'bsc', 'evm', 'derived', evmPath),
  row('POLYGON', 'Polygon', 'polygon', 'evm', 'derived', evmPath),
  row('ARBITRUM', 'Arbitrum One', 'arbitrum', 'evm', 'derived', evmPath),
  row('OPTIMISM', 'Optimism', 'optimism', 'evm', 'derived', evmPath),
  row('BASE', 'Base', 'base', 'evm', 'derived', evmPath),
  row('AVAXC', 'Avalanche C-Chain', 'avalanche', 'evm', 'derived', evmPath),
  row('TRX', 'TRON', 'tron', 'tron', 'derived', "m/44'/195'/0'"),
  row('TRC20', 'TRON (TRC-20)', 'tron', 'tron', 'derived', "m/44'/195'/0'"),
  row('XRP', 'XRP Ledger', 'ripple', 'ripple', 'shared', "m/44'/144'/0'", destinationTag),
  row('XLM', 'Stellar', 'stellar', 'stellar', 'shared', "m/44'/148'/0'", stellarMemo),
  row('TON', 'TON', 'ton', 'ton', 'shared', "m/44'/607'/0'", textMemo('comment', 120)),
  row('ATOM', 'Cosmos Hub', 'cosmos', 'cosmos', 'shared', "m/44'/118'/0'", textMemo('memo', 256)),
  row('SOL', 'Solana', 'solana', 'solana', 'pool', "m/44'/501'"),
  row('ADA', 'Cardano', 'cardano', 'cardano', 'pool', "m/1852'/1815'/0'"),
  row('XMR', 'Monero', 'monero', 'monero', 'pool', "m/44'/128'/0'"),
  row('DOT', 'Polkadot', 'polkadot', 'polkadot', 'pool', "m/44'/354'/0'"),
  row('ALGO', 'Algorand', 'algorand', 'algorand', 'pool', "m/44'/283'"),
  row('XTZ', 'Tezos', 'tezos', 'tezos', 'pool', "m/44'/1729'"),
];

const byId = new Map(networks.map((network) => [network.id, network]));

/** Every network that the product knows. */
export function allNetworks(): readonly Network[] {
  return networks;
}

export function networkById(id: string): Network | undefined {
  return byId.get(id);
}

/** The first network of a chain, which stands for its keys and addresses. */
export function networkOfChain(chain: string): Network | undefined {
  return networks.find((network) => network.chain === chain);
}

/** Seconds by which the timestamp of a block of the chain may be wrong. */
export function blockToleranceSec(chain: string): number {
  return networkOfChain(chain)?.blockToleranceSec ?? minersClockSec;
}

/** Path of the hot wallet's key: the first address of the account next to that of the deposits. */
export function hotWalletPath({ accountPath }: Network): string {
  return `${accountPath.replace(/0'$/, "1'")}/0/0`;
}

/** Path of a deposit address's key. */
export function depositPath({ accountPath }: Network, index: number): string {
  return `${accountPath}/0/${index}`;
}

/** Whether a path is that of a deposit address's key. */
export function isDepositPath(network: Network, path: string): boolean {
  const index = Number(/\/(\d{1,10})$/.exec(path)?.[1] ?? Number.NaN);
  return index < 0x80000000 && path === depositPath(network, index);
}

/** The coin in which a chain takes its fees. */
export interface GasCoin {
  readonly coin: string;
  readonly network: string;
  readonly decimals: number;
  /** The usual cost of a transaction, in the coin's units. */
  readonly networkFee: string;
}

const ether = (network: string): GasCoin => ({ coin: 'ETH', network, decimals: 18, networkFee: '0.0001' });

/** Chains whose own coin is no currency of the catalogue: only their tokens are exchanged. */
export const foreignGasCoins: Readonly<Record<string, GasCoin>> = {
  arbitrum: ether('ARBITRUM'),
  optimism: ether('OPTIMISM'),
  base: ether('BASE'),
};
