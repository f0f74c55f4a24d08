import { lstat, unlink } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { takeDataDirLock } from '../db/data-dir-lock.ts';
import { errorCode, ignoreMissing } from '../db/error-code.ts';
import { errorMembers, type Log } from '../log.ts';
import type { PaymentIntent, PreparedTx } from './chain-adapter.ts';
import { type Signer, SignerError } from './signer.ts';

export interface SignerServerOptions {
  readonly signer: Signer;
  readonly socketPath: string;
  readonly log: Log;
}

export interface SignerServer {
  /** Stops listening, which removes the socket, and waits for what is under way; cuts what hangs. */
  close(): Promise<void>;
}

const maxBodyBytes = 64 * 1024;
/** The longest path that the kernels of both Linux and macOS take for a socket. */
const maxPathBytes = 103;
/** How long requests under way may take once the server closes. */
const drainMs = 3_000;

/**
 * Serves a signer over HTTP on a unix socket, which only the owner of this process may open:
 *
 * - `POST /sign` with `{chain, intent, tx}`, whole numbers of coins as decimal strings, answers the signed transaction;
 * - `GET /hot-wallet?chain=` answers `{address}`.
 *
 * A refusal is answered with 409 and `{code: 'refused', detail}`, a request that makes no sense with 400.
 *
 * @throws Error when somebody else answers on the socket, or when something that is no socket has its name.
 */
export async function serveSigner({ signer, socketPath, log }: SignerServerOptions): Promise<SignerServer> {
  if (Buffer.byteLength(socketPath) > maxPathBytes) {
    throw new Error(`the path of a socket has at most ${maxPathBytes} bytes, and ${socketPath} has more`);
  }
  const server = createServer(
    { requestTimeout: 10_000, headersTimeout: 5_000, connectionsCheckingInterval: 1_000 },
    (req, res) => void answer({ signer, log }, req, res),
  );
  // Two that start at once would each find the old socket dead, and one would remove the other's new one.
  const lock = await takeDataDirLock(`${socketPath}.lock`, `another signer is just starting on ${socketPath}`);
  try {
    await removeStaleSocket(socketPath);
    await listen(server, socketPath);
  } finally {
    await lock.release();
  }
  return { close: () => drain(server) };
}

async function removeStaleSocket(path: string): Promise<void> {
  const found = await lstat(path).catch(ignoreMissing);
  if (!found) return;
  if (!found.isSocket()) throw new Error(`${path} is no socket; move it away or choose another path`);
  if (await answersOn(path)) throw new Error(`another signer serves ${path} already; stop it first`);
  await unlink(path).catch(ignoreMissing);
}

/** Only a refused connection proves that no process listens any more. */
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
      // The queue of those who wait to be accepted is full.
      else if (code === 'EAGAIN') resolve(true);
      else reject(error);
    });
  });
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    // The socket is made during this very call, so the mask leaves no moment in which others may open it.
    const mask = process.umask(0o177);
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

/** A request that is answered with its status and a sentence. */
class BadRequest extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

type Serving = Pick<SignerServerOptions, 'signer' | 'log'>;

async function answer(serving: Serving, req: IncomingMessage, res: ServerResponse): Promise<void> {
  try {
    send(res, 200, await route(serving.signer, req));
  } catch (error) {
    const { status, code, detail } = refusalOf(error);
    // The sentence may hold what a log must not, so only its kind is logged.
    const members = { event: 'signer_request_failed', status, code };
    if (status < 500) serving.log.warn(members, 'the signer refused a request');
    else serving.log.error({ ...members, ...errorMembers(error) }, 'the signer failed on a request');
    send(res, status, { code, detail });
  }
}

function refusalOf(error: unknown): { status: number; code: string; detail: string } {
  if (error instanceof BadRequest) return { status: error.status, code: 'invalid_request', detail: error.message };
  if (error instanceof SignerError) {
    return { status: error.code === 'refused' ? 409 : 503, code: error.code, detail: error.message };
  }
  return { status: 500, code: 'internal_error', detail: 'the signer failed' };
}

function send(res: ServerResponse, status: number, body: unknown): void {
  // One request a connection, so that a drain waits for no connection that is merely kept.
  res.writeHead(status, { 'Content-Type': 'application/json', Connection: 'close' });
  res.end(JSON.stringify(body));
}

async function route(signer: Signer, req: IncomingMessage): Promise<unknown> {
  const { pathname, searchParams } = new URL(req.url ?? '/', 'http://signer');
  switch (`${req.method} ${pathname}`) {
    case 'POST /sign': {
      const { chain, intent, tx } = parseSignRequest(await readBody(req));
      return signer.sign(chain, intent, tx);
    }
    case 'GET /hot-wallet': {
      const chain = searchParams.get('chain');
      if (!chain) throw new BadRequest(400, 'chain is missing');
      return { address: await signer.hotWallet(chain) };
    }
    default:
      throw new BadRequest(404, 'there are POST /sign and GET /hot-wallet only');
  }
}

async function readBody(req: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of req as AsyncIterable<Buffer>) {
    size += chunk.length;
    // What is too much is read to its end and dropped, as the answer would be lost on a connection that is cut.
    if (size <= maxBodyBytes) chunks.push(chunk);
  }
  if (size > maxBodyBytes) throw new BadRequest(413, `a body has at most ${maxBodyBytes} bytes`);
  return Buffer.concat(chunks).toString('utf8');
}

function parseSignRequest(text: string): { chain: string; intent: PaymentIntent; tx: PreparedTx } {
  const body = new Members('the body', parseJson(text));
  const intent = new Members('intent', body.value('intent'));
  const tx = new Members('tx', body.value('tx'));
  return {
    chain: body.text('chain'),
    intent: {
      id: intent.text('id'),
      attempt: intent.integer('attempt'),
      contract: intent.textOrNull('contract'),
      to: intent.text('to'),
      tag: intent.textOrNull('tag'),
      amount: intent.coins('amount'),
    },
    tx: {
      payload: tx.text('payload'),
      reserves: tx.texts('reserves'),
      fee: tx.coins('fee'),
      expiresAt: tx.value('expiresAt') === null ? null : tx.integer('expiresAt'),
    },
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new BadRequest(400, 'the body is no JSON');
  }
}

/** An object of a request, whose members are read with the type that they must have. */
class Members {
  readonly #name: string;
  readonly #object: Readonly<Record<string, unknown>>;

  constructor(name: string, value: unknown) {
    if (typeof value !== 'object' || value === null) throw new BadRequest(400, `${name} is no object`);
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
    return sound ? value : this.#refuse(member, 'no list of texts');
  }

  integer(member: string): number {
    const value = this.value(member);
    return typeof value === 'number' && Number.isSafeInteger(value) ? value : this.#refuse(member, 'no whole number');
  }

  /** A whole number of any size, written in decimal. */
  coins(member: string): bigint {
    const text = this.text(member);
    return /^(0|-?[1-9]\d{0,77})$/.test(text) ? BigInt(text) : this.#refuse(member, 'no whole number in decimal');
  }

  #refuse(member: string, what: string): never {
    throw new BadRequest(400, `${member} of ${this.#name} is ${what}`);
  }
}
