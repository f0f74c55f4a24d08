import { once } from 'node:events';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import {
  type Expiry,
  type PaymentIntent,
  paymentPurposes,
  type SignedTx,
} from '../../../src/chains/port/chain-adapter.ts';
import { encodePayload } from '../../../src/chains/sandbox/sandbox-tx.ts';
import { proofHeaders } from '../../../src/signer/proof.ts';
import {
  ask,
  client,
  closing,
  from,
  intent,
  local,
  secret,
  serve,
  signBody,
  socketPath,
  txOf,
  withSocketSigner,
} from '../../support/chains/signer-socket.ts';

withSocketSigner();

/** Serves one answer on the socket, with its proof. Resolves with the bodies of the requests. */
async function answering(answer: string): Promise<string[]> {
  const bodies: string[] = [];
  const server = createServer(async (req, res) => {
    bodies.push(await text(req));
    const nonce = String(req.headers[proofHeaders.nonce]);
    const proof = secret.ofAnswer({ nonce, status: 200, body: Buffer.from(answer) });
    res.writeHead(200, { [proofHeaders.proof]: proof }).end(answer);
  }).listen(socketPath);
  await once(server, 'listening');
  closing.push(() => server.close());
  return bodies;
}

const signedAs = (expiresAt: unknown) => ({ txid: 't', raw: 'r', reserves: ['x'], expiresAt });

describe('the expiry of a transaction', () => {
  it.each<Expiry | null>([
    null,
    { height: 0 },
    { height: 7 },
    { timeMs: 0 },
    { timeMs: 253_402_300_799_999 },
  ])('goes to the signer and back as %j', async (expiresAt) => {
    const received: unknown[] = [];
    const answer = async (_chain: string, _intent: unknown, tx: { expiresAt: unknown }): Promise<SignedTx> => {
      received.push(tx.expiresAt);
      return signedAs(tx.expiresAt) as SignedTx;
    };
    await serve({ sign: answer, revoke: answer });
    const tx = { ...txOf(), expiresAt };
    expect(await client.sign('bitcoin', intent, tx)).toEqual(signedAs(expiresAt));
    expect(await client.revoke('bitcoin', intent, tx)).toEqual(signedAs(expiresAt));
    expect(received).toEqual([expiresAt, expiresAt]);
  });

  const bad: readonly unknown[] = [
    { height: 7, timeMs: 7 },
    { timeMs: 7, height: null },
    { height: 7, other: 1 },
    {},
    { height: 7.5 },
    { timeMs: 7.5 },
    { height: -1 },
    { timeMs: -1 },
    { height: '7' },
    { timeMs: '2026-01-31T12:00:00Z' },
    { height: null },
    { height: true },
    { height: [7] },
    { height: 2 ** 53 },
    { timeMs: 253_402_300_800_000 },
    { HEIGHT: 7 },
    [],
    [7],
    7,
    0,
    '7',
    '',
    false,
  ];

  it.each(bad)('is refused as %j, and nothing is signed', async (expiresAt) => {
    await serve();
    const body = signBody(({ tx }) => Object.assign(tx ?? {}, { expiresAt }));
    for (const path of ['/sign', '/revoke']) {
      expect(await ask('POST', path, body)).toEqual({
        status: 400,
        body: {
          code: 'invalid_request',
          detail:
            'expiresAt of tx is neither null nor an object with one member, height or timeMs, that is a whole ' +
            'number from 0 (timeMs: at most the end of the year 9999)',
        },
      });
    }
    // Neither signed nor revoked: the same attempt is signed with another transaction.
    expect((await client.sign('bitcoin', intent, txOf(1))).reserves).toEqual([`nonce:${from}:1`]);
  });

  it.each(bad)('makes an answer invalid as %j', async (expiresAt) => {
    await answering(JSON.stringify(signedAs(expiresAt)));
    await expect(client.sign('bitcoin', intent, txOf())).rejects.toMatchObject({
      name: 'SignerError',
      code: 'unavailable',
      message: expect.stringContaining('its answer is not a signed transaction'),
    });
  });

  it('is refused by the signer in the same process as well', async () => {
    for (const expiresAt of bad) {
      const signing = local.sign('bitcoin', intent, { ...txOf(), expiresAt: expiresAt as Expiry });
      await expect(signing).rejects.toMatchObject({ name: 'SignerError', code: 'refused' });
      await expect(signing).rejects.toThrow('the expiry of the transaction is neither one height nor one time');
    }
  });
});

describe('the purpose of a payment', () => {
  it.each(paymentPurposes)('goes to the signer as %s', async (purpose) => {
    const received: unknown[] = [];
    const answer = async (_chain: string, asked: PaymentIntent): Promise<SignedTx> => {
      received.push(asked.purpose);
      return signedAs(null) as SignedTx;
    };
    await serve({ sign: answer, revoke: answer });
    await client.sign('bitcoin', { ...intent, purpose }, txOf());
    await client.revoke('bitcoin', { ...intent, purpose }, txOf());
    expect(received).toEqual([purpose, purpose]);
  });

  it.each(['gift', 'Payout', '', 7, null, ['payout']])('is refused as %j, and nothing is signed', async (purpose) => {
    await serve();
    const body = signBody(({ intent: asked }) => Object.assign(asked ?? {}, { purpose }));
    for (const path of ['/sign', '/revoke']) {
      expect(await ask('POST', path, body)).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
    }
    expect((await client.sign('bitcoin', intent, txOf(1))).reserves).toEqual([`nonce:${from}:1`]);
  });
});

describe('messages of the version before', () => {
  /** As that version writes it, in the order of its members. */
  const request = (payload: string): string =>
    `{"chain":"bitcoin","intent":{"id":"payment-1","from":null,"attempt":1,"contract":null,"to":"sbx-recipient",` +
    `"tag":null,"amount":"${2n ** 200n}"},"tx":{"payload":${JSON.stringify(payload)},` +
    `"reserves":["nonce:${from}:0"],"fee":"9","expiresAt":null},"earlier":[]}`;
  const payload = (): string => {
    const { to, tag, contract } = intent;
    return encodePayload({ chain: 'bitcoin', from, nonce: 0, to, tag, contract, amount: `${intent.amount}`, fee: '9' });
  };

  it('are understood by the signer, whose answer that version understands', async () => {
    await serve();
    const { status, body } = await ask('POST', '/sign', request(payload()));
    expect(status).toBe(200);
    expect(body).toEqual({
      txid: expect.stringMatching(/^[0-9a-f]{64}$/),
      raw: expect.any(String),
      reserves: [`nonce:${from}:0`],
      expiresAt: null,
    });
  });

  it('are what the gateway sends and accepts, for a transaction that never expires', async () => {
    const bodies = await answering('{"txid":"t","raw":"r","reserves":["x"],"expiresAt":null}');
    expect(await client.sign('bitcoin', intent, txOf())).toEqual(signedAs(null));
    expect(bodies).toEqual([request(payload())]);
  });
});
