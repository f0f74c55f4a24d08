import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { newRecipient } from '../../support/chains/recipients.ts';
import type { Rows } from '../../support/gateway/orders.ts';
import { loadSettings } from '../../support/gateway/settings.ts';
import { kinds, type StaffClient, staffClient } from '../../support/staff/staff-client.ts';
import type { Commands, Failpoint, People, TownStart, UserPayment } from './gateway-child.ts';
import { GatewayProcess, ProcessEnded } from './gateway-process.ts';
import type { Hooks } from './hooks.ts';
import {
  diceOf,
  killIn,
  type Place,
  type PlannedOrder,
  reorgsIn,
  restSteps,
  roundSec,
  roundsAfterKill,
  roundsOfStep,
  soldOut,
  stepSec,
  windowSteps,
} from './plan.ts';
import { Big, floorTo, formatDecimal, networkById } from './product.ts';

/** The first moment of the day. */
export const dayStart = Date.parse('2026-01-05T00:00:00Z');
/** Partners of a town. The first has an endpoint for all events, the second for some. */
export const partnersOfTown = 6;
/** Confirmations that deposits need at most: the real 64 would only make blocks. */
const mostConfirmations = 3;
const creatorsAtOnce = 8;
const mostTries = 20;
const settings = {
  ...loadSettings,
  DEPOSIT_WINDOW_SEC: String(windowSteps * stepSec),
  DEPOSIT_GRACE_SEC: String(stepSec / 2),
  EXCHANGE_DEADLINE_SEC: '900',
  ACTION_DEADLINE_SEC: String(3 * stepSec),
  // The clock of the tests decides, never the machine's.
  PRICE_REFRESH_SEC: '3600',
  PRICE_MAX_AGE_SEC: '86400',
  CHAIN_LEASE_MS: '600000',
  LOG_LEVEL: 'warn',
  // Who is beyond it would depend on which of two refunds was decided first.
  LATE_REFUND_LIMIT_USD: '1000000000',
};

interface CurrencyRow extends Place {
  readonly contract: string | null;
  readonly decimals: number;
  readonly min_amount: string;
  readonly network_fee: string;
  readonly min_confirmations: number;
}

/** An order that was created. */
export interface MadeOrder {
  readonly plan: PlannedOrder;
  readonly id: string;
  readonly depositAddress: string;
  readonly depositTag: string | null;
  readonly expected: Big;
  readonly min: Big;
  readonly max: Big | null;
  /** Transactions of its user, in their order. */
  readonly txids: string[];
  /** What its partner and staff did, and the answers. */
  readonly acts: string[];
}

interface Limits {
  readonly min: Big;
  readonly max: Big | null;
}

/** A payment that a user plans. */
interface Due {
  readonly order: MadeOrder;
  readonly payment: Omit<UserPayment, 'to'>;
  readonly isDropped: boolean;
}

export interface TownOptions {
  readonly number: number;
  readonly seed: number;
  readonly steps: number;
  /** Plans the orders of a step. */
  readonly ordersIn: (step: number) => readonly PlannedOrder[];
  readonly databaseUrl: string;
  readonly hooks: Hooks;
}

/** One gateway with its database, its partners, its users and its staff, for a day. */
export class Town {
  readonly made = new Map<number, MadeOrder>();
  readonly counts = { kills: 0, reorganisations: 0 };
  /** Warnings and errors in the logs. Timeouts on a busy machine are among them. */
  readonly logged = new Map<string, number>();
  /** Steps in which a process was killed. */
  readonly killSteps = new Set<number>();
  readonly #options: TownOptions;
  readonly #client: Client;
  readonly #due = new Map<string, Due[]>();
  readonly #currencies = new Map<string, CurrencyRow>();
  readonly #limits = new Map<string, Promise<Limits>>();
  readonly #attended = new Set<string>();
  /** Chains whose reorganisations may lose transactions for good. */
  readonly #forgetful = new Set<string>();
  #process: GatewayProcess;
  #spare: GatewayProcess | null = null;
  #urls = { rest: '', internal: '' };
  #people: People = { keys: [], tokens: [] };
  #members: StaffClient[] = [];
  /** Where the process is to be killed in this step, unless it was. */
  #kill: Failpoint | null = null;
  #now = dayStart;
  #step = 0;

  constructor(options: TownOptions) {
    this.#options = options;
    this.#client = new Client({ connectionString: options.databaseUrl, application_name: 'replay' });
    this.#client.on('error', () => {});
    this.#process = this.#spawn();
  }

  readonly rows: Rows = async <Row extends object>(sql: string, values: unknown[] = []) =>
    (await this.#client.query<Row>(sql, values)).rows;

  /** Steps that have passed. */
  get step(): number {
    return this.#step;
  }

  /** Plays the whole day. */
  async play(): Promise<void> {
    await this.#open();
    const { steps } = this.#options;
    for (this.#step = 0; this.#step < steps + restSteps; this.#step += 1) await this.#playStep();
    // Receivers that failed are tried again for hours.
    for (let hours = 0; hours < 3; hours += 1) {
      await this.#ask('advance', { ms: 3_600_000 });
      await this.#send();
    }
  }

  /** Ends all processes. */
  async close(): Promise<void> {
    await Promise.all([this.#process.end('SIGKILL'), this.#spare?.end('SIGKILL')]);
    await this.#client.end();
  }

  /** Differences between the books and the chains, one line each. */
  reconcile(): Promise<readonly string[]> {
    return this.#ask('reconcile', null);
  }

  // --- the process

  #ask<Name extends keyof Commands>(name: Name, args: Commands[Name]['args']): Promise<Commands[Name]['result']> {
    return this.#process.ask(name, args);
  }

  async #open(): Promise<void> {
    const { number } = this.#options;
    await this.#client.connect();
    await this.rows('update currency set min_confirmations = least(min_confirmations, $1)', [mostConfirmations]);
    await this.#start();
    this.#people = await this.#ask('people', { partners: partnersOfTown });
    await this.rows('insert into sandbox_inventory (coin, amount) values ($1, 0)', [soldOut.coin]);
    const currencies = await this.rows<CurrencyRow>(
      `select coin, network, contract, decimals, min_amount::text, network_fee::text, min_confirmations from currency
        order by coin, network`,
    );
    for (const row of currencies) this.#currencies.set(nameOf(row), row);
    // Where one confirmation is enough for a deposit, nothing may be lost.
    const quick = new Set(currencies.filter((row) => row.min_confirmations < 2).map(({ network }) => chainOf(network)));
    const careful = [...new Set(currencies.map(({ network }) => chainOf(network)))].filter(
      (chain) => !quick.has(chain),
    );
    for (const [index, chain] of careful.sort().entries()) if (index % 2 === 0) this.#forgetful.add(chain);
    // Reorganisations must not take what the hot wallet began with.
    const chains = await this.rows<{ chain: string }>('select chain from sandbox_chain order by chain');
    for (let blocks = 0; blocks < 3; blocks += 1)
      await this.#ask(
        'mine',
        chains.map(({ chain }) => chain),
      );
    const { url } = this.#options.hooks;
    await this.#call('POST', '/partner/webhook-endpoints', 0, { url: url(`all-${number}`), amounts: 'string' });
    const types = ['order.completed', 'order.refunding', 'order.failed', 'order.deposit_lost'];
    await this.#call('POST', '/partner/webhook-endpoints', 1, { url: url(`some-${number}`), amounts: 'number', types });
    this.#enter();
  }

  async #start(): Promise<void> {
    const { databaseUrl, hooks, seed } = this.#options;
    const start: TownStart = {
      databaseUrl,
      settings: { ...settings, ...hooks.settings },
      ca: hooks.ca,
      clock: this.#now,
      priceSeed: String(seed),
      priceMs: stepSec * 1_000,
      dayStart,
    };
    this.#urls = await this.#ask('open', start);
    this.#spare ??= this.#spawn();
    this.#enter();
  }

  #enter(): void {
    this.#members = this.#people.tokens.map((token) => staffClient(this.#urls.internal, token));
  }

  #spawn(): GatewayProcess {
    return new GatewayProcess((event) => this.logged.set(event, (this.logged.get(event) ?? 0) + 1));
  }

  /** Starts another process in place of one that was killed. */
  async #replace(): Promise<void> {
    await this.#process.end('SIGKILL');
    this.#kill = null;
    this.counts.kills += 1;
    this.killSteps.add(this.#step);
    // Its last statements may still run.
    await this.#untilNone(
      `select 1 from pg_stat_activity
        where datname = current_database() and application_name <> 'replay' and backend_type = 'client backend'`,
    );
    // As if the time of its leases had passed, which are by the database's own clock.
    await this.rows(`update chain_state set lease_until = now() - interval '1 second' where lease_until is not null`);
    await this.rows('delete from worker');
    this.#process = this.#spare ?? this.#spawn();
    this.#spare = null;
    await this.#start();
  }

  async #untilNone(sql: string): Promise<void> {
    for (const deadline = Date.now() + 120_000; (await this.rows(sql)).length > 0; ) {
      if (Date.now() > deadline) throw new Error(`rows remain of: ${sql}`);
      await this.rows('select pg_sleep(0.01)');
    }
  }

  // --- a step

  async #playStep(): Promise<void> {
    const { number, seed, steps } = this.#options;
    const step = this.#step;
    if (step > 0) await this.#advance((dayStart + step * stepSec * 1_000 - this.#now) / 1_000);
    await this.#ask('refresh', null);
    await this.#create(this.#options.ordersIn(step));
    await this.#actAsPartners();
    await this.#actAsStaff();
    this.#kill = step < steps ? killIn(number, step) : null;
    const reorgs = step < steps ? reorgsIn(seed, number, step, (network) => this.#forgetful.has(chainOf(network))) : [];
    const rounds = this.#kill ? roundsAfterKill : roundsOfStep;
    if (this.#kill) await this.#ask('fail', this.#kill);
    for (let round = 0; round < rounds; round += 1) {
      if (round > 0) await this.#advance(roundSec);
      await this.#pay(`${step}.${round}`);
      if (round > 0) await this.#ask('mine', await this.#busyChains());
      await this.#tick();
      for (const { network, depth, keep } of reorgs.filter((one) => one.round === round)) {
        await this.#ask('reorg', { network, depth, keep });
        this.counts.reorganisations += 1;
        await this.#tick();
      }
      // A kill that no crash point brought about comes between two effects.
      if (this.#kill && round === 1) await this.#replace();
    }
    await this.#send();
  }

  /** Settles all that is due. The successor of a process that is killed meanwhile goes on. */
  async #tick(): Promise<void> {
    try {
      await this.#ask('tick', null);
    } catch (error) {
      if (!(error instanceof ProcessEnded) || this.#kill === null) throw error;
      await this.#replace();
      await this.#ask('tick', null);
    }
  }

  async #advance(seconds: number): Promise<void> {
    this.#now += seconds * 1_000;
    await this.#ask('advance', { ms: seconds * 1_000 });
  }

  /** Chains on which something waits for a block. */
  async #busyChains(): Promise<string[]> {
    const rows = await this.rows<{ chain: string }>(
      `select chain from sandbox_tx where state = 'mempool'
       union select chain from deposit where state in ('mempool', 'mined', 'orphaned')
       union select chain from payment where state in ('signed', 'sent') order by chain`,
    );
    return rows.map(({ chain }) => chain);
  }

  async #send(): Promise<void> {
    // The feed shows nothing that was written since the oldest open transaction began.
    await this.#untilNone('select 1 from order_event where xid >= pg_snapshot_xmin(pg_current_snapshot()) limit 1');
    await this.#ask('send', null);
  }

  // --- partners

  async #call(
    method: 'GET' | 'POST' | 'PUT',
    path: string,
    partner: number,
    body?: object,
    // biome-ignore lint/suspicious/noExplicitAny: answers are read member by member
  ): Promise<{ status: number; text: string; json: any }> {
    const headers = {
      Authorization: `Bearer ${this.#people.keys[partner]}`,
      Amounts: 'string',
      ...(method === 'POST' ? { 'Idempotency-Key': randomUUID() } : {}),
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    };
    for (let tries = 1; ; tries += 1) {
      const sent = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
      const reply = await fetch(`${this.#urls.rest}${path}`, sent);
      const text = await reply.text();
      // A busy machine may keep a request waiting for too long. The key repeats no effect.
      if (reply.status !== 503 || tries === mostTries) return { status: reply.status, text, json: JSON.parse(text) };
    }
  }

  async #create(plans: readonly PlannedOrder[]): Promise<void> {
    const left = plans.values();
    const made: MadeOrder[] = [];
    const creator = async (): Promise<void> => {
      for (const plan of left) made.push(await this.#createOrder(plan));
    };
    await Promise.all(Array.from({ length: creatorsAtOnce }, creator));
    for (const order of made.sort((one, other) => one.plan.index - other.plan.index)) {
      this.made.set(order.plan.index, order);
      this.#planPayments(order);
    }
  }

  async #createOrder(plan: PlannedOrder): Promise<MadeOrder> {
    const { from, to, recipient, refund, hasRefund } = plan;
    const currency = this.#currency(from);
    const { min, max } = await this.#limitsOf(plan);
    const amount = floorTo(min.times(plan.factor), Math.min(6, currency.decimals));
    if (plan.refusesPayout && recipient.tag === null)
      await this.#ask('refuse', { network: to.network, address: recipient.address });
    if (plan.refusesRefund && refund.tag === null)
      await this.#ask('refuse', { network: from.network, address: refund.address });
    const terms = await this.#termsOf(plan, amount);
    const { status, text, json } = await this.#call('POST', '/partner/orders', plan.partner, {
      coin_from: from.coin,
      network_from: from.network,
      coin_to: to.coin,
      network_to: to.network,
      amount_from: formatDecimal(amount),
      rate_type: plan.rateType,
      recipient_address: recipient.address,
      ...(recipient.tag === null ? {} : { recipient_address_tag: recipient.tag }),
      ...(hasRefund ? { refund_address: refund.address } : {}),
      ...(hasRefund && refund.tag !== null ? { refund_address_tag: refund.tag } : {}),
      external_id: `order-${plan.index}`,
      ...terms,
    });
    if (status !== 201) throw new Error(`order ${plan.index} was refused: ${text}`);
    return {
      plan,
      id: json.id,
      depositAddress: json.deposit_address,
      depositTag: json.deposit_address_tag ?? null,
      expected: new Big(json.amount_from_expected),
      min,
      max,
      txids: [],
      acts: [],
    };
  }

  #currency(place: Place): CurrencyRow {
    const found = this.#currencies.get(nameOf(place));
    if (!found) throw new Error(`there is no ${nameOf(place)}`);
    return found;
  }

  /** What the partner agrees on. The smallest payout is a share of the one that the rate shows. */
  async #termsOf(plan: PlannedOrder, amount: Big): Promise<object> {
    const { policy, leastShare, onPriceMoved } = plan;
    if (leastShare === null) return policy === null ? {} : { policy };
    const { rate = '0' } = await this.#rate(plan, amount);
    const least = floorTo(amount.times(rate).times(leastShare), Math.min(8, this.#currency(plan.to).decimals));
    return { min_amount_to: formatDecimal(least), policy: { ...policy, on_price_moved: onPriceMoved } };
  }

  /** The least and the most that a pair takes, as its first rate said. */
  #limitsOf(plan: PlannedOrder): Promise<Limits> {
    const { from, to, rateType } = plan;
    const name = `${nameOf(from)} ${nameOf(to)} ${rateType}`;
    const known = this.#limits.get(name);
    if (known) return known;
    const asked = this.#rate(plan, new Big(this.#currency(from).min_amount).times('3')).then(
      ({ min_amount: min = '0', max_amount: max }) => ({ min: new Big(min), max: max ? new Big(max) : null }),
    );
    this.#limits.set(name, asked);
    return asked;
  }

  async #rate({ from, to, rateType }: PlannedOrder, amount: Big): Promise<Record<string, string>> {
    const query = new URLSearchParams({
      coin_from: from.coin,
      network_from: from.network,
      coin_to: to.coin,
      network_to: to.network,
      rate_type: rateType,
      amount: formatDecimal(amount),
    });
    const { status, text, json } = await this.#call('GET', `/partner/rates?${query}`, 0);
    if (status !== 200) throw new Error(`no rate for ${query}: ${status} ${text}`);
    return json;
  }

  /** Plans what the user sends, and when. */
  #planPayments(order: MadeOrder): void {
    const { behaviour, from, share, delays, flip, step } = order.plan;
    const { expected, min, max, depositTag } = order;
    const currency = this.#currency(from);
    const part = (factor: string): Big => expected.times(factor);
    const [soon, later] = [step + delays[0], step + delays[0] + delays[1]];
    const plan = (
      when: { readonly step: number; readonly round?: number },
      amount: Big,
      changes: { readonly from?: CurrencyRow; readonly tag?: string | null; readonly isDropped?: boolean } = {},
    ): void => {
      const { coin, network, decimals } = changes.from ?? currency;
      const tag = changes.tag === undefined ? depositTag : changes.tag;
      const payment = { coin, network, tag, amount: formatDecimal(floorTo(amount, decimals)) };
      const name = `${when.step}.${when.round ?? 0}`;
      const due = { order, payment, isDropped: changes.isDropped ?? false };
      this.#due.set(name, [...(this.#due.get(name) ?? []), due]);
    };
    switch (behaviour) {
      case 'exact':
        plan({ step: soon }, expected);
        break;
      case 'partial':
        plan({ step: soon }, part(share));
        break;
      case 'below minimum':
        plan({ step: soon }, min.times('0.5'));
        break;
      case 'dust':
        plan({ step: soon }, new Big(currency.network_fee).times('0.5'));
        break;
      case 'over':
        plan({ step: soon }, part('1').plus(part(share)));
        break;
      case 'above maximum':
        plan({ step: soon }, (max ?? part('10')).times('1.5'));
        break;
      case 'split':
        plan({ step: soon }, part(share));
        plan({ step: flip ? soon : later, round: flip ? 1 : 0 }, part('1').minus(part(share)));
        break;
      case 'double':
        plan({ step: soon }, expected);
        plan({ step: later }, flip ? expected : part(share));
        break;
      case 'wrong tag':
        // An address without tags takes the transfer all the same.
        plan({ step: soon }, expected, { tag: depositTag === null ? '7' : flip ? null : '4294967295' });
        break;
      case 'wrong coin': {
        const others = [...this.#currencies.values()].filter(
          ({ network, coin }) => chainOf(network) === chainOf(from.network) && coin !== from.coin,
        );
        if (others.length === 0) {
          plan({ step: soon }, expected);
          break;
        }
        const other = diceOf(this.#options.seed, 'other coin', order.plan.index).pick(others);
        plan({ step: soon }, new Big(other.min_amount), { from: other });
        break;
      }
      case 'last moment':
        plan({ step: step + windowSteps }, expected);
        break;
      case 'late':
        plan({ step: step + windowSteps - 1 + delays[1], round: 2 }, expected);
        break;
      case 'replaced':
        plan({ step: soon }, expected, { isDropped: true });
        if (flip) plan({ step: soon + 1 }, expected);
        break;
      case 'never':
        break;
    }
  }

  /** Users send what they planned for now. A forgotten transaction is seen once before. */
  async #pay(name: string): Promise<void> {
    const due = this.#due.get(name) ?? [];
    this.#due.delete(name);
    if (due.length === 0) return;
    const payments = due.map(({ order, payment }) => ({ ...payment, to: order.depositAddress }));
    const txids = await this.#ask('pay', payments);
    for (const [index, { order }] of due.entries()) order.txids.push(txids[index] ?? '');
    if (!due.some(({ isDropped }) => isDropped)) return;
    await this.#tick();
    for (const [index, { payment, isDropped }] of due.entries()) {
      if (isDropped) await this.#ask('drop', { network: payment.network, txid: txids[index] ?? '' });
    }
  }

  async #actAsPartners(): Promise<void> {
    for (const order of this.made.values()) {
      if (order.plan.cancelStep === this.#step) await this.#change(order, 'POST', 'cancel');
    }
    const questions = await this.rows<{ id: string; seq: number; number: number }>(
      `select * from (select order_id as id, seq, outcome, rank() over (partition by order_id order by seq)::int as number
                        from order_action) as q where outcome is null`,
    );
    for (const { order, seq, number } of this.#ordered(questions)) {
      // Not by \`seq\`, which changes with what else is an event.
      const dice = diceOf(this.#options.seed, 'answer', order.plan.index, number, this.#step);
      if (!dice.chance(0.45)) continue;
      const action = dice.pick(['exchange', 'exchange', 'refund']);
      await this.#change(order, 'POST', 'actions', { action_id: `act_${seq}`, action });
    }
  }

  async #change(order: MadeOrder, method: 'POST' | 'PUT', path: string, body?: object): Promise<void> {
    const { status, json } = await this.#call(method, `/partner/orders/${order.id}/${path}`, order.plan.partner, body);
    const words = [path, ...Object.values(body ?? {})].join(' ');
    order.acts.push(`step ${this.#step} partner ${words}: ${status} ${status === 200 ? 'done' : json.code}`);
  }

  /** Rows of orders, by the number of the order. */
  #ordered<Row extends { readonly id: string }>(rows: readonly Row[]): (Row & { readonly order: MadeOrder })[] {
    const byId = new Map([...this.made.values()].map((order) => [order.id, order]));
    return rows
      .flatMap((row) => {
        const order = byId.get(row.id);
        return order ? [{ ...row, order }] : [];
      })
      .sort((one, other) => one.order.plan.index - other.order.plan.index);
  }

  // --- staff

  async #actAsStaff(): Promise<void> {
    const step = this.#step;
    for (const order of this.made.values()) {
      const { hold } = order.plan;
      if (hold?.step === step) await this.#propose(order, `orderHold(orderId: "${order.id}", reason: "a look")`, null);
      const verdict = hold?.verdicts.find((one) => one.step === step)?.verdict ?? null;
      if (verdict) await this.#propose(order, `orderRelease(orderId: "${order.id}", reason: "seen")`, verdict);
    }
    const failed = await this.rows<{ id: string }>(`select id from exchange_order where status = 'failed'`);
    for (const { id, order } of this.#ordered(failed)) {
      if (this.#attended.has(id)) continue;
      this.#attended.add(id);
      await this.#attend(order);
    }
    await this.#stopPayouts();
  }

  /** What becomes of an order that has failed. */
  async #attend(order: MadeOrder): Promise<void> {
    const { index, from } = order.plan;
    const dice = diceOf(this.#options.seed, 'failed', index);
    const { address, tag } = newRecipient(from.network, dice);
    const memo = tag === null ? '' : `, tag: "${tag}"`;
    switch (dice.weighted({ refund: 5, retry: 3, address: 4, refused: 1, leave: 1 })) {
      case 'refund':
        return this.#propose(
          order,
          `orderRefund(input: { orderId: "${order.id}", address: "${address}"${memo} }, reason: "proven")`,
          'approve',
        );
      case 'refused':
        return this.#propose(
          order,
          `orderRefund(input: { orderId: "${order.id}", address: "${address}"${memo} }, reason: "unsure")`,
          'reject',
        );
      case 'retry':
        return this.#propose(order, `orderRetryPayout(orderId: "${order.id}", reason: "asked")`, 'approve');
      case 'address':
        return this.#change(order, 'PUT', 'refund-address', {
          refund_address: address,
          ...(tag === null ? {} : { refund_address_tag: tag }),
        });
      case 'leave':
        return;
    }
  }

  /** One member proposes an action on an order, and another decides it. */
  async #propose(order: MadeOrder, mutation: string, verdict: 'approve' | 'reject' | null): Promise<void> {
    const note = (what: string, answer: string): void =>
      void order.acts.push(`step ${this.#step} staff ${what}: ${answer}`);
    const name = mutation.slice(0, mutation.indexOf('('));
    const proposed = await this.#member(0, `mutation { done: ${mutation} { id state } }`);
    note(name, proposed.answer);
    if (verdict === null || proposed.id === null) return;
    const decide = verdict === 'approve' ? 'actionApprove' : 'actionReject';
    const decided = await this.#member(
      1,
      `mutation { done: ${decide}(id: "${proposed.id}", reason: "decided") { id state } }`,
    );
    note(decide, decided.answer);
  }

  async #member(number: number, mutation: string): Promise<{ readonly answer: string; readonly id: string | null }> {
    const ask = this.#members[number];
    if (!ask) throw new Error(`there is no member ${number}`);
    let { data, errors } = await ask(mutation);
    for (let tries = 1; tries < mostTries && kinds({ errors }).includes('unavailable'); tries += 1)
      ({ data, errors } = await ask(mutation));
    const [refusal] = kinds({ errors });
    if (refusal !== undefined) return { answer: `refused ${refusal}`, id: null };
    return { answer: data.done.state ?? 'done', id: data.done.id };
  }

  /** Payouts of one asset stop now and then, for two steps. */
  async #stopPayouts(): Promise<void> {
    const { steps } = this.#options;
    const step = this.#step;
    const open = await this.rows<{ id: string }>('select id from payout_hold where closed_at is null order by id');
    if (open.length > 0 && step % 12 === 9) {
      for (const { id } of open) {
        const { id: action, answer } = await this.#member(
          0,
          `mutation { done: payoutResume(holdId: "${id}", reason: "calm") { id state } }`,
        );
        if (action === null) throw new Error(`payouts could not go on: ${answer}`);
        const decided = await this.#member(
          1,
          `mutation { done: actionApprove(id: "${action}", reason: "calm") { id state } }`,
        );
        if (decided.id === null) throw new Error(`payouts could not go on: ${decided.answer}`);
      }
    }
    if (step % 12 !== 7 || step >= steps) return;
    const { coin, network } = diceOf(this.#options.seed, 'stop', this.#options.number, step).pick([
      { coin: 'USDT', network: 'TRC20' },
      { coin: 'LTC', network: 'LTC' },
      { coin: 'XRP', network: 'XRP' },
    ]);
    const stopped = await this.#member(
      0,
      `mutation { done: payoutStop(coin: "${coin}", network: "${network}", reason: "a look") { id } }`,
    );
    if (stopped.id === null) throw new Error(`payouts could not be stopped: ${stopped.answer}`);
  }
}

function nameOf({ coin, network }: Place): string {
  return `${coin} on ${network}`;
}

function chainOf(network: string): string {
  return networkById(network)?.chain ?? '';
}
