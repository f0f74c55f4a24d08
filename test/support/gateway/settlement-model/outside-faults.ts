import type { OutsideWorld } from '../../../../src/app/outside-world.ts';
import {
  type ChainAdapter,
  ChainError,
  type SignedTx,
  type Transfer,
} from '../../../../src/chains/port/chain-adapter.ts';
import { type Signer, SignerError } from '../../../../src/chains/port/signer.ts';
import type { LiquidityVenue } from '../../../../src/settlement/rows/liquidity-venue.ts';
import { withWaiting } from '../../faults/faults.ts';
import type { Rows } from '../orders.ts';
import { InjectedFault } from './injected-fault.ts';
import type { ModelPrices } from './model-prices.ts';
import type { ModelProcess } from './model-process.ts';

/**
 * What a node does with the next transaction: it broadcasts and does not answer, fails before it
 * broadcasts, broadcasts and reports a rejection, or accepts and never broadcasts.
 */
export const broadcastAnswers = ['silent', 'throws', 'refuses', 'swallows'] as const;
export type BroadcastAnswer = (typeof broadcastAnswers)[number];
/** What the venue does with the next call: it acts without an answer, is down, or rejects it. */
export const venueAnswers = ['silent', 'throws', 'rejects'] as const;
export type VenueAnswerName = (typeof venueAnswers)[number];
/** A `silent` signer answers nothing once, and is `here` afterwards. */
export const signerStates = ['here', 'away', 'silent'] as const;
export type SignerState = (typeof signerStates)[number];
export const nodeQuestions = ['status', 'scan', 'pending', 'prepare'] as const;
export type NodeQuestion = (typeof nodeQuestions)[number];

interface Attempt {
  readonly payment_id: string;
  readonly attempt: number;
  readonly raw: string | null;
}

/** Faults that the model puts between the gateway and the outside world. */
export class OutsideFaults {
  readonly prices: ModelPrices;
  /** Broken rules that a fault saw at the moment of a call. */
  readonly violations: string[] = [];
  readonly #rows: Rows;
  readonly #broadcasts = new Map<string, BroadcastAnswer[]>();
  /** Deposits in the mempool that no block takes. */
  readonly #stuck: { readonly chain: string; readonly transfer: Transfer }[] = [];
  readonly #questions: { chain: string; question: NodeQuestion }[] = [];
  readonly #unread = new Set<string>();
  readonly #venue: VenueAnswerName[] = [];
  /** For each txid, all bytes that were broadcast. */
  readonly #sent = new Map<string, Set<string>>();
  readonly #withoutFaults = new Map<string, ChainAdapter>();
  #stuckCount = 0;
  #signer: SignerState = 'here';
  #isHealed = false;

  constructor(rows: Rows, prices: ModelPrices) {
    this.#rows = rows;
    this.prices = prices;
  }

  /** Adds answers to the next broadcasts on a chain. */
  answerBroadcast(chain: string, answer: BroadcastAnswer, times: number): void {
    const answers = Array.from({ length: times }, () => answer);
    this.#broadcasts.set(chain, [...(this.#broadcasts.get(chain) ?? []), ...answers]);
  }

  /** Adds answers to the next calls of the venue. */
  answerVenue(answer: VenueAnswerName, times: number): void {
    for (let i = 0; i < times; i++) this.#venue.push(answer);
  }

  /** Makes all scans of a chain fail, or ends that. */
  setUnread(chain: string, isUnread: boolean): void {
    if (isUnread) this.#unread.add(chain);
    else this.#unread.delete(chain);
  }

  /** Makes the next question of this kind to a chain's node fail. */
  failQuestion(chain: string, question: NodeQuestion): void {
    this.#questions.push({ chain, question });
  }

  setSigner(state: SignerState): void {
    this.#signer = state;
  }

  /** Adds a transfer to a chain's mempool that no block takes. */
  addStuck(chain: string, to: Pick<Transfer, 'address' | 'tag' | 'contract' | 'amount'>): void {
    this.#stuckCount += 1;
    const txid = this.#stuckCount.toString(16).padStart(64, '0');
    this.#stuck.push({ chain, transfer: { key: `${txid}:0`, txid, ...to } });
  }

  /** The oldest stuck transfer leaves its mempool. */
  unstick(): void {
    this.#stuck.shift();
  }

  /** Ends all faults. From now on, every failure that the gateway logs is a violation. */
  clear(): void {
    this.#broadcasts.clear();
    this.#questions.length = 0;
    this.#unread.clear();
    this.#venue.length = 0;
    this.#stuck.length = 0;
    this.#signer = 'here';
    this.prices.levels.clear();
    this.prices.isAway = false;
    this.#isHealed = true;
  }

  /** The same adapters without the faults. */
  withoutFaults(adapters: ReadonlyMap<string, ChainAdapter>): ReadonlyMap<string, ChainAdapter> {
    return new Map([...adapters].map(([chain, adapter]) => [chain, this.#withoutFaults.get(chain) ?? adapter]));
  }

  /** Attempts that were broadcast with other bytes than the stored ones, or with several. */
  async badBroadcasts(): Promise<string[]> {
    const stored = await this.#attempts([...this.#sent.keys()]);
    return [...this.#sent].flatMap(([txid, raws]) => {
      const attempt = stored.get(txid);
      const isSame = raws.size === 1 && attempt !== undefined && raws.has(attempt.raw ?? '');
      return isSame ? [] : [`${txid} was broadcast in ${raws.size} forms, and stored as ${attempt?.raw}`];
    });
  }

  /** The outside world of one process. */
  around(process: ModelProcess): OutsideWorld {
    return {
      priceSource: this.prices,
      logStream: { write: (line: string) => this.#read(line, process) },
      onCrashPoint: (name) => process.reach(name),
      chain: (adapter) => this.#chain(adapter, process),
      venue: (venue) => this.#venueOf(venue, process),
      signer: (signer) => this.#signerOf(signer, process),
    };
  }

  #signerOf(signer: Signer, process: ModelProcess): Signer {
    const ask = async <T>(question: () => Promise<T>): Promise<T> => {
      if (this.#signer === 'away') throw new SignerError('unavailable', 'away');
      const answer = await question();
      if (this.#signer !== 'silent') return answer;
      this.#signer = 'here';
      throw new SignerError('unavailable', 'silent');
    };
    return {
      hotWallet: (chain) => signer.hotWallet(chain),
      channels: (chain) => signer.channels(chain),
      sign: (...args) => process.alive(() => ask(() => signer.sign(...args))),
      revoke: (...args) => process.alive(() => ask(() => signer.revoke(...args))),
    };
  }

  #venueOf(venue: LiquidityVenue, process: ModelProcess): LiquidityVenue {
    const ask = async <T>(question: () => Promise<T>, rejection: T): Promise<T> => {
      const answer = this.#venue.shift();
      if (answer === 'throws') throw new InjectedFault('unreachable');
      if (answer === 'rejects') return rejection;
      const result = await question();
      if (answer === 'silent') throw new InjectedFault('timeout');
      return result;
    };
    return {
      name: venue.name,
      trade: (order) =>
        process.alive(() => ask(() => venue.trade(order), { outcome: 'rejected', code: 'no_inventory' })),
      find: (clientId) =>
        process.alive(async () => {
          // A venue never denies a trade that it filled.
          while (this.#venue[0] === 'rejects') this.#venue.shift();
          return ask(() => venue.find(clientId), null);
        }),
    };
  }

  #chain(adapter: ChainAdapter, process: ModelProcess): ChainAdapter {
    this.#withoutFaults.set(adapter.chain, adapter);
    const asked = new Set<PropertyKey>(nodeQuestions);
    return new Proxy(adapter, {
      get: (target, name) => {
        if (name === 'pending') {
          return (known: readonly string[]) =>
            process.alive(async () => {
              this.#failIfDue(target.chain, 'pending');
              const own = this.#stuck.filter(({ chain }) => chain === target.chain).map(({ transfer }) => transfer);
              return withWaiting(await target.pending?.(known), own);
            });
        }
        if (name === 'broadcast') return (tx: SignedTx) => process.alive(() => this.#broadcast(target, tx));
        // One by one, so that each can go wrong by itself.
        if (name === 'broadcastAll' || name === 'statusAll') return undefined;
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]) =>
          process.alive(async () => {
            if (asked.has(name)) this.#failIfDue(target.chain, name as NodeQuestion);
            return value.apply(target, args);
          });
      },
    });
  }

  #failIfDue(chain: string, question: NodeQuestion): void {
    if (question === 'scan' && this.#unread.has(chain)) throw new ChainError('injected', `${chain} cannot be read`);
    const index = this.#questions.findIndex((one) => one.chain === chain && one.question === question);
    if (index < 0) return;
    this.#questions.splice(index, 1);
    throw new ChainError('injected', `${question} of ${chain}`);
  }

  async #broadcast(adapter: ChainAdapter, tx: SignedTx): ReturnType<ChainAdapter['broadcast']> {
    const stored = (await this.#attempts([tx.txid])).get(tx.txid);
    if (stored?.raw !== tx.raw) this.violations.push(`${tx.txid} was broadcast before its bytes were stored`);
    this.#sent.set(tx.txid, (this.#sent.get(tx.txid) ?? new Set()).add(tx.raw));
    const answer = this.#broadcasts.get(adapter.chain)?.shift();
    if (answer === 'throws') throw new InjectedFault('no route to host');
    if (answer === 'swallows') return { outcome: 'accepted', code: null };
    const result = await adapter.broadcast(tx);
    if (answer === 'silent') throw new InjectedFault('socket hang up');
    return answer === 'refuses' ? { outcome: 'rejected', code: 'injected' } : result;
  }

  async #attempts(txids: readonly string[]): Promise<Map<string, Attempt>> {
    const rows = await this.#rows<Attempt & { txid: string }>(
      'select txid, payment_id, attempt, raw from payment_attempt where txid = any($1)',
      [txids],
    );
    return new Map(rows.map(({ txid, ...attempt }) => [txid, attempt]));
  }

  /** A logged failure is a violation unless an injected fault caused it. */
  #read(line: string, process: ModelProcess): void {
    if (process.isDead) return;
    const { event, error, code, constraint, stack } = JSON.parse(line) as Record<string, string | undefined>;
    const failures = ['settle_failed', 'payment_failed', 'chain_failed', 'venue_failed', 'broadcast_failed'];
    if (!failures.includes(event ?? '')) return;
    const isInjected = error === 'InjectedFault' || error === 'SignerError' || code === 'injected';
    if (!isInjected || this.#isHealed) this.violations.push(`${event} ${error} ${code} ${constraint ?? ''} ${stack}`);
  }
}
