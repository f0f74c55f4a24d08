import type {
  Broadcast,
  ChainAdapter,
  ChainTraits,
  EarlierTx,
  Expiry,
  Held,
  PaymentIntent,
  PreparedTx,
  SignedTx,
  TxStatus,
} from '../../../src/chains/port/chain-adapter.ts';
import { type Signer, SignerError } from '../../../src/chains/port/signer.ts';
import { decodePayload, encodePayload } from '../../../src/chains/sandbox/sandbox-tx.ts';

/** What an adapter was asked to prepare. */
export interface AskedToPrepare {
  readonly intent: PaymentIntent;
  readonly held: Held;
  readonly earlier: readonly EarlierTx[];
}

/**
 * Makes one sandbox chain a chain without a mempool, on which transactions expire. The chain below
 * knows of no expiry: only what a test loses dies.
 */
export class ExpiringChain {
  readonly chain: string;
  expiry: 'height' | 'time' = 'height';
  exclusive = true;
  /** Blocks, or seconds, until a transaction expires. */
  life = 10;
  stalledAfterSec = 0;
  /** Transactions that are broadcast do not reach the node. */
  isLosing = false;
  isSignerAway = false;
  /** Told instead of the truth, by txid. */
  readonly lies = new Map<string, TxStatus>();
  /** The txid of each broadcast. */
  readonly sent: string[] = [];
  readonly asked: AskedToPrepare[] = [];
  #built = 0n;
  readonly #nonces = new Map<string, number>();
  /** Nonces that reached the node. Without exclusion they are not used again. */
  readonly #taken = new Set<string>();

  constructor(chain: string) {
    this.chain = chain;
  }

  /** Back to a chain that loses nothing. */
  reset(): void {
    Object.assign(this, { expiry: 'height', exclusive: true, life: 10, stalledAfterSec: 0 });
    Object.assign(this, { isLosing: false, isSignerAway: false });
    this.lies.clear();
    this.sent.length = 0;
    this.asked.length = 0;
  }

  get traits(): ChainTraits {
    return {
      ledger: 'accounts',
      deposits: 'per_order',
      paysFromDeposits: false,
      mempool: false,
      reorgs: true,
      sweepFee: 'swept',
      death: { conflict: this.exclusive, expiry: this.expiry },
      exclusive: this.exclusive,
      furtherAttempts: 3,
    };
  }

  /** The wrapper for `OutsideWorld.chain`. */
  wrap(adapter: ChainAdapter): ChainAdapter {
    if (adapter.chain !== this.chain) return adapter;
    const own: Partial<ChainAdapter> = {
      prepare: (intent, held, earlier = []) => this.#prepare(adapter, { intent, held, earlier }),
      broadcast: (tx) => this.#broadcast(adapter, tx),
      status: (tx) => this.#status(adapter, tx),
    };
    const absent = new Set<string | symbol>(['pending', 'statusAll', 'broadcastAll', 'replace']);
    return new Proxy(adapter, {
      get: (target, name) => {
        if (name === 'traits') return this.traits;
        if (name === 'stalledAfterSec') return this.stalledAfterSec;
        if (absent.has(name)) return undefined;
        const value = Reflect.get(own, name) ?? Reflect.get(target, name, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  }

  /** The wrapper for `OutsideWorld.signer`. The sandbox's signer signs nothing that expires. */
  wrapSigner(signer: Signer): Signer {
    const plain = (tx: PreparedTx): PreparedTx => {
      const { from, nonce = 0 } = decodePayload(tx.payload);
      return { ...tx, reserves: [nonceOf(from, nonce)], expiresAt: null };
    };
    const signed = (tx: SignedTx, { reserves, expiresAt }: PreparedTx): SignedTx => ({ ...tx, reserves, expiresAt });
    return {
      hotWallet: (chain) => signer.hotWallet(chain),
      channels: (chain) => signer.channels(chain),
      sign: async (chain, intent, tx, earlier) => {
        if (chain !== this.chain) return signer.sign(chain, intent, tx, earlier);
        if (this.isSignerAway) throw new SignerError('unavailable', 'the signer is away');
        return signed(await signer.sign(chain, intent, plain(tx), earlier), tx);
      },
      revoke: async (chain, intent, tx) => {
        if (chain !== this.chain) return signer.revoke(chain, intent, tx);
        if (this.isSignerAway) throw new SignerError('unavailable', 'the signer is away');
        const answer = await signer.revoke(chain, intent, plain(tx));
        return answer === null ? null : signed(answer, tx);
      },
    };
  }

  async #prepare(adapter: ChainAdapter, asked: AskedToPrepare): Promise<PreparedTx> {
    this.asked.push(asked);
    const { intent, held, earlier } = asked;
    const from = (await adapter.hotWallet()).address;
    const nonces = [...held].map(([name, promised]): [string, typeof promised] => {
      const nonce = this.#nonces.get(name);
      return [nonce === undefined ? name : nonceOf(from, nonce), promised];
    });
    const unused = { contract: null, amount: 0n, fee: 0n };
    const taken = this.exclusive ? [] : [...this.#taken].map((name): [string, typeof unused] => [name, unused]);
    const tx = await adapter.prepare(intent, new Map([...nonces, ...taken]));
    const payload = decodePayload(tx.payload);
    const { nonce = 0 } = payload;
    const last = earlier.at(-1);
    const again = this.exclusive && last?.why === 'expired' ? (decodePayload(last.payload).nonce ?? nonce) : nonce;
    // Each has another fee, so that no two of the same amount and nonce are one transaction.
    this.#built += 1n;
    const fee = tx.fee + this.#built;
    const reservation = this.exclusive ? nonceOf(from, again) : `attempt:${intent.id}:${intent.attempt}`;
    this.#nonces.set(reservation, again);
    return {
      payload: encodePayload({ ...payload, nonce: again, fee: fee.toString() }),
      reserves: [reservation],
      fee,
      expiresAt: await this.#expiresAt(adapter),
    };
  }

  async #expiresAt(adapter: ChainAdapter): Promise<Expiry> {
    const { height, timeMs = 0 } = await adapter.head();
    return this.expiry === 'height' ? { height: height + this.life } : { timeMs: timeMs + this.life * 1_000 };
  }

  async #broadcast(adapter: ChainAdapter, tx: SignedTx): Promise<Broadcast> {
    this.sent.push(tx.txid);
    if (this.isLosing) return { outcome: 'accepted', code: null };
    const { from, nonce = 0 } = decodePayload(tx.raw.slice(0, tx.raw.lastIndexOf('#')));
    this.#taken.add(nonceOf(from, nonce));
    return adapter.broadcast(tx);
  }

  async #status(adapter: ChainAdapter, tx: SignedTx): Promise<TxStatus> {
    const lie = this.lies.get(tx.txid);
    if (lie) return lie;
    const status = await adapter.status(tx);
    if (tx.expiresAt === null) throw new Error('a transaction of this chain expires');
    if (status.state === 'mined' || status.state === 'dead') return status;
    const { height, timeMs = 0 } = await adapter.head();
    const over =
      'height' in tx.expiresAt ? height - tx.expiresAt.height : Math.floor((timeMs - tx.expiresAt.timeMs) / 1_000);
    if (over < 0) return { state: 'waiting', until: tx.expiresAt };
    return { state: 'dead', why: 'expired', final: over >= adapter.finalityDepth };
  }
}

function nonceOf(address: string, nonce: number): string {
  return `nonce:${address}:${nonce}`;
}
