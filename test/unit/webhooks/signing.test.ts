import { createSecretKey } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { nextAttemptAt, retryPausesMs } from '../../../src/webhooks/retries.ts';
import { SecretBox } from '../../../src/webhooks/secret-box.ts';
import { newSecret, secretText, signatureHeaders } from '../../../src/webhooks/signature.ts';

const key = (version: number, letter: string) => ({ version, key: createSecretKey(letter.repeat(32), 'utf8') });

describe('a stored secret', () => {
  const box = new SecretBox([key(2, 'b'), key(1, 'a')]);
  const secret = newSecret();

  it('is read back for its own endpoint only', () => {
    const sealed = box.seal('one', secret);
    expect(sealed.version).toBe(2);
    expect(box.open('one', sealed)).toEqual(secret);
    expect(() => box.open('two', sealed)).toThrow();
  });

  it('is not the same bytes twice', () => {
    expect(box.seal('one', secret).bytes).not.toEqual(box.seal('one', secret).bytes);
  });

  it('is not read when a bit of it changed', () => {
    const { bytes, version } = box.seal('one', secret);
    for (let place = 0; place < bytes.length; place++) {
      const changed = Buffer.from(bytes);
      changed[place] = (changed[place] ?? 0) ^ 1;
      expect(() => box.open('one', { bytes: changed, version })).toThrow();
    }
  });

  it('of an older key is read while the key is there', () => {
    const old = new SecretBox([key(1, 'a')]).seal('one', secret);
    expect(box.open('one', old)).toEqual(secret);
    expect(() => new SecretBox([key(2, 'b')]).open('one', old)).toThrow('version 1 of KEY_PEPPER');
  });
});

describe('a signature', () => {
  it('is what the standard library makes', () => {
    const secret = newSecret();
    const message = { id: 'evt_1', at: new Date(1_700_000_000_000), body: '{"a":"ü"}' };
    const headers = signatureHeaders(message, [secret]);
    const other = new Webhook(secretText(secret)).sign(message.id, message.at, message.body);
    expect(headers).toEqual({
      'webhook-id': 'evt_1',
      'webhook-timestamp': '1700000000',
      'webhook-signature': other,
    });
  });
});

describe('the pause before the next attempt', () => {
  const now = new Date(0);

  it.each(retryPausesMs.map((pauseMs, n) => [n + 1, pauseMs] as const))('after attempt %i is %i ms', (n, pauseMs) => {
    for (let draw = 0; draw < 200; draw++) {
      const waitMs = nextAttemptAt(n, now, null)?.getTime() ?? 0;
      expect(waitMs).toBeGreaterThanOrEqual(pauseMs * 0.8);
      expect(waitMs).toBeLessThanOrEqual(pauseMs * 1.2);
    }
  });

  it('is what the receiver asks where that is longer, and a day at most', () => {
    expect(nextAttemptAt(1, now, 100)?.getTime()).toBe(100_000);
    expect(nextAttemptAt(1, now, 999_999_999)?.getTime()).toBe(86_400_000);
    expect(nextAttemptAt(9, now, 1)?.getTime()).toBeGreaterThan(60_000_000);
  });

  it('is none after the last attempt', () => {
    expect(nextAttemptAt(retryPausesMs.length + 1, now, 100)).toBeNull();
  });
});
