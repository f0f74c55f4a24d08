import { isDeepStrictEqual } from 'node:util';
import { encodeStellarAccount } from '../addresses/stellar.ts';
import type { PaymentIntent, PreparedTx } from '../port/chain-adapter.ts';
import { SignerError } from '../port/signer.ts';
import {
  faultsOf,
  type MovingLimits,
  type OpenedTx,
  type SigningKey,
  type SigningKeys,
  type TransactionSigner,
} from '../port/transaction-signer.ts';
import { networkIdOf, type StellarNetwork, stellarPath, tokenOf } from './stellar-section.ts';
import { mostToChannel, type StellarAccounts, setupName } from './stellar-setup.ts';
import { stellarTraits } from './stellar-traits.ts';
import {
  decodePayload,
  memoOf,
  reservationOf,
  type StellarAction,
  type StellarPayload,
  type StellarTx,
  signStellarTx,
} from './stellar-tx.ts';

interface StellarTransactionsOptions {
  readonly network: Pick<StellarNetwork, 'chain' | 'passphrase' | 'tokens' | 'channels'>;
  readonly keys: SigningKeys;
}

/** Reads and signs the transactions of Stellar: payments and set-ups, and no others. */
export class StellarTransactions implements TransactionSigner {
  readonly traits = stellarTraits;
  readonly hasSetups = true;
  readonly #network: StellarTransactionsOptions['network'];
  readonly #networkId: string;
  readonly #keys: SigningKeys;
  /** Cached: they are public, and their derivation is slow. */
  #accounts: StellarAccounts | undefined;

  constructor({ network, keys }: StellarTransactionsOptions) {
    this.#network = network;
    this.#networkId = networkIdOf(network);
    this.#keys = keys;
  }

  hotWallet(): string {
    return this.accounts.wallet;
  }

  channels(): readonly string[] {
    return this.accounts.channels;
  }

  /** Enough for all channels at once, many times over for what fees take from them. */
  movingLimits(): MovingLimits {
    return { once: mostToChannel, perDay: mostToChannel * BigInt(this.#network.channels) };
  }

  get accounts(): StellarAccounts {
    const addressOf = (channel: number): string => encodeStellarAccount(this.#key(channel).publicKey);
    this.#accounts ??= {
      wallet: addressOf(0),
      channels: Array.from({ length: this.#network.channels }, (_, index) => addressOf(index + 1)),
    };
    return this.#accounts;
  }

  isHotWallet(_chain: string, address: string): boolean {
    return address === this.hotWallet();
  }

  open(chain: string, intent: PaymentIntent, prepared: PreparedTx): OpenedTx {
    const payload = openPayload(prepared.payload);
    const { channel, tx } = payload;
    return {
      faults: [...this.#faults(chain, intent, prepared, payload), ...this.#actionFaults(intent, tx)],
      ...(intent.setup !== undefined && 'amount' in tx.action && { moved: tx.action.amount }),
      sign: () => {
        const channels = channel === 0 ? [] : [this.#key(channel)];
        return signStellarTx(tx, this.#networkId, [...channels, this.#key(0)]);
      },
    };
  }

  #key(channel: number): SigningKey {
    return this.#keys.ed25519(stellarPath(this.#network.chain, channel));
  }

  #faults(chain: string, intent: PaymentIntent, prepared: PreparedTx, { channel, tx }: StellarPayload): string[] {
    const { fee, reserves, expiresAt } = prepared;
    const { wallet, channels } = this.accounts;
    return faultsOf([
      ['the chain is not the one asked for', chain === this.#network.chain],
      ['the account that acts is not the hot wallet', tx.wallet === wallet],
      [
        'the account of the sequence number is neither the wallet nor a channel of ours',
        tx.source === (channel === 0 ? wallet : channels[channel - 1]),
      ],
      ['a sweep has no place on this chain', intent.from === null],
      ['the fee of the transaction is not the one stated', BigInt(tx.fee) === fee],
      ['the fee is not above 0', fee > 0n],
      ['the sequence number is not above 0', tx.sequence > 0n],
      // Time 0 means no last second.
      ['the transaction never expires', tx.maxTimeSec > 0],
      [
        'the last second of the transaction is not the one stated',
        expiresAt !== null && 'timeMs' in expiresAt && expiresAt.timeMs === tx.maxTimeSec * 1_000,
      ],
      ['the reserves are not what the transaction uses up', reserves.length === 1 && reserves[0] === reservationOf(tx)],
    ]);
  }

  #actionFaults(intent: PaymentIntent, { memo, action }: StellarTx): string[] {
    const { wallet, channels } = this.accounts;
    if (intent.setup !== undefined) {
      return faultsOf([
        ['the transaction is not the set-up that was decided', setupName(action, this.accounts) === intent.setup],
        ['a trust line is to another issuer than the file names', this.#isKnown(action)],
        ['a set-up pays', intent.amount === 0n && intent.contract === null],
        ['a set-up is of another account than the hot wallet', intent.to === wallet && intent.tag === null],
        ['a set-up has a memo', memo === null],
      ]);
    }
    if (action.kind !== 'payment' && action.kind !== 'create_account') {
      return ['the transaction pays no one, and no set-up was decided'];
    }
    const token = intent.contract === null ? null : tokenOf(this.#network, intent.contract);
    const paid = action.kind === 'payment' ? action.token : null;
    return faultsOf([
      ['the recipient (to) of the transaction is not that of the payment', action.to === intent.to],
      ['the wallet pays itself', action.to !== wallet && !channels.includes(action.to)],
      ['the payment is in a token that the file does not name', (intent.contract === null) === (token === null)],
      ['the asset of the transaction is not that of the payment', isSameAsset(paid, token)],
      ['the memo of the transaction is not the tag of the payment', isMemoOf(memo, intent.tag)],
      ['the amount of the transaction is not that of the payment', action.amount === intent.amount],
      ['the transaction pays nothing', action.amount > 0n],
    ]);
  }

  #isKnown(action: StellarAction): boolean {
    return action.kind !== 'change_trust' || this.#network.tokens.get(action.token.code) === action.token.issuer;
  }
}

type Asset = Extract<StellarAction, { kind: 'payment' }>['token'];

function isSameAsset(one: Asset, other: Asset): boolean {
  return one?.code === other?.code && one?.issuer === other?.issuer;
}

/** Whether a tag is sent as this memo. The type counts: text '7' is not number 7. */
function isMemoOf(memo: StellarTx['memo'], tag: string | null): boolean {
  try {
    return isDeepStrictEqual(memo, memoOf(tag));
  } catch {
    return false;
  }
}

function openPayload(text: string): StellarPayload {
  try {
    return decodePayload(text);
  } catch (error) {
    throw new SignerError('refused', 'the payload is not a transaction of ours on Stellar', error);
  }
}
