import { toUnits } from '../../base/money.ts';
import type { OwnAddresses } from '../addresses/own-addresses.ts';
import { depositPath, hotWalletPath, type Network, networkOfChain } from '../networks/networks.ts';
import { NodeFault } from '../nodes/node-answer.ts';
import { refuseStalled } from '../nodes/stalled.ts';
import { ChainError, type Held, type PaymentIntent, type PreparedTx, type SweepCost } from '../port/chain-adapter.ts';
import { balanceCall, readUint } from './trc20.ts';
import type { TronHeader } from './tron-answer.ts';
import type { Reach, TronNode } from './tron-node.ts';
import type { TronNetwork } from './tron-section.ts';
import type { TronPrices } from './tron-state.ts';
import { newHolder, tryTransfer } from './tron-trial.ts';
import {
  digitsOf,
  encodePayload,
  isReservedFrom,
  mostBandwidthOf,
  referenceTo,
  reservation,
  type TronTx,
  timeSpreads,
} from './tron-tx.ts';
import { permissionFault } from './tron-wallet.ts';

interface TronPreparationOptions {
  readonly network: TronNetwork;
  readonly hotWallet: string;
  readonly addresses: OwnAddresses;
}

interface Sender {
  readonly address: string;
  readonly digits: string;
  readonly path: string;
}

/** What a payment costs and what its sender has, in sun. */
interface Plan {
  readonly sender: Sender;
  readonly head: TronHeader;
  readonly isOwnSweep: boolean;
  /** The most that the energy of a token's transfer may cost; 0 for coins. */
  readonly feeLimit: bigint;
  /** The highest cost of the transaction. */
  readonly fee: bigint;
  /** The sender's coins without those promised to other payments. */
  readonly coins: bigint;
}

/** What a fee depends on besides its transaction. */
interface Terms {
  readonly prices: TronPrices;
  readonly held: Held;
  readonly askSecond: AskSecond;
}

/** Puts a question to a node of another operator; null while none answers. */
type AskSecond = <T>(question: (second: TronNode) => Promise<T>) => Promise<T | null>;

/** A token's energy may grow until its block: its penalty follows the load of its contract. */
const energyMargin = { of: 6n, in: 5n };
const trxDecimals = 6;

/** Builds the unsigned transactions of Tron. Each call puts all of its questions to one node. */
export class TronPreparation {
  readonly #options: TronPreparationOptions;
  readonly #keys: Network;
  readonly #maxFee: bigint;

  constructor(options: TronPreparationOptions) {
    this.#options = options;
    const { chain, feeLimits } = options.network;
    const keys = networkOfChain(chain);
    if (!keys) throw new Error(`${chain} is not in the table of networks`);
    this.#keys = keys;
    this.#maxFee = toUnits(feeLimits?.perTransaction ?? '0', trxDecimals);
  }

  async prepare(node: TronNode, intent: PaymentIntent, held: Held, askSecond: AskSecond): Promise<PreparedTx> {
    // A block that no reorg removes: the transaction would die with the block that it refers to.
    const asked = node.head('solid');
    asked.catch(() => {});
    const { sender, head, isOwnSweep, feeLimit, fee, coins } = await this.#plan(node, intent, held, askSecond);
    if (isOwnSweep && intent.amount <= fee) {
      throw refused('below_fee', `moving ${intent.amount} sun costs ${fee}`, { retryable: false });
    }
    if (intent.contract === null) {
      const needed = isOwnSweep ? intent.amount : intent.amount + fee;
      if (coins < needed) throw refused('insufficient_funds', `${sender.address} has ${coins} sun of ${needed}`);
    } else if (coins < fee) {
      throw refused('no_gas', `${sender.address} has ${coins} sun, and the fee is ${fee}`);
    }
    if (fee > this.#maxFee) throw refused('fee_above_maximum', `the fee is ${fee} sun, and max_fee ${this.#maxFee}`);
    const solid = await asked;
    // A transaction that refers to an invented block dies, and so would every attempt.
    const known = await askSecond((second) => second.header(solid.ref.height));
    if (known !== null && known.ref.hash !== solid.ref.hash) {
      throw new NodeFault('inconsistent_chain', `names a final block ${solid.ref.height} that another node lacks`);
    }
    const reserved = reservation(sender.address, intent);
    const spreads = timeSpreads(reserved);
    const expiresAtMs = head.ref.timeMs + this.#options.network.expireAfterSec * 1_000 + spreads.expiryMs;
    const amount = isOwnSweep ? intent.amount - fee : intent.amount;
    const tx: TronTx = {
      ...referenceTo(solid.ref),
      expiresAtMs,
      builtAtMs: head.ref.timeMs + spreads.builtMs,
      feeLimit,
      ...txOf(sender, { ...intent, amount }),
    };
    return {
      payload: encodePayload({ path: sender.path, tx }),
      reserves: [reserved],
      fee,
      expiresAt: { timeMs: expiresAtMs },
    };
  }

  async sweepCost(node: TronNode, intent: PaymentIntent): Promise<SweepCost> {
    const { fee, coins, isOwnSweep } = await this.#plan(node, intent, new Map(), async () => null);
    // The fee has room for more energy. What the address does not use would stay there.
    return { fee, perSource: fee, lacking: isOwnSweep || coins >= fee ? 0n : fee - coins, hasMargin: true };
  }

  async #plan(node: TronNode, intent: PaymentIntent, held: Held, askSecond: AskSecond): Promise<Plan> {
    const { network } = this.#options;
    if (intent.tag !== null) throw refused('no_tags', `${network.chain} has no tags`, { retryable: false });
    const sender = await this.#sender(intent);
    const isOwnSweep = intent.from !== null && intent.contract === null;
    // Payments of a chain are built one after another, so that the node is asked for all at once.
    // Which refusal is thrown does not depend on the order of its answers.
    const asked = {
      head: node.head('newest'),
      means: this.#means(node, sender, intent.contract, held),
      prices: node.prices(),
    };
    const terms = asked.prices.then((prices): Terms => ({ prices, held, askSecond }));
    const fees =
      intent.contract === null
        ? this.#coinFee(node, sender, intent, terms).then((fee) => ({ feeLimit: 0n, fee }))
        : this.#tokenFee(node, sender, intent, terms);
    for (const answer of [...Object.values(asked), terms, fees]) answer.catch(() => {});
    const head = await asked.head;
    refuseStalled(network, Math.floor(head.ref.timeMs / 1_000));
    const { coins, tokens } = await asked.means;
    if (intent.contract === null && coins < intent.amount) {
      throw refused('insufficient_funds', `${sender.address} has ${coins} sun of ${intent.amount}`);
    }
    if (intent.contract !== null && tokens < intent.amount) {
      const has = `${sender.address} has ${tokens} of ${intent.amount} of ${intent.contract}`;
      throw refused('insufficient_funds', has);
    }
    await asked.prices;
    const { feeLimit, fee } = await fees;
    return { sender, head, isOwnSweep, feeLimit, fee, coins };
  }

  /** The fee of sending coins. A recipient that does not exist yet is made by the transfer. */
  async #coinFee(node: TronNode, sender: Sender, intent: PaymentIntent, asked: Promise<Terms>): Promise<bigint> {
    const recipient = await node.account(digitsOf(intent.to), 'newest');
    const terms = await asked;
    if (recipient?.isContract) throw refused('would_fail', 'the chain sends no coins to a contract');
    if (recipient === null) return terms.prices.newAccount + terms.prices.newAccountBandwidth;
    return this.#bandwidthFee(node, sender, txOf(sender, intent), terms);
  }

  async #tokenFee(
    node: TronNode,
    sender: Sender,
    intent: PaymentIntent,
    asked: Promise<Terms>,
  ): Promise<{ readonly feeLimit: bigint; readonly fee: bigint }> {
    const tx = txOf(sender, intent);
    const [own, toNew, { prices }] = await Promise.all([
      tryTransfer(node, tx),
      intent.from === null ? this.#energyToNew(node, tx, asked) : 0n,
      asked,
    ]);
    const cost = own * prices.energy > toNew ? own * prices.energy : toNew;
    const feeLimit = (cost * energyMargin.of) / energyMargin.in;
    if (feeLimit > prices.maxFeeLimit) throw refused('would_fail', 'the token takes more energy than the chain allows');
    return { feeLimit, fee: feeLimit + (await this.#bandwidthFee(node, sender, tx, await asked)) };
  }

  /**
   * What the energy of a payout to a new holder costs, which is twice that to another one. The
   * recipient may have moved its tokens on before the payout's block. The higher of two nodes'
   * answers counts: with too little energy each payout would fail.
   */
  async #energyToNew(node: TronNode, tx: ReturnType<typeof txOf>, asked: Promise<Terms>): Promise<bigint> {
    const { prices, askSecond } = await asked;
    const transfer = { ...tx, to: newHolder() };
    const [one, other] = await Promise.all([
      tryTransfer(node, transfer).catch((error: unknown) => {
        // Some tokens move to the holders of a list only.
        if (error instanceof ChainError && error.isOfChain) return 0n;
        throw error;
      }),
      askSecond(async (second) => (await tryTransfer(second, transfer)) * (await second.prices()).energy),
    ]);
    const own = one * prices.energy;
    return other !== null && other > own ? other : own;
  }

  /**
   * What the bytes of a transaction cost. The free bytes of a deposit address are there for its
   * sweep, unless another payment from it is under way. Those of the hot wallet may be gone by
   * then.
   */
  async #bandwidthFee(
    node: TronNode,
    sender: Sender,
    tx: Pick<TronTx, 'owner' | 'contract' | 'to' | 'amount'>,
    { prices, held }: Terms,
  ): Promise<bigint> {
    const bytes = BigInt(mostBandwidthOf(tx));
    const isDeposit = sender.address !== this.#options.hotWallet;
    if (isDeposit && ![...held.keys()].some((reserved) => isReservedFrom(reserved, sender.address))) {
      const { freeBandwidth, bandwidth } = await node.resources(sender.digits);
      if (freeBandwidth >= bytes || bandwidth >= bytes) return 0n;
    }
    return bytes * prices.bandwidth;
  }

  async #sender({ from, to }: PaymentIntent): Promise<Sender> {
    const { hotWallet, addresses } = this.#options;
    if (from === null) return { address: hotWallet, digits: digitsOf(hotWallet), path: hotWalletPath(this.#keys) };
    const [address] = from;
    if (address === undefined || from.length !== 1 || to !== hotWallet) {
      throw refused('bad_sweep', 'a sweep brings the coins of one address to the hot wallet', { retryable: false });
    }
    const index = (await addresses.indexes([address])).get(address);
    if (index === undefined) throw refused('unknown_address', `${address} is not ours`, { retryable: false });
    return { address, digits: digitsOf(address), path: depositPath(this.#keys, index) };
  }

  /**
   * The means of a sender in the newest final block, without those promised to other payments. A
   * payment counts until it is final, and no final block shows it before. So nothing counts twice.
   */
  async #means(
    node: TronNode,
    sender: Sender,
    contract: string | null,
    held: Held,
  ): Promise<{ readonly coins: bigint; readonly tokens: bigint }> {
    const account = await node.account(sender.digits, 'solid');
    if (account && permissionFault(account, sender.digits).length > 0) {
      throw refused('permission_changed', `another key signs for ${sender.address}`);
    }
    let coins = account?.balance ?? 0n;
    let tokens = contract === null ? 0n : await tokensOf(node, sender.digits, contract, 'solid');
    for (const [reserved, promised] of held) {
      if (!isReservedFrom(reserved, sender.address)) continue;
      coins -= promised.fee;
      if (promised.contract === null) coins -= promised.amount;
      else if (promised.contract === contract) tokens -= promised.amount;
    }
    return { coins, tokens };
  }
}

/** The balance of a token, by the 42 digits of its holder. */
export async function tokensOf(node: TronNode, digits: string, contract: string, reach: Reach): Promise<bigint> {
  const call = { owner: digits, contract: digitsOf(contract), data: balanceCall(digits) };
  return readUint((await node.trial(call, reach)).returned, 'balance');
}

function txOf(
  { digits }: Sender,
  { contract, to, amount }: Pick<PaymentIntent, 'contract' | 'to' | 'amount'>,
): Pick<TronTx, 'owner' | 'contract' | 'to' | 'amount'> {
  return { owner: digits, contract: contract === null ? null : digitsOf(contract), to: digitsOf(to), amount };
}

/** A fact of the chain, which each of its nodes would tell. */
function refused(code: string, message: string, { retryable = true }: { retryable?: boolean } = {}): ChainError {
  return new ChainError(code, message, { retryable, isOfChain: true });
}
