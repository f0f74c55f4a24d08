import { toUnits } from '../../base/money.ts';
import { confirmations, readCommon } from '../networks/common-section.ts';
import { type FileSection, oneOf } from '../networks/file-section.ts';
import type { ChainCoin, LiveNetwork, NodeConfig } from '../networks/network-config.ts';
import { readNode } from '../networks/node-section.ts';

/** The public network, and a private chain (`monerod --regtest`), whose addresses look the same. */
export type MoneroNet = 'main' | 'regtest';

export interface MoneroNetwork extends LiveNetwork {
  readonly kind: 'monero';
  readonly net: MoneroNet;
  readonly finality: number;
  /** The monero-wallet-rpc of the gateway, whose wallet sees and cannot spend. */
  readonly wallet: NodeConfig;
  /**
   * The monero-wallet-rpc of the signer, which has no daemon. Null in a file for gateways: only the
   * signer needs it.
   */
  readonly offlineWallet: NodeConfig | null;
}

export const moneroDecimals = 12;
/** Ten times what a payment with a dozen outputs costs. */
const dearestFee = '0.05';
/** Reorganisations of 18 blocks happened in 2025. */
const usualFinality = 20;

export function readMoneroSection(section: FileSection, chain: string, coins: readonly ChainCoin[]): MoneroNetwork {
  const net = section.required('net', oneOf<MoneroNet>('main', 'regtest'));
  const finality = section.optional('finality', confirmations(usualFinality), usualFinality);
  if (net === 'main' && finality < 10) section.fault('finality', 'must be at least 10', usualFinality);
  const wallet = readNode(section.section('wallet'));
  const offlineWallet = section.has('offline_wallet') ? readNode(section.section('offline_wallet')) : null;
  return {
    kind: 'monero',
    net,
    wallet,
    offlineWallet,
    ...readCommon(section, chain, finality, coins, new Map(), {
      pollMs: 10_000,
      reorgWindow: 100,
      stalledAfterSec: net === 'regtest' ? 0 : 5_400,
      maxFee: toUnits(dearestFee, moneroDecimals),
    }),
  };
}
