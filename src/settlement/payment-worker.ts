import { type EntityManager, LockMode, type MikroORM } from '@mikro-orm/postgresql';
import {
  type ChainAdapter,
  ChainError,
  type PaymentIntent,
  type PreparedTx,
  type SignedTx,
  type TxStatus,
} from '../chains/chain-adapter.ts';
import { type Signer, SignerError } from '../chains/signer.ts';
import type { Clock } from '../clock.ts';
import type { CurrencyCatalogue } from '../currencies/currency-catalogue.ts';
import type { JobQueue } from '../jobs/job-queue.ts';
import { book, type LedgerLine, line, minus } from '../ledger/ledger.ts';
import { errorMembers, type Log } from '../log.ts';
import { Big, fromUnits, toUnits } from '../money.ts';
import { Order } from '../orders/order.entity.ts';
import type { OnBoundary } from './boundary.ts';
import { type ChainLease, guardLease, LeaseLost } from './chain-lease.ts';
import { Deposit } from './deposit.entity.ts';
import { Payment } from './payment.entity.ts';
import { PaymentAttempt } from './payment-attempt.entity.ts';
import { secondsAfter } from './settling.ts';

export interface PaymentWorkerOptions {
  readonly orm: MikroORM;
  readonly clock: Clock;
  readonly log: Log;
  readonly catalogue: CurrencyCatalogue;
  readonly signer: Signer;
  readonly jobs: Pick<JobQueue, 'wake'>;
  readonly onBoundary: OnBoundary;
  /** A transaction whose fee is above so many times the chain's usual one waits. */
  readonly maxFeeFactor: number;
}

/** A payment and its transactions that may still confirm, oldest first, as they were read or written last. */
interface Standing {
  readonly payment: Payment;
  readonly alive: readonly PaymentAttempt[];
}

type Mined = Extract<TxStatus, { state: 'mined' }>;

/** Payments of a chain that one turn takes up. */
const batch = 100;
const retrySec = 2;
/** Between two looks at a payment while its chain makes no block. */
const lookSec = 5;
/** A payment that died so often is not tried again without staff. */
const maxDeaths = 3;
/** Before a signer that refused is asked again. Its limits are of a day. */
const refusedSec = 300;

/**
 * Brings payments onto their chain, each at most once. The order of things is what makes it safe: reserve what the
 * transaction spends, sign, store the bytes, and only then show them to anybody; from then on send those very bytes
 * again and ask the chain, whatever a node says. Another transaction is built only when the chain shows that the old
 * one can never confirm, or when it spends all that the old one spends, so that one of them at most can.
 */
export class PaymentWorker {
  readonly #options: PaymentWorkerOptions;

  constructor(options: PaymentWorkerOptions) {
    this.#options = options;
  }

  /**
   * The payments that are due on the chains, by chain. They come due again a little later, so that a process that ends
   * in the middle leaves them to be found.
   */
  async claim(chains: readonly string[]): Promise<Map<string, string[]>> {
    const { orm, clock } = this.#options;
    const now = clock.now();
    const rows = await orm.em.fork().execute<{ id: string; chain: string }[]>(
      `with due as (
         select p.id from payment p
           left join deposit d on d.id = p.deposit_id
           left join exchange_order o on o.id = p.order_id
          where p.chain in (select jsonb_array_elements_text(?::jsonb)) and p.next_action_at <= ?
            and (p.state <> 'ready' or p.deposit_id is null or (o.held_at is null and d.state = 'credited'))
          order by p.next_action_at, p.id limit ? for update of p skip locked
       )
       update payment p set next_action_at = ? from due where p.id = due.id returning p.id, p.chain`,
      [JSON.stringify(chains), now, batch, secondsAfter(now, retrySec)],
    );
    const byChain = Map.groupBy(rows, ({ chain }) => chain);
    return new Map([...byChain].map(([chain, due]) => [chain, due.map(({ id }) => id)]));
  }

  /** Payments of a chain that were broadcast and have not ended: each is looked at after a new block. */
  async sent(chain: string): Promise<string[]> {
    const rows = await this.#options.orm.em
      .fork()
      .execute<{ id: string }[]>(`select id from payment where chain = ? and state = 'sent' order by sent_at`, [chain]);
    return rows.map(({ id }) => id);
  }

  /**
   * Takes payments of a chain as far as they can go now, while there is time. One that fails, or that no time is left
   * for, is left to its next alarm.
   *
   * @throws LeaseLost when another process has the chain now.
   */
  async work(
    adapter: ChainAdapter,
    lease: ChainLease,
    ids: readonly string[],
    hasTime: () => boolean = () => true,
  ): Promise<void> {
    for (const id of ids) {
      if (!hasTime()) return;
      try {
        await this.advance(adapter, lease, id);
      } catch (error) {
        if (error instanceof LeaseLost) throw error;
        const { log } = this.#options;
        log.warn(
          { event: 'payment_failed', code: adapter.chain, ...errorMembers(error) },
          'a payment made no progress',
        );
      }
    }
  }

  /** Takes one payment as far as it can go now. */
  async advance(adapter: ChainAdapter, lease: ChainLease, id: string): Promise<void> {
    const em = this.#options.orm.em.fork();
    const payment = await em.findOneOrFail(Payment, { id });
    const alive = await em.find(PaymentAttempt, { paymentId: id, deadAt: null }, { orderBy: { attempt: 'asc' } });
    let stands: Standing | null = { payment, alive };
    while (stands) stands = await this.#step(adapter, lease, stands);
  }

  /** One step; what stands after it, or null when the payment rests. */
  #step(adapter: ChainAdapter, lease: ChainLease, { payment, alive }: Standing): Promise<Standing | null> {
    switch (payment.state) {
      case 'ready':
        return this.#prepare(adapter, lease, payment);
      case 'prepared':
        return this.#sign(lease, payment, newest(alive));
      case 'signed':
        return this.#send(adapter, lease, payment, newest(alive));
      case 'sent':
        return this.#observe(adapter, lease, payment, alive);
      case 'confirmed':
      case 'dead':
        return Promise.resolve(null);
    }
  }

  /** Builds the transaction and reserves what it spends. */
  async #prepare(adapter: ChainAdapter, lease: ChainLease, payment: Payment): Promise<Standing | null> {
    const { orm, onBoundary } = this.#options;
    const held = await orm.em
      .fork()
      .execute<{ resource: string }[]>(
        'select resource from payment_reservation where chain = ? and released_at is null',
        [adapter.chain],
      );
    const number = payment.attempt + 1;
    const intent = this.#intent(payment, number);
    let tx: PreparedTx;
    try {
      tx = await adapter.prepare(intent, new Set(held.map(({ resource }) => resource)));
    } catch (error) {
      if (!(error instanceof ChainError)) throw error;
      // A sweep that its chain refuses is decided anew, perhaps with more gas before it.
      const isOver = payment.kind === 'sweep' ? error.isOfChain : payment.depositId === null && !error.retryable;
      if (isOver) return this.#drop(lease, payment, error.code);
      await this.#problem(lease, payment.id, error.code, error.retryable ? retrySec : retrySec * 30);
      throw error;
    }
    await onBoundary('payment.built');
    if (this.#isTooDear(adapter.chain, tx)) {
      await this.#problem(lease, payment.id, 'fee_too_high', retrySec * 10);
      return null;
    }
    const stands = await this.#write(lease, payment, async (em, row) => {
      const attempt = await this.#attempt(em, row, number, tx);
      row.state = 'prepared';
      clearProblem(row);
      return [attempt];
    });
    await onBoundary('payment.prepared');
    return stands;
  }

  /** Ends a movement between our own addresses that cannot be made: nobody waits for it, and its coins stay. */
  async #drop(lease: ChainLease, payment: Payment, problem: string): Promise<null> {
    await this.#write(lease, payment, async (em, row) => {
      const now = this.#options.clock.now();
      Object.assign(row, { state: 'dead', problem, problemSince: now, endedAt: now, nextActionAt: null });
      await showDead(em, row, null);
      return [];
    });
    return null;
  }

  #isTooDear(chain: string, tx: PreparedTx): boolean {
    const gas = this.#options.catalogue.gasCoin(chain);
    const most = new Big(gas.networkFee).times(String(this.#options.maxFeeFactor));
    return new Big(fromUnits(tx.fee, gas.decimals)).gt(most);
  }

  /** Stores a transaction of a payment with what it reserves beyond the ones before it. */
  async #attempt(em: EntityManager, row: Payment, number: number, tx: PreparedTx): Promise<PaymentAttempt> {
    const { catalogue, clock } = this.#options;
    const attempt = em.create(PaymentAttempt, {
      paymentId: row.id,
      attempt: number,
      chain: row.chain,
      payload: tx.payload,
      reserves: [...tx.reserves],
      fee: new Big(fromUnits(tx.fee, catalogue.gasCoin(row.chain).decimals)).toFixed(),
      expiresAtHeight: tx.expiresAt,
      txid: null,
      raw: null,
      minedHeight: null,
      preparedAt: clock.now(),
      signedAt: null,
      sentAt: null,
      deadAt: null,
      deadWhy: null,
    });
    em.persist(attempt);
    row.attempt = number;
    await em.flush();
    await em.execute(
      `insert into payment_reservation (chain, resource, payment_id, attempt)
       select ?, r.resource, ?, ? from jsonb_array_elements_text(?::jsonb) as r (resource)
        where not exists (select 1 from payment_reservation h
                           where h.payment_id = ? and h.resource = r.resource and h.released_at is null)`,
      [row.chain, row.id, number, JSON.stringify(tx.reserves), row.id],
    );
    return attempt;
  }

  /** Has the stored transaction signed and stores the bytes. The signer gives the same bytes however often it is asked. */
  async #sign(lease: ChainLease, payment: Payment, attempt: PaymentAttempt): Promise<Standing | null> {
    const { orm, clock, onBoundary } = this.#options;
    if (!(await mayGoOut(orm.em.fork(), payment))) return this.#giveUp(lease, payment, attempt, null);
    const signed = await this.#askSigner(lease, payment, attempt);
    if (signed === 'unavailable') {
      await this.#problem(lease, payment.id, 'signer_unavailable', retrySec);
      return null;
    }
    if (signed === 'refused') return this.#giveUp(lease, payment, attempt, 'signer_refused');
    await onBoundary('payment.signature');
    const stands = await this.#write(lease, payment, async (em, row) => {
      const stored = await this.#storeSignature(em, row, attempt.attempt, signed, clock.now());
      row.state = 'signed';
      clearProblem(row);
      return [stored];
    });
    await onBoundary('payment.signed');
    return stands;
  }

  async #askSigner(
    lease: ChainLease,
    payment: Payment,
    attempt: PaymentAttempt,
  ): Promise<SignedTx | SignerError['code']> {
    const { orm, signer, log } = this.#options;
    const { id } = payment;
    const signed = await orm.em
      .fork()
      .execute<{ txid: string }[]>(
        'select txid from payment_attempt where payment_id = ? and attempt <> ? and txid is not null',
        [id, attempt.attempt],
      );
    const earlier = signed.map(({ txid }) => txid);
    try {
      return await signer.sign(lease.chain, this.#intent(payment, attempt.attempt), this.#prepared(attempt), earlier);
    } catch (error) {
      if (!(error instanceof SignerError)) throw error;
      log.error(
        { event: 'signer_failed', code: error.code, detail: error.message, order_id: payment.orderId },
        'a payment was not signed',
      );
      return error.code;
    }
  }

  async #storeSignature(
    em: EntityManager,
    { id }: Payment,
    attempt: number,
    { raw, txid }: SignedTx,
    at: Date,
  ): Promise<PaymentAttempt> {
    const stored = await em.findOneOrFail(PaymentAttempt, { paymentId: id, attempt });
    stored.raw = raw;
    stored.txid = txid;
    stored.signedAt = at;
    return stored;
  }

  /**
   * Drops a transaction whose bytes were never stored, and so were never shown to anybody, and lets go of what it
   * reserved: a nonce that is held and not used would stop every later payment.
   */
  async #giveUp(
    lease: ChainLease,
    { id, state }: Payment,
    { attempt }: PaymentAttempt,
    problem: string | null,
  ): Promise<null> {
    const { orm, clock } = this.#options;
    await orm.em.fork().transactional(async (em) => {
      await guardLease(em, lease);
      const row = await em.findOneOrFail(Payment, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
      if (row.state !== state) return;
      const now = clock.now();
      await endAttempt(em, id, attempt, 'never_signed', now);
      row.state = 'ready';
      if (problem === null) clearProblem(row);
      else if (row.problem !== problem) Object.assign(row, { problem, problemSince: now });
      row.nextActionAt = secondsAfter(now, problem === null ? retrySec : refusedSec);
      await em.flush();
      await this.#release(em, id, now);
    });
    return null;
  }

  async #send(adapter: ChainAdapter, lease: ChainLease, payment: Payment, attempt: PaymentAttempt): Promise<null> {
    const { clock, onBoundary } = this.#options;
    await this.#broadcast(adapter, attempt);
    await onBoundary('payment.broadcast');
    await this.#write(lease, payment, async (em, row) => {
      const stored = await em.findOneOrFail(PaymentAttempt, { paymentId: row.id, attempt: attempt.attempt });
      const now = clock.now();
      stored.sentAt = now;
      row.state = 'sent';
      row.sentAt ??= now;
      row.nextActionAt = secondsAfter(now, lookSec);
      return [stored];
    });
    await onBoundary('payment.sent');
    return null;
  }

  /** What the node says is not believed, and what it throws changes nothing: the chain is asked next. */
  async #broadcast(adapter: ChainAdapter, attempt: PaymentAttempt): Promise<void> {
    const { log } = this.#options;
    try {
      const { outcome, code } = await adapter.broadcast(signedTx(attempt));
      if (outcome === 'rejected' || outcome === 'uncertain') {
        log.warn({ event: 'broadcast_refused', code }, 'a node did not take a transaction');
      }
    } catch (error) {
      log.warn({ event: 'broadcast_failed', ...errorMembers(error) }, 'a node gave no answer to a broadcast');
    }
  }

  /** Asks the chain what became of the transactions, and sees to it that one of them gets into a block. */
  async #observe(
    adapter: ChainAdapter,
    lease: ChainLease,
    payment: Payment,
    alive: readonly PaymentAttempt[],
  ): Promise<null> {
    const { onBoundary, log } = this.#options;
    const signed = alive.filter(({ raw }) => raw !== null);
    const seen: { attempt: PaymentAttempt; status: TxStatus }[] = [];
    for (const attempt of signed) seen.push({ attempt, status: await adapter.status(signedTx(attempt)) });
    await onBoundary('payment.observed');
    for (const { attempt, status } of seen) {
      if (status.state === 'mined') return this.#mined(lease, payment, attempt, status);
    }
    const [dead] = seen.flatMap(({ status }) => (status.state === 'dead' ? [status] : []));
    if (dead && seen.every(({ status }) => status.state === 'dead')) {
      const isFinal = seen.every(({ status }) => status.state === 'dead' && status.final);
      return this.#dead(lease, payment, dead.why, isFinal);
    }
    const unknown = seen.filter(({ status }) => status.state === 'unknown').map(({ attempt }) => attempt);
    // The newest first: nodes that have it refuse those that it replaces.
    for (const attempt of unknown.toReversed()) await this.#broadcast(adapter, attempt);
    await this.#noteWaiting(
      lease,
      payment,
      seen.some(({ status }) => status.state === 'mempool'),
    );
    try {
      await this.#replace(adapter, lease, payment, newest(alive));
    } catch (error) {
      if (error instanceof LeaseLost) throw error;
      // The one that waits may confirm all the same.
      log.warn({ event: 'replacement_failed', ...errorMembers(error) }, 'a payment could not be replaced');
    }
    return null;
  }

  /** Notes that no transaction of a payment is in a block: one waits for it, or nobody has any. */
  async #noteWaiting(lease: ChainLease, payment: Payment, isInMempool: boolean): Promise<void> {
    const isWorry = !isInMempool && payment.problem !== 'unknown';
    await this.#write(
      lease,
      payment,
      async (em, row, order) => {
        row.nextActionAt = secondsAfter(this.#options.clock.now(), lookSec);
        // In the mempool it is on its way; only a transaction that nobody has is a worry.
        if (isInMempool) clearProblem(row);
        else if (isWorry) await this.#worry(em, row, order);
        return [];
      },
      isWorry,
    );
  }

  /**
   * Where a payment has waited too long for a block: builds a transaction that takes the place of the newest, signs and
   * sends it, a step each, so that whoever comes after a crash goes on with it. Whatever happens to it, the ones before
   * it are watched as well.
   */
  async #replace(adapter: ChainAdapter, lease: ChainLease, payment: Payment, last: PaymentAttempt): Promise<void> {
    const { orm, clock, onBoundary } = this.#options;
    if (!adapter.replace || adapter.replaceAfterSec === undefined) return;
    let attempt = last;
    if (attempt.sentAt !== null) {
      const isPatient = (since: Date): boolean => clock.now() < secondsAfter(since, adapter.replaceAfterSec ?? 0);
      if (isPatient(attempt.sentAt)) return;
      // A replacement that the signer refused is dead, and another one takes as long.
      const em = orm.em.fork();
      const built = await em.findOneOrFail(PaymentAttempt, { paymentId: payment.id, attempt: payment.attempt });
      if (isPatient(built.preparedAt)) return;
      const number = payment.attempt + 1;
      const tx = await adapter.replace(this.#intent(payment, number), this.#prepared(attempt));
      if (tx === null || this.#isTooDear(adapter.chain, tx)) return;
      await onBoundary('payment.built');
      const stands = await this.#write(lease, payment, async (em, row) => [await this.#attempt(em, row, number, tx)]);
      if (!stands) return;
      attempt = newest(stands.alive);
      await onBoundary('payment.prepared');
    }
    if (attempt.raw === null) {
      const signed = await this.#askSigner(lease, payment, attempt);
      if (signed === 'unavailable') return;
      await onBoundary('payment.signature');
      const stands = await this.#write(lease, payment, async (em, row) => {
        if (signed !== 'refused') return [await this.#storeSignature(em, row, attempt.attempt, signed, clock.now())];
        await endAttempt(em, row.id, attempt.attempt, 'never_signed', clock.now());
        return [];
      });
      if (!stands || signed === 'refused') return;
      attempt = newest(stands.alive);
      await onBoundary('payment.signed');
    }
    await this.#broadcast(adapter, attempt);
    await onBoundary('payment.broadcast');
    await this.#write(lease, payment, async (em, row) => {
      const stored = await em.findOneOrFail(PaymentAttempt, { paymentId: row.id, attempt: attempt.attempt });
      stored.sentAt = clock.now();
      return [stored];
    });
    await onBoundary('payment.sent');
  }

  async #mined(lease: ChainLease, payment: Payment, seen: PaymentAttempt, status: Mined): Promise<null> {
    const { clock, jobs, onBoundary } = this.#options;
    const { attempt, txid, minedHeight } = seen;
    if (!status.final) {
      if (minedHeight === status.height && payment.problem === null) return null;
      await this.#write(
        lease,
        payment,
        async (em, row, order) => {
          const stored = await em.findOneOrFail(PaymentAttempt, { paymentId: row.id, attempt });
          stored.minedHeight = status.height;
          await em.execute(
            'update payment_attempt set mined_height = null where payment_id = ? and attempt <> ? and dead_at is null',
            [row.id, attempt],
          );
          clearProblem(row);
          row.nextActionAt = secondsAfter(clock.now(), lookSec);
          if (order && row.kind === 'payout' && status.success) order.payoutTxid = txid;
          return [stored];
        },
        true,
      );
      return null;
    }
    await this.#write(
      lease,
      payment,
      async (em, row, order) => {
        const now = clock.now();
        const stored = await em.findOneOrFail(PaymentAttempt, { paymentId: row.id, attempt });
        stored.minedHeight = status.height;
        if (!status.success) {
          stored.deadAt = now;
          stored.deadWhy = 'failed';
        }
        row.state = status.success ? 'confirmed' : 'dead';
        row.problem = status.success ? null : 'failed_on_chain';
        row.problemSince = status.success ? null : now;
        row.endedAt = now;
        row.nextActionAt = null;
        if (order && row.kind === 'payout' && status.success) order.payoutTxid = txid;
        if (order) order.nextActionAt = now;
        if (!status.success) await showDead(em, row, order);
        await em.flush();
        await em.execute(
          `update payment_attempt set dead_at = ?, dead_why = 'replaced', mined_height = null
            where payment_id = ? and attempt <> ? and dead_at is null`,
          [now, row.id, attempt],
        );
        await this.#release(em, row.id, now);
        await this.#bookEnd(em, row, stored, status, now);
        if (order) await jobs.wake(em, [order.id]);
        return [stored];
      },
      true,
    );
    await onBoundary('payment.confirmed');
    return null;
  }

  /** None of its transactions can ever confirm. Once that is final, another one may be built. */
  async #dead(lease: ChainLease, payment: Payment, why: 'conflict' | 'expired', isFinal: boolean): Promise<null> {
    const { clock, jobs, log } = this.#options;
    if (!isFinal) {
      await this.#problem(lease, payment.id, why, lookSec);
      return null;
    }
    log.error({ event: 'payment_dead', code: why, order_id: payment.orderId }, 'a payment can never confirm');
    await this.#write(
      lease,
      payment,
      async (em, row, order) => {
        const now = clock.now();
        await em.execute(
          'update payment_attempt set dead_at = ?, dead_why = ?, mined_height = null where payment_id = ? and dead_at is null',
          [now, why, row.id],
        );
        // Those that replaced one another died one death.
        const [count] = await em.execute<{ deaths: number }[]>(
          `select count(distinct reserves)::int as deaths from payment_attempt
            where payment_id = ? and dead_why in ('conflict', 'expired')`,
          [row.id],
        );
        const isOver = (count?.deaths ?? 0) >= maxDeaths || row.kind === 'sweep';
        row.state = isOver ? 'dead' : 'ready';
        row.problem = why;
        row.problemSince = now;
        row.endedAt = isOver ? now : null;
        row.nextActionAt = isOver ? null : now;
        if (isOver && order) order.nextActionAt = now;
        if (isOver) await showDead(em, row, order);
        await em.flush();
        await this.#release(em, row.id, now);
        if (isOver && order) await jobs.wake(em, [order.id]);
        return [];
      },
      true,
    );
    return null;
  }

  async #bookEnd(
    em: EntityManager,
    payment: Payment,
    { attempt, fee: stated }: PaymentAttempt,
    { fee, success }: Mined,
    at: Date,
  ): Promise<void> {
    const gas = this.#options.catalogue.gasCoin(payment.chain);
    const { kind, amount, feeCharged, orderId, contract } = payment;
    const cost = fromUnits(fee, gas.decimals);
    const payer = kind === 'sweep' ? 'deposits' : 'hot';
    const costLines: LedgerLine[] = [line('network_cost', gas, cost), line(payer, gas, minus(cost))];
    if (!success) {
      await book(em, { kind: 'payment_fee', reference: `${payment.id}:${attempt}`, orderId, at, lines: costLines });
      return;
    }
    const end = { reference: payment.id, orderId, at };
    if (kind === 'sweep') {
      // In the own coin the stated fee was taken out of what leaves.
      const moved = new Big(amount).minus(contract === null ? stated : '0');
      const lines = [line('hot', payment, moved), line('deposits', payment, minus(moved)), ...costLines];
      await book(em, { ...end, kind: 'sweep', lines });
    } else if (kind === 'gas') {
      const lines = [line('deposits', payment, amount), line('hot', payment, minus(amount)), ...costLines];
      await book(em, { ...end, kind: 'gas', lines });
    } else {
      await book(em, {
        ...end,
        kind: 'payment',
        lines: [
          line(orderId === null ? 'suspense' : 'client', payment, new Big(amount).plus(feeCharged)),
          line('hot', payment, minus(amount)),
          line('network_fee', payment, minus(feeCharged)),
          ...costLines,
        ],
      });
    }
  }

  /** Lets go of what the payment reserved: the chain itself refuses a spent resource from now on. */
  async #release(em: EntityManager, paymentId: string, at: Date): Promise<void> {
    await em.execute('update payment_reservation set released_at = ? where payment_id = ? and released_at is null', [
      at,
      paymentId,
    ]);
  }

  /**
   * Changes a payment in a transaction that holds the lease's fence, the order's lock where the change needs it, and the
   * payment's, in this order. Does nothing, and returns null, when the payment has moved on meanwhile, or must not go
   * out any more: until its bytes are stored, a hold or the loss of the deposit stops it.
   */
  async #write(
    lease: ChainLease,
    before: Payment,
    change: (em: EntityManager, payment: Payment, order: Order | null) => Promise<PaymentAttempt[]>,
    withOrder = false,
  ): Promise<Standing | null> {
    const { id, orderId, state } = before;
    return this.#options.orm.em.fork().transactional(async (em) => {
      await guardLease(em, lease);
      const isOut = state === 'signed' || state === 'sent';
      if (!isOut && !(await mayGoOut(em, before))) return null;
      const lockMode = LockMode.PESSIMISTIC_WRITE;
      const order = withOrder && orderId !== null ? await em.findOneOrFail(Order, { id: orderId }, { lockMode }) : null;
      const payment = await em.findOneOrFail(Payment, { id }, { lockMode });
      if (payment.state !== state) return null;
      return { payment, alive: await change(em, payment, order) };
    });
  }

  async #problem(lease: ChainLease, id: string, problem: string, againSec: number): Promise<void> {
    await this.#options.orm.em.fork().transactional(async (em) => {
      await guardLease(em, lease);
      const row = await em.findOneOrFail(Payment, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
      if (row.state === 'confirmed' || row.state === 'dead') return;
      if (row.problem !== problem) {
        row.problem = problem;
        row.problemSince = this.#options.clock.now();
      }
      row.nextActionAt = secondsAfter(this.#options.clock.now(), againSec);
    });
  }

  /** Notes since when nobody knows the payment's fate, and lets its order look at the clock. */
  async #worry(em: EntityManager, payment: Payment, order: Order | null): Promise<void> {
    const now = this.#options.clock.now();
    payment.problem = 'unknown';
    payment.problemSince = now;
    if (!order) return;
    order.nextActionAt = now;
    await em.flush();
    await this.#options.jobs.wake(em, [order.id]);
  }

  #intent(payment: Payment, attempt: number): PaymentIntent {
    const { id, contract, address, tag, amount, chain, sources } = payment;
    const { catalogue } = this.#options;
    const asset = contract === null ? catalogue.gasCoin(chain) : catalogue.asset(chain, contract);
    if (!asset) throw new Error(`payment ${id} is in a currency that is gone`);
    return { id, attempt, from: sources, contract, to: address, tag, amount: toUnits(amount, asset.decimals) };
  }

  #prepared({ payload, reserves, fee, chain, expiresAtHeight }: PaymentAttempt): PreparedTx {
    return {
      payload,
      reserves,
      fee: toUnits(fee, this.#options.catalogue.gasCoin(chain).decimals),
      expiresAt: expiresAtHeight,
    };
  }
}

/** Whether what a payment settles is credited and its order not held, kept so until the transaction ends. */
async function mayGoOut(em: EntityManager, { orderId, depositId }: Payment): Promise<boolean> {
  if (depositId === null) return true;
  const rows =
    orderId === null
      ? await em.execute<unknown[]>(`select id from deposit where id = ? and state = 'credited' for share`, [depositId])
      : await em.execute<unknown[]>(
          `select o.id from exchange_order o join deposit d on d.id = ?
            where o.id = ? and o.held_at is null and d.state = 'credited' for share of o, d`,
          [depositId, orderId],
        );
  return rows.length > 0;
}

async function endAttempt(em: EntityManager, paymentId: string, attempt: number, why: string, at: Date): Promise<void> {
  await em.execute('update payment_attempt set dead_at = ?, dead_why = ? where payment_id = ? and attempt = ?', [
    at,
    why,
    paymentId,
    attempt,
  ]);
}

/**
 * A dead payment that no status of an order shows. A refund beside the order's own is shown by its deposit, and staff
 * decide; what a sweep did not bring is swept again.
 */
async function showDead(em: EntityManager, { id, kind, leg, depositId }: Payment, order: Order | null): Promise<void> {
  if (kind === 'sweep') await em.execute('update deposit set swept_by = null where swept_by = ?', [id]);
  if (kind !== 'refund' || depositId === null) return;
  if (leg === 'main' && order?.depositId === depositId) return;
  const deposit = await em.findOneOrFail(Deposit, { id: depositId });
  deposit.problem = 'refund_failed';
}

function newest(alive: readonly PaymentAttempt[]): PaymentAttempt {
  const attempt = alive.at(-1);
  if (!attempt) throw new Error('the payment has no attempt');
  return attempt;
}

function signedTx({ txid, raw, reserves, expiresAtHeight }: PaymentAttempt): SignedTx {
  if (txid === null || raw === null) throw new Error('the attempt is not signed');
  return { txid, raw, reserves, expiresAt: expiresAtHeight };
}

function clearProblem(payment: Payment): void {
  payment.problem = null;
  payment.problemSince = null;
}
