import type { MikroORM, QueryResult } from '@mikro-orm/postgresql';
import { v7 as uuidv7 } from 'uuid';
import { type DepositAddresses, type DepositPlace, noAddress } from '../chains/addresses/deposit-addresses.ts';
import type { Clock } from '../clock.ts';
import type { Currency } from '../currencies/currency.entity.ts';
import { brokenConstraint, sqlState } from '../db/database.ts';
import { PreparedStatements } from '../db/prepared.ts';
import { AppError, errorFromFaults, type FieldFault, type TwoSidedLimits } from '../errors.ts';
import { formatDecimal } from '../money.ts';
import type { Caller } from '../partners/authenticator.ts';
import { type BindingQuotes, invalidQuote } from '../rates/binding-quotes.ts';
import { feeWithMarkup } from '../rates/binding-terms.ts';
import type { QuoteToken } from '../rates/quote-token.ts';
import { amountFault, type Pair, type Quote, type RateService, unavailable } from '../rates/rate-service.ts';
import { annotate } from '../telemetry/tracing.ts';
import {
  type Destination,
  destination,
  destinationWarnings,
  ownAddress,
  type SentDestination,
  type Side,
  type Warning,
} from './destination.ts';
import { IdempotencyKey } from './idempotency-key.entity.ts';
import { type FixedHeadroom, fixedExposure, type OpenOrders, type OrderHeadroom } from './open-orders.ts';
import { type OnBatch, OrderBatches } from './order-batches.ts';
import {
  addressPlaceholder,
  type CreateOutcome,
  createStatement,
  type OrderView,
  ownDestinations,
  termsOrders,
} from './order-statements.ts';
import {
  completed,
  isWhole,
  minAmountToFault,
  mismatches,
  type OrderOptions,
  optionFaults,
  type PairMembers,
  type QuotedMembers,
  type TakenBy,
  type TermsRow,
  takenError,
  termsRow,
} from './order-terms.ts';
import { orderNamed, randomShortId } from './short-id.ts';

/** The destinations of an order. */
interface Destinations {
  readonly recipientAddress: string;
  readonly recipientAddressTag: string | null;
  readonly refundAddress: string | null;
  readonly refundAddressTag: string | null;
}

/** A partner's request for an order. */
export interface PlainOrder extends Destinations, PairMembers {}

/** A request with optional members. One that names a quote may leave out what the quote says. */
export interface OrderWithOptions extends Destinations, QuotedMembers {
  readonly options: OrderOptions;
}

export type CreateOrder = (PlainOrder & { readonly options?: null }) | OrderWithOptions;

/** Makes a create repeatable: the partner's idempotency key, and a hash of the whole request. */
export interface IdempotentCreate {
  readonly key: string;
  /** SHA-256, 32 bytes. */
  readonly fingerprint: Buffer;
}

/** The terms that a create would get, and what the partner should know about it. */
export interface CheckedOrder {
  readonly quote: Quote;
  readonly limits: TwoSidedLimits;
  readonly recipient: Destination;
  readonly refund: Destination | null;
  readonly warnings: readonly Warning[];
}

/** The answer to a create. `body` is the text that the first answer had. */
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
  readonly quotes: BindingQuotes;
  readonly depositWindowSec: number;
  readonly shortIdPrefix: string;
  /** Told of each fixed quote that became an order, and how much it gives more than the market. */
  readonly onQuoteUsed?: (partnerId: string, adverseBps: number) => void;
  readonly onBatch?: OnBatch;
}

const maxDraws = 5;
/** PostgreSQL's lock timeout. Here another create with the same idempotency key holds the lock. */
const lockNotAvailable = '55P03';
const answersKeptMs = 48 * 3_600_000;
/** Stored answers that one statement deletes. */
const forgetBatch = 5_000;

/** The part of an order that is decided without the database. */
interface Plan {
  readonly quote: Quote;
  readonly recipient: Destination;
  readonly refund: Destination | null;
  readonly terms: TermsRow | null;
  readonly adverseBps: number | null;
}

/** What the optional members of a create add to its draft. */
interface Extension {
  readonly terms: TermsRow;
  readonly adverseBps: number | null;
  /** The limits at the terms of a fixed quote. Null where the market's hold. */
  readonly limits: (() => TwoSidedLimits) | null;
}

/** A plan that may be incomplete. The create is refused when there are faults. */
interface Draft {
  readonly quote: Quote | null;
  readonly recipient: Destination | null;
  readonly refund: Destination | null;
  readonly faults: readonly FieldFault[];
  /** The error of the quote, when there is no quote. */
  readonly quoteError: AppError | null;
  /** Null for a create without optional members. */
  readonly extension: Extension | null;
}

/** The quote of a create, or why there is none. */
type Pricing = { readonly quote: Quote } | { readonly error: AppError };

interface Admitted extends Plan {
  readonly fixedRoom: FixedHeadroom | null;
}

/** A float order counts against no fixed cap. */
const noFixedRoom = { usd: null, slot: null, hourUsd: null, dayUsd: null, hourAgo: null, dayAgo: null };

/** Creates and reads exchange orders. */
export class OrderService {
  readonly #options: OrderServiceOptions;
  readonly #statements: PreparedStatements;
  readonly #batches: OrderBatches;

  constructor(options: OrderServiceOptions) {
    this.#options = options;
    this.#statements = new PreparedStatements(options.orm);
    this.#batches = new OrderBatches(this.#statements, options.onBatch);
  }

  /**
   * Creates an order with its own deposit address, in one statement. `write` renders the answer,
   * which is stored beside a repeatable order. A repetition gets the stored text and creates
   * nothing.
   *
   * @throws AppError 422 naming every fault, or that the partner's caps are reached.
   * @throws AppError 401 or 403 when the key or the partner was ended meanwhile.
   * @throws AppError 409 while another create with the same idempotency key is in progress.
   * @throws AppError 409 when another order has the same quote or external id.
   * @throws AppError 503 when no deposit address is ready.
   */
  async create(
    input: CreateOrder,
    caller: Caller,
    repeatable: IdempotentCreate | null,
    write: (order: OrderView) => string,
  ): Promise<CreatedOrder> {
    const { openOrders } = this.#options;
    let plan: Plan;
    let room: OrderHeadroom;
    try {
      const draft = input.options ? await this.#extendedDraft(input, caller) : this.#draft(input, caller);
      const { quote, recipient, refund, faults, extension } = draft;
      if (faults.length > 0 || !quote || !recipient) throw await this.#refusalOf(draft);
      plan = { quote, recipient, refund, terms: extension?.terms ?? null, adverseBps: extension?.adverseBps ?? null };
      room = await openOrders.room(caller.partner, plan.quote, repeatable?.key ?? null);
    } catch (error) {
      // A stored answer is repeated even if the request would now be refused.
      const earlier = repeatable && (await this.#earlier(caller, repeatable));
      if (earlier) return earlier;
      if (repeatable && openOrders.isPending(caller.partner, repeatable.key)) throw inFlight(error);
      // A second use names the first order even if the request would now be refused.
      throw (await this.#takenBy(input, caller)) ?? error;
    }
    let isTaken = false;
    try {
      const created = await this.#draw({ ...plan, fixedRoom: room.fixed }, caller, repeatable, write);
      isTaken = !created.replayed;
      if (isTaken && plan.adverseBps !== null) this.#options.onQuoteUsed?.(caller.partner.id, plan.adverseBps);
      return created;
    } finally {
      room.close(isTaken);
    }
  }

  /** Lists every fault that `create` would refuse in the members of a request. Null without one. */
  async refusal(input: CreateOrder, caller: Caller): Promise<AppError | null> {
    const draft = input.options ? await this.#extendedDraft(input, caller) : this.#draft(input, caller);
    const own = await this.#ownAddressFaults(draft);
    return draft.faults.length + own.length > 0 ? refusalOf(draft, own) : null;
  }

  /**
   * Judges a create, and neither stores nor reserves anything. A deposit address is not looked for.
   *
   * @throws AppError as `create` would, but for the end of the key or the partner meanwhile.
   */
  async check(input: CreateOrder, caller: Caller): Promise<CheckedOrder> {
    const draft = input.options ? await this.#extendedDraft(input, caller) : this.#draft(input, caller);
    const { quote, recipient, refund, faults } = draft;
    // At the prices of the quote: before anything is waited for.
    const limits = this.#limitsOf(draft);
    const taken = await this.#takenBy(input, caller);
    if (taken) throw taken;
    const own = await this.#ownAddressFaults(draft);
    if (faults.length + own.length > 0 || !quote || !recipient) throw refusalOf(draft, own);
    if (!limits) throw unavailable(quote);
    await this.#options.openOrders.check(caller.partner, quote);
    return { quote, limits, recipient, refund, warnings: orderWarnings(input, quote, { recipient, refund }) };
  }

  /**
   * Finds the partner's order by UUID or short id, in upper or lower case.
   *
   * @throws AppError order_not_found: the same for an unknown order, another partner's order, and
   * malformed text.
   */
  async find(text: string, partnerId: string): Promise<OrderView> {
    const named = orderNamed(text);
    if (!named) throw orderNotFound();
    const order = await this.#batches.find({ partner: partnerId, id: null, shortId: null, ...named });
    if (!order) throw orderNotFound();
    annotate({ 'order.id': order.id });
    return order;
  }

  /**
   * Deletes stored answers older than 48 hours. Partners are promised 24. Each batch is its own
   * transaction, so that the backlog of a busy day is deleted too.
   *
   * @returns the number of deleted answers.
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

  /** Finds the order that used a quote of the partner. Null for an open quote. */
  async orderOfQuote({ partnerId, nonce }: QuoteToken): Promise<string | null> {
    const { quoteOrder = null } = await this.#taken(partnerId, Buffer.from(nonce, 'hex'), null);
    return quoteOrder;
  }

  /**
   * Decides a create with optional members. A quote fills in what the request leaves out, and
   * replaces the market's terms.
   */
  async #extendedDraft(input: OrderWithOptions, caller: Caller): Promise<Draft> {
    const { quotes } = this.#options;
    const { options } = input;
    const { quoteId } = options;
    const markupBps = options.markupBps ?? 0;
    const faults = [...quotes.optionFaults({ markupBps, country: options.country }), ...optionFaults(options)];
    const quoted = quoteId === null ? null : quotes.open(quoteId, caller.partner.id);
    const unreadable = quoteId !== null && !quoted ? invalidQuote() : null;
    if (quoted) faults.push(...mismatches(input, options, quoted));
    const whole = quoted ? completed(input, quoted) : input;
    if (!isWhole(whole)) {
      return { ...nothing, faults: [...faults, ...(unreadable?.extras.faults ?? [])], quoteError: unreadable };
    }
    let pricing: Pricing | null = unreadable && { error: unreadable };
    let adverseBps: number | null = null;
    let limits: Extension['limits'] = null;
    if (quoted) {
      try {
        const honoured = await quotes.honour(quoted);
        adverseBps = honoured.adverseBps;
        limits = honoured.limits;
        pricing = { quote: honoured.quote };
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        pricing = { error };
      }
    }
    const draft = this.#draft(whole, caller, markupBps, pricing);
    const tooSmall = draft.quote && minAmountToFault(options, draft.quote);
    const terms = termsRow(options, quoted);
    const all = [...faults, ...draft.faults, ...(tooSmall ? [tooSmall] : [])];
    return { ...draft, faults: all, extension: { terms, adverseBps, limits } };
  }

  /** The refusal of a create whose quote or external id an order already has. Null without one. */
  async #takenBy({ options }: CreateOrder, { partner }: Caller): Promise<AppError | null> {
    const quoted = options?.quoteId ? this.#options.quotes.open(options.quoteId, partner.id) : null;
    const externalId = options?.externalId ?? null;
    if (!quoted && externalId === null) return null;
    return takenError(await this.#taken(partner.id, quoted && Buffer.from(quoted.token.nonce, 'hex'), externalId));
  }

  async #taken(partner: string, quoteNonce: Buffer | null, externalId: string | null): Promise<TakenBy> {
    const [taken] = await this.#statements.run<TakenBy>(termsOrders, { partner, quoteNonce, externalId });
    return taken ?? {};
  }

  /**
   * Decides everything that needs no database: the quote and both addresses. Collects all faults. A
   * check that an earlier fault makes impossible is skipped; all others run.
   */
  #draft(input: PlainOrder, caller: Caller, markupBps = 0, pricing: Pricing | null = null): Draft {
    const { rates } = this.#options;
    const faults: FieldFault[] = [];
    const { pair, from, to } = rates.sides(input, faults);
    let quote: Quote | null = null;
    let quoteError: AppError | null = null;
    if (pair) {
      try {
        quote = pricing ? pricedBy(pricing) : this.#marketQuote(pair, input, caller, markupBps);
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        quoteError = error;
        const { kind, detail } = error;
        faults.push(...(error.extras.faults ?? [{ field: 'coin_to', kind, detail }]));
      }
    }
    const amount = quote ? null : amountFault(input.amountFrom, from, 'amount_from');
    if (amount && !faults.some(({ field }) => field === amount.field)) faults.push(amount);
    // The destination of an exchange into the same currency cannot be judged, because either side
    // may be the mistake.
    const isSame = to !== null && from === to;
    const recipientOn = isSame ? nowhere : sideOf('to', to, input.networkTo, faults);
    const recipient = destination(sentRecipient(input), recipientOn, faults);
    const sent = sentRefund(input);
    let refund: Destination | null = null;
    if (sent) {
      const refundOn = sideOf('from', from, input.networkFrom, faults);
      refund = destination(sent, refundOn, faults);
    } else if (input.refundAddressTag !== null) {
      const detail = 'refund_address_tag needs a refund_address';
      faults.push({ field: 'refund_address_tag', kind: 'invalid_tag', detail });
    }
    return { quote, recipient, refund, faults, quoteError, extension: null };
  }

  /** The quote of a create without a binding quote, with the partner's markup in the fee. */
  #marketQuote(pair: Pair, { rateType, amountFrom }: PlainOrder, { partner }: Caller, markupBps: number): Quote {
    const { rates } = this.#options;
    const { float, fixed } = rates.pricing(partner);
    const pricing = { float: feeWithMarkup(float, markupBps), fixed: feeWithMarkup(fixed, markupBps) };
    return rates.quotePair(pair, rateType, amountFrom, pricing, 'amount_from');
  }

  /** The limits of a draft, at the same prices and fee as its amount. Null without a quote. */
  #limitsOf({ quote, extension }: Draft): TwoSidedLimits | null {
    if (!quote) return null;
    const { rateType, feeRate } = quote;
    return extension?.limits?.() ?? this.#options.rates.limits(quote, rateType, { float: feeRate, fixed: feeRate });
  }

  async #refusalOf(draft: Draft): Promise<AppError> {
    return refusalOf(draft, await this.#ownAddressFaults(draft));
  }

  /**
   * Finds the gateway's own addresses in a create that is refused. For other creates the creating
   * statement finds them.
   */
  async #ownAddressFaults({ recipient, refund }: Draft): Promise<FieldFault[]> {
    if (!recipient && !refund) return [];
    const [own] = await this.#statements.run<Pick<CreateOutcome, 'ownRecipient' | 'ownRefund'>>(ownDestinations, {
      recipientForms: recipient?.keyForms ?? null,
      refundForms: refund?.keyForms ?? null,
    });
    return own ? ownAddressFaults(own) : [];
  }

  /** Creates the planned order. Draws another short id when the random one is taken. */
  async #draw(
    plan: Admitted,
    caller: Caller,
    repeatable: IdempotentCreate | null,
    write: (order: OrderView) => string,
  ): Promise<CreatedOrder> {
    const place = await this.#options.addresses.next(plan.quote.from.network);
    for (let draw = 1; draw <= maxDraws; draw++) {
      try {
        return await this.#insert(plan, place, caller, repeatable, write);
      } catch (error) {
        const constraint = brokenConstraint(error);
        if (constraint === 'exchange_order_short_id_key') continue;
        // The first of two equal creates may have taken the last room. The second then returns its
        // answer.
        const mayRepeat = error instanceof AppError && error.kind === 'fixed_exposure_limit';
        if (repeatable && (constraint === 'idempotency_key_pkey' || mayRepeat)) {
          const winner = await this.#earlier(caller, repeatable);
          if (winner) return winner;
        }
        if (plan.terms && (constraint?.startsWith('order_terms_') || mayRepeat)) {
          const { quoteNonce, externalId } = plan.terms;
          const earlier = repeatable && (await this.#earlier(caller, repeatable));
          if (earlier) return earlier;
          throw takenError(await this.#taken(caller.partner.id, quoteNonce, externalId)) ?? error;
        }
        if ((repeatable || plan.terms) && sqlState(error) === lockNotAvailable) throw inFlight(error);
        throw error;
      }
    }
    throw new Error(`${maxDraws} short ids in a row were taken`);
  }

  /**
   * Builds the partner's view of the order. `addressPlaceholder` stands for an address that is
   * still to be taken from the pool.
   */
  #view({ quote, recipient }: Admitted, place: DepositPlace): OrderView {
    const { clock, depositWindowSec, shortIdPrefix } = this.#options;
    const now = clock.now();
    return {
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
      depositAddress: place.address ?? addressPlaceholder,
      depositAddressTag: place.tag,
      recipientAddress: recipient.address,
      depositTxid: null,
      depositConfirmations: null,
      depositConfirmationsRequired: quote.from.minConfirmations,
      payoutTxid: null,
    };
  }

  async #insert(
    admitted: Admitted,
    place: DepositPlace,
    caller: Caller,
    repeatable: IdempotentCreate | null,
    write: (order: OrderView) => string,
  ): Promise<CreatedOrder> {
    const { quote, recipient, refund, terms, fixedRoom } = admitted;
    const order = this.#view(admitted, place);
    const body = write(order);
    const statement = createStatement(place.address === null, repeatable !== null, terms !== null);
    const outcome = await this.#batches.create(statement, {
      keyId: caller.keyId,
      partner: caller.partner.id,
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
      ...(fixedRoom ?? noFixedRoom),
      ...terms,
    });
    if (!outcome?.live) throw new AppError('unauthorized', 'this API key has been revoked or has expired');
    if (!outcome.active) throw partnerInactive();
    const { earlierOrder, earlierFingerprint, earlierBody, ownRecipient, ownRefund, address } = outcome;
    if (repeatable && earlierOrder && earlierFingerprint && earlierBody) {
      return replay(repeatable, { orderId: earlierOrder, fingerprint: earlierFingerprint, body: earlierBody });
    }
    const taken = takenError(outcome);
    if (taken) throw taken;
    const faults = ownAddressFaults({ ownRecipient, ownRefund });
    if (faults.length > 0) throw errorFromFaults(faults);
    if (!outcome.hasRoom && fixedRoom) throw fixedExposure(fixedRoom);
    if (address === null) throw noAddress(quote.from.network);
    annotate({ 'order.id': order.id });
    return { orderId: order.id, body: body.replace(addressPlaceholder, address), replayed: false };
  }

  /**
   * Reads the stored answer to an earlier create with the same idempotency key. Null without one.
   */
  async #earlier(caller: Caller, repeatable: IdempotentCreate): Promise<CreatedOrder | null> {
    const partnerId = caller.partner.id;
    const stored = await this.#options.orm.em.fork().findOne(IdempotencyKey, { partnerId, key: repeatable.key });
    return stored ? replay(repeatable, stored) : null;
  }
}

/**
 * Returns the stored answer to the same request.
 *
 * @throws AppError idempotency_key_reused when the key belongs to another request.
 */
function replay(
  repeatable: IdempotentCreate,
  { orderId, fingerprint, body }: { orderId: string; fingerprint: Buffer; body: string },
): CreatedOrder {
  if (fingerprint.equals(repeatable.fingerprint)) return { orderId, body, replayed: true };
  const detail = 'this Idempotency-Key was used with another request; choose a new key for a new order';
  throw new AppError('idempotency_key_reused', detail);
}

/** The answer for every order that the caller cannot see. It does not tell the reason. */
export function orderNotFound(): AppError {
  return new AppError('order_not_found', 'there is no such order');
}

/** The answer to a partner whose account is inactive. */
export function partnerInactive(): AppError {
  return new AppError('partner_inactive', 'this partner account is not active; contact support');
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

function refusalOf({ faults, quoteError }: Draft, more: readonly FieldFault[]): AppError {
  if (quoteError && faults.length + more.length === 1) return quoteError;
  return errorFromFaults([...faults, ...more], quoteError?.extras);
}

/** A draft of which nothing is known but its faults. */
const nothing: Draft = {
  quote: null,
  recipient: null,
  refund: null,
  faults: [],
  quoteError: null,
  extension: null,
};

function pricedBy(pricing: Pricing): Quote {
  if ('error' in pricing) throw pricing.error;
  return pricing.quote;
}

function sentRecipient({ recipientAddress, recipientAddressTag }: Destinations): SentDestination {
  const fields = { address: 'recipient_address', tag: 'recipient_address_tag' };
  return { fields, address: recipientAddress, tag: recipientAddressTag };
}

function sentRefund({ refundAddress, refundAddressTag }: Destinations): SentDestination | null {
  const fields = { address: 'refund_address', tag: 'refund_address_tag' };
  return refundAddress === null ? null : { fields, address: refundAddress, tag: refundAddressTag };
}

/** What may be a mistake in a create that is accepted. */
function orderWarnings(
  input: Destinations,
  { from, to }: Pair,
  { recipient, refund }: Pick<Plan, 'recipient' | 'refund'>,
): Warning[] {
  const warnings = destinationWarnings(sentRecipient(input), to.network, recipient);
  const sent = sentRefund(input);
  if (sent && refund) return [...warnings, ...destinationWarnings(sent, from.network, refund)];
  const detail = 'there is no refund_address; if the exchange fails, the deposit waits until support has one';
  return [...warnings, { field: 'refund_address', code: 'no_refund_address', detail }];
}

const nowhere: Side = { currency: null, network: null };

function sideOf(side: 'from' | 'to', currency: Currency | null, network: string, faults: readonly FieldFault[]): Side {
  return faults.some(({ field }) => field === `network_${side}`) ? nowhere : { currency, network };
}
