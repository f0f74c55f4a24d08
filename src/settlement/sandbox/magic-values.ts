import { ed25519 } from '@noble/curves/ed25519.js';
import { ripemd160 } from '@noble/hashes/legacy.js';
import { type Big, floorTo, formatDecimal } from '../../base/money.ts';
import { encodeAlgorand } from '../../chains/addresses/algorand.ts';
import { encodeBase58check } from '../../chains/addresses/base58check.ts';
import { encodeCashaddr } from '../../chains/addresses/bitcoin-cash.ts';
import { encodeKeyHash } from '../../chains/addresses/bitcoin-like.ts';
import { encodeCardanoEnterprise } from '../../chains/addresses/cardano.ts';
import { encodeCosmos } from '../../chains/addresses/cosmos.ts';
import { encodeEvm } from '../../chains/addresses/evm.ts';
import { sha256 } from '../../chains/addresses/hashes.ts';
import { encodeMonero } from '../../chains/addresses/monero.ts';
import { encodePolkadot } from '../../chains/addresses/polkadot.ts';
import { encodeRippleClassic } from '../../chains/addresses/ripple.ts';
import { encodeSolana } from '../../chains/addresses/solana.ts';
import { encodeStellarAccount } from '../../chains/addresses/stellar.ts';
import { encodeTezos } from '../../chains/addresses/tezos.ts';
import { encodeTon } from '../../chains/addresses/ton.ts';
import { encodeTron } from '../../chains/addresses/tron.ts';
import { type AddressFamily, allNetworks, networkById } from '../../chains/networks/networks.ts';
import { type ForcedOutcome, forcedOutcomes } from './partner-sandbox.ts';

/** The outcomes that have recipient addresses. */
export type MagicOutcome = Exclude<ForcedOutcome, 'none'>;
export const magicOutcomes = forcedOutcomes.filter((outcome): outcome is MagicOutcome => outcome !== 'none');

/** How the sandbox itself deposits for an order. */
export interface MagicDeposit {
  readonly name: 'exact' | 'under' | 'over' | 'late' | 'twice';
  /** What one deposit is of the agreed amount. */
  readonly share: '0.5' | '1' | '1.5';
  readonly count: 1 | 2;
  /** Whether the order expires first. */
  readonly isLate: boolean;
}

/** By the last five digits of `amount_from` after the decimal point. */
export const magicDeposits: Readonly<Record<string, MagicDeposit>> = {
  '91001': { name: 'exact', share: '1', count: 1, isLate: false },
  '91002': { name: 'under', share: '0.5', count: 1, isLate: false },
  '91003': { name: 'over', share: '1.5', count: 1, isLate: false },
  '91004': { name: 'late', share: '1', count: 1, isLate: true },
  '91005': { name: 'twice', share: '1', count: 2, isLate: false },
};

/** Null for an amount that asks for nothing. */
export function magicDeposit(amountFrom: Big): MagicDeposit | null {
  const [, digits = ''] = formatDecimal(amountFrom).split('.');
  return magicDeposits[digits.slice(-5)] ?? null;
}

/** The amount of one deposit, in the decimals of the coin. */
export function magicAmount({ share }: MagicDeposit, amountFrom: Big, decimals: number): Big {
  return floorTo(amountFrom.times(share), decimals);
}

/**
 * The recipient address that asks for an outcome on a network. It is made of the SHA-256 of
 * `sandbox <outcome>`, as its key's hash, its public key or the seed of its Ed25519 key. There is
 * no need to own it, as the coins of a sandbox exist in its database only.
 */
export function magicAddress(networkId: string, outcome: MagicOutcome): string {
  const network = networkById(networkId);
  if (!network) throw new Error(`there is no network ${networkId}`);
  return encoders[network.family](sha256(Buffer.from(`sandbox ${outcome}`)));
}

let outcomesByAddress: ReadonlyMap<string, MagicOutcome> | null = null;

/** The outcome that a recipient address asks for; null for any other address. */
export function magicOutcome(networkId: string, recipientAddress: string): MagicOutcome | null {
  outcomesByAddress ??= new Map(
    allNetworks().flatMap(({ id }) =>
      magicOutcomes.map((outcome) => [`${id} ${magicAddress(id, outcome)}`, outcome] as const),
    ),
  );
  return outcomesByAddress.get(`${networkId} ${recipientAddress}`) ?? null;
}

type Encode = (seed: Uint8Array) => string;

const ofKeyHash =
  (encode: (keyHash: Uint8Array) => string): Encode =>
  (seed) =>
    encode(ripemd160(seed));
const ofPoint =
  (encode: (point: Uint8Array) => string): Encode =>
  (seed) =>
    encode(Buffer.concat([seed, seed]));
const ofEd25519 =
  (encode: (publicKey: Uint8Array) => string): Encode =>
  (seed) =>
    encode(ed25519.getPublicKey(seed));

/** Every family, so that a new one cannot be left out. */
const encoders: Readonly<Record<AddressFamily, Encode>> = {
  bitcoin: ofKeyHash((keyHash) => encodeKeyHash('bitcoin', keyHash)),
  litecoin: ofKeyHash((keyHash) => encodeKeyHash('litecoin', keyHash)),
  dogecoin: ofKeyHash((keyHash) => encodeKeyHash('dogecoin', keyHash)),
  'bitcoin-cash': ofKeyHash(encodeCashaddr),
  dash: ofKeyHash((keyHash) => encodeBase58check([0x4c], keyHash)),
  zcash: ofKeyHash((keyHash) => encodeBase58check([0x1c, 0xb8], keyHash)),
  ripple: ofKeyHash(encodeRippleClassic),
  cosmos: ofKeyHash(encodeCosmos),
  evm: ofPoint(encodeEvm),
  tron: ofPoint(encodeTron),
  ton: (seed) => encodeTon(0, seed),
  stellar: ofEd25519(encodeStellarAccount),
  cardano: ofEd25519(encodeCardanoEnterprise),
  monero: ofEd25519((key) => encodeMonero(18, key, key)),
  polkadot: ofEd25519(encodePolkadot),
  algorand: ofEd25519(encodeAlgorand),
  tezos: ofEd25519(encodeTezos),
  solana: ofEd25519(encodeSolana),
};
