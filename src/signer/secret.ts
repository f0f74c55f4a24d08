import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSecretFile, readSecretFile } from '../base/secret-file.ts';
import type { Config } from '../config/settings.ts';
import { SharedSecret } from './proof.ts';

type SecretSettings = Pick<Config, 'SIGNER_SECRET' | 'SIGNER_SECRET_FILE' | 'DATA_DIR'>;

/**
 * The secret that a signer and its gateways share: SIGNER_SECRET, the file that SIGNER_SECRET_FILE
 * names, or signer-secret in DATA_DIR. The process that starts first makes the last one.
 */
export function signerSecret(config: SecretSettings): SharedSecret {
  return knownSignerSecret(config) ?? sharedSecret(createSecretFile(ownFile(config)), ownFile(config));
}

/** The same secret without making one; null when there is none yet. */
export function knownSignerSecret(config: SecretSettings): SharedSecret | null {
  const { SIGNER_SECRET, SIGNER_SECRET_FILE } = config;
  if (SIGNER_SECRET !== null) return sharedSecret(SIGNER_SECRET, 'SIGNER_SECRET');
  if (SIGNER_SECRET_FILE !== null) {
    return sharedSecret(named(SIGNER_SECRET_FILE), `${SIGNER_SECRET_FILE} (SIGNER_SECRET_FILE)`);
  }
  const digits = readSecretFile(ownFile(config));
  return digits === null ? null : sharedSecret(digits, ownFile(config));
}

function sharedSecret(digits: string, origin: string): SharedSecret {
  return new SharedSecret(Buffer.from(digits, 'hex'), origin);
}

function ownFile({ DATA_DIR }: SecretSettings): string {
  return join(DATA_DIR, 'signer-secret');
}

function named(path: string): string {
  const text = readFileSync(path, 'utf8').trim();
  if (!/^[0-9a-f]{64}$/.test(text)) throw new Error(`${path} (SIGNER_SECRET_FILE) must hold 64 hexadecimal digits`);
  return text;
}
