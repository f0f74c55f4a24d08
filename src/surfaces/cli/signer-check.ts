import type { MikroORM } from '@mikro-orm/postgresql';
import { isAddressOf } from '../../app/open-chains.ts';
import { schemaState } from '../../base/db/database.ts';
import { DepositAccount } from '../../chains/addresses/deposit-account.entity.ts';
import { knownHotWallet } from '../../chains/addresses/hot-wallet.ts';
import type { NetworkConfig } from '../../chains/families/families.ts';
import { SignerError } from '../../chains/port/signer.ts';
import type { Config } from '../../config/settings.ts';
import { chainCoins } from '../../market/currencies/chain-coins.ts';
import { limitsDigest } from '../../signer/limits.ts';
import { liveLimits } from '../../signer/live-limits.ts';
import { knownSignerSecret } from '../../signer/secret.ts';
import { SocketSigner } from '../../signer/socket-signer.ts';
import type { Fields } from './output.ts';

/**
 * Checks the signer as a worker would. The signer must answer and know the secret, its keys must be
 * the database's, and it must sign for these networks within the limits of this NETWORKS_FILE. Null
 * for an api process, which uses no signer.
 */
export async function checkSigner(
  config: Config,
  orm: MikroORM,
  networks: readonly NetworkConfig[],
): Promise<Fields | null> {
  const { ROLE, SIGNER_SOCKET: socketPath } = config;
  if (ROLE === 'api') return null;
  const found = { signer: socketPath, fingerprint: null, signs_for: null, problem: null };
  if (socketPath === null) {
    return { ...found, problem: 'SIGNER_SOCKET is not set; a good value: /run/gateway/signer.sock' };
  }
  const secret = knownSignerSecret(config);
  if (secret === null) {
    const problem = `no secret of the signer is here: set SIGNER_SECRET_FILE to the signer's, or give both the DATA_DIR that holds signer-secret`;
    return { ...found, problem };
  }
  const signer = new SocketSigner({ socketPath, secret });
  try {
    const fingerprint = await signer.fingerprint();
    const isEmpty = (await schemaState(orm)) === 'empty';
    const problems = isEmpty ? [] : await otherKeys(orm, fingerprint);
    const signsFor: string[] = [];
    for (const network of networks) {
      const faults = await chainFaults(signer, network, isEmpty ? null : orm);
      if (faults.length === 0) signsFor.push(network.chain);
      problems.push(...faults);
    }
    return { ...found, fingerprint, signs_for: signsFor, problem: problems.join('; ') || null };
  } catch (error) {
    if (!(error instanceof SignerError)) throw error;
    return { ...found, problem: error.message };
  }
}

async function otherKeys(orm: MikroORM, fingerprint: string): Promise<string[]> {
  const [account] = await orm.em.fork().find(DepositAccount, {}, { limit: 1 });
  if (!account || account.signer === fingerprint) return [];
  return [`this database belongs to signer ${account.signer}: use its signer-seed`];
}

/** @param orm Null before a first start. */
async function chainFaults(signer: SocketSigner, network: NetworkConfig, orm: MikroORM | null): Promise<string[]> {
  const { chain } = network;
  const digest = await signer.limitsDigest(chain);
  if (digest === null) return [`it does not sign for ${chain}: start it with the same NETWORKS_FILE`];
  const faults: string[] = [];
  if (digest !== limitsDigest(liveLimits(network, chainCoins(chain)))) {
    faults.push(`its limits of ${chain} are not those of NETWORKS_FILE here: give both the same file and restart it`);
  }
  const address = await signer.hotWallet(chain);
  const known = orm && (await knownHotWallet(orm.em.fork(), chain));
  if (!isAddressOf(network, address)) {
    faults.push(`its hot wallet of ${chain} is no address there: start it with the same NETWORKS_FILE`);
  } else if (known !== null && address !== known) {
    faults.push(`its hot wallet of ${chain} is ${address}, and this database pays from ${known}`);
  }
  return faults;
}
