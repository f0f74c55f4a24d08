import { xdr } from '@stellar/stellar-base';
import { assetText, issuerOf } from './assets.ts';
import type { Site } from './balances.ts';
import { movementEvent } from './events.ts';
import { accountMerge, bumpSequence, changeTrust, createClaimableBalance, manageData, setOptions } from './holdings.ts';
import { accountIdText, accountIdXdr, fromMuxed, int64, noExtension } from './keys.ts';
import { createAccount, failure, type OpOutcome, payment, strictReceive, strictSend } from './payments.ts';
import { isSuccess, type Outcome, opResult } from './results.ts';
import { type StellarTransaction, sourceOf } from './transaction.ts';

/** What the operations of a transaction did. */
export interface Performance {
  readonly outcome: Outcome;
  readonly operations: readonly xdr.OperationMetaV2[];
}

/** Does by hand what no rule says, instead of one operation. */
export type Act = (site: Site) => OpOutcome;

/** Why an operation can never be applied, by the name of its code; null when it might be. */
export function malformed(operation: xdr.Operation, tx: StellarTransaction): string | null {
  const source = sourceOf(operation, tx);
  const body = operation.body();
  switch (body.switch().name) {
    case 'payment':
      return body.paymentOp().amount().toBigInt() > 0n ? null : 'paymentMalformed';
    case 'createAccount': {
      const op = body.createAccountOp();
      const isWrong = op.startingBalance().toBigInt() < 0n || accountIdText(op.destination()) === source;
      return isWrong ? 'createAccountMalformed' : null;
    }
    case 'changeTrust': {
      const asset = assetText(body.changeTrustOp().line());
      const issuer = asset === null ? null : issuerOf(asset);
      const isWrong = issuer === null || issuer === source || body.changeTrustOp().limit().toBigInt() < 0n;
      return isWrong ? 'changeTrustMalformed' : null;
    }
    case 'manageData':
      return body.manageDataOp().dataName().length > 0 ? null : 'manageDataInvalidName';
    case 'pathPaymentStrictSend': {
      const op = body.pathPaymentStrictSendOp();
      const isWrong = op.sendAmount().toBigInt() <= 0n || op.destMin().toBigInt() <= 0n;
      return isWrong ? 'pathPaymentStrictSendMalformed' : null;
    }
    case 'pathPaymentStrictReceive': {
      const op = body.pathPaymentStrictReceiveOp();
      const isWrong = op.destAmount().toBigInt() <= 0n || op.sendMax().toBigInt() <= 0n;
      return isWrong ? 'pathPaymentStrictReceiveMalformed' : null;
    }
    case 'accountMerge':
      return fromMuxed(body.destination()).address === source ? 'accountMergeMalformed' : null;
    case 'createClaimableBalance': {
      const op = body.createClaimableBalanceOp();
      return op.amount().toBigInt() <= 0n || op.claimants().length === 0 ? 'createClaimableBalanceMalformed' : null;
    }
    case 'bumpSequence':
      return body.bumpSequenceOp().bumpTo().toBigInt() < 0n ? 'bumpSequenceBadSeq' : null;
    case 'setOptions':
    case 'invokeHostFunction':
      return null;
    default:
      return 'opNotSupported';
  }
}

function applied(operation: xdr.Operation, tx: StellarTransaction, opNum: number, site: Site): OpOutcome {
  const source = sourceOf(operation, tx);
  const memo = tx.tx.memo();
  if (!site.state.account(source)) return failure('opNoAccount');
  const body = operation.body();
  switch (body.switch().name) {
    case 'payment':
      return payment(body.paymentOp(), source, site, memo);
    case 'createAccount':
      return createAccount(body.createAccountOp(), source, site, memo);
    case 'changeTrust':
      return changeTrust(body.changeTrustOp(), source, site);
    case 'manageData':
      return manageData(body.manageDataOp(), source, site);
    case 'pathPaymentStrictSend':
      return strictSend(body.pathPaymentStrictSendOp(), source, site, memo);
    case 'pathPaymentStrictReceive':
      return strictReceive(body.pathPaymentStrictReceiveOp(), source, site, memo);
    case 'accountMerge':
      return accountMerge(body.destination(), source, site, memo);
    case 'createClaimableBalance':
      return createClaimableBalance(body.createClaimableBalanceOp(), source, site, { tx, opNum });
    case 'bumpSequence':
      return bumpSequence(body.bumpSequenceOp(), source, site);
    case 'setOptions':
      return setOptions(body.setOptionsOp(), source, site);
    case 'invokeHostFunction':
      return failure('invokeHostFunctionTrapped');
    default:
      return failure('opNotSupported');
  }
}

/** Applies all operations, or none when one fails; the results list each of them. */
export function perform(tx: StellarTransaction, site: Site, act?: Act): Performance {
  const { state, passphrase } = site;
  const begin = state.mark();
  const results: xdr.OperationResult[] = [];
  const metas: xdr.OperationMetaV2[] = [];
  for (const [opNum, operation] of tx.operations.entries()) {
    const before = state.mark();
    const { result, movements } = act ? act(site) : applied(operation, tx, opNum, site);
    results.push(result);
    if (!isSuccess(result)) state.undoTo(before);
    const events = movements.map((movement) => movementEvent(movement, passphrase));
    metas.push(new xdr.OperationMetaV2({ ext: noExtension(), changes: state.changes(), events }));
  }
  if (results.every(isSuccess)) return { outcome: { code: 'txSuccess', results }, operations: metas };
  state.undoTo(begin);
  return { outcome: { code: 'txFailed', results }, operations: [] };
}

/** The result of a transaction one of whose operations is wrong in itself. */
export function malformedOutcome(tx: StellarTransaction): Outcome | null {
  const codes = tx.operations.map((operation) => malformed(operation, tx));
  if (codes.every((code) => code === null)) return null;
  const results = tx.operations.map((operation, i) => {
    const code = codes[i];
    return code ? opResult(code) : placeholder(operation, tx);
  });
  return { code: 'txFailed', results };
}

/** A server shows success, with empty values, for the operations that are not wrong. */
function placeholder(operation: xdr.Operation, tx: StellarTransaction): xdr.OperationResult {
  const kind = operation.body().switch().name;
  const destination = accountIdXdr(tx.source);
  const last = new xdr.SimplePaymentResult({ destination, asset: xdr.Asset.assetTypeNative(), amount: int64(0n) });
  const values: Readonly<Record<string, unknown>> = {
    accountMerge: int64(0n),
    createClaimableBalance: xdr.ClaimableBalanceId.claimableBalanceIdTypeV0(Buffer.alloc(32)),
    invokeHostFunction: Buffer.alloc(32),
    pathPaymentStrictReceive: new xdr.PathPaymentStrictReceiveResultSuccess({ offers: [], last }),
    pathPaymentStrictSend: new xdr.PathPaymentStrictSendResultSuccess({ offers: [], last }),
  };
  return opResult(`${kind}Success`, values[kind]);
}
