import { orderBody } from '../gateway/orders.ts';
import { type SettledGateway, startSettledGateway } from '../gateway/settled-gateway.ts';

export let gateway: SettledGateway;
export let key: string;
export let rest: string;

export const body = JSON.stringify(orderBody());
export const line = (path = '/api/v1/partner/orders') => `POST ${path} HTTP/1.1\r\nHost: x\r\n`;
export const head = (more = '') => `${line()}Authorization: Bearer ${key}\r\nContent-Type: application/json\r\n${more}`;

/** Whether other requests are served. */
export async function isServing(): Promise<boolean> {
  const [read, live] = await Promise.all([
    gateway.call('GET', '/partner/rates?coin_from=BTC&coin_to=ETH', { key }),
    fetch(`${gateway.app.internalUrl}/livez`),
  ]);
  return read.status === 200 && live.status === 200;
}

/** Starts a gateway for the tests of the file, and gives a partner its key. */
export function withAttackedGateway(): void {
  beforeAll(async () => {
    gateway = await startSettledGateway({
      settings: { RATE_LIMIT_STAFF_PER_MIN: '100000', RATE_LIMIT_SIGN_IN_PER_MIN: '100000' },
    });
    ({ key } = await gateway.partner());
    rest = gateway.app.restUrl ?? '';
  });
  afterAll(() => gateway?.stop());
}
