import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

/** Makes the CBOR map of an attestation from what it signs. `own` is the key of the passkey. */
export type Statement = (signed: Buffer, own: KeyObject) => Buffer;

/** What an attacker, or a faulty authenticator, does otherwise. */
export interface Deviations {
  readonly origin?: string;
  readonly rpId?: string;
  readonly challenge?: string;
  readonly isVerified?: boolean;
  readonly counter?: number;
  readonly signWith?: KeyObject;
  /** What stands for the attestation statement that the browser takes away: format and CBOR map. */
  readonly attestation?: { readonly format: string; readonly statement: Statement };
}

const sha256 = (data: string | Buffer): Buffer => createHash('sha256').update(data).digest();

/**
 * A passkey in software, as a browser hands out its answers: ES256, no attestation.
 * https://www.w3.org/TR/webauthn-3/#sctn-generating-an-attestation-object
 */
export class SoftAuthenticator {
  readonly id: Buffer;
  readonly #origin: string;
  readonly #keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  #counter = 0;

  /** @param id of the passkey; chosen by the authenticator, which may be an attacker's. */
  constructor(origin: string, id: Buffer = randomBytes(16)) {
    this.#origin = origin;
    this.id = id;
  }

  /** Answers navigator.credentials.create. */
  register(options: { challenge: string }, deviations: Deviations = {}): object {
    const idLength = Buffer.alloc(2);
    idLength.writeUInt16BE(this.id.length);
    const data = Buffer.concat([this.#head(0x45, deviations), Buffer.alloc(16), idLength, this.id, this.#coseKey()]);
    const client = this.#clientData('webauthn.create', options.challenge, deviations);
    const { format, statement } = deviations.attestation ?? { format: 'none', statement: () => Buffer.from([0xa0]) };
    const attestation = Buffer.concat([
      Buffer.from([0xa3]),
      cborText('fmt'),
      cborText(format),
      cborText('attStmt'),
      statement(Buffer.concat([data, sha256(client)]), this.#keys.privateKey),
      cborText('authData'),
      cborBytes(data),
    ]);
    return this.#answer({
      clientDataJSON: client.toString('base64url'),
      attestationObject: attestation.toString('base64url'),
      transports: ['internal'],
    });
  }

  /** Answers navigator.credentials.get. */
  use(options: { challenge: string }, deviations: Deviations = {}): object {
    const client = this.#clientData('webauthn.get', options.challenge, deviations);
    const data = this.#head(0x05, deviations);
    const key = deviations.signWith ?? this.#keys.privateKey;
    return this.#answer({
      clientDataJSON: client.toString('base64url'),
      authenticatorData: data.toString('base64url'),
      signature: sign('sha256', Buffer.concat([data, sha256(client)]), key).toString('base64url'),
    });
  }

  #answer(response: object): object {
    const id = this.id.toString('base64url');
    return { id, rawId: id, type: 'public-key', response, clientExtensionResults: {} };
  }

  #clientData(type: string, challenge: string, deviations: Deviations): Buffer {
    const origin = deviations.origin ?? this.#origin;
    return Buffer.from(
      JSON.stringify({ type, challenge: deviations.challenge ?? challenge, origin, crossOrigin: false }),
    );
  }

  #head(flags: number, { rpId, isVerified = true, counter }: Deviations): Buffer {
    this.#counter += 1;
    const count = Buffer.alloc(4);
    count.writeUInt32BE(counter ?? this.#counter);
    const shown = isVerified ? flags : flags & ~0x04;
    return Buffer.concat([sha256(rpId ?? new URL(this.#origin).hostname), Buffer.from([shown]), count]);
  }

  /** https://www.rfc-editor.org/rfc/rfc9053#section-7.1.1 */
  #coseKey(): Buffer {
    const { x = '', y = '' } = this.#keys.publicKey.export({ format: 'jwk' });
    return Buffer.concat([
      Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 0x20]),
      Buffer.from(x, 'base64url'),
      Buffer.from([0x22, 0x58, 0x20]),
      Buffer.from(y, 'base64url'),
    ]);
  }
}

/** CBOR of bytes with a length of two bytes. */
export function cborBytes(bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from([0x59, bytes.length >> 8, bytes.length & 0xff]), bytes]);
}

/** CBOR of a text of at most 23 characters. */
export function cborText(text: string): Buffer {
  return Buffer.concat([Buffer.from([0x60 + text.length]), Buffer.from(text)]);
}
