import { type UtxoNet, utxoChains } from './utxo-params.ts';

/** Null until it is decided; then it stays for the life of the process. */
let chosen: ReadonlyMap<string, UtxoNet> | null = null;

/**
 * Decides, once for the whole process, the form in which addresses of Bitcoin-like chains are read
 * and written. Chains that are not named use `main`. It is a setting of the process and not an
 * argument, because dozens of places check, show and derive addresses and know no settings. One
 * place with another form would send coins to an address without a key. It never changes, because
 * an address that was checked under one form would be paid under another.
 *
 * @throws Error when it was decided otherwise before.
 */
export function useUtxoNets(nets: ReadonlyMap<string, UtxoNet>): void {
  const named = [...nets.keys()].find((chain) => !utxoChains.includes(chain));
  if (named !== undefined) throw new Error(`${named} is not a Bitcoin-like chain`);
  if (chosen !== null) {
    const changed = utxoChains.find((chain) => utxoNet(chain) !== (nets.get(chain) ?? 'main'));
    if (changed !== undefined) throw new Error(`this process reads addresses of ${changed} on ${utxoNet(changed)}`);
  }
  chosen = new Map(nets);
}

/**
 * Leaves it undecided again: for the test runner, in whose processes many gateways live one after
 * another.
 */
export function forgetUtxoNets(): void {
  chosen = null;
}

/** The network of a Bitcoin-like chain that this process works on. */
export function utxoNet(chain: string): UtxoNet {
  return chosen?.get(chain) ?? 'main';
}

/** The networks of all Bitcoin-like chains in this process, for `useUtxoNets` of a thread of it. */
export function utxoNets(): ReadonlyMap<string, UtxoNet> {
  return new Map(utxoChains.map((chain) => [chain, utxoNet(chain)]));
}
