import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { proofHeaders, SharedSecret } from '../../../src/signer/proof.ts';
import { SocketSigner } from '../../../src/signer/socket-signer.ts';
import {
  client,
  closing,
  from,
  intent,
  local,
  proofOf,
  secret,
  send,
  serve,
  signBody,
  socketPath,
  txOf,
  withSocketSigner,
} from '../../support/chains/signer-socket.ts';
import { TestClock } from '../../support/gateway/clock.ts';

withSocketSigner();

describe('the proofs on the socket', () => {
  const stranger = new SharedSecret(new Uint8Array(32).fill(10), 'the file of the test');
  const unavailable = { name: 'SignerError', code: 'unavailable' };

  it('rejects a server without the shared secret, with every kind of answer and proof', async () => {
    const answers: ((nonce: string, body: Buffer) => Record<string, string>)[] = [
      () => ({}),
      (nonce, body) => ({ [proofHeaders.proof]: stranger.ofAnswer({ nonce, status: 200, body }) }),
      // The right secret, and the answer to another request.
      (_nonce, body) => ({ [proofHeaders.proof]: secret.ofAnswer({ nonce: '0'.repeat(32), status: 200, body }) }),
      // The right secret, and another answer.
      (nonce) => ({ [proofHeaders.proof]: secret.ofAnswer({ nonce, status: 200, body: Buffer.from('{}') }) }),
      (nonce, body) => ({ [proofHeaders.proof]: secret.ofAnswer({ nonce, status: 409, body }) }),
    ];
    const heard: string[] = [];
    const impostor = createServer((req, res) => {
      heard.push(req.url ?? '');
      const nonce = String(req.headers[proofHeaders.nonce]);
      const body = Buffer.from(
        '{"address":"thief","fingerprint":"0","xpub":"x","txid":"t","raw":"r","reserves":[],"expiresAt":null}',
      );
      res.writeHead(200, answers[(heard.length - 1) % answers.length]?.(nonce, body) ?? {}).end(body);
    }).listen(socketPath);
    await once(impostor, 'listening');
    closing.push(() => impostor.close());

    for (let turn = 0; turn < answers.length; turn++) {
      const asked = client.hotWallet('bitcoin');
      await expect(asked).rejects.toMatchObject(unavailable);
      await expect(asked).rejects.toThrow('does not prove that it knows the secret');
    }
    for (let turn = 0; turn < answers.length; turn++) {
      await expect(client.sign('bitcoin', intent, txOf())).rejects.toMatchObject(unavailable);
    }
    expect(heard).toHaveLength(2 * answers.length);
  });

  it("answers no stranger's client, and signs nothing for it", async () => {
    let signed = 0;
    await serve({
      sign: async (...args) => {
        signed += 1;
        return local.sign(...args);
      },
    });
    const body = signBody(() => {});
    const attempts = [
      {},
      proofOf('POST', '/sign', body, { by: stranger }),
      { ...proofOf('POST', '/sign', body), [proofHeaders.proof]: '' },
      { ...proofOf('POST', '/sign', body), [proofHeaders.proof]: '0'.repeat(64) },
      { ...proofOf('POST', '/sign', body), [proofHeaders.nonce]: '0'.repeat(32) },
      { ...proofOf('POST', '/sign', body), [proofHeaders.time]: String(Date.now() + 1) },
      proofOf('POST', '/sign?', body),
      proofOf('PUT', '/sign', body),
    ];
    for (const headers of attempts) {
      const answer = await send('POST', '/sign', body, headers);
      expect(answer.status).toBe(401);
      expect(answer.text).not.toContain(from);
      // A client without a proof gets none from the signer.
      expect(answer.headers).not.toHaveProperty(proofHeaders.proof);
    }
    const other = new SocketSigner({ socketPath, secret: stranger });
    const asked = other.sign('bitcoin', intent, txOf());
    await expect(asked).rejects.toMatchObject(unavailable);
    await expect(asked).rejects.toThrow('its secret is not the one of the file of the test; signer and gateways need');
    expect(signed).toBe(0);
    expect((await send('POST', '/sign', body, proofOf('POST', '/sign', body))).status).toBe(200);
    expect(signed).toBe(1);
  });

  it('refuses a changed body, and a changed path', async () => {
    await serve();
    const body = signBody(() => {});
    const changed = body.replace('sbx-recipient', 'sbx-thief');
    expect((await send('POST', '/sign', changed, proofOf('POST', '/sign', body))).status).toBe(401);
    const path = '/hot-wallet?chain=bitcoin';
    expect((await send('GET', '/hot-wallet?chain=litecoin', '', proofOf('GET', path))).status).toBe(401);
    expect((await send('GET', path, '', proofOf('GET', path))).status).toBe(200);
  });

  it('refuses a request that was made before, also after a restart', async () => {
    const server = await serve();
    const body = signBody(() => {});
    const headers = proofOf('POST', '/sign', body);
    expect((await send('POST', '/sign', body, headers)).status).toBe(200);
    const again = await send('POST', '/sign', body, headers);
    expect([again.status, JSON.parse(again.text).detail]).toEqual([401, 'the request is a replay of an earlier one']);
    await server.close();
    await serve({}, { clock: { now: () => new Date(Date.now() + 1) } });
    const later = await send('POST', '/sign', body, headers);
    expect([later.status, JSON.parse(later.text).detail]).toEqual([
      401,
      'the request was made before the signer started',
    ]);
  });

  it('refuses times more than a minute away, and remembers nonces as long as they could come again', async () => {
    const clock = new TestClock();
    const start = clock.now().getTime();
    await serve({}, { clock });
    clock.advance(120_000);
    const now = start + 120_000;
    const path = '/hot-wallet?chain=bitcoin';
    const status = async (headers: Record<string, string>) => (await send('GET', path, '', headers)).status;
    expect(await status(proofOf('GET', path, '', { time: now - 60_001 }))).toBe(401);
    expect(await status(proofOf('GET', path, '', { time: now + 60_001 }))).toBe(401);
    expect(await status(proofOf('GET', path, '', { time: now - 60_000 }))).toBe(200);
    const ahead = proofOf('GET', path, '', { time: now + 60_000 });
    expect(await status(ahead)).toBe(200);
    // Others come in between, so that old nonces are dropped.
    for (const step of [61_000, 58_999]) {
      clock.advance(step);
      expect(await status(proofOf('GET', path, '', { time: clock.now().getTime() }))).toBe(200);
      expect(await status(ahead)).toBe(401);
    }
    clock.advance(1);
    expect(await status(ahead)).toBe(401);
  });

  it('proves its refusals too', async () => {
    await serve();
    const path = '/hot-wallet?chain=bitcoin';
    const headers = proofOf('GET', path, '', { time: Date.now() + 70_000 });
    const answer = await send('GET', path, '', headers);
    const nonce = headers[proofHeaders.nonce] ?? '';
    expect(answer.headers[proofHeaders.proof]).toBe(
      secret.ofAnswer({ nonce, status: 401, body: Buffer.from(answer.text) }),
    );
  });

  it('opens for the group of the folder where it is told to', async () => {
    await serve({}, { opensFor: 'group' });
    expect((await stat(socketPath)).mode & 0o777).toBe(0o660);
  });
});
