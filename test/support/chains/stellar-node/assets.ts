import { Asset, StrKey, xdr } from '@stellar/stellar-base';
import { accountIdText } from './keys.ts';

/** `native`, or a code and an issuer as SEP-11 writes them: `USDC:GA5Z…`. */
export type AssetText = string;

export const native: AssetText = 'native';

/** @throws Error when the text is no asset. */
export function parsed(asset: AssetText): Asset {
  const [code = '', issuer] = asset.split(':');
  return asset === native ? Asset.native() : new Asset(code, issuer);
}

/** The account that issues an asset; null for the native one. */
export function issuerOf(asset: AssetText): string | null {
  return asset === native ? null : (asset.split(':')[1] ?? null);
}

export function assetXdr(asset: AssetText): xdr.Asset {
  return parsed(asset).toXDRObject();
}

export function trustAssetXdr(asset: AssetText): xdr.TrustLineAsset {
  return xdr.TrustLineAsset.fromXDR(assetXdr(asset).toXDR());
}

/** The text of an asset; null for a share of a pool, which is not simulated. */
export function assetText(asset: xdr.Asset | xdr.TrustLineAsset | xdr.ChangeTrustAsset): AssetText | null {
  switch (asset.switch().name) {
    case 'assetTypeNative':
      return native;
    case 'assetTypeCreditAlphanum4':
      return creditText(asset.alphaNum4());
    case 'assetTypeCreditAlphanum12':
      return creditText(asset.alphaNum12());
    default:
      return null;
  }
}

function creditText(credit: xdr.AlphaNum4 | xdr.AlphaNum12): AssetText {
  const code = credit.assetCode().toString('latin1').replace(/\0+$/, '');
  return `${code}:${accountIdText(credit.issuer())}`;
}

/** The contract that speaks for an asset. https://stellar.org/protocol/cap-46-06 */
export function contractOf(asset: AssetText, passphrase: string): Buffer {
  return StrKey.decodeContract(parsed(asset).contractId(passphrase));
}
