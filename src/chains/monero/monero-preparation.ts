import { toUnits } from '../../base/money.ts';
import { RpcError } from '../nodes/json-rpc.ts';
import { ChainError, type Held, type PaymentIntent, type PreparedTx } from '../port/chain-adapter.ts';
import { maxPayloadBytes } from '../port/signer.ts';
import type { MoneroDaemon } from './monero-daemon.ts';
import { type MoneroNetwork, moneroDecimals } from './monero-section.ts';
import { keyImageReservation } from './monero-tx.ts';
import { type MoneroWallet, type UnsignedTransfer, type WalletOutput, walletCode } from './monero-wallet.ts';

/** An output whose key image is known. */
type OwnedOutput = WalletOutput & { readonly keyImage: string };

/**
 * Outputs that the wallet should have. Change is locked for ten blocks, so that a wallet with one
 * output makes one payment in that time.
 */
const wantedOutputs = 12;
/** Parts of change are worth this many times the fee. */
const leastPart = 100n;
/** Size of a usual transaction in bytes, for the first estimate of a fee. */
const usualBytes = 3_000n;
const mostTries = 5;

interface PreparationParts {
  readonly network: Pick<MoneroNetwork, 'chain' | 'feeLimits'>;
  readonly hotWallet: string;
  readonly wallet: MoneroWallet;
}

/** Builds payments. The caller makes sure that one is built at a time. */
export class MoneroPreparation {
  readonly #parts: PreparationParts;

  constructor(parts: PreparationParts) {
    this.#parts = parts;
  }

  /**
   * Builds a payment from outputs that no other payment holds. All other outputs are frozen
   * meanwhile, so that the wallet takes these.
   */
  async prepare(daemon: MoneroDaemon, intent: PaymentIntent, held: Held): Promise<PreparedTx> {
    this.#refuseUnknown(intent);
    const outputs = await this.#parts.wallet.outputs('available');
    const free = await freeOutputs(daemon, outputs, held);
    const frozen = new Set(outputs.filter(({ isFrozen }) => isFrozen).map(({ keyImage }) => keyImage));
    let fee = (await daemon.feePerByte()) * usualBytes;
    for (let tries = 0; tries < mostTries; tries += 1) {
      const chosen = choose(free, intent.amount + fee);
      if (chosen === null) throw low();
      await this.#freezeOthers(outputs, chosen, frozen);
      const built = await this.#build(intent, chosen, { fee, others: outputs.length - chosen.length });
      if (built === null) {
        fee *= 2n;
      } else if (built.inputs === chosen.length) {
        this.#refuseLarge(built);
        const reserves = chosen.map(({ keyImage }) => keyImageReservation(keyImage));
        return { payload: built.unsignedSet, reserves, fee: built.fee, expiresAt: null };
      } else {
        // Fewer outputs suffice, as the fee is lower than it was estimated.
        fee = built.fee;
      }
    }
    throw new ChainError('stale_outputs', 'the outputs of the hot wallet changed while a payment was built', ofChain);
  }

  #refuseUnknown({ contract, tag, from, setup }: PaymentIntent): void {
    const { chain } = this.#parts.network;
    if (contract !== null) throw new ChainError('no_tokens', `${chain} has no tokens`, final);
    if (tag !== null) throw new ChainError('no_tags', `${chain} has no tags`, final);
    if (from !== null) throw new ChainError('no_sweeps', `nothing is swept on ${chain}`, final);
    if (setup !== undefined) throw new ChainError('no_setups', `${chain} has no set-ups`, final);
  }

  /** @param frozen The key images of frozen outputs, which it keeps up to date. */
  async #freezeOthers(
    outputs: readonly WalletOutput[],
    chosen: readonly OwnedOutput[],
    frozen: Set<string | null>,
  ): Promise<void> {
    const wanted = new Set(chosen.map(({ keyImage }) => keyImage));
    for (const { keyImage } of outputs) {
      if (keyImage === null || frozen.has(keyImage) === !wanted.has(keyImage)) continue;
      if (frozen.delete(keyImage)) await this.#parts.wallet.thaw(keyImage);
      else {
        await this.#parts.wallet.freeze(keyImage);
        frozen.add(keyImage);
      }
    }
  }

  /** Null when the chosen outputs do not suffice for the fee. */
  async #build(
    { to, amount, purpose }: PaymentIntent,
    chosen: readonly OwnedOutput[],
    { fee, others }: { readonly fee: bigint; readonly others: number },
  ): Promise<UnsignedTransfer | null> {
    const { hotWallet, network } = this.#parts;
    const change = totalOf(chosen) - amount - fee;
    // The fee of a refund is bounded by what its user is charged.
    const parts = purpose === 'refund' ? 0n : BigInt(Math.max(0, wantedOutputs - others - 1));
    const part = change / (parts + 1n);
    const isWorth = parts > 0n && part >= leastPart * fee;
    const more = isWorth ? Array.from({ length: Number(parts) }, () => ({ address: hotWallet, amount: part })) : [];
    try {
      return await this.#parts.wallet.build([{ address: to, amount }, ...more]);
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      const { code } = error;
      if (code === walletCode.noFunds || code === walletCode.noUnlockedFunds) return null;
      if (code === walletCode.wrongAddress) {
        throw new ChainError('wrong_recipient', `${to} is not an address of ${network.chain}`, final);
      }
      if (code === walletCode.txTooLarge) {
        throw new ChainError('too_large', 'the payment needs more outputs than one transaction holds', ofChain);
      }
      throw error;
    }
  }

  #refuseLarge({ fee, unsignedSet }: UnsignedTransfer): void {
    const most = this.#parts.network.feeLimits?.perTransaction;
    if (most !== undefined && fee > toUnits(most, moneroDecimals)) {
      throw new ChainError('fee_above_maximum', 'the wallet asks for a higher fee than the settings allow', ofChain);
    }
    if (unsignedSet.length > maxPayloadBytes) {
      throw new ChainError('too_large', 'the payment is larger than the signer accepts', ofChain);
    }
  }
}

/** Neither a retry nor another node helps. */
const final = { retryable: false, isOfChain: true } as const;
const ofChain = { isOfChain: true } as const;

function low(): ChainError {
  return new ChainError('hot_wallet_low', 'the hot wallet has not enough free coins', ofChain);
}

function totalOf(outputs: readonly { readonly amount: bigint }[]): bigint {
  return outputs.reduce((sum, { amount }) => sum + amount, 0n);
}

/** The unlocked outputs that no payment holds, and nothing spends, also not what waits. */
async function freeOutputs(
  daemon: MoneroDaemon,
  outputs: readonly WalletOutput[],
  held: Held,
): Promise<readonly OwnedOutput[]> {
  const unlocked = outputs.filter(({ isUnlocked, isSpent, place }) => isUnlocked && !isSpent && place.major === 0);
  const owned = unlocked.filter((output): output is OwnedOutput => output.keyImage !== null);
  if (owned.length < unlocked.length) {
    // Such an output cannot be frozen, so that the wallet might take it.
    throw new ChainError('key_images_missing', 'the wallet does not know yet whether its outputs are spent', ofChain);
  }
  const free = owned.filter(({ keyImage }) => !held.has(keyImageReservation(keyImage)));
  const states = await daemon.spentStates(free.map(({ keyImage }) => keyImage));
  return free.filter((_, index) => states[index] === 'unspent');
}

/**
 * The smallest output that suffices, which leaves large ones to others. Otherwise the fewest
 * outputs, the largest first, so that none of them can be left out. Null when all do not suffice.
 */
export function choose<Output extends { readonly amount: bigint }>(
  free: readonly Output[],
  needed: bigint,
): readonly Output[] | null {
  const bySize = free.toSorted((one, other) => (one.amount < other.amount ? -1 : one.amount > other.amount ? 1 : 0));
  const single = bySize.find(({ amount }) => amount >= needed);
  if (single) return [single];
  const chosen: Output[] = [];
  for (const output of bySize.toReversed()) {
    chosen.push(output);
    if (totalOf(chosen) >= needed) return chosen;
  }
  return null;
}
