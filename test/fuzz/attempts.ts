import { createHmac, randomUUID } from 'node:crypto';
import { generateKey } from '../../src/accounts/partners/secret-key.ts';
import { Big, floorTo, formatDecimal } from '../../src/base/money.ts';
import { addressExample } from '../../src/chains/addresses/address.ts';
import type { Dice } from '../support/gateway/dice.ts';
import type { CallOptions, Reply } from '../support/http/contract-client.ts';
import { type Operation, operationOf, operations } from './contract-operations.ts';
import { type Schema, SchemaValues } from './schema-values.ts';

/** A request, and the statuses that are right for it. */
export interface Attempt {
  readonly kind: string;
  readonly method: string;
  readonly path: string;
  readonly options: CallOptions;
  readonly expected: readonly number[];
  /** @throws Error when the answer is not what is known. */
  readonly check?: (reply: Reply) => void;
}

/** Whose requests are made. */
export interface FuzzKeys {
  readonly partner: string;
  /** Of another partner, who must see nothing of the first one's. */
  readonly stranger: string;
}

/** Statuses that tell of the gateway's own trouble or a limit, and are never right here. */
const trouble = new Set([429, 500, 503]);
/** Those for a request that has not the contract's shape. */
const misshapen = new Set([400, 405, 413, 415]);
/** HEAD is left out, as its answers have no body to look at. */
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** What is tried, and how often. */
const kinds = {
  'as the contract allows': 25,
  'against the schema': 20,
  'without its key': 6,
  'with a wrong key': 6,
  'with a wrong signature': 3,
  'of another type': 4,
  'broken body': 5,
  'another method': 4,
  'another path': 4,
  'a quote': 8,
  'an order': 9,
  'a binding quote': 6,
  'an order of a quote': 5,
  'a repetition': 3,
  'a look-up': 10,
  'a list': 5,
  'a change': 5,
  "a stranger's look-up": 4,
  'a validator': 3,
} as const;

const createOrder = operationOf('createOrder');
/** The operations whose requests are made wrong on purpose. */
const bent = new Set([
  'createOrder',
  'createQuote',
  'setRefundAddress',
  'getRate',
  'listOrders',
  'listPairs',
  'validateAddress',
  'validateOrder',
]);

/** As much of a currency as is needed to exchange it. */
export interface FuzzCurrency {
  readonly coin: string;
  readonly network: string;
  readonly decimals: number;
  readonly is_deposit_enabled: boolean;
  readonly is_withdraw_enabled: boolean;
}

/** What is known of an order that was made. */
interface KnownOrder {
  readonly id: string;
  readonly shortId: string;
  /** The network of its refund address. */
  readonly from: string;
  readonly text: string;
}

interface KnownQuote {
  readonly from: FuzzCurrency;
  readonly to: FuzzCurrency;
  readonly rateType: 'float' | 'fixed';
  readonly amount: string;
}

/**
 * An endless source of requests, one after the other, each made from the dice and what the ones
 * before were answered.
 */
export class Attempts {
  readonly #dice: Dice;
  readonly #values: SchemaValues;
  readonly #keys: FuzzKeys;
  readonly #currencies: readonly FuzzCurrency[];
  readonly #orders: KnownOrder[] = [];
  /** Orders that nothing else asks for, as requests run concurrently. */
  readonly #cancellable: KnownOrder[] = [];
  /** Lists that are read page by page. */
  readonly #lists: { readonly query: string; cursor: string | null }[] = [
    { query: 'limit=7', cursor: null },
    { query: 'limit=3&status=waiting_deposit&coin_to=BTC&include=details', cursor: null },
    { query: 'sort=updated&limit=5', cursor: null },
    { query: 'sort=updated&limit=50&include=details&updated_since=2020-01-01T00:00:00Z', cursor: null },
  ];
  readonly #quotes: KnownQuote[] = [];
  readonly #binding: {
    readonly id: string;
    readonly to: FuzzCurrency;
    readonly amountTo: string;
    readonly endsAt: number;
  }[] = [];
  readonly #repeatable: { readonly key: string; readonly raw: string; readonly text: string }[] = [];

  constructor(dice: Dice, keys: FuzzKeys, currencies: readonly FuzzCurrency[]) {
    this.#dice = dice;
    this.#values = new SchemaValues(dice);
    this.#keys = keys;
    this.#currencies = currencies;
  }

  next(): Attempt {
    const kind = this.#dice.weighted(kinds);
    const made = this.#make[kind]();
    // Nothing was answered yet that this could be made from.
    return made ? { kind, ...made } : this.next();
  }

  readonly #make: Readonly<Record<keyof typeof kinds, () => Omit<Attempt, 'kind'> | null>> = {
    'as the contract allows': () => {
      const operation = this.#dice.pick(operations);
      const { options, path } = this.#shaped(operation);
      const expected = operation.statuses.filter((status) => {
        // Streams of earlier requests may not have been given back yet.
        if (operation.id === 'streamEvents' && status === 429) return true;
        return !trouble.has(status) && !misshapen.has(status) && status !== 401 && status !== 403;
      });
      return { method: operation.method, path, options, expected };
    },
    'against the schema': () => this.#misshapen(),
    'without its key': () => {
      const operation = this.#dice.pick(operations.filter(({ needsKey }) => needsKey));
      const { path, options } = this.#shaped(operation);
      const { Authorization: _a, 'X-API-Key': _k, ...headers } = options.headers ?? {};
      return { method: operation.method, path, options: { ...options, headers }, expected: [401] };
    },
    'with a wrong key': () => {
      const operation = this.#dice.pick(operations.filter(({ takesKey }) => takesKey));
      const { path, options } = this.#shaped(operation);
      const headers = { ...options.headers, ...this.#wrongKey() };
      // A wrong key on a public endpoint is no key.
      return {
        method: operation.method,
        path,
        options: { ...options, headers },
        expected: operation.needsKey ? [401] : [200, 304, 422],
      };
    },
    'with a wrong signature': () => {
      const operation = this.#dice.pick(operations.filter(({ needsKey }) => needsKey));
      const { path, options } = this.#shaped(operation);
      const wrong = this.#dice.pick([
        '',
        '0',
        'zz',
        'a'.repeat(63),
        'f'.repeat(64),
        'f'.repeat(65),
        `${'f'.repeat(64)}, x`,
      ]);
      const headers = { ...options.headers, 'X-Signature': wrong };
      return { method: operation.method, path, options: { ...options, headers }, expected: [401] };
    },
    'of another type': () => {
      const { path, options } = this.#shaped(createOrder);
      const type = this.#dice.pick([
        'text/plain',
        'application/xml',
        'multipart/form-data',
        'application/json; charset=latin1',
        '',
      ]);
      const encoding = this.#dice.chance(0.3);
      const headers = encoding
        ? { ...options.headers, 'Content-Encoding': this.#dice.pick(['gzip', 'br', 'deflate', 'identity, gzip']) }
        : { ...options.headers, 'Content-Type': type };
      return { method: createOrder.method, path, options: { ...options, headers }, expected: [415] };
    },
    'broken body': () => {
      const { path, options } = this.#shaped(createOrder);
      const raw = String(options.raw);
      const [text, expected]: [string | Uint8Array, number] = this.#dice.pick([
        [raw.slice(0, Math.floor(this.#dice.between(1, raw.length))), 400],
        [`${raw}${this.#dice.pick(['}', ',', '1', ']'])}`, 400],
        [raw.replaceAll('"', "'"), 400],
        ['', 400],
        ['['.repeat(8_000), 400],
        [`${'['.repeat(7_000)}${']'.repeat(7_000)}`, 400],
        [
          raw.replace(
            /"amount_from":[^,}]+/,
            `"amount_from":${this.#dice.pick(['NaN', 'Infinity', '01', '.5', '1.', '+1', '0x10', '1_000'])}`,
          ),
          400,
        ],
        [
          raw.replace(
            /"amount_from":[^,}]+/,
            `"amount_from":${this.#dice.pick(['1e400', '1e31', '1e-31', `1.${'1'.repeat(40)}`])}`,
          ),
          400,
        ],
        [Uint8Array.from([...Buffer.from('{"coin_from":"'), 0xff, 0xfe, ...Buffer.from('"}')]), 400],
        [raw.padEnd(16 * 1024 + 1, ' '), 413],
      ]);
      const { 'X-Signature': _signature, ...headers } = options.headers ?? {};
      return { method: createOrder.method, path, options: { ...options, raw: text, headers }, expected: [expected] };
    },
    'another method': () => {
      const operation = this.#dice.pick(operations);
      const { path, options } = this.#shaped(operation);
      const known = operations.filter((one) => one.path === operation.path).map(({ method }) => method);
      const method = this.#dice.pick(methods.filter((one) => !known.includes(one)));
      const { raw: _raw, ...bodiless } = options;
      return { method, path: path.split('?')[0] ?? '', options: bodiless, expected: [405, 404] };
    },
    'another path': () => {
      const path = this.#dice.pick([
        '/',
        '/metrics',
        '/readyz',
        '/graphql',
        '/partner',
        '/partner/orders/',
        `/partner/orders/${randomUUID()}/`,
        `/partner/orders/${randomUUID()}/cancel`,
        '/currencies/BTC',
        '/Currencies',
        '/partner/../../livez',
        '/%2e%2e/graphql',
        `/${encodeURIComponent(JSON.parse(this.#values.valid({ type: 'string', minLength: 1, maxLength: 30 })).toWellFormed())}`,
      ]);
      return { method: this.#dice.pick(['GET', 'POST']), path, options: {}, expected: [404, 405, 401] };
    },
    'a quote': () => {
      const [from, to] = this.#pair();
      const rateType = this.#dice.pick(['float', 'fixed'] as const);
      const query = new URLSearchParams({
        coin_from: from.coin,
        network_from: from.network,
        coin_to: to.coin,
        network_to: to.network,
        rate_type: rateType,
      });
      return {
        method: 'GET',
        path: `/partner/rates?${query}`,
        options: this.#dice.chance(0.5) ? { key: this.#keys.partner } : {},
        // Some pairs have no amount that fits both coins.
        expected: [200, 422],
        check: ({ status, json, text }) => {
          if (status === 422) {
            if (json.code !== 'pair_unavailable') throw new Error(`a pair of active coins is refused: ${text}`);
            return;
          }
          if ((json.expires_in === null) !== (rateType === 'float'))
            throw new Error(`expires_in is ${json.expires_in}`);
          const [low, high] = [exact(text, 'min_amount'), exact(text, 'max_amount')].map((one) => new Big(one));
          if (!low || !high) throw new Error('no limits');
          const amount = this.#dice.pick([low, high, low.plus(high.minus(low).times(this.#dice.next().toFixed(6)))]);
          this.#quotes.push({ from, to, rateType, amount: formatDecimal(amount.round(from.decimals, 3)) });
        },
      };
    },
    'an order': () => {
      const quote = this.#quotes.pop();
      if (!quote) return null;
      const { from, to, rateType, amount } = quote;
      const body = {
        coin_from: from.coin,
        network_from: from.network,
        coin_to: to.coin,
        network_to: to.network,
        rate_type: rateType,
        recipient_address: addressExample(to.network),
        ...(this.#dice.chance(0.5) ? { refund_address: addressExample(from.network) } : {}),
      };
      const raw = JSON.stringify(body).replace('{', `{"amount_from":${amount},`);
      const key = this.#dice.chance(0.5) ? randomUUID() : null;
      return {
        method: 'POST',
        path: '/partner/orders',
        options: this.#signed({
          raw,
          headers: { ...this.#key(), ...(key === null ? {} : { 'Idempotency-Key': key }) },
        }),
        // The market may have left the limits that the quote told, and the largest amount may not
        // fit its rounding.
        expected: [201, 422],
        check: ({ status, text, json }) => {
          if (status === 422) {
            if (!['amount_below_min', 'amount_above_max', 'pair_unavailable'].includes(json.code)) {
              throw new Error(`an order within the limits is refused: ${text}`);
            }
            return;
          }
          const paid = new Big(exact(text, 'amount_from_expected')).times(exact(text, 'rate_quoted'));
          const expected = formatDecimal(floorTo(paid, to.decimals));
          if (exact(text, 'amount_to_expected') !== expected) throw new Error(`not amount × rate: ${text}`);
          if (exact(text, 'amount_from_expected') !== formatDecimal(amount)) throw new Error(`not the amount: ${text}`);
          this.#keep({ id: json.id, shortId: json.short_id, from: json.network_from, text });
          if (key !== null) this.#repeatable.push({ key, raw, text });
        },
      };
    },
    'a binding quote': () => {
      const [from, to] = this.#pair();
      const side = this.#dice.pick(['from', 'to'] as const);
      const body = {
        coin_from: from.coin,
        network_from: from.network,
        coin_to: to.coin,
        network_to: to.network,
        rate_type: this.#dice.pick(['float', 'fixed']),
        clamp: true,
        markup_bps: Math.floor(this.#dice.between(0, 501)),
        [`amount_${side}`]: this.#dice.pick([1, 10, 1_000, 1_000_000]),
      };
      return {
        method: 'POST',
        path: '/partner/quotes',
        options: this.#signed({ raw: JSON.stringify(body), headers: this.#key() }),
        // Some pairs have no amount that fits both coins.
        expected: [201, 422],
        check: ({ status, json, text }) => {
          if (status === 422) {
            if (json.code !== 'pair_unavailable') throw new Error(`a clamped quote is refused: ${text}`);
            return;
          }
          const parts = ['gross', 'service_fee', 'partner_markup', 'network_fee', 'rounding'];
          const [gross, ...taken] = parts.map((name) => new Big(exact(text, name)));
          const left = taken.reduce((sum, part) => sum.minus(part), gross ?? new Big('0'));
          const amountTo = exact(text, 'amount_to');
          if (formatDecimal(left) !== amountTo) throw new Error(`the parts do not add up: ${text}`);
          this.#binding.push({ id: json.quote_id, to, amountTo, endsAt: Date.parse(json.expires_at) });
        },
      };
    },
    'an order of a quote': () => {
      const quote = this.#binding.pop();
      if (!quote) return null;
      const raw = JSON.stringify({ quote_id: quote.id, recipient_address: addressExample(quote.to.network) });
      return {
        method: 'POST',
        path: '/partner/orders',
        options: this.#signed({ raw, headers: this.#key() }),
        // The limits of a float quote follow the market.
        expected: [201, 422],
        check: ({ status, text, json }) => {
          if (status === 422) {
            // A machine may be too busy to send it in time.
            const isOver = json.code === 'quote_expired' && Date.now() >= quote.endsAt;
            if (!isOver && !['amount_below_min', 'amount_above_max', 'pair_unavailable'].includes(json.code)) {
              throw new Error(`a quote is not honoured: ${text}`);
            }
            return;
          }
          const isSame = exact(text, 'amount_to_expected') === quote.amountTo;
          if (json.rate_type === 'fixed' && !isSame) throw new Error(`not the terms of the quote: ${text}`);
          this.#keep({ id: json.id, shortId: json.short_id, from: json.network_from, text });
        },
      };
    },
    'a repetition': () => {
      const known = this.#repeatable.length > 0 ? this.#dice.pick(this.#repeatable) : null;
      if (!known) return null;
      const changed = this.#dice.chance(0.3);
      return {
        method: 'POST',
        path: '/partner/orders',
        options: this.#signed({
          raw: changed ? `${known.raw} ` : known.raw,
          headers: { ...this.#key(), 'Idempotency-Key': this.#dice.pick([known.key, `"${known.key}"`]) },
        }),
        expected: [changed ? 422 : 201],
        check: ({ text, headers }) => {
          if (changed) return;
          if (text !== known.text) throw new Error(`not the first answer: ${text}`);
          if (headers.get('idempotent-replayed') !== 'true') throw new Error('not told as a repetition');
        },
      };
    },
    'a look-up': () => {
      const order = this.#orders.length > 0 ? this.#dice.pick(this.#orders) : null;
      if (!order) return null;
      return {
        method: 'GET',
        path: `/partner/orders/${this.#nameOf(order)}`,
        options: this.#signed({ headers: this.#key() }),
        expected: [200],
        check: ({ text }) => {
          if (text !== order.text) throw new Error(`not the order that was made: ${text}`);
        },
      };
    },
    'a list': () => {
      const { cursor, query } = this.#dice.pick(this.#lists);
      return {
        method: 'GET',
        path: `/partner/orders?${query}${cursor === null ? '' : `&cursor=${cursor}`}`,
        options: this.#signed({ headers: this.#key() }),
        expected: [200],
        check: ({ json }) => {
          const list = this.#lists.find((one) => one.query === query);
          if (list) list.cursor = json.next_cursor;
          if (json.next_cursor === null && json.has_more) throw new Error('more orders, and no cursor');
        },
      };
    },
    'a change': () => {
      const order = this.#orders.length > 0 ? this.#dice.pick(this.#orders) : null;
      if (!order) return null;
      const { from } = order;
      const path = `/partner/orders/${this.#nameOf(order)}`;
      const cancelled = this.#cancellable.pop();
      const way = cancelled ? 'cancel' : this.#dice.pick(['metadata', 'refund'] as const);
      if (way === 'metadata') {
        const raw = this.#dice.pick(['{"metadata":{"a":"b"}}', '{"metadata":{"a":null}}', '{"metadata":null}']);
        return { method: 'PATCH', path, options: this.#signed({ raw, headers: this.#key() }), expected: [200] };
      }
      if (way === 'refund') {
        const raw = JSON.stringify({ refund_address: addressExample(from) });
        const options = this.#signed({ raw, headers: this.#key() });
        return { method: 'PUT', path: `${path}/refund-address`, options, expected: [200] };
      }
      return {
        method: 'POST',
        path: `/partner/orders/${this.#nameOf(cancelled ?? order)}/cancel`,
        options: this.#signed({ headers: this.#key() }),
        expected: [200],
        check: ({ json }) => {
          if (json.status_group !== 'expired') throw new Error(`not cancelled: ${json.status_group}`);
        },
      };
    },
    "a stranger's look-up": () => {
      const order = this.#orders.length > 0 ? this.#dice.pick(this.#orders) : null;
      if (!order) return null;
      const options = { key: this.#keys.stranger };
      return {
        method: 'GET',
        path: `/partner/orders/${this.#nameOf(order)}`,
        options,
        expected: [404],
        check: ({ json }) => {
          if (json.code !== 'order_not_found') throw new Error(`told apart from an unknown order: ${json.code}`);
        },
      };
    },
    'a validator': () => {
      const path = this.#dice.pick([
        '/currencies',
        '/openapi.json',
        '/coin-icons/btc.svg',
        '/partner/assets',
        '/partner/pairs?coin_from=BTC',
      ]);
      const tag = this.#dice.pick(['*', 'W/"x"', '"x"', '"', '', ',,,', `"${'a'.repeat(500)}"`]);
      return { method: 'GET', path, options: { headers: { 'If-None-Match': tag } }, expected: [200, 304] };
    },
  };

  /** A request that has the contract's shape, and a key where the operation looks at one. */
  #shaped(operation: Operation): { readonly path: string; readonly options: CallOptions } {
    const { parameters, body, takesKey } = operation;
    const headers: Record<string, string> = takesKey ? this.#key() : {};
    const query = new URLSearchParams();
    let { path } = operation;
    for (const { name, in: place, required, schema } of parameters) {
      if (place === 'path') path = path.replace(`{${name}}`, this.#segment(schema));
      // Only the gateway makes a cursor that it takes.
      else if (name === 'X-Signature' || name === 'cursor' || name === 'Last-Event-ID') continue;
      else if (!required && this.#dice.chance(0.5)) continue;
      else if (place === 'query') query.set(name, plainText(this.#values.valid(schema)));
      else headers[name] = this.#header(schema);
    }
    const target = query.size > 0 ? `${path}?${query}` : path;
    const raw = body ? this.#values.valid(body) : null;
    return { path: target, options: this.#signed(raw === null ? { headers } : { raw, headers }) };
  }

  /** One thing of a request that the contract refuses. */
  #misshapen(): Omit<Attempt, 'kind'> {
    const operation = this.#dice.pick(operations.filter(({ id }) => bent.has(id)));
    const { path, options } = this.#shaped(operation);
    if (operation.body) {
      const { text, status } = this.#values.wrong(operation.body);
      const {
        'Idempotency-Key': _key,
        'X-Signature': _signature,
        Amounts: _amounts,
        ...headers
      } = options.headers ?? {};
      return { method: operation.method, path, options: { raw: text, headers }, expected: [status] };
    }
    const query = new URLSearchParams(path.split('?')[1] ?? '');
    const { name, required, schema } = this.#dice.pick(operation.parameters.filter((one) => one.in === 'query'));
    const base = path.split('?')[0] ?? '';
    if (required && this.#dice.chance(0.4)) {
      query.delete(name);
      return { method: operation.method, path: `${base}?${query}`, options, expected: [400] };
    }
    if (schema.type !== 'array' && this.#dice.chance(0.2)) {
      query.append(name, 'BTC');
      query.append(name, 'BTC');
      return { method: operation.method, path: `${base}?${query}`, options, expected: [400] };
    }
    const [text, expected] = this.#wrongQuery(schema);
    query.set(name, text);
    return { method: operation.method, path: `${base}?${query}`, options, expected: [expected] };
  }

  #wrongQuery(schema: Schema): [string, number] {
    if (schema.type === 'number') {
      return this.#dice.pick([
        ['0', 422],
        ['-1', 422],
        ['', 400],
        [' 1', 400],
        ['0x10', 400],
        ['Infinity', 400],
        ['NaN', 400],
        ['1e1000000', 400],
        ['1,5', 400],
        ['1'.repeat(41), 400],
        ['true', 400],
      ]);
    }
    if (schema.type === 'integer') {
      return this.#dice.pick([
        ['0', 422],
        ['101', 422],
        ['-1', 422],
        ['1.5', 400],
        ['ten', 400],
        ['', 400],
      ]);
    }
    if (schema.format === 'date-time') {
      return [this.#dice.pick(['', 'now', '2026-13-01T00:00:00Z', '2026-11-21', '1795252000', 'infinity']), 422];
    }
    if (schema.type === 'array') {
      const choices = schema.items?.enum;
      if (choices) return [this.#dice.pick(['', 'paid', `${choices[0]},`, `${choices[0]};${choices[0]}`]), 400];
      return [this.#dice.pick(['', 'x,,y', 'x'.repeat(65), Array(101).fill('x').join(',')]), 422];
    }
    const { maxLength = 20, enum: choices } = schema.allOf?.[0] ?? schema;
    if (choices) return [this.#dice.pick(['', 'Float', 'spot']), 400];
    return [this.#dice.pick(['', 'X'.repeat(maxLength + 1)]), 422];
  }

  /** Half of what all headers of a request together may have, at most. */
  #header(schema: Schema): string {
    const maxLength = Math.min(schema.maxLength ?? 0, 8_000);
    return headerText(plainText(this.#values.valid({ ...schema, maxLength })));
  }

  #segment(schema: Schema): string {
    const text = plainText(this.#values.valid({ ...schema, minLength: 1 }));
    // What a client would resolve before it sends it.
    return encodeURIComponent(/^\.{1,2}$/.test(text) ? 'x' : text.toWellFormed());
  }

  #key(): Record<string, string> {
    const { partner: key } = this.#keys;
    return this.#dice.chance(0.7) ? { Authorization: `Bearer ${key}` } : { 'X-API-Key': key };
  }

  #wrongKey(): Record<string, string> {
    const { partner: key } = this.#keys;
    const [id = '', secret = ''] = key.split('.');
    const forged = this.#dice.pick([
      generateKey('xp_test_').whole,
      `${id}${secret}`,
      `${id}.`,
      `.${secret}`,
      `${id}.${secret}.${secret}`,
      `${id}.${secret.slice(0, -1)}${secret.endsWith('0') ? '1' : '0'}`,
      key.toUpperCase(),
      'a'.repeat(4_000),
      "' or '1'='1",
    ]);
    const other = this.#dice.chance(0.5) ? { Authorization: `Bearer ${forged}` } : { 'X-API-Key': forged };
    return this.#dice.chance(0.2)
      ? { Authorization: `Bearer ${key}`, 'X-API-Key': `${forged}x` }
      : { Authorization: 'Basic eDp5', ...other };
  }

  /** Signs some requests as their partner would. */
  #signed(options: CallOptions): CallOptions {
    const presented = options.headers?.Authorization?.slice('Bearer '.length) ?? options.headers?.['X-API-Key'];
    if (presented === undefined || this.#dice.chance(0.7)) return options;
    const digest = createHmac('sha256', presented.slice(presented.indexOf('.') + 1))
      .update(options.raw ?? '')
      .digest('hex');
    return { ...options, headers: { ...options.headers, 'X-Signature': digest } };
  }

  #pair(): [FuzzCurrency, FuzzCurrency] {
    const from = this.#dice.pick(this.#currencies.filter((one) => one.is_deposit_enabled));
    const to = this.#dice.pick(this.#currencies.filter((one) => one.is_withdraw_enabled && one !== from));
    return [from, to];
  }

  #keep(order: KnownOrder): void {
    (this.#dice.chance(0.2) ? this.#cancellable : this.#orders).push(order);
  }

  #nameOf({ id, shortId }: KnownOrder): string {
    return this.#dice.pick([
      id,
      id.toUpperCase(),
      shortId,
      shortId.toLowerCase(),
      encodeURIComponent(shortId).replace('-', '%2D'),
    ]);
  }
}

/** The digits of a number of an answer, which a parsed one may have lost. */
function exact(text: string, member: string): string {
  const [, digits] = new RegExp(`"${member}":(-?[0-9.]+)`).exec(text) ?? [];
  if (digits === undefined) throw new Error(`no ${member} in ${text}`);
  return digits;
}

/** The text of a JSON string, number or list. */
function plainText(json: string): string {
  // A list, as a query has it.
  if (json.startsWith('[')) return (JSON.parse(json) as string[]).join(',');
  return json.startsWith('"') ? (JSON.parse(json) as string) : json;
}

/** What fetch sends of it: header values are Latin-1 without control characters. */
function headerText(text: string): string {
  return text.replace(/[^\x21-\x7e]/gu, 'x');
}
