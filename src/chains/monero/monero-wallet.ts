import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import type { NodeConfig } from '../networks/network-config.ts';
import { JsonRpcNode, RpcError } from '../nodes/json-rpc.ts';
import { asList, asObject, NodeFault, unsound } from '../nodes/node-answer.ts';
import type { KeyImages } from '../port/signer.ts';
import { amountOf, flagOf, hashOf, hexOf, placeOf, type SubaddressPlace, textOf, wholeOf } from './monero-answer.ts';
import { below } from './monero-daemon.ts';

/** Codes of monero-wallet-rpc's refusals, `wallet_rpc_server_error_codes.h` of its source. */
export const walletCode = {
  unknown: -1,
  wrongAddress: -2,
  noFunds: -17,
  txTooLarge: -16,
  noWallet: -13,
  noUnlockedFunds: -37,
  unusableSet: -39,
} as const;

/** What came to one subaddress by one transaction. */
export interface WalletTransfer {
  readonly txid: string;
  readonly address: string;
  readonly place: SubaddressPlace;
  readonly amount: bigint;
  /** 0 while it waits for a block. */
  readonly height: number;
  readonly unlockTime: bigint;
  readonly isCoinbase: boolean;
  readonly isDoubleSpendSeen: boolean;
}

/** An output of the wallet. Its public key is that of no other output of the wallet. */
export interface WalletOutput {
  readonly txid: string;
  readonly publicKey: string;
  readonly place: SubaddressPlace;
  readonly amount: bigint;
  /** Null until it was imported. */
  readonly keyImage: string | null;
  readonly isSpent: boolean;
  readonly isUnlocked: boolean;
  readonly isFrozen: boolean;
}

/** What the wallet has sent, with the amount that went to others. */
export interface WalletSpend {
  readonly txid: string;
  readonly amount: bigint;
  readonly fee: bigint;
  readonly height: number;
}

export interface UnsignedTransfer {
  readonly unsignedSet: string;
  readonly fee: bigint;
  readonly inputs: number;
}

/** The keys of a wallet file. A wallet without the spend key sees and cannot spend. */
export interface WalletKeys {
  readonly address: string;
  readonly viewKey: string;
  readonly spendKey?: string;
}

/** A wallet reads the chain for minutes after it was made. */
const callTimeoutMs = 900_000;
/** The most subaddresses that one call makes. */
const subaddressesAtOnce = 64;

/**
 * One monero-wallet-rpc with one wallet file, https://docs.getmonero.org/rpc-library/wallet-rpc/
 * It answers one call at a time.
 */
export class MoneroWallet {
  readonly #rpc: JsonRpcNode;

  constructor(config: NodeConfig, { timeoutMs = callTimeoutMs }: { readonly timeoutMs?: number } = {}) {
    const options = { timeoutMs, numbersAsText: true, digest: true };
    this.#rpc = new JsonRpcNode({ ...config, url: below(config.url, 'json_rpc') }, options);
  }

  get name(): string {
    return this.#rpc.name;
  }

  /** The primary address of the open wallet; null while none is open. */
  async address(): Promise<string | null> {
    try {
      const answer = await this.#call('get_address', { account_index: 0, address_index: [0] });
      return textOf(answer.address, 'address');
    } catch (error) {
      if (error instanceof RpcError && error.code === walletCode.noWallet) return null;
      throw error;
    }
  }

  /**
   * Opens the wallet of these keys, and makes its file where there is none. It reads the chain only
   * when asked to.
   *
   * @param restoreHeight The block from which on a new file reads the chain.
   */
  async open(wallet: WalletKeys, restoreHeight: number): Promise<void> {
    const { address, viewKey, spendKey } = wallet;
    // Before the wallet is there. It would read blocks before it knows the subaddresses.
    await this.stopReading();
    const { filename, password } = fileOf(wallet);
    try {
      await this.#call('open_wallet', { filename, password });
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      const keys = { address, viewkey: viewKey, ...(spendKey !== undefined && { spendkey: spendKey }) };
      const terms = { restore_height: restoreHeight, autosave_current: true };
      try {
        await this.#call('generate_from_keys', { ...terms, filename, password, ...keys });
      } catch (cause) {
        if (!(cause instanceof RpcError)) throw cause;
        const what = `can neither open nor make the wallet file ${filename}: ${cause.message}`;
        throw new NodeFault('wallet_unusable', what, { node: this.name, cause });
      }
    }
    const found = await this.address();
    if (found !== address) throw new NodeFault('other_wallet', 'opened another wallet', { node: this.name });
  }

  /** Has it read blocks only when asked to. */
  async stopReading(): Promise<void> {
    await this.#call('auto_refresh', { enable: false });
  }

  /** The subaddresses of account 0 that it knows, by index; the first is the primary address. */
  async addresses(): Promise<readonly string[]> {
    const answer = await this.#call('get_address', { account_index: 0 });
    return asList(answer.addresses, 'addresses').map((value, index) => {
      const found = asObject(value, 'address');
      if (wholeOf(found.address_index, 'index of an address') !== index) throw unsound('addresses with a gap');
      return textOf(found.address, 'address');
    });
  }

  /** Makes the next subaddresses of account 0. */
  async addAddresses(count: number): Promise<void> {
    for (let left = count; left > 0; left -= subaddressesAtOnce) {
      await this.#call('create_address', { account_index: 0, count: Math.min(left, subaddressesAtOnce) });
    }
  }

  /** Reads the new blocks of its daemon. */
  async refresh(): Promise<void> {
    await this.#call('refresh', {});
  }

  /** Height of the newest block that it has read. */
  async height(): Promise<number> {
    return wholeOf((await this.#call('get_height', {})).height, 'height') - 1;
  }

  async close(): Promise<void> {
    await this.#call('close_wallet', {});
  }

  /**
   * Opens the file of these keys again, without what happened since it was saved. When the file is
   * gone, no wallet is open afterwards.
   */
  async reopen(keys: WalletKeys): Promise<void> {
    await this.#call('close_wallet', { autosave_current: false });
    await this.#call('open_wallet', fileOf(keys));
  }

  async save(): Promise<void> {
    await this.#call('store', {});
  }

  /** What came in blocks above a height. */
  async arrivals(above: number): Promise<readonly WalletTransfer[]> {
    const range = { filter_by_height: true, min_height: above, max_height: 4_000_000_000 };
    const answer = await this.#call('get_transfers', { in: true, account_index: 0, ...range });
    return listOf(answer.in).map(walletTransfer);
  }

  /** What waits for a block. */
  async waiting(): Promise<readonly WalletTransfer[]> {
    const answer = await this.#call('get_transfers', { pool: true, account_index: 0 });
    return listOf(answer.pool).map(walletTransfer);
  }

  /** What was sent in blocks with the wallet's keys, by the gateway or by a person. */
  async spends(): Promise<readonly WalletSpend[]> {
    const answer = await this.#call('get_transfers', { out: true, account_index: 0 });
    return listOf(answer.out).map((value) => {
      const found = asObject(value, 'payment of the wallet');
      return {
        txid: hashOf(found.txid, 'txid'),
        amount: amountOf(found.amount, 'amount of a payment'),
        fee: amountOf(found.fee, 'fee of a payment'),
        height: wholeOf(found.height, 'height of a payment'),
      };
    });
  }

  /** The wallet's outputs in blocks. */
  async outputs(which: 'all' | 'available'): Promise<readonly WalletOutput[]> {
    const answer = await this.#call('incoming_transfers', { transfer_type: which, account_index: 0 });
    return listOf(answer.transfers).map(walletOutput);
  }

  async freeze(keyImage: string): Promise<void> {
    await this.#call('freeze', { key_image: keyImage });
  }

  async thaw(keyImage: string): Promise<void> {
    await this.#call('thaw', { key_image: keyImage });
  }

  /** The outputs whose key images it wants, or all. */
  async exportOutputs(all: boolean): Promise<string> {
    return hexOf((await this.#call('export_outputs', { all })).outputs_data_hex, 'outputs');
  }

  async importOutputs(outputs: string): Promise<void> {
    await this.#call('import_outputs', { outputs_data_hex: outputs });
  }

  async exportKeyImages(): Promise<KeyImages> {
    const answer = await this.#call('export_key_images', { all: false });
    const images = listOf(answer.signed_key_images).map((value) => {
      const found = asObject(value, 'key image');
      const signature = textOf(found.signature, 'signature of a key image');
      return { keyImage: hashOf(found.key_image, 'key image'), signature };
    });
    return { offset: answer.offset === undefined ? 0 : wholeOf(answer.offset, 'place of key images'), images };
  }

  async importKeyImages({ offset, images }: KeyImages): Promise<void> {
    if (images.length === 0) return;
    const signed = images.map(({ keyImage, signature }) => ({ key_image: keyImage, signature }));
    await this.#call('import_key_images', { offset, signed_key_images: signed });
  }

  /** Builds a transaction of the wallet's outputs that are not frozen. */
  async build(
    destinations: readonly { readonly address: string; readonly amount: bigint }[],
  ): Promise<UnsignedTransfer> {
    const paid = destinations.map(({ address, amount }) => ({ address, amount: new Units(amount) }));
    const answer = await this.#call('transfer', { destinations: paid, account_index: 0, do_not_relay: true });
    const images = asObject(answer.spent_key_images, 'inputs of a transaction').key_images;
    return {
      unsignedSet: hexOf(answer.unsigned_txset, 'unsigned transaction'),
      fee: amountOf(answer.fee, 'fee of a transaction'),
      inputs: asList(images, 'inputs of a transaction').length,
    };
  }

  /** What the transactions of an unsigned set do. */
  async describe(unsignedSet: string): Promise<readonly DescribedTx[]> {
    const answer = await this.#call('describe_transfer', { unsigned_txset: unsignedSet });
    return asList(answer.desc, 'description').map(describedTx);
  }

  /** Signs an unsigned set. Each call gives other bytes. Returns those of each transaction. */
  async sign(unsignedSet: string): Promise<readonly string[]> {
    const answer = await this.#call('sign_transfer', { unsigned_txset: unsignedSet, export_raw: true });
    return asList(answer.tx_raw_list, 'signed transactions').map((raw) => hexOf(raw, 'signed transaction'));
  }

  async #call(method: string, params: object): Promise<Readonly<Record<string, unknown>>> {
    return asObject(await this.#rpc.call(method, params), `answer to ${method}`);
  }
}

/** The name of a wallet's file in the folder of its program, and what it is encrypted with. */
function fileOf({ address, viewKey, spendKey }: WalletKeys): { readonly filename: string; readonly password: string } {
  return {
    filename: `gateway-${spendKey === undefined ? 'view' : 'sign'}-${address.slice(0, 16)}`,
    password: bytesToHex(sha256(utf8ToBytes(`wallet file ${spendKey ?? viewKey}`))),
  };
}

/** Whole numbers of up to 64 bits are numbers of JSON, which a float would round. */
class Units {
  readonly #amount: bigint;

  constructor(amount: bigint) {
    this.#amount = amount;
  }

  toJSON(): unknown {
    return (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(this.#amount.toString());
  }
}

/** A transaction of an unsigned set, as the offline wallet reads it. */
export interface DescribedTx {
  readonly amountIn: bigint;
  readonly amountOut: bigint;
  readonly change: bigint;
  /** '' without change. */
  readonly changeAddress: string;
  readonly fee: bigint;
  readonly unlockTime: bigint;
  /** '' for none. */
  readonly paymentId: string;
  readonly recipients: readonly { readonly address: string; readonly amount: bigint }[];
}

function describedTx(value: unknown): DescribedTx {
  const tx = asObject(value, 'description');
  return {
    amountIn: amountOf(tx.amount_in, 'amount of the inputs'),
    amountOut: amountOf(tx.amount_out, 'amount of the outputs'),
    change: amountOf(tx.change_amount, 'change'),
    changeAddress: textOf(tx.change_address, 'address of the change'),
    fee: amountOf(tx.fee, 'fee'),
    unlockTime: amountOf(tx.unlock_time, 'unlock time'),
    paymentId: textOf(tx.payment_id, 'payment id'),
    recipients: listOf(tx.recipients).map((one) => {
      const { address, amount } = asObject(one, 'recipient');
      return { address: textOf(address, 'recipient'), amount: amountOf(amount, 'amount of a recipient') };
    }),
  };
}

/** The wallet leaves out a list that is empty. */
function listOf(value: unknown): readonly unknown[] {
  return value === undefined ? [] : asList(value, 'list');
}

function walletTransfer(value: unknown): WalletTransfer {
  const found = asObject(value, 'transfer');
  return {
    txid: hashOf(found.txid, 'txid'),
    address: textOf(found.address, 'address of a transfer'),
    place: placeOf(found.subaddr_index),
    amount: amountOf(found.amount, 'amount of a transfer'),
    height: wholeOf(found.height, 'height of a transfer'),
    unlockTime: amountOf(found.unlock_time, 'unlock time of a transfer'),
    isCoinbase: found.type === 'block',
    isDoubleSpendSeen: flagOf(found.double_spend_seen, 'double spend of a transfer'),
  };
}

/** Of an output whose key image is not known, and of no output that can be spent. */
const noKeyImage = `01${'00'.repeat(31)}`;

function walletOutput(value: unknown): WalletOutput {
  const found = asObject(value, 'output');
  const image = textOf(found.key_image, 'key image');
  return {
    txid: hashOf(found.tx_hash, 'txid'),
    publicKey: hashOf(found.pubkey, 'public key of an output'),
    place: placeOf(found.subaddr_index),
    amount: amountOf(found.amount, 'amount of an output'),
    keyImage: image === '' || image === noKeyImage ? null : hashOf(image, 'key image'),
    isSpent: flagOf(found.spent, 'state of an output'),
    isUnlocked: flagOf(found.unlocked, 'lock of an output'),
    isFrozen: flagOf(found.frozen, 'state of an output'),
  };
}
