import { fromUnits, toUnits } from '../money.ts';
import { checkAddress } from './address.ts';
import { maxGas, plainGas } from './evm/evm-tx.ts';
import { chainIdsOf, evmChains, usualStallSec } from './evm-chain-ids.ts';
import {
  BadValue,
  decimalText,
  didYouMean,
  type FileSection,
  flag,
  oneOf,
  type Reader,
  wholeNumber,
} from './file-section.ts';
import type {
  ChainCoin,
  CoinLimits,
  EvmNetwork,
  LiveNetwork,
  NetworkConfig,
  UtxoNetwork,
  WalletLevels,
} from './network-config.ts';
import { networkById, networkOfChain } from './networks.ts';
import { readNode } from './node-section.ts';
import { utxoChains } from './utxo/utxo-params.ts';

/**
 * Reads the network of a chain out of the section that names it. Faults are noted there.
 *
 * @param coins The coins of the catalogue on the chain.
 * @returns null for a chain that no adapter serves.
 */
export function readNetwork(parent: FileSection, chain: string, coins: readonly ChainCoin[]): NetworkConfig | null {
  const kind = evmChains.includes(chain) ? 'evm' : utxoChains.includes(chain) ? 'utxo' : null;
  const section = parent.section(chain);
  if (kind === null) {
    parent.fault(chain, noAdapter(chain));
    return null;
  }
  const given = section.required('kind', oneOf(kind, kind === 'evm' ? 'utxo' : 'evm'));
  if (given !== kind) section.fault('kind', `does not fit ${chain}`, kind);
  const network = kind === 'evm' ? readEvm(section, chain, coins) : readUtxo(section, chain, coins);
  section.end();
  return network;
}

function noAdapter(chain: string): string {
  const network = networkById(chain) ?? networkById(chain.toUpperCase());
  if (networkOfChain(chain)) {
    return `cannot be live: no adapter for ${chain} has been tested against a real node; leave it out, and it is off`;
  }
  if (network) return `is unknown: a chain is named here; did you mean ${network.chain}?`;
  return `is unknown${didYouMean(chain, [...evmChains, ...utxoChains])}`;
}

function readEvm(section: FileSection, chain: string, coins: readonly ChainCoin[]): EvmNetwork {
  const chainId = section.required('chain_id', chainIdReader(chain));
  // Ethereum Classic has no final blocks, https://github.com/etclabscore/core-geth
  const finality =
    chain === 'ethereum-classic'
      ? section.required('finality', evmFinality(5000))
      : section.optional('finality', evmFinality('finalized'), 'finalized');
  const tokens = readTokens(section, chain, coins);
  const maxFeePerGas = toUnits(
    section.required('max_fee_per_gas_gwei', decimalText(gweiDecimals, '200')),
    gweiDecimals,
  );
  return {
    kind: 'evm',
    chainId,
    tokens,
    ...readCommon(section, chain, finality, coins, tokens, {
      pollMs: 3_000,
      reorgWindow: 128,
      stalledAfterSec: usualStallSec(chain, chainId),
      replaceAfterSec: 180,
      maxFee: maxFeePerGas * dearestGas,
    }),
    internalTransfers: section.optional('internal_transfers', oneOf('balances', 'trace', 'none'), 'balances'),
    maxFeePerGas,
    maxPaymentGas: readGas(section, 'max_payment_gas', chain === 'arbitrum' ? dearestGas : paymentGas),
    maxTokenGas: readGas(section, 'max_token_gas', chain === 'arbitrum' ? dearestGas : tokenGas),
  };
}

const gweiDecimals = 9;
/** No payment and no sweep takes more units of gas, even of a token with rules of its own. */
const dearestGas = 1_000_000n;
/**
 * A plain account takes 21,000. Wallets that are contracts take up to 30,000 more, since many senders give them no
 * more than 2,300.
 */
const paymentGas = 60_000n;
/** Usual tokens take 35,000 to 65,000, those with rules of their own up to 300,000. */
const tokenGas = 500_000n;

/** Arbitrum counts its place on the first layer as gas, https://docs.arbitrum.io/how-arbitrum-works/gas-fees */
function readGas(section: FileSection, name: string, usual: bigint): bigint {
  const good = Number(usual);
  return BigInt(section.optional(name, wholeNumber(Number(plainGas), Number(maxGas), good), good));
}
/** Of a Bitcoin-like transaction that nodes relay, in 1,000 virtual bytes. */
const longestTransaction = 100n;
/** The fees of a day, unless they are given, in the dearest transactions. */
const feesOfDay = 50n;

function chainIdReader(chain: string): Reader<number> {
  const known = chainIdsOf(chain);
  return {
    good: known[0] ?? 1,
    read(value) {
      if (typeof value !== 'number' || !known.includes(value)) {
        throw new BadValue(`must be one that is known for ${chain}: ${known.join(', ')}`);
      }
      return value;
    },
  };
}

function evmFinality(good: 'finalized' | number): Reader<EvmNetwork['finality']> {
  return {
    good,
    read(value) {
      if (value === 'safe' || value === 'finalized') return value;
      if (typeof value === 'string') throw new BadValue('must be finalized, safe, or a number of confirmations');
      return confirmations(64).read(value);
    },
  };
}

const confirmations = (good: number): Reader<number> => wholeNumber(1, 10_000, good);

function readTokens(section: FileSection, chain: string, coins: readonly ChainCoin[]): ReadonlyMap<string, string> {
  const tokens = section.section('tokens');
  const known = coins.filter(({ isToken }) => isToken).map(({ coin }) => coin);
  const found = new Map<string, string>();
  for (const coin of tokens.names()) {
    const contract = tokens.required(coin, contractReader(chain));
    if (!known.includes(coin)) tokens.fault(coin, `is no token of the catalogue on ${chain}${didYouMean(coin, known)}`);
    else if ([...found.values()].includes(contract)) tokens.fault(coin, 'has the contract of another token');
    else found.set(coin, contract);
  }
  return found;
}

/** In the form with its checksum, which the database keeps. */
function contractReader(chain: string): Reader<string> {
  return {
    good: '0xdAC17F958D2ee523a2206206994597C13D831ec7',
    read(value) {
      if (typeof value === 'number') throw new BadValue('must be text: write it in quotes');
      const check = checkAddress(networkOfChain(chain)?.id ?? '', String(value), null);
      if (!check.ok) throw new BadValue(`is no contract: ${check.detail}`);
      return check.address;
    },
  };
}

/** Figures of a Bitcoin-like coin that are safe where the file says nothing. */
interface UtxoDefaults {
  readonly finality: number;
  /** Some 18 usual intervals or more: blocks come by chance, and their times are not exact. */
  readonly stalledAfterSec: number;
  /** In the coin for 1,000 virtual bytes. */
  readonly feeFloor: string;
  readonly feeCeiling: string;
  readonly replaceable: boolean;
}

/**
 * The least that nodes relay by their own defaults: 1 satoshi a byte, and for Dogecoin 0.001, of which miners take no
 * less than ten times. Only Bitcoin's nodes take a replacement as a matter of course.
 */
const utxoDefaults: Readonly<Record<string, UtxoDefaults>> = {
  bitcoin: { finality: 6, stalledAfterSec: 10_800, feeFloor: '0.00001', feeCeiling: '0.002', replaceable: true },
  litecoin: { finality: 6, stalledAfterSec: 5_400, feeFloor: '0.00001', feeCeiling: '0.002', replaceable: false },
  dogecoin: { finality: 40, stalledAfterSec: 3_600, feeFloor: '0.01', feeCeiling: '1', replaceable: false },
};

/** Satoshis of all Bitcoin-like coins. */
const utxoDecimals = 8;

function readUtxo(section: FileSection, chain: string, coins: readonly ChainCoin[]): UtxoNetwork {
  const defaults = utxoDefaults[chain];
  if (!defaults) throw new Error(`${chain} has no defaults`);
  const net = section.required('net', oneOf('main', 'test', 'regtest'));
  const finality = section.optional('finality', confirmations(defaults.finality), defaults.finality);
  const rate = (good: string): Reader<string> => decimalText(utxoDecimals, good);
  const feeFloor = section.optional('fee_floor', rate(defaults.feeFloor), defaults.feeFloor);
  const feeCeiling = section.required('fee_ceiling', rate(defaults.feeCeiling));
  const [floor, ceiling] = [toUnits(feeFloor, utxoDecimals), toUnits(feeCeiling, utxoDecimals)];
  if (ceiling < floor) section.fault('fee_ceiling', 'must not be below fee_floor', defaults.feeCeiling);
  return {
    kind: 'utxo',
    net,
    ...readCommon(section, chain, finality, coins, new Map(), {
      pollMs: 10_000,
      reorgWindow: 100,
      stalledAfterSec: net === 'regtest' ? 0 : defaults.stalledAfterSec,
      replaceAfterSec: 1800,
      maxFee: ceiling * longestTransaction,
    }),
    feeFloor: floor,
    feeCeiling: ceiling,
    feeTarget: section.optional('fee_target', wholeNumber(1, 1008, 2), 2),
    replaceable: section.optional('replaceable', flag, defaults.replaceable),
    mempool: section.optional('mempool', flag, true),
  };
}

/** Figures of a network where the file says nothing. */
interface Usual extends Pick<LiveNetwork, 'pollMs' | 'reorgWindow' | 'stalledAfterSec' | 'replaceAfterSec'> {
  readonly maxFee: bigint;
}

/** What all networks have. */
function readCommon<Finality extends NetworkConfig['finality']>(
  section: FileSection,
  chain: string,
  finality: Finality,
  coins: readonly ChainCoin[],
  tokens: ReadonlyMap<string, string>,
  usual: Usual,
): LiveNetwork & { readonly finality: Finality } {
  const moved = coins.filter(({ coin, isToken }) => !isToken || tokens.has(coin));
  const nodes = section.list('nodes');
  if (nodes.length === 0) section.fault('nodes', 'needs at least one node', '[{ url: http://127.0.0.1:8545 }]');
  const number = (name: string, least: number, most: number, good: number): number =>
    section.optional(name, wholeNumber(least, most, good), good);
  const reorgWindow = number('reorg_window', 10, 20_000, usual.reorgWindow);
  // An order's payment must be final before a reorganisation can reach below what a scan follows.
  if (typeof finality === 'number' && reorgWindow <= finality) {
    section.fault('reorg_window', 'must be above finality', finality * 2);
  }
  return {
    chain,
    finality,
    nodes: nodes.map(readNode),
    startHeight: section.required('start_height', wholeNumber(0, 4_000_000_000, 21_500_000)),
    pollMs: number('poll_ms', 50, 600_000, usual.pollMs),
    reorgWindow,
    stalledAfterSec: number('stalled_after_sec', 0, 604_800, usual.stalledAfterSec),
    replaceAfterSec: number('replace_after_sec', 10, 604_800, usual.replaceAfterSec),
    limits: readLimits(section, moved),
    feeLimits: readFeeLimits(section, moved.find(({ isToken }) => !isToken)?.decimals ?? 0, usual.maxFee),
    levels: readLevels(section, moved),
    sweepFrom: readByCoin(section.section('sweep_from'), moved, (from, { coin, decimals }) =>
      from.required(coin, decimalText(decimals, '0.05')),
    ),
  };
}

/** Every coin that the chain moves needs its limits: the signer signs for no other. */
function readLimits(section: FileSection, moved: readonly ChainCoin[]): ReadonlyMap<string, CoinLimits> {
  const limits = section.section('limits');
  for (const { coin } of moved.filter((each) => !limits.has(each.coin))) {
    limits.fault(coin, 'is missing, and nothing is signed without a limit', "{ per_payment: '5', per_day: '60' }");
  }
  return readByCoin(limits, moved, (all, { coin, decimals }) => {
    const own = all.section(coin);
    const perPayment = own.required('per_payment', decimalText(decimals, '5'));
    const perDay = own.required('per_day', decimalText(decimals, '60'));
    if (toUnits(perDay, decimals) < toUnits(perPayment, decimals))
      own.fault('per_day', 'must not be below per_payment');
    own.end();
    return { perPayment, perDay };
  });
}

/** Bounds what a gateway that was taken over could burn: fees go to nobody whose limit counts. */
function readFeeLimits(
  section: FileSection,
  decimals: number,
  maxFee: bigint,
): { readonly perTransaction: string; readonly perDay: string } {
  const amount = (good: string): Reader<string> => decimalText(decimals, good);
  const perTransaction = section.optional('max_fee', amount('0.05'), fromUnits(maxFee, decimals));
  const most = fromUnits(toUnits(perTransaction, decimals) * feesOfDay, decimals);
  const perDay = section.optional('fees_per_day', amount('2'), most);
  if (toUnits(perDay, decimals) < toUnits(perTransaction, decimals)) {
    section.fault('fees_per_day', 'must not be below max_fee', most);
  }
  return { perTransaction, perDay };
}

function readLevels(section: FileSection, moved: readonly ChainCoin[]): ReadonlyMap<string, WalletLevels> {
  return readByCoin(section.section('wallet_levels'), moved, (all, { coin, decimals }) => {
    const own = all.section(coin);
    const low = own.required('low', decimalText(decimals, '2'));
    const high = own.optional<string | null>('high', decimalText(decimals, '40'), null);
    if (high !== null && toUnits(high, decimals) <= toUnits(low, decimals)) own.fault('high', 'must be above low');
    own.end();
    return { low, high };
  });
}

/** Members by coin, where each coin must be one that the chain moves. */
function readByCoin<T>(
  section: FileSection,
  moved: readonly ChainCoin[],
  read: (section: FileSection, coin: ChainCoin) => T,
): ReadonlyMap<string, T> {
  const found = new Map<string, T>();
  for (const name of section.names()) {
    const coin = moved.find((each) => each.coin === name);
    if (coin) found.set(name, read(section, coin));
    else section.fault(name, 'is neither the own coin of the chain nor among its tokens');
  }
  return found;
}
