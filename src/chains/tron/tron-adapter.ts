import { isDeepStrictEqual } from 'node:util';
import type { OwnAddresses } from '../addresses/own-addresses.ts';
import { blockToleranceSec } from '../networks/networks.ts';
import { Agreement } from '../nodes/agreement.ts';
import { HttpNode, type HttpNodeOptions } from '../nodes/http-node.ts';
import { ComparedDeposits } from '../nodes/lone-word.ts';
import { NodeFault } from '../nodes/node-answer.ts';
import { Nodes } from '../nodes/nodes.ts';
import { scanBlocks } from '../nodes/scan-blocks.ts';
import { refuseStalled } from '../nodes/stalled.ts';
import {
  type BlockRef,
  type Broadcast,
  type ChainAdapter,
  ChainError,
  type Cursor,
  type EarlierTx,
  type Held,
  type Holding,
  type HotSpend,
  type NodeReport,
  type PaymentIntent,
  type PreparedTx,
  type ScanResult,
  type SignedTx,
  type SweepCost,
  type TxStatus,
  type UsualCosts,
} from '../port/chain-adapter.ts';
import { txidDigits } from '../port/txid.ts';
import { RootDoubts } from './root-doubts.ts';
import { balancesOf, type FinalBalances, finalBalancesOf } from './tron-balances.ts';
import { type BlockReading, readScannedBlock, TronBlockSource } from './tron-block-source.ts';
import { usualCosts } from './tron-costs.ts';
import { chainFault } from './tron-facts.ts';
import { TronNode } from './tron-node.ts';
import { TronPreparation } from './tron-preparation.ts';
import { txidOf } from './tron-proof.ts';
import { tronReport } from './tron-report.ts';
import { solidDepth, type TronNetwork } from './tron-section.ts';
import { Sightings } from './tron-sightings.ts';
import { tronSpend } from './tron-spend.ts';
import { maxLooks, type SentTx, tronStatuses, unsettled } from './tron-status.ts';
import { tronTraits } from './tron-traits.ts';
import type { WatchedTokens } from './tron-transfers.ts';
import { decodePayload, digitsOf, encodeTronTx, openTronTx } from './tron-tx.ts';

interface TronAdapterOptions {
  readonly network: TronNetwork;
  /** Address of the wallet that pays. */
  readonly hotWallet: string;
  readonly addresses: OwnAddresses;
  /** Id of block 0; null or absent while it is not known. */
  readonly genesis?: string | null;
  /** Changes to the usual options of a node's HTTP. */
  readonly rpc?: Pick<HttpNodeOptions, 'timeoutMs'>;
}

const broadcastsAtOnce = 8;

export class TronAdapter implements ChainAdapter {
  readonly chain: string;
  readonly traits = tronTraits;
  readonly finalityDepth: number;
  readonly reorgWindow: number;
  readonly startHeight: number;
  readonly blockToleranceSec: number;
  readonly pollMs: number;
  readonly stalledAfterSec: number;
  readonly internalTransfers: TronNetwork['internalTransfers'];
  readonly missesInternalTransfers: boolean;
  readonly #network: TronNetwork;
  readonly #hotWallet: string;
  readonly #genesis: string | null;
  readonly #tokens: WatchedTokens;
  readonly #nodes: Nodes<TronNode>;
  readonly #preparation: TronPreparation;
  readonly #doubts: RootDoubts;
  readonly #agreement: Agreement<TronNode>;
  readonly #compared: ComparedDeposits<TronNode>;
  readonly #sightings = new Sightings();

  constructor({ network, hotWallet, addresses, genesis = null, rpc = {} }: TronAdapterOptions) {
    const { chain, nodes, tokens } = network;
    this.chain = chain;
    this.finalityDepth = network.finality === 'solid' ? solidDepth : network.finality;
    this.reorgWindow = network.reorgWindow;
    this.startHeight = network.startHeight;
    this.blockToleranceSec = blockToleranceSec(chain);
    this.pollMs = network.pollMs;
    this.stalledAfterSec = network.stalledAfterSec;
    this.internalTransfers = network.internalTransfers;
    this.missesInternalTransfers = network.internalTransfers === 'balances';
    this.#network = network;
    this.#hotWallet = hotWallet;
    this.#genesis = network.genesis ?? genesis;
    this.#tokens = new Map([...tokens.values()].map((contract) => [digitsOf(contract), contract]));
    this.#nodes = new Nodes({
      chain,
      nodes: nodes.map((node) => new TronNode(new HttpNode(node, { ...rpc, longNumbersAsText: true }))),
      verify: (node) => this.#verify(node),
      height: async (node) => (await node.head('newest')).ref.height,
    });
    this.#agreement = new Agreement(this.#nodes);
    this.#doubts = new RootDoubts(this.#nodes.operators);
    this.#compared = new ComparedDeposits({
      ...{ nodes: this.#nodes, limits: network.twoNodesAbove },
      ownOf: async (asked) => new Set([...(await addresses.indexes(asked)).keys(), hotWallet]),
      read: async (node, height) => (await readScannedBlock(this.#reading(node), height))?.scanned ?? null,
    });
    this.#preparation = new TronPreparation({ network, hotWallet, addresses });
  }

  head(): Promise<BlockRef> {
    return this.#nodes.ask(async (node) => (await node.head('newest')).ref);
  }

  start(height: number): Promise<Cursor> {
    return this.#nodes.ask(async (node) => {
      const header = await node.header(height);
      if (header === null) throw new ChainError('no_such_block', `there is no block ${height} yet`);
      return { window: [header.ref] };
    });
  }

  scan(cursor: Cursor, maxBlocks: number): Promise<ScanResult> {
    return this.#nodes.ask(async (node) => {
      const head = await node.head('newest');
      refuseStalled(this.#network, Math.floor(head.ref.timeMs / 1_000));
      // Read before the blocks, so that the blocks belong to a chain at least as new.
      const final = this.#network.finality === 'solid' ? { final: (await node.head('solid')).ref.height } : {};
      const top = cursor.window.at(-1);
      if (top?.hash === head.ref.hash) return { orphaned: [], blocks: [], cursor, head: head.ref.height, ...final };
      const source = new TronBlockSource({ ...this.#reading(node), head, maxHeight: (top?.height ?? 0) + maxBlocks });
      const result = await scanBlocks(this.chain, source, cursor, { maxBlocks, reorgWindow: this.reorgWindow });
      await this.#compared.refuseUnlike(node, result.blocks);
      return { ...result, ...final };
    });
  }

  /** Addresses of the chain have no tags, so that a holding with a tag is empty. */
  balances(holdings: readonly Holding[], contract: string | null): Promise<readonly bigint[]> {
    return this.#nodes.ask(async (node) => {
      const amounts = await balancesOf(
        node,
        holdings.map(({ address }) => address),
        contract,
        'newest',
      );
      return holdings.map(({ tag }, index) => (tag === null ? (amounts[index] ?? 0n) : 0n));
    });
  }

  /**
   * Where deposits of coins need a second node, it must tell the same: a balance that no deposit
   * explains is credited.
   */
  finalBalances(addresses: readonly string[], contract: string | null): Promise<FinalBalances> {
    const needsSecond = contract === null && this.#compared.isCompared({ contract });
    return this.#nodes.ask(async (node) => {
      if (!needsSecond) return finalBalancesOf(node, addresses, contract);
      for (let look = 1; look <= maxLooks; look += 1) {
        const [one, other] = await Promise.all([
          finalBalancesOf(node, addresses, contract),
          this.#nodes.askAnother(node, (second) => finalBalancesOf(second, addresses, contract)),
        ]);
        if (one.block.hash !== other?.block.hash) continue;
        if (isDeepStrictEqual(one.amounts, other.amounts)) return one;
        const message = `two nodes tell different balances of block ${one.block.height}: take the one that is wrong out of nodes`;
        throw new ChainError('nodes_disagree', message, { isOfChain: true });
      }
      throw unsettled();
    });
  }

  async hotWallet(): Promise<Holding> {
    return { address: this.#hotWallet, tag: null };
  }

  /**
   * Throws ChainError, besides the errors of a node:
   * - `insufficient_funds`;
   * - `no_gas`: a token's holder lacks the chain's own coin for the fee;
   * - `below_fee`: a sweep that would bring nothing;
   * - `fee_above_maximum`;
   * - `would_fail`;
   * - `token_refused`: another amount would move;
   * - `permission_changed`: another key signs for the wallet;
   * - `unconfirmed_refusal`: one node alone says that the payment would fail;
   * - `earlier_may_confirm`: nothing on this chain keeps two attempts from both paying.
   */
  prepare(intent: PaymentIntent, held: Held, earlier: readonly EarlierTx[] = []): Promise<PreparedTx> {
    return this.#nodes.ask(async (node) => {
      for (const { payload } of earlier) {
        const { tx } = decodePayload(payload);
        const [status] = await this.#statuses(node, [{ txid: txidOf(encodeTronTx(tx)), tx }]);
        if (status?.state === 'dead' && status.final) continue;
        throw new ChainError('earlier_may_confirm', 'an earlier transaction of the payment may still confirm');
      }
      return this.#agreement.onRefusals(node, (each) =>
        this.#preparation.prepare(each, intent, held, (question) => this.#agreement.askSecond(each, question)),
      );
    });
  }

  sweepCost(intent: PaymentIntent): Promise<SweepCost> {
    return this.#nodes.ask((node) => this.#preparation.sweepCost(node, intent));
  }

  usualCosts(contract: string | null): Promise<UsualCosts | null> {
    return this.#nodes.ask((node) => usualCosts(node, { hotWallet: this.#hotWallet, contract }));
  }

  /**
   * Sends the bytes to every node, because one may take them and pass them to no other. Never
   * throws: the replies, or their absence, are only hints.
   */
  async broadcast(tx: SignedTx): Promise<Broadcast> {
    this.#sightings.watch(tx.txid);
    return this.#agreement.broadcast((node) => node.broadcast(tx.raw));
  }

  /**
   * Sends several transactions at once, since no transaction of this chain waits for another one.
   * Once no node answers any more, the others are not sent: their status is asked next, and they
   * are sent again.
   */
  async broadcastAll(txs: readonly SignedTx[]): Promise<readonly Broadcast[]> {
    const said: Broadcast[] = [];
    for (let start = 0; start < txs.length; start += broadcastsAtOnce) {
      const some = await Promise.all(txs.slice(start, start + broadcastsAtOnce).map((tx) => this.broadcast(tx)));
      said.push(...some);
      if (some.every(({ outcome }) => outcome === 'uncertain')) break;
    }
    return txs.map((_tx, index) => said[index] ?? { outcome: 'uncertain', code: null });
  }

  async status(tx: SignedTx): Promise<TxStatus> {
    const [status] = await this.statusAll([tx]);
    if (!status) throw new Error(`there is no status of ${tx.txid}`);
    return status;
  }

  /** Transactions of one block share its queries. */
  async statusAll(txs: readonly SignedTx[]): Promise<readonly TxStatus[]> {
    const sent = txs.map((tx) => {
      const opened = openTronTx(tx.raw);
      if (opened.txid !== tx.txid) throw new Error(`the bytes of ${tx.txid} are those of ${opened.txid}`);
      this.#sightings.watch(tx.txid);
      return opened;
    });
    return this.#nodes.ask((node) => this.#statuses(node, sent));
  }

  async spent(txid: string): Promise<HotSpend | null> {
    const digits = txidDigits(txid);
    if (digits === null) return null;
    const { finality } = this.#network;
    const options = { hotWallet: digitsOf(this.#hotWallet), tokens: this.#tokens, finality };
    return this.#nodes.ask((node) => tronSpend(node, digits, options));
  }

  get doubtfulBlocks(): number {
    return this.#doubts.count;
  }

  get obstacle(): string | null {
    return this.#agreement.obstacle;
  }

  check(): Promise<readonly NodeReport[]> {
    const subject = { network: this.#network, hotWallet: this.#hotWallet, operators: this.#nodes.operators };
    return this.#nodes.report((node) => tronReport(node, subject));
  }

  #statuses(node: TronNode, sent: readonly SentTx[]): Promise<TxStatus[]> {
    const { finality } = this.#network;
    return tronStatuses(node, sent, {
      ...{ finality, sightings: this.#sightings },
      askSecond: this.#agreement.second(node),
    });
  }

  /** How blocks of a node are read. */
  #reading(node: TronNode): BlockReading {
    const isTraced = this.#network.internalTransfers === 'trace';
    return { node, tokens: this.#tokens, isTraced, doubts: this.#doubts, sightings: this.#sightings };
  }

  async #verify(node: TronNode): Promise<void> {
    const genesis = await node.genesis();
    const fault = chainFault(genesis, this.#network);
    if (fault !== null) throw new NodeFault('wrong_chain', fault);
    if (this.#genesis !== null && genesis !== this.#genesis) {
      throw new NodeFault('wrong_chain', 'is one of a chain that begins with another block');
    }
  }
}
