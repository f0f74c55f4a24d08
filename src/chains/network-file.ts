import { readFileSync } from 'node:fs';
import ipaddr from 'ipaddr.js';
import { LineCounter, parseDocument } from 'yaml';
import { fromUnits, toUnits } from '../money.ts';
import { checkAddress } from './address.ts';
import { chainIdsOf, evmChains, isMainChainId, usualStallSec } from './evm-chain-ids.ts';
import {
  BadValue,
  decimalText,
  didYouMean,
  FileSection,
  flag,
  oneOf,
  plainText,
  type Reader,
  wholeNumber,
} from './file-section.ts';
import type { CoinLimits, EvmNetwork, NetworkConfig, NodeConfig, UtxoNetwork, WalletLevels } from './network-config.ts';
import { networkById, networkOfChain } from './networks.ts';
import { utxoChains } from './utxo/utxo-params.ts';

/** A coin of a chain as the catalogue has it. */
export interface ChainCoin {
  readonly coin: string;
  readonly decimals: number;
  /** False for the chain's own coin, which pays its fees. */
  readonly isToken: boolean;
}

/** What a file of networks says. */
export interface NetworkFile {
  readonly networks: readonly NetworkConfig[];
  /** What becomes of chains that it does not name. */
  readonly others: 'off' | 'sandbox';
}

/** Thrown with every fault of a file of networks at once, each with its place. */
export class NetworkFileError extends Error {
  override readonly name = 'NetworkFileError';
  readonly problems: readonly string[];

  constructor(path: string, faults: readonly string[]) {
    super(`the file of networks ${path} cannot be used`);
    this.problems = faults.map((fault) => `${path}: ${fault}`);
  }
}

/** A file of networks is a few kilobytes. */
const mostBytes = 1_000_000;

/**
 * Reads a file of networks; networks.example.yaml explains each member. Secrets that it keeps in files of their own are
 * read as well.
 *
 * @param coinsOf The coins of the catalogue on a chain.
 * @throws NetworkFileError with all faults.
 */
export function loadNetworks(path: string, coinsOf: (chain: string) => readonly ChainCoin[]): NetworkFile {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    throw new NetworkFileError(path, ['the file cannot be read']);
  }
  return readNetworks(text, path, coinsOf);
}

/** The same for text that was read already. */
export function readNetworks(
  text: string,
  path: string,
  coinsOf: (chain: string) => readonly ChainCoin[],
): NetworkFile {
  const faults: string[] = [];
  const file = new FileSection(readYaml(text, path), '', faults);
  const others = file.optional('others', oneOf('off', 'sandbox'), 'off');
  const section = file.section('networks');
  const networks = section
    .names()
    .map((chain) => readNetwork(section, chain, coinsOf(chain)))
    .filter((network) => network !== null);
  if (section.names().length === 0)
    faults.push('networks names no network; leave the file out, and all is the sandbox');
  section.end();
  file.end();
  faults.push(...mixtures(networks, others));
  if (faults.length > 0) throw new NetworkFileError(path, faults);
  return { networks, others };
}

/** Whether coins on the network are money. */
export function isOfValue(network: NetworkConfig): boolean {
  return network.kind === 'utxo' ? network.net === 'main' : isMainChainId(network.chainId);
}

/** Coins that cost nothing must never buy coins that do. */
function mixtures(networks: readonly NetworkConfig[], others: NetworkFile['others']): string[] {
  const ofValue = networks.filter(isOfValue).map(({ chain }) => chain);
  const worthless = networks.filter((network) => !isOfValue(network)).map(({ chain }) => chain);
  if (ofValue.length === 0) return [];
  const faults: string[] = [];
  if (worthless.length > 0) {
    faults.push(
      `networks has main networks (${ofValue.join(', ')}) beside test networks (${worthless.join(', ')}), whose coins ` +
        'anybody gets for nothing; keep them in files and databases of their own',
    );
  }
  if (others === 'sandbox') {
    faults.push(`others may not be sandbox beside main networks (${ofValue.join(', ')}); a good value: off`);
  }
  return faults;
}

/** Positions without what stands there, which may be a secret. */
function readYaml(text: string, path: string): unknown {
  if (text.length > mostBytes) throw new NetworkFileError(path, ['the file is longer than a million characters']);
  const lines = new LineCounter();
  const document = parseDocument(text, { version: '1.2', prettyErrors: false, lineCounter: lines });
  const faults = [...document.errors, ...document.warnings].map(({ code, pos }) => {
    const { line, col } = lines.linePos(pos[0]);
    return `line ${line}, column ${col}: ${code.toLowerCase().replaceAll('_', ' ')}`;
  });
  if (faults.length > 0) throw new NetworkFileError(path, faults);
  try {
    return document.toJS({ mapAsMap: true, maxAliasCount: 100 });
  } catch {
    throw new NetworkFileError(path, ['an alias leads nowhere, or to too much']);
  }
}

function readNetwork(parent: FileSection, chain: string, coins: readonly ChainCoin[]): NetworkConfig | null {
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
  const common = readCommon(section, coins, tokens, {
    pollMs: 3_000,
    reorgWindow: 128,
    stalledAfterSec: usualStallSec(chain, chainId),
    replaceAfterSec: 180,
    maxFee: maxFeePerGas * dearestGas,
  });
  refuseShortWindow(section, common.reorgWindow, finality);
  return {
    kind: 'evm',
    chain,
    chainId,
    finality,
    tokens,
    ...common,
    internalTransfers: section.optional('internal_transfers', oneOf('balances', 'trace', 'none'), 'balances'),
    maxFeePerGas,
  };
}

const gweiDecimals = 9;
/** No payment and no sweep takes more units of gas, even of a token with rules of its own. */
const dearestGas = 1_000_000n;
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

/** An order's payment must be final before a reorganisation can reach below what a scan follows. */
function refuseShortWindow(section: FileSection, window: number, finality: EvmNetwork['finality']): void {
  if (typeof finality === 'number' && window <= finality) {
    section.fault('reorg_window', 'must be above finality', finality * 2);
  }
}

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
  const common = readCommon(section, coins, new Map(), {
    pollMs: 10_000,
    reorgWindow: 100,
    stalledAfterSec: net === 'regtest' ? 0 : defaults.stalledAfterSec,
    replaceAfterSec: 1800,
    maxFee: ceiling * longestTransaction,
  });
  refuseShortWindow(section, common.reorgWindow, finality);
  return {
    kind: 'utxo',
    chain,
    net,
    finality,
    ...common,
    feeFloor: floor,
    feeCeiling: ceiling,
    feeTarget: section.optional('fee_target', wholeNumber(1, 1008, 2), 2),
    replaceable: section.optional('replaceable', flag, defaults.replaceable),
    mempool: section.optional('mempool', flag, true),
  };
}

type Common = Omit<
  UtxoNetwork,
  'kind' | 'chain' | 'net' | 'finality' | 'feeFloor' | 'feeCeiling' | 'feeTarget' | 'replaceable' | 'mempool'
>;

function readCommon(
  section: FileSection,
  coins: readonly ChainCoin[],
  tokens: ReadonlyMap<string, string>,
  defaults: Pick<Common, 'pollMs' | 'reorgWindow' | 'stalledAfterSec' | 'replaceAfterSec'> & {
    readonly maxFee: bigint;
  },
): Common {
  const moved = coins.filter(({ coin, isToken }) => !isToken || tokens.has(coin));
  const nodes = section.list('nodes');
  if (nodes.length === 0) section.fault('nodes', 'needs at least one node', '[{ url: http://127.0.0.1:8545 }]');
  return {
    nodes: nodes.map(readNode),
    startHeight: section.required('start_height', wholeNumber(0, 4_000_000_000, 21_500_000)),
    pollMs: section.optional('poll_ms', wholeNumber(50, 600_000, defaults.pollMs), defaults.pollMs),
    reorgWindow: section.optional('reorg_window', wholeNumber(10, 20_000, defaults.reorgWindow), defaults.reorgWindow),
    stalledAfterSec: section.optional(
      'stalled_after_sec',
      wholeNumber(0, 604_800, defaults.stalledAfterSec),
      defaults.stalledAfterSec,
    ),
    replaceAfterSec: section.optional(
      'replace_after_sec',
      wholeNumber(10, 604_800, defaults.replaceAfterSec),
      defaults.replaceAfterSec,
    ),
    limits: readLimits(section, moved),
    feeLimits: readFeeLimits(section, moved.find(({ isToken }) => !isToken)?.decimals ?? 0, defaults.maxFee),
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

function readNode(section: FileSection): NodeConfig {
  const url = section.has('url_file')
    ? nodeUrl.read(secretOf(section, 'url', nodeUrl) ?? nodeUrl.good)
    : section.required('url', nodeUrl);
  const user = section.optional<string | null>('user', plainText('gateway'), null);
  const password = secretOf(section, 'password', plainText('<a long random text>'));
  if (password !== null && user === null) section.fault('user', 'is missing beside a password', 'gateway');
  const headers = { ...readHeaders(section, false), ...readHeaders(section, true) };
  section.end();
  return { url, user, password, headers };
}

/** A member that may stand in a file of its own, as `<name>_file`. Null where neither is there. */
function secretOf(section: FileSection, name: string, reader: Reader<string>): string | null {
  const inPlace = section.optional<string | null>(name, reader, null);
  const fileName = `${name}_file`;
  const path = section.optional<string | null>(fileName, plainText(`/run/secrets/${name}`), null);
  if (path === null) return inPlace;
  if (inPlace !== null) section.fault(fileName, `stands beside ${name}; keep one of the two`);
  return readSecret(section, fileName, path, reader);
}

function readSecret(section: FileSection, name: string, path: string, reader: Reader<string>): string | null {
  try {
    return reader.read(readFileSync(path, 'utf8').trim());
  } catch (error) {
    const what =
      error instanceof BadValue ? `names a file whose text ${error.message}` : 'names a file that cannot be read';
    section.fault(name, what, error instanceof BadValue ? reader.good : undefined);
    return null;
  }
}

function readHeaders(node: FileSection, inFiles: boolean): Record<string, string> {
  const section = node.section(inFiles ? 'header_files' : 'headers');
  const found: Record<string, string> = {};
  for (const name of section.names()) {
    const given = section.required(name, plainText(inFiles ? '/run/secrets/api-key' : '<the key of the provider>'));
    if (!/^[A-Za-z0-9-]{1,100}$/.test(name)) section.fault(name, 'is no name of a header', 'X-Api-Key');
    else found[name] = inFiles ? (readSecret(section, name, given, plainText('<the key>')) ?? '') : given;
  }
  return found;
}

const nodeUrl: Reader<string> = {
  good: 'https://node-1.example/',
  read(value) {
    if (typeof value !== 'string' || !URL.canParse(value)) throw new BadValue('must be a URL');
    const { protocol, hostname, username, password } = new URL(value);
    if (protocol !== 'http:' && protocol !== 'https:') throw new BadValue('must begin with https:// or http://');
    if (username !== '' || password !== '') {
      throw new BadValue('must hold no credentials; they go into user and password_file');
    }
    if (protocol === 'http:' && !isNear(hostname)) {
      throw new BadValue(
        'must begin with https:// beyond your own machines: who stands between could tell of any deposit',
      );
    }
    return value;
  },
};

/** This machine, a private network, or a name that only such a network knows. */
function isNear(hostname: string): boolean {
  const name = hostname.replace(/^\[|\]$/g, '');
  if (ipaddr.isValid(name)) {
    return ['loopback', 'private', 'uniqueLocal', 'linkLocal', 'carrierGradeNat'].includes(ipaddr.parse(name).range());
  }
  return !name.includes('.') || /\.(localhost|local|internal|lan|home\.arpa)$/.test(name);
}
