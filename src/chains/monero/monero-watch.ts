import type { MadeAddresses } from '../addresses/own-addresses.ts';
import { NodeFault } from '../nodes/node-answer.ts';
import { ChainError } from '../port/chain-adapter.ts';
import { type KeyImages, type Signer, SignerError } from '../port/signer.ts';
import type { MoneroWallet } from './monero-wallet.ts';

interface WatchParts {
  readonly chain: string;
  /** The primary address. */
  readonly hotWallet: string;
  readonly startHeight: number;
  readonly wallet: MoneroWallet;
  readonly addresses: MadeAddresses;
  /** Null in a process that reads only. */
  readonly signer: Pick<Signer, 'viewKey' | 'keyImages'> | null;
}

/**
 * Keeps the wallet that sees: its file, its subaddresses and its key images. A wallet reads blocks
 * only when `read` asks for it, after it knows every subaddress that was made. So no deposit is in
 * a block that it read before it knew the address.
 */
export class MoneroWatch {
  readonly #parts: WatchParts;
  /** How many addresses the open wallet has; null when that must be asked. */
  #known: number | null = null;

  constructor(parts: WatchParts) {
    this.#parts = parts;
  }

  /** Reads the new blocks, and returns the height of the newest one that was read. */
  async read(): Promise<number> {
    const { wallet, addresses } = this.#parts;
    await this.#open();
    this.#known ??= (await wallet.addresses()).length;
    const missing = (await addresses.last()) + 1 - this.#known;
    if (missing > 0) {
      await wallet.addAddresses(missing);
      await wallet.save();
      this.#known += missing;
    }
    await wallet.refresh();
    return wallet.height();
  }

  /**
   * Gets the key images that the wallet lacks from the signer, so that it knows what is spent. Also
   * brings the outputs to a signer whose wallet was made again.
   *
   * @throws ChainError `signer_away`
   */
  async learnKeyImages(): Promise<void> {
    const { wallet, chain, signer } = this.#parts;
    if (!signer?.keyImages) throw new ChainError('signer_away', `${chain} needs a signer for key images`);
    try {
      const ask = async (all: boolean): Promise<KeyImages | null> =>
        (await signer.keyImages?.(chain, await wallet.exportOutputs(all), this.#known ?? 1)) ?? null;
      const found = (await ask(false)) ?? (await ask(true));
      if (found === null) throw new SignerError('unavailable', 'its wallet takes no outputs');
      await wallet.importKeyImages(found);
    } catch (error) {
      if (!(error instanceof SignerError)) throw error;
      throw new ChainError('signer_away', `the signer tells no key images: ${error.message}`, {
        isOfChain: true,
        cause: error,
      });
    }
  }

  /** The problems of the wallet, for people. */
  async problems(): Promise<string[]> {
    const { wallet, addresses } = this.#parts;
    const [found, made] = [await wallet.addresses(), await addresses.all()];
    const wrong = [...made].filter(([index, address]) => found[index] !== undefined && found[index] !== address);
    const missing = [...made.keys()].filter((index) => found[index] === undefined);
    return [
      ...(wrong.length > 0 ? [`its wallet has another address at index ${wrong[0]?.[0]} than the database`] : []),
      ...(missing.length > 0
        ? [`its wallet lacks ${missing.length} subaddresses: the gateway makes them when it next reads the chain`]
        : []),
    ];
  }

  /** The key that sees what comes to the wallet; null in a process without a signer. */
  async viewKey(): Promise<string | null> {
    const { chain, signer } = this.#parts;
    if (!signer?.viewKey) return null;
    try {
      return await signer.viewKey(chain);
    } catch (error) {
      if (!(error instanceof SignerError)) throw error;
      throw new ChainError('signer_away', `the signer tells no view key: ${error.message}`, {
        isOfChain: true,
        cause: error,
      });
    }
  }

  async #open(): Promise<void> {
    const { wallet, hotWallet, startHeight } = this.#parts;
    const found = await wallet.address();
    if (found === hotWallet && this.#known !== null) return;
    if (found !== null && found !== hotWallet) {
      throw new NodeFault('other_wallet', 'has the wallet of other keys open', { node: wallet.name });
    }
    if (found === hotWallet) {
      // An earlier process opened it. It goes on while the signer is away.
      await wallet.stopReading();
    } else {
      const viewKey = await this.viewKey();
      if (viewKey === null) throw new ChainError('wallet_not_open', 'no process with a signer has opened the wallet');
      await wallet.open({ address: hotWallet, viewKey }, startHeight);
    }
    this.#known = null;
  }
}
