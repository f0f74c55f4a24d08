import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { type IncomingHttpHeaders, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { createLog } from '../../../src/base/log.ts';
import type { PaymentIntent, PreparedTx } from '../../../src/chains/port/chain-adapter.ts';
import type { Signer } from '../../../src/chains/port/signer.ts';
import { encodePayload } from '../../../src/chains/sandbox/sandbox-tx.ts';
import type { TellsLimits } from '../../../src/signer/limits.ts';
import { type LocalSigner, openLocalSigner } from '../../../src/signer/local-signer.ts';
import { proofHeaders, SharedSecret } from '../../../src/signer/proof.ts';
import { type SignerServer, type SignerServerOptions, serveSigner } from '../../../src/signer/server.ts';
import { SocketSigner } from '../../../src/signer/socket-signer.ts';

export const entropy = new Uint8Array(32).fill(7);
export const log = createLog('silent');
export const secretBytes = new Uint8Array(32).fill(9);
export const secret = new SharedSecret(secretBytes);

export let dir: string;
export let socketPath: string;
/** Moves the socket of the next signer. */
export function listenAt(path: string): void {
  socketPath = path;
}

export let local: LocalSigner;
export let client: SocketSigner;
export let from: string;
export let closing: (() => unknown)[];

export async function serve(
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
    channels: (chain: string) => local.channels(chain),
    limitsDigest: (chain: string) => local.limitsDigest(chain),
    ...publicSide,
    ...signer,
  };
  const server = await serveSigner({ signer: whole, socketPath, secret, log, ...options });
  closing.push(() => server.close());
  return server;
}

export const intent: PaymentIntent = {
  id: 'payment-1',
  from: null,
  attempt: 1,
  contract: null,
  to: 'sbx-recipient',
  tag: null,
  amount: 2n ** 200n,
};

export function txOf(nonce = 0): PreparedTx {
  const { to, tag, contract, amount } = intent;
  return {
    payload: encodePayload({ chain: 'bitcoin', from, nonce, to, tag, contract, amount: `${amount}`, fee: '9' }),
    reserves: [`nonce:${from}:${nonce}`],
    fee: 9n,
    expiresAt: null,
  };
}

export interface Raw {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** A request as it is, without the client's care. */
export function send(method: string, path: string, body: string, headers: Record<string, string>): Promise<Raw> {
  return new Promise((done, reject) => {
    const req = request({ socketPath, method, path, agent: false, headers }, async (res) => {
      done({ status: res.statusCode, headers: res.headers, text: await text(res) });
    });
    req.on('error', reject);
    req.end(body);
  });
}

/** Headers that prove a request. */
export function proofOf(
  method: string,
  path: string,
  body = '',
  { time = Date.now(), by = secret, nonce = randomBytes(16).toString('hex') } = {},
): Record<string, string> {
  const proof = by.ofRequest({ method, path, nonce, time: String(time), body: Buffer.from(body) });
  return { [proofHeaders.nonce]: nonce, [proofHeaders.time]: String(time), [proofHeaders.proof]: proof };
}

/** A request of a client that knows the secret. */
export async function ask(
  method: string,
  path: string,
  body = '',
): Promise<{ status: number | undefined; body: unknown }> {
  const { status, text } = await send(method, path, body, proofOf(method, path, body));
  return { status, body: JSON.parse(text) };
}

/** A request as the client sends it, with something changed in its text. */
export function signBody(change: (body: Record<string, Record<string, unknown>>) => void): string {
  const body = {
    chain: 'bitcoin',
    intent: { ...intent, amount: `${intent.amount}` },
    tx: { ...txOf(), fee: '9' },
    earlier: [],
  };
  change(body as unknown as Record<string, Record<string, unknown>>);
  return JSON.stringify(body);
}

/** Gives each test of the file a signer in a separate folder, and a client of its socket. */
export function withSocketSigner(): void {
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
}
