import { rippleAddress } from '../addresses/ripple.ts';
import type { PaymentIntent, PreparedTx } from '../port/chain-adapter.ts';
import { SignerError } from '../port/signer.ts';
import type { OpenedTx, SigningKeys, TransactionSigner } from '../port/transaction-signer.ts';
import { reservationOf } from './xrp-preparation.ts';
import { walletPath, type XrpNetwork } from './xrp-section.ts';
import { xrpTraits } from './xrp-traits.ts';
import { decodePayload, signXrpPayment, statedNetwork, type XrpPayload } from './xrp-tx.ts';

export interface XrpTransactionsOptions {
  readonly network: Pick<XrpNetwork, 'chain' | 'networkId'>;
  readonly keys: SigningKeys;
}

/** Reads and signs the payments of the XRP Ledger. */
export class XrpTransactions implements TransactionSigner {
  readonly traits = xrpTraits;
  readonly #network: XrpTransactionsOptions['network'];
  readonly #keys: SigningKeys;
  readonly #path: string;
  /** Cached: it is public, and its derivation is slow. */
  #hotWallet: string | undefined;

  constructor({ network, keys }: XrpTransactionsOptions) {
    this.#network = network;
    this.#keys = keys;
    this.#path = walletPath(network);
  }

  hotWallet(): string {
    this.#hotWallet ??= rippleAddress(this.#keys.secp256k1(this.#path).publicKey);
    return this.#hotWallet;
  }

  isHotWallet(_chain: string, address: string): boolean {
    return address === this.hotWallet();
  }

  open(chain: string, intent: PaymentIntent, tx: PreparedTx): OpenedTx {
    const payload = openPayload(tx.payload);
    return {
      faults: this.#faults(chain, intent, tx, payload),
      sign: () => signXrpPayment(payload.payment, this.#keys.secp256k1(payload.path)),
    };
  }

  #faults(chain: string, intent: PaymentIntent, prepared: PreparedTx, { path, payment }: XrpPayload): string[] {
    const { fee, reserves, expiresAt } = prepared;
    const conditions: readonly (readonly [string, boolean])[] = [
      ['the chain is not the one asked for', chain === this.#network.chain],
      ['the key of the transaction is not one of ours', path === this.#path],
      ['the account of the transaction is not the hot wallet', payment.account === this.hotWallet()],
      ['a sweep has no place on this chain', intent.from === null],
      ['the chain has no tokens', intent.contract === null],
      ['the recipient (to) of the transaction is not that of the payment', payment.to === intent.to],
      ['the wallet pays itself', payment.to !== this.hotWallet()],
      ['the tag of the transaction is not that of the payment', tagText(payment.tag) === intent.tag],
      ['the amount of the transaction is not that of the payment', payment.amount === intent.amount],
      ['the transaction pays nothing', payment.amount > 0n],
      ['the fee of the transaction is not the one stated', payment.fee === fee],
      ['the fee is not above 0', fee > 0n],
      ['the network of the transaction is another one', payment.networkId === statedNetwork(this.#network.networkId)],
      ['the transaction uses a ticket and a sequence number', payment.ticket === null || payment.sequence === 0],
      ['the transaction uses neither a ticket nor a sequence number', payment.ticket !== null || payment.sequence > 0],
      [
        'the last ledger of the transaction is not the one stated',
        expiresAt !== null && 'height' in expiresAt && expiresAt.height === payment.lastLedger,
      ],
      [
        'the reserves are not what the transaction uses up',
        reserves.length === 1 && reserves[0] === reservationOf(payment.account, payment),
      ],
    ];
    return conditions.filter(([, holds]) => !holds).map(([fault]) => fault);
  }
}

function tagText(tag: number | null): string | null {
  return tag === null ? null : String(tag);
}

function openPayload(text: string): XrpPayload {
  try {
    return decodePayload(text);
  } catch (error) {
    throw new SignerError('refused', 'the payload is not a payment of the XRP Ledger', error);
  }
}
