import type { OwnAddresses } from '../addresses/own-addresses.ts';
import { blockToleranceSec } from '../networks/networks.ts';
import { Agreement } from '../nodes/agreement.ts';
import type { HttpNodeOptions } from '../nodes/http-node.ts';
import { JsonRpcNode } from '../nodes/json-rpc.ts';
import { ComparedDeposits } from '../nodes/lone-word.ts';
import { NodeFault } from '../nodes/node-answer.ts';
import { Nodes } from '../nodes/nodes.ts';
import { scanBlocks, startCursor } from '../nodes/scan-blocks.ts';
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
import { balancesOf, finalBalancesOf } from './solana-balances.ts';
import { readScanned, SolanaBlockSource } from './solana-block-source.ts';
import { chainFault, solanaReport } from './solana-facts.ts';
import { SolanaNode } from './solana-node.ts';
import { SolanaPreparation } from './solana-preparation.ts';
import type { SolanaNetwork } from './solana-section.ts';
import { solanaSpend } from './solana-spend.ts';
import { blockhashLife, sentTx, solanaStatus } from './solana-status.ts';
import { solanaTraits } from './solana-traits.ts';
import { openSolanaTx } from './solana-tx.ts';

interface SolanaAdapterOptions {
  readonly network: SolanaNetwork;
  /** Address of the wallet that pays. */
  readonly hotWallet: string;
  readonly addresses: OwnAddresses;
  /** Changes to the usual options of a node's HTTP. */
  readonly rpc?: Pick<HttpNodeOptions, 'timeoutMs'>;
}

/** Slots below one without a block in which the next lower block is looked for. */
const startSlots = 1_000;

export class SolanaAdapter implements ChainAdapter {
  readonly chain: string;
  readonly traits = solanaTraits;
  readonly finalityDepth = 1;
  readonly reorgWindow: number;
  readonly startHeight: number;
  readonly blockToleranceSec: number;
  readonly pollMs: number;
  readonly stalledAfterSec: number;
  readonly #network: SolanaNetwork;
  readonly #hotWallet: string;
  readonly #mints: ReadonlySet<string>;
  readonly #nodes: Nodes<SolanaNode>;
  readonly #agreement: Agreement<SolanaNode>;
  readonly #compared: ComparedDeposits<SolanaNode>;
  readonly #preparation: SolanaPreparation;

  constructor({ network, hotWallet, addresses, rpc = {} }: SolanaAdapterOptions) {
    const { chain, nodes, tokens } = network;
    this.chain = chain;
    this.reorgWindow = network.reorgWindow;
    this.startHeight = network.startHeight;
    this.blockToleranceSec = blockToleranceSec(chain);
    this.pollMs = network.pollMs;
    this.stalledAfterSec = network.stalledAfterSec;
    this.#network = network;
    this.#hotWallet = hotWallet;
    this.#mints = new Set(tokens.values());
    this.#nodes = new Nodes({
      chain,
      nodes: nodes.map((node) => new SolanaNode(new JsonRpcNode(node, { ...rpc, longNumbersAsText: 'whole' }))),
      verify: async (node) => {
        const fault = chainFault(await node.genesis(), network);
        if (fault !== null) throw new NodeFault('wrong_chain', fault);
      },
      height: async (node) => (await node.head()).ref.height,
    });
    this.#agreement = new Agreement(this.#nodes);
    this.#compared = new ComparedDeposits({
      ...{ nodes: this.#nodes, limits: network.twoNodesAbove },
      ownOf: async (asked) => new Set([...(await addresses.indexes(asked)).keys(), hotWallet]),
      read: async (node, slot) => (await readScanned({ node, mints: this.#mints }, slot)).scanned,
    });
    this.#preparation = new SolanaPreparation({ network, hotWallet, addresses });
  }

  head(): Promise<BlockRef> {
    return this.#nodes.ask(async (node) => (await node.head()).ref);
  }

  /** The slot itself may be empty. */
  start(height: number): Promise<Cursor> {
    return this.#nodes.ask((node) =>
      startCursor(async (slot) => {
        if (slot > (await node.head()).ref.height) return null;
        const found = (await node.slots(Math.max(0, slot - startSlots), slot)).at(-1);
        if (found === undefined) throw new NodeFault('no_block', `lists no block up to slot ${slot}`);
        return (await node.header(found)).ref;
      }, height),
    );
  }

  scan(cursor: Cursor, maxBlocks: number): Promise<ScanResult> {
    return this.#nodes.ask(async (node) => {
      const head = await node.head();
      refuseStalled(this.#network, Math.floor(head.ref.timeMs / 1_000));
      if (cursor.window.at(-1)?.hash === head.ref.hash) {
        return { orphaned: [], blocks: [], cursor, head: head.ref.height, final: head.ref.height };
      }
      const source = new SolanaBlockSource({ node, head, maxBlocks, mints: this.#mints });
      const result = await scanBlocks(this.chain, source, cursor, { maxBlocks, reorgWindow: this.reorgWindow });
      await this.#compared.refuseUnlike(node, result.blocks);
      return { ...result, final: result.head };
    });
  }

  /** Addresses of the chain have no tags, so that a holding with a tag is empty. */
  balances(holdings: readonly Holding[], contract: string | null): Promise<readonly bigint[]> {
    return this.#nodes.ask(async (node) => {
      const amounts = await balancesOf(
        node,
        holdings.map(({ address }) => address),
        contract,
      );
      return holdings.map(({ tag }, index) => (tag === null ? (amounts[index] ?? 0n) : 0n));
    });
  }

  finalBalances(
    addresses: readonly string[],
    contract: string | null,
  ): Promise<{ readonly block: BlockRef; readonly amounts: readonly bigint[] }> {
    return this.#nodes.ask((node) => finalBalancesOf(node, addresses, contract));
  }

  async hotWallet(): Promise<Holding> {
    return { address: this.#hotWallet, tag: null };
  }

  /**
   * Throws ChainError, besides the errors of a node:
   * - `insufficient_funds`: in addition to what the account must keep;
   * - `below_least_amount`: too little for an address without coins;
   * - `fee_above_maximum`;
   * - `would_fail`;
   * - `permission_changed`: the issuer of a token froze the wallet's account;
   * - `unconfirmed_refusal`: one node alone says that the payment would fail;
   * - `earlier_may_confirm`: the earlier attempt's marker exists, so that it has perhaps paid;
   * - `nodes_disagree`: a second node knows an account at the marker.
   */
  prepare(intent: PaymentIntent, held: Held, earlier: readonly EarlierTx[] = []): Promise<PreparedTx> {
    return this.#nodes.ask(async (node) => {
      const build = (each: SolanaNode): Promise<PreparedTx> => this.#preparation.prepare(each, intent, held, earlier);
      const prepared = await this.#agreement.onRefusals(node, build);
      const isConfirmed = (other: SolanaNode) => this.#preparation.isConfirmed(other, prepared.payload);
      if ((await this.#agreement.second(node)?.(isConfirmed)) !== false) return prepared;
      const message = "two nodes tell different things of a payment's marker: one is behind, or lies";
      throw new ChainError('nodes_disagree', message, { isOfChain: true });
    });
  }

  sweepCost(intent: PaymentIntent): Promise<SweepCost> {
    return this.#nodes.ask((node) => this.#preparation.sweepCost(node, intent));
  }

  usualCosts(contract: string | null): Promise<UsualCosts> {
    return this.#nodes.ask((node) => this.#preparation.usualCosts(node, contract));
  }

  /** Nodes take the same bytes again, so that they are asked first whether a block holds them. */
  broadcast({ txid, raw }: SignedTx): Promise<Broadcast> {
    return this.#agreement.broadcast(async (node): Promise<Broadcast> => {
      const [seen = null] = (await node.statuses([txid])).value;
      return seen === null ? node.send(raw) : { outcome: 'known', code: 'in_a_block' };
    });
  }

  /**
   * Expiries count blocks, and heights here are slots. A payment in the last third of its life is
   * not sent: it would arrive too late, and be in doubt for longer. It dies, and the next attempt
   * is built on a new block.
   */
  lateHeight(): Promise<number> {
    return this.#nodes.ask(async (node) => (await node.head()).blockHeight + blockhashLife / 3);
  }

  async status(tx: SignedTx): Promise<TxStatus> {
    const opened = openSolanaTx(tx.raw);
    if (opened.txid !== tx.txid) throw new Error(`the bytes of ${tx.txid} are those of ${opened.txid}`);
    const sent = sentTx(tx, opened.tx);
    return this.#nodes.ask((node) => solanaStatus(node, sent, { askSecond: this.#agreement.second(node) }));
  }

  async spent(txid: string): Promise<HotSpend | null> {
    if (!/^[1-9A-HJ-NP-Za-km-z]{64,88}$/.test(txid)) return null;
    const options = { hotWallet: this.#hotWallet, mints: this.#mints };
    return this.#nodes.ask((node) => solanaSpend(node, txid, options));
  }

  get obstacle(): string | null {
    return this.#agreement.obstacle;
  }

  check(): Promise<readonly NodeReport[]> {
    const subject = { network: this.#network, hotWallet: this.#hotWallet, operators: this.#nodes.operators };
    return this.#nodes.report((node) => solanaReport(node, subject));
  }
}
