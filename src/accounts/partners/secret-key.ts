import { createHmac, createSecretKey, type KeyObject, randomInt, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Pepper } from '../../config/settings.ts';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const idLength = 12;
/** 43 base62 characters hold 256 bits. */
const secretLength = 43;
const checksumLength = 6;

/** The kind of a key. `xp_test_` keys belong to a sandbox, `xs_` tokens to staff. */
export type KeyPrefix = 'xp_live_' | 'xp_test_' | 'xs_';

/**
 * A presented `<KEY_ID>.<SECRET>` with the right form and checksum. It is not proven genuine yet.
 */
export interface ParsedKey {
  readonly keyId: string;
  /** The part after the dot, which is the key of a signature. */
  readonly secret: string;
  readonly whole: string;
}

const keyForm = new RegExp(
  `^((?:xp_live_|xp_test_|xs_)[0-9A-Za-z]{${idLength}})\\.([0-9A-Za-z]{${secretLength + checksumLength}})$`,
);

/** Generates a key of 256 random bits, with a checksum over all that precedes it. */
export function generateKey(prefix: KeyPrefix): ParsedKey {
  const keyId = prefix + randomText(idLength);
  const random = randomText(secretLength);
  const secret = random + checksum(`${keyId}.${random}`);
  return { keyId, secret, whole: `${keyId}.${secret}` };
}

/** Splits a presented key; null when its form or checksum is wrong. Costs no I/O. */
export function parseKey(text: string): ParsedKey | null {
  const match = keyForm.exec(text);
  if (!match?.[1] || !match[2]) return null;
  const random = match[2].slice(0, secretLength);
  if (checksum(`${match[1]}.${random}`) !== match[2].slice(secretLength)) return null;
  return { keyId: match[1], secret: match[2], whole: text };
}

function randomText(length: number): string {
  return Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('');
}

/** CRC32 in base62, by which a secret scanner tells a key from noise without a request. */
function checksum(text: string): string {
  let rest = crc32(text);
  let digits = '';
  for (let i = 0; i < checksumLength; i++) {
    digits = alphabet[rest % alphabet.length] + digits;
    rest = Math.floor(rest / alphabet.length);
  }
  return digits;
}

/** A keyed hash of a whole key and the version of the pepper that made it. */
export interface KeyMac {
  readonly mac: Buffer;
  readonly pepperVersion: number;
}

/** A secret as a KeyObject, the form that OpenSSL keeps, and the version that names it. */
export interface VersionedKey {
  readonly version: number;
  readonly key: KeyObject;
}

/** Compared with the key of an unknown id, so that it costs the same time. */
const nobodysMac = Buffer.alloc(32);

/**
 * Hashes keys with HMAC-SHA256 under a pepper that the database never sees. So write access to the
 * table does not make a valid key, and no secret can be read back from a row.
 */
export class KeyHasher {
  readonly #current: VersionedKey;
  readonly #byVersion: ReadonlyMap<number, VersionedKey>;
  /** The hash that a key matched, as long as its caller keeps the key. */
  readonly #matched = new WeakMap<ParsedKey, Buffer>();

  /** @param peppers newest first; new hashes use the first. */
  constructor(peppers: readonly Pepper[]) {
    const keys = peppers.map(({ version, secret }) => ({ version, key: createSecretKey(secret, 'utf8') }));
    const [current] = keys;
    if (!current) throw new Error('KeyHasher needs at least one pepper');
    this.#current = current;
    this.#byVersion = new Map(keys.map((pepper) => [pepper.version, pepper]));
  }

  hash(key: ParsedKey): KeyMac {
    return { mac: this.#mac(this.#current, key), pepperVersion: this.#current.version };
  }

  /** Whether a hash was made with an older pepper than the newest. */
  isOutdated({ pepperVersion }: KeyMac): boolean {
    return pepperVersion < this.#current.version;
  }

  /**
   * Compares in constant time. Without a row it does the same work and returns false. A key that
   * matched is not hashed again for the same hash.
   */
  matches(key: ParsedKey, stored: KeyMac | null): boolean {
    if (stored && this.#matched.get(key)?.equals(stored.mac)) return true;
    const pepper = this.#byVersion.get(stored?.pepperVersion ?? this.#current.version);
    const computed = this.#mac(pepper ?? this.#current, key);
    const equal = timingSafeEqual(computed, stored?.mac.length === computed.length ? stored.mac : nobodysMac);
    if (!equal || stored === null || pepper === undefined) return false;
    this.#matched.set(key, stored.mac);
    return true;
  }

  /**
   * A fingerprint of each pepper version. It is equal for equal peppers and reveals nothing about
   * them. It is stored to notice a changed pepper.
   */
  fingerprints(): ReadonlyMap<number, string> {
    return new Map(
      [...this.#byVersion.values()].map((pepper) => [
        pepper.version,
        createHmac('sha256', pepper.key).update('pepper fingerprint').digest('hex').slice(0, 32),
      ]),
    );
  }

  /**
   * Keys for another purpose, one of each pepper, newest first. They have the versions of the
   * peppers. A key tells nothing about its pepper, or about the keys of other purposes.
   */
  derivedKeys(purpose: string): readonly VersionedKey[] {
    return [...this.#byVersion.values()].map(({ version, key }) => ({
      version,
      key: createSecretKey(createHmac('sha256', key).update(`derived key: ${purpose}`).digest()),
    }));
  }

  #mac(pepper: VersionedKey, key: ParsedKey): Buffer {
    return createHmac('sha256', pepper.key).update(key.whole).digest();
  }
}
