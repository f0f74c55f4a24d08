import { randomBytes } from 'node:crypto';
import { minUnits } from '../../base/money.ts';
import type { OwnAddresses } from '../addresses/own-addresses.ts';
import { depositPath, hotWalletPath, type Network, networkOfChain } from '../networks/networks.ts';
import { ChainError, type Held, type PaymentIntent, type PreparedTx, type SweepCost } from '../port/chain-adapter.ts';
import { balanceCall, readUint, transferCall } from './erc20.ts';
import {
  exactPrices,
  type FeeMarket,
  type GasPrices,
  paymentPrices,
  plainGas,
  raisedPrices,
  usualTip,
} from './evm-fees.ts';
import { hasL1Fee, l1FeeCall } from './evm-l1-fee.ts';
import type { EvmNode } from './evm-node.ts';
import type { EvmNetwork } from './evm-section.ts';
import { tryTransfer } from './evm-trial.ts';
import { decodePayload, type EvmTx, encodePayload, isReservedFrom, reservation, serializeEvmTx } from './evm-tx.ts';

interface EvmPreparationOptions {
  readonly network: EvmNetwork;
  readonly hotWallet: string;
  readonly addresses: OwnAddresses;
}

interface Sender {
  readonly address: string;
  readonly path: string;
}

/** The nonce, the gas and the coins of a payment. */
interface Plan {
  readonly sender: Sender;
  /** The first nonce that no block has used. */
  readonly nonce: bigint;
  readonly isOwnSweep: boolean;
  readonly to: string;
  readonly data: string;
  readonly gas: bigint;
  readonly prices: GasPrices;
  /** The highest cost, in wei. */
  readonly fee: bigint;
  /**
   * The sender's coins of the chain's own coin without those promised to other payments, in wei.
   */
  readonly coins: bigint;
}

interface Means {
  /** The first nonce that no block has used. */
  readonly nonce: bigint;
  readonly coins: bigint;
  /** Balance of the requested contract. */
  readonly tokens: bigint;
}

/** Blocks whose tips tell the usual tip. */
const feeBlocks = 10;

/**
 * Builds the unsigned transactions of one chain. Each call puts all of its questions to one node.
 */
export class EvmPreparation {
  readonly #options: EvmPreparationOptions;
  readonly #keys: Network;

  constructor(options: EvmPreparationOptions) {
    this.#options = options;
    const keys = networkOfChain(options.network.chain);
    if (!keys) throw new Error(`${options.network.chain} is not in the table of networks`);
    this.#keys = keys;
  }

  async prepare(node: EvmNode, intent: PaymentIntent, held: Held): Promise<PreparedTx> {
    const plan = await this.#plan(node, intent, held);
    const { sender, isOwnSweep, fee, coins } = plan;
    if (isOwnSweep && intent.amount <= fee) {
      throw refused('below_fee', `moving ${intent.amount} wei costs ${fee}`, { retryable: false });
    }
    if (intent.contract === null) {
      const needed = isOwnSweep ? intent.amount : intent.amount + fee;
      if (coins < needed) throw refused('insufficient_funds', `${sender.address} has ${coins} wei of ${needed}`);
    } else if (coins < fee) {
      throw refused('no_gas', `${sender.address} has ${coins} wei, and the fee is ${fee}`);
    }
    let { nonce } = plan;
    while (held.has(reservation(sender.address, nonce))) nonce += 1n;
    return this.#prepared(sender, fee, {
      chainId: this.#options.network.chainId,
      nonce: Number(nonce),
      ...plan.prices,
      gas: plan.gas,
      to: plan.to,
      value: paidValue(intent, isOwnSweep, fee),
      data: plan.data,
    });
  }

  async replace(node: EvmNode, intent: PaymentIntent, old: PreparedTx, held: Held): Promise<PreparedTx | null> {
    const { path, tx } = decodePayload(old.payload);
    const sender = await this.#sender(intent);
    if (sender.path !== path || old.reserves[0] !== reservation(sender.address, tx.nonce)) {
      throw new Error('the transaction to replace is not one of this payment');
    }
    const isOwnSweep = isSweepOfCoins(intent);
    let ceiling = this.#options.network.maxFeePerGas;
    if (!isOwnSweep) {
      // A sweep of coins takes its fee out of the amount. Any other payment needs the fee besides
      // the amount.
      const others = new Map(held);
      for (const own of old.reserves) others.delete(own);
      const { coins } = await this.#means(node, sender, null, others);
      const affordable = tx.maxFeePerGas + (coins - tx.value - old.fee) / tx.gas;
      if (affordable < ceiling) ceiling = affordable;
    }
    const prices = raisedPrices(tx, await this.#market(node), ceiling);
    if (prices === null) return null;
    // The part of the fee that is not for gas stays the same.
    const fee = old.fee + tx.gas * (prices.maxFeePerGas - tx.maxFeePerGas);
    if (isOwnSweep && intent.amount <= fee) return null;
    return this.#prepared(sender, fee, { ...tx, ...prices, value: paidValue(intent, isOwnSweep, fee) });
  }

  async sweepCost(node: EvmNode, intent: PaymentIntent): Promise<SweepCost> {
    const { fee, coins, isOwnSweep } = await this.#plan(node, intent, new Map());
    return { fee, perSource: fee, lacking: isOwnSweep || coins >= fee ? 0n : fee - coins };
  }

  async #plan(node: EvmNode, intent: PaymentIntent, held: Held): Promise<Plan> {
    const { network } = this.#options;
    if (intent.tag !== null) throw refused('no_tags', `${network.chain} has no tags`, { retryable: false });
    const sender = await this.#sender(intent);
    const isOwnSweep = isSweepOfCoins(intent);
    const to = (intent.contract ?? intent.to).toLowerCase();
    const data = intent.contract === null ? '0x' : transferCall(intent.to, intent.amount);
    const [{ nonce, coins, tokens }, market] = await Promise.all([
      this.#means(node, sender, intent.contract, held),
      this.#market(node),
    ]);
    const value = intent.contract === null ? intent.amount : 0n;
    // Nodes estimate only transactions that can be paid, and this case has an error code of its
    // own.
    if (coins < value) throw refused('insufficient_funds', `${sender.address} has ${coins} wei of ${value}`);
    if (intent.contract !== null && tokens < intent.amount) {
      const has = `${sender.address} has ${tokens} of ${intent.amount} of ${intent.contract}`;
      throw refused('insufficient_funds', has);
    }
    const most = intent.contract === null ? network.maxPaymentGas : network.maxTokenGas;
    const [estimated, ofNewHolder] = await Promise.all([
      node.estimateGas({ from: sender.address, to, value, data }, most),
      this.#gasOfNewHolder(node, sender, intent, most),
      intent.contract === null
        ? null
        : tryTransfer(node, sender.address, { contract: to, to: intent.to, amount: intent.amount }),
    ]);
    // The state may change before the transaction is executed; unused gas is not paid.
    const needed = ofNewHolder > estimated ? ofNewHolder : estimated;
    const gas = needed <= plainGas ? plainGas : minUnits(needed + needed / 4n, most);
    const usual = isOwnSweep ? exactPrices(market, network.maxFeePerGas) : paymentPrices(market, network.maxFeePerGas);
    const l1Fee = await this.#l1Fee(node, { nonce: 0, gas, to, value, data, ...usual, chainId: network.chainId });
    const isTokenSweep = intent.from !== null && !isOwnSweep;
    const prices = isTokenSweep ? affordable(usual, market, (coins - l1Fee) / gas) : usual;
    return { sender, nonce, isOwnSweep, to, data, gas, prices, fee: gas * prices.maxFeePerGas + l1Fee, coins };
  }

  /**
   * The gas of the same payout to an address without the token, which is more. The recipient may
   * move its tokens on before the payout's block, and the payout would fail at our cost. 0 for
   * coins and sweeps, and for a token that moves to known holders only.
   */
  async #gasOfNewHolder(
    node: EvmNode,
    { address }: Sender,
    { from, contract, amount }: PaymentIntent,
    most: bigint,
  ): Promise<bigint> {
    if (from !== null || contract === null) return 0n;
    const data = transferCall(`0x${randomBytes(20).toString('hex')}`, amount);
    try {
      return await node.estimateGas({ from: address, to: contract.toLowerCase(), value: 0n, data }, most);
    } catch (error) {
      if (error instanceof ChainError && error.isOfChain) return 0n;
      throw error;
    }
  }

  #prepared({ address, path }: Sender, fee: bigint, tx: EvmTx): PreparedTx {
    return {
      payload: encodePayload({ path, tx }),
      reserves: [reservation(address, tx.nonce)],
      fee,
      expiresAt: null,
    };
  }

  async #sender({ from, to }: PaymentIntent): Promise<Sender> {
    const { hotWallet, addresses } = this.#options;
    if (from === null) return { address: hotWallet, path: hotWalletPath(this.#keys) };
    const [address] = from;
    if (address === undefined || from.length !== 1 || to.toLowerCase() !== hotWallet.toLowerCase()) {
      throw refused('bad_sweep', 'a sweep brings the coins of one address to the hot wallet', { retryable: false });
    }
    const index = (await addresses.indexes([address])).get(address);
    if (index === undefined) throw refused('unknown_address', `${address} is not ours`, { retryable: false });
    return { address, path: depositPath(this.#keys, index) };
  }

  async #market(node: EvmNode): Promise<FeeMarket> {
    const [{ baseFee, tips }, suggested] = await Promise.all([node.market(feeBlocks), node.suggestedTip()]);
    return { baseFee, tip: usualTip(tips, suggested) };
  }

  /**
   * The coins of a sender without those promised to other payments. The nonce is read first. A
   * block that arrives in between can then only delay a payment. It never lets one go out that
   * cannot be paid.
   */
  async #means(node: EvmNode, { address }: Sender, contract: string | null, held: Held): Promise<Means> {
    const nonce = await node.nonce(address, 'latest');
    let [[coins = 0n], tokens] = await Promise.all([
      node.balances([address], 'latest'),
      contract === null ? 0n : tokensOf(node, address, contract),
    ]);
    for (const [reserved, promised] of held) {
      if (!isReservedFrom(reserved, address, nonce)) continue;
      coins -= promised.fee;
      if (promised.contract === null) coins -= promised.amount;
      else if (promised.contract === contract) tokens -= promised.amount;
    }
    return { nonce, coins, tokens };
  }

  /**
   * Twice the present fee, because the fee in the block that takes the transaction is not known.
   */
  async #l1Fee(node: EvmNode, tx: EvmTx): Promise<bigint> {
    if (!hasL1Fee(this.#options.network.chain)) return 0n;
    const [answer] = await node.callAll([l1FeeCall(serializeEvmTx(tx))], 'latest');
    return 2n * readUint(answer, 'fee of the first layer');
  }
}

async function tokensOf(node: EvmNode, address: string, contract: string): Promise<bigint> {
  const [answer] = await node.callAll([{ to: contract, data: balanceCall(address) }], 'latest');
  return readUint(answer, 'balance');
}

function isSweepOfCoins({ from, contract }: PaymentIntent): boolean {
  return from !== null && contract === null;
}

function paidValue({ contract, amount }: PaymentIntent, isOwnSweep: boolean, fee: bigint): bigint {
  if (contract !== null) return 0n;
  return isOwnSweep ? amount - fee : amount;
}

/**
 * The highest prices that an address can pay from coins sent to it for this fee, if they still meet
 * the market. The market may have moved since.
 */
function affordable(prices: GasPrices, market: FeeMarket, most: bigint): GasPrices {
  const { maxFeePerGas, maxPriorityFeePerGas } = prices;
  const least = exactPrices(market, maxFeePerGas).maxFeePerGas;
  if (most >= maxFeePerGas || most < least) return prices;
  return { maxFeePerGas: most, maxPriorityFeePerGas };
}

/** A fact of the chain, which each of its nodes would tell. */
function refused(code: string, message: string, { retryable = true }: { retryable?: boolean } = {}): ChainError {
  return new ChainError(code, message, { retryable, isOfChain: true });
}
