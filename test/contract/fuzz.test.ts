import { fuzz } from '../fuzz/contract-fuzz.ts';
import { startGateway, type TestGateway } from '../support/gateway/gateway.ts';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway?.stop());

/** The same requests each time; `npm run fuzz` sends others. */
const seed = 20_261_122;

describe('random requests made from the contract', () => {
  it('get only documented answers, valid or not', async () => {
    const keys = { partner: (await gateway.partner()).key, stranger: (await gateway.partner()).key };
    const restUrl = gateway.app.restUrl ?? '';
    const { requests, faults, kinds } = await fuzz({ restUrl, keys, requests: 2_000, concurrency: 4, seed });
    expect(faults).toEqual([]);
    expect(requests).toBeGreaterThanOrEqual(2_000);
    expect(kinds.get('an order')?.get(201)).toBeGreaterThan(50);
    expect(kinds.get('a look-up')?.get(200)).toBeGreaterThan(50);
  });
});
