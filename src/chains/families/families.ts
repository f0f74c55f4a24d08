import type { ChainFamily } from '../chain-family.ts';
import { evmFamily } from '../evm/evm-family.ts';
import { moneroFamily } from '../monero/monero-family.ts';
import { solanaFamily } from '../solana/solana-family.ts';
import { stellarFamily } from '../stellar/stellar-family.ts';
import { tonFamily } from '../ton/ton-family.ts';
import { tronFamily } from '../tron/tron-family.ts';
import { utxoFamily } from '../utxo/utxo-family.ts';
import { xrpFamily } from '../xrp/xrp-family.ts';

/** The table of families: one row each. No other file outside a family's folder names it. */
const rows = [
  evmFamily,
  utxoFamily,
  tronFamily,
  xrpFamily,
  stellarFamily,
  solanaFamily,
  tonFamily,
  moneroFamily,
] as const;

type NetworkOf<Row> = Row extends ChainFamily<infer Network> ? Network : never;

/** The settings of a live network, of any family. */
export type NetworkConfig = NetworkOf<(typeof rows)[number]>;

export const families: readonly ChainFamily<NetworkConfig>[] = rows;

/** @throws Error for a kind without a row, which no file of networks can name. */
export function familyOf({ kind }: Pick<NetworkConfig, 'kind'>): ChainFamily<NetworkConfig> {
  const found = families.find((family) => family.kind === kind);
  if (!found) throw new Error(`${kind} is no family of chains`);
  return found;
}

/** Decides, for all families, the form in which the process reads and writes addresses. */
export function useAddressForms(networks: readonly NetworkConfig[]): void {
  for (const family of families) family.useAddressForms(networks.filter(({ kind }) => kind === family.kind));
}
