import { encodeSolana } from '../addresses/solana.ts';
import type { PaymentIntent, PreparedTx } from '../port/chain-adapter.ts';
import { SignerError } from '../port/signer.ts';
import { faultsOf, type OpenedTx, type SigningKeys, type TransactionSigner } from '../port/transaction-signer.ts';
import { markerSeed } from './solana-keys.ts';
import { accountSize } from './solana-mint.ts';
import { isListed, type SolanaNetwork, solanaPath } from './solana-section.ts';
import { solanaTraits } from './solana-traits.ts';
import {
  amountOf,
  decodePayload,
  mostSources,
  priorityFeeOf,
  reservationOf,
  type SolanaPayload,
  type SolanaTx,
  signersOf,
  signSolanaTx,
} from './solana-tx.ts';

interface SolanaTransactionsOptions {
  readonly network: Pick<SolanaNetwork, 'chain' | 'tokens'>;
  readonly keys: SigningKeys;
}

/**
 * The chain's price of a signature in November 2026, in lamports. It refuses nothing. It keeps a
 * gateway that states no fees from burning coins that no limit counts.
 */
const knownSignature = 5_000n;
/** Bytes that an account pays rent for in addition to its own. */
const accountOverhead = 128n;
/** Markers of one payment, each in place of one that a stranger made. */
export const mostMarkers = 8;

/** Reads and signs the transactions of Solana: payments and sweeps, and no others. */
export class SolanaTransactions implements TransactionSigner {
  readonly traits = solanaTraits;
  readonly #network: SolanaTransactionsOptions['network'];
  readonly #keys: SigningKeys;
  /** Cached: it is public, and its derivation is slow. */
  #hotWallet: string | undefined;

  constructor({ network, keys }: SolanaTransactionsOptions) {
    this.#network = network;
    this.#keys = keys;
    // Fails here for a chain without paths.
    solanaPath(network.chain);
  }

  hotWallet(): string {
    this.#hotWallet ??= this.#address(solanaPath(this.#network.chain));
    return this.#hotWallet;
  }

  isHotWallet(_chain: string, address: string): boolean {
    return address === this.hotWallet();
  }

  open(chain: string, intent: PaymentIntent, prepared: PreparedTx): OpenedTx {
    const payload = openPayload(prepared.payload);
    const { path, tx } = payload;
    return {
      faults: [
        ...this.#faults(chain, intent, prepared, tx),
        ...(tx.action.kind === 'payment' ? this.#paymentFaults(intent, payload) : this.#sweepFaults(intent, payload)),
      ],
      leastCounted: leastCost(tx),
      sign: () => {
        const paths = [solanaPath(this.#network.chain), ...(path === null ? [] : [path])];
        return signSolanaTx(
          tx,
          paths.map((each) => this.#keys.ed25519(each)),
        );
      },
    };
  }

  #faults(chain: string, intent: PaymentIntent, prepared: PreparedTx, tx: SolanaTx): string[] {
    const { fee, reserves, expiresAt } = prepared;
    return faultsOf([
      ['the chain is not the one asked for', chain === this.#network.chain],
      ['the account that pays the fee is not the hot wallet', tx.wallet === this.hotWallet()],
      ['the payment has a tag, and the chain has none', intent.tag === null],
      ['the payment is in a token that the file does not name', this.#isAsset(intent.contract)],
      ['the token of the transaction is not that of the payment', mintOf(tx) === intent.contract],
      ['the amount of the transaction is not that of the payment', amountOf(tx.action) === intent.amount],
      ['the transaction pays nothing', amountOf(tx.action) > 0n],
      ['the fee stated is below what the transaction offers', fee >= priorityFeeOf(tx) + markerRentOf(tx)],
      ['the transaction has no last height', expiresAt !== null && 'height' in expiresAt && expiresAt.height > 0],
      ['the reserves are not what the transaction uses up', reserves.length === 1 && reserves[0] === reservationOf(tx)],
    ]);
  }

  #paymentFaults(intent: PaymentIntent, { marker, path, tx }: SolanaPayload): string[] {
    const { action } = tx;
    if (action.kind !== 'payment') return [];
    const isNumber = marker !== null && marker >= 0 && marker < mostMarkers;
    return faultsOf([
      ['a payment from the hot wallet has another key', path === null],
      ['the transaction pays from the hot wallet, and the payment does not', intent.from === null],
      ['the recipient (to) of the transaction is not that of the payment', action.to === intent.to],
      ['the wallet pays itself', action.to !== this.hotWallet()],
      ['the marker is not one of the payment', isNumber && action.marker.seed === markerSeed(intent.id, marker)],
      ['the marker has no rent', action.marker.rent > 0n],
    ]);
  }

  #sweepFaults(intent: PaymentIntent, { marker, path, tx }: SolanaPayload): string[] {
    const { action } = tx;
    if (action.kind === 'payment') return [];
    const own = path === null ? null : this.#depositAddress(path);
    const accounts = action.kind === 'token_sweep' ? action.sources.map(({ account }) => account) : [];
    return faultsOf([
      ['a sweep has a marker', marker === null],
      ['the key of the sweep is no deposit key of ours', own !== null],
      ['the owner of the transaction is not the address of its key', own === null || action.owner === own],
      ['a sweep takes from the address of the payment', intent.from?.length === 1 && intent.from[0] === action.owner],
      ['a sweep does not bring its coins to the hot wallet', intent.to === this.hotWallet()],
      ['a sweep takes from an account twice', new Set(accounts).size === accounts.length],
      ['a sweep takes from too many accounts', accounts.length <= mostSources],
      [
        'a sweep takes nothing from an account',
        action.kind !== 'token_sweep' || action.sources.every(({ amount }) => amount > 0n),
      ],
    ]);
  }

  #isAsset(contract: string | null): boolean {
    return contract === null || isListed(this.#network, contract);
  }

  /** The address of a deposit key; null for any other path. */
  #depositAddress(path: string): string | null {
    const index = Number(/\/(\d{1,10})'\/0'$/.exec(path)?.[1] ?? Number.NaN);
    const isOurs = index > 0 && index < 0x80000000 && path === solanaPath(this.#network.chain, index);
    return isOurs ? this.#address(path) : null;
  }

  #address(path: string): string {
    return encodeSolana(this.#keys.ed25519(path).publicKey);
  }
}

function mintOf({ action }: SolanaTx): string | null {
  return action.kind === 'coin_sweep' ? null : (action.token?.mint ?? null);
}

function markerRentOf({ action }: SolanaTx): bigint {
  return action.kind === 'payment' ? action.marker.rent : 0n;
}

/**
 * The least that a transaction may cost the wallet at most. The rent of a new token account is in
 * no bytes. It follows from the marker's, which the chain refuses when it is too low.
 */
function leastCost(tx: SolanaTx): bigint {
  const { action } = tx;
  const fees = knownSignature * BigInt(signersOf(tx).length) + priorityFeeOf(tx);
  if (action.kind !== 'payment') return fees;
  const { marker, token } = action;
  if (token === null) return fees + marker.rent;
  const bytes = accountOverhead + BigInt(accountSize(token));
  return fees + marker.rent + (marker.rent * bytes) / accountOverhead;
}

function openPayload(text: string): SolanaPayload {
  try {
    return decodePayload(text);
  } catch (error) {
    throw new SignerError('refused', 'the payload is not a transaction of ours on Solana', error);
  }
}
