/** A network of a coin: the main network, the public test network, or a private one. */
export type UtxoNet = 'main' | 'test' | 'regtest';

/** The value below which an output is dust. Nodes relay no transaction with a dust output. */
interface DustRule {
  /** The assumed cost of spending an output, in the smallest unit for 1,000 virtual bytes. */
  readonly rate: bigint;
  /** The least value of an output, in any form. */
  readonly least: bigint;
}

/** The differences between Bitcoin-like chains. */
export interface UtxoParams {
  /** Human-readable part of segwit addresses (BIP173); null for a coin without them. */
  readonly bech32: string | null;
  readonly pubKeyHash: number;
  readonly scriptHash: number;
  /** Version of private keys in Wallet Import Format; the library requires it. */
  readonly wif: number;
  /** Hash of block 0. */
  readonly genesis: string;
  readonly dust: DustRule;
}

type Versions = readonly [pubKeyHash: number, scriptHash: number, wif: number];

function params(bech32: string | null, versions: Versions, genesis: string): Omit<UtxoParams, 'dust'> {
  const [pubKeyHash, scriptHash, wif] = versions;
  return { bech32, pubKeyHash, scriptHash, wif, genesis };
}

/** From the chainparams.cpp of each project. */
const table: Readonly<Record<string, Readonly<Record<UtxoNet, Omit<UtxoParams, 'dust'>>>>> = {
  bitcoin: {
    main: params('bc', [0x00, 0x05, 0x80], '000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f'),
    test: params('tb', [0x6f, 0xc4, 0xef], '000000000933ea01ad0ee984209779baaec3ced90fa3f408719526f8d77f4943'),
    regtest: params('bcrt', [0x6f, 0xc4, 0xef], '0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206'),
  },
  litecoin: {
    main: params('ltc', [0x30, 0x32, 0xb0], '12a765e31ffd4059bada1e25190f6e98c99d9714d334efa41a195a7e7e04bfe2'),
    test: params('tltc', [0x6f, 0x3a, 0xef], '4966625a4b2851d9fdee139e56211a0d88575f59ed816ff5e6a63deb4e3e29a0'),
    regtest: params('rltc', [0x6f, 0x3a, 0xef], '530827f38f93b43ed12af0b3ad25a288dc02ed74d6d7857862df51fc56c416f9'),
  },
  dogecoin: {
    main: params(null, [0x1e, 0x16, 0x9e], '1a91e3dace36e2be3bf030a65679fe821aa1d6ef92e7c9902eb318182c355691'),
    test: params(null, [0x71, 0xc4, 0xf1], 'bb0a78264637406b6360aad926284d544d7049f45189db5664f3c4d07350559e'),
    regtest: params(null, [0x6f, 0xc4, 0xef], '3d2160a3b5dc4a9d62e7e66a295f70313ac808440ef7400d6c0772171ce973a5'),
  },
};

/**
 * Bitcoin and Litecoin: DUST_RELAY_TX_FEE of each project's policy.h. Dogecoin has two bounds, and
 * an output between them costs an extra fee. So the upper one is taken, 0.01 DOGE since version
 * 1.14.5 (doc/fee-recommendation.md of the project).
 */
const dust: Readonly<Record<string, DustRule>> = {
  bitcoin: { rate: 3_000n, least: 0n },
  litecoin: { rate: 30_000n, least: 0n },
  dogecoin: { rate: 0n, least: 1_000_000n },
};

/** The chains that the adapter for Bitcoin-like networks serves. */
export const utxoChains: readonly string[] = Object.keys(table);

/** @throws Error for a chain that is not Bitcoin-like. */
export function utxoParams(chain: string, net: UtxoNet): UtxoParams {
  const [found, rule] = [table[chain]?.[net], dust[chain]];
  if (!found || !rule) throw new Error(`${chain} is not a Bitcoin-like chain`);
  return { ...found, dust: rule };
}
