import { toUnits } from '../../base/money.ts';
import { confirmations, readCommon, readTwoNodesAbove } from '../networks/common-section.ts';
import { BadValue, type FileSection, oneOf, type Reader, wholeNumber } from '../networks/file-section.ts';
import type { ChainCoin, LiveNetwork } from '../networks/network-config.ts';
import { readTokens } from '../token-section.ts';

/** The public networks by the last four bytes of their block 0, and a private chain. */
type TronNet = keyof typeof chainIds | 'private';

export interface TronNetwork extends LiveNetwork {
  readonly kind: 'tron';
  readonly net: TronNet;
  /** Id of block 0 in hexadecimal; null where the name of the network is enough. */
  readonly genesis: string | null;
  /** A number of confirmations, or the newest block that the chain itself calls final. */
  readonly finality: number | 'solid';
  /** How internal transfers of contracts are found. */
  readonly internalTransfers: 'trace' | 'balances' | 'none';
  /**
   * By contract, '' for the chain's own coin. The most that deposits of a day may bring on the word
   * of one node. Above it they count only when a second node tells the same of them. No hash covers
   * the results of a block, and a node could make up a whole block. In the smallest unit.
   */
  readonly twoNodesAbove: ReadonlyMap<string, bigint>;
  /** Seconds from the newest final block until a payment that is in no block expires. */
  readonly expireAfterSec: number;
}

/** https://tronprotocol.github.io/documentation-en/api/json-rpc/node/eth_chainId/ */
const chainIds = { main: 0x2b6653dc, shasta: 0x94a9059e, nile: 0xcd8690dc } as const;

/** The number of a network: the last four bytes of its block 0. */
export function tronChainId({ net, genesis }: Pick<TronNetwork, 'net' | 'genesis'>): number {
  return net === 'private' ? Number.parseInt((genesis ?? '').slice(-8), 16) : chainIds[net];
}

/** Whether coins of the network with this number have a value. */
export function isTronOfValue(chainId: number): boolean {
  return chainId === chainIds.main;
}

/** Confirmations at which 19 of 27 producers have built on a block; a deposit waits for them. */
export const solidDepth = 20;
/** The chain takes no transaction that expires more than a day after its newest block. */
const longestExpirySec = 82_800;
const trxDecimals = 6;
/** A token transfer to a new holder costs a third of it. */
const dearestFee = '45';

export function readTronSection(section: FileSection, chain: string, coins: readonly ChainCoin[]): TronNetwork {
  const net = section.required('net', oneOf<TronNet>('main', 'shasta', 'nile', 'private'));
  const genesis = net === 'private' ? section.required('genesis', blockId) : section.optional('genesis', blockId, null);
  const isOther = genesis !== null && Number.parseInt(genesis.slice(-8), 16) !== tronChainId({ net, genesis });
  if (isOther) section.fault('genesis', `is not that of net ${net}; leave it out`);
  const finality = section.optional('finality', solidOr, 'solid');
  const tokens = readTokens(section, chain, coins, 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t');
  const common = readCommon(section, chain, finality, coins, tokens, {
    pollMs: 1_500,
    reorgWindow: 100,
    stalledAfterSec: net === 'private' ? 0 : 120,
    maxFee: toUnits(dearestFee, trxDecimals),
  });
  return {
    kind: 'tron',
    net,
    genesis,
    ...common,
    internalTransfers: section.optional('internal_transfers', oneOf('balances', 'trace', 'none'), 'balances'),
    twoNodesAbove: readTwoNodesAbove(section, coins, tokens),
    expireAfterSec: section.optional('expire_after_sec', wholeNumber(300, longestExpirySec, 1_800), 1_800),
  };
}

const blockId: Reader<string> = {
  good: '00000000000000001ebf88508a03865c71d452e25f4d51194196a1d22b6653dc',
  read(value) {
    if (typeof value !== 'string' || !/^0{16}[0-9a-f]{48}$/.test(value)) {
      throw new BadValue('must be the id of block 0: 64 hexadecimal digits in quotes, of which 16 are 0 first');
    }
    return value;
  },
};

const solidOr: Reader<number | 'solid'> = {
  good: 'solid',
  read(value) {
    if (value === 'solid') return value;
    if (typeof value === 'string') throw new BadValue('must be solid, or a number of confirmations');
    return confirmations(solidDepth).read(value);
  },
};
