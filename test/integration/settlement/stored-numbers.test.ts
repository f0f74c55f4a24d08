import { ChainState } from '../../../src/chains/port/chain-state.entity.ts';
import { Deposit } from '../../../src/settlement/rows/deposit.entity.ts';
import { PaymentAttempt } from '../../../src/settlement/rows/payment-attempt.entity.ts';
import { type SettledGateway, startSettledGateway } from '../../support/gateway/settled-gateway.ts';

// PostgreSQL's driver reads a bigint column as text, unless its property says otherwise.

/** What the members of entities with a bigint column are when they are read. */
const kinds: Readonly<Record<string, string>> = {
  'ChainState.fence': 'string',
  'ChainState.version': 'string',
  'CommissionEntry.number': 'string',
  'ChainState.height': 'number',
  'ChainState.head': 'number',
  'ChainState.rescanFrom': 'number',
  'ChainState.finalHeight': 'number',
  'ChainState.comparedIndex': 'number',
  'Deposit.height': 'number',
  'Deposit.comparedHeight': 'number',
  'DepositAddress.index': 'string',
  'PartnerPasskey.counter': 'number',
  'Payment.number': 'string',
  'PaymentAttempt.expiresAtHeight': 'number',
  'PaymentAttempt.minedHeight': 'number',
  'WebhookDelivery.id': 'string',
};

let gateway: SettledGateway;

beforeAll(async () => {
  gateway = await startSettledGateway({ settings: { SANDBOX_RULES: 'final' } });
});
afterAll(() => gateway?.stop());

it('every bigint column of an entity is read as its kind', async () => {
  const rows = await gateway.query<{ place: string }>(
    `select table_name || '.' || column_name as place from information_schema.columns
      where table_schema = current_schema() and data_type = 'bigint'`,
  );
  const columns = new Set(rows.map(({ place }) => place));
  const read: Record<string, string> = {};
  for (const { className, tableName, props } of gateway.app.orm.getMetadata().getAll().values()) {
    for (const { name, fieldNames, customType } of props) {
      if (!columns.has(`${tableName}.${fieldNames?.[0]}`)) continue;
      const platform = gateway.app.orm.em.getPlatform();
      const value: unknown = customType ? customType.convertToJSValue('7', platform) : '7';
      read[`${className}.${name}`] = typeof value;
    }
  }
  expect(read).toEqual(kinds);
});

it('heights of attempts, deposits and chains are numbers when they are read again', async () => {
  const order = await gateway.order();
  await gateway.deposit(order);
  for (const network of ['BTC', 'BTC', 'BTC', 'TRC20', 'TRC20']) {
    await gateway.mine(network);
    await gateway.tick();
    gateway.clock.advance(1_000);
  }
  const em = gateway.app.orm.em.fork();
  const [attempt] = await em.find(PaymentAttempt, { raw: { $ne: null } });
  const [deposit] = await em.find(Deposit, { orderId: order.id });
  const [state] = await em.find(ChainState, { chain: 'tron' });
  expect(attempt).toMatchObject({ expiresAtHeight: expect.any(Number), minedHeight: expect.any(Number) });
  expect(deposit).toMatchObject({ height: expect.any(Number) });
  expect(state).toMatchObject({ height: expect.any(Number), head: expect.any(Number) });
});
