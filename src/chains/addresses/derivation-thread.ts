import { parentPort } from 'node:worker_threads';
import type { Account, Derivation, DerivedAddresses } from './address-stock.ts';
import { deriveDepositKey } from './deposit-address.ts';

/** The program of the thread that derives deposit addresses. Only public keys pass through it. */
parentPort?.on('message', async ({ account, from, to }: Derivation) => {
  const addresses: DerivedAddresses['addresses'] = [];
  for (let index = from; index < to; index++) {
    const address = await derived(account, index);
    if (address) addresses.push({ index, ...address });
  }
  parentPort?.postMessage({ keychain: account.keychain, addresses } satisfies DerivedAddresses);
});

/** Null where the index has no address. The request that meets such an index gets the error. */
async function derived({ networkId, xpub }: Account, index: number) {
  try {
    return await deriveDepositKey(networkId, xpub, index);
  } catch {
    return null;
  }
}
