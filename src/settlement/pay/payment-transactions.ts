import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import type { Clock } from '../../base/clock.ts';
import { sql } from '../../base/db/sql.ts';
import { errorMembers, type Log } from '../../base/log.ts';
import { Big, fromUnits, toUnits } from '../../base/money.ts';
import type {
  Broadcast,
  ChainAdapter,
  PaymentIntent,
  PreparedTx,
  Promised,
  Reservation,
  SignedTx,
} from '../../chains/port/chain-adapter.ts';
import { type Signer, SignerError } from '../../chains/port/signer.ts';
import type { CurrencyCatalogue } from '../../market/currencies/currency-catalogue.ts';
import type { PriceBook } from '../../market/rates/price-book.ts';
import type { Payment } from '../rows/payment.entity.ts';
import { PaymentAttempt } from '../rows/payment-attempt.entity.ts';
import type { ChainLease } from '../turns/chain-lease.ts';
import type { ChainTurn } from '../turns/chain-turn.ts';
import type { OnCrashPoint } from '../turns/crash-point.ts';

import type { PaymentWithAttempts, PaymentWriter } from './payment-writer.ts';
import type { PayoutLimits } from './payout-limits.ts';
import { expiryOf, pastExpiry, signedTx } from './signed-attempts.ts';

export interface PaymentTransactionsOptions {
  readonly orm: MikroORM;
  readonly clock: Clock;
  readonly log: Log;
  readonly catalogue: CurrencyCatalogue;
  readonly signer: Signer;
  readonly writer: PaymentWriter;
  readonly onCrashPoint: OnCrashPoint;
  readonly limits: PayoutLimits;
  /** A transaction whose fee exceeds this multiple of the chain's usual fee waits. */
  readonly maxFeeFactor: number;
  /**
   * A refund waits when its transaction could cost more than this multiple of the fee charged to
   * its user.
   */
  readonly refundFeeFactor: number;
  readonly prices: Pick<PriceBook, 'live' | 'reference'>;
}

/** What a payment reserves and takes, with the payment's id. */
export interface PromisedBy extends Promised {
  readonly paymentId: string;
}

/** A payment, and its next transaction as its adapter built it. */
export interface Built {
  readonly payment: Payment;
  readonly tx: PreparedTx;
}

/** A payment, and its transaction as the signer signed it. */
export interface Signed {
  readonly payment: Payment;
  readonly attempt: PaymentAttempt;
  readonly tx: SignedTx;
}

/** The signed transaction, null for one that is revoked, or why there is neither. */
type SignerAnswer = SignedTx | null | Exclude<SignerError['code'], 'revoked'>;

/** Changes a payment's row in the transaction of a step. */
type RowChange = (row: Payment, now: Date) => void;

const noRowChange: RowChange = () => {};

/**
 * Takes the transactions of payments through their steps: store the intent, sign, store the signed
 * bytes, broadcast. Each step is stored before the next begins, and the bytes are stored before any
 * node receives them.
 */
export class PaymentTransactions {
  readonly #options: PaymentTransactionsOptions;

  constructor(options: PaymentTransactionsOptions) {
    this.#options = options;
  }

  /** The intent of a payment's attempt, in the smallest unit of its currency. */
  intent(payment: Payment, attempt: number): PaymentIntent {
    const { id, kind, contract, address, tag, amount, chain, sources, setup } = payment;
    const { catalogue } = this.#options;
    const asset = contract === null ? catalogue.gasCoin(chain) : catalogue.asset(chain, contract);
    if (!asset) throw new Error(`the currency of payment ${id} no longer exists`);
    const units = toUnits(amount, asset.decimals);
    const intent = { id, attempt, purpose: kind, from: sources, contract, to: address, tag, amount: units };
    return setup === null ? intent : { ...intent, setup };
  }

  /**
   * Reads what the unfinished payments of a chain reserve and take, by the highest fee of each
   * payment's transactions.
   */
  async held(chain: string): Promise<ReadonlyMap<Reservation, PromisedBy>> {
    const { orm, catalogue } = this.#options;
    const rows = await sql<{
      resource: string;
      paymentId: string;
      contract: string | null;
      amount: string;
      fee: string;
    }>(
      orm.em.fork(),
      `select r.resource, p.id as "paymentId", p.contract, p.amount::text as amount,
                coalesce((select max(a.fee) from payment_attempt a
                           where a.payment_id = p.id and a.dead_at is null), 0)::text as fee
           from payment_reservation r join payment p on p.id = r.payment_id
          where r.chain = ? and r.released_at is null`,
      [chain],
    );
    const gas = catalogue.gasCoin(chain);
    return new Map(
      rows.map(({ resource, paymentId, contract, amount, fee }) => {
        const asset = contract === null ? gas : catalogue.asset(chain, contract);
        // No other payment can be in a currency that is gone.
        const units = asset ? toUnits(amount, asset.decimals) : 0n;
        return [resource, { paymentId, contract, amount: units, fee: toUnits(fee, gas.decimals) }];
      }),
    );
  }

  /** The unsigned transaction of an attempt, as its adapter built it. */
  prepared(attempt: PaymentAttempt): PreparedTx {
    const { payload, reserves, fee, chain } = attempt;
    const { decimals } = this.#options.catalogue.gasCoin(chain);
    return { payload, reserves, fee: toUnits(fee, decimals), expiresAt: expiryOf(attempt) };
  }

  /** Why a payment waits for lower fees. Null while its transaction is cheap enough. */
  feeProblem(payment: Payment, tx: PreparedTx): 'fee_too_high' | 'fee_above_charged' | null {
    const fee = this.fee(payment.chain, tx);
    if (fee.gt(this.#usualFee(payment).times(String(this.#options.maxFeeFactor)))) return 'fee_too_high';
    return payment.kind === 'refund' && fee.gt(this.#mostOfRefund(payment)) ? 'fee_above_charged' : null;
  }

  /**
   * The usual fee of a payment's transaction, in the chain's own coin. For a token it is the
   * token's network fee at present prices, where that is more than the chain's usual fee.
   */
  #usualFee({ chain, contract, coin, network }: Payment): Big {
    const { catalogue } = this.#options;
    const usual = new Big(catalogue.gasCoin(chain).networkFee);
    const ofToken = contract === null ? undefined : catalogue.find(coin, network)?.networkFee;
    const fee = ofToken === undefined ? null : this.#inGasCoin(chain, coin, new Big(ofToken));
    return fee?.gt(usual) ? fee : usual;
  }

  /** The highest fee of a transaction, in units of the chain's own coin. */
  fee(chain: string, { fee }: PreparedTx): Big {
    return new Big(fromUnits(fee, this.#options.catalogue.gasCoin(chain).decimals));
  }

  /**
   * The highest fee of a refund's transaction, in the chain's own coin. The user decides how often
   * refunds occur and, on some chains, what they cost, but pays a fee that was fixed with the
   * refund. The factor bounds our loss.
   */
  #mostOfRefund({ chain, contract, coin, feeCharged }: Payment): Big {
    const factor = String(this.#options.refundFeeFactor);
    const most = new Big(feeCharged).times(factor);
    if (contract === null) return most;
    // Without prices, by the chain's usual fee.
    return (
      this.#inGasCoin(chain, coin, most) ?? new Big(this.#options.catalogue.gasCoin(chain).networkFee).times(factor)
    );
  }

  /** An amount in the chain's own coin, at live or else reference prices; null without prices. */
  #inGasCoin(chain: string, coin: string, amount: Big): Big | null {
    const { catalogue, prices } = this.#options;
    const priceOf = (one: string): Big | null => prices.live(one) ?? prices.reference(one);
    const [price, gasPrice] = [priceOf(coin), priceOf(catalogue.gasCoin(chain).coin)];
    return price === null || gasPrice === null ? null : amount.times(price).div(gasPrice);
  }

  /** The amount and fee of a built transaction, to count together with unfinished ones. */
  promised(payment: Payment, tx: PreparedTx): PromisedBy {
    const { contract, amount } = this.intent(payment, payment.attempt + 1);
    return { paymentId: payment.id, contract, amount, fee: tx.fee };
  }

  /**
   * Stores the next transactions of payments, each with its new reservations. Payments that begin
   * count in the payout limits.
   *
   * @throws PayoutLimitExceeded when a payment that begins would exceed one of them.
   */
  async store(
    lease: ChainLease,
    built: readonly Built[],
    changeRow: RowChange = noRowChange,
  ): Promise<readonly PaymentWithAttempts[]> {
    const { clock, writer, onCrashPoint, limits } = this.#options;
    const txs = new Map(built.map(({ payment, tx }) => [payment.id, tx]));
    const changed = await writer.change(
      lease,
      built.map(({ payment }) => payment),
      async (em, changing) => {
        const beginning = changing.map(({ payment }) => payment).filter(({ state }) => state === 'ready');
        await limits.value(em, beginning);
        for (const { payment, alive } of changing) {
          alive.push(this.#create(em, payment, entryOf(txs, payment)));
          changeRow(payment, clock.now());
        }
        await em.flush();
        await reserve(
          em,
          changing.map(({ alive }) => newestOf(alive)),
        );
        await limits.count(em, beginning);
      },
    );
    await onCrashPoint('payment.prepared');
    return changed;
  }

  #create(em: EntityManager, payment: Payment, tx: PreparedTx): PaymentAttempt {
    const { catalogue, clock } = this.#options;
    payment.attempt += 1;
    const attempt = em.create(PaymentAttempt, {
      paymentId: payment.id,
      attempt: payment.attempt,
      chain: payment.chain,
      payload: tx.payload,
      reserves: [...tx.reserves],
      fee: new Big(fromUnits(tx.fee, catalogue.gasCoin(payment.chain).decimals)).toFixed(),
      expiresAtHeight: tx.expiresAt !== null && 'height' in tx.expiresAt ? tx.expiresAt.height : null,
      expiresAt: tx.expiresAt !== null && 'timeMs' in tx.expiresAt ? new Date(tx.expiresAt.timeMs) : null,
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
    return attempt;
  }

  /**
   * Requests the signature of a stored transaction. The signer returns the same bytes for every
   * repetition. Returns null when it was revoked before, as by a worker that died then.
   */
  async sign(payment: Payment, attempt: PaymentAttempt): Promise<SignerAnswer> {
    const { orm, signer } = this.#options;
    // A first attempt has no earlier transactions.
    const others =
      attempt.attempt === 1
        ? []
        : await sql<{ txid: string }>(
            orm.em.fork(),
            'select txid from payment_attempt where payment_id = ? and attempt <> ? and txid is not null',
            [payment.id, attempt.attempt],
          );
    const earlier = others.map(({ txid }) => txid);
    const intent = this.intent(payment, attempt.attempt);
    return this.#ask(payment, () => signer.sign(payment.chain, intent, this.prepared(attempt), earlier));
  }

  /**
   * Revokes a stored transaction, so that the signer never signs it. Returns null on success, or
   * the signed transaction when it was signed before.
   */
  revoke(payment: Payment, attempt: PaymentAttempt): Promise<SignerAnswer> {
    const intent = this.intent(payment, attempt.attempt);
    return this.#ask(payment, () => this.#options.signer.revoke(payment.chain, intent, this.prepared(attempt)));
  }

  async #ask({ id, orderId }: Payment, question: () => Promise<SignedTx | null>): Promise<SignerAnswer> {
    try {
      return await question();
    } catch (error) {
      if (!(error instanceof SignerError)) throw error;
      if (error.code === 'revoked') return null;
      const members = { event: 'signer_failed', code: error.code, detail: error.message, payment_id: id };
      this.#options.log.error({ ...members, order_id: orderId }, 'a payment was not signed');
      return error.code;
    }
  }

  /** Stores the signed bytes. From then on they may be broadcast. */
  async storeSignatures(
    lease: ChainLease,
    signed: readonly Signed[],
    changeRow: RowChange = noRowChange,
  ): Promise<readonly PaymentWithAttempts[]> {
    const { clock, writer, onCrashPoint } = this.#options;
    await onCrashPoint('payment.signature');
    const all = new Map(signed.map((one) => [one.payment.id, one]));
    const changed = await writer.change(
      lease,
      signed.map(({ payment }) => payment),
      (_em, changing) => {
        const now = clock.now();
        for (const { payment, alive } of changing) {
          const { attempt, tx } = entryOf(all, payment);
          Object.assign(storedAttempt(alive, attempt), { raw: tx.raw, txid: tx.txid, signedAt: now });
          changeRow(payment, now);
        }
      },
    );
    await onCrashPoint('payment.signed');
    return changed;
  }

  /**
   * Broadcasts the newest transactions for the first time, in their order, and records it. Where
   * each broadcast is a request, it stops after the first one without an answer once the time is
   * over. One that has expired meanwhile is not broadcast: its status is asked next.
   */
  async send(
    { adapter, lease, hasTime }: ChainTurn,
    signed: readonly PaymentWithAttempts[],
    changeRow: RowChange = noRowChange,
  ): Promise<void> {
    const { clock, writer, onCrashPoint } = this.#options;
    const newest = signed.map(({ alive }) => newestOf(alive));
    const expired = await pastExpiry(adapter, clock.now(), newest);
    const fresh = newest.filter((attempt) => !expired.has(attempt));
    const broadcast = new Set(fresh.slice(0, await this.#broadcastInOrder(adapter, fresh, hasTime)));
    const all = new Map(
      signed
        .filter(({ alive }) => broadcast.has(newestOf(alive)) || expired.has(newestOf(alive)))
        .map((one) => [one.payment.id, one]),
    );
    await onCrashPoint('payment.broadcast');
    await writer.change(
      lease,
      [...all.values()].map(({ payment }) => payment),
      (_em, changing) => {
        const now = clock.now();
        for (const { payment, alive } of changing) {
          const attempt = newestOf(entryOf(all, payment).alive);
          if (broadcast.has(attempt)) storedAttempt(alive, attempt).sentAt = now;
          changeRow(payment, now);
        }
      },
    );
    await onCrashPoint('payment.sent');
  }

  /** Returns how many were broadcast: all of them in one request where the chain has one. */
  async #broadcastInOrder(
    adapter: ChainAdapter,
    attempts: readonly PaymentAttempt[],
    hasTime: () => boolean,
  ): Promise<number> {
    if (attempts.length === 0) return 0;
    const broadcastAll = adapter.broadcastAll?.bind(adapter);
    if (broadcastAll) {
      await this.#isAnswered(() => broadcastAll(attempts.map(signedTx)));
      return attempts.length;
    }
    for (const [index, attempt] of attempts.entries()) {
      if (!(await this.broadcast(adapter, attempt)) && !hasTime()) return index + 1;
    }
    return attempts.length;
  }

  /**
   * Broadcasts a transaction. The node's answer and its errors decide nothing, because the chain is
   * checked next. Returns whether the node answered.
   */
  broadcast(adapter: ChainAdapter, attempt: PaymentAttempt): Promise<boolean> {
    return this.#isAnswered(async () => [await adapter.broadcast(signedTx(attempt))]);
  }

  async #isAnswered(broadcast: () => Promise<readonly Broadcast[]>): Promise<boolean> {
    const { log } = this.#options;
    try {
      const answers = await broadcast();
      for (const { outcome, code } of answers) {
        if (outcome !== 'rejected' && outcome !== 'uncertain') continue;
        log.warn({ event: 'broadcast_refused', code }, 'a node did not accept a transaction');
      }
      return !answers.some(({ outcome }) => outcome === 'uncertain');
    } catch (error) {
      log.warn({ event: 'broadcast_failed', ...errorMembers(error) }, 'a node gave no answer to a broadcast');
      return false;
    }
  }

  /** Ends a transaction whose signed bytes were never stored, and so were never broadcast. */
  async neverSigned(em: EntityManager, { paymentId, attempt }: PaymentAttempt): Promise<void> {
    const dead = { deadAt: this.#options.clock.now(), deadWhy: 'never_signed' };
    await em.nativeUpdate(PaymentAttempt, { paymentId, attempt }, dead);
  }
}

/** Reserves the inputs of transactions that earlier ones of the same payment do not hold yet. */
async function reserve(em: EntityManager, attempts: readonly PaymentAttempt[]): Promise<void> {
  const resources = attempts.flatMap(({ paymentId, attempt, chain, reserves }) =>
    reserves.map((resource) => ({ payment_id: paymentId, attempt, chain, resource })),
  );
  await sql(
    em,
    `insert into payment_reservation (chain, resource, payment_id, attempt)
     select r.chain, r.resource, r.payment_id, r.attempt
       from jsonb_to_recordset(?::jsonb) as r (chain text, resource text, payment_id uuid, attempt integer)
      where not exists (select 1 from payment_reservation h
                         where h.payment_id = r.payment_id and h.resource = r.resource and h.released_at is null)`,
    [JSON.stringify(resources)],
  );
}

/** The map's entry of a payment. @throws Error without one. */
export function entryOf<T>(all: ReadonlyMap<string, T>, { id }: Payment): T {
  const one = all.get(id);
  if (one === undefined) throw new Error(`payment ${id} has no entry`);
  return one;
}

/**
 * The stored row of an attempt that another unit of work read. @throws Error when it is not alive.
 */
export function storedAttempt(
  alive: readonly PaymentAttempt[],
  { paymentId, attempt }: PaymentAttempt,
): PaymentAttempt {
  const stored = alive.find((one) => one.attempt === attempt);
  if (!stored) throw new Error(`attempt ${attempt} of payment ${paymentId} is not alive`);
  return stored;
}

export function newestOf(alive: readonly PaymentAttempt[]): PaymentAttempt {
  const attempt = alive.at(-1);
  if (!attempt) throw new Error('the payment has no attempt');
  return attempt;
}
