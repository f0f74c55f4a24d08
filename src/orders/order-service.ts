import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import { v7 as uuidv7 } from 'uuid';
import { type AddressCheck, checkAddress } from '../chains/address.ts';
import type { DepositAddresses } from '../chains/deposit-addresses.ts';
import { isOwnAddress } from '../chains/own-address.ts';
import type { Clock } from '../clock.ts';
import type { Currency } from '../currencies/currency.entity.ts';
import { brokenConstraint, sqlState } from '../db/database.ts';
import { AppError, errorFromFaults, type FieldFault } from '../errors.ts';
import { type Big, formatDecimal } from '../money.ts';
import type { Caller } from '../partners/authenticator.ts';
import { Partner } from '../partners/partner.entity.ts';
import type { RateType } from '../rates/quote.ts';
import type { Quote, RateService } from '../rates/rate-service.ts';
import { IdempotencyKey } from './idempotency-key.entity.ts';
import { Order } from './order.entity.ts';
import { OrderEvent } from './order-event.entity.ts';
import { orderNamed, randomShortId } from './short-id.ts';

/** What a partner asks for. */
export interface CreateOrder {
  readonly coinFrom: string;
  readonly networkFrom: string;
  readonly coinTo: string;
  readonly networkTo: string;
  readonly amountFrom: Big;
  readonly rateType: RateType;
  readonly recipientAddress: string;
  readonly recipientAddressTag: string | null;
  readonly refundAddress: string | null;
  readonly refundAddressTag: string | null;
}

/** How a create may be repeated: the partner's own key and a hash of everything that was asked. */
export interface Repeatable {
  readonly key: string;
  /** SHA-256, 32 bytes. */
  readonly fingerprint: Buffer;
}

/** The answer to a create, as the surface wrote it the first time. */
export interface CreatedOrder {
  readonly orderId: string;
  readonly body: string;
  readonly replayed: boolean;
}

export interface OrderServiceOptions {
  readonly orm: MikroORM;
  readonly clock: Clock;
  readonly rates: RateService;
  readonly addresses: DepositAddresses;
  readonly depositWindowSec: number;
  readonly shortIdPrefix: string;
}

/** A collision of random short ids is answered by drawing again. */
const maxDraws = 5;
/** How long a create waits for another one with the same idempotency key. */
const inFlightWaitMs = 2_000;
const answersKeptMs = 48 * 3_600_000;

interface Destination {
  readonly address: string;
  readonly tag: string | null;
}

/** Creates and reads exchange orders. */
export class OrderService {
  readonly #options: OrderServiceOptions;

  constructor(options: OrderServiceOptions) {
    this.#options = options;
  }

  /**
   * Creates an order with an address of its own, all in one transaction. `write` renders the answer, which is stored
   * beside the order when the create is repeatable; a repetition then gets that very text and creates nothing.
   *
   * @throws AppError 422 naming everything that is wrong; 401 or 403 when the key or the partner was ended meanwhile;
   *   409 while another create with the same idempotency key is under way; 503 when no address is ready.
   */
  async create(
    input: CreateOrder,
    caller: Caller,
    repeatable: Repeatable | null,
    write: (order: Order) => string,
  ): Promise<CreatedOrder> {
    const earlier = repeatable && (await this.#earlier(caller, repeatable));
    if (earlier) return earlier;
    const plan = this.#plan(input, caller);
    for (let draw = 1; ; draw++) {
      try {
        return await this.#options.orm.em
          .fork()
          .transactional((em) => this.#insert(em, input, plan, caller, repeatable, write));
      } catch (error) {
        const constraint = brokenConstraint(error);
        if (constraint === 'exchange_order_short_id_key' && draw < maxDraws) continue;
        if (repeatable && constraint === 'idempotency_key_pkey') {
          const winner = await this.#earlier(caller, repeatable);
          if (winner) return winner;
        }
        if (repeatable && sqlState(error) === '55P03') throw inFlight(error);
        throw error;
      }
    }
  }

  /**
   * The partner's order by UUID or short id, in either case.
   *
   * @throws AppError order_not_found, alike for an unknown order, another partner's, and text of neither form.
   */
  async find(id: string, partnerId: string): Promise<Order> {
    const where = orderNamed(id);
    const order =
      where &&
      (await this.#options.orm.em
        .fork()
        .findOne(Order, { ...where, partner: partnerId }, { populate: ['depositAddress'], strategy: 'joined' }));
    if (!order) throw orderNotFound();
    return order;
  }

  /** Forgets answers that were stored more than 48 hours ago. Partners are promised 24. */
  async forgetOldAnswers(): Promise<void> {
    const before = new Date(this.#options.clock.now().getTime() - answersKeptMs);
    await this.#options.orm.em.fork().nativeDelete(IdempotencyKey, { createdAt: { $lt: before } });
  }

  /** Everything that can be decided without the database: the quote and both addresses, with all faults at once. */
  #plan(input: CreateOrder, caller: Caller): { quote: Quote; recipient: Destination; refund: Destination | null } {
    const { rates } = this.#options;
    const faults: FieldFault[] = [];
    const pair = rates.pair(input, faults);
    let quote: Quote | undefined;
    let amountError: AppError | undefined;
    if (pair) {
      try {
        const pricing = rates.pricing(caller.partner);
        quote = rates.quotePair(pair, input.rateType, input.amountFrom, pricing, 'amount_from');
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        amountError = error;
        const { kind, detail } = error;
        faults.push(...(error.extras.faults ?? [{ field: 'coin_to', kind, detail }]));
      }
    }
    const recipient =
      pair && destination('recipient_address', pair.to, input.recipientAddress, input.recipientAddressTag, faults);
    let refund: Destination | null = null;
    if (input.refundAddress !== null) {
      refund = pair && destination('refund_address', pair.from, input.refundAddress, input.refundAddressTag, faults);
    } else if (input.refundAddressTag !== null) {
      const detail = 'refund_address_tag needs a refund_address';
      faults.push({ field: 'refund_address_tag', kind: 'invalid_tag', detail });
    }
    if (faults.length > 0 || !quote || !recipient) {
      throw amountError && faults.length === 1 ? amountError : errorFromFaults(faults, amountError?.extras);
    }
    return { quote, recipient, refund };
  }

  async #insert(
    em: EntityManager,
    input: CreateOrder,
    { quote, recipient, refund }: { quote: Quote; recipient: Destination; refund: Destination | null },
    caller: Caller,
    repeatable: Repeatable | null,
    write: (order: Order) => string,
  ): Promise<CreatedOrder> {
    const { clock, addresses, depositWindowSec, shortIdPrefix } = this.#options;
    const now = clock.now();
    await this.#admit(em, caller, recipient, refund, now);
    const depositAddress = await addresses.lease(em, quote.from.network);
    const expiresAt = new Date(now.getTime() + depositWindowSec * 1000);
    const order = em.create(Order, {
      id: uuidv7(),
      shortId: randomShortId(shortIdPrefix),
      partner: em.getReference(Partner, caller.partner.id),
      status: 'waiting_deposit',
      createdAt: now,
      expiresAt,
      updatedAt: now,
      nextActionAt: expiresAt,
      coinFrom: quote.from.coin,
      networkFrom: quote.from.network,
      coinTo: quote.to.coin,
      networkTo: quote.to.network,
      amountFromExpected: formatDecimal(quote.amountFrom),
      amountToExpected: formatDecimal(quote.amountTo),
      rateType: input.rateType,
      rateQuoted: formatDecimal(quote.rate),
      feeRate: quote.feeRate,
      serviceFeeQuoted: formatDecimal(quote.serviceFee),
      networkFeeQuoted: formatDecimal(quote.networkFee),
      depositAddress,
      recipientAddress: recipient.address,
      recipientAddressTag: recipient.tag,
      refundAddress: refund?.address ?? null,
      refundAddressTag: refund?.tag ?? null,
      depositTxid: null,
      depositConfirmations: null,
      depositConfirmationsRequired: quote.from.minConfirmations,
      payoutTxid: null,
      eventSeq: 1,
      depositId: null,
      minAmount: formatDecimal(quote.minAmount),
      maxAmount: formatDecimal(quote.maxAmount),
      amountFromActual: null,
      amountToActual: null,
      exchangeDeadline: null,
      heldAt: null,
      holdReason: null,
    });
    em.create(OrderEvent, {
      order,
      seq: 1,
      at: now,
      fromStatus: null,
      toStatus: order.status,
      cause: 'created',
      actor: `partner:${caller.partner.id}`,
      detail: null,
    });
    const body = write(order);
    if (repeatable) {
      // Its foreign key needs the order's row first; the two are flushed apart because no relation links them.
      await em.flush();
      em.create(IdempotencyKey, {
        partnerId: caller.partner.id,
        key: repeatable.key,
        fingerprint: repeatable.fingerprint,
        orderId: order.id,
        status: 201,
        body,
        createdAt: now,
      });
    }
    return { orderId: order.id, body, replayed: false };
  }

  /**
   * Re-reads key, partner and destinations inside the transaction, so that a revocation holds from its commit on and
   * no payout ever goes to an address of our own.
   */
  async #admit(
    em: EntityManager,
    caller: Caller,
    recipient: Destination,
    refund: Destination | null,
    now: Date,
  ): Promise<void> {
    const [row] = await em.execute<{ live: boolean; active: boolean; own_recipient: boolean; own_refund: boolean }[]>(
      `select set_config('lock_timeout', ?, true),
              k.revoked_at is null and (k.expires_at is null or k.expires_at > ?) as live,
              p.status = 'active' as active,
              ${isOwnAddress} as own_recipient, ${isOwnAddress} as own_refund
         from api_key k join partner p on p.id = k.partner_id
        where k.key_id = ?`,
      [`${inFlightWaitMs}ms`, now, recipient.address, refund?.address ?? null, caller.keyId],
    );
    if (!row?.live) throw new AppError('unauthorized', 'this API key has been revoked or has expired');
    if (!row.active) throw partnerInactive();
    const faults: FieldFault[] = [];
    if (row.own_recipient) faults.push(ownAddress('recipient_address'));
    if (row.own_refund) faults.push(ownAddress('refund_address'));
    if (faults.length > 0) throw errorFromFaults(faults);
  }

  /** The stored answer to an earlier create with the same idempotency key; null when there is none. */
  async #earlier(caller: Caller, repeatable: Repeatable): Promise<CreatedOrder | null> {
    const partnerId = caller.partner.id;
    const stored = await this.#options.orm.em.fork().findOne(IdempotencyKey, { partnerId, key: repeatable.key });
    if (!stored) return null;
    if (!stored.fingerprint.equals(repeatable.fingerprint)) {
      const detail = 'this Idempotency-Key was used with another request; choose a new key for a new order';
      throw new AppError('idempotency_key_reused', detail);
    }
    return { orderId: stored.orderId, body: stored.body, replayed: true };
  }
}

/** The answer for every order that the caller cannot see, whatever the reason. */
export function orderNotFound(): AppError {
  return new AppError('order_not_found', 'there is no such order');
}

/** The answer to a partner whose account is switched off. */
export function partnerInactive(): AppError {
  return new AppError('partner_inactive', 'this partner account is not active; contact support');
}

function inFlight(cause: unknown): AppError {
  const detail = 'a request with this Idempotency-Key is still under way; try again in a second';
  return new AppError('idempotency_in_flight', detail, { retryAfterSec: 1, cause });
}

function ownAddress(field: string): FieldFault {
  return { field, kind: 'own_address', detail: `${field} is an address of this service; give the user's own` };
}

function destination(
  field: 'recipient_address' | 'refund_address',
  currency: Currency,
  address: string,
  tag: string | null,
  faults: FieldFault[],
): Destination | null {
  const check: AddressCheck = checkAddress(currency.network, address, tag);
  if (check.ok && check.address === currency.contract) {
    const detail = `${field} is the contract of ${currency.coin} itself, and what is sent there is lost; give the user's own`;
    faults.push({ field, kind: 'invalid_address', detail });
    return null;
  }
  if (check.ok) return { address: check.address, tag: check.tag };
  const faulty = check.field === 'tag' ? `${field}_tag` : field;
  faults.push({ field: faulty, kind: check.code, detail: `${faulty}: ${check.detail}` });
  return null;
}
