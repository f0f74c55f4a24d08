import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';

/** Reads a secret from its own file. Returns null when there is no such file. */
export function readSecretFile(path: string): string | null {
  const text = readPrivateFile(path)?.trim();
  if (text === undefined) return null;
  if (!/^[0-9a-f]{64}$/.test(text)) {
    throw new Error(`${path} is damaged: it must hold 64 hexadecimal digits; restore it from a backup`);
  }
  return text;
}

/**
 * Makes a secret of 256 random bits, as hexadecimal digits, in a file that only its owner may read.
 * It is on disk for good before this returns. When another process was quicker, its secret is
 * returned.
 */
export function createSecretFile(path: string): string {
  createPrivateFile(path, `${randomBytes(32).toString('hex')}\n`);
  const stored = readSecretFile(path);
  if (stored === null) throw new Error(`${path} vanished while it was made`);
  return stored;
}

/** Reads a file's text. Returns null when there is no such file. */
export function readPrivateFile(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null;
    throw error;
  }
}

/**
 * Makes a file that only its owner may read, whole and on disk for good before this returns. False
 * where the name is taken: nothing is ever overwritten.
 */
export function createPrivateFile(path: string, text: string): boolean {
  mkdirSync(dirname(path), { recursive: true });
  const draft = writeDraft(path, text);
  let isNew = true;
  try {
    // Linking fails when the name is taken.
    linkSync(draft, path);
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
    isNew = false;
  } finally {
    unlinkSync(draft);
  }
  syncFolder(dirname(path));
  return isNew;
}

/**
 * Puts a new text in the place of a file's, at once and for good. `check` sees what arrived on disk
 * before the old text is given up; when it throws, nothing has changed.
 */
export async function replacePrivateFile(
  path: string,
  text: string,
  check: (arrived: string) => Promise<void>,
): Promise<void> {
  const draft = writeDraft(path, text);
  try {
    await check(readFileSync(draft, 'utf8'));
    renameSync(draft, path);
  } catch (error) {
    unlinkSync(draft);
    throw error;
  }
  syncFolder(dirname(path));
}

function writeDraft(path: string, text: string): string {
  const draft = `${path}.${process.pid}.draft`;
  const file = openSync(draft, 'w', 0o600);
  try {
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  return draft;
}

/** Makes the names in a folder durable on disk. */
export function syncFolder(path: string): void {
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

function hasCode(error: unknown, code: string): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === code;
}
