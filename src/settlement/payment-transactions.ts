import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import type { ChainAdapter, Held, PaymentIntent, PreparedTx, SignedTx } from '../chains/chain-adapter.ts';
import { type Signer, SignerError } from '../chains/signer.ts';
import type { Clock } from '../clock.ts';
import type { CurrencyCatalogue } from '../currencies/currency-catalogue.ts';
import { errorMembers, type Log } from '../log.ts';
import { Big, fromUnits, toUnits } from '../money.ts';
import type { OnBoundary } from './boundary.ts';
import type { ChainLease } from './chain-lease.ts';
import type { Payment } from './payment.entity.ts';
import { PaymentAttempt } from './payment-attempt.entity.ts';
import type { PaymentWriter, Standing } from './payment-writer.ts';

export interface PaymentTransactionsOptions {
  readonly orm: MikroORM;
  readonly clock: Clock;
  readonly log: Log;
  readonly catalogue: CurrencyCatalogue;
  readonly signer: Signer;
  readonly writer: PaymentWriter;
  readonly onBoundary: OnBoundary;
  /** A transaction whose fee is above so many times the chain's usual one waits. */
  readonly maxFeeFactor: number;
}

/** What else a step changes in the payment's row. */
type Also = (row: Payment, now: Date) => void;

const asItIs: Also = () => {};

/**
 * The transactions of payments, step by step: what they are asked to do, stored before they are signed, signed, their bytes
 * stored before anybody sees them, and shown to a node.
 */
export class PaymentTransactions {
  readonly #options: PaymentTransactionsOptions;

  constructor(options: PaymentTransactionsOptions) {
    this.#options = options;
  }

  /** What an attempt of a payment is to do, in the smallest unit of its currency. */
  intent(payment: Payment, attempt: number): PaymentIntent {
    const { id, contract, address, tag, amount, chain, sources } = payment;
    const { catalogue } = this.#options;
    const asset = contract === null ? catalogue.gasCoin(chain) : catalogue.asset(chain, contract);
    if (!asset) throw new Error(`payment ${id} is in a currency that is gone`);
    return { id, attempt, from: sources, contract, to: address, tag, amount: toUnits(amount, asset.decimals) };
  }

  /** What the payments of a chain that are under way reserve and take, by the dearest of the transactions of each. */
  async held(chain: string): Promise<Held> {
    const { orm, catalogue } = this.#options;
    const rows = await orm.em
      .fork()
      .execute<{ resource: string; contract: string | null; amount: string; fee: string }[]>(
        `select r.resource, p.contract, p.amount::text as amount,
                coalesce((select max(a.fee) from payment_attempt a
                           where a.payment_id = p.id and a.dead_at is null), 0)::text as fee
           from payment_reservation r join payment p on p.id = r.payment_id
          where r.chain = ? and r.released_at is null`,
        [chain],
      );
    const gas = catalogue.gasCoin(chain);
    return new Map(
      rows.map(({ resource, contract, amount, fee }) => {
        const asset = contract === null ? gas : catalogue.asset(chain, contract);
        // Nothing else is paid in a currency that is gone.
        const units = asset ? toUnits(amount, asset.decimals) : 0n;
        return [resource, { contract, amount: units, fee: toUnits(fee, gas.decimals) }];
      }),
    );
  }

  /** The unsigned transaction of an attempt as its adapter built it. */
  prepared({ payload, reserves, fee, chain, expiresAtHeight }: PaymentAttempt): PreparedTx {
    const { decimals } = this.#options.catalogue.gasCoin(chain);
    return { payload, reserves, fee: toUnits(fee, decimals), expiresAt: expiresAtHeight };
  }

  /** Whether the fee of a transaction is so high that it waits for a cheaper hour. */
  isTooDear(chain: string, { fee }: PreparedTx): boolean {
    const gas = this.#options.catalogue.gasCoin(chain);
    const most = new Big(gas.networkFee).times(String(this.#options.maxFeeFactor));
    return new Big(fromUnits(fee, gas.decimals)).gt(most);
  }

  /** Stores the next transaction of a payment, with what it reserves beyond the ones before it. */
  async store(lease: ChainLease, payment: Payment, tx: PreparedTx, also: Also = asItIs): Promise<Standing | null> {
    const { clock, writer, onBoundary } = this.#options;
    const stands = await writer.change(lease, payment, async (em, row) => {
      const attempt = await this.#create(em, row, tx);
      also(row, clock.now());
      return [attempt];
    });
    await onBoundary('payment.prepared');
    return stands;
  }

  async #create(em: EntityManager, payment: Payment, tx: PreparedTx): Promise<PaymentAttempt> {
    const { catalogue, clock } = this.#options;
    const number = payment.attempt + 1;
    const attempt = em.create(PaymentAttempt, {
      paymentId: payment.id,
      attempt: number,
      chain: payment.chain,
      payload: tx.payload,
      reserves: [...tx.reserves],
      fee: new Big(fromUnits(tx.fee, catalogue.gasCoin(payment.chain).decimals)).toFixed(),
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
    payment.attempt = number;
    await em.flush();
    await em.execute(
      `insert into payment_reservation (chain, resource, payment_id, attempt)
       select ?, r.resource, ?, ? from jsonb_array_elements_text(?::jsonb) as r (resource)
        where not exists (select 1 from payment_reservation h
                           where h.payment_id = ? and h.resource = r.resource and h.released_at is null)`,
      [payment.chain, payment.id, number, JSON.stringify(tx.reserves), payment.id],
    );
    return attempt;
  }

  /** Has a stored transaction signed. The signer gives the same bytes however often it is asked. */
  async sign(payment: Payment, attempt: PaymentAttempt): Promise<SignedTx | SignerError['code']> {
    const { orm, signer } = this.#options;
    const others = await orm.em
      .fork()
      .execute<{ txid: string }[]>(
        'select txid from payment_attempt where payment_id = ? and attempt <> ? and txid is not null',
        [payment.id, attempt.attempt],
      );
    const earlier = others.map(({ txid }) => txid);
    const intent = this.intent(payment, attempt.attempt);
    return this.#ask(payment, () => signer.sign(payment.chain, intent, this.prepared(attempt), earlier));
  }

  /** Has a stored transaction never signed; null when so it will be, the signed one when it was signed before. */
  revoke(payment: Payment, attempt: PaymentAttempt): Promise<SignedTx | null | SignerError['code']> {
    const intent = this.intent(payment, attempt.attempt);
    return this.#ask(payment, () => this.#options.signer.revoke(payment.chain, intent, this.prepared(attempt)));
  }

  async #ask<T>({ id, orderId }: Payment, question: () => Promise<T>): Promise<T | SignerError['code']> {
    try {
      return await question();
    } catch (error) {
      if (!(error instanceof SignerError)) throw error;
      const members = { event: 'signer_failed', code: error.code, detail: error.message, payment_id: id };
      this.#options.log.error({ ...members, order_id: orderId }, 'a payment was not signed');
      return error.code;
    }
  }

  /** Stores the bytes, which may be shown to anybody from then on. */
  async storeSignature(
    lease: ChainLease,
    payment: Payment,
    attempt: PaymentAttempt,
    { raw, txid }: SignedTx,
    also: Also = asItIs,
  ): Promise<Standing | null> {
    const { clock, writer, onBoundary } = this.#options;
    await onBoundary('payment.signature');
    const stands = await writer.change(lease, payment, async (em, row) => {
      const now = clock.now();
      const stored = await storedAttempt(em, attempt);
      Object.assign(stored, { raw, txid, signedAt: now });
      also(row, now);
      return [stored];
    });
    await onBoundary('payment.signed');
    return stands;
  }

  /** Shows the bytes to a node for the first time, and notes it. */
  async send(
    adapter: ChainAdapter,
    lease: ChainLease,
    payment: Payment,
    attempt: PaymentAttempt,
    also: Also = asItIs,
  ): Promise<void> {
    const { clock, writer, onBoundary } = this.#options;
    await this.broadcast(adapter, attempt);
    await onBoundary('payment.broadcast');
    await writer.change(lease, payment, async (em, row) => {
      const now = clock.now();
      const stored = await storedAttempt(em, attempt);
      stored.sentAt = now;
      also(row, now);
      return [stored];
    });
    await onBoundary('payment.sent');
  }

  /** What the node says is not believed, and what it throws changes nothing: the chain is asked next. */
  async broadcast(adapter: ChainAdapter, attempt: PaymentAttempt): Promise<void> {
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

  /** Ends a transaction whose bytes were never stored, and so were never shown to anybody. */
  async neverSigned(em: EntityManager, { paymentId, attempt }: PaymentAttempt): Promise<void> {
    await em.execute(
      `update payment_attempt set dead_at = ?, dead_why = 'never_signed' where payment_id = ? and attempt = ?`,
      [this.#options.clock.now(), paymentId, attempt],
    );
  }
}

/** An attempt in another unit of work. */
export function storedAttempt(em: EntityManager, { paymentId, attempt }: PaymentAttempt): Promise<PaymentAttempt> {
  return em.findOneOrFail(PaymentAttempt, { paymentId, attempt });
}

export function newestOf(alive: readonly PaymentAttempt[]): PaymentAttempt {
  const attempt = alive.at(-1);
  if (!attempt) throw new Error('the payment has no attempt');
  return attempt;
}

export function signedTx({ txid, raw, reserves, expiresAtHeight }: PaymentAttempt): SignedTx {
  if (txid === null || raw === null) throw new Error('the attempt is not signed');
  return { txid, raw, reserves, expiresAt: expiresAtHeight };
}
