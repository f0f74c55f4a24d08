import { jsonNumber } from '../../../base/money.ts';
import type { components } from '../../../generated/openapi.ts';
import type { Assets } from '../../../market/currencies/assets.ts';
import type {
  CommissionAmount,
  CommissionEntryView,
  CommissionMonth,
  CommissionReads,
} from '../../../settlement/commission/commission-reads.ts';
import type { OrderReport, ReportedOrder, ReportedSide } from '../../../settlement/commission/order-report.ts';
import { json } from '../api/json.ts';
import { moment, wholeNumber } from '../api/query-values.ts';
import { csvFile } from '../api/text-parts.ts';
import { callerOf } from './authenticate.ts';
import type { Acting, Handlers } from './handler.ts';

type Schemas = components['schemas'];

const usualLimit = 20;

export interface CommissionParts {
  readonly commissionReads: CommissionReads;
  readonly orderReport: OrderReport;
  readonly assets: Assets;
  /** COMMISSION_MIN_USD. */
  readonly commissionMinUsd: number;
}

/** What a partner reads of its commission, and the report of its completed orders. */
export function commissionHandlers(
  { commissionReads, orderReport, assets, commissionMinUsd }: CommissionParts,
  { download }: Pick<Acting, 'download'>,
) {
  return {
    getCommissionBalance: async ({ call }) => {
      const found = await commissionReads.balance(callerOf(call).partner.id);
      const monthly = ({ month, ...amount }: CommissionAmount & { readonly month: string }) => {
        return { month, ...amountBody(amount) };
      };
      return {
        status: 200,
        body: json({
          month: found.month,
          coin: found.asset.coin,
          network: found.asset.network,
          balance: jsonNumber(found.balance),
          others: found.others.map(amountBody),
          payable: found.payable.map(monthly),
          in_payment: found.inPayment.map(monthly),
          min_payment_usd: jsonNumber(String(commissionMinUsd)),
        }),
      };
    },
    listCommissionEntries: async ({ query, call }) => {
      const { month = null, cursor = null } = query;
      const limit = wholeNumber(query.limit, usualLimit);
      const page = await commissionReads.entries(callerOf(call).partner.id, { month, limit, cursor });
      const { nextCursor } = page;
      const data = page.entries.map(entryBody);
      return { status: 200, body: json({ data, has_more: nextCursor !== null, next_cursor: nextCursor }) };
    },
    listStatements: async ({ call }) => {
      const months = await commissionReads.months(callerOf(call).partner.id);
      return { status: 200, body: json({ data: months.map(statementBody), has_more: false }) };
    },
    getStatement: async ({ path, query, call }) => {
      const partnerId = callerOf(call).partner.id;
      const { month } = path;
      if (query.format === 'csv') {
        const parts = download(call, await commissionReads.csv(partnerId, month));
        return { status: 200, ...csvFile(`commission-${month}`, parts) };
      }
      return { status: 200, body: json(statementBody(await commissionReads.month(partnerId, month))) };
    },
    listOrderReport: async ({ query, call }) => {
      const page = await orderReport.read(callerOf(call).partner.id, {
        from: moment('completed_from', query.completed_from),
        to: moment('completed_to', query.completed_to),
        limit: wholeNumber(query.limit, usualLimit),
        cursor: query.cursor ?? null,
      });
      const data = page.orders.map((order) => reportedBody(assets, order));
      return { status: 200, body: json({ data, has_more: page.hasMore, next_cursor: page.nextCursor }) };
    },
  } satisfies Partial<Handlers>;
}

function amountBody({ coin, network, amount }: CommissionAmount): Schemas['CommissionAmount'] {
  return { coin, network, amount: jsonNumber(amount) };
}

function entryBody(entry: CommissionEntryView): Schemas['CommissionEntry'] {
  const { from, price } = entry;
  return {
    id: entry.id,
    kind: entry.kind,
    at: entry.at,
    month: entry.month,
    coin: entry.coin,
    network: entry.network,
    amount: jsonNumber(entry.amount),
    order_id: entry.orderId,
    short_id: entry.shortId,
    external_id: entry.externalId,
    from: from && { ...amountBody(from), price: jsonNumber(from.price) },
    price: price === null ? null : jsonNumber(price),
    corrects: entry.corrects,
    reason: entry.reason,
    txid: entry.txid,
  };
}

function statementBody(month: CommissionMonth): Schemas['Statement'] {
  const { due, payment } = month;
  return {
    month: month.month,
    state: month.state,
    coin: month.coin,
    network: month.network,
    orders: month.orders,
    figures: month.figures.map(({ coin, network, opening, accrued, converted, corrected, paid, closing }) => ({
      coin,
      network,
      opening: jsonNumber(opening),
      accrued: jsonNumber(accrued),
      converted: jsonNumber(converted),
      corrected: jsonNumber(corrected),
      paid: jsonNumber(paid),
      closing: jsonNumber(closing),
    })),
    due: due === null ? null : jsonNumber(due),
    problem: month.problem,
    sha256: month.sha256,
    closed_at: month.closedAt,
    paid_at: month.paidAt,
    payment: payment && {
      txid: payment.txid,
      amount: jsonNumber(payment.amount),
      fee: jsonNumber(payment.fee),
      explorer_url: payment.explorerUrl,
    },
  };
}

/** Completed orders only, so that the Edge wallet's word is always the same. */
function reportedBody(assets: Assets, order: ReportedOrder): Schemas['ReportedOrder'] {
  const { commission } = order;
  return {
    id: order.id,
    short_id: order.shortId,
    external_id: order.externalId,
    edge_status: 'completed',
    created_at: order.createdAt,
    completed_at: order.completedAt,
    source: sideBody(assets, order.source),
    destination: sideBody(assets, order.destination),
    deposit_address: order.depositAddress,
    recipient_address: order.recipientAddress,
    deposit_txid: order.depositTxid,
    payout_txid: order.payoutTxid,
    commission: commission && amountBody(commission),
  };
}

function sideBody(assets: Assets, side: ReportedSide): Schemas['ReportedSide'] {
  const { coin, network, contract, amount } = side;
  const { chainId: chain } = assets.of(side);
  const evm = /^eip155:(\d+)$/.exec(chain)?.[1];
  return {
    coin,
    network,
    contract,
    amount: jsonNumber(amount),
    chain,
    chain_id: evm === undefined ? null : Number.parseInt(evm, 10),
  };
}
