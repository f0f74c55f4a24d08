// Generated from web/console/operations.graphql by npm run generate. Do not edit.
/* eslint-disable */
/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { DocumentTypeDecoration } from '@graphql-typed-document-node/core';
/** How amounts are written. */
export type AmountForm =
  /** As JSON numbers with exactly their digits. */
  | 'NUMBER'
  /** As decimal strings. */
  | 'STRING';

/** Why staff must look at an item. */
export type AttentionKind =
  /** A partner did not say in time what to do with a deposit, and the order was not refunded. */
  | 'ACTION_OVERDUE'
  /** The fixed orders of a partner cost more than they earn. Its fixed caps have fallen to a tenth, or to zero. */
  | 'ADVERSE_PARTNER'
  /** The used quotes of a partner exceed the market by more than its fixed fee. Its fixed quotes hold for 15 seconds. */
  | 'ADVERSE_QUOTES'
  /** A chain is not read any further. */
  | 'CHAIN_PROBLEM'
  /** The account of an order is in debit, or its payments would bring it there: a deposit that was used is gone. */
  | 'CLIENT_DEBIT'
  /** A month of partners ended more than an hour ago and is open: the books were not compared since, or differ. */
  | 'COMMISSION_NOT_CLOSED'
  /** The gateway does nothing more with a deposit until staff decide. */
  | 'DEPOSIT_PROBLEM'
  /** An order failed, and staff decide how it ends. */
  | 'FAILED_ORDER'
  /** An order is held. */
  | 'HELD_ORDER'
  /** An order is long overdue for its next step, or cannot be settled. */
  | 'OVERDUE_ORDER'
  /** A payment is blocked. */
  | 'PAYMENT_PROBLEM'
  /** The state of a payment is unknown. */
  | 'PAYMENT_UNKNOWN'
  /** Payouts of one asset, or of all assets, are held. */
  | 'PAYOUT_HOLD'
  /** Payments wait for room in a limit on automatic payouts. */
  | 'PAYOUT_LIMIT'
  /** A proposal waits for a second member. */
  | 'PROPOSAL_OPEN'
  /** Deposits without an order, each below the minimum of its coin, came to a chain on one day. It ends by itself after two days. */
  | 'SMALL_DEPOSITS'
  /** A change of staff waits for a second admin. */
  | 'STAFF_CHANGE_OPEN'
  /** The chain or the token does not let coins of deposits be swept. They are tried again, hourly at last. */
  | 'SWEEP_REFUSED'
  /** An exchange is undecided long after its deadline. */
  | 'TRADE_STUCK'
  /** A transfer to an address of ours could not become a deposit. The scan went on without it. */
  | 'TRANSFER_LEFT_OUT'
  /** Coins between an exchange and a hot wallet did not all arrive, or arrived after their end. */
  | 'TRANSFER_SHORT'
  /** Coins are on their way between an exchange and a hot wallet for more than two hours. */
  | 'TRANSFER_SLOW'
  /** An exchange tells a state of a movement that the gateway does not know. */
  | 'TRANSFER_UNKNOWN'
  /** An exchange lastingly holds another amount of a coin than the books say. */
  | 'VENUE_DIFFERENCE'
  /** A withdrawal or deposit at an exchange is none of ours. A withdrawal also holds trades of its coin. */
  | 'VENUE_FOREIGN'
  /** An exchange left a coin at the venue that cannot be sold or bought back within its worst price. It waits for the market or for orderVenuePrice. */
  | 'VENUE_POSITION'
  /** An account at an exchange is read, and two members have not taken its balances into the books. */
  | 'VENUE_UNOPENED'
  /** A hot wallet holds too little to pay for long, or more than it should. */
  | 'WALLET_LEVEL';

/** What an action did with a proposal. */
export type AuditStep =
  /** A second member approved it, and it was carried out. */
  | 'APPROVED'
  /** The member proposed it. Nothing happened yet. */
  | 'PROPOSED'
  /** A second member rejected it. */
  | 'REJECTED'
  /** Its own member withdrew it. */
  | 'WITHDRAWN';

/** Another address of a partner's commission. */
export type CommissionAddressRequest = {
  /** The address. */
  address: string;
  /** Coin. */
  coin: string;
  /** Network of the coin. */
  network: string;
  /** The partner has lost the address in effect: nothing is paid to it while this one waits. */
  oldIsLost?: boolean;
  /** The partner. */
  partnerId: string | number;
  /** Tag or memo of the address. */
  tag?: string | null | undefined;
};

/** A correction of a partner's commission. */
export type CommissionCorrection = {
  /** Positive for the partner, negative to take from it. */
  amount: string;
  /** Coin. */
  coin: string;
  /** The entry of the partner that the correction is about. */
  corrects?: string | number | null | undefined;
  /** Network of the coin. */
  network: string;
  /** The partner. */
  partnerId: string | number;
};

/** Kind of an entry of a partner's commission. */
export type CommissionEntryKind =
  /** The markup of a completed order. */
  | 'ACCRUAL'
  /** One of two entries, out of one asset and into another. */
  | 'CONVERSION'
  /** Two members of staff decided it. */
  | 'CORRECTION'
  /** The payment of an earlier month. */
  | 'PAYMENT';

/** State of a partner's month. */
export type CommissionState =
  /** Nothing is due, because the balance is not positive. */
  | 'CLOSED'
  /** Entries are still added. */
  | 'OPEN'
  /** It was paid. */
  | 'PAID'
  /** It is to be paid. */
  | 'PAYABLE'
  /** The balance is below the minimum, and counts in the next month. */
  | 'ROLLED';

/** Switches of a currency. An absent one stays as it is. */
export type CurrencySwitchesInput = {
  /** Whether partners see the currency. */
  isActive?: boolean | null | undefined;
  /** Whether new orders may deposit it. */
  isDepositEnabled?: boolean | null | undefined;
  /** Whether new orders may pay it out. */
  isWithdrawEnabled?: boolean | null | undefined;
};

/** Limits, fee and confirmations of a currency. An absent one stays as it is. */
export type CurrencyTermsInput = {
  /** Largest amount of an order, in the coin's units. */
  maxAmount?: string | null | undefined;
  /** Smallest amount of an order, in the coin's units. */
  minAmount?: string | null | undefined;
  /** Confirmations that a deposit needs. */
  minConfirmations?: number | null | undefined;
  /** Network fee that the user pays for a payout, in the coin's units. */
  networkFee?: string | null | undefined;
};

/** State of a webhook delivery. */
export type DeliveryState =
  /** The receiver took it. */
  | 'DELIVERED'
  /** It had its last attempt. */
  | 'FAILED'
  /** An attempt is before it. */
  | 'PENDING';

/** A deposit of no order, and the order that gets it. */
export type DepositAssignInput = {
  /** The deposit. */
  depositId: string | number;
  /** What proves whose deposit it is, 1 to 4000 characters. */
  evidence: string;
  /** The order: its id or short id. */
  orderId: string | number;
};

/** Why the gateway does nothing more with a deposit by itself. */
export type DepositProblem =
  /** It does not cover the fee of its own refund. */
  | 'BELOW_FEE'
  /** The partner set the refund address after the create, and such refunds are above their limit (`LATE_REFUND_LIMIT_USD`). */
  | 'LATE_REFUND_LIMIT'
  /** It replaces, wholly or in part, a used deposit that disappeared. It is refunded when that deposit returns. */
  | 'NETTED'
  /** It would be refunded, and the order has no refund address. */
  | 'NO_REFUND_ADDRESS'
  /** Its refund can never confirm. */
  | 'REFUND_FAILED'
  /** Its order has reached the limit of automatic refunds of extra deposits (`MAX_REFUNDS_PER_ORDER`). */
  | 'TOO_MANY_REFUNDS'
  /** Its tag belongs to no order. */
  | 'UNKNOWN_TAG'
  /** It came by a kind of transaction that pays no order, with any tag. */
  | 'UNUSUAL_KIND';

/** State of a deposit. */
export type DepositState =
  /** Confirmed, and in the ledger. */
  | 'CREDITED'
  /** In the mempool, in no block yet. */
  | 'MEMPOOL'
  /** In a block, with too few confirmations. */
  | 'MINED'
  /** Dropped from the mempool, or removed by a reorg. */
  | 'ORPHANED';

/** Status of a webhook endpoint. */
export type EndpointStatus =
  /** Nothing is sent. */
  | 'DISABLED'
  /** Events are sent. */
  | 'ENABLED';

/** Properties of a key. An absent one stays as it is, or is the default for a new key. */
export type KeyInput = {
  /** Client networks that may use the key, like 203.0.113.0/24; an empty list allows all. */
  allowedCidrs?: Array<string> | null | undefined;
  /** Markup of quotes and creates that name none, in basis points; null for none. */
  defaultMarkupBps?: number | null | undefined;
  /** When it expires; null for never. */
  expiresAt?: string | null | undefined;
  /** Purpose of the key. */
  label?: string | null | undefined;
  /** Permissions of the key; by default all but `orders_manage`. */
  scopes?: Array<KeyScope> | null | undefined;
};

/** Permission of a key. */
export type KeyScope =
  /** Create orders. */
  | 'ORDERS_CREATE'
  /** Change orders: cancel, set the refund address, answer questions, write metadata. */
  | 'ORDERS_MANAGE'
  /** Read orders. */
  | 'ORDERS_READ'
  /** Get quotes with the partner's own pricing. */
  | 'RATES_READ'
  /** Read commission, statements and completed orders. */
  | 'REPORTS_READ'
  /** Force events and outcomes, in a sandbox only. */
  | 'SANDBOX'
  /** Manage webhook endpoints. */
  | 'WEBHOOKS_MANAGE';

/** An account of the ledger. Debits are positive. */
export type LedgerAccount =
  /** Amounts owed to users. */
  | 'CLIENT'
  /** Coins on deposit addresses. */
  | 'DEPOSITS'
  /** The wallets that send payments. */
  | 'HOT'
  /** The parts of the service fees that partners earned. */
  | 'MARKUP'
  /** Fees that chains took. */
  | 'NETWORK_COST'
  /** Network fees that users paid. */
  | 'NETWORK_FEE'
  /** Opening balances of the hot wallets and of accounts at exchanges, and capital put in or taken out later. */
  | 'OPENING'
  /** What a partner earned by its markups. */
  | 'PARTNER'
  /** Service fees that users paid. */
  | 'SERVICE_FEE'
  /** Deposits of no order so far. */
  | 'SUSPENSE'
  /** What the venue gave more or less than was agreed with users, other remainders and costs of trades there, and exchanges that the house took over. */
  | 'TRADING'
  /** Coins on their way between an exchange and a hot wallet. */
  | 'TRANSIT'
  /** What moving coins between an exchange and hot wallets costs. */
  | 'TREASURY_COST'
  /** Remainders too small to send back. */
  | 'UNCLAIMED'
  /** Our balance with the liquidity venue; of an exchange `venue` tells which. */
  | 'VENUE';

/** Limits of a partner. An absent one stays as it is; null restores the gateway's. */
export type LimitsInput = {
  /** Total value of fixed orders created within a day, in US dollars. */
  fixedDayUsd?: number | null | undefined;
  /** Total value of fixed orders created within an hour, in US dollars. */
  fixedExposureUsd?: number | null | undefined;
  /** Total value of float orders that wait or are between deposit and payout, in US dollars. */
  floatExposureUsd?: number | null | undefined;
  /** Whether the fixed caps stay when fixed orders cost more than they earn; null counts as false. */
  keepsFixedCaps?: boolean | null | undefined;
  /** Lists of orders read each minute. */
  lists?: number | null | undefined;
  /** Largest markup in basis points, 0 to 500. It is at least the default markup of each valid key. */
  markupBps?: number | null | undefined;
  /** Orders that may wait for their deposit. */
  openOrders?: number | null | undefined;
  /** Orders created each minute. */
  orders?: number | null | undefined;
  /** For how many seconds binding quotes hold, 15 to 300. More than the gateway's needs a fixed fee above the gateway's. */
  quoteHoldSec?: number | null | undefined;
  /** Requests each minute. */
  requests?: number | null | undefined;
};

/** What a member of a partner's team may do. */
export type MemberRole =
  /** Keys, webhooks and orders. */
  | 'DEVELOPER'
  /** Statements and orders. */
  | 'FINANCE'
  /** All of it, also people and the audit log. */
  | 'OWNER'
  /** Orders. */
  | 'VIEWER';

/** Kind of an action of staff. */
export type OrderActionKind =
  /** Give a deposit without an order to an order, as if it had come with its tag. */
  | 'ASSIGN_DEPOSIT'
  /** Set the address of a partner's commission, which takes effect after 72 hours. */
  | 'COMMISSION_ADDRESS'
  /** End the payment of a month that cannot be paid. Its balance counts in the next month. */
  | 'COMMISSION_CANCEL'
  /** Add to a partner's commission, or take from it. */
  | 'COMMISSION_CORRECT'
  /** Hold the payment of a partner's month. */
  | 'COMMISSION_HOLD'
  /** Pay a month of a partner now, also below the minimum. */
  | 'COMMISSION_PAY'
  /** End such a hold. */
  | 'COMMISSION_RELEASE'
  /** Hold the order: it takes no further step and sends no payment. */
  | 'HOLD'
  /** End a payout or refund that was never signed. */
  | 'MARK_FAILED'
  /** Send a deposit, or the rest of one, to an address. */
  | 'REFUND'
  /** End a hold. */
  | 'RELEASE'
  /** End a hold of payouts. */
  | 'RESUME_PAYOUTS'
  /** Continue the payout of a failed order. */
  | 'RETRY_PAYOUT'
  /** Say what an entry of an exchange is that the gateway did not make. */
  | 'VENUE_CLASSIFY'
  /** Take the balances of the account at an exchange into the books. */
  | 'VENUE_OPENING'
  /** Set the worst price for trading the rest that an exchange left at the venue. */
  | 'VENUE_PRICE';

/** State of an action of staff. */
export type OrderActionState =
  /** It was carried out. */
  | 'DONE'
  /** It waits for a second member. */
  | 'PROPOSED'
  /** It was rejected or withdrawn. */
  | 'REJECTED';

/** Why an order moved, or a fact in its history. */
export type OrderCause =
  /** The partner is asked what to do with a deposit. */
  | 'ACTION_REQUIRED'
  /** The partner answered, its time passed, or a reorg took the deposit. */
  | 'ACTION_RESOLVED'
  /** The deposit window passes, and all that arrived is less than the pair's minimum. */
  | 'BELOW_MINIMUM'
  /** A partner created the order. */
  | 'CREATED'
  /** A deposit other than the main one was seen; at most `MAX_REFUNDS_PER_ORDER` are reported. */
  | 'DEPOSIT_ADDED'
  /** The deposit has its confirmations and its amount is acceptable. */
  | 'DEPOSIT_CONFIRMED'
  /** A reorg or the mempool dropped the deposit, and the window is open or less than the minimum remains. */
  | 'DEPOSIT_LOST'
  /** A reorg or the mempool dropped the deposit, or no block took it in time, and the window has passed. */
  | 'DEPOSIT_LOST_LATE'
  /** A deposit of at least the minimum is in a block or in the mempool. */
  | 'DEPOSIT_SEEN'
  /** While the exchange waited, its payout fell below the smallest one that the order accepts. */
  | 'EXCHANGE_BELOW_MIN'
  /** No venue filled the exchange within the slippage bound until the deadline. */
  | 'EXCHANGE_DEADLINE'
  /** Such a refund is final on its chain. */
  | 'EXTRA_REFUND_CONFIRMED'
  /** Such a deposit, or what the order did not exchange, is refunded. */
  | 'EXTRA_REFUND_DECIDED'
  /** Such a refund failed for good. */
  | 'EXTRA_REFUND_FAILED'
  /** The order is held: nothing of it is paid. */
  | 'HELD'
  /** A late deposit is exchanged at the market, as the partner asked for, within 72 hours after the window. */
  | 'LATE_ACCEPTED'
  /** A deposit that came too late has its confirmations. */
  | 'LATE_DEPOSIT'
  /** The liquidity venue filled the exchange. */
  | 'LIQUIDITY_BOUGHT'
  /** The order has no refund address. */
  | 'NO_REFUND_ADDRESS'
  /** More than expected arrived, and the policy of the order or the answer to its question is a refund. */
  | 'OVERPAID'
  /** The partner cancels the order within its window, before any deposit was seen. */
  | 'PARTNER_CANCELLED'
  /** The payout is final on its chain. */
  | 'PAYOUT_CONFIRMED'
  /** The payout failed for good. */
  | 'PAYOUT_FAILED'
  /** The payout's outcome stayed unknown too long. */
  | 'PAYOUT_UNKNOWN'
  /** The payout would be below the smallest one that the order accepts. */
  | 'PRICE_MOVED'
  /** Nothing shows that the deposit came in time, and its rate is better than the market. */
  | 'RATE_EXPIRED'
  /** The partner set the refund address of an order that had none. */
  | 'REFUND_ADDRESS_SET'
  /** The refund would not cover its network's fee. */
  | 'REFUND_BELOW_FEE'
  /** The refund is final on its chain. */
  | 'REFUND_CONFIRMED'
  /** The refund failed for good, or its outcome stayed unknown too long. */
  | 'REFUND_FAILED'
  /** The refund address was set after the creation, and the refund is above the limit of such refunds. */
  | 'REFUND_NEEDS_APPROVAL'
  /** The partner set the refund address for whose lack the order had failed. */
  | 'REFUND_RESUMED'
  /** The hold of the order ended. */
  | 'RELEASED'
  /** The same for a deposit below the minimum or in another currency. */
  | 'SMALL_DEPOSIT'
  /** Staff end a refund that was never signed. */
  | 'STAFF_FAILED'
  /** Staff refund to an address, with a second approval. */
  | 'STAFF_REFUND'
  /** Staff retry the payout, with a second approval. */
  | 'STAFF_RETRY'
  /** Staff end a payout that was never signed. */
  | 'STAFF_STOPPED'
  /** Less than expected arrived, and the policy of the order or the answer to its question is a refund. */
  | 'UNDERPAID'
  /** The deposit window passes without a deposit that the order could exchange or return. */
  | 'WINDOW_PASSED';

/** Conditions on orders. An order must meet all given ones. */
export type OrderFilter = {
  /** Orders with this source or destination coin. */
  coin?: string | null | undefined;
  /** Orders with this source coin. */
  coinFrom?: string | null | undefined;
  /** Orders with this destination coin. */
  coinTo?: string | null | undefined;
  /** Created at this time or later. */
  createdFrom?: string | null | undefined;
  /** Created before this time. */
  createdTo?: string | null | undefined;
  /** Held. */
  heldOnly?: boolean | null | undefined;
  /** Orders of at most this amount. */
  maxAmount?: string | null | undefined;
  /** Orders of at least this amount, in units of coinFrom, which is then required. */
  minAmount?: string | null | undefined;
  /** Orders that have an item in `attention`. */
  needsAttention?: boolean | null | undefined;
  /** Orders with this source network. */
  networkFrom?: string | null | undefined;
  /** Orders with this destination network. */
  networkTo?: string | null | undefined;
  /** Orders of this partner. */
  partnerId?: string | number | null | undefined;
  /** Beginning of an order id, a short id, an external id, a transaction hash or an address; at least 4 characters. */
  search?: string | null | undefined;
  /** In one of these statuses. */
  statuses?: Array<OrderStatus> | null | undefined;
  /** Changed at this time or later. */
  updatedFrom?: string | null | undefined;
  /** Changed before this time. */
  updatedTo?: string | null | undefined;
};

/** Sort key and direction of a list of orders. */
export type OrderOrder = {
  /** Sort direction. */
  direction?: SortDirection;
  /** By what. */
  field?: OrderSort;
};

/** Sort key of a list of orders. */
export type OrderSort =
  /** Time of creation. */
  | 'CREATED_AT'
  /** Time of the last change. */
  | 'UPDATED_AT';

/** Status of an order. */
export type OrderStatus =
  /** The payout is final on its chain. */
  | 'COMPLETED'
  /** A deposit was seen and waits for its confirmations. */
  | 'CONFIRMING'
  /** The deposit is confirmed and liquidity is being bought. */
  | 'EXCHANGING'
  /** The deposit window passed without a deposit. */
  | 'EXPIRED'
  /** The gateway takes no further step; staff decide. */
  | 'FAILED'
  /** The refund is final on its chain. */
  | 'REFUNDED'
  /** The deposit is on its way back. */
  | 'REFUNDING'
  /** The payout is on its way. */
  | 'SENDING'
  /** No deposit was seen yet. */
  | 'WAITING_DEPOSIT';

/** What becomes different of a partner. What is absent or null stays as it is. */
export type PartnerChangesInput = {
  /** What the page calls the partner, 1 to 60 characters. */
  displayName?: string | null | undefined;
  /** Its limits; needs partners:price. */
  limits?: LimitsInput | null | undefined;
  /** Name, 1 to 200 characters. */
  name?: string | null | undefined;
  /** Whether its orders have a page for the users who pay them; false closes all pages. */
  orderPage?: boolean | null | undefined;
  /** Its service fees; needs partners:price. */
  pricing?: PricingInput | null | undefined;
  /** Whether everyone who knows the id of one of its orders can read the status of that order. */
  publicStatus?: boolean | null | undefined;
  /** Whether its order requests must be signed. */
  requireSignature?: boolean | null | undefined;
  /** Whether it may use the API. Orders under way continue. */
  status?: PartnerStatus | null | undefined;
};

/** Whether a partner may use the API. */
export type PartnerStatus =
  /** Its keys work. */
  | 'ACTIVE'
  /** Its requests get 403. */
  | 'INACTIVE';

/** What a payment is for. */
export type PaymentKind =
  /** What a partner has earned in a month. */
  | 'COMMISSION'
  /** Coins for the network fee of an address that is swept. */
  | 'GAS'
  /** The coins that were bought. */
  | 'PAYOUT'
  /** A deposit, or the rest of one, on its way back. */
  | 'REFUND'
  /** It prepares the hot wallet for payments and pays no one. */
  | 'SETUP'
  /** Coins of deposit addresses on their way to the hot wallet. */
  | 'SWEEP';

/** Which part of a deposit a payment settles. */
export type PaymentLeg =
  /** The part of it that was not exchanged. */
  | 'EXCESS'
  /** The deposit itself, exchanged or refunded. */
  | 'MAIN';

/** State of a payment. */
export type PaymentState =
  /** Final on its chain. */
  | 'CONFIRMED'
  /** It can never confirm. */
  | 'DEAD'
  /** Its transaction is built, and its inputs are reserved. */
  | 'PREPARED'
  /** Decided. */
  | 'READY'
  /** It was broadcast, perhaps more than once. */
  | 'SENT'
  /** Its signed bytes are stored. */
  | 'SIGNED';

/** Why payouts are held. */
export type PayoutHoldCause =
  /** An order was paid more than its deposits brought. */
  | 'CLIENT_DEBIT'
  /** The ledger differs from the chains, the venue or the orders. */
  | 'RECONCILIATION'
  /** A member of staff stopped them. */
  | 'STAFF'
  /** Exchanges lost more than the limit within 24 hours. */
  | 'VENUE_LOSS';

/** A price for a pair. */
export type PriceOverrideInput = {
  /** Source coin. */
  coinFrom: string;
  /** Destination coin. */
  coinTo: string;
  /** When it expires, at most seven days from now. */
  endsAt: string;
  /** Units of the destination coin for one unit of the source coin, before fees. */
  price: string;
};

/** Service fees as fractions. An absent one stays as it is; null restores the gateway's. */
export type PricingInput = {
  /** On fixed orders. */
  fixed?: string | null | undefined;
  /** On float orders: 0.004. */
  float?: string | null | undefined;
};

/** The pair, amount and rate type of a quote. */
export type QuoteInput = {
  /** Amount of the source coin; the pair's minimum by default. */
  amount?: string | null | undefined;
  /** Source coin. */
  coinFrom: string;
  /** Destination coin. */
  coinTo: string;
  /** Source network; required when the coin has several. */
  networkFrom?: string | null | undefined;
  /** Destination network; required when the coin has several. */
  networkTo?: string | null | undefined;
  /** Partner whose pricing applies; the public pricing by default. */
  partnerId?: string | number | null | undefined;
  /** Whether the rate is fixed at creation or floats. */
  rateType?: RateType;
};

/** When the rate of an order is decided. */
export type RateType =
  /** When the order is created. */
  | 'FIXED'
  /** When the deposit is confirmed. */
  | 'FLOAT';

/** A refund to an address. */
export type RefundInput = {
  /** Address on the deposit's network. */
  address: string;
  /** Another deposit of the order instead of its main one, or a deposit of no order. */
  depositId?: string | number | null | undefined;
  /** What proves whose deposit it is, 1 to 4000 characters. Needed for a deposit of no order. */
  evidence?: string | null | undefined;
  /** The order. */
  orderId?: string | number | null | undefined;
  /** Tag or memo of the address. */
  tag?: string | null | undefined;
};

/** How a member proved the identity. */
export type SignInKind =
  /** At the identity provider. */
  | 'OIDC'
  /** By a token of this gateway. */
  | 'TOKEN';

/** Sort direction. */
export type SortDirection =
  /** Oldest first. */
  | 'ASC'
  /** Newest first. */
  | 'DESC';

/** Kind of a change of staff. */
export type StaffChangeKind =
  /** A member is added. */
  | 'INVITE'
  /** A member is revoked for good. */
  | 'REVOKE'
  /** A member gets another role. */
  | 'ROLE'
  /** A member gets a new token. */
  | 'TOKEN';

/** Role of a member. Each role has the permissions of the roles before it. */
export type StaffRole =
  /** Manages staff, pricing, fees, limits and prices. */
  | 'ADMIN'
  /** Runs the business: proposes and approves payments; manages partners, keys and switches of currencies. */
  | 'OPERATOR'
  /** Writes notes, and holds orders. */
  | 'SUPPORT'
  /** Reads. */
  | 'VIEWER';

/** Length of a bucket. Buckets begin in UTC. */
export type StatsInterval =
  /** Ranges of up to 366 days; of up to 14 days by pair. */
  | 'DAY'
  /** Ranges of up to 31 days; of up to 7 days by partner; not by pair. */
  | 'HOUR'
  /** Ranges of up to 10 years; of up to 366 days by pair. */
  | 'MONTH';

/** State of the exchange of an order. */
export type TradeState =
  /** Abandoned before the venue filled it. */
  | 'ABANDONED'
  /** The venue filled it. */
  | 'FILLED'
  /** Decided, and perhaps already ordered at the venue. */
  | 'INTENDED'
  /** Filled, then taken over by the house, because the user gets the deposit back. */
  | 'UNWOUND';

/** What is wrong with a transfer. */
export type TreasuryTransferProblem =
  /** It arrived, although the exchange says that it gave the coins back. */
  | 'ARRIVED_AFTER_END'
  /** Nothing has arrived, a day after it was paid or three days after it began. */
  | 'NOT_ARRIVED'
  /** Less arrived than left. */
  | 'SHORT_ARRIVAL';

/** State of coins on their way between an exchange and a hot wallet. */
export type TreasuryTransferState =
  /** It was seen where it goes, and is not final, not credited or locked there. */
  | 'ARRIVED'
  /** The exchange has accepted it, or it waits for a block. */
  | 'ASKED'
  /** Both sides are booked. */
  | 'DONE'
  /** It ended without effect. */
  | 'RETURNED'
  /** It is on its chain. */
  | 'SENT';

/** What an entry of an exchange is that the gateway did not make. */
export type VenueClass =
  /** Coins that the house put in or took out. */
  | 'CAPITAL'
  /** A cost of moving coins, such as a fee that the exchange kept. */
  | 'COST'
  /** A gain or loss: a trade by hand, a reward, interest. */
  | 'TRADING';

/** A figure of the venue. */
export type VenueMeasure =
  /** Our balance by the ledger, in coins, as the last comparison of the ledger found it. */
  | 'BALANCE'
  /** What the order book sells near the price, in US dollars. */
  | 'BUY_DEPTH'
  /** What the account at the exchange holds by its own word, in coins. */
  | 'HELD'
  /** The part of it that no open order and no withdrawal locks. */
  | 'HELD_FREE'
  /** Open positions of all coins, in US dollars at the prices of their trades. */
  | 'OPEN_USD'
  /** What the order book buys near the price, in US dollars. */
  | 'SELL_DEPTH'
  /** What our own inventory may sell, in coins. */
  | 'STOCK';

/** Kind of a movement at an exchange. */
export type VenueMovementKind =
  /** Coins that were sent to our account there. */
  | 'DEPOSIT'
  /** Coins that were sent from our account there. */
  | 'WITHDRAWAL';

/** State of a movement at an exchange, as its list tells it. */
export type VenueMovementState =
  /** A credited deposit, or a withdrawal that was paid. */
  | 'DONE'
  /** A deposit that is credited and may be traded, and cannot be withdrawn yet. */
  | 'LOCKED'
  /** A deposit that is not credited, or a withdrawal that was accepted and has not ended. */
  | 'PENDING'
  /** The exchange ended it without effect. */
  | 'RETURNED'
  /** The gateway does not know the word of the exchange for it. */
  | 'UNKNOWN';

/** Properties of an endpoint. An absent one stays as it is. */
export type WebhookInput = {
  /** How amounts are written. */
  amounts?: AmountForm | null | undefined;
  /** Only orders from this coin; null for all. */
  coinFrom?: string | null | undefined;
  /** Only orders to this coin; null for all. */
  coinTo?: string | null | undefined;
  /** Whether events are sent. */
  status?: EndpointStatus | null | undefined;
  /** Types of events; null for all. */
  types?: Array<string> | null | undefined;
  /** An https URL with a public name. Required for a new endpoint. */
  url?: string | null | undefined;
};

export type MeQueryVariables = Exact<{ [key: string]: never; }>;


export type MeQuery = { me: { id: string, email: string, role: StaffRole, permissions: Array<string> } };

export type AttentionFieldsFragment = { id: string, kind: AttentionKind, subjectId: string, since: string, detail: string, reason?: string | null, partner: { id: string, name: string } | null, hold: { id: string, coin: string | null, network: string | null, cause: PayoutHoldCause, detail: string } | null, assignee: { since: string, member: { id: string, email: string } } | null, order: { id: string, shortId: string, status: OrderStatus, coinFrom: string, networkFrom: string, coinTo: string, networkTo: string, partner: { id: string, name: string } } | null, deposit: { id: string, amount: string, coin: string, network: string, txid: string, address: string, problem: DepositProblem | null } | null };

export type AttentionQueryVariables = Exact<{
  mayActions: boolean;
}>;


export type AttentionQuery = { attention: Array<{ id: string, kind: AttentionKind, subjectId: string, since: string, detail: string, reason?: string | null, partner: { id: string, name: string } | null, hold: { id: string, coin: string | null, network: string | null, cause: PayoutHoldCause, detail: string } | null, assignee: { since: string, member: { id: string, email: string } } | null, order: { id: string, shortId: string, status: OrderStatus, coinFrom: string, networkFrom: string, coinTo: string, networkTo: string, partner: { id: string, name: string } } | null, deposit: { id: string, amount: string, coin: string, network: string, txid: string, address: string, problem: DepositProblem | null } | null }> };

export type OrderViewsQueryVariables = Exact<{ [key: string]: never; }>;


export type OrderViewsQuery = { orderViews: Array<{ id: string, name: string, query: string }> };

export type SaveOrderViewMutationVariables = Exact<{
  name: string;
  query: string;
}>;


export type SaveOrderViewMutation = { orderViewSave: { id: string } };

export type RemoveOrderViewMutationVariables = Exact<{
  id: string | number;
}>;


export type RemoveOrderViewMutation = { orderViewRemove: { id: string } };

export type AttentionAssigneesQueryVariables = Exact<{ [key: string]: never; }>;


export type AttentionAssigneesQuery = { attentionAssignees: Array<{ id: string, email: string }> };

export type TakeItemMutationVariables = Exact<{
  itemId: string | number;
}>;


export type TakeItemMutation = { attentionTake: { id: string } };

export type ReleaseItemMutationVariables = Exact<{
  itemId: string | number;
}>;


export type ReleaseItemMutation = { attentionRelease: { id: string } };

export type HandOverItemMutationVariables = Exact<{
  itemId: string | number;
  from?: string | number | null | undefined;
  to: string | number;
  reason: string;
}>;


export type HandOverItemMutation = { attentionHandOver: { id: string } };

export type OverviewQueryVariables = Exact<{
  from: string;
  to: string;
  earlier: string;
  interval: StatsInterval;
}>;


export type OverviewQuery = { stats: { series: Array<{ at: string, created: number, completed: number, expired: number, refunded: number, failed: number, conversion: string | null, volumeUsd: string, revenueUsd: string }>, failures: Array<{ status: OrderStatus, cause: OrderCause, count: number }> }, before: { series: Array<{ at: string, created: number, completed: number, expired: number, refunded: number, failed: number, volumeUsd: string, revenueUsd: string }> } };

export type DurationsQueryVariables = Exact<{
  from: string;
  to: string;
  interval: StatsInterval;
}>;


export type DurationsQuery = { stats: { timePercentiles: { orders: number, isWhole: boolean, statuses: Array<{ status: OrderStatus, count: number, p50Seconds: string, p95Seconds: string }> } } };

export type ApiTrafficQueryVariables = Exact<{ [key: string]: never; }>;


export type ApiTrafficQuery = { apiTraffic: { from: string, to: string, endpoints: Array<{ endpoint: string, requests: number, clientErrors: number, serverErrors: number, p50Ms: number, p99Ms: number }> } };

export type HealthQueryVariables = Exact<{ [key: string]: never; }>;


export type HealthQuery = { system: { overdueOrders: number, chains: Array<{ chain: string, head: number, height: number, lag: number, problem: string | null, failure: string | null, failingSince: string | null, scannedAt: string | null }>, workers: Array<{ id: string, seenAt: string }>, queues: Array<{ name: string, waiting: number, oldestSec: number | null }>, statistics: { eventsBehind: number, rolledAt: string | null, behindSince: string | null }, reconciliation: { endedAt: string, checks: number, differences: number } | null } };

export type WalletLevelsQueryVariables = Exact<{
  from: string;
  to: string;
  limit: number;
  chain?: string | null | undefined;
  coin?: string | null | undefined;
  network?: string | null | undefined;
}>;


export type WalletLevelsQuery = { all: Array<{ chain: string, coin: string, network: string }>, chosen: Array<{ chain: string, coin: string, network: string, points: Array<{ at: string, lowest: string | null, highest: string | null, last: string | null, low: string | null, high: string | null }> }> };

export type VenueLineFragment = { measure: VenueMeasure, coin: string | null };

export type VenueFiguresQueryVariables = Exact<{
  from: string;
  to: string;
  limit: number;
  measure?: VenueMeasure | null | undefined;
  coin?: string | null | undefined;
}>;


export type VenueFiguresQuery = { balances: Array<{ measure: VenueMeasure, coin: string | null }>, stocks: Array<{ measure: VenueMeasure, coin: string | null }>, buyDepths: Array<{ measure: VenueMeasure, coin: string | null }>, sellDepths: Array<{ measure: VenueMeasure, coin: string | null }>, positions: Array<{ measure: VenueMeasure, coin: string | null }>, chosen: Array<{ measure: VenueMeasure, coin: string | null, points: Array<{ at: string, lowest: string | null, highest: string | null, last: string | null }> }> };

export type HeldCoinsQueryVariables = Exact<{
  from: string;
  to: string;
  limit: number;
  coin?: string | null | undefined;
}>;


export type HeldCoinsQuery = { all: Array<{ coin: string | null }>, chosen: Array<{ coin: string | null, points: Array<{ at: string, lowest: string | null, highest: string | null, last: string | null }> }>, free: Array<{ coin: string | null, points: Array<{ at: string, last: string | null }> }> };

export type ChainLagQueryVariables = Exact<{
  from: string;
  to: string;
  limit: number;
  chain?: string | null | undefined;
}>;


export type ChainLagQuery = { all: Array<{ chain: string }>, chosen: Array<{ chain: string, points: Array<{ at: string, lagLowest: number | null, lagHighest: number | null, lagLast: number | null, height: number | null, head: number | null, failures: number, failure: string | null, readings: number }> }> };

export type OrderRowFragment = { id: string, shortId: string, status: OrderStatus, createdAt: string, updatedAt: string, coinFrom: string, networkFrom: string, coinTo: string, networkTo: string, rateType: RateType, amountFromExpected: string, amountToExpected: string, amountFromActual: string | null, amountToActual: string | null, hold: { since: string } | null, partner: { id: string, name: string } };

export type OrdersQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
  last?: number | null | undefined;
  before?: string | null | undefined;
  filter?: OrderFilter | null | undefined;
  orderBy?: OrderOrder | null | undefined;
}>;


export type OrdersQuery = { orders: { count: { value: number, isExact: boolean }, edges: Array<{ cursor: string, node: { id: string, shortId: string, status: OrderStatus, createdAt: string, updatedAt: string, coinFrom: string, networkFrom: string, coinTo: string, networkTo: string, rateType: RateType, amountFromExpected: string, amountToExpected: string, amountFromActual: string | null, amountToActual: string | null, hold: { since: string } | null, partner: { id: string, name: string } } }>, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } } };

export type OrderQueryVariables = Exact<{
  id: string | number;
  mayActions: boolean;
  mayLedger: boolean;
}>;


export type OrderQuery = { order: { hasPageLink: boolean, expiresAt: string, nextActionAt: string | null, depositAddress: string, depositAddressTag: string | null, paymentUri: string | null, depositConfirmations: number | null, depositConfirmationsRequired: number, depositTxid: string | null, recipientAddress: string, recipientAddressTag: string | null, refundAddress: string | null, refundAddressTag: string | null, refundAddressSetAt: string | null, payoutTxid: string | null, id: string, shortId: string, status: OrderStatus, createdAt: string, updatedAt: string, coinFrom: string, networkFrom: string, coinTo: string, networkTo: string, rateType: RateType, amountFromExpected: string, amountToExpected: string, amountFromActual: string | null, amountToActual: string | null, partner: { orderPage: boolean, id: string, name: string }, hold: { since: string, reason: string } | null, terms: { rate: string, feeRate: string, serviceFee: string, networkFee: string, minAmount: string | null, maxAmount: string | null }, events: Array<{ seq: number, at: string, fromStatus: OrderStatus | null, toStatus: OrderStatus, cause: OrderCause, actor: string, detail: string | null }>, questions: Array<{ seq: number, reason: string, amount: string, amountFrom: string, askedAt: string, deadline: string, outcome: string | null, endedAt: string | null, actor: string | null, amountTo: string | null }>, deposits: Array<{ id: string, txid: string, explorerUrl: string | null, amount: string, coin: string, network: string, address: string, state: DepositState, height: number | null, seenAt: string, minedAt: string | null, creditedAt: string | null, confirmationsRequired: number, problem: DepositProblem | null }>, trade: { venue: string, state: TradeState, amountFrom: string, amountTo: string, minBought: string, bought: string | null, serviceFee: string, networkFee: string, createdAt: string, settledAt: string | null, tries: number, problem: string | null } | null, payments: Array<{ id: string, explorerUrl: string | null, kind: PaymentKind, leg: PaymentLeg, amount: string, coin: string, network: string, address: string, tag: string | null, state: PaymentState, problem: string | null, problemSince: string | null, createdAt: string, sentAt: string | null, endedAt: string | null, feeCharged: string, attempts: Array<{ attempt: number, txid: string | null, fee: string, expiresAtHeight: number | null, expiresAt: string | null, sentAt: string | null, minedHeight: number | null, deadAt: string | null, deadWhy: string | null }> }>, notes: Array<{ id: string, at: string, text: string, author: { id: string, email: string } }>, actions?: Array<{ id: string, action: OrderActionKind, state: OrderActionState, reason: string, address: string | null, tag: string | null, price: string | null, proposedAt: string, approvableFrom: string | null, decidedAt: string | null, proposedBy: { id: string, email: string }, decidedBy: { id: string, email: string } | null }>, ledgerLines?: Array<{ at: string, kind: string, account: LedgerAccount, venue: string | null, coin: string, network: string, amount: string }> } };

export type SessionsQueryVariables = Exact<{ [key: string]: never; }>;


export type SessionsQuery = { sessions: Array<{ id: string, via: SignInKind, createdAt: string, lastSeenAt: string, expiresAt: string, isCurrent: boolean }> };

export type EndSessionMutationVariables = Exact<{
  id: string | number;
  reason: string;
}>;


export type EndSessionMutation = { sessionEnd: { id: string } };

export type DecidedProposalsQueryVariables = Exact<{ [key: string]: never; }>;


export type DecidedProposalsQuery = { decidedProposals: Array<{ id: string, action: OrderActionKind, state: OrderActionState, reason: string, decidedAt: string | null, venue: string | null, movementKind: VenueMovementKind | null, reference: string | null, coin: string | null, amount: string | null, class: VenueClass | null, network: string | null, oldIsLost: boolean, month: string | null, proposedBy: { id: string, email: string }, decidedBy: { id: string, email: string } | null, order: { id: string, shortId: string, coinFrom: string, networkFrom: string, coinTo: string, networkTo: string } | null, deposit: { id: string, amount: string, coin: string, network: string } | null, hold: { id: string, coin: string | null, network: string | null } | null, partner: { id: string, name: string } | null }> };

export type VenueSubjectFragment = { venue: string | null, movementKind: VenueMovementKind | null, reference: string | null, coin: string | null, amount: string | null, class: VenueClass | null };

export type UnassignedDepositsQueryVariables = Exact<{
  txid?: string | null | undefined;
  withSmall: boolean;
}>;


export type UnassignedDepositsQuery = { unassignedDeposits: { edges: Array<{ node: { id: string, amount: string, coin: string, network: string, txid: string, tag: string | null, state: DepositState, problem: DepositProblem | null, seenAt: string } }>, pageInfo: { hasNextPage: boolean } } };

export type CommissionSubjectFragment = { coin: string | null, network: string | null, amount: string | null, oldIsLost: boolean, month: string | null, partner: { id: string, name: string } | null };

export type ProposalsQueryVariables = Exact<{ [key: string]: never; }>;


export type ProposalsQuery = { proposals: Array<{ id: string, action: OrderActionKind, state: OrderActionState, reason: string, evidence: string | null, address: string | null, tag: string | null, price: string | null, proposedAt: string, approvableFrom: string | null, venue: string | null, movementKind: VenueMovementKind | null, reference: string | null, coin: string | null, amount: string | null, class: VenueClass | null, network: string | null, oldIsLost: boolean, month: string | null, proposedBy: { id: string, email: string }, order: { id: string, shortId: string, status: OrderStatus, coinFrom: string, networkFrom: string, coinTo: string, networkTo: string, amountFromExpected: string, partner: { name: string } } | null, deposit: { id: string, amount: string, coin: string, network: string } | null, hold: { id: string, coin: string | null, network: string | null, cause: PayoutHoldCause, detail: string } | null, partner: { id: string, name: string } | null }> };

export type PartnersQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
  last?: number | null | undefined;
  before?: string | null | undefined;
  search?: string | null | undefined;
  status?: PartnerStatus | null | undefined;
}>;


export type PartnersQuery = { partnerList: { edges: Array<{ node: { id: string, name: string, status: PartnerStatus, createdAt: string, pricing: { float: string, fixed: string }, usage: Array<{ created: number, volumeUsd: string, revenueUsd: string }> } }>, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } } };

export type PartnerNamesQueryVariables = Exact<{
  search?: string | null | undefined;
}>;


export type PartnerNamesQuery = { partnerList: { edges: Array<{ node: { id: string, name: string } }>, pageInfo: { hasNextPage: boolean } } };

export type PartnerNameQueryVariables = Exact<{
  id: string | number;
}>;


export type PartnerNameQuery = { partner: { id: string, name: string } };

export type PartnerQueryVariables = Exact<{
  id: string | number;
  mayKeys: boolean;
}>;


export type PartnerQuery = { partner: { id: string, name: string, status: PartnerStatus, createdAt: string, updatedAt: string, publicStatus: boolean, requireSignature: boolean, keepsFixedCaps: boolean, feeRateFixed: string | null, feeRateFloat: string | null, rateLimitPerMin: number | null, ordersLimitPerMin: number | null, listsLimitPerMin: number | null, maxOpenOrders: number | null, maxFixedExposureUsd: number | null, maxFixedDayUsd: number | null, maxFloatExposureUsd: number | null, maxMarkupBps: number | null, quoteHoldSec: number | null, orderPage: boolean, displayName: string | null, pricing: { float: string, fixed: string }, limits: { requests: number, orders: number, lists: number, quotes: number, validations: number, changes: number, openOrders: number, fixedExposureUsd: number, fixedDayUsd: number, floatExposureUsd: number, markupBps: number, quoteHoldSec: number }, exposure: { orders: number, ordersCap: number, fixedHourUsd: string, fixedHourCapUsd: string, fixedDayUsd: string, fixedDayCapUsd: string, floatUsd: string, floatCapUsd: string, areFixedCapsCut: boolean }, fixedResults: { day: { orders: number, sentUsd: string, adverseBps: string | null, lossUsd: string }, month: { orders: number, sentUsd: string, adverseBps: string | null, lossUsd: string } }, usage: Array<{ at: string, created: number, completed: number, expired: number, refunded: number, failed: number, volumeUsd: string, revenueUsd: string }>, members?: Array<{ id: string, name: string, role: MemberRole, passkeys: number, lastSeenAt: string | null }>, invitations?: Array<{ id: string, name: string, role: MemberRole, isRecovery: boolean, invitedBy: string | null, createdAt: string, expiresAt: string }>, keys?: Array<{ keyId: string, label: string, last4: string, scopes: Array<KeyScope>, allowedCidrs: Array<string>, defaultMarkupBps: number | null, createdAt: string, expiresAt: string | null, lastUsedAt: string | null, revokedAt: string | null, refusals: { refused: number, limited: number } }> }, webhookEndpoints: Array<{ id: string, url: string, status: EndpointStatus, types: Array<string> | null, coinFrom: string | null, coinTo: string | null, amounts: AmountForm, failures: number, failingSince: string | null, lastSuccessAt: string | null, lastFailureAt: string | null, disabledReason: string | null, disabledAt: string | null, deliveries: Array<{ eventId: string, type: string, state: DeliveryState, createdAt: string, nextAttemptAt: string | null, isReplay: boolean, orderId: string | null, log: Array<{ attempt: number, at: string, status: number | null, ms: number, error: string | null, answer: string | null }> }> }> };

export type WebhookEventTypesQueryVariables = Exact<{ [key: string]: never; }>;


export type WebhookEventTypesQuery = { webhookEventTypes: Array<string> };

export type MoneyQueryVariables = Exact<{ [key: string]: never; }>;


export type MoneyQuery = { payoutBrakes: { holds: Array<{ id: string, coin: string | null, network: string | null, cause: PayoutHoldCause, detail: string, openedAt: string, isStanding: boolean, waiting: number, openedBy: { email: string } | null, proposedBy: { email: string } | null }>, limits: Array<{ coin: string | null, network: string | null, hourUsd: string, hourLimitUsd: number, dayUsd: string, dayLimitUsd: number, waiting: number, waitingSince: string | null }> }, system: { wallets: Array<{ chain: string, coin: string, network: string, balance: string, low: string | null, high: string | null, seenAt: string }>, reconciliation: { endedAt: string, checks: number, differences: number } | null } };

export type MovementPageFragment = { edges: Array<{ node: { id: string, venue: string, kind: VenueMovementKind, reference: string, coin: string, network: string | null, txid: string | null, isInternal: boolean, address: string | null, tag: string | null, amount: string, state: VenueMovementState, told: string, at: string, isClassifiable: boolean } }>, pageInfo: { hasNextPage: boolean } };

export type TransferPageFragment = { edges: Array<{ node: { id: string, venue: string, movementKind: VenueMovementKind, coin: string, network: string, chain: string, state: TreasuryTransferState, problem: TreasuryTransferProblem | null, amount: string, bookedAmount: string, bookedFee: string, arrived: string, writtenOff: string, createdAt: string, isClassifiable: boolean, explorerUrl: string | null, movement: { reference: string, txid: string | null, isInternal: boolean, told: string }, arrivals: Array<{ id: string, txid: string, explorerUrl: string | null }> } }>, pageInfo: { hasNextPage: boolean } };

export type TreasuryQueryVariables = Exact<{ [key: string]: never; }>;


export type TreasuryQuery = { treasury: { accounts: Array<{ venue: string, isWatched: boolean, watchedFrom: string, openedAt: string | null, listedAt: string | null, balancesAt: string | null, failingSince: string | null, failure: string | null, balances: Array<{ coin: string, total: string, free: string, booked: string | null, inFlight: string | null, difference: string | null, comparedAt: string | null, differing: number, isClassifiable: boolean }> }>, open: { edges: Array<{ node: { id: string, venue: string, movementKind: VenueMovementKind, coin: string, network: string, chain: string, state: TreasuryTransferState, problem: TreasuryTransferProblem | null, amount: string, bookedAmount: string, bookedFee: string, arrived: string, writtenOff: string, createdAt: string, isClassifiable: boolean, explorerUrl: string | null, movement: { reference: string, txid: string | null, isInternal: boolean, told: string }, arrivals: Array<{ id: string, txid: string, explorerUrl: string | null }> } }>, pageInfo: { hasNextPage: boolean } }, returned: { edges: Array<{ node: { id: string, venue: string, movementKind: VenueMovementKind, coin: string, network: string, chain: string, state: TreasuryTransferState, problem: TreasuryTransferProblem | null, amount: string, bookedAmount: string, bookedFee: string, arrived: string, writtenOff: string, createdAt: string, isClassifiable: boolean, explorerUrl: string | null, movement: { reference: string, txid: string | null, isInternal: boolean, told: string }, arrivals: Array<{ id: string, txid: string, explorerUrl: string | null }> } }>, pageInfo: { hasNextPage: boolean } } }, foreign: { edges: Array<{ node: { id: string, venue: string, kind: VenueMovementKind, reference: string, coin: string, network: string | null, txid: string | null, isInternal: boolean, address: string | null, tag: string | null, amount: string, state: VenueMovementState, told: string, at: string, isClassifiable: boolean } }>, pageInfo: { hasNextPage: boolean } }, undecided: { edges: Array<{ node: { id: string, venue: string, kind: VenueMovementKind, reference: string, coin: string, network: string | null, txid: string | null, isInternal: boolean, address: string | null, tag: string | null, amount: string, state: VenueMovementState, told: string, at: string, isClassifiable: boolean } }>, pageInfo: { hasNextPage: boolean } } };

export type CatalogueQueryVariables = Exact<{ [key: string]: never; }>;


export type CatalogueQuery = { currencies: Array<{ id: string, coin: string, network: string, name: string, isActive: boolean, isDepositEnabled: boolean, isWithdrawEnabled: boolean, minAmount: string, maxAmount: string, networkFee: string, minConfirmations: number, decimals: number, isMemo: boolean, contract: string | null, updatedAt: string }> };

export type PricesQueryVariables = Exact<{ [key: string]: never; }>;


export type PricesQuery = { priceOverrides: Array<{ id: string, coinFrom: string, coinTo: string, price: string, createdAt: string, endsAt: string, setBy: { email: string } }>, system: { prices: Array<{ coin: string, price: string, ageSec: number }> } };

export type QuoteQueryVariables = Exact<{
  input: QuoteInput;
}>;


export type QuoteQuery = { quote: { amountFrom: string, coinFrom: string, networkFrom: string, amountTo: string, coinTo: string, networkTo: string, rate: string, rateType: RateType, feeRate: string, serviceFee: string, networkFee: string, minAmount: string, maxAmount: string, expiresIn: number | null } };

export type AuditQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
  last?: number | null | undefined;
  before?: string | null | undefined;
  staffId?: string | number | null | undefined;
  target?: string | null | undefined;
  operation?: string | null | undefined;
  from?: string | null | undefined;
  to?: string | null | undefined;
}>;


export type AuditQuery = { auditLog: { edges: Array<{ cursor: string, node: { id: string, at: string, operation: string, target: string, reason: string, requestId: string, ip: string, operator: string | null, member: string | null, before: string | null, after: string | null, object: { name: string, orderId: string | null, partnerId: string | null }, proposal: { step: AuditStep, what: string } | null, actor: { id: string, email: string } | null } }>, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } } };

export type StaffQueryVariables = Exact<{ [key: string]: never; }>;


export type StaffQuery = { staff: Array<{ id: string, email: string, role: StaffRole, hasToken: boolean, createdAt: string, approvesFrom: string | null, suspendedAt: string | null, revokedAt: string | null }>, staffChanges: Array<{ id: string, change: StaffChangeKind, state: OrderActionState, email: string | null, role: StaffRole | null, reason: string, proposedAt: string, approvableFrom: string | null, proposedBy: { id: string, email: string }, member: { id: string, email: string } | null }> };

export type NoteOrderMutationVariables = Exact<{
  orderId: string | number;
  text: string;
}>;


export type NoteOrderMutation = { orderNote: { id: string } };

export type HoldOrderMutationVariables = Exact<{
  orderId: string | number;
  reason: string;
}>;


export type HoldOrderMutation = { orderHold: { id: string, state: OrderActionState } };

export type ReleaseOrderMutationVariables = Exact<{
  orderId: string | number;
  reason: string;
}>;


export type ReleaseOrderMutation = { orderRelease: { id: string, state: OrderActionState } };

export type RetryPayoutMutationVariables = Exact<{
  orderId: string | number;
  reason: string;
}>;


export type RetryPayoutMutation = { orderRetryPayout: { id: string, state: OrderActionState } };

export type MarkFailedMutationVariables = Exact<{
  orderId: string | number;
  reason: string;
}>;


export type MarkFailedMutation = { orderMarkFailed: { id: string, state: OrderActionState } };

export type RefundOrderMutationVariables = Exact<{
  input: RefundInput;
  reason: string;
}>;


export type RefundOrderMutation = { orderRefund: { id: string, state: OrderActionState } };

export type AssignDepositMutationVariables = Exact<{
  input: DepositAssignInput;
  reason: string;
}>;


export type AssignDepositMutation = { depositAssign: { id: string, state: OrderActionState } };

export type VenuePriceMutationVariables = Exact<{
  orderId: string | number;
  price: string;
  reason: string;
}>;


export type VenuePriceMutation = { orderVenuePrice: { id: string, state: OrderActionState } };

export type ApproveActionMutationVariables = Exact<{
  id: string | number;
  reason: string;
}>;


export type ApproveActionMutation = { actionApprove: { id: string, state: OrderActionState } };

export type RejectActionMutationVariables = Exact<{
  id: string | number;
  reason: string;
}>;


export type RejectActionMutation = { actionReject: { id: string, state: OrderActionState } };

export type StopPayoutsMutationVariables = Exact<{
  coin?: string | null | undefined;
  network?: string | null | undefined;
  reason: string;
}>;


export type StopPayoutsMutation = { payoutStop: { id: string } };

export type ResumePayoutsMutationVariables = Exact<{
  holdId: string | number;
  acknowledge: boolean;
  reason: string;
}>;


export type ResumePayoutsMutation = { payoutResume: { id: string, state: OrderActionState } };

export type ProposeOpeningMutationVariables = Exact<{
  venue: string;
  reason: string;
}>;


export type ProposeOpeningMutation = { venueOpeningPropose: { id: string, state: OrderActionState } };

export type ClassifyEntryMutationVariables = Exact<{
  venue: string;
  kind?: VenueMovementKind | null | undefined;
  reference?: string | null | undefined;
  coin?: string | null | undefined;
  amount?: string | null | undefined;
  class: VenueClass;
  reason: string;
}>;


export type ClassifyEntryMutation = { treasuryClassify: { id: string, state: OrderActionState } };

export type CommissionMonthRowFragment = { id: string, month: string, coin: string, network: string, state: CommissionState, orders: number, due: string | null, problem: string | null, heldAt: string | null, holdReason: string | null, approvedAt: string | null, closedAt: string | null, paidAt: string | null, sha256: string | null, attempts: number, figures: Array<{ coin: string, network: string, opening: string, accrued: string, converted: string, corrected: string, paid: string, closing: string }>, payment: { id: string, state: PaymentState, amount: string, problem: string | null, explorerUrl: string | null, attempts: Array<{ txid: string | null }> } | null };

export type CommissionsQueryVariables = Exact<{
  month: string;
  state?: Array<CommissionState> | CommissionState | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
  last?: number | null | undefined;
  before?: string | null | undefined;
}>;


export type CommissionsQuery = { commissions: { edges: Array<{ node: { id: string, month: string, coin: string, network: string, state: CommissionState, orders: number, due: string | null, problem: string | null, heldAt: string | null, holdReason: string | null, approvedAt: string | null, closedAt: string | null, paidAt: string | null, sha256: string | null, attempts: number, partner: { id: string, name: string, status: PartnerStatus }, figures: Array<{ coin: string, network: string, opening: string, accrued: string, converted: string, corrected: string, paid: string, closing: string }>, payment: { id: string, state: PaymentState, amount: string, problem: string | null, explorerUrl: string | null, attempts: Array<{ txid: string | null }> } | null } }>, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } } };

export type CommissionMonthsQueryVariables = Exact<{ [key: string]: never; }>;


export type CommissionMonthsQuery = { commissionMonths: Array<{ month: string, coin: string, network: string, accrued: string, paid: string, priceUsd: string | null }> };

export type PartnerCommissionQueryVariables = Exact<{
  partnerId: string | number;
}>;


export type PartnerCommissionQuery = { partnerCommission: { partner: { id: string, name: string, status: PartnerStatus }, addresses: Array<{ id: string, coin: string, network: string, address: string, tag: string | null, oldIsLost: boolean, requestedBy: string | null, requestedAt: string, effectiveAt: string, tookEffectAt: string | null }>, months: Array<{ id: string, month: string, coin: string, network: string, state: CommissionState, orders: number, due: string | null, problem: string | null, heldAt: string | null, holdReason: string | null, approvedAt: string | null, closedAt: string | null, paidAt: string | null, sha256: string | null, attempts: number, figures: Array<{ coin: string, network: string, opening: string, accrued: string, converted: string, corrected: string, paid: string, closing: string }>, payment: { id: string, state: PaymentState, amount: string, problem: string | null, explorerUrl: string | null, attempts: Array<{ txid: string | null }> } | null }> } };

export type CommissionEntriesQueryVariables = Exact<{
  partnerId: string | number;
  month: string;
  first?: number | null | undefined;
  after?: string | null | undefined;
  last?: number | null | undefined;
  before?: string | null | undefined;
}>;


export type CommissionEntriesQuery = { partnerCommission: { month: { id: string, entries: { edges: Array<{ node: { id: string, at: string, kind: CommissionEntryKind, coin: string, network: string, amount: string, fromCoin: string | null, fromNetwork: string | null, fromAmount: string | null, fromPrice: string | null, price: string | null, corrects: string | null, reason: string | null, order: { shortId: string } | null, payment: { state: PaymentState } | null } }>, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } } } } };

export type HoldCommissionMutationVariables = Exact<{
  partnerId: string | number;
  month: string;
  reason: string;
}>;


export type HoldCommissionMutation = { commissionHold: { id: string, state: OrderActionState } };

export type ReleaseCommissionMutationVariables = Exact<{
  partnerId: string | number;
  month: string;
  reason: string;
}>;


export type ReleaseCommissionMutation = { commissionRelease: { id: string, state: OrderActionState } };

export type PayCommissionMutationVariables = Exact<{
  partnerId: string | number;
  month: string;
  reason: string;
}>;


export type PayCommissionMutation = { commissionPay: { id: string, state: OrderActionState } };

export type CancelCommissionMutationVariables = Exact<{
  partnerId: string | number;
  month: string;
  reason: string;
}>;


export type CancelCommissionMutation = { commissionCancel: { id: string, state: OrderActionState } };

export type CorrectCommissionMutationVariables = Exact<{
  input: CommissionCorrection;
  reason: string;
}>;


export type CorrectCommissionMutation = { commissionCorrect: { id: string, state: OrderActionState } };

export type SetCommissionAddressMutationVariables = Exact<{
  input: CommissionAddressRequest;
  reason: string;
}>;


export type SetCommissionAddressMutation = { commissionAddressSet: { id: string, state: OrderActionState } };

export type SwitchCurrencyMutationVariables = Exact<{
  coin: string;
  network: string;
  switches: CurrencySwitchesInput;
  reason: string;
}>;


export type SwitchCurrencyMutation = { currencySwitch: { id: string } };

export type SetTermsMutationVariables = Exact<{
  coin: string;
  network: string;
  terms: CurrencyTermsInput;
  reason: string;
}>;


export type SetTermsMutation = { currencyTerms: { id: string } };

export type OverridePriceMutationVariables = Exact<{
  input: PriceOverrideInput;
  reason: string;
}>;


export type OverridePriceMutation = { priceOverride: { id: string } };

export type EndOverrideMutationVariables = Exact<{
  coinFrom: string;
  coinTo: string;
  reason: string;
}>;


export type EndOverrideMutation = { priceOverrideEnd: { id: string } };

export type CreatePartnerMutationVariables = Exact<{
  name: string;
  reason: string;
}>;


export type CreatePartnerMutation = { partnerCreate: { id: string } };

export type IssueKeyMutationVariables = Exact<{
  partnerId: string | number;
  key?: KeyInput | null | undefined;
  reason: string;
}>;


export type IssueKeyMutation = { keyIssue: { key: string, keyId: string } };

export type RollKeyMutationVariables = Exact<{
  keyId: string | number;
  hours: number;
  reason: string;
}>;


export type RollKeyMutation = { keyRoll: { key: string, keyId: string } };

export type ChangeKeyMutationVariables = Exact<{
  keyId: string | number;
  key: KeyInput;
  reason: string;
}>;


export type ChangeKeyMutation = { keyChange: { keyId: string } };

export type RevokeKeyMutationVariables = Exact<{
  keyId: string | number;
  reason: string;
}>;


export type RevokeKeyMutation = { keyRevoke: { keyId: string } };

export type InviteMemberMutationVariables = Exact<{
  partnerId: string | number;
  name: string;
  role: MemberRole;
  reason: string;
}>;


export type InviteMemberMutation = { memberInvite: { link: string } };

export type RecoverMemberMutationVariables = Exact<{
  memberId: string | number;
  reason: string;
}>;


export type RecoverMemberMutation = { memberRecover: { link: string } };

export type WithdrawInvitationMutationVariables = Exact<{
  id: string | number;
  reason: string;
}>;


export type WithdrawInvitationMutation = { invitationWithdraw: { id: string } };

export type RenewOrderPageMutationVariables = Exact<{
  orderId: string | number;
  reason: string;
}>;


export type RenewOrderPageMutation = { orderPageRenew: { id: string } };

export type RevokeOrderPageMutationVariables = Exact<{
  orderId: string | number;
  reason: string;
}>;


export type RevokeOrderPageMutation = { orderPageRevoke: { id: string } };

export type ChangePartnerMutationVariables = Exact<{
  id: string | number;
  changes: PartnerChangesInput;
  reason: string;
}>;


export type ChangePartnerMutation = { partnerChange: { id: string } };

export type CreateWebhookMutationVariables = Exact<{
  partnerId: string | number;
  endpoint: WebhookInput;
  reason: string;
}>;


export type CreateWebhookMutation = { webhookCreate: { secret: string } };

export type ChangeWebhookMutationVariables = Exact<{
  id: string | number;
  endpoint: WebhookInput;
  reason: string;
}>;


export type ChangeWebhookMutation = { webhookChange: { id: string } };

export type RotateWebhookSecretMutationVariables = Exact<{
  id: string | number;
  hours: number;
  reason: string;
}>;


export type RotateWebhookSecretMutation = { webhookRotateSecret: { secret: string } };

export type TestWebhookMutationVariables = Exact<{
  id: string | number;
  reason: string;
}>;


export type TestWebhookMutation = { webhookTest: { eventId: string } };

export type ReplayWebhookMutationVariables = Exact<{
  id: string | number;
  eventIds: Array<string> | string;
  reason: string;
}>;


export type ReplayWebhookMutation = { webhookReplay: { count: number } };

export type DeleteWebhookMutationVariables = Exact<{
  id: string | number;
  reason: string;
}>;


export type DeleteWebhookMutation = { webhookDelete: { id: string } };

export type InviteStaffMutationVariables = Exact<{
  email: string;
  role: StaffRole;
  reason: string;
}>;


export type InviteStaffMutation = { staffInvite: { enrolmentCode: string | null, change: { state: OrderActionState } } };

export type SetStaffRoleMutationVariables = Exact<{
  id: string | number;
  role: StaffRole;
  reason: string;
}>;


export type SetStaffRoleMutation = { staffRole: { enrolmentCode: string | null, change: { state: OrderActionState } } };

export type RenewStaffTokenMutationVariables = Exact<{
  id: string | number;
  reason: string;
}>;


export type RenewStaffTokenMutation = { staffToken: { enrolmentCode: string | null, change: { state: OrderActionState } } };

export type RevokeStaffMutationVariables = Exact<{
  id: string | number;
  reason: string;
}>;


export type RevokeStaffMutation = { staffRevoke: { enrolmentCode: string | null, change: { state: OrderActionState } } };

export type ApproveStaffChangeMutationVariables = Exact<{
  id: string | number;
  reason: string;
}>;


export type ApproveStaffChangeMutation = { staffChangeApprove: { enrolmentCode: string | null, change: { state: OrderActionState } } };

export type RejectStaffChangeMutationVariables = Exact<{
  id: string | number;
  reason: string;
}>;


export type RejectStaffChangeMutation = { staffChangeReject: { enrolmentCode: string | null, change: { state: OrderActionState } } };

export type OrderMovesSubscriptionVariables = Exact<{ [key: string]: never; }>;


export type OrderMovesSubscription = { orderChanged: { seq: number, at: string, fromStatus: OrderStatus | null, toStatus: OrderStatus, cause: OrderCause, order: { id: string, shortId: string } } };

export type AttentionMovesSubscriptionVariables = Exact<{ [key: string]: never; }>;


export type AttentionMovesSubscription = { attentionChanged: { isOver: boolean, item: { id: string, kind: AttentionKind } } };

export type BalancesQueryVariables = Exact<{
  at?: string | null | undefined;
}>;


export type BalancesQuery = { ledgerBalances: Array<{ account: LedgerAccount, venue: string | null, coin: string, network: string, balance: string, partner: { id: string, name: string } | null }> };

export class TypedDocumentString<TResult, TVariables>
  extends String
  implements DocumentTypeDecoration<TResult, TVariables>
{
  __apiType?: NonNullable<DocumentTypeDecoration<TResult, TVariables>['__apiType']>;
  private value: string;
  public __meta__?: Record<string, any> | undefined;

  constructor(value: string, __meta__?: Record<string, any> | undefined) {
    super(value);
    this.value = value;
    this.__meta__ = __meta__;
  }

  override toString(): string & DocumentTypeDecoration<TResult, TVariables> {
    return this.value;
  }
}
export const AttentionFieldsFragmentDoc = new TypedDocumentString(`
    fragment AttentionFields on AttentionItem {
  id
  kind
  subjectId
  since
  detail
  reason @include(if: $mayActions)
  partner {
    id
    name
  }
  hold {
    id
    coin
    network
    cause
    detail
  }
  assignee {
    since
    member {
      id
      email
    }
  }
  order {
    id
    shortId
    status
    coinFrom
    networkFrom
    coinTo
    networkTo
    partner {
      id
      name
    }
  }
  deposit {
    id
    amount
    coin
    network
    txid
    address
    problem
  }
}
    `, {"fragmentName":"AttentionFields"}) as unknown as TypedDocumentString<AttentionFieldsFragment, unknown>;
export const VenueLineFragmentDoc = new TypedDocumentString(`
    fragment VenueLine on VenueHistory {
  measure
  coin
}
    `, {"fragmentName":"VenueLine"}) as unknown as TypedDocumentString<VenueLineFragment, unknown>;
export const OrderRowFragmentDoc = new TypedDocumentString(`
    fragment OrderRow on Order {
  id
  shortId
  status
  createdAt
  updatedAt
  coinFrom
  networkFrom
  coinTo
  networkTo
  rateType
  amountFromExpected
  amountToExpected
  amountFromActual
  amountToActual
  hold {
    since
  }
  partner {
    id
    name
  }
}
    `, {"fragmentName":"OrderRow"}) as unknown as TypedDocumentString<OrderRowFragment, unknown>;
export const VenueSubjectFragmentDoc = new TypedDocumentString(`
    fragment VenueSubject on OrderAction {
  venue
  movementKind
  reference
  coin
  amount
  class
}
    `, {"fragmentName":"VenueSubject"}) as unknown as TypedDocumentString<VenueSubjectFragment, unknown>;
export const CommissionSubjectFragmentDoc = new TypedDocumentString(`
    fragment CommissionSubject on OrderAction {
  coin
  network
  amount
  oldIsLost
  month
  partner {
    id
    name
  }
}
    `, {"fragmentName":"CommissionSubject"}) as unknown as TypedDocumentString<CommissionSubjectFragment, unknown>;
export const MovementPageFragmentDoc = new TypedDocumentString(`
    fragment MovementPage on VenueMovementConnection {
  edges {
    node {
      id
      venue
      kind
      reference
      coin
      network
      txid
      isInternal
      address
      tag
      amount
      state
      told
      at
      isClassifiable
    }
  }
  pageInfo {
    hasNextPage
  }
}
    `, {"fragmentName":"MovementPage"}) as unknown as TypedDocumentString<MovementPageFragment, unknown>;
export const TransferPageFragmentDoc = new TypedDocumentString(`
    fragment TransferPage on TreasuryTransferConnection {
  edges {
    node {
      id
      venue
      movementKind
      coin
      network
      chain
      state
      problem
      amount
      bookedAmount
      bookedFee
      arrived
      writtenOff
      createdAt
      isClassifiable
      explorerUrl
      movement {
        reference
        txid
        isInternal
        told
      }
      arrivals {
        id
        txid
        explorerUrl
      }
    }
  }
  pageInfo {
    hasNextPage
  }
}
    `, {"fragmentName":"TransferPage"}) as unknown as TypedDocumentString<TransferPageFragment, unknown>;
export const CommissionMonthRowFragmentDoc = new TypedDocumentString(`
    fragment CommissionMonthRow on CommissionMonth {
  id
  month
  coin
  network
  state
  orders
  due
  problem
  heldAt
  holdReason
  approvedAt
  closedAt
  paidAt
  sha256
  attempts
  figures {
    coin
    network
    opening
    accrued
    converted
    corrected
    paid
    closing
  }
  payment {
    id
    state
    amount
    problem
    explorerUrl
    attempts {
      txid
    }
  }
}
    `, {"fragmentName":"CommissionMonthRow"}) as unknown as TypedDocumentString<CommissionMonthRowFragment, unknown>;
export const MeDocument = new TypedDocumentString(`
    query Me {
  me {
    id
    email
    role
    permissions
  }
}
    `) as unknown as TypedDocumentString<MeQuery, MeQueryVariables>;
export const AttentionDocument = new TypedDocumentString(`
    query Attention($mayActions: Boolean!) {
  attention(limit: 200) {
    ...AttentionFields
  }
}
    fragment AttentionFields on AttentionItem {
  id
  kind
  subjectId
  since
  detail
  reason @include(if: $mayActions)
  partner {
    id
    name
  }
  hold {
    id
    coin
    network
    cause
    detail
  }
  assignee {
    since
    member {
      id
      email
    }
  }
  order {
    id
    shortId
    status
    coinFrom
    networkFrom
    coinTo
    networkTo
    partner {
      id
      name
    }
  }
  deposit {
    id
    amount
    coin
    network
    txid
    address
    problem
  }
}`) as unknown as TypedDocumentString<AttentionQuery, AttentionQueryVariables>;
export const OrderViewsDocument = new TypedDocumentString(`
    query OrderViews {
  orderViews {
    id
    name
    query
  }
}
    `) as unknown as TypedDocumentString<OrderViewsQuery, OrderViewsQueryVariables>;
export const SaveOrderViewDocument = new TypedDocumentString(`
    mutation SaveOrderView($name: String!, $query: String!) {
  orderViewSave(name: $name, query: $query) {
    id
  }
}
    `) as unknown as TypedDocumentString<SaveOrderViewMutation, SaveOrderViewMutationVariables>;
export const RemoveOrderViewDocument = new TypedDocumentString(`
    mutation RemoveOrderView($id: ID!) {
  orderViewRemove(id: $id) {
    id
  }
}
    `) as unknown as TypedDocumentString<RemoveOrderViewMutation, RemoveOrderViewMutationVariables>;
export const AttentionAssigneesDocument = new TypedDocumentString(`
    query AttentionAssignees {
  attentionAssignees {
    id
    email
  }
}
    `) as unknown as TypedDocumentString<AttentionAssigneesQuery, AttentionAssigneesQueryVariables>;
export const TakeItemDocument = new TypedDocumentString(`
    mutation TakeItem($itemId: ID!) {
  attentionTake(itemId: $itemId) {
    id
  }
}
    `) as unknown as TypedDocumentString<TakeItemMutation, TakeItemMutationVariables>;
export const ReleaseItemDocument = new TypedDocumentString(`
    mutation ReleaseItem($itemId: ID!) {
  attentionRelease(itemId: $itemId) {
    id
  }
}
    `) as unknown as TypedDocumentString<ReleaseItemMutation, ReleaseItemMutationVariables>;
export const HandOverItemDocument = new TypedDocumentString(`
    mutation HandOverItem($itemId: ID!, $from: ID, $to: ID!, $reason: String!) {
  attentionHandOver(itemId: $itemId, from: $from, to: $to, reason: $reason) {
    id
  }
}
    `) as unknown as TypedDocumentString<HandOverItemMutation, HandOverItemMutationVariables>;
export const OverviewDocument = new TypedDocumentString(`
    query Overview($from: DateTime!, $to: DateTime!, $earlier: DateTime!, $interval: StatsInterval!) {
  stats(from: $from, to: $to, interval: $interval) {
    series {
      at
      created
      completed
      expired
      refunded
      failed
      conversion
      volumeUsd
      revenueUsd
    }
    failures {
      status
      cause
      count
    }
  }
  before: stats(from: $earlier, to: $from, interval: $interval) {
    series {
      at
      created
      completed
      expired
      refunded
      failed
      volumeUsd
      revenueUsd
    }
  }
}
    `) as unknown as TypedDocumentString<OverviewQuery, OverviewQueryVariables>;
export const DurationsDocument = new TypedDocumentString(`
    query Durations($from: DateTime!, $to: DateTime!, $interval: StatsInterval!) {
  stats(from: $from, to: $to, interval: $interval) {
    timePercentiles {
      orders
      isWhole
      statuses {
        status
        count
        p50Seconds
        p95Seconds
      }
    }
  }
}
    `) as unknown as TypedDocumentString<DurationsQuery, DurationsQueryVariables>;
export const ApiTrafficDocument = new TypedDocumentString(`
    query ApiTraffic {
  apiTraffic(minutes: 15) {
    from
    to
    endpoints {
      endpoint
      requests
      clientErrors
      serverErrors
      p50Ms
      p99Ms
    }
  }
}
    `) as unknown as TypedDocumentString<ApiTrafficQuery, ApiTrafficQueryVariables>;
export const HealthDocument = new TypedDocumentString(`
    query Health {
  system {
    chains {
      chain
      head
      height
      lag
      problem
      failure
      failingSince
      scannedAt
    }
    workers {
      id
      seenAt
    }
    queues {
      name
      waiting
      oldestSec
    }
    overdueOrders
    statistics {
      eventsBehind
      rolledAt
      behindSince
    }
    reconciliation {
      endedAt
      checks
      differences
    }
  }
}
    `) as unknown as TypedDocumentString<HealthQuery, HealthQueryVariables>;
export const WalletLevelsDocument = new TypedDocumentString(`
    query WalletLevels($from: DateTime!, $to: DateTime!, $limit: Int!, $chain: String, $coin: String, $network: String) {
  all: walletHistory(from: $from, to: $to, first: 100) {
    chain
    coin
    network
  }
  chosen: walletHistory(
    from: $from
    to: $to
    first: 1
    chain: $chain
    coin: $coin
    network: $network
  ) {
    chain
    coin
    network
    points(limit: $limit) {
      at
      lowest
      highest
      last
      low
      high
    }
  }
}
    `) as unknown as TypedDocumentString<WalletLevelsQuery, WalletLevelsQueryVariables>;
export const VenueFiguresDocument = new TypedDocumentString(`
    query VenueFigures($from: DateTime!, $to: DateTime!, $limit: Int!, $measure: VenueMeasure, $coin: String) {
  balances: venueHistory(from: $from, to: $to, first: 100, measure: BALANCE) {
    ...VenueLine
  }
  stocks: venueHistory(from: $from, to: $to, first: 100, measure: STOCK) {
    ...VenueLine
  }
  buyDepths: venueHistory(from: $from, to: $to, first: 100, measure: BUY_DEPTH) {
    ...VenueLine
  }
  sellDepths: venueHistory(from: $from, to: $to, first: 100, measure: SELL_DEPTH) {
    ...VenueLine
  }
  positions: venueHistory(from: $from, to: $to, first: 100, measure: OPEN_USD) {
    ...VenueLine
  }
  chosen: venueHistory(
    from: $from
    to: $to
    first: 1
    measure: $measure
    coin: $coin
  ) {
    ...VenueLine
    points(limit: $limit) {
      at
      lowest
      highest
      last
    }
  }
}
    fragment VenueLine on VenueHistory {
  measure
  coin
}`) as unknown as TypedDocumentString<VenueFiguresQuery, VenueFiguresQueryVariables>;
export const HeldCoinsDocument = new TypedDocumentString(`
    query HeldCoins($from: DateTime!, $to: DateTime!, $limit: Int!, $coin: String) {
  all: venueHistory(from: $from, to: $to, first: 100, measure: HELD) {
    coin
  }
  chosen: venueHistory(from: $from, to: $to, first: 1, measure: HELD, coin: $coin) {
    coin
    points(limit: $limit) {
      at
      lowest
      highest
      last
    }
  }
  free: venueHistory(
    from: $from
    to: $to
    first: 1
    measure: HELD_FREE
    coin: $coin
  ) {
    coin
    points(limit: $limit) {
      at
      last
    }
  }
}
    `) as unknown as TypedDocumentString<HeldCoinsQuery, HeldCoinsQueryVariables>;
export const ChainLagDocument = new TypedDocumentString(`
    query ChainLag($from: DateTime!, $to: DateTime!, $limit: Int!, $chain: String) {
  all: chainHistory(from: $from, to: $to, first: 100) {
    chain
  }
  chosen: chainHistory(from: $from, to: $to, first: 1, chain: $chain) {
    chain
    points(limit: $limit) {
      at
      lagLowest
      lagHighest
      lagLast
      height
      head
      failures
      failure
      readings
    }
  }
}
    `) as unknown as TypedDocumentString<ChainLagQuery, ChainLagQueryVariables>;
export const OrdersDocument = new TypedDocumentString(`
    query Orders($first: Int, $after: String, $last: Int, $before: String, $filter: OrderFilter, $orderBy: OrderOrder) {
  orders(
    first: $first
    after: $after
    last: $last
    before: $before
    filter: $filter
    orderBy: $orderBy
  ) {
    count {
      value
      isExact
    }
    edges {
      cursor
      node {
        ...OrderRow
      }
    }
    pageInfo {
      hasNextPage
      hasPreviousPage
      startCursor
      endCursor
    }
  }
}
    fragment OrderRow on Order {
  id
  shortId
  status
  createdAt
  updatedAt
  coinFrom
  networkFrom
  coinTo
  networkTo
  rateType
  amountFromExpected
  amountToExpected
  amountFromActual
  amountToActual
  hold {
    since
  }
  partner {
    id
    name
  }
}`) as unknown as TypedDocumentString<OrdersQuery, OrdersQueryVariables>;
export const OrderDocument = new TypedDocumentString(`
    query Order($id: ID!, $mayActions: Boolean!, $mayLedger: Boolean!) {
  order(id: $id) {
    ...OrderRow
    partner {
      orderPage
    }
    hasPageLink
    expiresAt
    nextActionAt
    hold {
      since
      reason
    }
    terms {
      rate
      feeRate
      serviceFee
      networkFee
      minAmount
      maxAmount
    }
    depositAddress
    depositAddressTag
    paymentUri
    depositConfirmations
    depositConfirmationsRequired
    depositTxid
    recipientAddress
    recipientAddressTag
    refundAddress
    refundAddressTag
    refundAddressSetAt
    payoutTxid
    events {
      seq
      at
      fromStatus
      toStatus
      cause
      actor
      detail
    }
    questions {
      seq
      reason
      amount
      amountFrom
      askedAt
      deadline
      outcome
      endedAt
      actor
      amountTo
    }
    deposits {
      id
      txid
      explorerUrl
      amount
      coin
      network
      address
      state
      height
      seenAt
      minedAt
      creditedAt
      confirmationsRequired
      problem
    }
    trade {
      venue
      state
      amountFrom
      amountTo
      minBought
      bought
      serviceFee
      networkFee
      createdAt
      settledAt
      tries
      problem
    }
    payments {
      id
      explorerUrl
      kind
      leg
      amount
      coin
      network
      address
      tag
      state
      problem
      problemSince
      createdAt
      sentAt
      endedAt
      feeCharged
      attempts {
        attempt
        txid
        fee
        expiresAtHeight
        expiresAt
        sentAt
        minedHeight
        deadAt
        deadWhy
      }
    }
    notes {
      id
      at
      text
      author {
        id
        email
      }
    }
    actions @include(if: $mayActions) {
      id
      action
      state
      reason
      address
      tag
      price
      proposedAt
      approvableFrom
      proposedBy {
        id
        email
      }
      decidedAt
      decidedBy {
        id
        email
      }
    }
    ledgerLines @include(if: $mayLedger) {
      at
      kind
      account
      venue
      coin
      network
      amount
    }
  }
}
    fragment OrderRow on Order {
  id
  shortId
  status
  createdAt
  updatedAt
  coinFrom
  networkFrom
  coinTo
  networkTo
  rateType
  amountFromExpected
  amountToExpected
  amountFromActual
  amountToActual
  hold {
    since
  }
  partner {
    id
    name
  }
}`) as unknown as TypedDocumentString<OrderQuery, OrderQueryVariables>;
export const SessionsDocument = new TypedDocumentString(`
    query Sessions {
  sessions {
    id
    via
    createdAt
    lastSeenAt
    expiresAt
    isCurrent
  }
}
    `) as unknown as TypedDocumentString<SessionsQuery, SessionsQueryVariables>;
export const EndSessionDocument = new TypedDocumentString(`
    mutation EndSession($id: ID!, $reason: String!) {
  sessionEnd(id: $id, reason: $reason) {
    id
  }
}
    `) as unknown as TypedDocumentString<EndSessionMutation, EndSessionMutationVariables>;
export const DecidedProposalsDocument = new TypedDocumentString(`
    query DecidedProposals {
  decidedProposals {
    id
    action
    state
    reason
    proposedBy {
      id
      email
    }
    decidedAt
    decidedBy {
      id
      email
    }
    order {
      id
      shortId
      coinFrom
      networkFrom
      coinTo
      networkTo
    }
    deposit {
      id
      amount
      coin
      network
    }
    hold {
      id
      coin
      network
    }
    ...VenueSubject
    ...CommissionSubject
  }
}
    fragment VenueSubject on OrderAction {
  venue
  movementKind
  reference
  coin
  amount
  class
}
fragment CommissionSubject on OrderAction {
  coin
  network
  amount
  oldIsLost
  month
  partner {
    id
    name
  }
}`) as unknown as TypedDocumentString<DecidedProposalsQuery, DecidedProposalsQueryVariables>;
export const UnassignedDepositsDocument = new TypedDocumentString(`
    query UnassignedDeposits($txid: String, $withSmall: Boolean!) {
  unassignedDeposits(first: 50, txid: $txid, withSmall: $withSmall) {
    edges {
      node {
        id
        amount
        coin
        network
        txid
        tag
        state
        problem
        seenAt
      }
    }
    pageInfo {
      hasNextPage
    }
  }
}
    `) as unknown as TypedDocumentString<UnassignedDepositsQuery, UnassignedDepositsQueryVariables>;
export const ProposalsDocument = new TypedDocumentString(`
    query Proposals {
  proposals {
    id
    action
    state
    reason
    evidence
    address
    tag
    price
    proposedAt
    approvableFrom
    proposedBy {
      id
      email
    }
    order {
      id
      shortId
      status
      coinFrom
      networkFrom
      coinTo
      networkTo
      amountFromExpected
      partner {
        name
      }
    }
    deposit {
      id
      amount
      coin
      network
    }
    hold {
      id
      coin
      network
      cause
      detail
    }
    ...VenueSubject
    ...CommissionSubject
  }
}
    fragment VenueSubject on OrderAction {
  venue
  movementKind
  reference
  coin
  amount
  class
}
fragment CommissionSubject on OrderAction {
  coin
  network
  amount
  oldIsLost
  month
  partner {
    id
    name
  }
}`) as unknown as TypedDocumentString<ProposalsQuery, ProposalsQueryVariables>;
export const PartnersDocument = new TypedDocumentString(`
    query Partners($first: Int, $after: String, $last: Int, $before: String, $search: String, $status: PartnerStatus) {
  partnerList(
    first: $first
    after: $after
    last: $last
    before: $before
    search: $search
    status: $status
  ) {
    edges {
      node {
        id
        name
        status
        createdAt
        pricing {
          float
          fixed
        }
        usage {
          created
          volumeUsd
          revenueUsd
        }
      }
    }
    pageInfo {
      hasNextPage
      hasPreviousPage
      startCursor
      endCursor
    }
  }
}
    `) as unknown as TypedDocumentString<PartnersQuery, PartnersQueryVariables>;
export const PartnerNamesDocument = new TypedDocumentString(`
    query PartnerNames($search: String) {
  partnerList(first: 20, search: $search) {
    edges {
      node {
        id
        name
      }
    }
    pageInfo {
      hasNextPage
    }
  }
}
    `) as unknown as TypedDocumentString<PartnerNamesQuery, PartnerNamesQueryVariables>;
export const PartnerNameDocument = new TypedDocumentString(`
    query PartnerName($id: ID!) {
  partner(id: $id) {
    id
    name
  }
}
    `) as unknown as TypedDocumentString<PartnerNameQuery, PartnerNameQueryVariables>;
export const PartnerDocument = new TypedDocumentString(`
    query Partner($id: ID!, $mayKeys: Boolean!) {
  partner(id: $id) {
    id
    name
    status
    createdAt
    updatedAt
    publicStatus
    requireSignature
    keepsFixedCaps
    feeRateFixed
    feeRateFloat
    pricing {
      float
      fixed
    }
    rateLimitPerMin
    ordersLimitPerMin
    listsLimitPerMin
    maxOpenOrders
    maxFixedExposureUsd
    maxFixedDayUsd
    maxFloatExposureUsd
    maxMarkupBps
    quoteHoldSec
    limits {
      requests
      orders
      lists
      quotes
      validations
      changes
      openOrders
      fixedExposureUsd
      fixedDayUsd
      floatExposureUsd
      markupBps
      quoteHoldSec
    }
    orderPage
    displayName
    exposure {
      orders
      ordersCap
      fixedHourUsd
      fixedHourCapUsd
      fixedDayUsd
      fixedDayCapUsd
      floatUsd
      floatCapUsd
      areFixedCapsCut
    }
    fixedResults {
      day {
        orders
        sentUsd
        adverseBps
        lossUsd
      }
      month {
        orders
        sentUsd
        adverseBps
        lossUsd
      }
    }
    usage {
      at
      created
      completed
      expired
      refunded
      failed
      volumeUsd
      revenueUsd
    }
    members @include(if: $mayKeys) {
      id
      name
      role
      passkeys
      lastSeenAt
    }
    invitations @include(if: $mayKeys) {
      id
      name
      role
      isRecovery
      invitedBy
      createdAt
      expiresAt
    }
    keys @include(if: $mayKeys) {
      keyId
      label
      last4
      scopes
      allowedCidrs
      defaultMarkupBps
      createdAt
      expiresAt
      lastUsedAt
      revokedAt
      refusals {
        refused
        limited
      }
    }
  }
  webhookEndpoints(partnerId: $id) {
    id
    url
    status
    types
    coinFrom
    coinTo
    amounts
    failures
    failingSince
    lastSuccessAt
    lastFailureAt
    disabledReason
    disabledAt
    deliveries(first: 10) {
      eventId
      type
      state
      createdAt
      nextAttemptAt
      isReplay
      orderId
      log {
        attempt
        at
        status
        ms
        error
        answer
      }
    }
  }
}
    `) as unknown as TypedDocumentString<PartnerQuery, PartnerQueryVariables>;
export const WebhookEventTypesDocument = new TypedDocumentString(`
    query WebhookEventTypes {
  webhookEventTypes
}
    `) as unknown as TypedDocumentString<WebhookEventTypesQuery, WebhookEventTypesQueryVariables>;
export const MoneyDocument = new TypedDocumentString(`
    query Money {
  payoutBrakes {
    holds {
      id
      coin
      network
      cause
      detail
      openedAt
      isStanding
      waiting
      openedBy {
        email
      }
      proposedBy {
        email
      }
    }
    limits {
      coin
      network
      hourUsd
      hourLimitUsd
      dayUsd
      dayLimitUsd
      waiting
      waitingSince
    }
  }
  system {
    wallets {
      chain
      coin
      network
      balance
      low
      high
      seenAt
    }
    reconciliation {
      endedAt
      checks
      differences
    }
  }
}
    `) as unknown as TypedDocumentString<MoneyQuery, MoneyQueryVariables>;
export const TreasuryDocument = new TypedDocumentString(`
    query Treasury {
  treasury {
    accounts {
      venue
      isWatched
      watchedFrom
      openedAt
      listedAt
      balancesAt
      failingSince
      failure
      balances {
        coin
        total
        free
        booked
        inFlight
        difference
        comparedAt
        differing
        isClassifiable
      }
    }
    open: transfers(state: [ASKED, SENT, ARRIVED], first: 50) {
      ...TransferPage
    }
    returned: transfers(state: [RETURNED], first: 50) {
      ...TransferPage
    }
  }
  foreign: venueMovements(part: FOREIGN, first: 50) {
    ...MovementPage
  }
  undecided: venueMovements(part: OPEN, first: 50) {
    ...MovementPage
  }
}
    fragment MovementPage on VenueMovementConnection {
  edges {
    node {
      id
      venue
      kind
      reference
      coin
      network
      txid
      isInternal
      address
      tag
      amount
      state
      told
      at
      isClassifiable
    }
  }
  pageInfo {
    hasNextPage
  }
}
fragment TransferPage on TreasuryTransferConnection {
  edges {
    node {
      id
      venue
      movementKind
      coin
      network
      chain
      state
      problem
      amount
      bookedAmount
      bookedFee
      arrived
      writtenOff
      createdAt
      isClassifiable
      explorerUrl
      movement {
        reference
        txid
        isInternal
        told
      }
      arrivals {
        id
        txid
        explorerUrl
      }
    }
  }
  pageInfo {
    hasNextPage
  }
}`) as unknown as TypedDocumentString<TreasuryQuery, TreasuryQueryVariables>;
export const CatalogueDocument = new TypedDocumentString(`
    query Catalogue {
  currencies {
    id
    coin
    network
    name
    isActive
    isDepositEnabled
    isWithdrawEnabled
    minAmount
    maxAmount
    networkFee
    minConfirmations
    decimals
    isMemo
    contract
    updatedAt
  }
}
    `) as unknown as TypedDocumentString<CatalogueQuery, CatalogueQueryVariables>;
export const PricesDocument = new TypedDocumentString(`
    query Prices {
  priceOverrides {
    id
    coinFrom
    coinTo
    price
    createdAt
    endsAt
    setBy {
      email
    }
  }
  system {
    prices {
      coin
      price
      ageSec
    }
  }
}
    `) as unknown as TypedDocumentString<PricesQuery, PricesQueryVariables>;
export const QuoteDocument = new TypedDocumentString(`
    query Quote($input: QuoteInput!) {
  quote(input: $input) {
    amountFrom
    coinFrom
    networkFrom
    amountTo
    coinTo
    networkTo
    rate
    rateType
    feeRate
    serviceFee
    networkFee
    minAmount
    maxAmount
    expiresIn
  }
}
    `) as unknown as TypedDocumentString<QuoteQuery, QuoteQueryVariables>;
export const AuditDocument = new TypedDocumentString(`
    query Audit($first: Int, $after: String, $last: Int, $before: String, $staffId: ID, $target: String, $operation: String, $from: DateTime, $to: DateTime) {
  auditLog(
    first: $first
    after: $after
    last: $last
    before: $before
    staffId: $staffId
    target: $target
    operation: $operation
    from: $from
    to: $to
  ) {
    edges {
      cursor
      node {
        id
        at
        operation
        target
        object {
          name
          orderId
          partnerId
        }
        proposal {
          step
          what
        }
        reason
        requestId
        ip
        operator
        member
        actor {
          id
          email
        }
        before
        after
      }
    }
    pageInfo {
      hasNextPage
      hasPreviousPage
      startCursor
      endCursor
    }
  }
}
    `) as unknown as TypedDocumentString<AuditQuery, AuditQueryVariables>;
export const StaffDocument = new TypedDocumentString(`
    query Staff {
  staff {
    id
    email
    role
    hasToken
    createdAt
    approvesFrom
    suspendedAt
    revokedAt
  }
  staffChanges {
    id
    change
    state
    email
    role
    reason
    proposedAt
    approvableFrom
    proposedBy {
      id
      email
    }
    member {
      id
      email
    }
  }
}
    `) as unknown as TypedDocumentString<StaffQuery, StaffQueryVariables>;
export const NoteOrderDocument = new TypedDocumentString(`
    mutation NoteOrder($orderId: ID!, $text: String!) {
  orderNote(orderId: $orderId, text: $text) {
    id
  }
}
    `) as unknown as TypedDocumentString<NoteOrderMutation, NoteOrderMutationVariables>;
export const HoldOrderDocument = new TypedDocumentString(`
    mutation HoldOrder($orderId: ID!, $reason: String!) {
  orderHold(orderId: $orderId, reason: $reason) {
    id
    state
  }
}
    `) as unknown as TypedDocumentString<HoldOrderMutation, HoldOrderMutationVariables>;
export const ReleaseOrderDocument = new TypedDocumentString(`
    mutation ReleaseOrder($orderId: ID!, $reason: String!) {
  orderRelease(orderId: $orderId, reason: $reason) {
    id
    state
  }
}
    `) as unknown as TypedDocumentString<ReleaseOrderMutation, ReleaseOrderMutationVariables>;
export const RetryPayoutDocument = new TypedDocumentString(`
    mutation RetryPayout($orderId: ID!, $reason: String!) {
  orderRetryPayout(orderId: $orderId, reason: $reason) {
    id
    state
  }
}
    `) as unknown as TypedDocumentString<RetryPayoutMutation, RetryPayoutMutationVariables>;
export const MarkFailedDocument = new TypedDocumentString(`
    mutation MarkFailed($orderId: ID!, $reason: String!) {
  orderMarkFailed(orderId: $orderId, reason: $reason) {
    id
    state
  }
}
    `) as unknown as TypedDocumentString<MarkFailedMutation, MarkFailedMutationVariables>;
export const RefundOrderDocument = new TypedDocumentString(`
    mutation RefundOrder($input: RefundInput!, $reason: String!) {
  orderRefund(input: $input, reason: $reason) {
    id
    state
  }
}
    `) as unknown as TypedDocumentString<RefundOrderMutation, RefundOrderMutationVariables>;
export const AssignDepositDocument = new TypedDocumentString(`
    mutation AssignDeposit($input: DepositAssignInput!, $reason: String!) {
  depositAssign(input: $input, reason: $reason) {
    id
    state
  }
}
    `) as unknown as TypedDocumentString<AssignDepositMutation, AssignDepositMutationVariables>;
export const VenuePriceDocument = new TypedDocumentString(`
    mutation VenuePrice($orderId: ID!, $price: Decimal!, $reason: String!) {
  orderVenuePrice(orderId: $orderId, price: $price, reason: $reason) {
    id
    state
  }
}
    `) as unknown as TypedDocumentString<VenuePriceMutation, VenuePriceMutationVariables>;
export const ApproveActionDocument = new TypedDocumentString(`
    mutation ApproveAction($id: ID!, $reason: String!) {
  actionApprove(id: $id, reason: $reason) {
    id
    state
  }
}
    `) as unknown as TypedDocumentString<ApproveActionMutation, ApproveActionMutationVariables>;
export const RejectActionDocument = new TypedDocumentString(`
    mutation RejectAction($id: ID!, $reason: String!) {
  actionReject(id: $id, reason: $reason) {
    id
    state
  }
}
    `) as unknown as TypedDocumentString<RejectActionMutation, RejectActionMutationVariables>;
export const StopPayoutsDocument = new TypedDocumentString(`
    mutation StopPayouts($coin: String, $network: String, $reason: String!) {
  payoutStop(coin: $coin, network: $network, reason: $reason) {
    id
  }
}
    `) as unknown as TypedDocumentString<StopPayoutsMutation, StopPayoutsMutationVariables>;
export const ResumePayoutsDocument = new TypedDocumentString(`
    mutation ResumePayouts($holdId: ID!, $acknowledge: Boolean!, $reason: String!) {
  payoutResume(holdId: $holdId, acknowledge: $acknowledge, reason: $reason) {
    id
    state
  }
}
    `) as unknown as TypedDocumentString<ResumePayoutsMutation, ResumePayoutsMutationVariables>;
export const ProposeOpeningDocument = new TypedDocumentString(`
    mutation ProposeOpening($venue: String!, $reason: String!) {
  venueOpeningPropose(venue: $venue, reason: $reason) {
    id
    state
  }
}
    `) as unknown as TypedDocumentString<ProposeOpeningMutation, ProposeOpeningMutationVariables>;
export const ClassifyEntryDocument = new TypedDocumentString(`
    mutation ClassifyEntry($venue: String!, $kind: VenueMovementKind, $reference: String, $coin: String, $amount: Decimal, $class: VenueClass!, $reason: String!) {
  treasuryClassify(
    venue: $venue
    kind: $kind
    reference: $reference
    coin: $coin
    amount: $amount
    class: $class
    reason: $reason
  ) {
    id
    state
  }
}
    `) as unknown as TypedDocumentString<ClassifyEntryMutation, ClassifyEntryMutationVariables>;
export const CommissionsDocument = new TypedDocumentString(`
    query Commissions($month: String!, $state: [CommissionState!], $first: Int, $after: String, $last: Int, $before: String) {
  commissions(
    month: $month
    state: $state
    first: $first
    after: $after
    last: $last
    before: $before
  ) {
    edges {
      node {
        ...CommissionMonthRow
        partner {
          id
          name
          status
        }
      }
    }
    pageInfo {
      hasNextPage
      hasPreviousPage
      startCursor
      endCursor
    }
  }
}
    fragment CommissionMonthRow on CommissionMonth {
  id
  month
  coin
  network
  state
  orders
  due
  problem
  heldAt
  holdReason
  approvedAt
  closedAt
  paidAt
  sha256
  attempts
  figures {
    coin
    network
    opening
    accrued
    converted
    corrected
    paid
    closing
  }
  payment {
    id
    state
    amount
    problem
    explorerUrl
    attempts {
      txid
    }
  }
}`) as unknown as TypedDocumentString<CommissionsQuery, CommissionsQueryVariables>;
export const CommissionMonthsDocument = new TypedDocumentString(`
    query CommissionMonths {
  commissionMonths(limit: 24) {
    month
    coin
    network
    accrued
    paid
    priceUsd
  }
}
    `) as unknown as TypedDocumentString<CommissionMonthsQuery, CommissionMonthsQueryVariables>;
export const PartnerCommissionDocument = new TypedDocumentString(`
    query PartnerCommission($partnerId: ID!) {
  partnerCommission(partnerId: $partnerId) {
    partner {
      id
      name
      status
    }
    addresses {
      id
      coin
      network
      address
      tag
      oldIsLost
      requestedBy
      requestedAt
      effectiveAt
      tookEffectAt
    }
    months(limit: 24) {
      ...CommissionMonthRow
    }
  }
}
    fragment CommissionMonthRow on CommissionMonth {
  id
  month
  coin
  network
  state
  orders
  due
  problem
  heldAt
  holdReason
  approvedAt
  closedAt
  paidAt
  sha256
  attempts
  figures {
    coin
    network
    opening
    accrued
    converted
    corrected
    paid
    closing
  }
  payment {
    id
    state
    amount
    problem
    explorerUrl
    attempts {
      txid
    }
  }
}`) as unknown as TypedDocumentString<PartnerCommissionQuery, PartnerCommissionQueryVariables>;
export const CommissionEntriesDocument = new TypedDocumentString(`
    query CommissionEntries($partnerId: ID!, $month: String!, $first: Int, $after: String, $last: Int, $before: String) {
  partnerCommission(partnerId: $partnerId) {
    month(month: $month) {
      id
      entries(first: $first, after: $after, last: $last, before: $before) {
        edges {
          node {
            id
            at
            kind
            coin
            network
            amount
            fromCoin
            fromNetwork
            fromAmount
            fromPrice
            price
            corrects
            reason
            order {
              shortId
            }
            payment {
              state
            }
          }
        }
        pageInfo {
          hasNextPage
          hasPreviousPage
          startCursor
          endCursor
        }
      }
    }
  }
}
    `) as unknown as TypedDocumentString<CommissionEntriesQuery, CommissionEntriesQueryVariables>;
export const HoldCommissionDocument = new TypedDocumentString(`
    mutation HoldCommission($partnerId: ID!, $month: String!, $reason: String!) {
  commissionHold(partnerId: $partnerId, month: $month, reason: $reason) {
    id
    state
  }
}
    `) as unknown as TypedDocumentString<HoldCommissionMutation, HoldCommissionMutationVariables>;
export const ReleaseCommissionDocument = new TypedDocumentString(`
    mutation ReleaseCommission($partnerId: ID!, $month: String!, $reason: String!) {
  commissionRelease(partnerId: $partnerId, month: $month, reason: $reason) {
    id
    state
  }
}
    `) as unknown as TypedDocumentString<ReleaseCommissionMutation, ReleaseCommissionMutationVariables>;
export const PayCommissionDocument = new TypedDocumentString(`
    mutation PayCommission($partnerId: ID!, $month: String!, $reason: String!) {
  commissionPay(partnerId: $partnerId, month: $month, reason: $reason) {
    id
    state
  }
}
    `) as unknown as TypedDocumentString<PayCommissionMutation, PayCommissionMutationVariables>;
export const CancelCommissionDocument = new TypedDocumentString(`
    mutation CancelCommission($partnerId: ID!, $month: String!, $reason: String!) {
  commissionCancel(partnerId: $partnerId, month: $month, reason: $reason) {
    id
    state
  }
}
    `) as unknown as TypedDocumentString<CancelCommissionMutation, CancelCommissionMutationVariables>;
export const CorrectCommissionDocument = new TypedDocumentString(`
    mutation CorrectCommission($input: CommissionCorrection!, $reason: String!) {
  commissionCorrect(input: $input, reason: $reason) {
    id
    state
  }
}
    `) as unknown as TypedDocumentString<CorrectCommissionMutation, CorrectCommissionMutationVariables>;
export const SetCommissionAddressDocument = new TypedDocumentString(`
    mutation SetCommissionAddress($input: CommissionAddressRequest!, $reason: String!) {
  commissionAddressSet(input: $input, reason: $reason) {
    id
    state
  }
}
    `) as unknown as TypedDocumentString<SetCommissionAddressMutation, SetCommissionAddressMutationVariables>;
export const SwitchCurrencyDocument = new TypedDocumentString(`
    mutation SwitchCurrency($coin: String!, $network: String!, $switches: CurrencySwitchesInput!, $reason: String!) {
  currencySwitch(
    coin: $coin
    network: $network
    switches: $switches
    reason: $reason
  ) {
    id
  }
}
    `) as unknown as TypedDocumentString<SwitchCurrencyMutation, SwitchCurrencyMutationVariables>;
export const SetTermsDocument = new TypedDocumentString(`
    mutation SetTerms($coin: String!, $network: String!, $terms: CurrencyTermsInput!, $reason: String!) {
  currencyTerms(coin: $coin, network: $network, terms: $terms, reason: $reason) {
    id
  }
}
    `) as unknown as TypedDocumentString<SetTermsMutation, SetTermsMutationVariables>;
export const OverridePriceDocument = new TypedDocumentString(`
    mutation OverridePrice($input: PriceOverrideInput!, $reason: String!) {
  priceOverride(input: $input, reason: $reason) {
    id
  }
}
    `) as unknown as TypedDocumentString<OverridePriceMutation, OverridePriceMutationVariables>;
export const EndOverrideDocument = new TypedDocumentString(`
    mutation EndOverride($coinFrom: String!, $coinTo: String!, $reason: String!) {
  priceOverrideEnd(coinFrom: $coinFrom, coinTo: $coinTo, reason: $reason) {
    id
  }
}
    `) as unknown as TypedDocumentString<EndOverrideMutation, EndOverrideMutationVariables>;
export const CreatePartnerDocument = new TypedDocumentString(`
    mutation CreatePartner($name: String!, $reason: String!) {
  partnerCreate(name: $name, reason: $reason) {
    id
  }
}
    `) as unknown as TypedDocumentString<CreatePartnerMutation, CreatePartnerMutationVariables>;
export const IssueKeyDocument = new TypedDocumentString(`
    mutation IssueKey($partnerId: ID!, $key: KeyInput, $reason: String!) {
  keyIssue(partnerId: $partnerId, key: $key, reason: $reason) {
    key
    keyId
  }
}
    `) as unknown as TypedDocumentString<IssueKeyMutation, IssueKeyMutationVariables>;
export const RollKeyDocument = new TypedDocumentString(`
    mutation RollKey($keyId: ID!, $hours: Int!, $reason: String!) {
  keyRoll(keyId: $keyId, hours: $hours, reason: $reason) {
    key
    keyId
  }
}
    `) as unknown as TypedDocumentString<RollKeyMutation, RollKeyMutationVariables>;
export const ChangeKeyDocument = new TypedDocumentString(`
    mutation ChangeKey($keyId: ID!, $key: KeyInput!, $reason: String!) {
  keyChange(keyId: $keyId, key: $key, reason: $reason) {
    keyId
  }
}
    `) as unknown as TypedDocumentString<ChangeKeyMutation, ChangeKeyMutationVariables>;
export const RevokeKeyDocument = new TypedDocumentString(`
    mutation RevokeKey($keyId: ID!, $reason: String!) {
  keyRevoke(keyId: $keyId, reason: $reason) {
    keyId
  }
}
    `) as unknown as TypedDocumentString<RevokeKeyMutation, RevokeKeyMutationVariables>;
export const InviteMemberDocument = new TypedDocumentString(`
    mutation InviteMember($partnerId: ID!, $name: String!, $role: MemberRole!, $reason: String!) {
  memberInvite(partnerId: $partnerId, name: $name, role: $role, reason: $reason) {
    link
  }
}
    `) as unknown as TypedDocumentString<InviteMemberMutation, InviteMemberMutationVariables>;
export const RecoverMemberDocument = new TypedDocumentString(`
    mutation RecoverMember($memberId: ID!, $reason: String!) {
  memberRecover(memberId: $memberId, reason: $reason) {
    link
  }
}
    `) as unknown as TypedDocumentString<RecoverMemberMutation, RecoverMemberMutationVariables>;
export const WithdrawInvitationDocument = new TypedDocumentString(`
    mutation WithdrawInvitation($id: ID!, $reason: String!) {
  invitationWithdraw(id: $id, reason: $reason) {
    id
  }
}
    `) as unknown as TypedDocumentString<WithdrawInvitationMutation, WithdrawInvitationMutationVariables>;
export const RenewOrderPageDocument = new TypedDocumentString(`
    mutation RenewOrderPage($orderId: ID!, $reason: String!) {
  orderPageRenew(orderId: $orderId, reason: $reason) {
    id
  }
}
    `) as unknown as TypedDocumentString<RenewOrderPageMutation, RenewOrderPageMutationVariables>;
export const RevokeOrderPageDocument = new TypedDocumentString(`
    mutation RevokeOrderPage($orderId: ID!, $reason: String!) {
  orderPageRevoke(orderId: $orderId, reason: $reason) {
    id
  }
}
    `) as unknown as TypedDocumentString<RevokeOrderPageMutation, RevokeOrderPageMutationVariables>;
export const ChangePartnerDocument = new TypedDocumentString(`
    mutation ChangePartner($id: ID!, $changes: PartnerChangesInput!, $reason: String!) {
  partnerChange(id: $id, changes: $changes, reason: $reason) {
    id
  }
}
    `) as unknown as TypedDocumentString<ChangePartnerMutation, ChangePartnerMutationVariables>;
export const CreateWebhookDocument = new TypedDocumentString(`
    mutation CreateWebhook($partnerId: ID!, $endpoint: WebhookInput!, $reason: String!) {
  webhookCreate(partnerId: $partnerId, endpoint: $endpoint, reason: $reason) {
    secret
  }
}
    `) as unknown as TypedDocumentString<CreateWebhookMutation, CreateWebhookMutationVariables>;
export const ChangeWebhookDocument = new TypedDocumentString(`
    mutation ChangeWebhook($id: ID!, $endpoint: WebhookInput!, $reason: String!) {
  webhookChange(id: $id, endpoint: $endpoint, reason: $reason) {
    id
  }
}
    `) as unknown as TypedDocumentString<ChangeWebhookMutation, ChangeWebhookMutationVariables>;
export const RotateWebhookSecretDocument = new TypedDocumentString(`
    mutation RotateWebhookSecret($id: ID!, $hours: Int!, $reason: String!) {
  webhookRotateSecret(id: $id, hours: $hours, reason: $reason) {
    secret
  }
}
    `) as unknown as TypedDocumentString<RotateWebhookSecretMutation, RotateWebhookSecretMutationVariables>;
export const TestWebhookDocument = new TypedDocumentString(`
    mutation TestWebhook($id: ID!, $reason: String!) {
  webhookTest(id: $id, reason: $reason) {
    eventId
  }
}
    `) as unknown as TypedDocumentString<TestWebhookMutation, TestWebhookMutationVariables>;
export const ReplayWebhookDocument = new TypedDocumentString(`
    mutation ReplayWebhook($id: ID!, $eventIds: [String!]!, $reason: String!) {
  webhookReplay(id: $id, eventIds: $eventIds, reason: $reason) {
    count
  }
}
    `) as unknown as TypedDocumentString<ReplayWebhookMutation, ReplayWebhookMutationVariables>;
export const DeleteWebhookDocument = new TypedDocumentString(`
    mutation DeleteWebhook($id: ID!, $reason: String!) {
  webhookDelete(id: $id, reason: $reason) {
    id
  }
}
    `) as unknown as TypedDocumentString<DeleteWebhookMutation, DeleteWebhookMutationVariables>;
export const InviteStaffDocument = new TypedDocumentString(`
    mutation InviteStaff($email: String!, $role: StaffRole!, $reason: String!) {
  staffInvite(email: $email, role: $role, reason: $reason) {
    enrolmentCode
    change {
      state
    }
  }
}
    `) as unknown as TypedDocumentString<InviteStaffMutation, InviteStaffMutationVariables>;
export const SetStaffRoleDocument = new TypedDocumentString(`
    mutation SetStaffRole($id: ID!, $role: StaffRole!, $reason: String!) {
  staffRole(id: $id, role: $role, reason: $reason) {
    enrolmentCode
    change {
      state
    }
  }
}
    `) as unknown as TypedDocumentString<SetStaffRoleMutation, SetStaffRoleMutationVariables>;
export const RenewStaffTokenDocument = new TypedDocumentString(`
    mutation RenewStaffToken($id: ID!, $reason: String!) {
  staffToken(id: $id, reason: $reason) {
    enrolmentCode
    change {
      state
    }
  }
}
    `) as unknown as TypedDocumentString<RenewStaffTokenMutation, RenewStaffTokenMutationVariables>;
export const RevokeStaffDocument = new TypedDocumentString(`
    mutation RevokeStaff($id: ID!, $reason: String!) {
  staffRevoke(id: $id, reason: $reason) {
    enrolmentCode
    change {
      state
    }
  }
}
    `) as unknown as TypedDocumentString<RevokeStaffMutation, RevokeStaffMutationVariables>;
export const ApproveStaffChangeDocument = new TypedDocumentString(`
    mutation ApproveStaffChange($id: ID!, $reason: String!) {
  staffChangeApprove(id: $id, reason: $reason) {
    enrolmentCode
    change {
      state
    }
  }
}
    `) as unknown as TypedDocumentString<ApproveStaffChangeMutation, ApproveStaffChangeMutationVariables>;
export const RejectStaffChangeDocument = new TypedDocumentString(`
    mutation RejectStaffChange($id: ID!, $reason: String!) {
  staffChangeReject(id: $id, reason: $reason) {
    enrolmentCode
    change {
      state
    }
  }
}
    `) as unknown as TypedDocumentString<RejectStaffChangeMutation, RejectStaffChangeMutationVariables>;
export const OrderMovesDocument = new TypedDocumentString(`
    subscription OrderMoves {
  orderChanged {
    seq
    at
    fromStatus
    toStatus
    cause
    order {
      id
      shortId
    }
  }
}
    `) as unknown as TypedDocumentString<OrderMovesSubscription, OrderMovesSubscriptionVariables>;
export const AttentionMovesDocument = new TypedDocumentString(`
    subscription AttentionMoves {
  attentionChanged {
    isOver
    item {
      id
      kind
    }
  }
}
    `) as unknown as TypedDocumentString<AttentionMovesSubscription, AttentionMovesSubscriptionVariables>;
export const BalancesDocument = new TypedDocumentString(`
    query Balances($at: DateTime) {
  ledgerBalances(at: $at) {
    account
    venue
    coin
    network
    balance
    partner {
      id
      name
    }
  }
}
    `) as unknown as TypedDocumentString<BalancesQuery, BalancesQueryVariables>;