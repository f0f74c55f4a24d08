import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { newRecipient, type Recipients } from '../chains/recipients.ts';
import { Dice } from '../gateway/dice.ts';
import { quickPairs } from '../gateway/orders.ts';
import { type Call, contractClient, type Reply } from '../http/contract-client.ts';
import { staffClient } from '../staff/staff-client.ts';
import type { FaultGateway } from './fault-gateway.ts';

/** What partners and staff do, and how often. */
const mix = {
  currencies: 10,
  quote: 20,
  create: 14,
  'create again': 22,
  'look-up': 22,
  invalid: 6,
  staff: 6,
} as const;
export type RequestKind = keyof typeof mix;

const staffQuestion = '{ orders(first: 5) { edges { node { id status } } } }';

/** An order that was answered with 201. */
export interface Acknowledged extends Recipients {
  readonly body: Record<string, unknown>;
  readonly idempotencyKey: string | null;
  readonly text: string;
}

/**
 * What clients saw, by kind of request and by outcome: a status, or the words for what came instead
 * of one.
 */
export class Seen {
  readonly outcomes = new Map<RequestKind, Map<string, number>>();
  readonly latenciesMs: number[] = [];
  /** By the monotonic clock. */
  readonly #refusedAtMs: number[] = [];

  add(kind: RequestKind, outcome: string, ms: number): void {
    if (outcome === '503') this.#refusedAtMs.push(performance.now());
    const of = this.outcomes.get(kind) ?? new Map<string, number>();
    this.outcomes.set(kind, of.set(outcome, (of.get(outcome) ?? 0) + 1));
    this.latenciesMs.push(ms);
  }

  get requests(): number {
    return this.latenciesMs.length;
  }

  /** From the first answer 503 to the last. */
  get refusedMs(): number {
    return (this.#refusedAtMs.at(-1) ?? 0) - (this.#refusedAtMs[0] ?? 0);
  }

  /** Of all kinds of requests, or of some. */
  counts(kinds: readonly RequestKind[] = [...this.outcomes.keys()]): Record<string, number> {
    const all: Record<string, number> = {};
    for (const kind of kinds) {
      for (const [outcome, count] of this.outcomes.get(kind) ?? []) all[outcome] = (all[outcome] ?? 0) + count;
    }
    return Object.fromEntries(Object.entries(all).sort(([a], [b]) => a.localeCompare(b)));
  }

  /** The latency below which this share of the answers came, in milliseconds. */
  percentile(share: number): number {
    const sorted = this.latenciesMs.toSorted((a, b) => a - b);
    return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0);
  }
}

/** A gateway that is asked, and how an order of it is paid into. */
export type LoadTarget = Pick<FaultGateway, 'restUrl' | 'internalUrl' | 'partnerKey' | 'staffToken' | 'deposit'>;

export interface MixedLoadOptions {
  readonly seed: number;
  readonly clients: number;
  /** Between two requests of a client. */
  readonly pauseMs: number;
  /** The share of orders that is paid into. */
  readonly paidShare: number;
}

/** What a client waits for an answer at most. */
const clientTimeoutMs = 30_000;
/** How long a client goes on with the same idempotency key. */
const persistMs = 120_000;

/**
 * Partners and staff who use a gateway as in life, and remember what it answered. Each answer must
 * be what the contract documents.
 */
export class MixedLoad {
  /** By id. */
  readonly acknowledged = new Map<string, Acknowledged>();
  /** Orders that were paid into. */
  readonly paid = new Map<string, Acknowledged>();
  /** What must not happen, a line each. */
  readonly problems: string[] = [];
  seen = new Seen();
  readonly #gateway: LoadTarget;
  readonly #options: MixedLoadOptions;
  readonly #call: Call;
  readonly #deposits = new Set<Promise<void>>();
  #running: Promise<void>[] = [];
  #isStopped = false;

  constructor(gateway: LoadTarget, options: MixedLoadOptions) {
    this.#gateway = gateway;
    this.#options = options;
    this.#call = contractClient(gateway.restUrl);
  }

  start(): void {
    this.#isStopped = false;
    this.#running = Array.from({ length: this.#options.clients }, (_, index) =>
      this.#client(new Dice(this.#options.seed + index)),
    );
  }

  /** Resolves when every request has its answer and every deposit is on its chain. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#running);
    await Promise.all(this.#deposits);
  }

  /** What was seen since the last time, and begins again. */
  takeSeen(): Seen {
    const { seen } = this;
    this.seen = new Seen();
    return seen;
  }

  async #client(dice: Dice): Promise<void> {
    while (!this.#isStopped) {
      await this.#act(dice.weighted(mix), dice);
      await sleep(this.#options.pauseMs * dice.between(0.5, 1.5));
    }
  }

  async #act(kind: RequestKind, dice: Dice): Promise<void> {
    const key = this.#gateway.partnerKey;
    if (kind === 'currencies') await this.#ask(kind, 'GET', '/currencies');
    else if (kind === 'quote') {
      const [coinFrom, networkFrom, coinTo, networkTo, amount] = dice.pick(quickPairs);
      const query = { coin_from: coinFrom, network_from: networkFrom, coin_to: coinTo, network_to: networkTo };
      const text = new URLSearchParams({ ...query, amount: String(amount) });
      await this.#ask(kind, 'GET', `/partner/rates?${text}`);
    } else if (kind === 'create') await this.#create(dice, null);
    else if (kind === 'create again') await this.#create(dice, randomUUID());
    else if (kind === 'look-up') {
      const orders = [...this.acknowledged.values()].slice(-200);
      if (orders.length === 0) return;
      const { id } = dice.pick(orders);
      const reply = await this.#ask(kind, 'GET', `/partner/orders/${id}`, { key });
      if (reply?.status === 404) this.problems.push(`order ${id} was acknowledged and is not found`);
      if (reply?.status === 200 && reply.json.id !== id)
        this.problems.push(`order ${id} is answered as ${reply.json.id}`);
    } else if (kind === 'invalid') {
      const wrong = dice.pick([
        { method: 'POST', path: '/partner/orders', options: { key, raw: '{' } },
        { method: 'POST', path: '/partner/orders', options: { key, body: { coin_from: 'BTC' } } },
        { method: 'GET', path: '/partner/orders/XP-000000', options: { key } },
        { method: 'GET', path: '/partner/orders/XP-000000', options: { key: 'xp_live_none.none' } },
      ] as const);
      await this.#ask(kind, wrong.method, wrong.path, wrong.options);
    } else await this.#askStaff();
  }

  /** Makes an order once. Returns the status; null without an answer. */
  async createOne(): Promise<number | null> {
    const reply = await this.#createUntilAnswered(newOrder(new Dice(this.#options.seed)).body, null);
    return reply?.status ?? null;
  }

  /**
   * Creates an order; with an idempotency key, again and again until it is answered for good, and
   * then once more.
   */
  async #create(dice: Dice, idempotencyKey: string | null): Promise<void> {
    const { body, recipient } = newOrder(dice);
    const isPaid = dice.chance(this.#options.paidShare);
    const reply = await this.#createUntilAnswered(body, idempotencyKey);
    if (reply?.status !== 201) return;
    const order: Acknowledged = { id: reply.json.id, recipient, body, idempotencyKey, text: reply.text };
    if (this.acknowledged.has(order.id)) this.problems.push(`order ${order.id} was made twice`);
    this.acknowledged.set(order.id, order);
    if (idempotencyKey !== null && dice.chance(0.2)) await this.createAgain(order);
    if (isPaid) this.#pay(order, reply.json);
  }

  async #createUntilAnswered(body: Record<string, unknown>, idempotencyKey: string | null): Promise<Reply | null> {
    const kind = idempotencyKey === null ? 'create' : 'create again';
    const options = {
      key: this.#gateway.partnerKey,
      body,
      ...(idempotencyKey === null ? {} : { headers: { 'Idempotency-Key': idempotencyKey } }),
    };
    for (const deadline = Date.now() + persistMs; ; await sleep(300)) {
      const reply = await this.#ask(kind, 'POST', '/partner/orders', options);
      const isFinal = reply !== null && reply.status < 500 && reply.status !== 409 && reply.status !== 429;
      if (isFinal || idempotencyKey === null || Date.now() > deadline) return reply;
    }
  }

  /** Asks for the same order again, which must answer the same. */
  async createAgain({ id, body, idempotencyKey, text }: Acknowledged): Promise<void> {
    const reply = await this.#createUntilAnswered(body, idempotencyKey);
    if (reply?.status === 201 && reply.text === text) return;
    const said = reply === null ? 'not at all' : `${reply.status} ${reply.text}`;
    // A gateway that is away says nothing of the order.
    if (reply !== null && reply.status !== 503)
      this.problems.push(`order ${id}, asked for again, was answered ${said}`);
  }

  #pay(order: Acknowledged, json: Reply['json']): void {
    const payable = {
      coinFrom: json.coin_from,
      networkFrom: json.network_from,
      depositAddress: json.deposit_address,
      depositTag: json.deposit_address_tag ?? null,
      amountFrom: String(json.amount_from_expected),
    };
    const paying = this.#gateway
      .deposit(payable)
      .then(() => void this.paid.set(order.id, order))
      .catch((error: Error) => void this.problems.push(`a deposit could not be made: ${error.message}`))
      .finally(() => this.#deposits.delete(paying));
    this.#deposits.add(paying);
  }

  /** Null when there was no answer. */
  async #ask(kind: RequestKind, method: string, path: string, options: object = {}): Promise<Reply | null> {
    return this.#timed(kind, async () => this.#call(method, path, { ...options, timeoutMs: clientTimeoutMs }));
  }

  async #askStaff(): Promise<void> {
    await this.#timed('staff', async () => {
      const ask = staffClient(this.#gateway.internalUrl, this.#gateway.staffToken, clientTimeoutMs);
      const reply = await ask(staffQuestion);
      const codes = reply.errors.map(({ extensions }) => extensions.code);
      if (codes.some((code) => code !== 'UNAVAILABLE')) this.problems.push(`staff were answered ${reply.text}`);
      // GraphQL answers 200 with the error inside.
      return codes.length > 0 ? { ...reply, status: 503 } : reply;
    });
  }

  async #timed<T extends { readonly status: number }>(kind: RequestKind, ask: () => Promise<T>): Promise<T | null> {
    const began = performance.now();
    try {
      const reply = await ask();
      this.seen.add(kind, String(reply.status), performance.now() - began);
      return reply;
    } catch (error) {
      const outcome = withoutAnswer(error);
      if (outcome === null) this.problems.push(String(error));
      this.seen.add(kind, outcome ?? 'against the contract', performance.now() - began);
      return null;
    }
  }
}

/** What creates an order, to a recipient that no other has. */
export function newOrder(dice: Dice): Pick<Acknowledged, 'body' | 'recipient'> {
  const [coinFrom, networkFrom, coinTo, networkTo, amount] = dice.pick(quickPairs);
  const recipient = newRecipient(networkTo, dice);
  const body = {
    coin_from: coinFrom,
    network_from: networkFrom,
    coin_to: coinTo,
    network_to: networkTo,
    amount_from: amount,
    rate_type: dice.chance(0.5) ? 'fixed' : 'float',
    recipient_address: recipient.address,
    ...(recipient.tag === null ? {} : { recipient_address_tag: recipient.tag }),
  };
  return { body, recipient };
}

/** What came instead of an answer; null for an answer that is not what the contract says. */
function withoutAnswer(error: unknown): string | null {
  const { name, cause } = error as Error & { cause?: { code?: string } };
  if (name === 'TimeoutError') return `none in ${clientTimeoutMs / 1000} s`;
  return name === 'TypeError' ? (cause?.code ?? 'cut') : null;
}
