import { createHash, randomBytes } from 'node:crypto';
import { type IncomingMessage, Agent as PlainAgent, type RequestOptions, request } from 'node:http';
import { Agent as TlsAgent, request as tlsRequest } from 'node:https';

interface DigestUser {
  readonly user: string;
  readonly password: string;
}

interface DigestAnswer {
  readonly status: number;
  readonly body: AsyncIterable<Uint8Array>;
}

interface Challenge {
  readonly realm: string;
  readonly nonce: string;
  readonly opaque: string | null;
}

/** Monero's programs take few connections, so that an idle one is closed after a while. */
const oneConnection = { keepAlive: true, maxSockets: 1, timeout: 10_000 } as const;

/** How often a request is answered with a challenge before its credentials count as wrong. */
const mostChallenges = 2;

/**
 * Posts JSON with Digest authentication (RFC 7616, MD5 with `qop=auth`), which monerod and
 * monero-wallet-rpc ask for. They tie a challenge to its connection, so that all requests share one
 * connection, one after the other.
 */
export class DigestClient {
  readonly #user: DigestUser;
  readonly #agents = {
    'http:': new PlainAgent(oneConnection),
    'https:': new TlsAgent(oneConnection),
  };
  #challenge: Challenge | null = null;
  #count = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(user: DigestUser) {
    this.#user = user;
  }

  /**
   * The answer to one request, whose body must be read to its end by `read`. Status 401 means that
   * the credentials are wrong.
   */
  post<T>(
    url: string,
    headers: Readonly<Record<string, string>>,
    body: string,
    { timeoutMs, read }: { readonly timeoutMs: number; readonly read: (answer: DigestAnswer) => Promise<T> },
  ): Promise<T> {
    const turn = this.#last.then(() => this.#post(new URL(url), headers, body, timeoutMs, read));
    this.#last = turn.catch(() => {});
    return turn;
  }

  async #post<T>(
    url: URL,
    headers: Readonly<Record<string, string>>,
    body: string,
    timeoutMs: number,
    read: (answer: DigestAnswer) => Promise<T>,
  ): Promise<T> {
    const signal = AbortSignal.timeout(timeoutMs);
    for (let tries = 0; ; tries += 1) {
      const authorization = this.#authorization(url);
      const answer = await this.#send(url, { ...headers, ...authorization }, body, signal);
      const challenge = answer.statusCode === 401 ? readChallenge(answer) : null;
      this.#challenge = challenge ?? this.#challenge;
      if (challenge === null || tries >= mostChallenges) {
        return read({ status: answer.statusCode ?? 0, body: answer });
      }
      this.#count = 0;
      answer.resume();
      await new Promise((resolve) => answer.once('close', resolve));
    }
  }

  #send(
    url: URL,
    headers: Record<string, string>,
    body: string,
    signal: AbortSignal,
    isAgain = false,
  ): Promise<IncomingMessage> {
    const isTls = url.protocol === 'https:';
    const options: RequestOptions = {
      method: 'POST',
      headers: { ...headers, 'Content-Length': String(Buffer.byteLength(body)) },
      agent: this.#agents[isTls ? 'https:' : 'http:'],
      signal,
    };
    return new Promise((resolve, reject) => {
      const sent = isTls ? tlsRequest(url, options, resolve) : request(url, options, resolve);
      sent.on('error', (error: NodeJS.ErrnoException) => {
        // The server closed the idle connection just before it was used.
        const wasIdle = sent.reusedSocket && error.code === 'ECONNRESET' && !isAgain;
        if (wasIdle) resolve(this.#send(url, headers, body, signal, true));
        else reject(error);
      });
      sent.end(body);
    });
  }

  #authorization(url: URL): Record<string, string> {
    if (this.#challenge === null) return {};
    const { realm, nonce, opaque } = this.#challenge;
    const { user, password } = this.#user;
    this.#count += 1;
    const count = this.#count.toString(16).padStart(8, '0');
    const ours = randomBytes(16).toString('hex');
    const uri = `${url.pathname}${url.search}`;
    const response = md5(
      [md5(`${user}:${realm}:${password}`), nonce, count, ours, 'auth', md5(`POST:${uri}`)].join(':'),
    );
    const parts = [
      `username="${user}"`,
      `realm="${realm}"`,
      `nonce="${nonce}"`,
      `uri="${uri}"`,
      'algorithm=MD5',
      'qop=auth',
      `nc=${count}`,
      `cnonce="${ours}"`,
      `response="${response}"`,
      ...(opaque === null ? [] : [`opaque="${opaque}"`]),
    ];
    return { Authorization: `Digest ${parts.join(', ')}` };
  }
}

/** Reads the challenge that asks for MD5 with `qop=auth`; null where there is none. */
function readChallenge(answer: IncomingMessage): Challenge | null {
  const lines = answer.rawHeaders.filter((_, at) => answer.rawHeaders[at - 1]?.toLowerCase() === 'www-authenticate');
  for (const line of lines) {
    if (!/^digest /i.test(line)) continue;
    const algorithm = member(line, 'algorithm') ?? 'MD5';
    const [realm, nonce] = [member(line, 'realm'), member(line, 'nonce')];
    const canAuth = (member(line, 'qop') ?? '').split(',').some((qop) => qop.trim() === 'auth');
    if (algorithm.toUpperCase() !== 'MD5' || !canAuth || realm === null || nonce === null) continue;
    return { realm, nonce, opaque: member(line, 'opaque') };
  }
  return null;
}

function member(line: string, name: string): string | null {
  const found = new RegExp(`(?:^|[ ,])${name}=(?:"([^"\\\\]*)"|([^",\\s]+))`, 'i').exec(line);
  return found?.[1] ?? found?.[2] ?? null;
}

function md5(text: string): string {
  return createHash('md5').update(text).digest('hex');
}
