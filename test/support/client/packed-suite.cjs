// What the packed client must do on each version of Node, as ES module and as CommonJS. The tests
// copy this file into the folder where the client is installed.
const assert = require('node:assert/strict');
const { createHmac } = require('node:crypto');
const { createServer } = require('node:http');
const { inspect } = require('node:util');

const order = {
  coin_from: 'BTC',
  network_from: 'BTC',
  coin_to: 'USDT',
  network_to: 'TRC20',
  amount_from: '0.0123',
  rate_type: 'float',
  recipient_address: 'TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH',
};

/** Runs a test against a server that answers each request with the next of these functions. */
async function withServer(answers, test) {
  const seen = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (data) => {
      body += data;
    });
    request.on('end', () => {
      seen.push({ key: request.headers['idempotency-key'], body });
      answers[Math.min(seen.length, answers.length) - 1](response);
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    await test(`http://127.0.0.1:${server.address().port}`, seen);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const cut = (response) => response.socket.destroy();
const hang = () => {};
const created = (response) => response.writeHead(201, { 'Content-Type': 'application/json' }).end('{"id":"x"}');

/** The cases by their names. */
function casesOf({ PartnerClient, PartnerError, List, verifyWebhook }, { url, key }) {
  const client = new PartnerClient({ url, key });
  return {
    'lists assets with amounts as strings, without a key': async () => {
      const list = new PartnerClient({ url }).listAssets();
      assert.ok(list instanceof List);
      const assets = await list.toArray();
      assert.ok(assets.length > 10);
      for (const { min_amount: min } of assets) assert.match(min, /^\d+(\.\d+)?$/);
    },
    'keeps 18 digits after the point': async () => {
      const quote = { coin_from: 'ETH', network_from: 'ETH', coin_to: 'BTC', rate_type: 'float' };
      const amount = '1.123456789012345678';
      assert.equal((await client.createQuote({ ...quote, amount_from: amount })).amount_from, amount);
    },
    'creates an order once, finds it, and walks the list to it': async () => {
      const options = { idempotencyKey: `suite-${process.pid}` };
      const made = await client.createOrder(order, options);
      assert.deepEqual(await client.createOrder(order, options), made);
      assert.deepEqual(await client.getOrder(made.short_id), made);
      assert.equal((await client.getOrderDetails(made.id)).seq, 1);
      assert.equal((await client.listOrderEvents(made.id).toArray())[0].cause, 'created');
      let found = false;
      for await (const { id } of client.listOrders({ ids: [made.id] })) found ||= id === made.id;
      assert.ok(found);
    },
    'names the order that has the external id': async () => {
      const body = { ...order, external_id: `suite-${process.pid}` };
      const { id } = await client.createOrder(body);
      await assert.rejects(client.createOrder(body), (error) => {
        assert.ok(error instanceof PartnerError);
        assert.deepEqual([error.code, error.status, error.orderId], ['external_id_taken', 409, id]);
        return true;
      });
    },
    'names every fault of a refusal, with the request id': async () => {
      const wrong = { ...order, amount_from: '0.00000001', recipient_address: 'nowhere' };
      await assert.rejects(client.createOrder(wrong), (error) => {
        assert.deepEqual(
          error.errors.map(({ field }) => field),
          ['amount_from', 'recipient_address'],
        );
        assert.match(error.requestId, /./);
        return error.code === 'validation_failed';
      });
    },
    'syncs all orders up to a cursor': async () => {
      const { id } = await client.createOrder(order);
      const ids = new Set();
      let cursor;
      // The feed tells an order once older transactions have ended.
      for (let i = 0; i < 100 && !ids.has(id); i++) {
        for await (const page of client.sync({}, { cursor })) {
          for (const one of page.orders) ids.add(one.id);
          cursor = page.cursor;
        }
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      assert.ok(ids.has(id));
    },
    'waits for an order no longer than it is told': async () => {
      const made = await client.createOrder(order);
      const wait = client.waitFor(made, { timeoutMs: 300, intervalMs: 100 });
      await assert.rejects(wait, { name: 'PartnerError', code: 'wait_timeout' });
      assert.equal((await client.waitFor(made.id, { until: ['waiting_deposit'] })).id, made.id);
    },
    'repeats a create with the same key and bytes': () =>
      withServer([cut, cut, created], async (server, seen) => {
        const one = new PartnerClient({ url: server, key, retryDelayMs: 1 });
        assert.deepEqual(await one.createOrder(order), { id: 'x' });
        assert.equal(seen.length, 3);
        assert.equal(new Set(seen.map((each) => JSON.stringify(each))).size, 1);
      }),
    'ends at its timeout and by a signal': () =>
      withServer([hang], async (server) => {
        const one = new PartnerClient({ url: server, key, timeoutMs: 50, maxRetries: 0 });
        await assert.rejects(one.createOrder(order), { code: 'timeout' });
        const signal = AbortSignal.timeout(50);
        await assert.rejects(one.createOrder(order, { signal, timeoutMs: 60_000 }), (error) => {
          assert.equal(error.cause, signal.reason);
          return error.code === 'aborted';
        });
      }),
    'verifies a webhook, and refuses a changed byte': async () => {
      const secret = Buffer.alloc(32, 7);
      const body = Buffer.from('{"type":"order.completed","timestamp":"2026-11-22T10:09:41.120Z","data":{"seq":6}}');
      const time = String(Math.floor(Date.now() / 1_000));
      const hmac = createHmac('sha256', secret).update(`evt_1.${time}.`).update(body).digest('base64');
      const headers = { 'webhook-id': 'evt_1', 'webhook-timestamp': time, 'webhook-signature': `v1,${hmac}` };
      const text = `whsec_${secret.toString('base64')}`;
      assert.deepEqual((await verifyWebhook(body, headers, text)).data, { seq: 6 });
      body[body.length - 3] ^= 1;
      await assert.rejects(verifyWebhook(body, headers, text), { code: 'webhook_signature' });
    },
    'does not show its key': async () => {
      assert.ok(!inspect(client, { depth: 9, showHidden: true }).includes(key));
    },
    'is refused a key in a browser': async () => {
      Object.assign(globalThis, { window: {}, document: {} });
      assert.throws(() => new PartnerClient({ url, key }), /does not belong into a browser/);
      new PartnerClient({ url, key, dangerouslyAllowBrowser: true });
      new PartnerClient({ url });
    },
  };
}

/** Runs the cases, and prints each one's failure, or null, as one JSON object. */
module.exports.run = async (client) => {
  const results = {};
  const access = { url: process.env.PARTNER_URL, key: process.env.PARTNER_KEY };
  for (const [name, test] of Object.entries(casesOf(client, access))) {
    results[name] = await test().then(
      () => null,
      (error) => error.stack,
    );
  }
  process.stdout.write(JSON.stringify({ version: process.versions.node, results }));
};
