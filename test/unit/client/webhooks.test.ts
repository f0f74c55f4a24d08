import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { PartnerError, verifyWebhook } from '../../../client/src/main.ts';

/** Webhooks that an independent implementation of Standard Webhooks signs. */

const secret = `whsec_${randomBytes(32).toString('base64')}`;
const oldSecret = `whsec_${randomBytes(24).toString('base64')}`;
const nowMs = Date.UTC(2026, 10, 22, 10, 9, 41);
const id = 'evt_0199c0de';
const event = {
  type: 'order.completed',
  timestamp: '2026-11-22T10:09:41.120Z',
  data: { event_id: id, amount_to: '6312.89', note: 'größer' },
};
const body = JSON.stringify(event);

/** Headers of a delivery, with one signature for each secret. */
function headersFor(text: string, { secrets = [secret], atMs = nowMs, name = id } = {}): Record<string, string> {
  const signatures = secrets.map((each) => new Webhook(each).sign(name, new Date(atMs), text));
  return {
    'webhook-id': name,
    'webhook-timestamp': String(Math.floor(atMs / 1_000)),
    'webhook-signature': signatures.join(' '),
  };
}

/** The code of the refusal, or what was verified. */
async function verdict(
  ...[text, headers, secrets = secret, options = { nowMs }]: Partial<Parameters<typeof verifyWebhook>>
) {
  try {
    return await verifyWebhook(text ?? body, headers ?? headersFor(body), secrets, options);
  } catch (error) {
    if (error instanceof PartnerError) return error.code;
    throw error;
  }
}

describe('verifyWebhook', () => {
  it('accepts the bytes and their text, with every kind of headers', async () => {
    const verified = { id, sentAt: new Date(nowMs), ...event };
    const headers = headersFor(body);
    const upper = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]));
    for (const text of [body, Buffer.from(body), new TextEncoder().encode(body)]) {
      for (const each of [headers, upper, new Headers(headers)]) expect(await verdict(text, each)).toEqual(verified);
    }
  });

  it("accepts the published example of the specification's authors, up to its body", async () => {
    const example = {
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    };
    const options = { nowMs: 1_614_265_330_000 };
    const published = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
    // The signature is genuine; the body is no event of ours.
    expect(await verdict('{"test": 2432232314}', example, published, options)).toBe('invalid_answer');
    expect(await verdict('{"test": 2432232315}', example, published, options)).toBe('webhook_signature');
  });

  it('accepts the old and the new secret during a rotation, and passes over other versions', async () => {
    const both = headersFor(body, { secrets: [secret, oldSecret] });
    for (const one of [secret, oldSecret]) expect(await verdict(body, both, one)).toMatchObject({ id });
    expect(await verdict(body, headersFor(body, { secrets: [oldSecret] }), [secret, oldSecret])).toMatchObject({ id });
    const [, signature = ''] = Object.values(headersFor(body)).slice(1);
    const mixed = { ...headersFor(body), 'webhook-signature': `v1a,AAAA v2,xx v1,!! v1, ${signature}` };
    expect(await verdict(body, mixed)).toMatchObject({ id });
  });

  it('refuses every changed byte of the body', async () => {
    const bytes = Buffer.from(body);
    for (let i = 0; i < bytes.length; i++) {
      const changed = Buffer.from(bytes);
      changed[i] = (changed[i] ?? 0) ^ 1;
      expect(await verdict(changed)).toBe('webhook_signature');
    }
  });

  it('refuses another id, time or secret, and a signature that is cut or of another version', async () => {
    const headers = headersFor(body);
    const { 'webhook-signature': signature = '' } = headers;
    const refused = [
      { 'webhook-id': 'evt_other' },
      { 'webhook-timestamp': String(nowMs / 1_000 + 1) },
      { 'webhook-signature': signature.slice(0, -4) },
      { 'webhook-signature': signature.replace('v1,', 'v2,') },
      { 'webhook-signature': signature.slice('v1,'.length) },
      { 'webhook-signature': 'v1,' },
    ];
    for (const change of refused) expect(await verdict(body, { ...headers, ...change })).toBe('webhook_signature');
    expect(await verdict(body, headers, oldSecret)).toBe('webhook_signature');
  });

  it('refuses an id with a dot, whose bytes could be those of another time', async () => {
    const headers = headersFor(body, { name: 'evt.1' });
    expect(await verdict(body, headers)).toBe('webhook_headers');
  });

  it('refuses missing, doubled and unreadable headers', async () => {
    const headers = headersFor(body);
    for (const name of Object.keys(headers)) {
      const { [name]: value, ...others } = headers;
      expect(await verdict(body, others)).toBe('webhook_headers');
      expect(await verdict(body, { ...others, [name]: [value ?? '', value ?? ''] })).toBe('webhook_headers');
    }
    for (const time of ['', 'x', '1e9', '-1', '1614265330.5', ' 1614265330', '9'.repeat(13)]) {
      expect(await verdict(body, { ...headers, 'webhook-timestamp': time })).toBe('webhook_headers');
    }
  });

  it('refuses what was sent more than five minutes ago, or in the future', async () => {
    for (const awayMs of [300_000, -300_000]) {
      expect(await verdict(body, headersFor(body), secret, { nowMs: nowMs + awayMs })).toMatchObject({ id });
      const further = nowMs + awayMs + Math.sign(awayMs);
      expect(await verdict(body, headersFor(body), secret, { nowMs: further })).toBe('webhook_time');
    }
    const near = { nowMs: nowMs + 2_000, toleranceSec: 1 };
    expect(await verdict(body, headersFor(body), secret, near)).toBe('webhook_time');
    // The real time is the default.
    const fresh = headersFor(body, { atMs: Date.now() });
    expect(await verdict(body, fresh, secret, {})).toMatchObject({ id });
  });

  it('refuses a genuine body that is no event', async () => {
    for (const text of [
      '',
      'null',
      '[]',
      '{"type":1,"timestamp":"x","data":{}}',
      '{"type":"x","timestamp":"x","data":null}',
    ]) {
      expect(await verdict(text, headersFor(text))).toBe('invalid_answer');
    }
  });

  it('says what is wrong with a parsed body and with a secret, and does not show the secret', async () => {
    await expect(verifyWebhook(event as never, headersFor(body), secret)).rejects.toThrow(/not the parsed JSON/);
    for (const wrong of ['', 'whsec_', 'whsec_c2hvcnQ=', secret.slice(6), 'whsec_*', `whsec_${'A'.repeat(100)}`]) {
      await expect(verifyWebhook(body, headersFor(body), wrong)).rejects.toThrow(
        new TypeError('A webhook secret must be whsec_ and 24 to 64 bytes in base64.'),
      );
    }
    await expect(verifyWebhook(body, headersFor(body), [])).rejects.toThrow(TypeError);
  });
});
