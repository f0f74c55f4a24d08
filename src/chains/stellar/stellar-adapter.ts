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
  type TxStatus,
} from '../port/chain-adapter.ts';
import { txidDigits } from '../port/txid.ts';
import { readScanned, StellarBlockSource } from './stellar-block-source.ts';
import { serverFault, stellarReport } from './stellar-facts.ts';
import { assetName } from './stellar-ledger.ts';
import { mostBytes, StellarNode } from './stellar-node.ts';
import { StellarPreparation } from './stellar-preparation.ts';
import { networkIdOf, type StellarNetwork, tokenOf } from './stellar-section.ts';
import type { StellarAccounts } from './stellar-setup.ts';
import { stellarSpend } from './stellar-spend.ts';
import type { EntryKey } from './stellar-state.ts';
import { stellarStatus } from './stellar-status.ts';
import { stellarTraits } from './stellar-traits.ts';
import type { CreditRules } from './stellar-transfers.ts';
import { openStellarTx } from './stellar-tx.ts';

interface StellarAdapterOptions {
  readonly network: StellarNetwork;
  readonly accounts: StellarAccounts;
  /** The tag of funding; null before the first start. */
  readonly fundingTag: string | null;
  /** Changes to the usual options of a node's HTTP. */
  readonly rpc?: Pick<HttpNodeOptions, 'timeoutMs'>;
}

/** A server tells at most this many entries at once. */
const entriesAtOnce = 200;

export class StellarAdapter implements ChainAdapter {
  readonly chain: string;
  readonly traits = stellarTraits;
  readonly finalityDepth = 1;
  readonly reorgWindow: number;
  readonly startHeight: number;
  readonly blockToleranceSec: number;
  readonly pollMs: number;
  readonly stalledAfterSec: number;
  readonly #network: StellarNetwork;
  readonly #networkId: string;
  readonly #fundingTag: string | null;
  readonly #rules: CreditRules;
  readonly #nodes: Nodes<StellarNode>;
  readonly #agreement: Agreement<StellarNode>;
  readonly #compared: ComparedDeposits<StellarNode>;
  readonly #preparation: StellarPreparation;

  constructor({ network, accounts, fundingTag, rpc = {} }: StellarAdapterOptions) {
    const { chain, nodes, tokens } = network;
    this.chain = chain;
    this.reorgWindow = network.reorgWindow;
    this.startHeight = network.startHeight;
    this.blockToleranceSec = blockToleranceSec(chain);
    this.pollMs = network.pollMs;
    this.stalledAfterSec = network.stalledAfterSec;
    this.#network = network;
    this.#networkId = networkIdOf(network);
    this.#fundingTag = fundingTag;
    this.#rules = { accounts, tokens: new Map([...tokens].map(([code, issuer]) => [assetName(code, issuer), issuer])) };
    this.#nodes = new Nodes({
      chain,
      nodes: nodes.map(
        (node) => new StellarNode(new JsonRpcNode(node, { maxBytes: mostBytes, ...rpc }), this.#networkId),
      ),
      verify: async (node) => {
        const fault = serverFault(await node.passphrase(), network);
        if (fault !== null) throw new NodeFault('wrong_chain', fault);
      },
      height: async (node) => (await node.head()).ref.height,
    });
    this.#agreement = new Agreement(this.#nodes);
    this.#compared = new ComparedDeposits({
      ...{ nodes: this.#nodes, limits: network.twoNodesAbove },
      ownOf: async () => new Set([accounts.wallet]),
      read: (node, height) => readScanned({ node, rules: this.#rules }, height),
    });
    this.#preparation = new StellarPreparation({ network, accounts });
  }

  head(): Promise<BlockRef> {
    return this.#nodes.ask(async (node) => (await node.head()).ref);
  }

  start(height: number): Promise<Cursor> {
    return this.#nodes.ask((node) => startCursor(async (index) => (await node.header(index))?.ref ?? null, height));
  }

  scan(cursor: Cursor, maxBlocks: number): Promise<ScanResult> {
    return this.#nodes.ask(async (node) => {
      const { ref: head } = await node.head();
      refuseStalled(this.#network, Math.floor(head.timeMs / 1_000));
      const top = cursor.window.at(-1);
      if (top?.hash === head.hash) {
        return { orphaned: [], blocks: [], cursor, head: head.height, final: head.height };
      }
      const maxHeight = (top?.height ?? 0) + maxBlocks;
      const source = new StellarBlockSource({ node, head, maxHeight, rules: this.#rules });
      const result = await scanBlocks(this.chain, source, cursor, { maxBlocks, reorgWindow: this.reorgWindow });
      await this.#compared.refuseUnlike(node, result.blocks);
      return { ...result, final: result.head };
    });
  }

  /**
   * An address has one balance for all tags together. The wallet's coins are those of its channels
   * too, which pay the fees.
   */
  balances(holdings: readonly Holding[], contract: string | null): Promise<readonly bigint[]> {
    return this.#nodes.ask(async (node) => {
      const { accounts } = this.#rules;
      const token = contract === null ? null : tokenOf(this.#network, contract);
      if (contract !== null && token === null) return holdings.map(() => 0n);
      const partsOf = (address: string): readonly string[] =>
        address === accounts.wallet && token === null ? [address, ...accounts.channels] : [address];
      const asked = [...new Set(holdings.flatMap(({ address }) => partsOf(address)))];
      const amounts = new Map<string, bigint>();
      for (let from = 0; from < asked.length; from += entriesAtOnce) {
        const some = asked.slice(from, from + entriesAtOnce);
        const entries = await node.entries(some.map((account): EntryKey => (token ? { account, token } : { account })));
        for (const each of some) {
          amounts.set(each, (token ? entries.trustLine(each, token) : entries.account(each))?.balance ?? 0n);
        }
      }
      return holdings.map(({ address, tag }) =>
        tag === null ? partsOf(address).reduce((sum, each) => sum + (amounts.get(each) ?? 0n), 0n) : 0n,
      );
    });
  }

  async hotWallet(): Promise<Holding> {
    return { address: this.#rules.accounts.wallet, tag: this.#fundingTag };
  }

  /**
   * Throws ChainError, besides the errors of a node:
   * - `insufficient_funds`: in addition to what the account must keep;
   * - `no_channel`: all sequence numbers are in use;
   * - `below_least_amount`: too little for an account that does not exist yet;
   * - `fee_above_maximum`;
   * - `would_fail`;
   * - `permission_changed`: another key signs for the wallet, or an issuer froze it;
   * - `unconfirmed_refusal`: one server alone says that the payment would fail;
   * - `earlier_may_confirm`: what the earlier attempt reserved is used, perhaps by it;
   * - `nodes_disagree`: a second server knows another recipient or sequence number.
   */
  prepare(intent: PaymentIntent, held: Held, earlier: readonly EarlierTx[] = []): Promise<PreparedTx> {
    return this.#nodes.ask(async (node) => {
      const build = (each: StellarNode): Promise<PreparedTx> => this.#preparation.prepare(each, intent, held, earlier);
      const prepared = await this.#agreement.onRefusals(node, build);
      const isConfirmed = (other: StellarNode) => this.#preparation.isConfirmed(other, prepared.payload);
      if ((await this.#agreement.second(node)?.(isConfirmed)) !== false) return prepared;
      const message = 'two servers tell of another recipient or sequence number: one is behind, or lies';
      throw new ChainError('nodes_disagree', message, { isOfChain: true });
    });
  }

  neededSetup(): Promise<string | null> {
    return this.#nodes.ask((node) => this.#preparation.neededSetup(node));
  }

  broadcast(tx: SignedTx): Promise<Broadcast> {
    return this.#agreement.broadcast((node) => node.send(tx.raw));
  }

  async status(tx: SignedTx): Promise<TxStatus> {
    const opened = openStellarTx(tx.raw, this.#networkId);
    if (opened.txid !== tx.txid) throw new Error(`the bytes of ${tx.txid} are those of ${opened.txid}`);
    return this.#nodes.ask((node) =>
      stellarStatus(node, opened, {
        lifeSec: this.#network.expireAfterSec,
        askSecond: this.#agreement.second(node),
      }),
    );
  }

  async spent(txid: string): Promise<HotSpend | null> {
    const digits = txidDigits(txid);
    if (digits === null) return null;
    return this.#nodes.ask((node) => stellarSpend(node, digits, this.#rules));
  }

  get obstacle(): string | null {
    return this.#agreement.obstacle;
  }

  check(): Promise<readonly NodeReport[]> {
    const { accounts } = this.#rules;
    return this.#nodes.report((node) =>
      stellarReport(node, { network: this.#network, accounts, fundingTag: this.#fundingTag }),
    );
  }
}
