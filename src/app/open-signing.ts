import type { MikroORM } from '@mikro-orm/postgresql';
import { createSecretFile } from '../base/secret-file.ts';
import { DepositAccount } from '../chains/addresses/deposit-account.entity.ts';
import type { LiveNetworks } from '../chains/families/live-networks.ts';
import { type Signer, SignerError } from '../chains/port/signer.ts';
import type { Config } from '../config/settings.ts';
import { DepositPool } from '../signer/address-pool.ts';
import type { DepositKeys } from '../signer/deposit-keys.ts';
import { openLocalSigner } from '../signer/local-signer.ts';
import { signerSecret } from '../signer/secret.ts';
import { readSeed, seedPath } from '../signer/seed.ts';
import { SocketSigner } from '../signer/socket-signer.ts';
import type { Foundation } from './foundation.ts';
import { StartError } from './start-error.ts';

export interface SigningParts {
  readonly orm: MikroORM;
  readonly networks: LiveNetworks;
}

/** The services of a process that may sign. */
export interface Signing {
  readonly signer: Signer;
  /**
   * Makes deposit addresses ahead of time, for networks without public derivation, now and while
   * the gateway runs.
   */
  fillPools(): Promise<void>;
}

/**
 * The signer: a separate process, or the seed of this one. With a separate process no seed is
 * read or made here. Null when neither is there, so that this process leaves chains and pools to
 * others.
 */
export async function openSigning(
  foundation: Foundation,
  parts: SigningParts,
  stored: Buffer | null,
): Promise<Signing | null> {
  const { config } = foundation;
  if (config.SIGNER_SOCKET !== null) return openSocketSigning(foundation, parts, config.SIGNER_SOCKET);
  const seed = stored ?? (await firstSeed(foundation, parts));
  if (seed === null) return null;
  const signer = await openLocalSigner({
    entropy: seed,
    dataDir: config.DATA_DIR,
    clock: foundation.clock,
    sandboxRules: config.SANDBOX_RULES,
  });
  seed.fill(0);
  const pool = depositPool(foundation, parts, signer);
  await pool.provision();
  return { signer, fillPools: () => fillPools(foundation, pool, () => signer.close()) };
}

async function openSocketSigning(foundation: Foundation, parts: SigningParts, socketPath: string): Promise<Signing> {
  const { config } = foundation;
  if (config.SIGNER_SEED !== null) {
    throw new StartError('a gateway with SIGNER_SOCKET holds no keys: give SIGNER_SEED to the signer only');
  }
  const signer = new SocketSigner({ socketPath, secret: signerSecret(config) });
  const pool = depositPool(foundation, parts, signer);
  try {
    await pool.provision();
  } catch (error) {
    if (!(error instanceof SignerError)) throw error;
    throw new StartError(error.message);
  }
  return { signer, fillPools: () => fillPools(foundation, pool, () => {}) };
}

/** @param close closes the signer, once no more addresses are made. */
async function fillPools({ closing, onProgress }: Foundation, pool: DepositPool, close: () => unknown): Promise<void> {
  closing.add(close);
  const made = await pool.open();
  if (made > 0) onProgress(`made ${made} deposit addresses for networks without public derivation`);
  pool.start();
  closing.add(() => pool.stop());
}

/** Makes addresses ahead for networks that are on. */
function depositPool(
  { databaseUrl, clock, log }: Foundation,
  { orm, networks }: SigningParts,
  keys: DepositKeys,
): DepositPool {
  return new DepositPool({
    orm,
    url: databaseUrl,
    keys,
    clock,
    log,
    isServed: (chain) => networks.state(chain) !== 'off',
  });
}

/** @throws StartError when the seed exists and cannot be opened. */
export async function openSeed(config: Config): Promise<Buffer | null> {
  try {
    return await readSeed(config);
  } catch (error) {
    throw new StartError(error instanceof Error ? error.message : 'the signer seed cannot be read');
  }
}

/** Makes the seed when the database has no deposit accounts yet, and never later. */
async function firstSeed(
  { config, embedded, log, onProgress }: Foundation,
  { orm }: SigningParts,
): Promise<Buffer | null> {
  const path = seedPath(config.DATA_DIR);
  // Another process of this folder may have made it meanwhile.
  const stored = await openSeed(config);
  if (stored !== null) return stored;
  if ((await orm.em.fork().count(DepositAccount)) === 0) {
    const made = Buffer.from(createSecretFile(path), 'hex');
    onProgress(`made the signer's keys in ${path}; back this file up, it controls all deposits`);
    return made;
  }
  if (embedded) {
    throw new StartError(
      `the signer seed of this database is missing, and without it no deposit can ever be spent: restore ${path} from a backup`,
    );
  }
  log.warn(
    { event: 'signer_elsewhere' },
    'the signer seed of this database is not in DATA_DIR and SIGNER_SOCKET is not set; another process must fill the address pools, watch the chains and make the payments',
  );
  return null;
}
