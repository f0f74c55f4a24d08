import { once } from 'node:events';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import type { Signer } from '../../../src/chains/port/signer.ts';
import { openSandboxTx } from '../../../src/chains/sandbox/sandbox-tx.ts';
import { proofHeaders, SharedSecret } from '../../../src/signer/proof.ts';
import { SignerKeys } from '../../../src/signer/signer-keys.ts';
import { SocketSigner } from '../../../src/signer/socket-signer.ts';
import {
  ask,
  client,
  closing,
  dir,
  entropy,
  from,
  intent,
  listenAt,
  local,
  secret,
  serve,
  signBody,
  socketPath,
  txOf,
  withSocketSigner,
} from '../../support/chains/signer-socket.ts';

withSocketSigner();

describe('a signer behind a socket', () => {
  it('signs as the signer itself does', async () => {
    await serve();
    const signed = await client.sign('bitcoin', intent, txOf());
    expect(signed).toEqual(await local.sign('bitcoin', intent, txOf()));
    expect(openSandboxTx(signed.raw).payload).toMatchObject({ to: intent.to, amount: `${2n ** 200n}` });
    expect(await client.hotWallet('bitcoin')).toBe(from);
  });

  it('revokes what was not signed, and answers what was', async () => {
    await serve();
    expect(await client.revoke('bitcoin', intent, txOf())).toBeNull();
    await expect(client.sign('bitcoin', intent, txOf())).rejects.toMatchObject({
      code: 'revoked',
      message: expect.stringContaining('was revoked'),
    });
    const next = { ...intent, attempt: 2 };
    const signed = await client.sign('bitcoin', next, txOf());
    expect(await client.revoke('bitcoin', next, txOf())).toEqual(signed);
  });

  it('tells the digest of limits, and null where it signs for no live chain', async () => {
    const server = await serve();
    expect(await client.limitsDigest('bitcoin')).toBe(null);
    await server.close();
    await serve({ limitsDigest: async (chain: string) => `of ${chain}` });
    expect(await client.limitsDigest('ethereum')).toBe('of ethereum');
  });

  it('gives the view key and key images of a chain that has them, and neither elsewhere', async () => {
    const server = await serve();
    expect(await client.viewKey('bitcoin')).toBeNull();
    await server.close();
    const told = { offset: 2, images: [{ keyImage: 'image', signature: 'proof' }] };
    const asked: unknown[] = [];
    await serve({
      viewKey: async (chain: string) => `of ${chain}`,
      keyImages: async (...members: unknown[]) => {
        asked.push(members);
        return asked.length > 1 ? null : told;
      },
    });
    expect(await client.viewKey('monero')).toBe('of monero');
    expect(await client.keyImages('monero', 'abcd', 400)).toEqual(told);
    expect(await client.keyImages('monero', 'ef', 401)).toBeNull();
    expect(asked).toEqual([
      ['monero', 'abcd', 400],
      ['monero', 'ef', 401],
    ]);
    const { status } = await ask('POST', '/key-images', JSON.stringify({ chain: 'monero', outputs: 7, addresses: 1 }));
    expect(status).toBe(400);
  });

  it('passes the name of a set-up on, and refuses one that is no text', async () => {
    await serve();
    const setup = { ...intent, amount: 0n, setup: 'tickets:40' };
    await expect(client.sign('bitcoin', setup, txOf())).rejects.toThrow('the chain has no set-ups');
    const answer = await ask(
      'POST',
      '/sign',
      signBody((body) => Object.assign(body.intent ?? {}, { setup: 7 })),
    );
    expect(answer).toMatchObject({ status: 400 });
  });

  it('serves many at once', async () => {
    await serve();
    const nonces = Array.from({ length: 40 }, (_, index) => index);
    const signed = await Promise.all(
      nonces.map((nonce) => client.sign('bitcoin', { ...intent, id: `payment-${nonce}` }, txOf(nonce))),
    );
    expect(new Set(signed.map(({ txid }) => txid)).size).toBe(40);
  });

  it('passes refusals on with their reason', async () => {
    await serve();
    await client.sign('bitcoin', intent, txOf());
    for (const [sign, reason] of [
      [() => client.sign('litecoin', intent, txOf()), 'the chain of the transaction'],
      [() => client.sign('bitcoin', intent, txOf(1)), 'was signed before as something else'],
      [() => client.sign('bitcoin', { ...intent, amount: -1n }, txOf()), 'not above 0'],
    ] as const) {
      const refused = sign();
      await expect(refused).rejects.toMatchObject({ name: 'SignerError', code: 'refused' });
      await expect(refused).rejects.toThrow(reason);
    }
  });

  it('opens for its owner alone', async () => {
    const before = process.umask();
    await serve();
    expect((await stat(socketPath)).mode & 0o777).toBe(0o600);
    expect(process.umask()).toBe(before);
  });

  it('leaves neither socket nor lock when it closes', async () => {
    const server = await serve();
    await server.close();
    expect((await readdir(dir)).filter((name) => name.startsWith('signer.sock'))).toEqual([]);
  });

  it('answers what it has begun before it closes', async () => {
    const begun = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const server = await serve({
      sign: async (...args) => {
        begun.resolve();
        await goOn.promise;
        return local.sign(...args);
      },
    });
    const signing = client.sign('bitcoin', intent, txOf());
    await begun.promise;
    const closed = server.close();
    await expect(client.hotWallet('bitcoin')).rejects.toMatchObject({ code: 'unavailable' });
    goOn.resolve();
    expect((await signing).reserves).toEqual([`nonce:${from}:0`]);
    await closed;
  });

  it('refuses to start where another signer answers, and leaves that one alone', async () => {
    await serve();
    await expect(serve()).rejects.toThrow('another signer serves');
    expect(await client.hotWallet('bitcoin')).toBe(from);
  });

  it('lets one of several that start at once win', async () => {
    const started = await Promise.allSettled([serve(), serve(), serve()]);
    expect(started.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await client.hotWallet('bitcoin')).toBe(from);
  });

  it('removes nothing that is no socket', async () => {
    await writeFile(socketPath, 'precious');
    await expect(serve()).rejects.toThrow('is not a socket');
    expect(await readFile(socketPath, 'utf8')).toBe('precious');
  });

  it('says so when the path is too long for a socket', async () => {
    listenAt(join(dir, 'x'.repeat(110)));
    await expect(serve()).rejects.toThrow('at most 103 bytes');
  });

  it.each<[string, () => string, RegExp]>([
    ['no JSON', () => '{', /not JSON/],
    ['no object', () => 'null', /the body is not an object/],
    ['a lacking intent', () => signBody((body) => delete body.intent), /intent is not an object/],
    ['a list for tx', () => signBody((body) => Object.assign(body, { tx: [] })), /payload of tx/],
    ['a number for coins', () => signBody(({ intent }) => Object.assign(intent ?? {}, { amount: 5 })), /amount of int/],
    ['coins with a point', () => signBody(({ intent }) => Object.assign(intent ?? {}, { amount: '5.0' })), /amount of/],
    ['a lacking tag', () => signBody(({ intent }) => delete intent?.tag), /tag of intent/],
    ['half an attempt', () => signBody(({ intent }) => Object.assign(intent ?? {}, { attempt: 1.5 })), /attempt of/],
    ['reserves of numbers', () => signBody(({ tx }) => Object.assign(tx ?? {}, { reserves: [1] })), /reserves of tx/],
    ['a lacking expiry', () => signBody(({ tx }) => delete tx?.expiresAt), /expiresAt of tx/],
  ])('answers 400 to %s', async (_what, body, detail) => {
    await serve();
    expect(await ask('POST', '/sign', body())).toEqual({
      status: 400,
      body: { code: 'invalid_request', detail: expect.stringMatching(detail) },
    });
  });

  it('signs what is long, and refuses what is longer than anything that is signed', async () => {
    await serve();
    // An input of a transaction may carry a whole other one, of up to 100 kB.
    const earlier = Array.from({ length: 100_000 }, () => 'f'.repeat(64));
    expect(await client.sign('bitcoin', intent, txOf(), earlier)).toEqual(await local.sign('bitcoin', intent, txOf()));
    const long = { ...txOf(1), payload: 'x'.repeat(9_000_000) };
    const next = { ...intent, attempt: 2 };
    const said = { code: 'refused', message: 'a request to sign has at most 8388608 bytes' };
    await expect(client.sign('bitcoin', next, long)).rejects.toMatchObject(said);
    await expect(client.revoke('bitcoin', next, long)).rejects.toMatchObject(said);
    const stranger = new SocketSigner({ socketPath, secret: new SharedSecret(new Uint8Array(32).fill(10)) });
    await expect(stranger.sign('bitcoin', next, long)).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('answers 409, 404 and 400 where they belong', async () => {
    await serve();
    expect(
      await ask(
        'POST',
        '/sign',
        signBody((body) => Object.assign(body, { chain: 'litecoin' })),
      ),
    ).toEqual({
      status: 409,
      body: { code: 'refused', detail: expect.stringContaining('chain') },
    });
    expect((await ask('GET', '/sign')).status).toBe(404);
    expect((await ask('GET', '/hot-wallet')).status).toBe(400);
    expect(
      (
        await ask(
          'POST',
          '/sign',
          signBody(() => {}),
        )
      ).status,
    ).toBe(200);
  });
});

describe('the public side behind a socket', () => {
  const keys = new SignerKeys(entropy);

  it('is that of the keys', async () => {
    await serve();
    expect(await client.fingerprint()).toBe(keys.fingerprint());
    expect(await client.accountXpub('BTC')).toBe(keys.accountXpub('BTC'));
    expect(await client.sharedAddress('XRP')).toBe(keys.sharedAddress('XRP'));
    expect(await client.poolAddresses('XMR', 3, 5)).toEqual([3, 4, 5].map((index) => keys.poolAddress('XMR', index)));
  });

  it.each([
    ['/account-xpub?network=XRP', /XRP is not a network with derived/],
    ['/shared-address?network=BTC', /BTC is not a network with shared/],
    ['/pool-addresses?network=BTC&first=1&last=2', /BTC is not a network with pool/],
    ['/pool-addresses?network=SOL&first=0&last=2', /0 is not an index/],
    ['/pool-addresses?network=SOL&first=1&last=2147483648', /2147483648 is not an index/],
    ['/pool-addresses?network=SOL&first=3&last=2', /1 to 500 addresses/],
    ['/pool-addresses?network=SOL&first=1&last=501', /1 to 500 addresses/],
    ['/account-xpub', /network is missing/],
  ])('answers 400 to %s', async (path, detail) => {
    await serve();
    expect(await ask('GET', path)).toEqual({
      status: 400,
      body: { code: 'invalid_request', detail: expect.stringMatching(detail) },
    });
  });

  it('rejects an answer with too few addresses', async () => {
    await serve({ poolAddresses: async () => ['one'] } as Partial<Signer>);
    await expect(client.poolAddresses('SOL', 1, 2)).rejects.toMatchObject({ code: 'unavailable' });
  });
});

describe('a client whose signer is away', () => {
  const unavailable = { name: 'SignerError', code: 'unavailable' };

  it('finds it unavailable without a socket, and after it closed, and back after a restart', async () => {
    await expect(client.sign('bitcoin', intent, txOf())).rejects.toMatchObject(unavailable);
    const server = await serve();
    const signed = await client.sign('bitcoin', intent, txOf());
    await server.close();
    await expect(client.sign('bitcoin', intent, txOf())).rejects.toMatchObject(unavailable);
    await serve();
    expect(await client.sign('bitcoin', intent, txOf())).toEqual(signed);
  });

  it('does not wait longer than it was told', async () => {
    await serve({ sign: () => new Promise(() => {}), hotWallet: () => new Promise(() => {}) });
    const hasty = new SocketSigner({ socketPath, secret, timeoutMs: 100 });
    const late = hasty.sign('bitcoin', intent, txOf());
    await expect(late).rejects.toMatchObject(unavailable);
    await expect(late).rejects.toThrow('no answer within 100 ms');
  });

  it('reports a failing signer as unavailable, without the reason', async () => {
    const broken = async () => Promise.reject(new Error('secret of the inside'));
    await serve({ sign: broken, hotWallet: broken });
    const failed = client.sign('bitcoin', intent, txOf());
    await expect(failed).rejects.toMatchObject(unavailable);
    await expect(failed).rejects.toThrow('it answered 500: the signer failed');
  });

  it.each([
    [200, '{"txid":"t"}'],
    [200, '{"txid":"t","raw":"r","reserves":[7],"expiresAt":null}'],
    [200, 'signed'],
    [200, 'null'],
    [400, '{"code":"invalid_request","detail":"x"}'],
    [409, '{"code":"something else"}'],
    [500, '<html>'],
  ])('rejects the answer %d %s', async (status, body) => {
    const strange = createServer((req, res) => {
      const nonce = String(req.headers[proofHeaders.nonce]);
      const proof = secret.ofAnswer({ nonce, status, body: Buffer.from(body) });
      res.writeHead(status, { [proofHeaders.proof]: proof }).end(body);
    }).listen(socketPath);
    await once(strange, 'listening');
    closing.push(() => strange.close());
    await expect(client.sign('bitcoin', intent, txOf())).rejects.toMatchObject(unavailable);
    await expect(client.hotWallet('bitcoin')).rejects.toMatchObject(unavailable);
  });

  it('rejects a truncated answer', async () => {
    const cutting = createServer((_req, res) => {
      res.writeHead(200, { 'Content-Length': 1000 });
      res.write('{"txid":', () => res.destroy());
    }).listen(socketPath);
    await once(cutting, 'listening');
    closing.push(() => cutting.close());
    await expect(client.sign('bitcoin', intent, txOf())).rejects.toMatchObject(unavailable);
  });
});
