import { type EntityManager, LockMode, type MikroORM } from '@mikro-orm/postgresql';
import type { ChainAdapter, PaymentIntent, PreparedTx, SignedTx, TxStatus } from '../chains/chain-adapter.ts';
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

/** A payment and its newest attempt, as they were read or written last. */
interface Standing {
  readonly payment: Payment;
  readonly attempt: PaymentAttempt | null;
}

/** Payments of a chain that one turn takes up. */
const batch = 100;
const retrySec = 2;
/** Between two looks at a payment while its chain makes no block. */
const lookSec = 5;
/** A payment that died so often is not tried again without staff. */
const maxAttempts = 3;

/**
 * Brings payments onto their chain, each at most once. The order of things is what makes it safe: reserve what the
 * transaction spends, sign, store the bytes, and only then show them to anybody; from then on send those very bytes
 * again and ask the chain, whatever a node says. Another transaction is built only when the chain shows that the old
 * one can never confirm.
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
           join deposit d on d.id = p.deposit_id
           left join exchange_order o on o.id = p.order_id
          where p.chain in (select jsonb_array_elements_text(?::jsonb)) and p.next_action_at <= ?
            and (p.state in ('signed', 'sent') or (o.held_at is null and d.state = 'credited'))
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
    const where = { paymentId: id, attempt: payment.attempt };
    const attempt = payment.attempt === 0 ? null : await em.findOneOrFail(PaymentAttempt, where);
    let stands: Standing | null = { payment, attempt };
    while (stands) stands = await this.#step(adapter, lease, stands);
  }

  /** One step; what stands after it, or null when the payment rests. */
  #step(adapter: ChainAdapter, lease: ChainLease, { payment, attempt }: Standing): Promise<Standing | null> {
    switch (payment.state) {
      case 'ready':
        return this.#prepare(adapter, lease, payment);
      case 'prepared':
        return this.#sign(lease, payment, existing(attempt));
      case 'signed':
        return this.#send(adapter, lease, payment, existing(attempt));
      case 'sent':
        return this.#observe(adapter, lease, payment, existing(attempt));
      case 'confirmed':
      case 'dead':
        return Promise.resolve(null);
    }
  }

  /** Builds the transaction and reserves what it spends. */
  async #prepare(adapter: ChainAdapter, lease: ChainLease, payment: Payment): Promise<Standing | null> {
    const { orm, clock, onBoundary } = this.#options;
    const { chain } = adapter;
    const held = await orm.em
      .fork()
      .execute<{ resource: string }[]>(
        'select resource from payment_reservation where chain = ? and released_at is null',
        [chain],
      );
    const number = payment.attempt + 1;
    const intent = this.#intent(payment, number);
    const tx = await adapter.prepare(intent, new Set(held.map(({ resource }) => resource)));
    await onBoundary('payment.built');
    const gas = this.#options.catalogue.gasCoin(chain);
    const fee = new Big(fromUnits(tx.fee, gas.decimals));
    if (fee.gt(new Big(gas.networkFee).times(String(this.#options.maxFeeFactor)))) {
      await this.#problem(lease, payment.id, 'fee_too_high', retrySec * 10);
      return null;
    }
    const stands = await this.#write(lease, payment, async (em, row) => {
      const attempt = em.create(PaymentAttempt, {
        paymentId: row.id,
        attempt: number,
        chain,
        payload: tx.payload,
        reserves: [...tx.reserves],
        fee: fee.toFixed(),
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
      row.state = 'prepared';
      row.attempt = number;
      clearProblem(row);
      await em.flush();
      await em.execute(
        `insert into payment_reservation (chain, resource, payment_id, attempt)
         select ?, jsonb_array_elements_text(?::jsonb), ?, ?`,
        [chain, JSON.stringify(tx.reserves), row.id, number],
      );
      return attempt;
    });
    await onBoundary('payment.prepared');
    return stands;
  }

  /** Has the stored transaction signed and stores the bytes. The signer gives the same bytes however often it is asked. */
  async #sign(lease: ChainLease, payment: Payment, attempt: PaymentAttempt): Promise<Standing | null> {
    const { clock, signer, onBoundary, log } = this.#options;
    let signed: SignedTx;
    try {
      signed = await signer.sign(lease.chain, this.#intent(payment, attempt.attempt), this.#prepared(attempt));
    } catch (error) {
      if (!(error instanceof SignerError)) throw error;
      log.error({ event: 'signer_failed', code: error.code, order_id: payment.orderId }, 'a payment was not signed');
      const refused = error.code === 'refused';
      await this.#problem(lease, payment.id, `signer_${error.code}`, refused ? retrySec * 30 : retrySec);
      return null;
    }
    await onBoundary('payment.signature');
    const stands = await this.#write(lease, payment, async (em, row) => {
      const stored = await em.findOneOrFail(PaymentAttempt, { paymentId: row.id, attempt: attempt.attempt });
      stored.raw = signed.raw;
      stored.txid = signed.txid;
      stored.signedAt = clock.now();
      row.state = 'signed';
      clearProblem(row);
      return stored;
    });
    await onBoundary('payment.signed');
    return stands;
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
      return stored;
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

  /** Asks the chain what became of the transaction. */
  async #observe(adapter: ChainAdapter, lease: ChainLease, payment: Payment, attempt: PaymentAttempt): Promise<null> {
    const { onBoundary } = this.#options;
    const status = await adapter.status(signedTx(attempt));
    await onBoundary('payment.observed');
    if (status.state === 'mined') return this.#mined(lease, payment, attempt, status);
    if (status.state === 'dead') return this.#dead(lease, payment, attempt, status);
    if (status.state === 'unknown') await this.#broadcast(adapter, attempt);
    const isWorry = status.state === 'unknown' && payment.problem !== 'unknown';
    await this.#write(
      lease,
      payment,
      async (em, row, order) => {
        row.nextActionAt = secondsAfter(this.#options.clock.now(), lookSec);
        // In the mempool it is on its way; only a transaction that nobody has is a worry.
        if (status.state === 'mempool') clearProblem(row);
        else if (isWorry) await this.#worry(em, row, order);
        return attempt;
      },
      isWorry,
    );
    return null;
  }

  async #mined(
    lease: ChainLease,
    payment: Payment,
    seen: PaymentAttempt,
    status: Extract<TxStatus, { state: 'mined' }>,
  ): Promise<null> {
    const { clock, jobs, onBoundary } = this.#options;
    const { attempt, txid, minedHeight, deadAt } = seen;
    if (!status.final) {
      if (minedHeight === status.height && payment.problem === null) return null;
      await this.#write(
        lease,
        payment,
        async (em, row, order) => {
          const stored = await em.findOneOrFail(PaymentAttempt, { paymentId: row.id, attempt });
          stored.minedHeight = status.height;
          clearProblem(row);
          row.nextActionAt = secondsAfter(clock.now(), lookSec);
          if (order && row.kind === 'payout' && status.success) order.payoutTxid = txid;
          return stored;
        },
        true,
      );
      return null;
    }
    if (deadAt !== null) throw new Error(`payment ${payment.id} confirmed after it was dead`);
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
        if (!status.success) await showDeadRefund(em, row, order);
        await em.flush();
        await this.#release(em, row.id, now);
        await this.#bookEnd(em, row, attempt, status, now);
        if (order) await jobs.wake(em, [order.id]);
        return stored;
      },
      true,
    );
    await onBoundary('payment.confirmed');
    return null;
  }

  /** The attempt can never confirm. Once that is final, another one may be built. */
  async #dead(
    lease: ChainLease,
    payment: Payment,
    { attempt }: PaymentAttempt,
    { why, final }: Extract<TxStatus, { state: 'dead' }>,
  ): Promise<null> {
    const { clock, jobs, log } = this.#options;
    if (!final) {
      await this.#problem(lease, payment.id, why, lookSec);
      return null;
    }
    log.error({ event: 'payment_dead', code: why, order_id: payment.orderId }, 'a payment can never confirm');
    await this.#write(
      lease,
      payment,
      async (em, row, order) => {
        const now = clock.now();
        const stored = await em.findOneOrFail(PaymentAttempt, { paymentId: row.id, attempt });
        stored.deadAt = now;
        stored.deadWhy = why;
        const isOver = attempt >= maxAttempts;
        row.state = isOver ? 'dead' : 'ready';
        row.problem = why;
        row.problemSince = now;
        row.endedAt = isOver ? now : null;
        row.nextActionAt = isOver ? null : now;
        if (isOver && order) order.nextActionAt = now;
        if (isOver) await showDeadRefund(em, row, order);
        await em.flush();
        await this.#release(em, row.id, now);
        if (isOver && order) await jobs.wake(em, [order.id]);
        return stored;
      },
      true,
    );
    return null;
  }

  async #bookEnd(
    em: EntityManager,
    payment: Payment,
    attempt: number,
    { fee, success }: Extract<TxStatus, { state: 'mined' }>,
    at: Date,
  ): Promise<void> {
    const gas = this.#options.catalogue.gasCoin(payment.chain);
    const cost = fromUnits(fee, gas.decimals);
    const costLines: LedgerLine[] = [line('network_cost', gas, cost), line('hot', gas, minus(cost))];
    const { amount, feeCharged, orderId } = payment;
    if (!success) {
      await book(em, {
        kind: 'payment_fee',
        reference: `${payment.id}:${attempt}`,
        orderId,
        at,
        lines: costLines,
      });
      return;
    }
    await book(em, {
      kind: 'payment',
      reference: payment.id,
      orderId,
      at,
      lines: [
        line(orderId === null ? 'suspense' : 'client', payment, new Big(amount).plus(feeCharged)),
        line('hot', payment, minus(amount)),
        line('network_fee', payment, minus(feeCharged)),
        ...costLines,
      ],
    });
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
    { id, orderId, depositId, state }: Payment,
    change: (em: EntityManager, payment: Payment, order: Order | null) => Promise<PaymentAttempt>,
    withOrder = false,
  ): Promise<Standing | null> {
    return this.#options.orm.em.fork().transactional(async (em) => {
      await guardLease(em, lease);
      const isOut = state === 'signed' || state === 'sent';
      if (!isOut && !(await mayGoOut(em, orderId, depositId))) return null;
      const lockMode = LockMode.PESSIMISTIC_WRITE;
      const order = withOrder && orderId !== null ? await em.findOneOrFail(Order, { id: orderId }, { lockMode }) : null;
      const payment = await em.findOneOrFail(Payment, { id }, { lockMode });
      if (payment.state !== state) return null;
      return { payment, attempt: await change(em, payment, order) };
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
    const { id, contract, address, tag, amount, coin, network } = payment;
    const currency = this.#options.catalogue.find(coin, network);
    if (!currency) throw new Error(`payment ${id} is in a currency that is gone`);
    return { id, attempt, contract, to: address, tag, amount: toUnits(amount, currency.decimals) };
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

/** Whether a deposit is credited and its order not held, kept so until the transaction ends. */
async function mayGoOut(em: EntityManager, orderId: string | null, depositId: string): Promise<boolean> {
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

/** A refund beside the order's own has no status that could show its death: its deposit does, and staff decide. */
async function showDeadRefund(em: EntityManager, payment: Payment, order: Order | null): Promise<void> {
  if (payment.kind !== 'refund' || (payment.leg === 'main' && order?.depositId === payment.depositId)) return;
  const deposit = await em.findOneOrFail(Deposit, { id: payment.depositId });
  deposit.problem = 'refund_failed';
}

function existing(attempt: PaymentAttempt | null): PaymentAttempt {
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
