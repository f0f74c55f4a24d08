import { AppError, errorFromFaults } from '../../../base/errors.ts';
import { jsonNumber } from '../../../base/money.ts';
import type { components } from '../../../generated/openapi.ts';
import type { AddressChecks, AddressRequest, CheckedAddress } from '../../../orders/address-checks.ts';
import type { CheckedOrder, OrderCreation } from '../../../orders/order-creation.ts';
import { json } from '../api/json.ts';
import { keyOf } from './authenticate.ts';
import type { Body } from './contract.ts';
import type { Handler, Refusal } from './handler.ts';
import { orderRequest } from './orders.ts';
import { limitsBody } from './pairs.ts';

type AddressBody = components['schemas']['AddressCheck'];
type OrderBody = components['schemas']['OrderCheck'];

/** POST /partner/addresses/validate */
export function validateAddressHandler(checks: AddressChecks): Handler<'validateAddress'> {
  return async ({ body }) => {
    const checked = await checks.check(addressRequest(body));
    return { status: 200, body: json(addressBody(checked)) };
  };
}

/** Finds the faults of a validation beyond the contract: those of its coin and network. */
export function validateAddressRefusal(checks: AddressChecks): Refusal<'validateAddress'> {
  return async ({ body }) => {
    try {
      checks.currency(addressRequest(body));
      return null;
    } catch (error) {
      if (error instanceof AppError) return error;
      throw error;
    }
  };
}

/** POST /partner/orders/validate */
export function validateOrderHandler(orders: OrderCreation): Handler<'validateOrder'> {
  return async ({ body, call }) => {
    const checked = await orders.check(orderRequest(body), keyOf(call));
    return { status: 200, body: json(orderBody(checked)) };
  };
}

/** Finds the faults of a create beyond the contract. */
export function validateOrderRefusal(orders: OrderCreation): Refusal<'validateOrder'> {
  return ({ body, call }) => orders.refusal(orderRequest(body), keyOf(call));
}

function addressRequest({ coin, network, address, tag }: Body<'validateAddress'>): AddressRequest {
  return { coin, network, address, tag: tag ?? null };
}

function addressBody({ canonical, tag, faults, looksLike, warnings }: CheckedAddress): AddressBody {
  const refusal = faults.length > 0 ? errorFromFaults(faults) : null;
  return {
    valid: refusal === null,
    canonical,
    tag,
    code: refusal?.kind ?? null,
    detail: refusal?.detail ?? null,
    looks_like: [...looksLike],
    warnings: warnings.map(({ field, code, detail }) => ({ field, code, detail })),
    errors: faults.map(({ field, kind, detail }) => ({ field, code: kind, detail })),
  };
}

function orderBody({ quote, limits, recipient, refund, warnings }: CheckedOrder): OrderBody {
  return {
    coin_from: quote.from.coin,
    network_from: quote.from.network,
    coin_to: quote.to.coin,
    network_to: quote.to.network,
    rate_type: quote.rateType,
    amount_from: jsonNumber(quote.amountFrom),
    amount_to: jsonNumber(quote.amountTo),
    rate: jsonNumber(quote.rate),
    expires_in: quote.expiresIn,
    limits: limitsBody(limits),
    deposit_confirmations_required: quote.from.minConfirmations,
    recipient_address: recipient.address,
    recipient_address_tag: recipient.tag,
    refund_address: refund?.address ?? null,
    refund_address_tag: refund?.tag ?? null,
    warnings: warnings.map(({ field, code, detail }) => ({ field, code, detail })),
  };
}
