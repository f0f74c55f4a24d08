import { isLoopback } from './parsers.ts';
import type { Config } from './settings.ts';

/**
 * Where browsers reach the partner cabinet; null where it is switched off. A gateway for one laptop
 * needs no setting: one with its own database that only this machine reaches.
 */
export function cabinetUrl(
  config: Pick<Config, 'CABINET_URL' | 'DATABASE_URL' | 'HOST' | 'PORT' | 'TLS_CERT_FILE'>,
): string | null {
  const { CABINET_URL, DATABASE_URL, HOST, PORT, TLS_CERT_FILE } = config;
  if (CABINET_URL !== null) return CABINET_URL;
  const isLaptop = DATABASE_URL === null && isLoopback(HOST) && PORT !== 0 && TLS_CERT_FILE === null;
  return isLaptop ? `http://localhost:${PORT}` : null;
}
