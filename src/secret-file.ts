import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, mkdirSync, openSync, readFileSync, unlinkSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

/** The secret in a file of its own, or null when there is none. */
export function readSecretFile(path: string): string | null {
  try {
    const text = readFileSync(path, 'utf8').trim();
    if (!/^[0-9a-f]{64}$/.test(text)) {
      throw new Error(`${path} is damaged: it must hold 64 hexadecimal digits; restore it from a backup`);
    }
    return text;
  } catch (error) {
    if (typeof error === 'object' && error !== null && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}

/**
 * Makes a secret of 256 random bits, as hexadecimal digits, in a file that only its owner may read. It is on disk for
 * good before this returns. When another process was quicker, its secret is returned.
 */
export function createSecretFile(path: string): string {
  mkdirSync(dirname(path), { recursive: true });
  const secret = randomBytes(32).toString('hex');
  const draft = `${path}.${process.pid}.draft`;
  const file = openSync(draft, 'w', 0o600);
  try {
    writeSync(file, `${secret}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  try {
    // A link fails where the name is taken, so no secret is ever overwritten.
    linkSync(draft, path);
  } catch (error) {
    if (!(typeof error === 'object' && error !== null && 'code' in error && error.code === 'EEXIST')) throw error;
  } finally {
    unlinkSync(draft);
  }
  const folder = openSync(dirname(path), 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
  const stored = readSecretFile(path);
  if (stored === null) throw new Error(`${path} vanished while it was made`);
  return stored;
}
