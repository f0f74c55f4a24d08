import { maxUnits, minUnits } from '../../base/money.ts';
import { depositPath, hotWalletPath, type Network, networkOfChain } from '../networks/networks.ts';
import { type UtxoParams, utxoParams } from '../networks/utxo-params.ts';
import type { OwnOutput, OwnOutputs } from '../own-outputs.ts';
import { ChainError, type Held, type PaymentIntent, type PreparedTx, type SweepCost } from '../port/chain-adapter.ts';
import { maxPayloadBytes } from '../port/signer.ts';
import { type ChangeRules, selectCoins, settleChange, splitEvenly } from './coin-selection.ts';
import { outpointKey, outpointOf, outpointReservation } from './outpoint.ts';
import type { FeeTerms, UtxoNode } from './utxo-node.ts';
import {
  decodePsbt,
  encodePsbt,
  keysOf,
  totalOf,
  type UnsignedInput,
  type UnsignedOutput,
  type UnsignedTx,
} from './utxo-psbt.ts';
import { dustLimit, feeOf, inputSize, ownForm, scriptOfAddress, virtualSize } from './utxo-script.ts';
import type { UtxoNetwork } from './utxo-section.ts';

interface UtxoBuilderOptions {
  readonly network: UtxoNetwork;
  readonly hotWallet: string;
  readonly outputs: OwnOutputs;
}

/** Number of payments that can be made between two blocks, each from a separate output. */
const wantedOutputs = 12;
/** How often coins are selected again because selected outputs turned out to be spent. */
const maxSelections = 10;

/** Builds the unsigned transactions of one chain. */
export class UtxoBuilder {
  readonly #network: UtxoNetwork;
  readonly #outputs: OwnOutputs;
  readonly #params: UtxoParams;
  readonly #paths: Network;
  readonly #hot: { readonly address: string; readonly script: Uint8Array };

  constructor({ network, hotWallet, outputs }: UtxoBuilderOptions) {
    const paths = networkOfChain(network.chain);
    if (!paths) throw new Error(`there is no network on ${network.chain}`);
    this.#network = network;
    this.#outputs = outputs;
    this.#params = utxoParams(network.chain, network.net);
    this.#paths = paths;
    const script = scriptOfAddress(this.#params, hotWallet);
    if (!script) throw new Error(`the hot wallet's address is not an address of ${network.chain} (${network.net})`);
    this.#hot = { address: hotWallet, script };
  }

  /**
   * Builds an unsigned transaction.
   *
   * @throws ChainError
   * - `hot_wallet_low` when the unspent and unreserved outputs do not suffice;
   * - `below_dust`;
   * - `below_fee` for a sweep that is not worth its fee;
   * - `too_large` for a sweep that no signer accepts;
   * - `fee_above_maximum` when nodes ask for more than the settings allow.
   */
  async prepare(node: UtxoNode, intent: PaymentIntent, held: Held): Promise<PreparedTx> {
    const recipient = this.#recipient(intent);
    const rate = this.#rate(await node.feeTerms(this.#network.feeTarget));
    const known = await this.#outputs.spendable(this.#network.chain);
    const rules = this.#rules(rate, known.length);
    return intent.from === null
      ? this.#payment(node, intent, recipient, known, held, rules)
      : this.#sweep(node, intent, intent.from, held, rules);
  }

  /**
   * Builds a replacement. Null when the old fee is high enough, when no output can be lowered to
   * pay more, or when a higher fee is not allowed.
   */
  async replace(node: UtxoNode, intent: PaymentIntent, old: PreparedTx): Promise<PreparedTx | null> {
    const recipient = this.#recipient(intent);
    const unsigned = decodePsbt(old.payload);
    if (!this.#network.replaceable || !unsigned.isReplaceable) return null;
    const terms = await node.feeTerms(this.#network.feeTarget);
    const rate = this.#rate(terms);
    const { inputs, outputs } = unsigned;
    const fixed = intent.from === null ? [{ script: recipient, amount: intent.amount }] : [];
    const left = totalOf(inputs) - totalOf(fixed);
    const dust = dustLimit(this.#params, this.#hot.script);
    const pieces = outputs.length - fixed.length;
    if (old.fee >= feeOf(rate, this.#size(inputs.length, fixed, pieces))) return null;
    for (let count = pieces; count >= 1; count -= 1) {
      const size = this.#size(inputs.length, fixed, count);
      // BIP125, rule 4: it pays for its own relay as well as for that of the old one.
      const fee = maxUnits(old.fee + feeOf(terms.increment, size), feeOf(rate, size));
      if (fee > feeOf(this.#network.feeCeiling, size)) return null;
      if (left - fee < dust * BigInt(count)) continue;
      const change = splitEvenly(left - fee, count).map((amount) => ({ script: this.#hot.script, amount }));
      return prepared({ inputs, outputs: [...fixed, ...change], isReplaceable: true });
    }
    return null;
  }

  /**
   * The cost of a sweep with one output to the hot wallet. While that wallet has few outputs, a
   * sweep may make more.
   */
  async sweepCost(node: UtxoNode, { from }: PaymentIntent): Promise<SweepCost> {
    const rate = this.#rate(await node.feeTerms(this.#network.feeTarget));
    const fee = feeOf(rate, this.#size(from?.length ?? 0, [], 1));
    return { fee, perSource: feeOf(rate, inputSize(ownForm(this.#params))), lacking: 0n };
  }

  async #payment(
    node: UtxoNode,
    { amount }: PaymentIntent,
    recipient: Uint8Array,
    known: readonly OwnOutput[],
    held: Held,
    rules: ChangeRules,
  ): Promise<PreparedTx> {
    if (amount < dustLimit(this.#params, recipient)) {
      throw new ChainError('below_dust', 'the amount is too small to be paid to its address', final);
    }
    let coins = known.filter(({ key, spentBy }) => spentBy === null && !held.has(outpointReservation(key)));
    for (let selections = 0; selections < maxSelections; selections += 1) {
      const selection = selectCoins(coins, amount, recipient, rules);
      if (!selection) throw new ChainError('hot_wallet_low', 'the hot wallet has not enough free coins', ofChain);
      const spent = await this.#unusable(node, selection.inputs);
      if (spent.size === 0) {
        const change = selection.change.map((part) => ({ script: this.#hot.script, amount: part }));
        const inputs = await this.#inputs(node, selection.inputs);
        const tx = this.#build(inputs, [{ script: recipient, amount }, ...change]);
        const excess = tx.payload.length - maxPayloadBytes;
        if (excess <= 0) return tx;
        for (const key of heaviest(inputs, excess)) spent.add(key);
      }
      coins = coins.filter(({ key }) => !spent.has(key));
    }
    throw new ChainError('stale_outputs', 'too many outputs of the hot wallet were spent meanwhile', ofChain);
  }

  async #sweep(
    node: UtxoNode,
    { to, amount }: PaymentIntent,
    from: readonly string[],
    held: Held,
    rules: ChangeRules,
  ): Promise<PreparedTx> {
    if (to !== this.#hot.address) throw new ChainError('wrong_recipient', 'a sweep goes to the hot wallet', final);
    const byKey = new Map((await this.#outputs.find(this.#network.chain, from)).map((one) => [one.key, one]));
    const inputs = from.flatMap((key) => byKey.get(key) ?? []);
    if (inputs.length !== from.length || new Set(from).size !== from.length || from.length === 0) {
      throw new ChainError('unknown_output', 'an output that should be swept is not known', ofChain);
    }
    if (totalOf(inputs) !== amount) {
      throw new ChainError('wrong_amount', 'the outputs that should be swept are worth another amount', final);
    }
    if (from.some((key) => held.has(outpointReservation(key)))) {
      throw new ChainError('held', 'an output that should be swept is spent by another payment', ofChain);
    }
    const spent = await this.#unusable(node, inputs);
    if (spent.size > 0) throw new ChainError('stale_outputs', 'an output that should be swept is spent', ofChain);
    // The hot wallet's inputs leave its set; inputs of deposit addresses were never part of it.
    const hotInputs = inputs.filter(({ index }) => index === null).length;
    const sweeping = { ...rules, has: rules.has - hotInputs + inputs.length };
    const settled = settleChange(inputs, 0n, [], sweeping);
    if (!settled) throw new ChainError('below_fee', 'what should be swept is not worth the fee', final);
    const outputs = settled.change.map((part) => ({ script: this.#hot.script, amount: part }));
    const tx = this.#build(await this.#inputs(node, inputs), outputs);
    if (tx.payload.length > maxPayloadBytes)
      throw new ChainError('too_large', 'the sweep is larger than the signer accepts', final);
    return tx;
  }

  #build(inputs: readonly UnsignedInput[], outputs: readonly UnsignedOutput[]): PreparedTx {
    return prepared({ inputs, outputs, isReplaceable: this.#network.replaceable });
  }

  async #inputs(node: UtxoNode, inputs: readonly OwnOutput[]): Promise<UnsignedInput[]> {
    const unsigned: UnsignedInput[] = [];
    for (const input of inputs) {
      unsigned.push({
        outpoint: outpointOf(input),
        amount: input.amount,
        script: this.#scriptOf(input),
        path: input.index === null ? hotWalletPath(this.#paths) : depositPath(this.#paths, input.index),
        previous: ownForm(this.#params) === 'p2pkh' ? await this.#previous(node, input) : null,
      });
    }
    return unsigned;
  }

  /** The transaction that made an output, which proves its amount to the signer. */
  async #previous(node: UtxoNode, output: OwnOutput): Promise<Uint8Array> {
    const raw = await node.rawIn(outpointOf(output).txid, output.blockHash);
    if (raw === null) throw new ChainError('stale_outputs', 'the block of an output has changed', ofChain);
    return Buffer.from(raw, 'hex');
  }

  /**
   * Keys of the outputs that cannot be spent now. A block or a mempool transaction spends them, no
   * block holds them yet, or the node tells another amount or script.
   */
  async #unusable(node: UtxoNode, outputs: readonly OwnOutput[]): Promise<Set<string>> {
    const found = await node.outputs(outputs.map(outpointOf), true);
    const isUsable = (output: OwnOutput, index: number): boolean => {
      const real = found[index];
      const script = Buffer.from(this.#scriptOf(output)).toString('hex');
      return !!real && real.confirmations > 0 && real.amount === output.amount && real.script === script;
    };
    return new Set(outputs.filter((output, index) => !isUsable(output, index)).map(({ key }) => key));
  }

  #scriptOf({ address }: OwnOutput): Uint8Array {
    const script = scriptOfAddress(this.#params, address);
    if (!script) throw new Error(`${address} is not an address of ${this.#network.chain}`);
    return script;
  }

  #recipient({ contract, tag, to }: PaymentIntent): Uint8Array {
    if (contract !== null) throw new ChainError('no_tokens', `${this.#network.chain} has no tokens`, final);
    if (tag !== null) throw new ChainError('no_tags', `${this.#network.chain} has no tags`, final);
    const script = scriptOfAddress(this.#params, to);
    if (!script) throw new ChainError('wrong_recipient', `${to} is not an address of ${this.#network.chain}`, final);
    return script;
  }

  /** The fee rate, in the smallest unit for 1,000 virtual bytes. */
  #rate({ estimate, least }: FeeTerms): bigint {
    const { feeFloor, feeCeiling } = this.#network;
    if (least > feeCeiling) {
      throw new ChainError('fee_above_maximum', 'nodes ask for a higher fee than the settings allow', ofChain);
    }
    return minUnits(maxUnits(maxUnits(estimate ?? 0n, least), feeFloor), feeCeiling);
  }

  #rules(rate: bigint, has: number): ChangeRules {
    const form = ownForm(this.#params);
    const dust = dustLimit(this.#params, this.#hot.script);
    // Worth far more than it costs to spend, and far above dust.
    const leastPiece = maxUnits(dust * 50n, feeOf(rate, inputSize(form)) * 100n);
    return { form, script: this.#hot.script, dust, leastPiece, wanted: wantedOutputs, has, rate };
  }

  /**
   * The virtual size of a transaction with these outputs and `pieces` outputs to the hot wallet.
   */
  #size(inputs: number, fixed: readonly { readonly script: Uint8Array }[], pieces: number): number {
    const scripts = [...fixed.map(({ script }) => script), ...Array<Uint8Array>(pieces).fill(this.#hot.script)];
    return virtualSize(ownForm(this.#params), inputs, scripts);
  }
}

/** A retry does not help. */
const final = { retryable: false, isOfChain: true } as const;
const ofChain = { isOfChain: true } as const;

function prepared(unsigned: UnsignedTx): PreparedTx {
  const payload = encodePsbt(unsigned);
  const reserves = keysOf(decodePsbt(payload)).map(outpointReservation);
  return { payload, reserves, fee: totalOf(unsigned.inputs) - totalOf(unsigned.outputs), expiresAt: null };
}

/** Keys of the inputs with the largest previous transactions, enough of them to save `bytes`. */
function heaviest(inputs: readonly UnsignedInput[], bytes: number): string[] {
  const size = ({ previous }: UnsignedInput): number => previous?.length ?? 0;
  const keys: string[] = [];
  let left = bytes;
  for (const input of inputs.toSorted((a, b) => size(b) - size(a))) {
    if (left <= 0) break;
    keys.push(outpointKey(input.outpoint));
    left -= size(input);
  }
  return keys;
}
