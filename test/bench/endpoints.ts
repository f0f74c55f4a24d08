import { orderBody } from '../support/gateway/orders.ts';

export const endpointIds = ['currencies', 'unchanged', 'rates', 'lookup', 'create', 'once'] as const;

/** One kind of request, as the load generator sends it. */
export interface Requests {
  /** A word that is right for a file's name. */
  readonly id: string;
  readonly name: string;
  readonly method: 'GET' | 'POST';
  /** Taken in turn. */
  readonly paths: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Whether each request carries an Idempotency-Key of its own. */
  readonly once?: boolean;
}

/** Requests that both servers must answer alike. */
export interface Endpoint extends Requests {
  readonly id: (typeof endpointIds)[number];
  /** Of the gateway's requests a second to those of `limit`; null where none is set. */
  readonly goal: number | null;
  /** Members of the answer that are the same from both servers; `whole` for all of it. */
  readonly same: 'whole' | readonly string[];
}

/** Of the gateway's p99 to that of `limit`. */
export const p99Goal = 1.5;

export interface EndpointParts {
  readonly key: string;
  readonly orderIds: readonly string[];
  readonly currenciesEtag: string;
}

export function endpointsOf({ key, orderIds, currenciesEtag }: EndpointParts): Endpoint[] {
  const keyed = { Authorization: `Bearer ${key}` };
  const create = {
    method: 'POST',
    paths: ['/partner/orders'],
    headers: { ...keyed, 'Content-Type': 'application/json' },
    body: JSON.stringify(orderBody()),
    same: ['status', 'coin_from', 'network_from', 'coin_to', 'network_to', 'amount_from_expected', 'recipient_address'],
  } as const;
  const rates = '/partner/rates?coin_from=BTC&coin_to=USDT&network_to=TRC20&amount=0.1';
  return [
    {
      id: 'currencies',
      name: 'GET /currencies',
      goal: 0.9,
      method: 'GET',
      paths: ['/currencies'],
      headers: {},
      same: 'whole',
    },
    {
      id: 'unchanged',
      name: 'GET /currencies, 304',
      goal: null,
      method: 'GET',
      paths: ['/currencies'],
      headers: { 'If-None-Match': currenciesEtag },
      same: 'whole',
    },
    {
      id: 'rates',
      name: 'GET /partner/rates',
      goal: 0.75,
      method: 'GET',
      paths: [rates],
      headers: {},
      same: ['coin_from', 'coin_to', 'rate_type', 'min_amount', 'max_amount', 'expires_in'],
    },
    {
      id: 'lookup',
      name: 'GET /partner/orders/{id}',
      goal: 0.75,
      method: 'GET',
      paths: orderIds.map((id) => `/partner/orders/${id}`),
      headers: keyed,
      same: 'whole',
    },
    { id: 'create', name: 'POST /partner/orders', goal: 0.8, ...create },
    { id: 'once', name: 'POST /partner/orders, Idempotency-Key', goal: null, once: true, ...create },
  ];
}
