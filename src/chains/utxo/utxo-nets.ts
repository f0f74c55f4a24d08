import { type UtxoNet, utxoChains } from './utxo-params.ts';

/** Null until it is decided; then it stays for the life of the process. */
let chosen: ReadonlyMap<string, UtxoNet> | null = null;

/**
 * Decides, once for the whole process, in which form the addresses of Bitcoin-like chains are read and written: `main`
 * for chains that are not named. A setting of the process and not an argument, because an address is checked, shown and
 * derived in dozens of places that know nothing of settings, and one of them left on another form would send coins
 * where nobody can take them. For the same reason it never changes: what was checked under one form would be paid
 * under another.
 *
 * @throws Error when it was decided otherwise before.
 */
export function useUtxoNets(nets: ReadonlyMap<string, UtxoNet>): void {
  const named = [...nets.keys()].find((chain) => !utxoChains.includes(chain));
  if (named !== undefined) throw new Error(`${named} is no Bitcoin-like chain`);
  if (chosen !== null) {
    const changed = utxoChains.find((chain) => utxoNet(chain) !== (nets.get(chain) ?? 'main'));
    if (changed !== undefined) throw new Error(`this process reads addresses of ${changed} on ${utxoNet(changed)}`);
  }
  chosen = new Map(nets);
}

/** Which of a Bitcoin-like chain's networks this process works on. */
export function utxoNet(chain: string): UtxoNet {
  return chosen?.get(chain) ?? 'main';
}
