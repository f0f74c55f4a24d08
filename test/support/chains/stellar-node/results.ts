import { xdr } from '@stellar/stellar-base';
import { int64 } from './keys.ts';

/** The names of codes of a transaction that carry nothing. */
export type TxCode =
  | 'txTooEarly'
  | 'txTooLate'
  | 'txMissingOperation'
  | 'txBadSeq'
  | 'txBadAuth'
  | 'txInsufficientBalance'
  | 'txNoAccount'
  | 'txInsufficientFee'
  | 'txBadAuthExtra'
  | 'txInternalError'
  | 'txNotSupported'
  | 'txMalformed'
  | 'txSorobanInvalid';

/** The codes of one operation, such as `paymentNoTrust`, and those of any operation. */
export type OpCode = string;

/** The union of the results of a kind of operation, by the start of the names of its codes. */
const kinds = {
  pathPaymentStrictReceive: [xdr.PathPaymentStrictReceiveResult, xdr.OperationResultTr.pathPaymentStrictReceive],
  pathPaymentStrictSend: [xdr.PathPaymentStrictSendResult, xdr.OperationResultTr.pathPaymentStrictSend],
  createClaimableBalance: [xdr.CreateClaimableBalanceResult, xdr.OperationResultTr.createClaimableBalance],
  invokeHostFunction: [xdr.InvokeHostFunctionResult, xdr.OperationResultTr.invokeHostFunction],
  createAccount: [xdr.CreateAccountResult, xdr.OperationResultTr.createAccount],
  accountMerge: [xdr.AccountMergeResult, xdr.OperationResultTr.accountMerge],
  bumpSequence: [xdr.BumpSequenceResult, xdr.OperationResultTr.bumpSequence],
  changeTrust: [xdr.ChangeTrustResult, xdr.OperationResultTr.changeTrust],
  manageData: [xdr.ManageDataResult, xdr.OperationResultTr.manageData],
  setOptions: [xdr.SetOptionsResult, xdr.OperationResultTr.setOptions],
  payment: [xdr.PaymentResult, xdr.OperationResultTr.payment],
} as const;

type Maker = (value?: unknown) => unknown;

/** The result of an operation by the name of its code. @throws Error for an unknown name. */
export function opResult(code: OpCode, value?: unknown): xdr.OperationResult {
  if (code.startsWith('op')) {
    const make = (xdr.OperationResult as unknown as Readonly<Record<string, Maker>>)[code];
    if (!make) throw new Error(`${code} is no result of an operation`);
    return make() as xdr.OperationResult;
  }
  const kind = Object.keys(kinds).find((name) => code.startsWith(name)) as keyof typeof kinds | undefined;
  if (!kind) throw new Error(`${code} is no result of an operation`);
  const [union, wrap] = kinds[kind];
  const make = (union as unknown as Readonly<Record<string, Maker>>)[code];
  if (!make) throw new Error(`${code} is no result of an operation`);
  return xdr.OperationResult.opInner((wrap as unknown as Maker)(make(value)) as xdr.OperationResultTr);
}

/** The name of the code of an operation's result. */
export function codeOf(result: xdr.OperationResult): OpCode {
  if (result.switch().name !== 'opInner') return result.switch().name;
  return result.tr().value().switch().name;
}

export function isSuccess(result: xdr.OperationResult): boolean {
  return result.switch().name === 'opInner' && codeOf(result).endsWith('Success');
}

/** What became of a transaction, without the wrapping of a fee bump. */
export interface Outcome {
  readonly code: TxCode | 'txSuccess' | 'txFailed';
  readonly results: readonly xdr.OperationResult[];
}

export const succeeded: Outcome = { code: 'txSuccess', results: [] };

export function failed(code: TxCode): Outcome {
  return { code, results: [] };
}

/** The result of a transaction, or of a fee bump around one with the hash. */
export function txResult(
  { code, results }: Outcome,
  feeCharged: bigint,
  innerTxid: string | null,
): xdr.TransactionResult {
  const ext = new xdr.TransactionResultExt(0);
  if (innerTxid === null) {
    const result = unionOf(xdr.TransactionResultResult, code, results) as xdr.TransactionResultResult;
    return new xdr.TransactionResult({ feeCharged: int64(feeCharged), result, ext });
  }
  const inner = new xdr.InnerTransactionResultPair({
    transactionHash: Buffer.from(innerTxid, 'hex'),
    result: new xdr.InnerTransactionResult({
      feeCharged: int64(0n),
      result: unionOf(xdr.InnerTransactionResultResult, code, results) as xdr.InnerTransactionResultResult,
      ext: new xdr.InnerTransactionResultExt(0),
    }),
  });
  const wrap = code === 'txSuccess' ? 'txFeeBumpInnerSuccess' : 'txFeeBumpInnerFailed';
  return new xdr.TransactionResult({
    feeCharged: int64(feeCharged),
    result: xdr.TransactionResultResult[wrap](inner),
    ext,
  });
}

/** Only two codes carry a list of results. */
function unionOf(union: unknown, code: string, results: readonly xdr.OperationResult[]): unknown {
  const make = (union as Readonly<Record<string, Maker>>)[code];
  if (!make) throw new Error(`${code} is no result of a transaction`);
  return code === 'txSuccess' || code === 'txFailed' ? make([...results]) : make();
}
