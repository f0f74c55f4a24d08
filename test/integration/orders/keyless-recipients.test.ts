import { addressExample } from '../../../src/chains/addresses/address.ts';
import { currencySeed } from '../../../src/market/currencies/seed.ts';
import { orderBody } from '../../support/gateway/orders.ts';
import { endWindow, type SettledGateway, startSettledGateway } from '../../support/gateway/settled-gateway.ts';
import { newMember } from '../../support/staff/staff-client.ts';

// Addresses from which no one can spend are refused wherever an address is taken. These are the
// contracts and mints of the catalogue, for every coin of their chain, and accounts without a key.

const contractOf = (coin: string, network: string): string =>
  currencySeed.find((row) => row.coin === coin && row.network === network)?.contract ?? '';

/** A coin that is paid, and where it would be lost. */
const lost: readonly (readonly [what: string, coin: string, network: string, address: string])[] = [
  ['the contract of another token', 'USDC', 'ERC20', contractOf('USDT', 'ERC20')],
  ['its own contract', 'USDC', 'ERC20', contractOf('USDC', 'ERC20')],
  ['a contract, for the coin of the chain', 'ETH', 'ETH', contractOf('USDT', 'ERC20')],
  ['a contract, in lower case', 'ETH', 'ETH', contractOf('USDT', 'ERC20').toLowerCase()],
  ['a contract, for the coin of TRON', 'TRX', 'TRX', contractOf('USDT', 'TRC20')],
  ['the mint of a token', 'SOL', 'SOL', contractOf('USDC', 'SOL')],
  ['the mint of another token', 'USDC', 'SOL', contractOf('USDT', 'SOL')],
  ['the issuer of a token', 'XLM', 'XLM', contractOf('USDC', 'XLM')],
  ['the contract of a token, in its other form', 'TON', 'TON', contractOf('USDT', 'TON')],
  ['a sysvar', 'SOL', 'SOL', 'SysvarC1ock11111111111111111111111111111111'],
  ['the deposit contract', 'ETH', 'ETH', '0x00000000219ab540356cBB839Cbe05303d7705Fa'],
  ['a precompiled contract', 'USDT', 'ERC20', '0x0000000000000000000000000000000000000100'],
  ['the black hole', 'TRX', 'TRX', 'TLsV52sRDL79HXGGm9yzwKibb6BeruhUzy'],
  ['the first account', 'XRP', 'XRP', 'rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh'],
];

let gateway: SettledGateway;
beforeAll(async () => {
  gateway = await startSettledGateway();
});
afterAll(() => gateway?.stop());

const call = (path: string, body: object, method: 'POST' | 'PUT' = 'POST') =>
  gateway.call(method, `/partner/${path}`, { key: gateway.key, body });
const refusal = { code: 'invalid_address' };

describe.each(lost)('%s: %s on %s', (_, coin, network, address) => {
  it('is no good address', async () => {
    const { status, json } = await call('addresses/validate', { coin, network, address });
    expect([status, json]).toMatchObject([200, { valid: false, canonical: null, ...refusal }]);
  });

  it('is no recipient of an order', async () => {
    const body = orderBody({ coin_to: coin, network_to: network, recipient_address: address });
    expect(await call('orders', body)).toMatchObject({ status: 422, json: refusal });
    expect((await call('orders/validate', body)).json).toMatchObject({
      errors: [{ field: 'recipient_address', ...refusal }],
    });
  });

  it('gets no refund, at the creation or later', async () => {
    const amount = { BTC: 0.01, ETH: 1, TRX: 1000, SOL: 1, XLM: 2000, TON: 100, XRP: 100 }[coin] ?? 200;
    const from = {
      ...{ coin_from: coin, network_from: network, amount_from: amount },
      ...{ coin_to: 'BTC', network_to: 'BTC', recipient_address: addressExample('BTC') },
    };
    const refused = await call('orders', orderBody({ ...from, refund_address: address }));
    expect(refused).toMatchObject({ status: 422, json: refusal });
    const made = await call('orders', orderBody(from));
    expect([made.status, made.text]).toEqual([201, made.text]);
    const changed = await call(`orders/${made.json.id}/refund-address`, { refund_address: address }, 'PUT');
    expect(changed).toMatchObject({ status: 422, json: { errors: [{ field: 'refund_address', ...refusal }] } });
  });
});

it('staff refund nothing to where no one can spend from', async () => {
  const operator = await newMember(gateway, 'operator');
  const order = await gateway.order({
    ...{ coin_from: 'ETH', network_from: 'ETH', amount_from: 1 },
    ...{ coin_to: 'BTC', network_to: 'BTC', recipient_address: addressExample('BTC') },
    refund_address: undefined,
  });
  // A late deposit without a refund address waits for staff.
  await endWindow(gateway, order);
  await gateway.tick();
  gateway.clock.advance(1);
  await gateway.deposit(order);
  for (let round = 0; round < 6; round++) {
    await gateway.tick();
    await gateway.mine('ETH', 20);
  }
  expect((await gateway.show(order)).status).toBe('failed');
  for (const address of [contractOf('USDT', 'ERC20'), '0x000000000000000000000000000000000000dEaD']) {
    const { errors } = await operator.ask(
      'mutation ($input: RefundInput!) { orderRefund(input: $input, reason: "asked") { id } }',
      { input: { orderId: order.id, address } },
    );
    expect([address, errors]).toMatchObject([address, [{ extensions: { kind: 'invalid_address' } }]]);
  }
});
