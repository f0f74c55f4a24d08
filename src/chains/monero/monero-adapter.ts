import type { MadeAddresses } from '../addresses/own-addresses.ts';
import { blockToleranceSec } from '../networks/networks.ts';
import { Agreement } from '../nodes/agreement.ts';
import type { HttpNodeOptions } from '../nodes/http-node.ts';
import { RpcError } from '../nodes/json-rpc.ts';
import { NodeFault } from '../nodes/node-answer.ts';
import { Nodes } from '../nodes/nodes.ts';
import { scanBlocks, startCursor } from '../nodes/scan-blocks.ts';
import { ageSec, refuseStalled, stallProblems } from '../nodes/stalled.ts';
import {
  type BlockRef,
  type Broadcast,
  type ChainAdapter,
  ChainError,
  type Cursor,
  type Held,
  type Holding,
  type HotSpend,
  type NodeReport,
  type PaymentIntent,
  type Pending,
  type PreparedTx,
  type ScanResult,
  type SignedTx,
  type TxStatus,
} from '../port/chain-adapter.ts';
import type { Signer } from '../port/signer.ts';
import { txidDigits } from '../port/txid.ts';
import { MoneroDaemon } from './monero-daemon.ts';
import { chainProblems } from './monero-facts.ts';
import { MoneroPreparation } from './monero-preparation.ts';
import type { MoneroNetwork } from './monero-section.ts';
import { MoneroSource } from './monero-source.ts';
import { moneroSpend } from './monero-spend.ts';
import { moneroStatus } from './monero-status.ts';
import { moneroTraits } from './monero-traits.ts';
import { type MinedTransfer, minedTransfers, waitingTransfers } from './monero-transfers.ts';
import { MoneroWallet } from './monero-wallet.ts';
import { MoneroWatch } from './monero-watch.ts';

interface MoneroAdapterOptions {
  readonly network: MoneroNetwork;
  readonly hotWallet: string;
  readonly addresses: MadeAddresses;
  /** Null in a process that reads only. */
  readonly signer: Pick<Signer, 'viewKey' | 'keyImages'> | null;
  readonly rpc?: Pick<HttpNodeOptions, 'timeoutMs'>;
}

/**
 * The adapter of Monero. Daemons tell blocks and take transactions. One wallet, which sees and
 * cannot spend, tells what came to its subaddresses, and builds payments.
 */
export class MoneroAdapter implements ChainAdapter {
  readonly chain: string;
  readonly traits = moneroTraits;
  readonly finalityDepth: number;
  readonly reorgWindow: number;
  readonly startHeight: number;
  readonly blockToleranceSec: number;
  readonly pollMs: number;
  readonly stalledAfterSec: number;
  readonly #network: MoneroNetwork;
  readonly #hotWallet: string;
  readonly #wallet: MoneroWallet;
  readonly #watch: MoneroWatch;
  readonly #preparation: MoneroPreparation;
  readonly #nodes: Nodes<MoneroDaemon>;
  readonly #agreement: Agreement<MoneroDaemon>;
  /** The keys of the transfers that a scan has found in a block, by its hash. */
  readonly #told = new Map<string, string>();
  /** What needs several calls to the wallet is done by one after the other. */
  #last: Promise<unknown> = Promise.resolve();

  constructor({ network, hotWallet, addresses, signer, rpc = {} }: MoneroAdapterOptions) {
    const { chain, startHeight } = network;
    this.chain = chain;
    this.finalityDepth = network.finality;
    this.reorgWindow = network.reorgWindow;
    this.startHeight = startHeight;
    this.blockToleranceSec = blockToleranceSec(chain);
    this.pollMs = network.pollMs;
    this.stalledAfterSec = network.stalledAfterSec;
    this.#network = network;
    this.#hotWallet = hotWallet;
    this.#wallet = new MoneroWallet(network.wallet);
    this.#watch = new MoneroWatch({ chain, hotWallet, startHeight, wallet: this.#wallet, addresses, signer });
    this.#preparation = new MoneroPreparation({ network, hotWallet, wallet: this.#wallet });
    this.#nodes = new Nodes({
      chain,
      nodes: network.nodes.map((config) => new MoneroDaemon(config, rpc)),
      verify: (node) => this.#verify(node),
      height: async (node) => (await node.head()).height,
    });
    this.#agreement = new Agreement(this.#nodes);
  }

  head(): Promise<BlockRef> {
    return this.#ask((node) => node.head());
  }

  start(height: number): Promise<Cursor> {
    return this.#ask((node) => startCursor((at) => node.refAt(at), height));
  }

  scan(cursor: Cursor, maxBlocks: number): Promise<ScanResult> {
    return this.#inTurn((node) => this.#scan(node, cursor, maxBlocks));
  }

  pending(known: readonly string[]): Promise<Pending> {
    return this.#inTurn(async (node) => {
      const transfers = waitingTransfers(await this.#wallet.waiting());
      const waiting = await node.waiting();
      return {
        transfers: transfers.filter(({ txid }) => waiting.has(txid)),
        left: new Set(known.filter((txid) => !waiting.has(txid))),
      };
    });
  }

  /** What comes to a subaddress is the hot wallet's, so that all other addresses are empty. */
  balances(holdings: readonly Holding[], contract: string | null): Promise<readonly bigint[]> {
    if (contract !== null) throw new ChainError('no_tokens', `${this.chain} has no tokens`, { retryable: false });
    return this.#inTurn(async () => {
      const isHot = ({ address, tag }: Holding): boolean => address === this.#hotWallet && tag === null;
      if (!holdings.some(isHot)) return holdings.map(() => 0n);
      await this.#watch.read();
      const outputs = await this.#wallet.outputs('available');
      const total = outputs.reduce((sum, { amount }) => sum + amount, 0n);
      return holdings.map((holding) => (isHot(holding) ? total : 0n));
    });
  }

  async hotWallet(): Promise<Holding> {
    return { address: this.#hotWallet, tag: null };
  }

  prepare(intent: PaymentIntent, held: Held): Promise<PreparedTx> {
    return this.#inTurn(async (node) => {
      await this.#watch.read();
      await this.#watch.learnKeyImages();
      return this.#preparation.prepare(node, intent, held);
    });
  }

  /** To every node. One that has it already answers so, and one may refuse what is in a block. */
  broadcast({ txid, raw }: SignedTx): Promise<Broadcast> {
    return this.#agreement.broadcast(async (node): Promise<Broadcast> => {
      const { isAccepted, isKnown, isDoubleSpend } = await node.send(raw);
      if (isAccepted) return isKnown ? { outcome: 'known', code: null } : { outcome: 'accepted', code: null };
      const known = (await node.transactions([txid])).get(txid);
      if (known !== undefined) return { outcome: 'known', code: known.height === null ? null : 'on_chain' };
      return { outcome: 'rejected', code: isDoubleSpend ? 'double_spend' : 'refused' };
    });
  }

  /** Waits for no other question: a wallet that was made again reads blocks for hours. */
  status(tx: SignedTx): Promise<TxStatus> {
    const { finalityDepth } = this;
    return this.#ask((daemon) => moneroStatus({ daemon, wallet: this.#wallet, finalityDepth }, tx));
  }

  /** While it waits, null for a process without a signer, and with inputs of others. */
  async spent(txid: string): Promise<HotSpend | null> {
    const digits = txidDigits(txid);
    if (digits === null) return null;
    const parts = { wallet: this.#wallet, watch: this.#watch, hotWallet: this.#hotWallet };
    return this.#inTurn((daemon) => moneroSpend({ ...parts, daemon, finalityDepth: this.finalityDepth }, digits));
  }

  check(): Promise<readonly NodeReport[]> {
    return this.#nodes.report(async (node) => {
      const { net, isSynchronised } = await node.info();
      const genesis = (await node.refAt(0))?.hash ?? '';
      const head = await node.head();
      const sealedAt = Math.floor((head.timeMs ?? 0) / 1_000);
      const problems = [
        ...chainProblems(this.#network, net, genesis).map((fault) => `it ${fault}: change its URL`),
        ...(isSynchronised ? [] : ['it is still syncing: wait for it']),
        ...stallProblems(this.#network, sealedAt),
        ...(await this.#walletProblems()),
      ];
      return { head: head.height, lagSec: ageSec(sealedAt), isSyncing: !isSynchronised, problems };
    });
  }

  async #walletProblems(): Promise<string[]> {
    try {
      const found = await this.#wallet.address();
      if (found === null) return ['its wallet is not open yet: the gateway opens it when it reads the chain'];
      if (found !== this.#hotWallet) return ['its wallet is of other keys: give the gateway its own monero-wallet-rpc'];
      return await this.#watch.problems();
    } catch (error) {
      if (!(error instanceof ChainError || error instanceof RpcError)) throw error;
      return [`its wallet cannot be asked: ${error.message}`];
    }
  }

  /**
   * The daemon's blocks, with what the wallet found in them. The wallet may read another chain for
   * a moment. So the daemon must tell the same newest block before and after, and each transaction
   * must be in its block.
   */
  async #scan(node: MoneroDaemon, cursor: Cursor, maxBlocks: number): Promise<ScanResult> {
    const head = await node.head();
    if (head.timeMs !== undefined) refuseStalled(this.#network, Math.floor(head.timeMs / 1_000));
    const readTo = await this.#watch.read();
    if (head.hash !== cursor.window.at(-1)?.hash) await this.#tryKeyImages();
    const bottom = cursor.window[0]?.height ?? 0;
    const transfers = await this.#transfers(node, bottom, Math.min(head.height, readTo));
    const againFrom = this.#changedFrom(cursor, transfers);
    const source = new MoneroSource({ daemon: node, head: head.height, readTo, transfers, againFrom, maxBlocks });
    const result = await scanBlocks(this.chain, source, cursor, { maxBlocks, reorgWindow: this.reorgWindow });
    if ((await node.refAt(head.height))?.hash !== head.hash) {
      throw new ChainError('chain_changed', `${this.chain} was reorganised while it was read`);
    }
    this.#remember(result);
    return result;
  }

  async #transfers(node: MoneroDaemon, above: number, to: number): Promise<readonly MinedTransfer[]> {
    const arrived = (await this.#wallet.arrivals(above)).filter(({ height }) => height > above && height <= to);
    if (arrived.length === 0) return [];
    const known = await node.transactions([...new Set(arrived.map(({ txid }) => txid))]);
    if (arrived.some(({ txid, height }) => known.get(txid)?.height !== height)) {
      throw new ChainError('wallet_behind', `the wallet of ${this.chain} reads other blocks than its node tells`);
    }
    return minedTransfers(arrived, await this.#wallet.outputs('all'));
  }

  /** The lowest block of the window of which the wallet now tells something else than before. */
  #changedFrom({ window }: Cursor, transfers: readonly MinedTransfer[]): number | null {
    const changed = window.slice(1).find(({ hash, height }) => {
      const told = this.#told.get(hash);
      return told !== undefined && told !== keysAt(transfers, height);
    });
    return changed?.height ?? null;
  }

  #remember({ blocks, cursor }: ScanResult): void {
    for (const { ref, transfers } of blocks) this.#told.set(ref.hash, keysAt(transfers, null));
    const window = new Set(cursor.window.map(({ hash }) => hash));
    for (const hash of this.#told.keys()) if (!window.has(hash)) this.#told.delete(hash);
  }

  /** Keeps the balance right. A payment asks again, and is refused without. */
  async #tryKeyImages(): Promise<void> {
    try {
      await this.#watch.learnKeyImages();
    } catch (error) {
      if (!(error instanceof ChainError) || error.code !== 'signer_away') throw error;
    }
  }

  async #verify(node: MoneroDaemon): Promise<void> {
    const { net, isSynchronised } = await node.info();
    const faults = chainProblems(this.#network, net, (await node.refAt(0))?.hash ?? '');
    if (faults.length > 0) throw new NodeFault('unfit_node', faults.join('; '));
    if (!isSynchronised) throw new NodeFault('unfit_node', 'is still syncing');
  }

  #inTurn<T>(question: (node: MoneroDaemon) => Promise<T>): Promise<T> {
    const turn = this.#last.then(() => this.#ask(question));
    this.#last = turn.catch(() => {});
    return turn;
  }

  async #ask<T>(question: (node: MoneroDaemon) => Promise<T>): Promise<T> {
    try {
      return await this.#nodes.ask(question);
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      throw new ChainError('node_refused', `a node of ${this.chain} refuses: ${error.message}`, { cause: error });
    }
  }
}

/** The transfers of a block in one text. */
function keysAt(
  transfers: readonly { readonly key: string; readonly height?: number }[],
  height: number | null,
): string {
  const found = height === null ? transfers : transfers.filter((one) => one.height === height);
  return found
    .map(({ key }) => key)
    .sort()
    .join(' ');
}
