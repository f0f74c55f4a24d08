import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import { v7 as uuidv7 } from 'uuid';
import { type KeyCaller, partnerInactive } from '../accounts/partners/authenticator.ts';
import type { Clock } from '../base/clock.ts';
import { brokenConstraint, sqlState } from '../base/db/database.ts';
import { sql } from '../base/db/sql.ts';
import { AppError, errorFromFaults, type FieldFault, type TwoSidedLimits } from '../base/errors.ts';
import type { PartnerQueues } from '../base/limits/partner-queues.ts';
import { type Big, formatDecimal } from '../base/money.ts';
import { annotate } from '../base/telemetry/tracing.ts';
import { type DepositAddresses, type DepositPlace, noAddress } from '../chains/addresses/deposit-addresses.ts';
import type { BindingQuotes } from '../market/rates/binding-quotes.ts';
import type { QuoteToken } from '../market/rates/quote-token.ts';
import { type Quote, type RateService, unavailable } from '../market/rates/rate-service.ts';
import { type Destination, ownAddress, type Warning } from './destination.ts';
import {
  earlierAnswer,
  inFlight,
  keyReused,
  lockNotAvailable,
  type Repeatable,
  type StoredAnswer,
  sameRequest,
} from './idempotency.ts';
import type { OpenOrders, OrderHeadroom } from './open-orders.ts';
import { type OnBatch, OrderBatches } from './order-batches.ts';
import { type CreateOrder, type Draft, OrderDrafts, orderWarnings } from './order-drafts.ts';
import type { OrderPages } from './order-pages.ts';
import {
  addressPlaceholder,
  type CreateOutcome,
  capOfAll,
  type OrderView,
  ownDestinations,
  termsOrders,
} from './order-statements.ts';
import { type TakenBy, type TermsRow, takenError } from './order-terms.ts';
import { randomBytesAhead } from './random-bytes.ts';
import { randomShortId } from './short-id.ts';

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
  readonly isReplayed: boolean;
}

interface OrderCreationOptions {
  readonly orm: MikroORM;
  readonly clock: Clock;
  readonly rates: RateService;
  readonly addresses: DepositAddresses;
  readonly openOrders: OpenOrders;
  readonly quotes: BindingQuotes;
  readonly pages: Pick<OrderPages, 'make'>;
  readonly depositWindowSec: number;
  readonly shortIdPrefix: string;
  /** The turns of partners at the connections. Batches share theirs and take none. */
  readonly queues: PartnerQueues;
  /**
   * Called for each fixed quote that became an order, with how much more than the market it gives,
   * as a fraction.
   */
  readonly onQuoteUsed?: (partnerId: string, adverse: Big) => void;
  readonly onBatch?: OnBatch;
}

const maxDraws = 5;
const answersKeptMs = 48 * 3_600_000;
/** Stored answers that one statement deletes. */
const forgetBatch = 5_000;

/** The part of an order that is decided without the database. */
interface Plan {
  readonly quote: Quote;
  readonly recipient: Destination;
  readonly refund: Destination | null;
  readonly terms: TermsRow | null;
  /** As in `HonouredQuote`. Null without a binding quote. */
  readonly adverse: Big | null;
}

interface Admitted extends Plan {
  readonly room: OrderHeadroom;
}

/** Creates exchange orders. */
export class OrderCreation {
  readonly #options: OrderCreationOptions;
  readonly #em: EntityManager;
  readonly #batches: OrderBatches;
  readonly #drafts: OrderDrafts;

  constructor(options: OrderCreationOptions) {
    this.#options = options;
    this.#em = options.orm.em.fork();
    this.#batches = new OrderBatches(this.#em, options.onBatch);
    this.#drafts = new OrderDrafts(options.rates, options.quotes);
  }

  /**
   * Creates an order with its own deposit address, in one statement. `write` renders the answer.
   * It is stored when the request is repeatable. A repetition gets the stored text and creates
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
    caller: KeyCaller,
    repeatable: Repeatable | null,
    write: (order: OrderView) => string,
  ): Promise<CreatedOrder> {
    const { openOrders } = this.#options;
    let plan: Plan;
    let room: OrderHeadroom;
    try {
      const drafting = this.#drafts.draft(input, caller);
      const draft = drafting instanceof Promise ? await drafting : drafting;
      const { quote, recipient, refund, faults, extension } = draft;
      if (faults.length > 0 || !quote || !recipient) throw await this.#refusalOf(draft, caller);
      plan = { quote, recipient, refund, terms: extension?.terms ?? null, adverse: extension?.adverse ?? null };
      room = await openOrders.room(caller.partner, plan.quote, plan.adverse, repeatable?.key ?? null);
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
      const created = await this.#draw({ ...plan, room }, caller, repeatable, write);
      isTaken = !created.isReplayed;
      if (isTaken && plan.adverse) this.#options.onQuoteUsed?.(caller.partner.id, plan.adverse);
      return created;
    } finally {
      room.close(isTaken);
    }
  }

  /** Lists every fault that `create` would refuse in the members of a request. Null without one. */
  async refusal(input: CreateOrder, caller: KeyCaller): Promise<AppError | null> {
    const drafting = this.#drafts.draft(input, caller);
    const draft = drafting instanceof Promise ? await drafting : drafting;
    const own = await this.#ownAddressFaults(draft, caller);
    return draft.faults.length + own.length > 0 ? refusalOf(draft, own) : null;
  }

  /**
   * Judges a create, and neither stores nor reserves anything. A deposit address is not looked for.
   *
   * @throws AppError as `create` would, except when the key or the partner ended meanwhile.
   */
  async check(input: CreateOrder, caller: KeyCaller): Promise<CheckedOrder> {
    const drafting = this.#drafts.draft(input, caller);
    const draft = drafting instanceof Promise ? await drafting : drafting;
    const { quote, recipient, refund, faults } = draft;
    // At the prices of the quote: before anything is waited for.
    const limits = this.#drafts.limits(draft);
    const taken = await this.#takenBy(input, caller);
    if (taken) throw taken;
    const own = await this.#ownAddressFaults(draft, caller);
    if (faults.length + own.length > 0 || !quote || !recipient) throw refusalOf(draft, own);
    if (!limits) throw unavailable(quote);
    await this.#options.openOrders.check(caller.partner, quote, draft.extension?.adverse ?? null);
    return { quote, limits, recipient, refund, warnings: orderWarnings(input, quote, { recipient, refund }) };
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
      const { length } = await sql(
        em,
        `delete from idempotency_key
          where ctid = any (array(select ctid from idempotency_key where created_at < ? limit ?)) returning 1`,
        [before, forgetBatch],
      );
      forgotten += length;
      if (length < forgetBatch) return forgotten;
    }
  }

  /** Finds the order that used a quote of the partner. Null for an open quote. */
  async orderOfQuote({ partnerId, nonce }: QuoteToken): Promise<string | null> {
    const { quoteOrder = null } = await this.#taken(partnerId, Buffer.from(nonce, 'hex'), null);
    return quoteOrder;
  }

  /** The refusal of a create whose quote or external id an order already has. Null without one. */
  async #takenBy({ options }: CreateOrder, { partner }: KeyCaller): Promise<AppError | null> {
    const quoted = options?.quoteId ? this.#options.quotes.open(options.quoteId, partner.id) : null;
    const externalId = options?.externalId ?? null;
    if (!quoted && externalId === null) return null;
    return takenError(await this.#taken(partner.id, quoted && Buffer.from(quoted.token.nonce, 'hex'), externalId));
  }

  async #taken(partner: string, quoteNonce: Buffer | null, externalId: string | null): Promise<TakenBy> {
    const [taken] = await this.#options.queues.work(partner, () =>
      sql<TakenBy>(this.#em, termsOrders, { partner, quoteNonce, externalId }),
    );
    return taken ?? {};
  }

  async #refusalOf(draft: Draft, caller: KeyCaller): Promise<AppError> {
    return refusalOf(draft, await this.#ownAddressFaults(draft, caller));
  }

  /**
   * Finds the gateway's own addresses in a create that is refused. For other creates the creating
   * statement finds them.
   */
  async #ownAddressFaults({ recipient, refund }: Draft, { partner }: KeyCaller): Promise<FieldFault[]> {
    if (!recipient && !refund) return [];
    const [own] = await this.#options.queues.work(partner.id, () =>
      sql<Pick<CreateOutcome, 'ownRecipient' | 'ownRefund'>>(this.#em, ownDestinations, {
        recipientForms: recipient?.keyForms ?? null,
        refundForms: refund?.keyForms ?? null,
      }),
    );
    return own ? ownAddressFaults(own) : [];
  }

  /** Creates the planned order. Draws another short id when the random one is taken. */
  async #draw(
    plan: Admitted,
    caller: KeyCaller,
    repeatable: Repeatable | null,
    write: (order: OrderView) => string,
  ): Promise<CreatedOrder> {
    const place = await this.#options.addresses.next(plan.quote.from.network);
    for (let draw = 1; draw <= maxDraws; draw++) {
      try {
        const created = await this.#insert(plan, place, caller, repeatable, write);
        if (created) return created;
      } catch (thrown) {
        const constraint = brokenConstraint(thrown);
        const error = constraint === capOfAll ? plan.room.refusalOfAll() : thrown;
        // Another create has taken the short id at the same moment.
        if (constraint === 'exchange_order_short_id_key') continue;
        // The first of two equal creates may have taken the last room. The second then returns its
        // answer.
        const mayRepeat = error instanceof AppError && ['fixed_exposure_limit', 'quote_expired'].includes(error.kind);
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
      id: newId(),
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

  /** Null when the random short id is taken. Nothing was made then. */
  async #insert(
    admitted: Admitted,
    place: DepositPlace,
    caller: KeyCaller,
    repeatable: Repeatable | null,
    write: (order: OrderView) => string,
  ): Promise<CreatedOrder | null> {
    const { quote, recipient, refund, terms, room } = admitted;
    const order = this.#view(admitted, place);
    const body = write(order);
    const page = caller.partner.orderPage ? this.#options.pages.make(order.id) : null;
    const outcome = await this.#batches.create({
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
      addressId: newId(),
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
      ...room.fixed,
      ...terms,
      ...page,
    });
    if (!outcome?.live) throw new AppError('unauthorized', 'this API key has been revoked or has expired');
    if (!outcome.active) throw partnerInactive();
    const { earlierOrder = null, earlierFingerprint, earlierBody, ownRecipient, ownRefund, address } = outcome;
    if (repeatable && earlierFingerprint && earlierBody) {
      const stored = { orderId: earlierOrder, fingerprint: earlierFingerprint, body: earlierBody };
      return createdBefore(sameRequest(repeatable, stored));
    }
    const taken = takenError(outcome);
    if (taken) throw taken;
    const faults = ownAddressFaults({ ownRecipient, ownRefund });
    if (faults.length > 0) throw errorFromFaults(faults);
    if (outcome.isShortIdTaken) return null;
    if (!outcome.hasRoom && room.fixed) throw room.refusal();
    if (address === null) throw noAddress(quote.from.network);
    annotate({ 'order.id': order.id });
    return { orderId: order.id, body: body.replace(addressPlaceholder, address), isReplayed: false };
  }

  /**
   * Reads the stored answer to an earlier create with the same idempotency key. Null without one.
   */
  async #earlier(caller: KeyCaller, repeatable: Repeatable): Promise<CreatedOrder | null> {
    const { orm, queues } = this.#options;
    const { id } = caller.partner;
    const earlier = await queues.work(id, () => earlierAnswer(orm.em.fork(), id, repeatable));
    return earlier && createdBefore(earlier);
  }
}

/** The answer to an earlier create. Only a request of another kind has stored no order. */
function createdBefore({ orderId, body }: StoredAnswer): CreatedOrder {
  if (orderId === null) throw keyReused();
  return { orderId, body, isReplayed: true };
}

/** A UUIDv7 of random bytes that were fetched ahead. */
function newId(): string {
  return uuidv7({ random: randomBytesAhead(16) });
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
