import { resolve } from 'node:path';
import { Client } from 'pg';
import { PartnerService } from '../../src/accounts/partners/partner-service.ts';
import { openHasher } from '../../src/app/bootstrap.ts';
import { createOrm } from '../../src/app/orm.ts';
import { systemClock } from '../../src/base/clock.ts';
import { gatewayTerms } from '../../src/config/fixed-rates.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { BuiltProcess } from '../support/gateway/built-process.ts';
import { orderBody } from '../support/gateway/orders.ts';
import { widePayouts } from '../support/gateway/settings.ts';
import { type Endpoint, endpointsOf } from './endpoints.ts';

/** What both servers work on. */
export interface ServerEnvironment {
  readonly databaseUrl: string;
  /** Where the keys of the database's gateway are. */
  readonly dataDir: string;
  readonly redisUrl: string | null;
  /** Logs and profiles. */
  readonly folder: string;
}

export interface Server {
  readonly name: 'gateway' | 'limit';
  /** With /api/v1. */
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

export interface ServerOptions {
  /** Options of Node itself. */
  readonly nodeOptions?: readonly string[];
  readonly settings?: Readonly<Record<string, string>>;
}

const wide = '1000000';

/**
 * The gateway as an operator runs it, with limits that count and never refuse, or the hand-written
 * server next to it.
 */
export async function startServer(
  name: Server['name'],
  { databaseUrl, dataDir, redisUrl, folder }: ServerEnvironment,
  { nodeOptions = [], settings = {} }: ServerOptions = {},
): Promise<Server> {
  const child = new BuiltProcess({
    script: name === 'gateway' ? 'main.js' : resolve('test/bench/limit/server.ts'),
    nodeOptions,
    name,
    folder,
    settings: {
      ROLE: 'api',
      PORT: '0',
      INTERNAL_PORT: '0',
      LOG_LEVEL: 'warn',
      DRAIN_GRACE_LOCAL_MS: '0',
      DATABASE_URL: databaseUrl,
      DATA_DIR: dataDir,
      ...(redisUrl === null ? {} : { REDIS_URL: redisUrl }),
      RATE_LIMIT_PUBLIC_PER_MIN: wide,
      RATE_LIMIT_PARTNER_PER_MIN: wide,
      RATE_LIMIT_ORDERS_PER_MIN: wide,
      MAX_OPEN_ORDERS: wide,
      MAX_FIXED_EXPOSURE_USD: '1000000000',
      MAX_FIXED_DAY_USD: '1000000000',
      MAX_FIXED_ALL_USD: '9000000000',
      MAX_FLOAT_EXPOSURE_USD: '1000000000',
      MAX_FLOAT_ALL_USD: '9000000000',
      ...widePayouts,
      ...settings,
    },
    ready: /^ready rest=\S+/m,
  });
  const output = await child.ready();
  const url = /^ready rest=(\S+)/m.exec(output)?.[1] ?? '';
  return { name, url, pid: child.pid, stop: () => child.end('SIGTERM') };
}

/** Adds made-up tokens until this many currencies are active. */
export async function fillCatalogue(databaseUrl: string, count: number): Promise<void> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(
      `insert into currency (id, coin, network, name, is_active, is_deposit_enabled, is_withdraw_enabled, min_amount,
         max_amount, min_confirmations, decimals, is_memo, network_fee, contract, explorer_tx_url, explorer_address_url,
         created_at, updated_at)
       select gen_random_uuid(), 'MADE' || i, 'ERC20', 'Made-up token ' || i, true, true, true, 5, 100000, 64, 18, false,
              1.5, '0x' || lpad(to_hex(i), 40, '0'), 'https://etherscan.io/tx/{tx}',
              'https://etherscan.io/address/{address}', now(), now()
         from generate_series(1, $1 - (select count(*)::int from currency where is_active)) as i
       on conflict do nothing`,
      [count],
    );
  } finally {
    await client.end();
  }
}

/** A key of a partner, a new one unless given. */
export async function issueKey({ databaseUrl, dataDir }: ServerEnvironment, partnerId?: string): Promise<string> {
  const orm = await createOrm({ url: databaseUrl, poolSize: 1 });
  try {
    const config = loadConfig({ DATA_DIR: dataDir, DATABASE_URL: databaseUrl });
    const hasher = await openHasher(config, orm);
    const partners = new PartnerService(orm, hasher, systemClock, false, gatewayTerms(config), async () => {});
    return (await partners.issueKey(partnerId ?? (await partners.create('Bench')).id)).key;
  } finally {
    await orm.close(true);
  }
}

/** The endpoints, with this many orders to look up that a gateway makes. */
export async function makeEndpoints(url: string, key: string, orders: number): Promise<Endpoint[]> {
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
  const orderIds: string[] = [];
  for (let i = 0; i < orders; i++) {
    const body = JSON.stringify(orderBody());
    const response = await fetch(`${url}/partner/orders`, { method: 'POST', headers, body });
    if (response.status !== 201) throw new Error(`an order was answered ${response.status}: ${await response.text()}`);
    orderIds.push(((await response.json()) as { id: string }).id);
  }
  // The load names no coding; each coding has a separate entity tag.
  const currencies = await fetch(`${url}/currencies`, { headers: { 'Accept-Encoding': 'identity' } });
  await currencies.arrayBuffer();
  return endpointsOf({ key, orderIds, currenciesEtag: currencies.headers.get('etag') ?? '' });
}
