import { timingSafeEqual } from 'node:crypto';
import { join } from 'node:path';
import { createPrivateFile, readPrivateFile, readSecretFile, replacePrivateFile } from '../base/secret-file.ts';
import type { Config } from '../config/settings.ts';
import { type PassphraseSettings, readPassphrase } from './passphrase.ts';
import { isSealed, openSealedSeed, sealSeed } from './sealing.ts';

type SeedSettings = PassphraseSettings & Pick<Config, 'DATA_DIR' | 'SIGNER_SEED'>;

/** The path of the seed in a data directory, plain or sealed. */
export function seedPath(dataDir: string): string {
  return join(dataDir, 'signer-seed');
}

/**
 * Reads the 32 bytes of the seed, which the caller wipes: from SIGNER_SEED, or from the file in
 * DATA_DIR. A sealed seed asks for its passphrase. Null when there is no seed.
 *
 * @throws WrongPassphrase; Error when both places hold a seed, because one of them is not the one
 *   meant.
 */
export async function readSeed(settings: SeedSettings): Promise<Buffer | null> {
  const path = seedPath(settings.DATA_DIR);
  const text = readPrivateFile(path);
  if (settings.SIGNER_SEED !== null) {
    if (text !== null) throw new Error(`SIGNER_SEED is set, and there is a seed at ${path} too; remove one of them`);
    return Buffer.from(settings.SIGNER_SEED, 'hex');
  }
  if (text === null) return null;
  if (!isSealed(text)) {
    const digits = readSecretFile(path);
    return digits === null ? null : Buffer.from(digits, 'hex');
  }
  const passphrase = await readPassphrase(settings);
  try {
    return await openSealedSeed(text, passphrase);
  } finally {
    passphrase.fill(0);
  }
}

/**
 * Refuses to replace a seed.
 *
 * @throws Error when there is a seed already: overwriting it would lose the coins of its keys.
 */
export function refuseSecondSeed(path: string): void {
  if (readPrivateFile(path) !== null) {
    throw new Error(`there is a seed at ${path} already, and it is not overwritten; move it away if you are sure`);
  }
}

/** Writes a new sealed seed and reads it back. */
export async function createSealedSeed(path: string, entropy: Uint8Array, passphrase: Uint8Array): Promise<void> {
  const text = await sealSeed(entropy, passphrase);
  if (!createPrivateFile(path, text)) refuseSecondSeed(path);
  await expectSame(readPrivateFile(path) ?? '', entropy, passphrase);
}

/**
 * Seals the plain seed of a file in its place. It replaces the plain seed only after the sealed one
 * was read back from disk and gave the same seed.
 */
export async function sealInPlace(path: string, passphrase: Uint8Array): Promise<void> {
  const entropy = plainSeed(path);
  try {
    const text = await sealSeed(entropy, passphrase);
    await replacePrivateFile(path, text, (arrived) => expectSame(arrived, entropy, passphrase));
  } finally {
    entropy.fill(0);
  }
}

function plainSeed(path: string): Buffer {
  const text = readPrivateFile(path);
  if (text === null) throw new Error(`there is no seed at ${path}`);
  if (isSealed(text)) throw new Error(`the seed at ${path} is sealed already`);
  return Buffer.from(readSecretFile(path) ?? '', 'hex');
}

async function expectSame(text: string, entropy: Uint8Array, passphrase: Uint8Array): Promise<void> {
  const opened = await openSealedSeed(text, passphrase);
  const isSame = timingSafeEqual(opened, entropy);
  opened.fill(0);
  if (!isSame) throw new Error('the sealed seed does not give the seed back; nothing was changed');
}
