import type { MikroORM, QueryResult } from '@mikro-orm/postgresql';
import { v7 as uuidv7 } from 'uuid';
import { type AddressCheck, checkAddress, checkTag } from '../chains/address.ts';
import { type DepositAddresses, type DepositPlace, noAddress } from '../chains/deposit-addresses.ts';
import { keyForms } from '../chains/key-forms.ts';
import { networkById } from '../chains/networks.ts';
import type { Clock } from '../clock.ts';
import type { Currency } from '../currencies/currency.entity.ts';
import { brokenConstraint, sqlState } from '../db/database.ts';
import { PreparedStatements } from '../db/prepared.ts';
import { AppError, errorFromFaults, type FieldFault } from '../errors.ts';
import { type Big, formatDecimal } from '../money.ts';
import type { Caller } from '../partners/authenticator.ts';
import type { RateType } from '../rates/quote.ts';
import { amountFault, type Quote, type RateService } from '../rates/rate-service.ts';
import { annotate } from '../tracing/tracing.ts';
import { IdempotencyKey } from './idempotency-key.entity.ts';
import type { FixedRoom, OpenOrders, Room } from './open-orders.ts';
import {
  addressToCome,
  type CreateOutcome,
  createStatement,
  type OrderView,
  orderById,
  orderByShortId,
  ownDestinations,
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
  /** By which the statement finds out whether the address is ours. */
  readonly keyForms: string;
}

/** What an order will be, as far as that is decided without the database. */
interface Plan {
  readonly quote: Quote;
  readonly recipient: Destination;
  readonly refund: Destination | null;
}

/** A plan as far as it came. It is refused when there are faults. */
interface Draft {
  readonly quote: Quote | null;
  readonly recipient: Destination | null;
  readonly refund: Destination | null;
  readonly faults: readonly FieldFault[];
  /** What was thrown instead of a quote. */
  readonly quoteError: AppError | null;
}

interface Admitted extends Plan {
  readonly fixedRoom: FixedRoom | null;
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
      const draft = this.#draft(input, caller);
      const { quote, recipient, refund, faults } = draft;
      if (faults.length > 0 || !quote || !recipient) throw await this.#refusalOf(draft);
      plan = { quote, recipient, refund };
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
      const created = await this.#draw({ ...plan, fixedRoom: room.fixed }, caller, repeatable, write);
      isTaken = !created.replayed;
      return created;
    } finally {
      room.close(isTaken);
    }
  }

  /** Everything that `create` would refuse in the members of a request; null when it would refuse none. */
  async refusal(input: CreateOrder, caller: Caller): Promise<AppError | null> {
    const draft = this.#draft(input, caller);
    const own = await this.#ownAddressFaults(draft);
    return draft.faults.length + own.length > 0 ? refusalOf(draft, own) : null;
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

  /**
   * Everything that can be decided without the database: the quote and both addresses, with all faults at once. What one
   * fault makes impossible to judge is left out; everything else is judged.
   */
  #draft(input: CreateOrder, caller: Caller): Draft {
    const { rates } = this.#options;
    const faults: FieldFault[] = [];
    const { pair, from, to } = rates.sides(input, faults);
    let quote: Quote | null = null;
    let quoteError: AppError | null = null;
    if (pair) {
      try {
        const pricing = rates.pricing(caller.partner);
        quote = rates.quotePair(pair, input.rateType, input.amountFrom, pricing, 'amount_from');
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        quoteError = error;
        const { kind, detail } = error;
        faults.push(...(error.extras.faults ?? [{ field: 'coin_to', kind, detail }]));
      }
    }
    const amount = quote ? null : amountFault(input.amountFrom, from, 'amount_from');
    if (amount && !faults.some(({ field }) => field === amount.field)) faults.push(amount);
    // The destination of an exchange into the same currency cannot be judged: either side may be the mistake.
    const isSame = to !== null && from === to;
    const recipientOn = isSame ? nowhere : sideOf('to', to, input.networkTo, faults);
    const { recipientAddress, recipientAddressTag, refundAddress, refundAddressTag } = input;
    const recipient = destination('recipient_address', recipientOn, recipientAddress, recipientAddressTag, faults);
    let refund: Destination | null = null;
    if (refundAddress !== null) {
      const refundOn = sideOf('from', from, input.networkFrom, faults);
      refund = destination('refund_address', refundOn, refundAddress, refundAddressTag, faults);
    } else if (refundAddressTag !== null) {
      const detail = 'refund_address_tag needs a refund_address';
      faults.push({ field: 'refund_address_tag', kind: 'invalid_tag', detail });
    }
    return { quote, recipient, refund, faults, quoteError };
  }

  async #refusalOf(draft: Draft): Promise<AppError> {
    return refusalOf(draft, await this.#ownAddressFaults(draft));
  }

  /** Addresses of ours in a create that is refused. Of one that is not, the statement that makes the order tells them. */
  async #ownAddressFaults({ recipient, refund }: Draft): Promise<FieldFault[]> {
    if (!recipient && !refund) return [];
    const [own] = await this.#statements.run<Pick<CreateOutcome, 'ownRecipient' | 'ownRefund'>>(ownDestinations, {
      recipientForms: recipient?.keyForms ?? null,
      refundForms: refund?.keyForms ?? null,
    });
    return own ? ownAddressFaults(own) : [];
  }

  /** Creates the order that was planned. A collision of random short ids is answered by drawing again. */
  async #draw(
    plan: Admitted,
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
        // The first of two equal creates may have taken the last room, and the second then has its answer.
        const mayRepeat = error instanceof AppError && error.kind === 'fixed_exposure_limit';
        if (repeatable && (constraint === 'idempotency_key_pkey' || mayRepeat)) {
          const winner = await this.#earlier(caller, repeatable);
          if (winner) return winner;
        }
        if (repeatable && sqlState(error) === lockNotAvailable) throw inFlight(error);
        throw error;
      }
    }
  }

  async #insert(
    { quote, recipient, refund, fixedRoom }: Admitted,
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
    const statement = createStatement(place.address === null, repeatable !== null, quote.rateType);
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
      recipientForms: recipient.keyForms,
      refundForms: refund?.keyForms ?? null,
      nestedForm: place.hiddenForms?.nested ?? null,
      taprootForm: place.hiddenForms?.taproot ?? null,
      recipient: recipient.address,
      recipientTag: recipient.tag,
      refund: refund?.address ?? null,
      refundTag: refund?.tag ?? null,
      repeatKey: repeatable?.key ?? null,
      fingerprint: repeatable?.fingerprint ?? null,
      body,
      ...fixedRoom,
    });
    if (!outcome?.live) throw new AppError('unauthorized', 'this API key has been revoked or has expired');
    if (!outcome.active) throw partnerInactive();
    const { earlierOrder, earlierFingerprint, earlierBody, ownRecipient, ownRefund, address } = outcome;
    if (repeatable && earlierOrder && earlierFingerprint && earlierBody) {
      return replay(repeatable, { orderId: earlierOrder, fingerprint: earlierFingerprint, body: earlierBody });
    }
    const faults = ownAddressFaults({ ownRecipient, ownRefund });
    if (faults.length > 0) throw errorFromFaults(faults);
    if (!outcome.hasRoom && fixedRoom) throw fixedExposure(fixedRoom);
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

function fixedExposure({ hourUsd, dayUsd }: FixedRoom): AppError {
  const detail = `fixed orders of this partner account would be worth more than ${hourUsd} US dollars within an hour, or ${dayUsd} within a day; take rate_type float, try again later, or ask for a higher limit`;
  return new AppError('fixed_exposure_limit', detail);
}

function inFlight(cause: unknown): AppError {
  const detail = 'a request with this Idempotency-Key is still under way; try again in a second';
  return new AppError('idempotency_in_flight', detail, { retryAfterSec: 1, cause });
}

function ownAddressFaults(own: Pick<CreateOutcome, 'ownRecipient' | 'ownRefund'>): FieldFault[] {
  const faults: FieldFault[] = [];
  if (own.ownRecipient) faults.push(ownAddress('recipient_address'));
  if (own.ownRefund) faults.push(ownAddress('refund_address'));
  return faults;
}

function ownAddress(field: string): FieldFault {
  return { field, kind: 'own_address', detail: `${field} is an address of this service; give the user's own` };
}

function refusalOf({ faults, quoteError }: Draft, more: readonly FieldFault[]): AppError {
  if (quoteError && faults.length + more.length === 1) return quoteError;
  return errorFromFaults([...faults, ...more], quoteError?.extras);
}

/** Where a destination lies, as far as it is known: the currency is null where only the coin is unknown. */
interface Side {
  readonly currency: Currency | null;
  readonly network: string | null;
}

const nowhere: Side = { currency: null, network: null };

function sideOf(side: 'from' | 'to', currency: Currency | null, network: string, faults: readonly FieldFault[]): Side {
  return faults.some(({ field }) => field === `network_${side}`) ? nowhere : { currency, network };
}

/**
 * A destination in the form in which it is kept, or null after adding what is wrong with it to `faults`, or when it cannot
 * be judged because its network is not known.
 */
function destination(
  field: 'recipient_address' | 'refund_address',
  on: Side,
  address: string,
  tag: string | null,
  faults: FieldFault[],
): Destination | null {
  const network = on.currency?.network ?? on.network;
  if (network === null || !networkById(network)) return null;
  const check: AddressCheck = checkAddress(network, address, tag);
  if (check.ok && on.currency && check.address === on.currency.contract) {
    const detail = `${field} is the contract of ${on.currency.coin} itself, and what is sent there is lost; give the user's own`;
    faults.push({ field, kind: 'invalid_address', detail });
    return null;
  }
  if (check.ok) return { address: check.address, tag: check.tag, keyForms: keyForms(network, check.address) };
  const wrongTag = check.field === 'address' && tag !== null ? checkTag(network, tag) : null;
  for (const { field: part, code, detail } of wrongTag ? [check, wrongTag] : [check]) {
    const faulty = part === 'tag' ? `${field}_tag` : field;
    faults.push({ field: faulty, kind: code, detail: `${faulty}: ${detail}` });
  }
  // Beside a wrong tag the address may still be one of ours.
  const alone = check.field === 'tag' ? checkAddress(network, address, null) : check;
  return alone.ok ? { address: alone.address, tag: null, keyForms: keyForms(network, alone.address) } : null;
}
