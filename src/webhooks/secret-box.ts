import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { VersionedKey } from '../accounts/partners/secret-key.ts';

/** What the keys of `SecretBox` are derived for. */
export const secretPurpose = 'webhook secrets';

const cipherName = 'aes-256-gcm';
const nonceLength = 12;
const tagLength = 16;

/** An encrypted secret and the version of the key that encrypted it. */
interface SealedSecret {
  readonly bytes: Buffer;
  readonly version: number;
}

/**
 * Encrypts the signing secrets of webhook endpoints. Unlike API keys they must be readable, because
 * they sign. The keys come from the peppers, which the database never sees: a copy of the database
 * signs nothing.
 */
export class SecretBox {
  readonly #keys: readonly VersionedKey[];

  /** @param keys newest first; new secrets are encrypted under the first. */
  constructor(keys: readonly VersionedKey[]) {
    this.#keys = keys;
  }

  /** The version that new secrets are encrypted under. */
  get version(): number {
    return this.#current().version;
  }

  /** @param owner The endpoint's id. The secret opens for this endpoint only. */
  seal(owner: string, secret: Buffer): SealedSecret {
    const { key, version } = this.#current();
    const nonce = randomBytes(nonceLength);
    const cipher = createCipheriv(cipherName, key, nonce, { authTagLength: tagLength });
    cipher.setAAD(Buffer.from(owner));
    const bytes = Buffer.concat([nonce, cipher.update(secret), cipher.final(), cipher.getAuthTag()]);
    return { bytes, version };
  }

  /** @throws Error when the key of this version is missing, or the bytes were changed or moved. */
  open(owner: string, { bytes, version }: SealedSecret): Buffer {
    const known = this.#keys.find((each) => each.version === version);
    if (!known) throw new Error(`a webhook secret needs version ${version} of KEY_PEPPER`);
    const decipher = createDecipheriv(cipherName, known.key, bytes.subarray(0, nonceLength), {
      authTagLength: tagLength,
    });
    decipher.setAAD(Buffer.from(owner));
    decipher.setAuthTag(bytes.subarray(-tagLength));
    return Buffer.concat([decipher.update(bytes.subarray(nonceLength, -tagLength)), decipher.final()]);
  }

  #current(): VersionedKey {
    const [current] = this.#keys;
    if (!current) throw new Error('SecretBox needs at least one key');
    return current;
  }
}
