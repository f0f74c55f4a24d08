import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SharedSecret } from './chains/signer-proof.ts';
import type { Config } from './config.ts';
import { createSecretFile, readSecretFile } from './secret-file.ts';

/**
 * The secret that a signer and its gateways share: SIGNER_SECRET, or the file that SIGNER_SECRET_FILE names, or
 * signer-secret in DATA_DIR, which whoever starts first makes.
 */
export function signerSecret({
  SIGNER_SECRET,
  SIGNER_SECRET_FILE,
  DATA_DIR,
}: Pick<Config, 'SIGNER_SECRET' | 'SIGNER_SECRET_FILE' | 'DATA_DIR'>): SharedSecret {
  const own = join(DATA_DIR, 'signer-secret');
  const digits = SIGNER_SECRET ?? named(SIGNER_SECRET_FILE) ?? readSecretFile(own) ?? createSecretFile(own);
  return new SharedSecret(Buffer.from(digits, 'hex'));
}

function named(path: string | null): string | null {
  if (path === null) return null;
  const text = readFileSync(path, 'utf8').trim();
  if (!/^[0-9a-f]{64}$/.test(text)) throw new Error(`${path} (SIGNER_SECRET_FILE) must hold 64 hexadecimal digits`);
  return text;
}
