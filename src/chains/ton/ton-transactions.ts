import { systemClock } from '../../base/clock.ts';
import type { PaymentIntent, PreparedTx } from '../port/chain-adapter.ts';
import { SignerError } from '../port/signer.ts';
import {
  faultsOf,
  type OpenedTx,
  type SigningKey,
  type SigningKeys,
  type TransactionSigner,
} from '../port/transaction-signer.ts';
import { countOf, highloadAddress } from './ton-highload.ts';
import { jettonWalletAddress } from './ton-jetton.ts';
import { type TonNetwork, tonPath } from './ton-section.ts';
import { tonTraits } from './ton-traits.ts';
import { backSec, decodePayload, expiryMs, reservationOf, signTonTx, type TonPayload } from './ton-tx.ts';

interface TonTransactionsOptions {
  readonly network: Pick<TonNetwork, 'chain' | 'tokens' | 'jettonValue'>;
  readonly keys: SigningKeys;
}

/** An order may be this far ahead of the signer's clock. */
const mostAheadMs = 30_000;

/** Reads and signs the payments of TON. */
export class TonTransactions implements TransactionSigner {
  readonly traits = tonTraits;
  readonly #network: TonTransactionsOptions['network'];
  readonly #keys: SigningKeys;
  /** Cached: it is public, and its derivation is slow. */
  #wallet: string | undefined;

  constructor({ network, keys }: TonTransactionsOptions) {
    this.#network = network;
    this.#keys = keys;
  }

  hotWallet(): string {
    this.#wallet ??= highloadAddress(this.#key().publicKey);
    return this.#wallet;
  }

  isHotWallet(_chain: string, address: string): boolean {
    return address === this.hotWallet();
  }

  open(chain: string, intent: PaymentIntent, prepared: PreparedTx, now = systemClock.now()): OpenedTx {
    const wallet = this.hotWallet();
    const payload = openPayload(prepared.payload, wallet);
    const createdAtMs = payload.tx.createdAt * 1_000;
    return {
      faults: [
        ...this.#faults(chain, intent, prepared, payload),
        ...this.#jettonFaults(intent, payload),
        // Only this side: the same request may come again long after, and gets the same bytes.
        ...faultsOf([['the order is ahead of the clock of the signer', createdAtMs <= now.getTime() + mostAheadMs]]),
      ],
      builtAtMs: (payload.tx.createdAt + backSec) * 1_000,
      leastCounted: payload.tx.jetton?.value ?? 0n,
      sign: () => signTonTx(payload, this.#key(), wallet),
    };
  }

  #key(): SigningKey {
    return this.#keys.ed25519(tonPath(this.#network.chain));
  }

  /** The wallet's number, its time limit and the send mode are fixed: another one is no payload. */
  #faults(chain: string, intent: PaymentIntent, prepared: PreparedTx, { tx }: TonPayload): string[] {
    const { fee, reserves, expiresAt } = prepared;
    const count = countOf(tx.queryId);
    return faultsOf([
      ['the chain is not the one asked for', chain === this.#network.chain],
      ['a sweep has no place on this chain', intent.from === null],
      ['the recipient (to) of the transaction is not that of the payment', tx.to === intent.to],
      ['the wallet pays itself', tx.to !== this.hotWallet()],
      ['the amount of the transaction is not that of the payment', tx.amount === intent.amount],
      ['the transaction pays nothing', tx.amount > 0n],
      ['the comment of the transaction is not the tag of the payment', tx.comment === intent.tag],
      ['the fee does not cover what the message carries', fee > (tx.jetton?.value ?? 0n)],
      [
        'the last second of the transaction is not the one stated',
        expiresAt !== null && 'timeMs' in expiresAt && expiresAt.timeMs === expiryMs(tx),
      ],
      [
        'the reserves are not the query id of the transaction',
        count !== null && reserves.length === 1 && reserves[0] === reservationOf(count),
      ],
    ]);
  }

  #jettonFaults(intent: PaymentIntent, { tx, code }: TonPayload): string[] {
    const { contract } = intent;
    const { jetton } = tx;
    if (contract === null) return faultsOf([['the transaction moves jettons', jetton === null && code === null]]);
    if (jetton === null || code === null) return ['the transaction moves coins'];
    return faultsOf([
      ['the payment is in a token that the file does not name', [...this.#network.tokens.values()].includes(contract)],
      ['the message carries another value than the file says', jetton.value === this.#network.jettonValue],
      [
        "the message goes to another contract than the wallet's own for the token",
        jetton.wallet === jettonWalletAddress(this.hotWallet(), contract, code),
      ],
    ]);
  }
}

function openPayload(text: string, wallet: string): TonPayload {
  try {
    return decodePayload(text, wallet);
  } catch (error) {
    throw new SignerError('refused', 'the payload is not a transaction of ours on TON', error);
  }
}
