import { xdr } from '@stellar/stellar-base';
import { type AssetText, assetText, assetXdr, native } from './assets.ts';
import { available, credit, debit, rateKey, type Site } from './balances.ts';
import { newAccount } from './entries.ts';
import type { Mark, Movement } from './events.ts';
import { accountIdText, accountIdXdr, fromMuxed, int64 } from './keys.ts';
import { opResult } from './results.ts';

/** What an operation did, when it did not fail. */
export interface OpOutcome {
  readonly result: xdr.OperationResult;
  readonly movements: readonly Movement[];
}

export function failure(code: string, value?: unknown): OpOutcome {
  return { result: opResult(code, value), movements: [] };
}

export function success(code: string, movements: readonly Movement[], value?: unknown): OpOutcome {
  return { result: opResult(code, value), movements };
}

/** The id in a muxed destination, or else the memo. */
export const markOf = (id: bigint | null, memo: xdr.Memo): Mark => id ?? memo;

export function createAccount(op: xdr.CreateAccountOp, source: string, site: Site, memo: xdr.Memo): OpOutcome {
  const { state, seq, fees } = site;
  const [address, amount] = [accountIdText(op.destination()), op.startingBalance().toBigInt()];
  if (state.account(address)) return failure('createAccountAlreadyExist');
  if (amount < 2n * fees.baseReserve) return failure('createAccountLowReserve');
  const { balance, ...payer } = state.existing(source);
  if (available({ ...payer, balance }, fees) < amount) return failure('createAccountUnderfunded');
  state.update(source, { balance: balance - amount }, seq);
  state.put(newAccount(address, amount, seq));
  return success('createAccountSuccess', [{ asset: native, amount, from: source, to: address, mark: memo }]);
}

/** Credits first, as the network does, so that the first failure is that of the destination. */
export function payment(op: xdr.PaymentOp, source: string, site: Site, memo: xdr.Memo): OpOutcome {
  const { address: to, id } = fromMuxed(op.destination());
  const [asset, amount] = [assetText(op.asset()) ?? native, op.amount().toBigInt()];
  const movement: Movement = { asset, amount, from: source, to, mark: markOf(id, memo) };
  if (source === to && asset === native) return success('paymentSuccess', [movement]);
  const why = transferred(site, { source, to, asset, amount });
  return why === null ? success('paymentSuccess', [movement]) : failure(`payment${why}`);
}

interface Transfer {
  readonly source: string;
  readonly to: string;
  readonly asset: AssetText;
  readonly amount: bigint;
}

function transferred(site: Site, { source, to, asset, amount }: Transfer): string | null {
  if (!site.state.account(to)) return 'NoDestination';
  return credit(site, to, asset, amount) ?? debit(site, source, asset, amount);
}

/** How an exchange is bounded: one amount is exact, the other one is a limit. */
interface Exchange {
  readonly kind: 'pathPaymentStrictSend' | 'pathPaymentStrictReceive';
  readonly source: string;
  readonly to: string;
  readonly sendAsset: AssetText;
  readonly destAsset: AssetText;
  readonly sent: bigint;
  readonly arrived: bigint;
  readonly mark: Mark;
}

export function strictSend(op: xdr.PathPaymentStrictSendOp, source: string, site: Site, memo: xdr.Memo): OpOutcome {
  const kind = 'pathPaymentStrictSend';
  const { address: to, id } = fromMuxed(op.destination());
  const [sendAsset, destAsset] = [assetText(op.sendAsset()) ?? native, assetText(op.destAsset()) ?? native];
  const sent = op.sendAmount().toBigInt();
  if (!site.state.account(to)) return failure(`${kind}NoDestination`);
  const why = debit(site, source, sendAsset, sent);
  if (why !== null) return failure(`${kind}${why}`);
  const rate = sendAsset === destAsset ? { sent: 1n, arrived: 1n } : site.rates.get(rateKey(sendAsset, destAsset));
  if (!rate) return failure(`${kind}TooFewOffers`);
  const arrived = (sent * rate.arrived) / rate.sent;
  if (arrived < op.destMin().toBigInt()) return failure(`${kind}UnderDestmin`);
  const reason = credit(site, to, destAsset, arrived);
  if (reason !== null) return failure(`${kind}${reason}`);
  return traded({ kind, source, to, sendAsset, destAsset, sent, arrived, mark: markOf(id, memo) }, site);
}

export function strictReceive(
  op: xdr.PathPaymentStrictReceiveOp,
  source: string,
  site: Site,
  memo: xdr.Memo,
): OpOutcome {
  const kind = 'pathPaymentStrictReceive';
  const { address: to, id } = fromMuxed(op.destination());
  const [sendAsset, destAsset] = [assetText(op.sendAsset()) ?? native, assetText(op.destAsset()) ?? native];
  const arrived = op.destAmount().toBigInt();
  if (!site.state.account(to)) return failure(`${kind}NoDestination`);
  const reason = credit(site, to, destAsset, arrived);
  if (reason !== null) return failure(`${kind}${reason}`);
  const rate = sendAsset === destAsset ? { sent: 1n, arrived: 1n } : site.rates.get(rateKey(sendAsset, destAsset));
  if (!rate) return failure(`${kind}TooFewOffers`);
  const sent = (arrived * rate.sent + rate.arrived - 1n) / rate.arrived;
  if (sent > op.sendMax().toBigInt()) return failure(`${kind}OverSendmax`);
  const why = debit(site, source, sendAsset, sent);
  if (why !== null) return failure(`${kind}${why}`);
  return traded({ kind, source, to, sendAsset, destAsset, sent, arrived, mark: markOf(id, memo) }, site);
}

/** The bank takes what was sent and gives what arrives. @throws Error when the bank cannot. */
function traded(exchange: Exchange, site: Site): OpOutcome {
  const { kind, source, to, sendAsset, destAsset, sent, arrived, mark } = exchange;
  const { bank } = site;
  const last = new xdr.SimplePaymentResult({
    destination: accountIdXdr(to),
    asset: assetXdr(destAsset),
    amount: int64(arrived),
  });
  const isDirect = sendAsset === destAsset;
  const Success =
    kind === 'pathPaymentStrictSend'
      ? xdr.PathPaymentStrictSendResultSuccess
      : xdr.PathPaymentStrictReceiveResultSuccess;
  if (isDirect) {
    const movement = { asset: destAsset, amount: arrived, from: source, to, mark };
    return success(`${kind}Success`, [movement], new Success({ offers: [], last }));
  }
  const why = credit(site, bank, sendAsset, sent) ?? debit(site, bank, destAsset, arrived);
  if (why !== null) throw new Error(`the bank cannot trade: ${why}`);
  const atom = new xdr.ClaimOfferAtom({
    sellerId: accountIdXdr(bank),
    offerId: int64(1n),
    ...{ assetSold: assetXdr(destAsset), amountSold: int64(arrived) },
    ...{ assetBought: assetXdr(sendAsset), amountBought: int64(sent) },
  });
  const offers = [xdr.ClaimAtom.claimAtomTypeOrderBook(atom)];
  const movements: Movement[] = [
    { asset: sendAsset, amount: sent, from: source, to: bank },
    { asset: destAsset, amount: arrived, from: bank, to, mark },
  ];
  return success(`${kind}Success`, movements, new Success({ offers, last }));
}
