import { xdr } from '@stellar/stellar-base';
import { type AssetText, assetXdr, native } from './assets.ts';
import { accountIdXdr, int64, muxedXdr } from './keys.ts';

/** Acts for another account than that of the transaction. */
type Source = string | undefined;

function operation(body: xdr.OperationBody, source: Source): xdr.Operation {
  return new xdr.Operation({ sourceAccount: source === undefined ? null : muxedXdr(source), body });
}

/** Operations without any check, with amounts in stroops. Destinations may be muxed. */
export const operations = {
  payment(to: string, amount: bigint, asset: AssetText = native, source?: Source): xdr.Operation {
    const op = new xdr.PaymentOp({ destination: muxedXdr(to), asset: assetXdr(asset), amount: int64(amount) });
    return operation(xdr.OperationBody.payment(op), source);
  },

  createAccount(to: string, amount: bigint, source?: Source): xdr.Operation {
    const op = new xdr.CreateAccountOp({ destination: accountIdXdr(to), startingBalance: int64(amount) });
    return operation(xdr.OperationBody.createAccount(op), source);
  },

  /** A limit of 0 removes the line. */
  changeTrust(asset: AssetText, limit = 2n ** 63n - 1n, source?: Source): xdr.Operation {
    const line = xdr.ChangeTrustAsset.fromXDR(assetXdr(asset).toXDR());
    return operation(xdr.OperationBody.changeTrust(new xdr.ChangeTrustOp({ line, limit: int64(limit) })), source);
  },

  /** Null deletes the entry. */
  manageData(name: string, value: Uint8Array | null, source?: Source): xdr.Operation {
    const op = new xdr.ManageDataOp({ dataName: name, dataValue: value && Buffer.from(value) });
    return operation(xdr.OperationBody.manageData(op), source);
  },

  pathPaymentStrictSend(
    to: string,
    sent: { readonly asset: AssetText; readonly amount: bigint },
    arrived: { readonly asset: AssetText; readonly min: bigint },
    source?: Source,
  ): xdr.Operation {
    const op = new xdr.PathPaymentStrictSendOp({
      sendAsset: assetXdr(sent.asset),
      sendAmount: int64(sent.amount),
      destination: muxedXdr(to),
      destAsset: assetXdr(arrived.asset),
      destMin: int64(arrived.min),
      path: [],
    });
    return operation(xdr.OperationBody.pathPaymentStrictSend(op), source);
  },

  pathPaymentStrictReceive(
    to: string,
    sent: { readonly asset: AssetText; readonly max: bigint },
    arrived: { readonly asset: AssetText; readonly amount: bigint },
    source?: Source,
  ): xdr.Operation {
    const op = new xdr.PathPaymentStrictReceiveOp({
      sendAsset: assetXdr(sent.asset),
      sendMax: int64(sent.max),
      destination: muxedXdr(to),
      destAsset: assetXdr(arrived.asset),
      destAmount: int64(arrived.amount),
      path: [],
    });
    return operation(xdr.OperationBody.pathPaymentStrictReceive(op), source);
  },

  accountMerge(to: string, source?: Source): xdr.Operation {
    return operation(xdr.OperationBody.accountMerge(muxedXdr(to)), source);
  },

  createClaimableBalance(
    claimants: readonly string[],
    amount: bigint,
    asset: AssetText = native,
    source?: Source,
  ): xdr.Operation {
    const predicate = xdr.ClaimPredicate.claimPredicateUnconditional();
    const op = new xdr.CreateClaimableBalanceOp({
      asset: assetXdr(asset),
      amount: int64(amount),
      claimants: claimants.map((address) =>
        xdr.Claimant.claimantTypeV0(new xdr.ClaimantV0({ destination: accountIdXdr(address), predicate })),
      ),
    });
    return operation(xdr.OperationBody.createClaimableBalance(op), source);
  },

  /** The weight of the master key is the first of the thresholds. */
  setOptions(
    changes: {
      readonly setFlags?: number;
      readonly clearFlags?: number;
      readonly homeDomain?: string;
      readonly thresholds?: readonly [number, number, number, number];
      readonly signer?: { readonly address: string; readonly weight: number };
    },
    source?: Source,
  ): xdr.Operation {
    const { setFlags = null, clearFlags = null, homeDomain = null, thresholds = [], signer } = changes;
    const [masterWeight = null, lowThreshold = null, medThreshold = null, highThreshold = null] = thresholds;
    const key = signer && xdr.SignerKey.signerKeyTypeEd25519(accountIdXdr(signer.address).ed25519());
    const op = new xdr.SetOptionsOp({
      inflationDest: null,
      ...{ clearFlags, setFlags, masterWeight, lowThreshold, medThreshold, highThreshold, homeDomain },
      signer: signer && key ? new xdr.Signer({ key, weight: signer.weight }) : null,
    });
    return operation(xdr.OperationBody.setOptions(op), source);
  },

  bumpSequence(bumpTo: bigint, source?: Source): xdr.Operation {
    return operation(xdr.OperationBody.bumpSequence(new xdr.BumpSequenceOp({ bumpTo: int64(bumpTo) })), source);
  },
};
