import { parentPort, workerData } from 'node:worker_threads';
import { useUtxoNets } from '../networks/utxo-nets.ts';
import type { Account, Derivation, DerivedAddresses } from './address-stock.ts';
import { deriveDepositKey } from './deposit-address.ts';

// The forms of addresses are decided for a process, and a thread does not share its variables.
useUtxoNets(workerData);

/** The program of the thread that derives deposit addresses. Only public keys pass through it. */
parentPort?.on('message', async ({ account, from, to }: Derivation) => {
  const addresses: DerivedAddresses['addresses'] = [];
  for (let index = from; index < to; index++) {
    const address = await derived(account, index);
    if (address) addresses.push({ index, ...address });
  }
  parentPort?.postMessage({ account, addresses } satisfies DerivedAddresses);
});

/** Null where the index has no address. The request that meets such an index gets the error. */
async function derived({ networkId, xpub }: Account, index: number) {
  try {
    return await deriveDepositKey(networkId, xpub, index);
  } catch {
    return null;
  }
}
