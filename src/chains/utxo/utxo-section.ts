import { toUnits } from '../../base/money.ts';
import { confirmations, readCommon, readReplaceAfterSec } from '../networks/common-section.ts';
import { decimalText, type FileSection, flag, oneOf, type Reader, wholeNumber } from '../networks/file-section.ts';
import type { ChainCoin, LiveNetwork } from '../networks/network-config.ts';
import type { UtxoNet } from '../networks/utxo-params.ts';

export interface UtxoNetwork extends LiveNetwork {
  readonly kind: 'utxo';
  /**
   * Main, test or regtest network of the coin: decides the form of addresses and the genesis block.
   */
  readonly net: UtxoNet;
  readonly finality: number;
  /** How long a payment waits for a block before it is replaced at a higher fee. */
  readonly replaceAfterSec: number;
  /** Bounds of the fee rate, in the smallest unit for 1,000 virtual bytes. */
  readonly feeFloor: bigint;
  readonly feeCeiling: bigint;
  /** Blocks within which a payment should confirm. */
  readonly feeTarget: number;
  /** Whether nodes and miners of the coin accept a replacement at a higher fee (BIP125). */
  readonly replaceable: boolean;
  /** Whether deposits are shown while they are in the mempool. */
  readonly mempool: boolean;
}

/** The longest Bitcoin-like transaction that nodes relay, in 1,000 virtual bytes. */
const longestTransaction = 100n;

/** Safe defaults of a Bitcoin-like coin. */
interface UtxoDefaults {
  readonly finality: number;
  /**
   * At least some 18 usual intervals: blocks come at random, and their timestamps are not exact.
   */
  readonly stalledAfterSec: number;
  /** In the coin for 1,000 virtual bytes. */
  readonly feeFloor: string;
  readonly feeCeiling: string;
  readonly replaceable: boolean;
}

/**
 * The lowest rates that nodes relay by default: 1 satoshi a byte, and for Dogecoin 0.001, of which
 * miners accept no less than ten times. Only Bitcoin's nodes accept a replacement by default.
 */
const utxoDefaults: Readonly<Record<string, UtxoDefaults>> = {
  bitcoin: { finality: 6, stalledAfterSec: 10_800, feeFloor: '0.00001', feeCeiling: '0.002', replaceable: true },
  litecoin: { finality: 6, stalledAfterSec: 5_400, feeFloor: '0.00001', feeCeiling: '0.002', replaceable: false },
  dogecoin: { finality: 40, stalledAfterSec: 3_600, feeFloor: '0.01', feeCeiling: '1', replaceable: false },
};

/** Decimals of all Bitcoin-like coins. */
const utxoDecimals = 8;

/** Reads the section of a Bitcoin-like chain in the file of networks. */
export function readUtxoSection(section: FileSection, chain: string, coins: readonly ChainCoin[]): UtxoNetwork {
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
      maxFee: ceiling * longestTransaction,
    }),
    replaceAfterSec: readReplaceAfterSec(section, 1800),
    feeFloor: floor,
    feeCeiling: ceiling,
    feeTarget: section.optional('fee_target', wholeNumber(1, 1008, 2), 2),
    replaceable: section.optional('replaceable', flag, defaults.replaceable),
    mempool: section.optional('mempool', flag, true),
  };
}
