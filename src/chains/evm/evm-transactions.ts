import { secp256k1 } from '@noble/curves/secp256k1.js';
import { encodeEvm, evmCodec } from '../addresses/evm.ts';
import { hotWalletPath, isDepositPath, type Network, networkOfChain } from '../networks/networks.ts';
import type { PaymentIntent, PreparedTx } from '../port/chain-adapter.ts';
import { SignerError } from '../port/signer.ts';
import type { OpenedTx, SigningKeys, TransactionSigner } from '../port/transaction-signer.ts';
import { transferCall } from './erc20.ts';
import { plainGas } from './evm-fees.ts';
import { hasL1Fee } from './evm-l1-fee.ts';
import type { EvmNetwork } from './evm-section.ts';
import { evmTraits } from './evm-traits.ts';
import { decodePayload, type EvmPayload, reservation, signEvmTx } from './evm-tx.ts';

interface EvmTransactionsOptions {
  readonly network: Pick<EvmNetwork, 'chain' | 'chainId' | 'maxFeePerGas' | 'maxPaymentGas' | 'maxTokenGas'>;
  readonly keys: SigningKeys;
}

/** Reads and signs the transactions of one EVM chain. */
export class EvmTransactions implements TransactionSigner {
  readonly traits = evmTraits;
  readonly #network: EvmTransactionsOptions['network'];
  readonly #keys: SigningKeys;
  readonly #paths: Network;
  /** Cached: it is public, and its derivation is slow. */
  #hotWallet: string | undefined;

  constructor({ network, keys }: EvmTransactionsOptions) {
    const paths = networkOfChain(network.chain);
    if (paths?.family !== 'evm') throw new Error(`${network.chain} is not an EVM chain`);
    this.#network = network;
    this.#keys = keys;
    this.#paths = paths;
  }

  hotWallet(): string {
    this.#hotWallet ??= this.#address(hotWalletPath(this.#paths));
    return this.#hotWallet;
  }

  isHotWallet(_chain: string, address: string): boolean {
    const decoded = evmCodec.decode(address);
    return decoded.ok && decoded.address === this.hotWallet();
  }

  open(chain: string, intent: PaymentIntent, tx: PreparedTx): OpenedTx {
    const payload = openPayload(tx.payload);
    return {
      faults: this.#faults(chain, intent, tx, payload),
      sign: () => signEvmTx(payload.tx, this.#keys.secp256k1(payload.path).privateKey),
    };
  }

  #faults(chain: string, intent: PaymentIntent, prepared: PreparedTx, { path, tx }: EvmPayload): string[] {
    const network = this.#network;
    const hot = this.hotWallet();
    const own = this.#ownAddress(path);
    const sender = intent.from === null ? hot : intent.from[0];
    const isOwnSweep = intent.from !== null && intent.contract === null;
    const gasFee = tx.gas * tx.maxFeePerGas;
    const mostGas = intent.contract === null ? network.maxPaymentGas : network.maxTokenGas;
    // The transaction does not state a rollup's fee for the first layer.
    const isFee = hasL1Fee(network.chain) ? prepared.fee >= gasFee : prepared.fee === gasFee;
    const conditions: readonly (readonly [string, boolean])[] = [
      ['the chain is not the one asked for', chain === network.chain],
      ['the chain id of the transaction is not that of the chain', tx.chainId === network.chainId],
      ['the key of the transaction is not one of ours', own !== null],
      ['the transaction does not pay from the address of the payment', own === null || own === sender],
      ['a payment from the hot wallet has another key', intent.from !== null || path === hotWalletPath(this.#paths)],
      ['a sweep takes from one address', intent.from === null || intent.from.length === 1],
      [
        'a sweep does not bring its coins to the hot wallet',
        intent.from === null || this.isHotWallet(chain, intent.to),
      ],
      ['a sweep takes from the hot wallet', intent.from === null || path !== hotWalletPath(this.#paths)],
      [
        'the recipient (to) of the transaction is not that of the payment, or not its contract',
        sameAddress(tx.to, intent.contract ?? intent.to),
      ],
      ['the value of the transaction is not the amount of the payment', tx.value === paidValue(intent, prepared.fee)],
      ['the amount of the sweep does not cover its fee', !isOwnSweep || intent.amount > prepared.fee],
      ['the data of the transaction is not the transfer of the payment', tx.data === dataOf(intent)],
      ['the payment has a tag, and the chain has none', intent.tag === null],
      ['the gas of the transaction is out of bounds', tx.gas >= plainGas && tx.gas <= mostGas],
      ['the price of gas is above the maximum', tx.maxFeePerGas <= network.maxFeePerGas],
      ['the tip is above the price of gas', tx.maxPriorityFeePerGas <= tx.maxFeePerGas],
      ['the fee of the transaction is not the one stated', isFee],
      [
        'the reserves are not the nonce of the transaction',
        prepared.reserves.length === 1 && prepared.reserves[0] === reservation(sender ?? '', tx.nonce),
      ],
      // Nothing in these bytes expires. If the gateway believed otherwise, it would pay again while
      // they can still confirm.
      ['the transaction never expires, and it states that it does', prepared.expiresAt === null],
    ];
    return conditions.filter(([, holds]) => !holds).map(([fault]) => fault);
  }

  /** The address of a hot wallet key or a deposit key; null for any other path. */
  #ownAddress(path: string): string | null {
    if (path === hotWalletPath(this.#paths)) return this.hotWallet();
    return isDepositPath(this.#paths, path) ? this.#address(path) : null;
  }

  #address(path: string): string {
    const { publicKey } = this.#keys.secp256k1(path);
    return encodeEvm(secp256k1.Point.fromBytes(publicKey).toBytes(false).subarray(1));
  }
}

function openPayload(text: string): EvmPayload {
  try {
    return decodePayload(text);
  } catch (error) {
    throw new SignerError('refused', 'the payload is not an EVM transaction', error);
  }
}

/** Compares addresses in any capitals. */
function sameAddress(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}

function paidValue({ from, contract, amount }: PaymentIntent, fee: bigint): bigint {
  if (contract !== null) return 0n;
  return from === null ? amount : amount - fee;
}

/** The data of a transfer; null when the recipient is no address. */
function dataOf({ contract, to, amount }: PaymentIntent): string | null {
  if (contract === null) return '0x';
  if (!/^0x[0-9a-fA-F]{40}$/.test(to) || amount < 0n || amount >= 1n << 256n) return null;
  return transferCall(to, amount);
}
