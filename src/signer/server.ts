import type { Hmac } from 'node:crypto';
import { access, constants, lstat, unlink } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { dirname } from 'node:path';
import { type Clock, systemClock } from '../base/clock.ts';
import { takeDataDirLock } from '../base/db/embedded/data-dir-lock.ts';
import { errorCode, ignoreMissing } from '../base/db/error-code.ts';
import { errorMembers, type Log } from '../base/log.ts';
import { type DepositMode, networkById } from '../chains/networks/networks.ts';
import {
  type Expiry,
  type PaymentIntent,
  type PaymentPurpose,
  type PreparedTx,
  paymentPurposes,
} from '../chains/port/chain-adapter.ts';
import { maxRequestBytes, type Signer, SignerError } from '../chains/port/signer.ts';
import type { DepositKeys } from './deposit-keys.ts';
import { isExpiry } from './expiry.ts';
import { SignerGuard } from './guard.ts';
import type { TellsLimits } from './limits.ts';
import { proofHeaders, type SharedSecret } from './proof.ts';

export interface SignerServerOptions {
  readonly signer: Signer & DepositKeys & TellsLimits;
  readonly socketPath: string;
  /** The secret shared with the gateways: only their requests are answered. */
  readonly secret: SharedSecret;
  readonly log: Log;
  /** Who may open the socket: its owner, or also the group of its folder. Default: the owner. */
  readonly opensFor?: 'owner' | 'group';
  readonly clock?: Clock;
}

export interface SignerServer {
  /**
   * Stops listening, which removes the socket. Waits for the requests under way, and cuts those
   * that hang.
   */
  close(): Promise<void>;
}

/** The longest path of a socket that the kernels of both Linux and macOS accept. */
const maxPathBytes = 103;
const maxPoolAddresses = 500;
/** How long requests under way may take after the server begins to close. */
const drainMs = 3_000;

/**
 * Serves a signer over HTTP on a unix socket:
 *
 * - `POST /sign` with `{chain, intent, tx, earlier}`, whole numbers of coins as decimal strings,
 *   answers the signed transaction;
 * - `POST /revoke` with `{chain, intent, tx}` answers `{signed}`: null, or the signed transaction
 *   where it is too late;
 * - `GET /hot-wallet?chain=` answers `{address}`;
 * - `GET /fingerprint` answers `{fingerprint}`, `GET /account-xpub?network=` `{xpub}`, `GET
 *   /shared-address?network=` `{address}`, and `GET /pool-addresses?network=&first=&last=`
 *   `{addresses}`, at most 500;
 * - `GET /limits?chain=` answers `{digest}`, null for a chain that is not signed for as live.
 * A request proves that it knows the secret, and is answered with a proof of the same. A request
 * without a proof gets 401. A refusal is answered with 409 and `{code, detail}`: `revoked` for an
 * attempt that was revoked, and `refused` otherwise. A request to sign that is longer than
 * `maxRequestBytes` is refused too. A malformed request gets 400.
 *
 * @throws Error when another process answers on the socket, or when a file that is no socket has
 *   its name.
 */
export async function serveSigner({
  signer,
  socketPath,
  secret,
  log,
  opensFor = 'owner',
  clock = systemClock,
}: SignerServerOptions): Promise<SignerServer> {
  if (Buffer.byteLength(socketPath) > maxPathBytes) {
    throw new Error(`the path of a socket has at most ${maxPathBytes} bytes, and ${socketPath} has more`);
  }
  const serving: Serving = { signer, secret, log, guard: new SignerGuard(clock) };
  const server = createServer(
    { requestTimeout: 10_000, headersTimeout: 5_000, connectionsCheckingInterval: 1_000 },
    (req, res) => void answer(serving, req, res),
  );
  await refuseMissingFolder(socketPath);
  // Two signers that start at once would each find the old socket dead. One would then remove the
  // other's new socket.
  const lock = await takeDataDirLock(`${socketPath}.lock`, `another signer is just starting on ${socketPath}`);
  try {
    await removeStaleSocket(socketPath);
    await listen(server, socketPath, opensFor === 'group' ? 0o117 : 0o177);
  } finally {
    await lock.release();
  }
  return { close: () => drain(server) };
}

async function refuseMissingFolder(socketPath: string): Promise<void> {
  const folder = dirname(socketPath);
  try {
    await access(folder, constants.W_OK | constants.X_OK);
  } catch (error) {
    const what = errorCode(error) === 'ENOENT' ? `there is no folder ${folder}` : `${folder} may not be written to`;
    throw new Error(
      `${what}, where SIGNER_SOCKET has its socket: make it for the signer's user, or set SIGNER_SOCKET to another path; a good value: /run/gateway/signer.sock`,
    );
  }
}

async function removeStaleSocket(path: string): Promise<void> {
  const found = await lstat(path).catch(ignoreMissing);
  if (!found) return;
  if (!found.isSocket()) throw new Error(`${path} is not a socket; move it away or choose another path`);
  if (await answersOn(path)) throw new Error(`another signer serves ${path} already; stop it first`);
  await unlink(path).catch(ignoreMissing);
}

/** Whether a process listens on the socket. Only a refused connection proves that none does. */
function answersOn(path: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', (error) => {
      const code = errorCode(error);
      if (code === 'ECONNREFUSED' || code === 'ENOENT') resolve(false);
      // The queue of connections that wait to be accepted is full, so a process listens.
      else if (code === 'EAGAIN') resolve(true);
      else reject(error);
    });
  });
}

function listen(server: Server, path: string, umask: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    // The call creates the socket under this mask, so that at no moment other users may open it.
    const mask = process.umask(umask);
    try {
      server.listen(path, () => {
        server.off('error', reject);
        resolve();
      });
    } finally {
      process.umask(mask);
    }
  });
}

function drain(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => server.closeAllConnections(), drainMs);
    server.close(() => {
      clearTimeout(cut);
      resolve();
    });
  });
}

/** A malformed request, with the status and the sentence of its answer. */
class BadRequest extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

interface Serving extends Pick<SignerServerOptions, 'signer' | 'secret' | 'log'> {
  readonly guard: SignerGuard;
}

async function answer(serving: Serving, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const { secret, log } = serving;
  // Only a caller that proved the secret gets a proof back. Otherwise the signer would make proofs
  // on demand.
  let prove = (_status: number, _body: Uint8Array): string | null => null;
  const send = (status: number, value: unknown): void => {
    const body = Buffer.from(JSON.stringify(value));
    const proof = prove(status, body);
    res.writeHead(status, {
      'Content-Type': 'application/json',
      // One request for each connection, so that a drain waits for no idle connection.
      Connection: 'close',
      ...(proof === null ? {} : { [proofHeaders.proof]: proof }),
    });
    res.end(body);
  };
  try {
    const [method, path] = [req.method ?? '', req.url ?? ''];
    const [nonce, time] = [String(req.headers[proofHeaders.nonce]), String(req.headers[proofHeaders.time])];
    const { body, proof } = await readBody(req, secret.requestHmac({ method, path, nonce, time }));
    const refusal = serving.guard.refusal(req.headers, proof);
    if (refusal === null || refusal.isProven) {
      prove = (status, answered) => secret.ofAnswer({ nonce, status, body: answered });
    }
    if (refusal) throw new BadRequest(401, refusal.detail);
    if (body === null) throw new SignerError('refused', `a request to sign has at most ${maxRequestBytes} bytes`);
    send(200, await route(serving.signer, { method, path, body }));
  } catch (error) {
    const { status, code, detail } = refusalOf(error);
    // The sentence may hold text that a log must not contain, so only the kind is logged.
    const members = { event: 'signer_request_failed', status, code };
    if (status < 500) log.warn(members, 'the signer refused a request');
    else log.error({ ...members, ...errorMembers(error) }, 'the signer failed on a request');
    send(status, { code, detail });
  }
}

function refusalOf(error: unknown): { status: number; code: string; detail: string } {
  if (error instanceof BadRequest) return { status: error.status, code: 'invalid_request', detail: error.message };
  if (error instanceof SignerError) {
    return { status: error.code === 'unavailable' ? 503 : 409, code: error.code, detail: error.message };
  }
  return { status: 500, code: 'internal_error', detail: 'the signer failed' };
}

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly body: Buffer;
}

async function route(signer: Signer & DepositKeys & TellsLimits, { method, path, body }: Asked): Promise<unknown> {
  const { pathname, searchParams } = new URL(path, 'http://signer');
  const parameter = (name: string): string => {
    const value = searchParams.get(name);
    if (!value) throw new BadRequest(400, `${name} is missing`);
    return value;
  };
  const network = (deposit: DepositMode): string => {
    const id = parameter('network');
    if (networkById(id)?.deposit !== deposit) {
      throw new BadRequest(400, `${id} is not a network with ${deposit} deposit addresses`);
    }
    return id;
  };
  switch (`${method} ${pathname}`) {
    case 'POST /sign': {
      const asked = new Members('the body', parseJson(body.toString('utf8')));
      const { chain, intent, tx } = transactionOf(asked);
      return signer.sign(chain, intent, tx, asked.texts('earlier'));
    }
    case 'POST /revoke': {
      const { chain, intent, tx } = transactionOf(new Members('the body', parseJson(body.toString('utf8'))));
      return { signed: await signer.revoke(chain, intent, tx) };
    }
    case 'GET /hot-wallet':
      return { address: await signer.hotWallet(parameter('chain')) };
    case 'GET /view-key':
      return { viewKey: (await signer.viewKey?.(parameter('chain'))) ?? null };
    case 'POST /key-images': {
      const asked = new Members('the body', parseJson(body.toString('utf8')));
      const [chain, outputs, addresses] = [asked.text('chain'), asked.text('outputs'), asked.integer('addresses')];
      return { found: (await signer.keyImages?.(chain, outputs, addresses)) ?? null };
    }
    case 'GET /channels':
      return { addresses: await signer.channels(parameter('chain')) };
    case 'GET /limits':
      return { digest: await signer.limitsDigest(parameter('chain')) };
    case 'GET /fingerprint':
      return { fingerprint: await signer.fingerprint() };
    case 'GET /account-xpub':
      return { xpub: await signer.accountXpub(network('derived')) };
    case 'GET /shared-address':
      return { address: await signer.sharedAddress(network('shared')) };
    case 'GET /pool-addresses': {
      const { first, last } = poolRange(parameter('first'), parameter('last'));
      return { addresses: await signer.poolAddresses(network('pool'), first, last) };
    }
    default:
      throw new BadRequest(404, 'there is no such route');
  }
}

function poolRange(first: string, last: string): { first: number; last: number } {
  const range = { first: poolIndex(first), last: poolIndex(last) };
  if (range.last < range.first || range.last - range.first >= maxPoolAddresses) {
    throw new BadRequest(400, `first and last name 1 to ${maxPoolAddresses} addresses`);
  }
  return range;
}

function poolIndex(text: string): number {
  const index = /^[1-9]\d{0,9}$/.test(text) ? Number.parseInt(text, 10) : 0;
  if (index < 1 || index >= 0x80000000) throw new BadRequest(400, `${text} is not an index of an address`);
  return index;
}

/**
 * Reads a request's body and computes its proof. A body that is too long is dropped, but still
 * covered by the proof.
 */
async function readBody(req: IncomingMessage, hmac: Hmac): Promise<{ body: Buffer | null; proof: string }> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of req as AsyncIterable<Buffer>) {
    hmac.update(chunk);
    size += chunk.length;
    if (size <= maxRequestBytes) chunks.push(chunk);
    else chunks.length = 0;
  }
  return { body: size <= maxRequestBytes ? Buffer.concat(chunks) : null, proof: hmac.digest('hex') };
}

/** Reads when a transaction expires; null for never. */
function expiryOf(value: unknown): Expiry | null {
  if (value === null || isExpiry(value)) return value;
  throw new BadRequest(
    400,
    'expiresAt of tx is neither null nor an object with one member, height or timeMs, that is a whole number from 0 ' +
      '(timeMs: at most the end of the year 9999)',
  );
}

function purposeOf(text: string): PaymentPurpose {
  const purpose = paymentPurposes.find((each) => each === text);
  if (purpose === undefined) throw new BadRequest(400, 'purpose of intent is none that the signer knows');
  return purpose;
}

/** Reads the transaction of a request. */
function transactionOf(body: Members): { chain: string; intent: PaymentIntent; tx: PreparedTx } {
  const intent = new Members('intent', body.value('intent'));
  const tx = new Members('tx', body.value('tx'));
  return {
    chain: body.text('chain'),
    intent: {
      id: intent.text('id'),
      attempt: intent.integer('attempt'),
      // Absent from gateways of earlier versions.
      ...(intent.value('purpose') !== undefined && { purpose: purposeOf(intent.text('purpose')) }),
      from: intent.value('from') === null ? null : intent.texts('from'),
      contract: intent.textOrNull('contract'),
      to: intent.text('to'),
      tag: intent.textOrNull('tag'),
      amount: intent.coins('amount'),
      // Absent for a payment, and from gateways that know no set-ups.
      ...(intent.value('setup') !== undefined && { setup: intent.text('setup') }),
    },
    tx: {
      payload: tx.text('payload'),
      reserves: tx.texts('reserves'),
      fee: tx.coins('fee'),
      expiresAt: expiryOf(tx.value('expiresAt')),
    },
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new BadRequest(400, 'the body is not JSON');
  }
}

/** An object of a request. Each member is read with the type that it must have. */
class Members {
  readonly #name: string;
  readonly #object: Readonly<Record<string, unknown>>;

  constructor(name: string, value: unknown) {
    if (typeof value !== 'object' || value === null) throw new BadRequest(400, `${name} is not an object`);
    this.#name = name;
    this.#object = value as Record<string, unknown>;
  }

  value(member: string): unknown {
    return this.#object[member];
  }

  text(member: string): string {
    const value = this.value(member);
    return typeof value === 'string' ? value : this.#refuse(member, 'no text');
  }

  textOrNull(member: string): string | null {
    return this.value(member) === null ? null : this.text(member);
  }

  texts(member: string): string[] {
    const value = this.value(member);
    const sound = Array.isArray(value) && value.every((item) => typeof item === 'string');
    return sound ? value : this.#refuse(member, 'not a list of texts');
  }

  integer(member: string): number {
    const value = this.value(member);
    return typeof value === 'number' && Number.isSafeInteger(value)
      ? value
      : this.#refuse(member, 'not a whole number');
  }

  /** A whole number of any size, written in decimal. */
  coins(member: string): bigint {
    const text = this.text(member);
    return /^(0|-?[1-9]\d{0,77})$/.test(text) ? BigInt(text) : this.#refuse(member, 'not a whole number in decimal');
  }

  #refuse(member: string, what: string): never {
    throw new BadRequest(400, `${member} of ${this.#name} is ${what}`);
  }
}
