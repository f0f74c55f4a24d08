import { createRequire } from 'node:module';

type LitesvmModule = typeof import('litesvm');

/**
 * The virtual machine of Solana, or null where npm did not install its binary. There is one for
 * Linux and macOS, on x64 and arm64.
 */
export function findLitesvm(): LitesvmModule | null {
  try {
    return createRequire(import.meta.url)('litesvm') as LitesvmModule;
  } catch (error) {
    if (process.env.CI_LITESVM === 'required') throw error;
    return null;
  }
}

/** Why tests do not run where there is none. */
export const withoutLitesvm = `litesvm is not installed for ${process.platform} on ${process.arch}`;
