import { randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { systemMs } from '../base/clock.ts';
import { errorCode } from '../base/db/error-code.ts';
import type { PaymentIntent, PreparedTx, SignedTx } from '../chains/port/chain-adapter.ts';
import { type KeyImages, type Signer, SignerError } from '../chains/port/signer.ts';
import type { DepositKeys } from './deposit-keys.ts';
import { isExpiry } from './expiry.ts';
import type { TellsLimits } from './limits.ts';
import { isSameProof, proofHeaders, type SharedSecret } from './proof.ts';

interface SocketSignerOptions {
  /** The path of the socket on which `serveSigner` listens. */
  readonly socketPath: string;
  /** The secret shared with the signer: only answers that prove it are accepted. */
  readonly secret: SharedSecret;
  /** From the connection to the last byte of the answer. */
  readonly timeoutMs?: number;
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/**
 * A signer in another process, called over its unix socket. A missing, malformed or unproven answer
 * is `unavailable`. Only the proven word of the signer is `refused`.
 */
export class SocketSigner implements Signer, DepositKeys, TellsLimits {
  readonly #socketPath: string;
  readonly #secret: SharedSecret;
  readonly #timeoutMs: number;

  constructor({ socketPath, secret, timeoutMs = 5_000 }: SocketSignerOptions) {
    this.#socketPath = socketPath;
    this.#secret = secret;
    this.#timeoutMs = timeoutMs;
  }

  async sign(chain: string, intent: PaymentIntent, tx: PreparedTx, earlier: readonly string[] = []): Promise<SignedTx> {
    return signedTx(await this.#ask('POST', '/sign', bodyOf({ chain, intent, tx, earlier })));
  }

  async revoke(chain: string, intent: PaymentIntent, tx: PreparedTx): Promise<SignedTx | null> {
    const answer = await this.#ask('POST', '/revoke', bodyOf({ chain, intent, tx }));
    const signed = isObject(answer) ? answer.signed : undefined;
    return signed === null ? null : signedTx(signed);
  }

  hotWallet(chain: string): Promise<string> {
    return this.#name('/hot-wallet', { chain }, 'address');
  }

  channels(chain: string): Promise<readonly string[]> {
    return this.#addresses(`/channels?${new URLSearchParams({ chain })}`);
  }

  async viewKey(chain: string): Promise<string | null> {
    const found = await this.#ask('GET', `/view-key?${new URLSearchParams({ chain })}`);
    const viewKey = isObject(found) ? found.viewKey : undefined;
    if (viewKey !== null && !isName(viewKey)) throw unavailable('its answer has no viewKey');
    return viewKey;
  }

  async keyImages(chain: string, outputs: string, addresses: number): Promise<KeyImages | null> {
    const answer = await this.#ask('POST', '/key-images', bodyOf({ chain, outputs, addresses }));
    const found = isObject(answer) ? answer.found : undefined;
    if (found !== null && !isKeyImages(found)) throw unavailable('its answer has no key images');
    return found;
  }

  fingerprint(): Promise<string> {
    return this.#name('/fingerprint', {}, 'fingerprint');
  }

  accountXpub(network: string): Promise<string> {
    return this.#name('/account-xpub', { network }, 'xpub');
  }

  sharedAddress(network: string): Promise<string> {
    return this.#name('/shared-address', { network }, 'address');
  }

  async poolAddresses(network: string, first: number, last: number): Promise<readonly string[]> {
    const query = new URLSearchParams({ network, first: String(first), last: String(last) });
    const addresses = await this.#addresses(`/pool-addresses?${query}`);
    if (addresses.length !== last - first + 1) throw notAddresses();
    return addresses;
  }

  async #addresses(path: string): Promise<readonly string[]> {
    const found = await this.#ask('GET', path);
    const addresses = isObject(found) ? found.addresses : null;
    if (!Array.isArray(addresses) || !addresses.every(isName)) throw notAddresses();
    return addresses;
  }

  async limitsDigest(chain: string): Promise<string | null> {
    const found = await this.#ask('GET', `/limits?${new URLSearchParams({ chain })}`);
    const digest = isObject(found) ? found.digest : undefined;
    if (digest !== null && !isName(digest)) throw unavailable('its answer has no digest');
    return digest;
  }

  /** Reads the one member of an answer. */
  async #name(path: string, query: Record<string, string>, member: string): Promise<string> {
    const found = await this.#ask('GET', `${path}?${new URLSearchParams(query)}`);
    const name = isObject(found) ? found[member] : null;
    if (!isName(name)) throw unavailable(`its answer has no ${member}`);
    return name;
  }

  /** Sends a request and returns the body of a successful answer. */
  async #ask(method: string, path: string, requestBody = ''): Promise<unknown> {
    const { status, body } = await this.#exchange(method, path, requestBody);
    if (status === 200) return body;
    const { code, detail } = isObject(body) ? body : {};
    const said = typeof detail === 'string' ? detail : 'without a reason';
    if (status === 409 && (code === 'refused' || code === 'revoked')) throw new SignerError(code, said);
    // Includes a request that the signer does not understand: another version may have signed it
    // before.
    throw unavailable(`it answered ${status}: ${said}`);
  }

  async #exchange(method: string, path: string, requestBody: string): Promise<Answer> {
    let deadline: NodeJS.Timeout | undefined;
    const nonce = randomBytes(16).toString('hex');
    const time = String(systemMs());
    const bytes = Buffer.from(requestBody);
    const headers = {
      'Content-Type': 'application/json',
      'Content-Length': bytes.length,
      [proofHeaders.nonce]: nonce,
      [proofHeaders.time]: time,
      [proofHeaders.proof]: this.#secret.ofRequest({ method, path, nonce, time, body: bytes }),
    };
    try {
      return await new Promise<Answer>((resolve, reject) => {
        // A separate connection: a kept connection would fail after a restart of the signer.
        const options = { socketPath: this.#socketPath, method, path, headers, agent: false };
        const req = request(options, (res) => {
          buffer(res)
            .then((body) => {
              const status = res.statusCode ?? 0;
              if (!isSameProof(res.headers[proofHeaders.proof], this.#secret.ofAnswer({ nonce, status, body }))) {
                throw new Error(unproven(status, this.#secret.origin));
              }
              resolve({ status, body: JSON.parse(body.toString('utf8')) });
            })
            .catch(reject);
        });
        req.on('error', reject);
        deadline = setTimeout(() => {
          const late = new Error(`no answer within ${this.#timeoutMs} ms`);
          reject(late);
          req.destroy(late);
        }, this.#timeoutMs);
        req.end(bytes);
      });
    } catch (error) {
      throw unavailable(connectionFault(error, this.#socketPath), error);
    } finally {
      clearTimeout(deadline);
    }
  }
}

/** A request's body, with whole numbers of coins as decimal strings. */
function bodyOf(asked: object): string {
  return JSON.stringify(asked, (_name, value: unknown) => (typeof value === 'bigint' ? value.toString() : value));
}

function signedTx(answer: unknown): SignedTx {
  if (!isSignedTx(answer)) throw unavailable('its answer is not a signed transaction');
  const { txid, raw, reserves, expiresAt } = answer;
  return { txid, raw, reserves, expiresAt };
}

/** Explains an answer without a proof. Status 401 means that the signer has another secret. */
function unproven(status: number, origin: string): string {
  const what =
    status === 401
      ? `its secret is not the one of ${origin}`
      : `what answers there does not prove that it knows the secret of ${origin} (it answered ${status})`;
  return `${what}; signer and gateways need the same SIGNER_SECRET, SIGNER_SECRET_FILE or signer-secret in DATA_DIR`;
}

function connectionFault(error: unknown, path: string): string {
  const code = errorCode(error);
  if (code === 'ENOENT' || code === 'ECONNREFUSED') {
    return `nothing listens at ${path} (${code}); start the signer of SIGNER_SOCKET first, with: npm run signer`;
  }
  if (code === 'EACCES' || code === 'EPERM') {
    return `${path} may not be opened (${code}); see SIGNER_SOCKET_OPENS_FOR of the signer`;
  }
  return error instanceof Error ? error.message : 'the connection failed';
}

function unavailable(why: string, cause?: unknown): SignerError {
  return new SignerError('unavailable', `the signer gave no valid answer: ${why}`, cause);
}

function notAddresses(): SignerError {
  return unavailable('its answer is not a list of the requested addresses');
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function isKeyImages(value: unknown): value is KeyImages {
  return (
    isObject(value) &&
    Number.isSafeInteger(value.offset) &&
    Array.isArray(value.images) &&
    value.images.every((one) => isObject(one) && isName(one.keyImage) && isName(one.signature))
  );
}

function isSignedTx(value: unknown): value is SignedTx {
  return (
    isObject(value) &&
    isName(value.txid) &&
    isName(value.raw) &&
    Array.isArray(value.reserves) &&
    value.reserves.every(isName) &&
    (value.expiresAt === null || isExpiry(value.expiresAt))
  );
}
