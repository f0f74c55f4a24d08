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
  type TxStatus,
} from '../port/chain-adapter.ts';
import { txidDigits } from '../port/txid.ts';
import { readScanned, XrpBlockSource } from './xrp-block-source.ts';
import { serverFault, xrpReport } from './xrp-facts.ts';
import { XrpNode } from './xrp-node.ts';
import { XrpPreparation } from './xrp-preparation.ts';
import type { XrpNetwork } from './xrp-section.ts';
import { xrpSpend } from './xrp-spend.ts';
import type { XrpState } from './xrp-state.ts';
import { xrpStatus } from './xrp-status.ts';
import { xrpTraits } from './xrp-traits.ts';
import { openXrpTx } from './xrp-tx.ts';

interface XrpAdapterOptions {
  readonly network: XrpNetwork;
  /** Address of the wallet that pays and is paid. */
  readonly hotWallet: string;
  /** The tag of funding; null before the first start. */
  readonly fundingTag: string | null;
  /** Changes to the usual options of a node's HTTP. */
  readonly rpc?: Pick<HttpNodeOptions, 'timeoutMs'>;
}

/** The port to the XRP Ledger. */
export class XrpAdapter implements ChainAdapter {
  readonly chain: string;
  readonly traits = xrpTraits;
  readonly finalityDepth = 1;
  readonly reorgWindow: number;
  readonly startHeight: number;
  readonly blockToleranceSec: number;
  readonly pollMs: number;
  readonly stalledAfterSec: number;
  readonly #network: XrpNetwork;
  readonly #wallet: Holding;
  readonly #nodes: Nodes<XrpNode>;
  readonly #agreement: Agreement<XrpNode>;
  readonly #compared: ComparedDeposits<XrpNode>;
  readonly #preparation: XrpPreparation;

  constructor({ network, hotWallet, fundingTag, rpc = {} }: XrpAdapterOptions) {
    const { chain, nodes } = network;
    this.chain = chain;
    this.reorgWindow = network.reorgWindow;
    this.startHeight = network.startHeight;
    this.blockToleranceSec = blockToleranceSec(chain);
    this.pollMs = network.pollMs;
    this.stalledAfterSec = network.stalledAfterSec;
    this.#network = network;
    this.#wallet = { address: hotWallet, tag: fundingTag };
    this.#nodes = new Nodes({
      chain,
      nodes: nodes.map((node) => new XrpNode(new HttpNode(node, { ...rpc, numbersAsText: true, anyStatus: true }))),
      verify: async (node) => void (await this.#verified(node)),
      height: async (node) => (await node.state()).head.height,
    });
    this.#agreement = new Agreement(this.#nodes);
    this.#compared = new ComparedDeposits({
      ...{ nodes: this.#nodes, limits: network.twoNodesAbove },
      ownOf: async () => new Set([hotWallet]),
      read: readScanned,
    });
    this.#preparation = new XrpPreparation({ network, hotWallet });
  }

  head(): Promise<BlockRef> {
    return this.#nodes.ask((node) => this.#head(node));
  }

  async #head(node: XrpNode): Promise<BlockRef> {
    const { height } = (await node.state()).head;
    return refAt(node, height);
  }

  start(height: number): Promise<Cursor> {
    return this.#nodes.ask(async (node) => ({ window: [await refAt(node, height)] }));
  }

  scan(cursor: Cursor, maxBlocks: number): Promise<ScanResult> {
    return this.#nodes.ask(async (node) => {
      // An address may lead to another server by now.
      const { head } = await this.#verified(node);
      refuseStalled(this.#network, Math.floor(head.timeMs / 1_000));
      const top = cursor.window.at(-1);
      if (top?.hash === head.hash) {
        return { orphaned: [], blocks: [], cursor, head: head.height, final: head.height };
      }
      const maxHeight = (top?.height ?? 0) + maxBlocks;
      const source = new XrpBlockSource({ node, head: head.height, maxHeight });
      const result = await scanBlocks(this.chain, source, cursor, { maxBlocks, reorgWindow: this.reorgWindow });
      await this.#compared.refuseUnlike(node, result.blocks);
      return { ...result, final: result.head };
    });
  }

  /** An address has one balance for all tags together. */
  balances(holdings: readonly Holding[], contract: string | null): Promise<readonly bigint[]> {
    return this.#nodes.ask(async (node) =>
      Promise.all(
        holdings.map(async ({ address, tag }) => {
          if (contract !== null || tag !== null) return 0n;
          return (await node.account(address))?.balance ?? 0n;
        }),
      ),
    );
  }

  async hotWallet(): Promise<Holding> {
    return this.#wallet;
  }

  /**
   * Throws ChainError, besides the errors of a node:
   * - `insufficient_funds`: in addition to the reserve that the account must keep;
   * - `no_ticket`: all tickets are in use;
   * - `below_least_amount`: too little for an account that does not exist yet;
   * - `fee_above_maximum`;
   * - `would_fail`;
   * - `permission_changed`: another key signs for the wallet;
   * - `unconfirmed_refusal`: one server alone says that the payment would fail;
   * - `earlier_may_confirm`: what the earlier attempt reserved is used, perhaps by it.
   */
  prepare(intent: PaymentIntent, held: Held, earlier: readonly EarlierTx[] = []): Promise<PreparedTx> {
    return this.#nodes.ask((node) =>
      this.#agreement.onRefusals(node, (each) => this.#preparation.prepare(each, intent, held, earlier)),
    );
  }

  neededSetup(): Promise<string | null> {
    return this.#nodes.ask((node) => this.#preparation.neededSetup(node));
  }

  broadcast(tx: SignedTx): Promise<Broadcast> {
    return this.#agreement.broadcast((node) => node.submit(tx.raw));
  }

  async status(tx: SignedTx): Promise<TxStatus> {
    const opened = openXrpTx(tx.raw);
    if (opened.txid !== tx.txid) throw new Error(`the bytes of ${tx.txid} are those of ${opened.txid}`);
    return this.#nodes.ask((node) =>
      xrpStatus(node, opened, {
        lifeLedgers: this.#network.expireAfterLedgers,
        askSecond: this.#agreement.second(node),
      }),
    );
  }

  async spent(txid: string): Promise<HotSpend | null> {
    const digits = txidDigits(txid)?.toUpperCase();
    if (digits === undefined) return null;
    return this.#nodes.ask((node) => xrpSpend(node, digits, this.#wallet.address));
  }

  get obstacle(): string | null {
    return this.#agreement.obstacle;
  }

  check(): Promise<readonly NodeReport[]> {
    const { address: hotWallet, tag: fundingTag } = this.#wallet;
    return this.#nodes.report((node) => xrpReport(node, { network: this.#network, hotWallet, fundingTag }));
  }

  async #verified(node: XrpNode): Promise<XrpState> {
    const state = await node.state();
    const fault = serverFault(state, this.#network);
    if (fault !== null) throw new NodeFault('wrong_chain', fault);
    return state;
  }
}

async function refAt(node: XrpNode, height: number): Promise<BlockRef> {
  const found = await node.header(height);
  if (found === null) throw new ChainError('no_such_block', `the server has no ledger ${height}`);
  return found.ref;
}
