import { secp256k1 } from '@noble/curves/secp256k1.js';
import { encodeTron, tronDigits } from '../addresses/tron.ts';
import { hotWalletPath, isDepositPath, type Network, networkOfChain } from '../networks/networks.ts';
import type { PaymentIntent, PreparedTx } from '../port/chain-adapter.ts';
import { SignerError } from '../port/signer.ts';
import type { OpenedTx, SigningKeys, TransactionSigner } from '../port/transaction-signer.ts';
import type { TronNetwork } from './tron-section.ts';
import { tronTraits } from './tron-traits.ts';
import {
  decodePayload,
  mostBandwidthOf,
  reservation,
  signTronTx,
  spreadMs,
  type TronPayload,
  type TronTx,
} from './tron-tx.ts';

interface TronTransactionsOptions {
  readonly network: Pick<TronNetwork, 'chain' | 'expireAfterSec'>;
  readonly keys: SigningKeys;
}

/**
 * Prices of the chain in November 2026, in sun. They refuse nothing. They keep a gateway that
 * states no fees from burning coins that no limit counts.
 */
const known = { byte: 1_000n, newAccount: 1_100_000n } as const;

export class TronTransactions implements TransactionSigner {
  readonly traits = tronTraits;
  readonly #network: TronTransactionsOptions['network'];
  readonly #keys: SigningKeys;
  readonly #paths: Network;
  /** Cached: it is public, and its derivation is slow. */
  #hotWallet: string | undefined;

  constructor({ network, keys }: TronTransactionsOptions) {
    const paths = networkOfChain(network.chain);
    if (paths?.family !== 'tron') throw new Error(`${network.chain} is not Tron`);
    this.#network = network;
    this.#keys = keys;
    this.#paths = paths;
  }

  hotWallet(): string {
    this.#hotWallet ??= this.#address(hotWalletPath(this.#paths));
    return this.#hotWallet;
  }

  isHotWallet(_chain: string, address: string): boolean {
    return address === this.hotWallet();
  }

  open(chain: string, intent: PaymentIntent, tx: PreparedTx): OpenedTx {
    const payload = openPayload(tx.payload);
    return {
      faults: this.#faults(chain, intent, tx, payload),
      builtAtMs: payload.tx.builtAtMs,
      leastCounted: intent.from === null ? mostFee(payload.tx) : 0n,
      sign: () => signTronTx(payload.tx, this.#keys.secp256k1(payload.path).privateKey),
    };
  }

  #faults(chain: string, intent: PaymentIntent, prepared: PreparedTx, { path, tx }: TronPayload): string[] {
    const network = this.#network;
    const hot = this.hotWallet();
    const own = this.#ownAddress(path);
    const sender = intent.from === null ? hot : intent.from[0];
    const isCoin = intent.contract === null;
    const isOwnSweep = intent.from !== null && isCoin;
    const { fee, reserves, expiresAt } = prepared;
    const longestMs = network.expireAfterSec * 1_000 + spreadMs;
    const lifeMs = tx.expiresAtMs - tx.builtAtMs;
    const conditions: readonly (readonly [string, boolean])[] = [
      ['the chain is not the one asked for', chain === network.chain],
      ['the key of the transaction is not one of ours', own !== null],
      ['the transaction does not pay from the address of the payment', own === null || own === sender],
      ['a payment from the hot wallet has another key', intent.from !== null || path === hotWalletPath(this.#paths)],
      ['a sweep takes from one address', intent.from === null || intent.from.length === 1],
      [
        'a sweep does not bring its coins to the hot wallet',
        intent.from === null || this.isHotWallet(chain, intent.to),
      ],
      ['a sweep takes from the hot wallet', intent.from === null || path !== hotWalletPath(this.#paths)],
      ['the owner of the transaction is not the address of its key', own === null || tx.owner === tronDigits(own)],
      ['the recipient (to) of the transaction is not that of the payment', tx.to === tronDigits(intent.to)],
      [
        'the contract of the transaction is not that of the payment',
        intent.contract === null ? tx.contract === null : tx.contract === tronDigits(intent.contract),
      ],
      ['the amount of the transaction is not that of the payment', tx.amount === paidAmount(intent, fee)],
      ['the transaction pays nothing', tx.amount > 0n],
      ['the amount of the sweep does not cover its fee', !isOwnSweep || intent.amount > fee],
      ['the payment has a tag, and the chain has none', intent.tag === null],
      ['the fee limit of the transaction is not for coins, or missing for a token', isCoin === (tx.feeLimit === 0n)],
      ['the fee stated is below the fee limit of the transaction', fee >= tx.feeLimit],
      ['the fee is below 0', fee >= 0n],
      ['the expiration of the transaction is out of bounds', lifeMs > 0 && lifeMs < longestMs],
      [
        'the expiration of the transaction is not the one stated',
        expiresAt !== null && 'timeMs' in expiresAt && expiresAt.timeMs === tx.expiresAtMs,
      ],
      [
        'the reserves are not the attempt of the payment',
        reserves.length === 1 && reserves[0] === reservation(sender ?? '', intent),
      ],
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
    return encodeTron(secp256k1.Point.fromBytes(publicKey).toBytes(false).subarray(1));
  }
}

function openPayload(text: string): TronPayload {
  try {
    return decodePayload(text);
  } catch (error) {
    throw new SignerError('refused', 'the payload is not a transaction of Tron', error);
  }
}

/** The fee of a sweep in the chain's own coin is taken out of its amount. */
function paidAmount({ from, contract, amount }: PaymentIntent, fee: bigint): bigint {
  return from !== null && contract === null ? amount - fee : amount;
}

/** The most that a payment costs by the known prices. Coins may go to a new account. */
function mostFee(tx: TronTx): bigint {
  const bytes = BigInt(mostBandwidthOf(tx)) * known.byte;
  return tx.contract === null && known.newAccount > bytes ? known.newAccount : tx.feeLimit + bytes;
}
