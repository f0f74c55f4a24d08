import type { MikroORM, QueryResult } from '@mikro-orm/postgresql';
import { v7 as uuidv7 } from 'uuid';
import { type AddressCheck, checkAddress } from '../chains/address.ts';
import { type DepositAddresses, type DepositPlace, noAddress } from '../chains/deposit-addresses.ts';
import type { Clock } from '../clock.ts';
import type { Currency } from '../currencies/currency.entity.ts';
import { brokenConstraint, sqlState } from '../db/database.ts';
import { PreparedStatements } from '../db/prepared.ts';
import { AppError, errorFromFaults, type FieldFault } from '../errors.ts';
import { type Big, formatDecimal } from '../money.ts';
import type { Caller } from '../partners/authenticator.ts';
import type { RateType } from '../rates/quote.ts';
import type { Quote, RateService } from '../rates/rate-service.ts';
import { annotate } from '../tracing/tracing.ts';
import { IdempotencyKey } from './idempotency-key.entity.ts';
import type { OpenOrders, Room } from './open-orders.ts';
import {
  addressToCome,
  type CreateOutcome,
  createStatement,
  type OrderView,
  orderById,
  orderByShortId,
} from './order-statements.ts';
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
  readonly openOrders: OpenOrders;
  readonly depositWindowSec: number;
  readonly shortIdPrefix: string;
}

const maxDraws = 5;
/** PostgreSQL gave up waiting for a lock, here that of another create with the same idempotency key. */
const lockNotAvailable = '55P03';
const answersKeptMs = 48 * 3_600_000;
/** How many stored answers one statement forgets. */
const forgetBatch = 5_000;

interface Destination {
  readonly address: string;
  readonly tag: string | null;
}

/** What an order will be, as far as that is decided without the database. */
interface Plan {
  readonly quote: Quote;
  readonly recipient: Destination;
  readonly refund: Destination | null;
}

/** Creates and reads exchange orders. */
export class OrderService {
  readonly #options: OrderServiceOptions;
  readonly #statements: PreparedStatements;

  constructor(options: OrderServiceOptions) {
    this.#options = options;
    this.#statements = new PreparedStatements(options.orm);
  }

  /**
   * Creates an order with an address of its own, all in one statement. `write` renders the answer, which is stored
   * beside the order when the create is repeatable; a repetition then gets that very text and creates nothing.
   *
   * @throws AppError 422 naming everything that is wrong, or that the partner has too much open; 401 or 403 when the key or the partner was ended meanwhile;
   *   409 while another create with the same idempotency key is under way; 503 when no address is ready.
   */
  async create(
    input: CreateOrder,
    caller: Caller,
    repeatable: Repeatable | null,
    write: (order: OrderView) => string,
  ): Promise<CreatedOrder> {
    const { openOrders } = this.#options;
    let plan: Plan;
    let room: Room;
    try {
      plan = this.#plan(input, caller);
      room = await openOrders.room(caller.partner, plan.quote, repeatable?.key ?? null);
    } catch (error) {
      // What was answered once is answered again, whatever has changed since.
      const earlier = repeatable && (await this.#earlier(caller, repeatable));
      if (earlier) return earlier;
      if (repeatable && openOrders.isPending(caller.partner, repeatable.key)) throw inFlight(error);
      throw error;
    }
    let isTaken = false;
    try {
      const created = await this.#draw(plan, caller, repeatable, write);
      isTaken = !created.replayed;
      return created;
    } finally {
      room.close(isTaken);
    }
  }

  /**
   * The partner's order by UUID or short id, in either case.
   *
   * @throws AppError order_not_found, alike for an unknown order, another partner's, and text of neither form.
   */
  async find(text: string, partnerId: string): Promise<OrderView> {
    const named = orderNamed(text);
    if (!named) throw orderNotFound();
    const [statement, id] = 'id' in named ? [orderById, named.id] : [orderByShortId, named.shortId];
    const [order] = await this.#statements.run<OrderView>(statement, { partner: partnerId, id });
    if (!order) throw orderNotFound();
    annotate({ 'order.id': order.id });
    return order;
  }

  /**
   * Forgets answers that were stored more than 48 hours ago. Partners are promised 24. Each batch is a transaction of its
   * own, so that those of a busy day are forgotten as well.
   *
   * @returns How many it forgot.
   */
  async forgetOldAnswers(): Promise<number> {
    const { clock, orm } = this.#options;
    const before = new Date(clock.now().getTime() - answersKeptMs);
    const em = orm.em.fork();
    let forgotten = 0;
    for (;;) {
      const { affectedRows } = await em.execute<QueryResult>(
        `delete from idempotency_key
          where ctid = any (array(select ctid from idempotency_key where created_at < ? limit ?))`,
        [before, forgetBatch],
        'run',
      );
      forgotten += affectedRows;
      if (affectedRows < forgetBatch) return forgotten;
    }
  }

  /** Everything that can be decided without the database: the quote and both addresses, with all faults at once. */
  #plan(input: CreateOrder, caller: Caller): Plan {
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

  /** Creates the order that was planned. A collision of random short ids is answered by drawing again. */
  async #draw(
    plan: Plan,
    caller: Caller,
    repeatable: Repeatable | null,
    write: (order: OrderView) => string,
  ): Promise<CreatedOrder> {
    const place = await this.#options.addresses.next(plan.quote.from.network);
    for (let draw = 1; ; draw++) {
      try {
        return await this.#insert(plan, place, caller, repeatable, write);
      } catch (error) {
        const constraint = brokenConstraint(error);
        if (constraint === 'exchange_order_short_id_key' && draw < maxDraws) continue;
        if (repeatable && constraint === 'idempotency_key_pkey') {
          const winner = await this.#earlier(caller, repeatable);
          if (winner) return winner;
        }
        if (repeatable && sqlState(error) === lockNotAvailable) throw inFlight(error);
        throw error;
      }
    }
  }

  async #insert(
    { quote, recipient, refund }: Plan,
    place: DepositPlace,
    caller: Caller,
    repeatable: Repeatable | null,
    write: (order: OrderView) => string,
  ): Promise<CreatedOrder> {
    const { clock, depositWindowSec, shortIdPrefix } = this.#options;
    const now = clock.now();
    const order: OrderView = {
      id: uuidv7(),
      shortId: randomShortId(shortIdPrefix),
      status: 'waiting_deposit',
      createdAt: now.toISOString(),
      expiresAt: new Date(now.getTime() + depositWindowSec * 1000).toISOString(),
      coinFrom: quote.from.coin,
      networkFrom: quote.from.network,
      coinTo: quote.to.coin,
      networkTo: quote.to.network,
      amountFromExpected: formatDecimal(quote.amountFrom),
      amountToExpected: formatDecimal(quote.amountTo),
      rateType: quote.rateType,
      rateQuoted: formatDecimal(quote.rate),
      depositAddress: place.address ?? addressToCome,
      depositAddressTag: place.tag,
      recipientAddress: recipient.address,
      depositTxid: null,
      depositConfirmations: null,
      depositConfirmationsRequired: quote.from.minConfirmations,
      payoutTxid: null,
    };
    const body = write(order);
    const statement = createStatement(place.address === null, repeatable !== null);
    const [outcome] = await this.#statements.run<CreateOutcome>(statement, {
      keyId: caller.keyId,
      partner: caller.partner.id,
      actor: `partner:${caller.partner.id}`,
      now: order.createdAt,
      expiresAt: order.expiresAt,
      id: order.id,
      shortId: order.shortId,
      coinFrom: order.coinFrom,
      networkFrom: order.networkFrom,
      coinTo: order.coinTo,
      networkTo: order.networkTo,
      amountFrom: order.amountFromExpected,
      amountTo: order.amountToExpected,
      rateType: order.rateType,
      rate: order.rateQuoted,
      feeRate: quote.feeRate,
      serviceFee: formatDecimal(quote.serviceFee),
      networkFee: formatDecimal(quote.networkFee),
      minAmount: formatDecimal(quote.minAmount),
      maxAmount: formatDecimal(quote.maxAmount),
      confirmations: order.depositConfirmationsRequired,
      addressId: uuidv7(),
      keychain: place.keychain,
      index: place.index,
      address: place.address,
      tag: place.tag,
      recipient: recipient.address,
      recipientTag: recipient.tag,
      refund: refund?.address ?? null,
      refundTag: refund?.tag ?? null,
      repeatKey: repeatable?.key ?? null,
      fingerprint: repeatable?.fingerprint ?? null,
      body,
    });
    if (!outcome?.live) throw new AppError('unauthorized', 'this API key has been revoked or has expired');
    if (!outcome.active) throw partnerInactive();
    const { earlierOrder, earlierFingerprint, earlierBody, ownRecipient, ownRefund, address } = outcome;
    if (repeatable && earlierOrder && earlierFingerprint && earlierBody) {
      return replay(repeatable, { orderId: earlierOrder, fingerprint: earlierFingerprint, body: earlierBody });
    }
    const faults: FieldFault[] = [];
    if (ownRecipient) faults.push(ownAddress('recipient_address'));
    if (ownRefund) faults.push(ownAddress('refund_address'));
    if (faults.length > 0) throw errorFromFaults(faults);
    if (address === null) throw noAddress(quote.from.network);
    annotate({ 'order.id': order.id });
    return { orderId: order.id, body: body.replace(addressToCome, address), replayed: false };
  }

  /** The stored answer to an earlier create with the same idempotency key; null when there is none. */
  async #earlier(caller: Caller, repeatable: Repeatable): Promise<CreatedOrder | null> {
    const partnerId = caller.partner.id;
    const stored = await this.#options.orm.em.fork().findOne(IdempotencyKey, { partnerId, key: repeatable.key });
    return stored ? replay(repeatable, stored) : null;
  }
}

/** @throws AppError idempotency_key_reused when another request was answered. */
function replay(
  repeatable: Repeatable,
  { orderId, fingerprint, body }: { orderId: string; fingerprint: Buffer; body: string },
): CreatedOrder {
  if (fingerprint.equals(repeatable.fingerprint)) return { orderId, body, replayed: true };
  const detail = 'this Idempotency-Key was used with another request; choose a new key for a new order';
  throw new AppError('idempotency_key_reused', detail);
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
