export interface OrderText {
  readonly id: string;
  readonly shortId: string;
  readonly status: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly coinFrom: string;
  readonly networkFrom: string;
  readonly coinTo: string;
  readonly networkTo: string;
  readonly amountFrom: string;
  readonly amountTo: string;
  readonly rateType: string;
  readonly rate: string;
  readonly depositAddress: string;
  readonly depositTag: string | null;
  readonly recipient: string;
  readonly depositTxid: string | null;
  readonly confirmations: number | null;
  readonly confirmationsRequired: number;
  readonly payoutTxid: string | null;
}

export const textOrNull = (text: string | null): string => (text === null ? 'null' : JSON.stringify(text));

export function orderJson(order: OrderText): string {
  return (
    `{"id":"${order.id}","short_id":"${order.shortId}","status":"${order.status}",` +
    `"created_at":"${order.createdAt.toISOString()}","expires_at":"${order.expiresAt.toISOString()}",` +
    `"coin_from":"${order.coinFrom}","network_from":"${order.networkFrom}",` +
    `"coin_to":"${order.coinTo}","network_to":"${order.networkTo}",` +
    `"amount_from_expected":${order.amountFrom},"amount_to_expected":${order.amountTo},` +
    `"rate_type":"${order.rateType}","rate_quoted":${order.rate},` +
    `"deposit_address":${JSON.stringify(order.depositAddress)},"deposit_address_tag":${textOrNull(order.depositTag)},` +
    `"recipient_address":${JSON.stringify(order.recipient)},"deposit_txid":${textOrNull(order.depositTxid)},` +
    `"deposit_confirmations":${order.confirmations},` +
    `"deposit_confirmations_required":${order.confirmationsRequired},"payout_txid":${textOrNull(order.payoutTxid)}}`
  );
}

// --- the four requests ---
