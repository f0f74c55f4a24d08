import type { components } from './generated/contract.ts';

/** What is wrong with an attempt to use a passkey. */
export type PasskeyFault = 'cancelled' | 'known' | 'unsupported' | 'failed';

const texts: Readonly<Record<PasskeyFault, string>> = {
  cancelled: 'No passkey was used. The window was closed, or it took too long; try again.',
  known: 'This device already holds a passkey of this account. Use another device or a security key.',
  unsupported: 'This browser knows no passkeys. Use a current one, over HTTPS.',
  failed: 'The passkey could not be used. Try again, or use another one.',
};

/** An attempt to use a passkey that did not succeed. The message is for people. */
export class PasskeyError extends Error {
  readonly fault: PasskeyFault;

  constructor(fault: PasskeyFault) {
    super(texts[fault]);
    this.fault = fault;
  }
}

/** Bytes as base64url, which is how the server writes them. */
export function toBase64Url(bytes: ArrayBuffer | Uint8Array): string {
  const text = String.fromCharCode(...(bytes instanceof Uint8Array ? bytes : new Uint8Array(bytes)));
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

/** The bytes of a base64url text. */
export function fromBase64Url(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (sign) => sign.charCodeAt(0));
}

type PasskeyAnswer = components['schemas']['WebAuthnAnswer'];
/** Options of WebAuthn as the server's JSON. The browser checks them. */
type PasskeyOptions = components['schemas']['WebAuthnOptions'];

interface DescriptorJson {
  readonly id: string;
  readonly type: string;
  readonly transports?: readonly string[];
}

const descriptors = (of: readonly DescriptorJson[] = []): PublicKeyCredentialDescriptor[] =>
  of.map(({ id, transports }) => ({
    id: fromBase64Url(id),
    type: 'public-key',
    ...(transports ? { transports: [...transports] as AuthenticatorTransport[] } : {}),
  }));

/** The options of a registration, with bytes where the server's JSON has text. */
export function creationOptions(json: PublicKeyCredentialCreationOptionsJSON): PublicKeyCredentialCreationOptions {
  if (typeof PublicKeyCredential.parseCreationOptionsFromJSON === 'function') {
    return PublicKeyCredential.parseCreationOptionsFromJSON(json);
  }
  const { challenge, user, excludeCredentials, ...rest } = json;
  return {
    ...(rest as unknown as PublicKeyCredentialCreationOptions),
    challenge: fromBase64Url(challenge),
    user: { ...user, id: fromBase64Url(user.id) },
    excludeCredentials: descriptors(excludeCredentials),
  };
}

/** The options of a sign-in, with bytes where the server's JSON has text. */
export function requestOptions(json: PublicKeyCredentialRequestOptionsJSON): PublicKeyCredentialRequestOptions {
  if (typeof PublicKeyCredential.parseRequestOptionsFromJSON === 'function') {
    return PublicKeyCredential.parseRequestOptionsFromJSON(json);
  }
  const { challenge, allowCredentials, ...rest } = json;
  return {
    ...(rest as unknown as PublicKeyCredentialRequestOptions),
    challenge: fromBase64Url(challenge),
    allowCredentials: descriptors(allowCredentials),
  };
}

/** A passkey's answer as the JSON that the server verifies. */
export function answerOf(credential: PublicKeyCredential): PasskeyAnswer {
  if (typeof credential.toJSON === 'function') return credential.toJSON() as unknown as PasskeyAnswer;
  const { id, rawId, type, response, authenticatorAttachment } = credential;
  const common = {
    id,
    rawId: toBase64Url(rawId),
    type: type as 'public-key',
    clientExtensionResults: { ...credential.getClientExtensionResults() },
    ...(authenticatorAttachment ? { authenticatorAttachment } : {}),
  };
  const clientDataJSON = toBase64Url(response.clientDataJSON);
  if (response instanceof AuthenticatorAttestationResponse) {
    const attestationObject = toBase64Url(response.attestationObject);
    return { ...common, response: { clientDataJSON, attestationObject, transports: response.getTransports() } };
  }
  const { authenticatorData, signature, userHandle } = response as AuthenticatorAssertionResponse;
  return {
    ...common,
    response: {
      clientDataJSON,
      authenticatorData: toBase64Url(authenticatorData),
      signature: toBase64Url(signature),
      ...(userHandle ? { userHandle: toBase64Url(userHandle) } : {}),
    },
  };
}

/** Whether this browser knows passkeys here: they need HTTPS, or localhost. */
export function hasPasskeys(): boolean {
  return typeof PublicKeyCredential === 'function' && typeof navigator.credentials?.create === 'function';
}

function faultOf(error: unknown): PasskeyFault {
  const name = error instanceof DOMException ? error.name : '';
  if (name === 'NotAllowedError' || name === 'AbortError') return 'cancelled';
  if (name === 'InvalidStateError') return 'known';
  return name === 'NotSupportedError' || name === 'SecurityError' ? 'unsupported' : 'failed';
}

async function run(ask: () => Promise<Credential | null>): Promise<PasskeyAnswer> {
  if (!hasPasskeys()) throw new PasskeyError('unsupported');
  const credential = await ask().catch((error: unknown) => {
    throw new PasskeyError(faultOf(error));
  });
  if (!credential) throw new PasskeyError('cancelled');
  return answerOf(credential as PublicKeyCredential);
}

/**
 * Makes a passkey on this device or on a security key, and returns its answer for the server.
 *
 * @throws PasskeyError
 */
export function makePasskey(options: PasskeyOptions): Promise<PasskeyAnswer> {
  return run(() =>
    navigator.credentials.create({
      publicKey: creationOptions(options as unknown as PublicKeyCredentialCreationOptionsJSON),
    }),
  );
}

/**
 * Asks for a passkey that exists, and returns its answer for the server.
 *
 * @throws PasskeyError
 */
export function askPasskey(options: PasskeyOptions): Promise<PasskeyAnswer> {
  return run(() =>
    navigator.credentials.get({
      publicKey: requestOptions(options as unknown as PublicKeyCredentialRequestOptionsJSON),
    }),
  );
}

/**
 * The digest of a request, which the passkey confirms: the schema RequestDigest of the contract.
 *
 * @throws PasskeyError
 */
export async function requestDigest(method: string, path: string, body: string): Promise<string> {
  // Digests need a secure page as well.
  if (!hasPasskeys()) throw new PasskeyError('unsupported');
  const bytes = new TextEncoder().encode(`${method} ${path}\n${body}`);
  return toBase64Url(await crypto.subtle.digest('SHA-256', bytes));
}
