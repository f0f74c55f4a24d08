import { createCipheriv, createDecipheriv, createHash, randomBytes, scrypt, timingSafeEqual } from 'node:crypto';

const format = 'exchange gateway sealed seed';
const version = 1;
/**
 * Cost of scrypt: about 0.4 s and 128 MiB for each guess. https://www.rfc-editor.org/rfc/rfc7914
 */
const cost: Cost = { N: 2 ** 17, r: 8, p: 1 };
/** The most memory that a file may demand, so that a changed file cannot exhaust the machine. */
const maxMemory = 2 ** 30;
const shortestPassphrase = 12;

interface Cost {
  readonly N: number;
  readonly r: number;
  readonly p: number;
}

/**
 * The members before the sealed bytes. They are authenticated with them, so that a change is
 * noticed.
 */
interface Header {
  readonly format: string;
  readonly version: number;
  readonly kdf: Cost & { readonly name: 'scrypt'; readonly salt: string };
  readonly cipher: { readonly name: 'aes-256-gcm'; readonly nonce: string };
}

interface SealedSeed extends Header {
  readonly sealed: string;
  readonly tag: string;
  /**
   * Covers all other members. It tells a damaged file from a wrong passphrase, and reveals nothing
   * about the seed.
   */
  readonly checksum: string;
}

/** The passphrase does not open the seed, although the file is whole. */
export class WrongPassphrase extends Error {
  override readonly name = 'WrongPassphrase';

  constructor() {
    super('the passphrase is wrong: it does not open the sealed seed');
  }
}

/** Whether the text of a seed file is a sealed seed and not a plain one. */
export function isSealed(text: string): boolean {
  return text.trimStart().startsWith('{');
}

/**
 * Encrypts a seed under a passphrase and returns the text of a file: AES-256-GCM with a key that
 * scrypt derives from the passphrase.
 *
 * @throws Error for a passphrase that is too short to resist guessing.
 */
export async function sealSeed(entropy: Uint8Array, passphrase: Uint8Array): Promise<string> {
  if (passphrase.length < shortestPassphrase) {
    throw new Error(`a passphrase has at least ${shortestPassphrase} bytes; six random words are a good one`);
  }
  const header: Header = {
    format,
    version,
    kdf: { name: 'scrypt', ...cost, salt: randomBytes(32).toString('hex') },
    cipher: { name: 'aes-256-gcm', nonce: randomBytes(12).toString('hex') },
  };
  const key = await keyOf(passphrase, header);
  try {
    const cipher = createCipheriv('aes-256-gcm', key, Buffer.from(header.cipher.nonce, 'hex'));
    cipher.setAAD(headerBytes(header));
    const sealed = Buffer.concat([cipher.update(entropy), cipher.final()]).toString('hex');
    const tag = cipher.getAuthTag().toString('hex');
    return `${JSON.stringify({ ...header, sealed, tag, checksum: checksumOf(header, sealed, tag) }, null, 2)}\n`;
  } finally {
    key.fill(0);
  }
}

/**
 * Opens a sealed text and returns the seed, in bytes that the caller wipes.
 *
 * @throws WrongPassphrase; Error when the text is damaged, or has a version that this program
 *   cannot read.
 */
export async function openSealedSeed(text: string, passphrase: Uint8Array): Promise<Buffer> {
  const { sealed, tag, checksum, ...header } = parse(text);
  if (!isSameText(checksum, checksumOf(header, sealed, tag))) throw damaged();
  const key = await keyOf(passphrase, header);
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(header.cipher.nonce, 'hex'), {
      authTagLength: 16,
    });
    decipher.setAAD(headerBytes(header));
    decipher.setAuthTag(Buffer.from(tag, 'hex'));
    const entropy = decipher.update(sealed, 'hex');
    try {
      decipher.final();
    } catch {
      entropy.fill(0);
      throw new WrongPassphrase();
    }
    return entropy;
  } finally {
    key.fill(0);
  }
}

function keyOf(passphrase: Uint8Array, { kdf: { N, r, p, salt } }: Header): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const options = { N, r, p, maxmem: 2 * maxMemory };
    scrypt(passphrase, Buffer.from(salt, 'hex'), 32, options, (error, key) => (error ? reject(error) : resolve(key)));
  });
}

/** The header as bytes. Members are in a fixed order, so that equal headers are equal bytes. */
function headerBytes({ format, version, kdf, cipher }: Header): Buffer {
  return Buffer.from(
    JSON.stringify([format, version, kdf.name, kdf.N, kdf.r, kdf.p, kdf.salt, cipher.name, cipher.nonce]),
  );
}

function checksumOf(header: Header, sealed: string, tag: string): string {
  return createHash('sha256').update(headerBytes(header)).update(`${sealed}:${tag}`).digest('hex');
}

function isSameText(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
}

function parse(text: string): SealedSeed {
  let found: SealedSeed;
  try {
    found = JSON.parse(text) as SealedSeed;
  } catch {
    throw damaged();
  }
  if (found?.format !== format) throw damaged();
  if (found.version !== version) {
    throw new Error(`the sealed seed is of version ${found.version}, and this program reads version ${version}`);
  }
  const { kdf, cipher } = found;
  const isWhole =
    kdf?.name === 'scrypt' &&
    isPowerOf2(kdf.N) &&
    [kdf.r, kdf.p].every((factor) => Number.isSafeInteger(factor) && factor >= 1 && factor <= 16) &&
    128 * kdf.N * kdf.r <= maxMemory &&
    cipher?.name === 'aes-256-gcm' &&
    isHex(kdf.salt, 32) &&
    isHex(cipher.nonce, 12) &&
    isHex(found.sealed, 32) &&
    isHex(found.tag, 16) &&
    isHex(found.checksum, 32);
  if (!isWhole) throw damaged();
  return found;
}

function isPowerOf2(value: unknown): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 2 && Number.isInteger(Math.log2(value));
}

function isHex(value: unknown, bytes: number): boolean {
  return typeof value === 'string' && value.length === bytes * 2 && /^[0-9a-f]*$/.test(value);
}

function damaged(): Error {
  return new Error('the sealed seed is damaged; restore it from a backup, or from its 24 words');
}
