import { blockToleranceSec } from '../networks/networks.ts';
import { Agreement } from '../nodes/agreement.ts';
import { HttpNode, type HttpNodeOptions } from '../nodes/http-node.ts';
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
  type TxStatus,
} from '../port/chain-adapter.ts';
import { txidDigits } from '../port/txid.ts';
import type { TonBlock } from './ton-answer.ts';
import { readScanned, TonBlockSource, type TonReading } from './ton-block-source.ts';
import { networkFault, tonReport } from './ton-facts.ts';
import { OwnJettons } from './ton-jettons.ts';
import { httpOptions, TonNode } from './ton-node.ts';
import { TonPreparation } from './ton-preparation.ts';
import type { TonNetwork } from './ton-section.ts';
import { SeenEnds } from './ton-seen.ts';
import { tonSpend } from './ton-spend.ts';
import { tonStatus } from './ton-status.ts';
import { tonTraits } from './ton-traits.ts';
import { decodePayload, openTonTx, type SentTx, sentOf } from './ton-tx.ts';

interface TonAdapterOptions {
  readonly network: TonNetwork;
  /** Address of the wallet that pays, and gets all deposits. */
  readonly hotWallet: string;
  /** The tag of funding; null before the first start. */
  readonly fundingTag: string | null;
  /** The count of the query id that was signed last; -1 before the first one. */
  readonly lastQuery: () => Promise<number>;
  /** Changes to the usual options of a node's HTTP. */
  readonly rpc?: Pick<HttpNodeOptions, 'timeoutMs'>;
}

export class TonAdapter implements ChainAdapter {
  readonly chain: string;
  readonly traits = tonTraits;
  readonly finalityDepth = 1;
  readonly reorgWindow: number;
  readonly startHeight: number;
  readonly blockToleranceSec: number;
  readonly pollMs: number;
  readonly stalledAfterSec: number;
  readonly #network: TonNetwork;
  readonly #wallet: string;
  readonly #fundingTag: string | null;
  readonly #jettons: OwnJettons;
  readonly #nodes: Nodes<TonNode>;
  readonly #agreement: Agreement<TonNode>;
  readonly #compared: ComparedDeposits<TonNode>;
  readonly #preparation: TonPreparation;
  readonly #seen = new SeenEnds();

  constructor({ network, hotWallet, fundingTag, lastQuery, rpc = {} }: TonAdapterOptions) {
    const { chain, nodes, tokens } = network;
    this.chain = chain;
    this.reorgWindow = network.reorgWindow;
    this.startHeight = network.startHeight;
    this.blockToleranceSec = blockToleranceSec(chain);
    this.pollMs = network.pollMs;
    this.stalledAfterSec = network.stalledAfterSec;
    this.#network = network;
    this.#wallet = hotWallet;
    this.#fundingTag = fundingTag;
    this.#jettons = new OwnJettons({ wallet: hotWallet, masters: [...tokens.values()] });
    this.#nodes = new Nodes({
      chain,
      nodes: nodes.map((node) => new TonNode(new HttpNode(node, { ...httpOptions, ...rpc }))),
      verify: async (node) => this.#refuseOther(await node.head()),
      height: async (node) => (await node.head()).ref.height,
    });
    this.#agreement = new Agreement(this.#nodes);
    this.#compared = new ComparedDeposits({
      ...{ nodes: this.#nodes, limits: network.twoNodesAbove },
      ownOf: async () => new Set([hotWallet]),
      read: async (node, height) => readScanned(await this.#reading(node), height),
    });
    this.#preparation = new TonPreparation({ network, wallet: hotWallet, jettons: this.#jettons, lastQuery });
  }

  head(): Promise<BlockRef> {
    return this.#nodes.ask(async (node) => (await node.head()).ref);
  }

  start(height: number): Promise<Cursor> {
    return this.#nodes.ask((node) => startCursor(async (seqno) => (await node.block(seqno))?.ref ?? null, height));
  }

  /** Blocks without transactions of ours are left out, but for the newest one. */
  scan(cursor: Cursor, maxBlocks: number): Promise<ScanResult> {
    return this.#nodes.ask(async (node) => {
      const head = await node.head();
      this.#refuseOther(head);
      refuseStalled(this.#network, Math.floor(head.ref.timeMs / 1_000));
      const { height } = head.ref;
      if (cursor.window.at(-1)?.hash === head.ref.hash) {
        return { orphaned: [], blocks: [], cursor, head: height, final: height };
      }
      const source = new TonBlockSource({ ...(await this.#reading(node)), head, seen: this.#seen });
      const result = await scanBlocks(this.chain, source, cursor, { maxBlocks, reorgWindow: this.reorgWindow });
      await this.#compared.refuseUnlike(node, result.blocks);
      return { ...result, final: result.head };
    });
  }

  /** An address has one balance for all tags together. */
  balances(holdings: readonly Holding[], contract: string | null): Promise<readonly bigint[]> {
    return this.#nodes.ask(async (node) => {
      const amounts = new Map<string, bigint>();
      const asked = [...new Set(holdings.map(({ address }) => address))];
      if (contract === null) {
        for (const [address, { balance }] of await node.accounts(asked)) amounts.set(address, balance);
      } else {
        for (const address of asked) amounts.set(address, await this.#jettonsOf(node, address, contract));
      }
      return holdings.map(({ address, tag }) => (tag === null ? (amounts.get(address) ?? 0n) : 0n));
    });
  }

  async hotWallet(): Promise<Holding> {
    return { address: this.#wallet, tag: this.#fundingTag };
  }

  /**
   * Throws ChainError, besides the errors of a node:
   * - `insufficient_funds`: of coins for the fee, or of what is paid;
   * - `fee_above_maximum`;
   * - `would_fail`: the recipient is one of ours;
   * - `permission_changed`: the issuer of a jetton froze the wallet;
   * - `query_ids_used_up`: a new wallet is needed;
   * - `unconfirmed_refusal`: one index alone says that the payment would fail;
   * - `earlier_may_confirm`: nothing on this chain keeps two attempts from both paying.
   */
  prepare(intent: PaymentIntent, held: Held, earlier: readonly EarlierTx[] = []): Promise<PreparedTx> {
    return this.#nodes.ask(async (node) => {
      for (const { payload } of earlier) {
        const status = await this.#statusOf(node, sentOf(decodePayload(payload, this.#wallet).tx, this.#wallet));
        if (status.state === 'dead' && status.final) continue;
        throw new ChainError('earlier_may_confirm', 'an earlier transaction of the payment may still confirm');
      }
      return this.#agreement.onRefusals(node, (each) => this.#preparation.prepare(each, intent, held, earlier));
    });
  }

  /**
   * Sends the bytes to every index. Never throws: the replies, or their absence, are only hints.
   */
  async broadcast({ raw }: SignedTx): Promise<Broadcast> {
    return this.#agreement.broadcast((node) => node.send(raw));
  }

  status({ txid, raw }: SignedTx): Promise<TxStatus> {
    const opened = openTonTx(raw);
    if (opened.txid !== txid) throw new Error(`the bytes of ${txid} are those of ${opened.txid}`);
    return this.#nodes.ask((node) => this.#statusOf(node, opened));
  }

  async spent(txid: string): Promise<HotSpend | null> {
    const digits = txidDigits(txid);
    if (digits === null) return null;
    return this.#nodes.ask(async (node) => tonSpend(node, digits, (await this.#reading(node)).accounts));
  }

  get obstacle(): string | null {
    return this.#agreement.obstacle;
  }

  check(): Promise<readonly NodeReport[]> {
    const subject = {
      ...{ network: this.#network, wallet: this.#wallet },
      ...{ jettons: this.#jettons, fundingTag: this.#fundingTag },
    };
    return this.#nodes.report((node) => tonReport(node, subject));
  }

  #refuseOther({ globalId }: Pick<TonBlock, 'globalId'>): void {
    const fault = networkFault(globalId, this.#network);
    if (fault !== null) throw new NodeFault('wrong_chain', fault);
  }

  #statusOf(node: TonNode, sent: SentTx): Promise<TxStatus> {
    const { startHeight } = this.#network;
    return tonStatus(node, sent, { startHeight, askSecond: this.#agreement.second(node) });
  }

  async #reading(node: TonNode): Promise<TonReading> {
    const jettons = await this.#jettons.all(node);
    return { node, accounts: { wallet: this.#wallet, jettons }, startHeight: this.#network.startHeight };
  }

  async #jettonsOf(node: TonNode, owner: string, contract: string): Promise<bigint> {
    const address = await node.jettonWallet(contract, owner);
    return address === null ? 0n : node.jettonBalance(address);
  }
}
