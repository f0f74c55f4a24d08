import { TestClock } from '../../support/gateway/clock.ts';
import { startGateway } from '../../support/gateway/gateway.ts';
import { orderBody } from '../../support/gateway/orders.ts';
import type { Reply } from '../../support/http/contract-client.ts';
import type { Recording } from './recording.ts';
import { sandboxPricesOf } from './world.ts';

const pair = '/partner/rates?coin_from=BTC&coin_to=USDT&network_to=TRC20';
const once = { 'Idempotency-Key': 'golden' };

/**
 * What the four specified endpoints answer a client that uses nothing of later versions, on a
 * gateway without any change of its settings. These bytes are those of commit d425641.
 */
export async function recordFourEndpoints(recording: Recording): Promise<void> {
  const clock = new TestClock();
  const gateway = await startGateway({ outside: { clock, priceSource: sandboxPricesOf(clock, 'golden') } });
  try {
    const { key } = await gateway.partner();
    const take = async (title: string, method: string, path: string, options = {}): Promise<Reply> => {
      const reply = await gateway.call(method, path, options);
      recording.take(title, `${method} /api/v1${path}`, reply);
      return reply;
    };
    const create = (title: string, changes: Record<string, unknown>, headers = {}): Promise<Reply> =>
      take(`createOrder: ${title}`, 'POST', '/partner/orders', { key, headers, body: orderBody(changes) });
    await take('listCurrencies: currencies', 'GET', '/currencies');
    await take('getRate: a float quote', 'GET', `${pair}&amount=0.1`);
    await take('getRate: a fixed quote', 'GET', `${pair}&amount=1e-2&rate_type=fixed`);
    await take('getRate: a quote of the minimum', 'GET', pair);
    await take('getRate: a quote outside the limits', 'GET', `${pair}&amount=1000`);
    await take(
      'getRate: a quote of a misspelt coin',
      'GET',
      '/partner/rates?coin_from=btc&coin_to=USDT&amounts=string',
    );
    const { json: order } = await create('a create', {}, once);
    await create('a repeated create', {}, once);
    await take('getOrder: a look-up', 'GET', `/partner/orders/${order.id}`, { key });
    await create('a create with an amount as a string', { amount_from: '0.1' });
    await create('a create below the minimum', { amount_from: 0.00001 });
    await create('a create with several faults', { amount_from: 0, coin_from: 'NOPE', recipient_address: 'x' });
    await create('a create with unknown members', { amounts: 'string', refund_adress: 'x' });
  } finally {
    await gateway.stop();
  }
}
