import { rippleAddress } from '../addresses/ripple.ts';
import type { PaymentIntent, PreparedTx } from '../port/chain-adapter.ts';
import { SignerError } from '../port/signer.ts';
import { faultsOf, type OpenedTx, type SigningKeys, type TransactionSigner } from '../port/transaction-signer.ts';
import { reservationOf } from './xrp-preparation.ts';
import { walletPath, type XrpNetwork } from './xrp-section.ts';
import { xrpTraits } from './xrp-traits.ts';
import {
  decodePayload,
  maxTickets,
  setupName,
  signXrpTx,
  statedNetwork,
  type XrpAction,
  type XrpPayload,
} from './xrp-tx.ts';

interface XrpTransactionsOptions {
  readonly network: Pick<XrpNetwork, 'chain' | 'networkId'>;
  readonly keys: SigningKeys;
}

/** Reads and signs the transactions of the XRP Ledger: payments and set-ups, and no others. */
export class XrpTransactions implements TransactionSigner {
  readonly traits = xrpTraits;
  readonly hasSetups = true;
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
      faults: [...this.#faults(chain, intent, tx, payload), ...this.#actionFaults(intent, payload.tx.action)],
      sign: () => signXrpTx(payload.tx, this.#keys.secp256k1(payload.path)),
    };
  }

  #faults(chain: string, intent: PaymentIntent, prepared: PreparedTx, { path, tx }: XrpPayload): string[] {
    const { fee, reserves, expiresAt } = prepared;
    return faultsOf([
      ['the chain is not the one asked for', chain === this.#network.chain],
      ['the key of the transaction is not one of ours', path === this.#path],
      ['the account of the transaction is not the hot wallet', tx.account === this.hotWallet()],
      ['a sweep has no place on this chain', intent.from === null],
      ['the chain has no tokens', intent.contract === null],
      ['the fee of the transaction is not the one stated', tx.fee === fee],
      ['the fee is not above 0', fee > 0n],
      ['the network of the transaction is another one', tx.networkId === statedNetwork(this.#network.networkId)],
      ['the transaction uses a ticket and a sequence number', tx.ticket === null || tx.sequence === 0],
      ['the transaction uses neither a ticket nor a sequence number', tx.ticket !== null || tx.sequence > 0],
      [
        'the last ledger of the transaction is not the one stated',
        expiresAt !== null && 'height' in expiresAt && expiresAt.height === tx.lastLedger,
      ],
      [
        'the reserves are not what the transaction uses up',
        reserves.length === 1 && reserves[0] === reservationOf(tx.account, tx),
      ],
    ]);
  }

  #actionFaults(intent: PaymentIntent, action: XrpAction): string[] {
    const hotWallet = this.hotWallet();
    if (action.kind !== 'payment') {
      return faultsOf([
        ['the transaction is not the set-up that was decided', setupName(action) === intent.setup],
        ['a set-up pays', intent.amount === 0n],
        ['a set-up is of another account than the hot wallet', intent.to === hotWallet && intent.tag === null],
        [
          'an account has no such number of tickets',
          action.kind !== 'tickets' || (action.count > 0 && action.count <= maxTickets),
        ],
      ]);
    }
    return faultsOf([
      ['the transaction pays, and a set-up was decided', intent.setup === undefined],
      ['the recipient (to) of the transaction is not that of the payment', action.to === intent.to],
      ['the wallet pays itself', action.to !== hotWallet],
      ['the tag of the transaction is not that of the payment', tagText(action.tag) === intent.tag],
      ['the amount of the transaction is not that of the payment', action.amount === intent.amount],
      ['the transaction pays nothing', action.amount > 0n],
    ]);
  }
}

function tagText(tag: number | null): string | null {
  return tag === null ? null : String(tag);
}

function openPayload(text: string): XrpPayload {
  try {
    return decodePayload(text);
  } catch (error) {
    throw new SignerError('refused', 'the payload is not a transaction of ours on the XRP Ledger', error);
  }
}
