import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import type { PaymentIntent, PreparedTx } from '../../src/chains/chain-adapter.ts';
import { encodePayload, openSandboxTx } from '../../src/chains/sandbox/sandbox-tx.ts';
import type { Signer } from '../../src/chains/signer.ts';
import { createLog } from '../../src/log.ts';
import type { TellsLimits } from '../../src/signer/limits.ts';
import { type LocalSigner, openLocalSigner } from '../../src/signer/local-signer.ts';
import { proofHeaders, SharedSecret } from '../../src/signer/proof.ts';
import { type SignerServer, type SignerServerOptions, serveSigner } from '../../src/signer/server.ts';
import { SignerKeys } from '../../src/signer/signer-keys.ts';
import { SocketSigner } from '../../src/signer/socket-signer.ts';
import { TestClock } from '../support/clock.ts';

const entropy = new Uint8Array(32).fill(7);
const log = createLog('silent');
const secretBytes = new Uint8Array(32).fill(9);
const secret = new SharedSecret(secretBytes);

let dir: string;
let socketPath: string;
let local: LocalSigner;
let client: SocketSigner;
let from: string;
let closing: (() => unknown)[];

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'signer-socket-'));
  socketPath = join(dir, 'signer.sock');
  local = await openLocalSigner({ entropy, dataDir: dir });
  client = new SocketSigner({ socketPath, secret });
  from = await local.hotWallet('bitcoin');
  closing = [];
});

afterEach(async () => {
  for (const close of closing.reverse()) await close();
  await rm(dir, { recursive: true, force: true });
});

async function serve(
  signer: Partial<Signer & TellsLimits> = {},
  options: Partial<SignerServerOptions> = {},
): Promise<SignerServer> {
  const publicSide = {
    fingerprint: () => local.fingerprint(),
    accountXpub: (network: string) => local.accountXpub(network),
    sharedAddress: (network: string) => local.sharedAddress(network),
    poolAddresses: (network: string, first: number, last: number) => local.poolAddresses(network, first, last),
  };
  const whole = {
    sign: (...args: Parameters<Signer['sign']>) => local.sign(...args),
    revoke: (...args: Parameters<Signer['revoke']>) => local.revoke(...args),
    hotWallet: (chain: string) => local.hotWallet(chain),
    limitsDigest: (chain: string) => local.limitsDigest(chain),
    ...publicSide,
    ...signer,
  };
  const server = await serveSigner({ signer: whole, socketPath, secret, log, ...options });
  closing.push(() => server.close());
  return server;
}

const intent: PaymentIntent = {
  id: 'payment-1',
  from: null,
  attempt: 1,
  contract: null,
  to: 'sbx-somebody',
  tag: null,
  amount: 2n ** 200n,
};

function txOf(nonce = 0): PreparedTx {
  const { to, tag, contract, amount } = intent;
  return {
    payload: encodePayload({ chain: 'bitcoin', from, nonce, to, tag, contract, amount: `${amount}`, fee: '9' }),
    reserves: [`nonce:${from}:${nonce}`],
    fee: 9n,
    expiresAt: null,
  };
}

interface Raw {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** A request as it is, without the client's care. */
function send(method: string, path: string, body: string, headers: Record<string, string>): Promise<Raw> {
  return new Promise((done, reject) => {
    const req = request({ socketPath, method, path, agent: false, headers }, async (res) => {
      done({ status: res.statusCode, headers: res.headers, text: await text(res) });
    });
    req.on('error', reject);
    req.end(body);
  });
}

/** Headers that prove a request. */
function proofOf(
  method: string,
  path: string,
  body = '',
  { time = Date.now(), by = secret, nonce = randomBytes(16).toString('hex') } = {},
): Record<string, string> {
  const proof = by.ofRequest({ method, path, nonce, time: String(time), body: Buffer.from(body) });
  return { [proofHeaders.nonce]: nonce, [proofHeaders.time]: String(time), [proofHeaders.proof]: proof };
}

/** A request of somebody who knows the secret. */
async function ask(method: string, path: string, body = ''): Promise<{ status: number | undefined; body: unknown }> {
  const { status, text } = await send(method, path, body, proofOf(method, path, body));
  return { status, body: JSON.parse(text) };
}

/** A request as the client sends it, with something changed in its text. */
function signBody(change: (body: Record<string, Record<string, unknown>>) => void): string {
  const body = {
    chain: 'bitcoin',
    intent: { ...intent, amount: `${intent.amount}` },
    tx: { ...txOf(), fee: '9' },
    earlier: [],
  };
  change(body as unknown as Record<string, Record<string, unknown>>);
  return JSON.stringify(body);
}

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
    await expect(client.sign('bitcoin', intent, txOf())).rejects.toThrow('was revoked');
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
    await expect(serve()).rejects.toThrow('is no socket');
    expect(await readFile(socketPath, 'utf8')).toBe('precious');
  });

  it('says so when the path is too long for a socket', async () => {
    socketPath = join(dir, 'x'.repeat(110));
    await expect(serve()).rejects.toThrow('at most 103 bytes');
  });

  it.each<[string, () => string, RegExp]>([
    ['no JSON', () => '{', /no JSON/],
    ['no object', () => 'null', /the body is no object/],
    ['a lacking intent', () => signBody((body) => delete body.intent), /intent is no object/],
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
    ['/account-xpub?network=XRP', /XRP is no network with derived/],
    ['/shared-address?network=BTC', /BTC is no network with shared/],
    ['/pool-addresses?network=BTC&first=1&last=2', /BTC is no network with pool/],
    ['/pool-addresses?network=SOL&first=0&last=2', /0 is no index/],
    ['/pool-addresses?network=SOL&first=1&last=2147483648', /2147483648 is no index/],
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

  it('takes too few addresses for no answer', async () => {
    await serve({ poolAddresses: async () => ['one'] } as Partial<Signer>);
    await expect(client.poolAddresses('SOL', 1, 2)).rejects.toMatchObject({ code: 'unavailable' });
  });
});

describe('who speaks on the socket', () => {
  const stranger = new SharedSecret(new Uint8Array(32).fill(10), 'the file of the test');
  const unavailable = { name: 'SignerError', code: 'unavailable' };

  it("believes no stranger's server, whatever it answers and proves", async () => {
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
      // Nobody can have a proof made who has none.
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
    const changed = body.replace('sbx-somebody', 'sbx-somethief');
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
    expect([again.status, JSON.parse(again.text).detail]).toEqual([401, 'the request was made before']);
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

  it('finds a signer that fails unavailable, and learns nothing of why', async () => {
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
  ])('takes %d %s for no answer', async (status, body) => {
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

  it('takes an answer that is cut for no answer', async () => {
    const cutting = createServer((_req, res) => {
      res.writeHead(200, { 'Content-Length': 1000 });
      res.write('{"txid":', () => res.destroy());
    }).listen(socketPath);
    await once(cutting, 'listening');
    closing.push(() => cutting.close());
    await expect(client.sign('bitcoin', intent, txOf())).rejects.toMatchObject(unavailable);
  });
});

describe('the program signer', () => {
  interface Program {
    readonly child: ChildProcess;
    readonly output: () => string;
    readonly ended: Promise<number | null>;
  }

  /** The source itself, as the build may be older. */
  function run(...args: string[]): Program {
    const child = spawn(process.execPath, [resolve('src/signer-main.ts'), ...args], {
      env: { ...process.env, DATA_DIR: dir, SIGNER_SOCKET: socketPath, NODE_NO_WARNINGS: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += data));
    const ended = once(child, 'close').then(() => child.exitCode);
    closing.push(() => child.kill('SIGKILL') && ended);
    return { child, output: () => output, ended };
  }

  async function isReady({ child, output, ended }: Program): Promise<string> {
    while (!output().includes('signer ready')) {
      if (child.exitCode !== null) throw new Error(`it ended instead: ${output()}`);
      await Promise.race([once(child.stdout ?? child, 'data'), ended]);
    }
    return output().trim();
  }

  it('serves its seed, survives SIGKILL through its journal, and drains on SIGTERM', async () => {
    await writeFile(join(dir, 'signer-seed'), `${Buffer.from(entropy).toString('hex')}\n`);
    await writeFile(join(dir, 'signer-secret'), `${Buffer.from(secretBytes).toString('hex')}\n`);
    const first = run();
    expect(await isReady(first)).toBe(`signer ready socket=${socketPath} fingerprint=${await local.fingerprint()}`);
    const signed = await client.sign('bitcoin', intent, txOf());
    await expect(serve()).rejects.toThrow('another signer serves');

    first.child.kill('SIGKILL');
    await first.ended;
    expect((await stat(socketPath)).isSocket()).toBe(true);
    await expect(client.sign('bitcoin', intent, txOf())).rejects.toMatchObject({ code: 'unavailable' });

    const second = run();
    await isReady(second);
    expect(await client.sign('bitcoin', intent, txOf())).toEqual(signed);
    await expect(client.sign('bitcoin', intent, txOf(1))).rejects.toMatchObject({ code: 'refused' });
    second.child.kill('SIGTERM');
    expect(await second.ended).toBe(0);
    await expect(stat(socketPath)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('says where the seed should be, and makes none', async () => {
    const program = run();
    expect(await program.ended).toBe(1);
    expect(program.output()).toMatch(
      /^cannot start: there is no signer seed at .*signer-seed; make one with npm run signer -- init/,
    );
    await expect(stat(join(dir, 'signer-seed'))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('says that the folder of its socket is missing, and how to choose another', async () => {
    await writeFile(join(dir, 'signer-seed'), `${Buffer.from(entropy).toString('hex')}\n`);
    socketPath = join(dir, 'nowhere', 'signer.sock');
    const program = run();
    expect(await program.ended).toBe(1);
    expect(program.output()).toMatch(
      /^cannot start: there is no folder \S+nowhere, where SIGNER_SOCKET has .*; a good value: \/run\/gateway\/signer.sock\n$/,
    );
  });

  it('explains itself', async () => {
    const program = run('--help');
    expect(await program.ended).toBe(0);
    expect(program.output()).toContain('Usage: npm run signer');
  });
});
