import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { type Clock, systemClock } from '../base/clock.ts';
import { networkById } from '../chains/networks/networks.ts';
import {
  type PaymentIntent,
  type PaymentPurpose,
  type PreparedTx,
  paymentPurposes,
  type SignedTx,
} from '../chains/port/chain-adapter.ts';
import { type KeyImages, type Signer, SignerError } from '../chains/port/signer.ts';
import type { SigningKeys, TransactionSigner } from '../chains/port/transaction-signer.ts';
import { rulesByName, type SandboxRules, usualRules } from '../chains/sandbox/sandbox-rules.ts';
import { SandboxTransactions } from '../chains/sandbox/sandbox-transactions.ts';
import { type AddedSpending, addedSpending, exclusiveGroups } from './attempts.ts';
import { refusalOfFurther } from './death-rule.ts';
import type { DepositKeys } from './deposit-keys.ts';
import { isExpiry } from './expiry.ts';
import { type SignedContents, SignerJournal } from './journal.ts';
import { limitsDigest, SignerLimits, type SigningLimits, type TellsLimits } from './limits.ts';
import { SignerKeys } from './signer-keys.ts';

interface LocalSignerOptions {
  readonly keys: SignerKeys;
  readonly journal: SignerJournal;
  /** The kind of transactions of each live chain. Other chains are the sandbox's. */
  readonly live?: ReadonlyMap<string, TransactionSigner>;
  /** Limits of live chains. Without them, live chains are not signed for. */
  readonly limits?: SignerLimits;
  readonly clock?: Clock;
  /** Of the sandbox's chains; the usual ones unless given. */
  readonly sandboxRules?: SandboxRules;
}

/** A transaction that was found without fault, and is to be signed. */
interface SoundRequest extends Pick<SignedContents, 'intentDigest' | 'payloadDigest'> {
  readonly chain: string;
  readonly intent: PaymentIntent;
  readonly tx: PreparedTx;
  /** Txids of the payment's other signed attempts, as far as the gateway knows them. */
  readonly earlier: readonly string[];
  readonly builtAtMs: number | undefined;
  /** The fee that the limit of the day counts at least. */
  readonly leastCounted: bigint;
  /** What a set-up brings to further accounts of the wallet. */
  readonly moved: bigint;
}

/** A signer that holds the keys in this process. */
export class LocalSigner implements Signer, DepositKeys, TellsLimits {
  readonly #keys: SignerKeys;
  readonly #journal: SignerJournal;
  readonly #live: ReadonlyMap<string, TransactionSigner>;
  readonly #limits: SignerLimits | undefined;
  readonly #clock: Clock;
  readonly #sandbox: TransactionSigner;
  /** The last request of each payment with work under way. */
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor({
    keys,
    journal,
    live = new Map(),
    limits,
    clock = systemClock,
    sandboxRules = usualRules,
  }: LocalSignerOptions) {
    this.#keys = keys;
    this.#journal = journal;
    this.#live = live;
    this.#limits = limits;
    this.#clock = clock;
    this.#sandbox = new SandboxTransactions(keys, sandboxRules);
  }

  async sign(chain: string, intent: PaymentIntent, tx: PreparedTx, earlier: readonly string[] = []): Promise<SignedTx> {
    const kept = await this.#kept(chain, intent, tx);
    if (kept !== null) return kept;
    const opened = await this.#kind(chain).open(chain, intent, tx, this.#clock.now());
    const faults = [...requestFaults(intent, tx), ...this.#kindFaults(chain, intent), ...opened.faults];
    if (faults.length > 0) throw new SignerError('refused', faults.join('; '));

    return this.#inTurn(intent.id, async () => {
      const first = await this.#kept(chain, intent, tx);
      if (first !== null) return first;
      const digests = { intentDigest: intentDigest(chain, intent), payloadDigest: digest(tx.payload) };
      const { builtAtMs, leastCounted = 0n, moved = 0n } = opened;
      const request: SoundRequest = { chain, intent, tx, earlier, builtAtMs, leastCounted, moved, ...digests };
      const added = await this.#added(request);
      // Counted before the signature, so that no signed bytes exist that are not counted.
      if (added && this.#live.has(chain)) await this.#claim(request, added);
      const signed = await opened.sign();
      await this.#onDisk(() => this.#journal.claim(chain, signed.txid, digests.payloadDigest));
      // Recorded before the caller gets the bytes. A crash in between costs nothing: the same
      // request returns them again.
      const { reserves, fee, expiresAt } = tx;
      const raw = this.#kind(chain).keepsBytes ? { raw: signed.raw } : {};
      const contents = { chain, ...digests, txid: signed.txid, reserves, fee, expiresAt, ...raw };
      await this.#onDisk(() => this.#journal.record(intent.id, intent.attempt, contents));
      return { txid: signed.txid, raw: signed.raw, reserves: [...reserves], expiresAt };
    });
  }

  /**
   * The bytes that were signed for the very same request before, where another signature would be
   * another transaction; null otherwise.
   */
  async #kept(chain: string, intent: PaymentIntent, tx: PreparedTx): Promise<SignedTx | null> {
    if (!this.#kind(chain).keepsBytes) return null;
    const { reserves, fee, expiresAt } = tx;
    const digests = { intentDigest: intentDigest(chain, intent), payloadDigest: digest(tx.payload) };
    const asked = { chain, ...digests, reserves, fee, expiresAt };
    const found = await this.#onDisk(() => this.#journal.kept(intent.id, intent.attempt, asked));
    return found === null ? null : { ...found, reserves: [...reserves], expiresAt };
  }

  async revoke(chain: string, intent: PaymentIntent, tx: PreparedTx): Promise<SignedTx | null> {
    const faults = requestFaults(intent, tx);
    if (faults.length > 0) throw new SignerError('refused', faults.join('; '));
    const { id, attempt } = intent;
    const isWithdrawn = await this.#inTurn(id, () => this.#onDisk(() => this.#journal.revoke(id, attempt)));
    return isWithdrawn ? null : this.sign(chain, intent, tx);
  }

  async hotWallet(chain: string): Promise<string> {
    return this.#kind(chain).hotWallet(chain);
  }

  async channels(chain: string): Promise<readonly string[]> {
    return this.#kind(chain).channels?.() ?? [];
  }

  async viewKey(chain: string): Promise<string | null> {
    return this.#kind(chain).viewKey?.() ?? null;
  }

  async keyImages(chain: string, outputs: string, addresses: number): Promise<KeyImages | null> {
    const kind = this.#kind(chain);
    if (!kind.keyImages) throw new SignerError('refused', `${chain} has no key images`);
    return kind.keyImages(outputs, addresses);
  }

  async limitsDigest(chain: string): Promise<string | null> {
    const limits = this.#live.has(chain) ? this.#limits?.of(chain) : undefined;
    return limits === undefined ? null : limitsDigest(limits);
  }

  async fingerprint(): Promise<string> {
    return this.#keys.fingerprint();
  }

  async accountXpub(networkId: string): Promise<string> {
    return this.#keys.accountXpub(networkId);
  }

  async sharedAddress(networkId: string): Promise<string> {
    const chain = networkById(networkId)?.chain ?? '';
    const kind = this.#kind(chain);
    return kind.traits.paysFromDeposits ? kind.hotWallet(chain) : this.#keys.sharedAddress(networkId);
  }

  async poolAddresses(networkId: string, first: number, last: number): Promise<readonly string[]> {
    const addresses: string[] = [];
    for (let index = first; index <= last; index++) {
      addresses.push(this.#keys.poolAddress(networkId, index));
      // Each address takes a while, and requests go first.
      await nextTurn();
    }
    return addresses;
  }

  /** Releases the directory, so that another process can sign for live chains with it. */
  async close(): Promise<void> {
    await this.#limits?.close();
  }

  #kind(chain: string): TransactionSigner {
    return this.#live.get(chain) ?? this.#sandbox;
  }

  /** Checks sweeps and set-ups, which count against no limit of amounts. */
  #kindFaults(chain: string, { from, to, setup }: PaymentIntent): string[] {
    const kind = this.#kind(chain);
    if (setup !== undefined && !kind.hasSetups) return ['the chain has no set-ups'];
    if (from === null) return [];
    return kind.isHotWallet(chain, to) ? [] : ['a sweep goes to the hot wallet only'];
  }

  /** Runs a task after the earlier requests of the same payment. */
  async #inTurn<T>(paymentId: string, task: () => Promise<T>): Promise<T> {
    const turn = (this.#turns.get(paymentId) ?? Promise.resolve()).then(task);
    const ended = turn.catch(() => {});
    this.#turns.set(paymentId, ended);
    try {
      return await turn;
    } finally {
      if (this.#turns.get(paymentId) === ended) this.#turns.delete(paymentId);
    }
  }

  /**
   * What the transaction adds to what was signed for the payment before. Null when the attempt has
   * an entry already, so that nothing is added. A revoked attempt is refused before it counts.
   *
   * @throws SignerError `refused` when earlier ones may still confirm. The signer has no node.
   *   Where attempts exclude each other, it believes within a bound that they are dead. Elsewhere
   *   it judges by their expiry.
   */
  async #added({ chain, intent, tx, earlier, builtAtMs, intentDigest }: SoundRequest): Promise<AddedSpending | null> {
    const { id, attempt } = intent;
    const entries = await this.#onDisk(() => this.#journal.entries(id, attempt));
    if (entries.some((entry) => entry.attempt === attempt)) return null;
    const forgotten = entries.find(({ txid }) => !earlier.includes(txid));
    if (forgotten) {
      throw new SignerError(
        'refused',
        `attempt ${forgotten.attempt} of payment ${id} was signed and may have paid, but the gateway does not know it`,
      );
    }
    if (entries.some((entry) => entry.intentDigest !== intentDigest)) {
      throw new SignerError('refused', `another attempt of payment ${id} was signed before as something else`);
    }
    const { exclusive, furtherAttempts } = this.#kind(chain).traits;
    // Where attempts do not exclude each other, what they reserve says nothing.
    const groups = exclusiveGroups(exclusive ? entries : entries.map((entry) => ({ ...entry, reserves: null })));
    const added = addedSpending(groups, tx);
    if (added.isFurther && groups.length >= furtherAttempts) {
      throw new SignerError(
        'refused',
        `payment ${id} was signed as ${groups.length} transactions that do not exclude each other; no further one is signed`,
      );
    }
    const next = { paymentId: id, attempt, builtAtMs, earlier };
    const why = exclusive ? null : refusalOfFurther(entries, next, this.#clock.now());
    if (why !== null) throw new SignerError('refused', why);
    return added;
  }

  async #claim(request: SoundRequest, added: AddedSpending): Promise<void> {
    const { chain, intent, tx, leastCounted, moved, intentDigest, payloadDigest } = request;
    const { id, attempt, contract, amount, setup } = intent;
    const limits = this.#limits;
    if (!limits) throw new SignerError('refused', `${chain} has no limits, so nothing is signed for it`);
    const purpose = purposeOf(intent);
    const isPayment = purpose !== 'sweep' && purpose !== 'setup';
    await this.#onDisk(() =>
      limits.claim({
        key: digest(JSON.stringify([id, attempt, intentDigest, payloadDigest])),
        chain,
        asset: contract ?? '',
        amount: isPayment && added.isFurther ? amount : 0n,
        fee: added.isFurther && leastCounted > added.fee ? leastCounted : added.fee,
        wholeFee: tx.fee,
        payment: isPayment ? amount : null,
        isCommission: purpose === 'commission',
        setup:
          setup === undefined
            ? null
            : {
                moved: added.isFurther ? moved : 0n,
                limits: this.#kind(chain).movingLimits?.() ?? { once: 0n, perDay: 0n },
              },
      }),
    );
  }

  /** Turns a failure of the disk into `unavailable`. */
  async #onDisk<T>(task: () => Promise<T>): Promise<T> {
    try {
      return await task();
    } catch (error) {
      if (error instanceof SignerError) throw error;
      throw new SignerError('unavailable', 'the journal of signatures cannot be read or written', error);
    }
  }
}

interface OpenLocalSignerOptions {
  /** 32 bytes, which the caller may wipe afterwards. */
  readonly entropy: Uint8Array;
  /** Holds the journal and the daily spending. */
  readonly dataDir: string;
  /** Makes the kinds of transactions of live chains. All other chains are the sandbox's. */
  readonly live?: (keys: SigningKeys) => ReadonlyMap<string, TransactionSigner>;
  /** Limits of live chains; a chain without limits is not signed for. */
  readonly limits?: SigningLimits;
  readonly clock?: Clock;
  /** Name of the rules of the sandbox's chains; the usual ones unless given. */
  readonly sandboxRules?: string;
}

/**
 * Opens the signer of a data directory. Its keys come from 32 bytes of entropy. All signers of the
 * directory share its journal. Only one process at a time signs for live chains.
 *
 * @throws Error while another process signs for live chains with the directory.
 */
export async function openLocalSigner({
  entropy,
  dataDir,
  live = () => new Map(),
  limits = new Map(),
  clock = systemClock,
  sandboxRules: rulesName = 'usual',
}: OpenLocalSignerOptions): Promise<LocalSigner> {
  const keys = new SignerKeys(entropy);
  const kinds = live(keys);
  const sandboxRules = rulesByName(rulesName);
  const journal = new SignerJournal(join(dataDir, 'signer-journal'));
  if (kinds.size === 0) return new LocalSigner({ keys, journal, clock, sandboxRules });
  const dir = join(dataDir, 'signer-spending');
  return new LocalSigner({
    keys,
    journal,
    live: kinds,
    limits: await SignerLimits.open({ dir, limits, clock }),
    clock,
    sandboxRules,
  });
}

/** The purpose of a payment. That of an earlier gateway follows from the payment's members. */
function purposeOf({ purpose, from, setup }: PaymentIntent): PaymentPurpose {
  if (purpose !== undefined) return purpose;
  if (from !== null) return 'sweep';
  return setup === undefined ? 'payout' : 'setup';
}

function requestFaults(intent: PaymentIntent, { expiresAt }: PreparedTx): string[] {
  const { id, attempt, from, amount, setup } = intent;
  const purpose = purposeOf(intent);
  const conditions: readonly (readonly [string, boolean])[] = [
    ['the payment has no id', id !== ''],
    ['the attempt is not a number from 1', Number.isSafeInteger(attempt) && attempt >= 1],
    ['the amount of the payment is not above 0', amount > 0n || setup !== undefined],
    ['a set-up has an amount', setup === undefined || amount === 0n],
    ['the purpose of the payment is unknown', paymentPurposes.includes(purpose)],
    ['the purpose and the sources of the payment disagree', (purpose === 'sweep') === (from !== null)],
    ['the purpose and the set-up of the payment disagree', (purpose === 'setup') === (setup !== undefined)],
    ['the expiry of the transaction is neither one height nor one time', expiresAt === null || isExpiry(expiresAt)],
  ];
  return conditions.filter(([, holds]) => !holds).map(([fault]) => fault);
}

/**
 * A digest of a payment's intent. It leaves out the attempt, because all attempts of a payment have
 * one intent.
 */
function intentDigest(chain: string, { id, from, contract, to, tag, amount, setup, purpose }: PaymentIntent): string {
  // A payment from the hot wallet has the digest from before sweeps existed, so that old entries
  // still match. Only commission names its purpose, for the same reason.
  const more = [
    ...(from === null ? [] : [from]),
    ...(setup === undefined ? [] : [{ setup }]),
    ...(purpose === 'commission' ? [{ purpose }] : []),
  ];
  return digest(JSON.stringify([chain, id, contract, to, tag, amount.toString(), ...more]));
}

function digest(text: string): string {
  return bytesToHex(sha256(utf8ToBytes(text)));
}
