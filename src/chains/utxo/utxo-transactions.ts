import { hotWalletPath, isDepositPath, type Network, networkOfChain } from '../networks/networks.ts';
import { type UtxoParams, utxoParams } from '../networks/utxo-params.ts';
import type { PaymentIntent, PreparedTx } from '../port/chain-adapter.ts';
import { SignerError } from '../port/signer.ts';
import type { OpenedTx, SigningKeys, TransactionSigner } from '../port/transaction-signer.ts';
import { outpointReservation } from './outpoint.ts';
import { decodePsbt, keysOf, totalOf, type UnsignedInput, type UnsignedTx, unsignedTransaction } from './utxo-psbt.ts';
import { dustLimit, feeOf, ownAddress, ownForm, scriptOfAddress, virtualSize } from './utxo-script.ts';
import type { UtxoNetwork } from './utxo-section.ts';
import { utxoTraits } from './utxo-traits.ts';

interface UtxoTransactionsOptions {
  readonly network: Pick<UtxoNetwork, 'chain' | 'net' | 'feeCeiling'>;
  readonly keys: SigningKeys;
}

/** Reads, checks and signs the transactions of one Bitcoin-like chain. */
export class UtxoTransactions implements TransactionSigner {
  readonly traits = utxoTraits;
  readonly #chain: string;
  readonly #feeCeiling: bigint;
  readonly #params: UtxoParams;
  readonly #network: Network;
  readonly #keys: SigningKeys;
  readonly #hot: { readonly address: string; readonly script: Uint8Array };

  constructor({ network: { chain, net, feeCeiling }, keys }: UtxoTransactionsOptions) {
    const network = networkOfChain(chain);
    if (!network) throw new Error(`there is no network on ${chain}`);
    this.#chain = chain;
    this.#feeCeiling = feeCeiling;
    this.#params = utxoParams(chain, net);
    this.#network = network;
    this.#keys = keys;
    this.#hot = ownAddress(this.#params, keys.secp256k1(hotWalletPath(network)).publicKey);
  }

  hotWallet(chain: string): string {
    if (chain !== this.#chain) throw new Error(`these are the transactions of ${this.#chain}, not of ${chain}`);
    return this.#hot.address;
  }

  isHotWallet(chain: string, address: string): boolean {
    const home = scriptOfAddress(this.#params, this.hotWallet(chain));
    const script = scriptOfAddress(this.#params, address);
    return home !== null && script !== null && isSame(script, home);
  }

  open(chain: string, intent: PaymentIntent, tx: PreparedTx): OpenedTx {
    const unsigned = decode(tx.payload);
    return {
      faults: this.#faults(chain, intent, tx, unsigned),
      sign: () => this.#sign(tx.payload, unsigned),
    };
  }

  #faults(chain: string, intent: PaymentIntent, tx: PreparedTx, unsigned: UnsignedTx): string[] {
    const { inputs, outputs } = unsigned;
    const keys = keysOf(unsigned);
    const isSweep = intent.from !== null;
    const [spent, fee] = [totalOf(inputs), totalOf(inputs) - totalOf(outputs)];
    const to = scriptOfAddress(this.#params, intent.to);
    const isTo = (script: Uint8Array): boolean => to !== null && isSame(script, to);
    const payments = outputs.filter(({ script, amount }) => isTo(script) && amount === intent.amount);
    // A payment to the hot wallet itself has its own output besides any number of change outputs.
    const others = outputs.filter((output) => output !== payments[0]);
    const isOwn = ({ script }: { script: Uint8Array }): boolean => isSame(script, this.#hot.script);
    const conditions: readonly (readonly [string, boolean])[] = [
      ['the chain of the transaction is not the one asked for', chain === this.#chain],
      ['the contract of the payment is of no token of the chain', intent.contract === null],
      ['the tag of the payment cannot be on the chain', intent.tag === null],
      ['the recipient (to) of the payment is not an address of the chain', to !== null],
      ['an input is not of the key that its path names', inputs.every((input) => this.#isOurs(input, isSweep))],
      ['an output is spent twice', new Set(keys).size === keys.length],
      ['the reserves are not the inputs of the transaction', isSameSet(tx.reserves, keys.map(outpointReservation))],
      ['the fee of the transaction is not the one stated', fee === tx.fee],
      ['the fee of the transaction is not above 0', fee > 0n],
      ['the fee of the transaction is above what the settings allow', fee <= this.#mostFee(unsigned)],
      ['the transaction never expires, and it states that it does', tx.expiresAt === null],
      ...(isSweep
        ? ([
            ['a sweep does not go to the hot wallet', isTo(this.#hot.script)],
            ['a sweep pays an address other than the hot wallet', outputs.every(isOwn)],
            ['a sweep spends other outputs than it names (from)', isSameSet(intent.from, keys)],
            ['the amount of the sweep is not what its inputs are worth', spent === intent.amount],
          ] as const)
        : ([
            ['the transaction does not pay the amount to the recipient (to) of the payment', payments.length >= 1],
            ['the transaction pays an address other than the recipient and the hot wallet', others.every(isOwn)],
          ] as const)),
    ];
    return conditions.filter(([, holds]) => !holds).map(([fault]) => fault);
  }

  /**
   * Whether the key at the path locks the output, and such a transaction may spend from the path.
   */
  #isOurs({ path, script, previous }: UnsignedInput, isSweep: boolean): boolean {
    // Where signatures do not cover the amount, the transaction that made the output must prove it.
    if (ownForm(this.#params) === 'p2pkh' && previous === null) return false;
    if (path === hotWalletPath(this.#network)) return isSame(script, this.#hot.script);
    if (!isSweep || !isDepositPath(this.#network, path)) return false;
    return isSame(script, ownAddress(this.#params, this.#keys.secp256k1(path).publicKey).script);
  }

  /** The highest fee: at the highest rate, plus the change that would have been dust. */
  #mostFee({ inputs, outputs }: UnsignedTx): bigint {
    const scripts = [...outputs.map(({ script }) => script), this.#hot.script];
    const size = virtualSize(ownForm(this.#params), inputs.length, scripts);
    return feeOf(this.#feeCeiling, size) + dustLimit(this.#params, this.#hot.script);
  }

  #sign(payload: string, { inputs }: UnsignedTx): { txid: string; raw: string } {
    const tx = unsignedTransaction(payload);
    // Signatures are by RFC 6979 and cover the whole transaction (SIGHASH_ALL, the library's
    // default).
    for (const [index, { path }] of inputs.entries()) tx.signIdx(this.#keys.secp256k1(path).privateKey, index);
    tx.finalize();
    return { txid: tx.id, raw: tx.hex };
  }
}

function decode(payload: string): UnsignedTx {
  try {
    return decodePsbt(payload);
  } catch (error) {
    throw new SignerError('refused', 'the payload is not a transaction of a Bitcoin-like chain', error);
  }
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}

function isSameSet(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && new Set([...a, ...b]).size === new Set(a).size && new Set(a).size === a.length;
}
