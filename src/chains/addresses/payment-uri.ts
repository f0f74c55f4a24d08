import { formatDecimal, toUnits } from '../../base/money.ts';
import { mainChainId } from '../networks/caip.ts';
import { type AddressFamily, networkById } from '../networks/networks.ts';

/** A payment that a wallet is asked to make. */
export interface PaymentRequest {
  readonly coin: string;
  readonly network: string;
  /** Contract, mint or issuer of a token; null for the network's own coin. */
  readonly contract: string | null;
  readonly decimals: number;
  /** CAIP-2 name of the chain. The built-in chains of a sandbox stand for their main networks. */
  readonly chainId: string;
  readonly address: string;
  /** The text that must go with the payment. Null without one. */
  readonly tag: string | null;
  /** Plain decimal text in the coin's units. */
  readonly amount: string;
}

/**
 * The URI by which a wallet fills in a payment. It is the bare address where the network has no
 * scheme that wallets share: the tag then has to be shown next to it.
 * - Chains like Bitcoin: https://github.com/bitcoin/bips/blob/master/bip-0021.mediawiki and, for
 *   Zcash, https://zips.z.cash/zip-0321
 * - EVM chains: https://eips.ethereum.org/EIPS/eip-681
 * - Solana: https://docs.solanapay.com/spec
 * - Stellar: https://github.com/stellar/stellar-protocol/blob/master/ecosystem/sep-0007.md
 *
 * @throws Error for an unknown network, or an amount that is finer than the coin.
 */
export function paymentUri(request: PaymentRequest): string {
  const { network, address, amount, decimals } = request;
  const known = networkById(network);
  if (!known) throw new Error(`there is no network ${network}`);
  const units = toUnits(amount, decimals);
  const write = forms[known.family];
  return write ? write(request, { units, amount: formatDecimal(amount), chain: known.chain }) : address;
}

interface Exactly {
  /** The amount in units of the last decimal. */
  readonly units: bigint;
  /** The amount in the coin's units, without exponent. */
  readonly amount: string;
  readonly chain: string;
}

type Form = (request: PaymentRequest, exactly: Exactly) => string;

/** Addresses of Bitcoin Cash begin with the scheme already. */
const bip21 =
  (scheme: string): Form =>
  ({ address }, { amount }) =>
    `${address.startsWith(`${scheme}:`) ? '' : `${scheme}:`}${address}?amount=${amount}`;

const eip681: Form = ({ address, contract, chainId }, { units, chain }) => {
  const id = /^eip155:(\d+)$/.exec(chainId) ?? /^eip155:(\d+)$/.exec(mainChainId(chain));
  if (!id) throw new Error(`${chainId} is no EVM chain`);
  if (contract === null) return `ethereum:${address}@${id[1]}?value=${units}`;
  return `ethereum:${contract}@${id[1]}/transfer?address=${address}&uint256=${units}`;
};

const solanaPay: Form = ({ address, contract }, { amount }) =>
  `solana:${address}?amount=${amount}${contract === null ? '' : `&spl-token=${contract}`}`;

/** A number is sent as a memo id, as our tags and those of exchanges are. */
const sep7: Form = ({ address, coin, contract, tag }, { amount }) => {
  const asset = contract === null ? '' : `&asset_code=${encodeURIComponent(coin)}&asset_issuer=${contract}`;
  const type = tag !== null && /^\d+$/.test(tag) ? 'MEMO_ID' : 'MEMO_TEXT';
  const memo = tag === null ? '' : `&memo=${encodeURIComponent(tag)}&memo_type=${type}`;
  return `web+stellar:pay?destination=${address}&amount=${amount}${asset}${memo}`;
};

const forms: Readonly<Partial<Record<AddressFamily, Form>>> = {
  bitcoin: bip21('bitcoin'),
  litecoin: bip21('litecoin'),
  dogecoin: bip21('dogecoin'),
  'bitcoin-cash': bip21('bitcoincash'),
  dash: bip21('dash'),
  zcash: bip21('zcash'),
  evm: eip681,
  solana: solanaPay,
  stellar: sep7,
};
