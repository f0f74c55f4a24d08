import {
  type BlockRef,
  type ChainAdapter,
  ChainError,
  type Cursor,
  type Holding,
  type Pending,
  type ScanResult,
  type SignedTx,
  type Transfer,
  type TxStatus,
} from '../../../src/chains/port/chain-adapter.ts';
import { sandboxTraits } from '../../../src/chains/sandbox/sandbox-tx.ts';

export const usdtContract = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';
export const t0 = '2027-01-01T00:00:00Z';

export interface Block {
  readonly ref: BlockRef;
  readonly transfers: Transfer[];
}

/** A chain in memory: blocks of transfers, and what the hot wallet holds. */
export class FakeChain implements ChainAdapter {
  readonly finalityDepth = 3;
  readonly blockToleranceSec = 0;
  readonly stalledAfterSec = 0;
  readonly reorgWindow = 10;
  readonly startHeight = 0;
  readonly traits = sandboxTraits;
  readonly chain: string;
  readonly hot = new Map<string | null, bigint>();
  readonly statuses = new Map<string, TxStatus>();
  blocks: Block[] = [];
  isAway = false;
  /** Called before each answer about balances. */
  onBalances: () => void = () => {};

  constructor(chain: string) {
    this.chain = chain;
    this.mine();
  }

  mine(transfers: Transfer[] = [], fork = ''): BlockRef {
    const height = this.blocks.length;
    const ref = { height, hash: `${this.chain}-${height}${fork}`, parent: this.blocks.at(-1)?.ref.hash ?? '' };
    this.blocks.push({ ref, transfers });
    return ref;
  }

  /** The cursor of a scanner that stands at a height. */
  cursor(height: number): BlockRef[] {
    return this.blocks.slice(Math.max(0, height - 9), height + 1).map(({ ref }) => ref);
  }

  async head(): Promise<BlockRef> {
    if (this.isAway) throw new ChainError('no_node', 'the node does not answer');
    return this.blocks.at(-1)?.ref ?? { height: 0, hash: '', parent: '' };
  }

  async start(height: number): Promise<Cursor> {
    return { window: this.cursor(height) };
  }

  async scan({ window }: Cursor, maxBlocks: number): Promise<ScanResult> {
    const { height: head } = await this.head();
    const kept = window.filter(({ height, hash }) => this.blocks[height]?.ref.hash === hash);
    const orphaned = window.filter((ref) => !kept.includes(ref)).reverse();
    const from = (kept.at(-1)?.height ?? 0) + 1;
    const blocks = this.blocks.slice(from, from + maxBlocks);
    return { orphaned, blocks, cursor: { window: [...kept, ...blocks.map(({ ref }) => ref)] }, head };
  }

  async pending(): Promise<Pending> {
    return { transfers: [], left: new Set() };
  }

  async balances(holdings: readonly Holding[], contract: string | null): Promise<readonly bigint[]> {
    this.onBalances();
    return holdings.map(({ address, tag }) =>
      address === `${this.chain}-hot`
        ? (this.hot.get(contract) ?? 0n)
        : this.blocks
            .flatMap(({ transfers }) => transfers)
            .filter((one) => one.address === address && one.contract === contract && (tag === null || one.tag === tag))
            .reduce((sum, { amount }) => sum + amount, 0n),
    );
  }

  async hotWallet(): Promise<Holding> {
    return { address: `${this.chain}-hot`, tag: null };
  }

  async status({ txid }: SignedTx): Promise<TxStatus> {
    return this.statuses.get(txid) ?? { state: 'unknown' };
  }

  prepare(): Promise<never> {
    throw new Error('reconciliation prepares nothing');
  }

  broadcast(): Promise<never> {
    throw new Error('reconciliation sends nothing');
  }
}

export interface OrderRow {
  readonly id: string;
  readonly name: string;
  readonly address: string;
  readonly tag: string | null;
}

export type Asset = readonly [coin: string, network: 'BTC' | 'TRC20' | 'TRX' | 'XRP'];

export const btc: Asset = ['BTC', 'BTC'];
export const usdt: Asset = ['USDT', 'TRC20'];
export const trx: Asset = ['TRX', 'TRX'];
export const xrp: Asset = ['XRP', 'XRP'];

export interface Place {
  readonly chain: 'bitcoin' | 'tron' | 'ripple';
  readonly contract: string | null;
  readonly decimals: number;
  /** What a payment there costs us. */
  readonly native: Asset;
  readonly cost: string;
}

export const places: Readonly<Record<Asset[1], Place>> = {
  BTC: { chain: 'bitcoin', contract: null, decimals: 8, native: btc, cost: '0.0001' },
  TRC20: { chain: 'tron', contract: usdtContract, decimals: 6, native: trx, cost: '5' },
  TRX: { chain: 'tron', contract: null, decimals: 6, native: trx, cost: '1' },
  XRP: { chain: 'ripple', contract: null, decimals: 6, native: xrp, cost: '0.00001' },
};

/** A database with orders at every stage, and the chains that agree with it. */
