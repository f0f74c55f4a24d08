import { type MemoRule, networkById } from '../../chains/networks/networks.ts';
import type { MovesTo, OrderStatus } from '../../orders/order-status.ts';
import type { DepositDetails, PaymentDetails } from '../../orders/read/order-details.ts';
import type { LinkedOrder } from '../../orders/read/order-reads.ts';
import { refundSentences } from '../../orders/read/refund-reasons.ts';

/** What is outside this product about a payment. See `WalletLinks`. */
export interface Links {
  isOfValue(network: string): boolean;
  explorerUrl(coin: string, network: string, kind: 'transaction' | 'address', value: string): string | null;
}

/** How a page looks at a glance. */
type Tone = 'wait' | 'work' | 'good' | 'warn' | 'bad';

/** What the user pays, and how. Amounts are plain decimal text. */
export interface Payment {
  readonly amount: string;
  readonly coin: string;
  readonly network: string;
  readonly address: string;
  readonly tag: { readonly name: MemoRule['name']; readonly value: string } | null;
  /** Null for a currency that was removed: the address alone is shown then. */
  readonly uri: string | null;
  /** Whether the URI opens a wallet: a bare address does not. */
  readonly opensWallet: boolean;
  readonly expiresAt: string;
  /** By the clock of the server. */
  readonly secondsLeft: number;
}

export interface Step {
  readonly name: string;
  readonly state: 'done' | 'now' | 'next' | 'stopped';
  readonly note: string | null;
}

/** A line of the order's facts. */
export interface Fact {
  readonly label: string;
  readonly value: string;
  /** Whether the value is an address or a transaction. */
  readonly isCode: boolean;
  /** Where an explorer shows it. */
  readonly href: string | null;
}

/** Everything that a page says, in the words of its user. */
export interface PageView {
  readonly partnerName: string;
  readonly shortId: string;
  /** Whether its coins have no value. */
  readonly isTest: boolean;
  readonly tone: Tone;
  readonly headline: string;
  readonly lines: readonly string[];
  readonly payment: Payment | null;
  readonly steps: readonly Step[];
  readonly facts: readonly Fact[];
  /** Seconds after which the page is read again. Null at an end. */
  readonly refreshSec: number | null;
}

interface Words {
  readonly tone: Tone;
  readonly headline: string;
  readonly lines: readonly string[];
}

/** What stopped an order: the sentences for each move into `failed`. `{partner}` is its name. */
const failures: Readonly<Record<MovesTo<'failed'>, readonly string[]>> = {
  payout_failed: ['Your coins could not be sent. Our team looks into it, and nothing is lost.'],
  payout_unknown: ['We do not know yet whether your coins have reached the network. Our team looks into it.'],
  no_refund_address: [
    'Your payment is to be returned, but the order has no address to return it to.',
    'Give {partner} an address of yours for it.',
  ],
  refund_below_fee: ['Your payment is smaller than the network fee of sending it back.'],
  refund_needs_approval: ['Your payment is to be returned. Our team checks the address first.'],
  refund_failed: ['Your payment could not be sent back yet. Our team looks into it, and nothing is lost.'],
  staff_stopped: ['Our team has stopped sending your coins, to look into the order.'],
  staff_failed: ['Our team has stopped the return of your payment, to look into the order.'],
};

/** Between two looks, in seconds: often where something happens, seldom where it may. */
const soonSec = 10;
const seldomSec = 60;

/** Puts an order in words for its user, as it is at this moment by the clock of the server. */
export function pageView(linked: LinkedOrder, links: Links, now: Date): PageView {
  const { order, details, partnerName } = linked;
  const isPayable = order.status === 'waiting_deposit' && details.hold === null && now < new Date(order.expiresAt);
  const payment = isPayable ? paymentOf(linked, now) : null;
  const { tone, headline, lines } = wordsOf(linked, payment);
  return {
    partnerName,
    shortId: order.shortId,
    isTest: !links.isOfValue(order.networkFrom),
    tone,
    headline,
    lines,
    payment,
    steps: stepsOf(linked),
    facts: factsOf(linked, links),
    refreshSec: refreshOf(linked),
  };
}

function refreshOf({ order: { status }, details }: LinkedOrder): number | null {
  const isUnderWay = details.refunds.some(({ state }) => state === 'pending' || state === 'sent');
  if (status === 'completed' || status === 'refunded') return isUnderWay ? seldomSec : null;
  return status === 'failed' || status === 'expired' || details.hold !== null ? seldomSec : soonSec;
}

function paymentOf({ order, details }: LinkedOrder, now: Date): Payment {
  const { depositAddressTag: tag, depositAddress: address, networkFrom } = order;
  const network = networkById(networkFrom);
  const { paymentUri: uri } = details;
  return {
    amount: order.amountFromExpected,
    coin: order.coinFrom,
    network: titleOf(networkFrom),
    address,
    tag: tag === null ? null : { name: network?.memo?.name ?? 'memo', value: tag },
    uri,
    opensWallet: uri !== null && uri !== address,
    expiresAt: order.expiresAt,
    secondsLeft: Math.ceil((new Date(order.expiresAt).getTime() - now.getTime()) / 1000),
  };
}

function wordsOf(linked: LinkedOrder, payment: Payment | null): Words {
  const { details } = linked;
  if (details.hold) return heldWords(linked, details.hold.reason);
  if (details.actionRequired) return askedWords(linked);
  return statusWords[linked.order.status](linked, payment);
}

function heldWords({ order, partnerName }: LinkedOrder, reason: 'chain' | 'review'): Words {
  const first =
    reason === 'chain'
      ? 'The network has undone your payment. We wait until it is sure what happened to it.'
      : 'Our team takes a closer look at this order. You need not do anything.';
  const stop = order.status === 'waiting_deposit' ? ['Do not send anything while this page says so.'] : [];
  const help = `If this takes longer than a day, ask ${partnerName} and name the order ${order.shortId}.`;
  return { tone: 'warn', headline: 'Your order is on hold', lines: [first, ...stop, help] };
}

const questions = {
  late: () => 'Your payment came after the time to pay.',
  underpaid: ({ order }: LinkedOrder) =>
    `Your payment is less than the ${order.amountFromExpected} ${order.coinFrom} of the order.`,
  overpaid: ({ order }: LinkedOrder) =>
    `Your payment is more than the ${order.amountFromExpected} ${order.coinFrom} of the order.`,
  price_moved: () => 'The price has moved since the order was made.',
};

function askedWords(linked: LinkedOrder): Words {
  const { details, partnerName } = linked;
  const asked = details.actionRequired;
  if (!asked) throw new Error('nothing is asked about this order');
  const until = `It can be exchanged at the present price, or be returned. Choose in ${partnerName} before ${utc(asked.deadline)}.`;
  return {
    tone: 'warn',
    headline: 'Choose what happens to your payment',
    lines: [questions[asked.reason](linked), until, 'Without a choice it is returned.'],
  };
}

const statusWords: Readonly<Record<OrderStatus, (linked: LinkedOrder, payment: Payment | null) => Words>> = {
  waiting_deposit: (linked, payment) => {
    if (!payment) return timeOverWords(linked);
    const notes = waitingNotes(linked);
    const headline = `Send ${payment.amount} ${payment.coin}`;
    const how = `Send exactly this amount in one payment, on the network ${payment.network}.`;
    return { tone: notes.length > 0 ? 'warn' : 'wait', headline, lines: [...notes, how] };
  },
  confirming: ({ order }) => {
    const done = order.depositConfirmations ?? 0;
    const needed = order.depositConfirmationsRequired;
    const line =
      done === 0
        ? 'It waits for its first block on the network.'
        : `It has ${done} of ${needed} confirmations of the network.`;
    return { tone: 'work', headline: 'We see your payment', lines: [line, 'You can close this page and come back.'] };
  },
  exchanging: ({ order }) => ({
    tone: 'work',
    headline: `Your ${order.coinFrom} is being exchanged`,
    lines: [`Next, your ${order.coinTo} is sent. This takes a few minutes.`],
  }),
  sending: ({ order, details }) => ({
    tone: 'work',
    headline: `Your ${order.coinTo} is on its way`,
    lines: [`We send ${details.payout?.amount ?? details.terms.amountTo} ${order.coinTo} to your address.`],
  }),
  completed: (linked) => {
    const { order, details } = linked;
    const sent = `${details.payout?.amount ?? details.terms.amountTo} ${order.coinTo}`;
    return {
      tone: 'good',
      headline: 'Done',
      lines: [
        `We have sent ${sent} to your address.`,
        'Do not send any more to the address of this order.',
        ...extraNotes(linked, details.refunds),
      ],
    };
  },
  expired: (linked) => {
    const late = linked.details.deposits.filter(({ state }) => state !== 'lost');
    if (late.length > 0) {
      const first = 'It came after the time to pay. The network confirms it first.';
      const then = `Then it is returned, or exchanged at the present price if ${linked.partnerName} has agreed so.`;
      return { tone: 'warn', headline: 'Your payment came late', lines: [first, then, 'Do not send any more.'] };
    }
    const isCancelled = linked.cause === 'partner_cancelled';
    const why = isCancelled ? `${linked.partnerName} has cancelled this order.` : 'No payment arrived in time.';
    const paid = 'If you have paid already, keep this page: it shows your payment as soon as the network does.';
    return {
      tone: 'bad',
      headline: isCancelled ? 'Cancelled: do not send' : 'Expired: do not send',
      lines: [why, 'Do not send anything to the address of this order.', paid],
    };
  },
  refunding: (linked) => {
    const { order, details } = linked;
    const [paid] = details.refunds.filter(({ state }) => state !== 'failed');
    const where =
      paid === undefined
        ? 'It goes to your refund address, less the network fee.'
        : `${paid.amount} ${paid.coin} goes to the address below. ${feeNote([paid])}`.trimEnd();
    return {
      tone: 'warn',
      headline: 'Your payment is being returned',
      lines: [...reasonsOf(linked), where, `Do not send any more ${order.coinFrom}.`],
    };
  },
  refunded: (linked) => {
    const { main, extra } = refundsOf(linked);
    const sent = main.filter(({ state }) => state === 'confirmed');
    const amounts = sent.map(({ amount, coin }) => `${amount} ${coin}`).join(' and ');
    return {
      tone: 'good',
      headline: 'Your payment was returned',
      lines: [
        ...reasonsOf(linked),
        `${amounts === '' ? 'It' : amounts} went to the address below. ${feeNote(sent)}`.trimEnd(),
        ...extraNotes(linked, extra),
      ],
    };
  },
  failed: (linked) => {
    const { order, details, partnerName } = linked;
    const why = failures[details.failure?.cause as MovesTo<'failed'>] ?? ['Our team looks into it.'];
    const help = `Ask ${partnerName} and name the order ${order.shortId}. Do not send any more.`;
    return {
      tone: 'bad',
      headline: 'This order needs help',
      lines: [...reasonsOf(linked), ...why.map((line) => line.replaceAll('{partner}', () => partnerName)), help],
    };
  },
};

/** Why the payment is returned, in sentences. */
function reasonsOf({ order, details, partnerName }: LinkedOrder): string[] {
  return details.refundReason === null ? [] : refundSentences(details.refundReason, { ...order, partnerName });
}

/** The network fee that refunds have kept. Empty without one. */
function feeNote(refunds: readonly PaymentDetails[]): string {
  const fees = refunds.filter(({ fee }) => fee !== '0').map(({ fee, coin }) => `${fee} ${coin}`);
  if (fees.length === 0) return '';
  return `The network fee of sending it, ${fees.join(' and ')}, was taken off.`;
}

/** The refunds of the deposit of the order, and those of other deposits. */
function refundsOf({ order, details }: LinkedOrder): Record<'main' | 'extra', PaymentDetails[]> {
  const { depositTxid } = order;
  const isMain = ({ depositTxid: txid }: PaymentDetails): boolean => depositTxid === null || txid === depositTxid;
  return {
    main: details.refunds.filter(isMain),
    extra: details.refunds.filter((refund) => !isMain(refund)),
  };
}

function timeOverWords({ order }: LinkedOrder): Words {
  const line = 'If you have paid already, keep this page: we still look for your payment.';
  return {
    tone: 'bad',
    headline: 'The time to pay is over',
    lines: [`Do not send any ${order.coinFrom}.`, line],
  };
}

/** What a user must know before paying again. */
function waitingNotes({ details }: LinkedOrder): string[] {
  return details.deposits.flatMap(({ role, state, amount, coin }) => {
    const sum = `${amount} ${coin}`;
    if (state === 'lost') {
      return [`The network has dropped a payment of ${sum}. Look into your wallet before you pay again.`];
    }
    if (role === 'small') {
      return [`We got ${sum}. That is too little, and is returned later. Send the whole amount in one payment.`];
    }
    if (role === 'wrong_asset') return [`We got ${sum}, which this order does not exchange. It is returned later.`];
    return [];
  });
}

/** What was wrong with a deposit that the order has not exchanged. */
const extraReasons: Readonly<Record<DepositDetails['role'], string>> = {
  main: 'that was too much',
  second: 'of another payment',
  small: 'that was too little',
  late: 'that came too late',
  wrong_asset: 'that this order does not exchange',
};

function extraNotes({ details }: LinkedOrder, refunds: readonly PaymentDetails[]): string[] {
  return refunds.map(({ amount, coin, state, depositTxid }) => {
    const role = details.deposits.find(({ txid }) => txid === depositTxid)?.role ?? 'main';
    const sum = `${amount} ${coin} ${extraReasons[role]}`;
    return state === 'confirmed' ? `We have also returned ${sum}.` : `${sum} is being returned.`;
  });
}

/** The places of the statuses on the way to the payout. */
const places: Readonly<Partial<Record<OrderStatus, number>>> = {
  waiting_deposit: 0,
  confirming: 1,
  exchanging: 2,
  sending: 3,
  completed: 4,
};

function stepsOf({ order, details }: LinkedOrder): Step[] {
  const { status, coinFrom, coinTo, depositConfirmations, depositConfirmationsRequired: needed } = order;
  const confirmed = depositConfirmations === null ? null : `${depositConfirmations} of ${needed} confirmations`;
  const place = places[status];
  if (place !== undefined) {
    const isStopped = details.hold !== null || details.actionRequired !== null;
    const stateAt = (step: number): Step['state'] =>
      step < place ? 'done' : step > place ? 'next' : isStopped ? 'stopped' : 'now';
    return [
      { name: 'Payment', state: stateAt(0), note: null },
      { name: 'Confirmation by the network', state: stateAt(1), note: confirmed },
      { name: `Exchange into ${coinTo}`, state: stateAt(2), note: null },
      { name: `${coinTo} sent to you`, state: stateAt(3), note: null },
    ];
  }
  const isPaid = details.deposits.some(({ state }) => state !== 'lost');
  const paid: Step = { name: 'Payment', state: isPaid ? 'done' : 'stopped', note: isPaid ? null : 'none in time' };
  if (status === 'expired') return [paid];
  if (status === 'failed') return [paid, { name: 'Stopped', state: 'stopped', note: 'our team looks into it' }];
  const state = status === 'refunded' ? 'done' : 'now';
  return [paid, { name: `${coinFrom} returned to you`, state, note: null }];
}

const depositStates: Readonly<Record<DepositDetails['state'], string>> = {
  mempool: 'seen',
  confirming: 'being confirmed',
  credited: 'confirmed',
  lost: 'dropped by the network',
};

const paymentStates: Readonly<Record<PaymentDetails['state'], string>> = {
  pending: 'being prepared',
  sent: 'sent',
  confirmed: 'confirmed',
  failed: 'looked into',
};

function factsOf({ order, details }: LinkedOrder, links: Links): Fact[] {
  const plain = (label: string, value: string): Fact => ({ label, value, isCode: false, href: null });
  const transaction = (coin: string, network: string, txid: string): Fact => {
    const href = links.explorerUrl(coin, network, 'transaction', txid);
    return { label: 'Transaction', value: txid, isCode: true, href };
  };
  const address = (label: string, coin: string, network: string, value: string): Fact => {
    return { label, value, isCode: true, href: links.explorerUrl(coin, network, 'address', value) };
  };
  const { terms } = details;
  const isFixed = order.rateType === 'fixed' || terms.isFinal;
  const hasNoPayout =
    ['refunding', 'refunded', 'expired'].includes(order.status) ||
    (order.status === 'failed' && details.payout === null);
  const sent = ({ amount, coin, network, state, txid }: PaymentDetails): Fact[] => [
    plain('Sent to you', `${amount} ${coin}, ${paymentStates[state]}`),
    ...(txid === null ? [] : [transaction(coin, network, txid)]),
  ];
  const returned = (refund: PaymentDetails): Fact[] => [
    plain('Returned to you', `${refund.amount} ${refund.coin}, ${paymentStates[refund.state]}`),
    address('Returned to the address', refund.coin, refund.network, refund.address),
    ...(refund.tag === null ? [] : [plain(tagTitle(refund.network), refund.tag)]),
    ...(refund.fee === '0' ? [] : [plain('Network fee taken off', `${refund.fee} ${refund.coin}`)]),
    ...(refund.txid === null ? [] : [transaction(refund.coin, refund.network, refund.txid)]),
  ];
  return [
    plain('You send', `${order.amountFromExpected} ${order.coinFrom} on ${titleOf(order.networkFrom)}`),
    ...(hasNoPayout
      ? []
      : [
          plain(
            'You get',
            `${isFixed ? '' : 'about '}${terms.amountTo} ${order.coinTo} on ${titleOf(order.networkTo)}`,
          ),
          address('Your address', order.coinTo, order.networkTo, order.recipientAddress),
        ]),
    ...details.deposits.flatMap(({ coin, network, amount, state, txid }) => [
      plain('Payment', `${amount} ${coin}, ${depositStates[state]}`),
      transaction(coin, network, txid),
    ]),
    ...(details.payout ? sent(details.payout) : []),
    ...details.refunds.flatMap(returned),
    plain('Made', utc(order.createdAt)),
  ];
}

/** What a network calls the tag of an address, at the beginning of a line. */
function tagTitle(network: string): string {
  const name = networkById(network)?.memo?.name ?? 'memo';
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
}

function titleOf(network: string): string {
  return networkById(network)?.title ?? network;
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** A time for people, in UTC: '23 Nov 2026, 10:42 UTC'. */
export function utc(iso: string): string {
  const [year = '', month = '', day = ''] = iso.slice(0, 10).split('-');
  return `${day.replace(/^0/, '')} ${months[Number.parseInt(month, 10) - 1]} ${year}, ${iso.slice(11, 16)} UTC`;
}
