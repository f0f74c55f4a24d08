import { Resolver } from 'node:dns/promises';
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import type { LookupFunction, Socket } from 'node:net';
import { type TLSSocket, connect as tlsConnect } from 'node:tls';
import { answerText, keptAnswerBytes } from './answer-text.ts';
import { type EgressRules, isAllowedAddress, isThisMachine, judgeUrl, ownAddresses } from './egress-rules.ts';

/** Why an attempt got no answer, or an answer that does not count. Shown to partners. */
type SendFault =
  | 'url_not_allowed'
  | 'address_not_allowed'
  | 'dns'
  | 'connect'
  | 'tls'
  | 'timeout'
  | 'reset'
  | 'redirect'
  | 'status';

/** The result of one attempt. */
export interface Sent {
  /** The status of the answer. Null without one. */
  readonly status: number | null;
  /** Null for a success, which is a status from 200 to 299. */
  readonly fault: SendFault | null;
  readonly ms: number;
  /** What the answer asks for in `Retry-After`: whole seconds, or null. */
  readonly retryAfterSec: number | null;
  /** The beginning of the answer, bounded and printable. Null without one. It is never logged. */
  readonly answer: string | null;
}

/** Finds the addresses of a name. */
type ResolveName = (hostname: string) => Promise<readonly string[]>;

export interface EgressOptions {
  readonly rules: EgressRules;
  /** An HTTP proxy that every delivery goes through. Null connects directly. */
  readonly proxy: URL | null;
  readonly resolve?: ResolveName;
  /** Certificates to trust in addition to the usual ones, as PEM. For tests. */
  readonly ca?: string;
  readonly connectMs?: number;
  readonly totalMs?: number;
  readonly onRefused?: (fault: SendFault) => void;
}

/** All of an attempt, from the name's look-up to the last byte that is read. */
const usualTotalMs = 15_000;
/** From the beginning to a secure connection. */
const usualConnectMs = 3_000;
/** Most bytes of an answer that are read. All but the first are thrown away. */
const mostAnswerBytes = 65_536;
const mostHeaderBytes = 16_384;
/** Addresses of a name that are tried. */
const mostAddresses = 8;

class Refusal extends Error {
  readonly fault: SendFault;

  constructor(fault: SendFault) {
    super(fault);
    this.name = 'Refusal';
    this.fault = fault;
  }
}

/**
 * Sends deliveries to addresses that partners chose. It speaks HTTPS to public addresses only,
 * follows no redirect, reads a bounded answer, and reads no proxy from the environment. Where the
 * rules allow this machine, it also speaks HTTP to it, without a proxy and without DNS.
 *
 * The addresses of a name are judged in the look-up of the connection itself, and the connection
 * takes one of the judged addresses. So a name that resolves to another address a moment later has
 * no effect. Every attempt opens a new connection, and judges again.
 */
export class Egress {
  readonly #options: EgressOptions;
  readonly #resolve: ResolveName;
  /** Keeps no connection, and knows no proxy. */
  readonly #agent: Agent;
  /** The same without TLS, for receivers on this machine. */
  readonly #plainAgent: HttpAgent;

  constructor(options: EgressOptions) {
    this.#options = options;
    this.#resolve = options.resolve ?? publicNames();
    this.#agent = new Agent({ keepAlive: false, maxCachedSessions: 0 });
    this.#plainAgent = new HttpAgent({ keepAlive: false });
  }

  /** Sends one POST. It never rejects: every trouble is a fault of the result. */
  async post(address: string, headers: Readonly<Record<string, string>>, body: string): Promise<Sent> {
    const beganMs = performance.now();
    const { rules, totalMs = usualTotalMs, connectMs = usualConnectMs, onRefused } = this.#options;
    const over = new AbortController();
    const limits = [setTimeout(() => over.abort(new Refusal('timeout')), totalMs)];
    const connecting = setTimeout(() => over.abort(new Refusal('timeout')), connectMs);
    limits.push(connecting);
    const ms = (): number => Math.round(performance.now() - beganMs);
    let answer: IncomingMessage | null = null;
    try {
      const judged = judgeUrl(address, rules);
      if ('fault' in judged) throw new Refusal('url_not_allowed');
      const onConnected = (): void => clearTimeout(connecting);
      answer = await this.#request(new URL(judged.url), { headers, body, signal: over.signal, onConnected });
      const beginning = await readBeginning(answer, over.signal);
      const { statusCode: status = 0, headers: answered } = answer;
      return {
        status,
        fault: faultOfStatus(status),
        retryAfterSec: retryAfter(answered['retry-after'], answered.date),
        answer: answerText(beginning),
        ms: ms(),
      };
    } catch (error) {
      const fault = faultOf(error, over.signal);
      if (fault === 'url_not_allowed' || fault === 'address_not_allowed') onRefused?.(fault);
      return { status: null, fault, retryAfterSec: null, answer: null, ms: ms() };
    } finally {
      for (const limit of limits) clearTimeout(limit);
      answer?.destroy();
      // Ends the connection, also one by a proxy.
      over.abort(new Refusal('timeout'));
    }
  }

  async #request(url: URL, { headers, body, signal, onConnected }: Sending): Promise<IncomingMessage> {
    const { proxy, ca } = this.#options;
    const tunnel = proxy && !isThisMachine(url.hostname) ? await this.#tunnel(proxy, url, signal) : null;
    // The judged URL has it for receivers on this machine only.
    const isPlain = url.protocol === 'http:';
    const agent = isPlain ? this.#plainAgent : this.#agent;
    return new Promise((resolve, reject) => {
      const request = (isPlain ? httpRequest : httpsRequest)(url, {
        method: 'POST',
        headers: { ...headers, 'Content-Length': String(Buffer.byteLength(body)) },
        maxHeaderSize: mostHeaderBytes,
        minVersion: 'TLSv1.2',
        servername: url.hostname,
        signal,
        ...(ca === undefined ? {} : { ca }),
        ...(tunnel ? { createConnection: () => tunnel } : { agent, lookup: this.#lookup }),
      });
      request.on('socket', (socket) => {
        const connected = (): void => {
          // What the look-up has admitted is what was connected. This holds for any way to connect.
          if (!tunnel && !isAllowedAddress(socket.remoteAddress ?? '', this.#options.rules)) {
            request.destroy(new Refusal('address_not_allowed'));
          } else onConnected();
        };
        if (tunnel) connected();
        else socket.once(isPlain ? 'connect' : 'secureConnect', connected);
      });
      request.on('response', resolve);
      // A client that asks for an upgrade would get one. We never ask.
      request.on('upgrade', (_response, socket) => {
        socket.destroy();
        reject(new Refusal('reset'));
      });
      request.on('error', reject);
      request.end(body);
    });
  }

  /** The look-up of a connection: the addresses of the name, if every one of them is allowed. */
  readonly #lookup: LookupFunction = (hostname, options, callback) => {
    this.#admitted(hostname).then(
      (addresses) => {
        const found = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
        const [first] = found;
        if (options.all) callback(null, found);
        else callback(null, first?.address ?? '', first?.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, ''),
    );
  };

  /** @throws Refusal when the name has no address, or one that is not allowed. */
  async #admitted(hostname: string): Promise<readonly string[]> {
    const addresses = isThisMachine(hostname) ? ownAddresses : await this.#resolve(hostname);
    if (addresses.length === 0) throw new Refusal('dns');
    if (!addresses.every((address) => isAllowedAddress(address, this.#options.rules))) {
      throw new Refusal('address_not_allowed');
    }
    return addresses.slice(0, mostAddresses);
  }

  /** Connects through the proxy to an address that we have judged: the proxy resolves no name. */
  async #tunnel(proxy: URL, url: URL, signal: AbortSignal): Promise<TLSSocket> {
    const [address = ''] = await this.#admitted(url.hostname);
    const host = address.includes(':') ? `[${address}]` : address;
    const target = `${host}:${url.port || '443'}`;
    const raw = await new Promise<Socket>((resolve, reject) => {
      const request = httpRequest({
        host: proxy.hostname,
        port: proxy.port || 80,
        method: 'CONNECT',
        path: target,
        headers: { Host: target },
        agent: false,
        signal,
      });
      request.on('connect', (response, socket) => {
        if (response.statusCode === 200) resolve(socket);
        else {
          socket.destroy();
          reject(new Refusal('connect'));
        }
      });
      request.on('response', (response) => {
        response.destroy();
        reject(new Refusal('connect'));
      });
      request.on('error', reject);
      request.end();
    });
    const { ca } = this.#options;
    return new Promise((resolve, reject) => {
      const options = { socket: raw, servername: url.hostname, minVersion: 'TLSv1.2' as const };
      const secure = tlsConnect({ ...options, ...(ca === undefined ? {} : { ca }) }, () => resolve(secure));
      const end = (): void => void secure.destroy(new Refusal('timeout'));
      signal.addEventListener('abort', end, { once: true });
      secure.once('close', () => {
        signal.removeEventListener('abort', end);
        raw.destroy();
      });
      secure.once('error', reject);
    });
  }
}

interface Sending {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
  readonly onConnected: () => void;
}

/**
 * Resolves names by DNS alone, apart from the threads that other parts of the process wait for. It
 * reads no hosts file, so that the names of this machine's neighbours mean nothing.
 */
function publicNames(): ResolveName {
  const resolver = new Resolver({ timeout: 1_000, tries: 2 });
  return async (hostname) => {
    const found = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    return found.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
  };
}

/** Reads an answer to its end, or to the most bytes that are read. Returns its first bytes. */
function readBeginning(answer: IncomingMessage, signal: AbortSignal): Promise<Buffer> {
  return new Promise((resolve) => {
    const beginning = Buffer.alloc(keptAnswerBytes);
    let bytes = 0;
    const finish = (): void => resolve(beginning.subarray(0, bytes));
    answer.on('data', (chunk: Buffer) => {
      chunk.copy(beginning, Math.min(bytes, keptAnswerBytes));
      bytes += chunk.length;
      if (bytes >= mostAnswerBytes) finish();
    });
    for (const end of ['end', 'close', 'error']) answer.once(end, finish);
    signal.addEventListener('abort', finish, { once: true });
  });
}

function faultOfStatus(status: number): SendFault | null {
  if (status >= 200 && status < 300) return null;
  return status >= 300 && status < 400 ? 'redirect' : 'status';
}

/** Names the trouble of an attempt, without the words of the other side. */
function faultOf(error: unknown, signal: AbortSignal): SendFault {
  if (error instanceof Refusal) return error.fault;
  if (signal.aborted) return signal.reason instanceof Refusal ? signal.reason.fault : 'timeout';
  for (let cause = error, depth = 0; depth < 4 && typeof cause === 'object' && cause !== null; depth++) {
    if (cause instanceof Refusal) return cause.fault;
    const { code, syscall } = cause as { code?: unknown; syscall?: unknown };
    if (typeof code === 'string') {
      if (/^(ERR_TLS|ERR_SSL|CERT_|DEPTH_|UNABLE_|SELF_|HOSTNAME_|ERR_OSSL)|EPROTO/.test(code)) return 'tls';
      if (syscall === 'connect' || /^E(CONNREFUSED|HOSTUNREACH|NETUNREACH|ADDRNOTAVAIL|ACCES)/.test(code))
        return 'connect';
    }
    const errors = (cause as { errors?: readonly unknown[] }).errors;
    cause = (cause as { cause?: unknown }).cause ?? errors?.[0];
  }
  return 'reset';
}

/**
 * Reads `Retry-After` as whole seconds. A date is compared with the answer's own date, so that the
 * receiver's clock does not matter.
 */
function retryAfter(text: string | undefined, date: string | undefined): number | null {
  if (text === undefined) return null;
  if (/^\d{1,9}$/.test(text.trim())) return Number.parseInt(text, 10);
  const seconds = Math.ceil((Date.parse(text) - Date.parse(date ?? '')) / 1000);
  return seconds > 0 ? seconds : null;
}
