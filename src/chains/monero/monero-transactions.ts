import { moneroParts } from '../addresses/monero.ts';
import { moneroAddress, moneroKeys, moneroKeyText } from '../addresses/monero-keys.ts';
import { type Network, networkOfChain } from '../networks/networks.ts';
import { RpcError } from '../nodes/json-rpc.ts';
import { ChainError, type PaymentIntent, type PreparedTx } from '../port/chain-adapter.ts';
import { type KeyImages, SignerError } from '../port/signer.ts';
import {
  faultsOf,
  type OpenedTx,
  type SignedBytes,
  type SigningKeys,
  type TransactionSigner,
} from '../port/transaction-signer.ts';
import type { MoneroNetwork } from './monero-section.ts';
import { moneroTraits } from './monero-traits.ts';
import { keyImageOf, keyImageReservation, MalformedTx, type MoneroTx, parseMoneroTx } from './monero-tx.ts';
import { type DescribedTx, MoneroWallet, type WalletKeys, walletCode } from './monero-wallet.ts';

interface MoneroTransactionsOptions {
  readonly network: Pick<MoneroNetwork, 'chain' | 'offlineWallet'>;
  readonly keys: SigningKeys;
}

/** Addresses that one request has the offline wallet make, and that it has at most. */
const addressesAtOnce = 1_000;
const mostAddresses = 5_000_000;
/** The offline wallet is made without blocks, so that it begins nowhere. */
const anyHeight = 0;

/**
 * Checks and signs payments with an offline wallet. Its file is made from the seed where there is
 * none, and is no part of a backup.
 */
export class MoneroTransactions implements TransactionSigner {
  readonly traits = moneroTraits;
  readonly keepsBytes = true;
  readonly #chain: string;
  readonly #keys: WalletKeys;
  readonly #wallet: MoneroWallet | null;
  /** How many addresses the open wallet has; null when that must be asked. */
  #addresses: number | null = null;
  /** One call to the wallet must not come between those of another. */
  #last: Promise<unknown> = Promise.resolve();

  constructor({ network: { chain, offlineWallet }, keys }: MoneroTransactionsOptions) {
    this.#chain = chain;
    const secret = moneroKeys(keys.ed25519(pathsOf(chain).accountPath).privateKey);
    const [spendKey, viewKey] = [moneroKeyText(secret.spend), moneroKeyText(secret.view)];
    this.#keys = { address: moneroAddress(secret), viewKey, spendKey };
    this.#wallet = offlineWallet === null ? null : new MoneroWallet(offlineWallet);
  }

  hotWallet(chain: string): string {
    if (chain !== this.#chain) throw new Error(`these are the transactions of ${this.#chain}, not of ${chain}`);
    return this.#keys.address;
  }

  isHotWallet(chain: string, address: string): boolean {
    return address === this.hotWallet(chain);
  }

  viewKey(): string {
    return this.#keys.viewKey;
  }

  keyImages(outputs: string, addresses: number): Promise<KeyImages | null> {
    return this.#inTurn(async (wallet) => {
      await this.#addAddresses(wallet, addresses);
      try {
        await wallet.importOutputs(outputs);
      } catch (error) {
        // Also where it has none of the earlier ones, which are not among these.
        if (error instanceof RpcError) return null;
        throw error;
      }
      const found = await wallet.exportKeyImages();
      await wallet.save();
      return found;
    });
  }

  async open(chain: string, intent: PaymentIntent, tx: PreparedTx): Promise<OpenedTx<Promise<SignedBytes>>> {
    const described = await this.#inTurn(async (wallet) => {
      try {
        return await wallet.describe(tx.payload);
      } catch (error) {
        if (!(error instanceof RpcError) || error.code !== walletCode.unusableSet) throw error;
        throw new SignerError('refused', 'the payload is not an unsigned transaction of the wallet', error);
      }
    });
    const address = this.#keys.address;
    const faults = [
      ...(chain === this.#chain ? [] : ['the chain of the transaction is not the one asked for']),
      ...paymentFaults({ intent, tx, described, hotWallet: address }),
    ];
    return { faults, sign: () => this.#sign(tx, described) };
  }

  /** Signs, and compares the bytes with what was asked for before they leave. */
  async #sign(tx: PreparedTx, described: readonly DescribedTx[]): Promise<SignedBytes> {
    const raws = await this.#inTurn((wallet) => this.#signKeepingOutputs(wallet, tx.payload));
    const [raw = ''] = raws;
    const signed = parsed(raw);
    const faults = raws.length === 1 ? signedFaults(signed, tx, described) : ['the wallet signed another number'];
    if (faults.length > 0) throw new SignerError('refused', faults.join('; '));
    return { txid: signed.txid, raw };
  }

  /**
   * monero-wallet-rpc 0.18.0 drops all outputs of its wallet when it signs. The file still has
   * them: without it, each payment would bring all outputs to the signer again.
   */
  async #signKeepingOutputs(wallet: MoneroWallet, payload: string): Promise<readonly string[]> {
    try {
      return await wallet.sign(payload);
    } finally {
      // The next request opens a wallet that is not open, and brings outputs that it lacks.
      await wallet.reopen(this.#keys).catch((error: unknown) => {
        if (!(error instanceof ChainError || error instanceof RpcError)) throw error;
      });
    }
  }

  #inTurn<T>(task: (wallet: MoneroWallet) => Promise<T>): Promise<T> {
    const turn = this.#last.then(() => this.#withWallet(task));
    this.#last = turn.catch(() => {});
    return turn;
  }

  /** The wallet takes no output of an address that it does not know. */
  async #addAddresses(wallet: MoneroWallet, wanted: number): Promise<void> {
    if (!Number.isSafeInteger(wanted) || wanted > mostAddresses) {
      throw new SignerError('refused', `a wallet has at most ${mostAddresses} addresses`);
    }
    this.#addresses ??= (await wallet.addresses()).length;
    const missing = wanted - this.#addresses;
    if (missing <= 0) return;
    await wallet.addAddresses(Math.min(missing, addressesAtOnce));
    this.#addresses += Math.min(missing, addressesAtOnce);
    await wallet.save();
    if (missing > addressesAtOnce) throw new SignerError('unavailable', 'the offline wallet still makes its addresses');
  }

  async #withWallet<T>(task: (wallet: MoneroWallet) => Promise<T>): Promise<T> {
    const wallet = this.#wallet;
    if (wallet === null) {
      throw new SignerError(
        'unavailable',
        `offline_wallet of ${this.#chain} is not set in the signer's file of networks`,
      );
    }
    try {
      const found = await wallet.address();
      if (found !== null && found !== this.#keys.address) {
        throw new SignerError('unavailable', 'the offline wallet that is open is of other keys');
      }
      if (found === null) {
        this.#addresses = null;
        await wallet.open(this.#keys, anyHeight);
      }
      return await task(wallet);
    } catch (error) {
      if (!(error instanceof ChainError || error instanceof RpcError)) throw error;
      throw new SignerError('unavailable', `the offline wallet gives no valid answer: ${error.message}`, error);
    }
  }
}

function pathsOf(chain: string): Network {
  const network = networkOfChain(chain);
  if (network?.family !== 'monero') throw new Error(`${chain} is not Monero`);
  return network;
}

interface Described {
  readonly intent: PaymentIntent;
  readonly tx: PreparedTx;
  readonly described: readonly DescribedTx[];
  readonly hotWallet: string;
}

/** The differences between what an unsigned set does and the decided payment. */
export function paymentFaults({ intent, tx, described, hotWallet }: Described): string[] {
  const [one] = described;
  if (one === undefined || described.length > 1) return ['the payload is not one transaction'];
  const to = moneroParts(intent.to);
  const home = moneroParts(hotWallet);
  // With a payment id, the wallet shows its own address as an integrated one too.
  const others = one.recipients.filter(({ address }) => moneroParts(address)?.keys !== home?.keys);
  const images = tx.reserves.map(keyImageOf);
  return faultsOf([
    ['the contract of the payment is of no token of the chain', intent.contract === null],
    ['the tag of the payment cannot be on the chain', intent.tag === null],
    ['nothing is swept on the chain', intent.from === null],
    ['the recipient (to) of the payment is not an address of the chain', to !== null],
    ['the recipient (to) of the payment is the hot wallet', to?.keys !== home?.keys],
    [
      'the transaction pays an address other than the recipient and the hot wallet',
      others.every(({ address }) => address === intent.to),
    ],
    [
      'the transaction does not pay the amount to the recipient (to) of the payment',
      others.length === 1 && others[0]?.amount === intent.amount,
    ],
    ['the payment id is not that of the recipient', one.paymentId === (to?.paymentId ?? '')],
    ['the change does not go to the hot wallet', one.change === 0n || one.changeAddress === hotWallet],
    ['the transaction is locked', one.unlockTime === 0n],
    ['the fee of the transaction is not the one stated', one.fee === tx.fee],
    ['the fee of the transaction is not above 0', one.fee > 0n],
    ['the amounts of the transaction do not add up', one.amountIn === one.amountOut + one.fee],
    ['the amounts of the outputs do not add up', one.amountOut === totalOf(one.recipients) + one.change],
    ['the reserves are no key images', images.length > 0 && !images.includes(null)],
    ['an output is spent twice', new Set(images).size === images.length],
    ['the transaction never expires, and it states that it does', tx.expiresAt === null],
  ]);
}

/** The differences between the signed bytes and what was described and stated. */
export function signedFaults(signed: MoneroTx, tx: PreparedTx, described: readonly DescribedTx[]): string[] {
  const spent = signed.keyImages.map(keyImageReservation);
  const isSame = spent.length === tx.reserves.length && spent.every((one) => tx.reserves.includes(one));
  return faultsOf([
    ['the reserves are not the key images of the transaction', isSame],
    ['the fee of the signed transaction is not the one stated', signed.fee === tx.fee],
    ['the signed transaction is locked', signed.unlockTime === 0n],
    ['the signed transaction has too few outputs', signed.paid.length >= (described[0]?.recipients.length ?? 0)],
  ]);
}

function totalOf(items: readonly { readonly amount: bigint }[]): bigint {
  return items.reduce((sum, { amount }) => sum + amount, 0n);
}

function parsed(raw: string): MoneroTx {
  try {
    return parseMoneroTx(raw);
  } catch (error) {
    if (!(error instanceof MalformedTx)) throw error;
    throw new SignerError('refused', `the offline wallet signed an unknown form: ${error.message}`, error);
  }
}
