import { randomBytes } from 'node:crypto';
import { liveSigning, openNetworks } from '../../../src/app/open-networks.ts';
import type { Clock } from '../../../src/base/clock.ts';
import { createLog } from '../../../src/base/log.ts';
import { type LocalSigner, openLocalSigner } from '../../../src/signer/local-signer.ts';
import { signerSecret } from '../../../src/signer/secret.ts';
import { type SignerServer, serveSigner } from '../../../src/signer/server.ts';
import { SignerKeys } from '../../../src/signer/signer-keys.ts';
import { testConfig } from './settings.ts';

/** The signer of a test: of this process, behind a socket as in life. */
export class TestSigner {
  readonly #environment: Readonly<Record<string, string>>;
  readonly #clock: Clock | undefined;
  readonly #entropy = randomBytes(32);
  /** What a person has who restores the phrase in a wallet. */
  readonly keys = new SignerKeys(this.#entropy);
  #parts: { readonly signer: LocalSigner; readonly server: SignerServer } | null = null;

  /** @param clock Decides which attempts are dead; the time of this machine unless given. */
  constructor(environment: Readonly<Record<string, string>>, clock?: Clock) {
    this.#environment = environment;
    this.#clock = clock;
  }

  async start(): Promise<void> {
    const config = testConfig(this.#environment);
    const live = await liveSigning(await openNetworks(config));
    const clock = this.#clock ? { clock: this.#clock } : {};
    const signer = await openLocalSigner({ entropy: this.#entropy, dataDir: config.DATA_DIR, ...live, ...clock });
    const socketPath = config.SIGNER_SOCKET ?? '';
    const server = await serveSigner({ signer, socketPath, secret: signerSecret(config), log: createLog('silent') });
    this.#parts = { signer, server };
  }

  async stop(): Promise<void> {
    const parts = this.#parts;
    this.#parts = null;
    await parts?.server.close();
    await parts?.signer.close();
  }
}
